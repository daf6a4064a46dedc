/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * What the files of pooling share on the host. */
#ifndef DN_CUDA_POOL_POOL_ROWS_H
#define DN_CUDA_POOL_POOL_ROWS_H

#include "cuda/cuda.h"
#include "cuda/pool/pool.h"

/* pool_fast.c: the tuned rows. NULL, or why they do not take p. nhwc: vectors of channels; nchw: one element a thread. */
const char *dn_pool_check_nhwc(const dn_problem *p, dn_dtype type);
const char *dn_pool_check_nchw(const dn_problem *p, dn_dtype type);
dn_status dn_pool_prepare_nhwc(dn_handle *h, dn_plan *plan);
dn_status dn_pool_prepare_nchw(dn_handle *h, dn_plan *plan);
dn_status dn_pool_run_fast(dn_handle *h, const dn_plan *plan, const dn_args *a);

#endif
