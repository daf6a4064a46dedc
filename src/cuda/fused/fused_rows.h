/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The tuned rows of the fused operations' own steps (fused_fast.c). */
#ifndef DN_CUDA_FUSED_FUSED_ROWS_H
#define DN_CUDA_FUSED_FUSED_ROWS_H

#include "cuda/cuda.h"

const char *dn_sba_check_f32(const dn_problem *p);
const char *dn_sba_check_f16(const dn_problem *p);
const char *dn_sba_check_bf16(const dn_problem *p);
dn_status dn_sba_prepare(dn_handle *h, dn_plan *plan);
dn_status dn_sba_run(dn_handle *h, const dn_plan *plan, const dn_args *a);
const char *dn_stats_check_f32(const dn_problem *p);
const char *dn_stats_check_f16(const dn_problem *p);
const char *dn_stats_check_bf16(const dn_problem *p);
dn_status dn_stats_prepare(dn_handle *h, dn_plan *plan);
dn_status dn_stats_run(dn_handle *h, const dn_plan *plan, const dn_args *a);

#define DN_FUSED_FAST(id, operation, direction, part, type) \
    { .name = id, .op = operation, .dir = direction, .algo = -1, .check = dn_##part##_check_##type, .prepare = dn_##part##_prepare, \
      .run = dn_##part##_run, .release = dn_cuda_release }

#endif
