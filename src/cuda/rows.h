/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * One table per operation, put together in solvers.c; within one, fastest first and the naive row last. */
#ifndef DN_CUDA_ROWS_H
#define DN_CUDA_ROWS_H

#include "cuda/cuda.h"

extern const dn_rows dn_cuda_act;

#endif
