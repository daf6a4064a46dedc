/* SPDX-License-Identifier: Apache-2.0 */
/* Copyright the anydnn authors */
/* cudnn_backend.h: name of the graph API in version 8; in 9 it is part of cudnn_graph.h */
#ifndef _CUDNN_BACKEND_H_
#define _CUDNN_BACKEND_H_

#include "cudnn_graph.h"

#endif /* _CUDNN_BACKEND_H_ */
