/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Padding and folding. With F the product of the folding factors f_j of the spatial dimensions, m = 0 .. F - 1 the position
 * within a block of space (the last dimension fastest), and C the channels of the side that is not folded, X' or Y':
 *     fold    pad X first (with zeros; negative padding crops), then    Y[n][m * C + c][h_j] = X'[n][c][h_j * f_j + m_j]
 *     unfold  the inverse of that first, then pad                       Y'[n][c][h_j * f_j + m_j] = X[n][m * C + c][h_j]
 * Sizes that the factors do not divide are rounded up; what is not there is 0. The order of the folded channels is that of the
 * vendor's 9.19, as measured. */
#ifndef DN_OPS_TRANSFORM_H
#define DN_OPS_TRANSFORM_H

#include "ops/problem.h"

/* The dims of what the transform makes of x, into y->rank and y->dims. BAD_PARAM where one would be below 1. */
dn_status dn_transform_dims(const dn_transform_param *u, const dn_tensor *x, dn_tensor *y);

#endif
