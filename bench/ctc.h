/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * What is CTC loss's own among the operands. */
#ifndef DN_BENCH_CTC_H
#define DN_BENCH_CTC_H

#include "data.h"

/* Whether a slot holds labels or lengths: whole numbers, for the truth as well. */
bool bench_is_ctc_array(const dn_problem *p, int slot);
/* The tensor that describes such an array, or the costs. */
dn_tensor bench_ctc_tensor(const dn_problem *p, int aux);
/* Element i of such a slot; draw: its random bits. */
double bench_ctc_value(const bench_case *c, int slot, int64_t i, uint64_t draw);

#endif
