/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * What the files of batch normalisation share on the host. */
#ifndef DN_CUDA_NORM_BN_ROWS_H
#define DN_CUDA_NORM_BN_ROWS_H

#include "cuda/cuda.h"
#include "cuda/norm/bn.h"

/* bn_fast.c: the tuned rows. NULL, or why they do not take p. */
const char *dn_bn_check_nchw(const dn_problem *p, dn_dtype type);
const char *dn_bn_check_nhwc(const dn_problem *p, dn_dtype type);
dn_status dn_bn_prepare_nchw(dn_handle *h, dn_plan *plan);
dn_status dn_bn_prepare_nhwc(dn_handle *h, dn_plan *plan);
/* In one kernel that reads memory once: channels in the shared memory of a block each, or of teams of blocks in turn. */
const char *dn_bn_check_group(const dn_problem *p, dn_dtype type);
const char *dn_bn_check_ring(const dn_problem *p, dn_dtype type);
dn_status dn_bn_prepare_group(dn_handle *h, dn_plan *plan);
dn_status dn_bn_prepare_ring(dn_handle *h, dn_plan *plan);
dn_status dn_bn_run_held(dn_handle *h, const dn_plan *plan, const dn_args *a);
dn_status dn_bn_run_fast(dn_handle *h, const dn_plan *plan, const dn_args *a);

#endif
