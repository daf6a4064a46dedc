/* SPDX-License-Identifier: Apache-2.0 */
/* Copyright the anydnn authors */
/* cudnn.h: the whole interface of cuDNN 9.19.0, as anydnn provides it */
#ifndef CUDNN_H_
#define CUDNN_H_

#include "cudnn_version.h"
#include "cudnn_graph.h"
#include "cudnn_ops.h"
#include "cudnn_cnn.h"
#include "cudnn_adv.h"

#endif /* CUDNN_H_ */
