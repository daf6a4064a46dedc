/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * What a reduction's numbers mean, for the call and for the engines. */
#ifndef DN_OPS_REDUCE_H
#define DN_OPS_REDUCE_H

#include "ops/problem.h"

/* cudnnReduceTensorOp_t's numbers */
typedef enum dn_reduce_op {
    DN_REDUCE_ADD, DN_REDUCE_MUL, DN_REDUCE_MIN, DN_REDUCE_MAX, DN_REDUCE_AMAX, DN_REDUCE_AVG, DN_REDUCE_NORM1, DN_REDUCE_NORM2,
    DN_REDUCE_MUL_NO_ZEROS
} dn_reduce_op;

/* Whether the call writes indices: they are wanted, and the operation has a winner. */
bool dn_reduce_is_indexed(const dn_reduce_param *u);
int dn_reduce_index_size(int index_type);      /* bytes */
int64_t dn_reduce_block(const dn_problem *p);  /* elements of X that become one of Y */

#endif
