/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * What attention's own is among the operands. A problem's tensors are time x batch x beam x vector. */
#ifndef DN_BENCH_ATTN_H
#define DN_BENCH_ATTN_H

#include "data.h"

/* Whether a slot holds lengths: whole numbers, for the truth as well. */
bool bench_is_attn_array(const dn_problem *p, int slot);
/* The tensor that describes an aux array. */
dn_tensor bench_attn_tensor(const dn_problem *p, int aux);
bool bench_attn_has(const dn_problem *p, int aux);
/* Length number i of such a slot. */
double bench_attn_value(const bench_case *c, int slot, int64_t i);
/* d->lo and d->hi. False where memory is short. */
bool bench_attn_windows(bench_data *d, const bench_case *c);
void bench_attn_complete(dn_problem *p);
double bench_attn_flops(const dn_problem *p);
double bench_attn_length(const dn_problem *p);

#endif
