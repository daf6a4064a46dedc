/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Padding and folding. With F the product of the folding factors f_j of the spatial dimensions, m = 0 .. F - 1 the position
 * within a block of space (the last dimension fastest), p the padding before (negative padding crops), and C the channels of the
 * side that is not folded, X or Y, as its descriptor says:
 *     fold    Y[n + p_0][m * C + c + p_1][h_j] = X[n][c][h_j * f_j + m_j - p_j]       c below C
 *     unfold  Y[n + p_0][c + p_1][h_j * f_j + m_j + p_j] = X[n][m * C + c][h_j]       c below the channels of X over F, rounded up
 * Sizes that the factors do not divide are rounded up; what is not there is 0. Sizes are those of padding first and folding then,
 * or unfolding first and padding then, for the channels too; but the padding of the channels lies before and after the folded ones
 * as a whole. So unfolding with the negated padding is the inverse of a fold that pads; unfolding into more channels (C above the
 * channels of X over F) takes the channels at wider steps, and loses those past the end. All this as by the vendor's 9.19, as
 * measured (what a fold that crops channels gives was not). */
#ifndef DN_OPS_TRANSFORM_H
#define DN_OPS_TRANSFORM_H

#include "ops/problem.h"

/* The dims of what the transform makes of x, into y->rank and y->dims. BAD_PARAM where one would be below 1. */
dn_status dn_transform_dims(const dn_transform_param *u, const dn_tensor *x, dn_tensor *y);

#endif
