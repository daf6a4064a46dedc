/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The table of operations as dnbench sees them: what each direction reads and writes. A new operation needs one line per direction
 * here (and, to go through a library's interface, its calls in lib_*.c). */
#ifndef DN_BENCH_OPERANDS_H
#define DN_BENCH_OPERANDS_H

#include "data.h"

/* Sets tensor, flow and share of every slot of the case. */
void bench_operands(bench_data *d, const bench_case *c);
/* Whether `beta` (or beta2) of the call applies to this output. */
bool bench_blends(const dn_problem *p, int slot);
/* Terms of the longest sum that makes one element. */
double bench_length(const dn_problem *p);
/* The result is a sum of products of the inputs, so absolute inputs give the sum of |products|. */
bool bench_is_sum(const dn_problem *p);
/* Multiplications and additions, counted as the direct formula has them; 0 where the operation is bound by memory. */
double bench_flops(const dn_problem *p);
/* Whether this op and direction is in the table. */
bool bench_knows(dn_op op, dn_dir dir);

struct dn_args;
/* Factors and settings of the case, without pointers. */
void bench_fill_args(struct dn_args *a, const bench_case *c);

#endif
