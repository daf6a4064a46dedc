/* SPDX-License-Identifier: Apache-2.0 */
/* Copyright the anydnn authors */
/* cudnn.h: the whole interface of cuDNN 8.9.7, as anydnn provides it */
#ifndef CUDNN_H_
#define CUDNN_H_

#include "cudnn_version.h"
#include "cudnn_ops_infer.h"
#include "cudnn_ops_train.h"
#include "cudnn_cnn_infer.h"
#include "cudnn_cnn_train.h"
#include "cudnn_adv_infer.h"
#include "cudnn_adv_train.h"
#include "cudnn_backend.h"

#endif /* CUDNN_H_ */
