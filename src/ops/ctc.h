/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Connectionist temporal classification (Graves, Fernandez, Gomez, Schmidhuber, 2006): what all engines share.
 *
 * Letters: T steps of X, T_n those of sample n, N samples, C classes (0 is the blank), L labels of a sample, S = 2 L + 1 states: a blank
 * before, between and after the labels. State s has class l(s): 0 where s is even, else label (s - 1) / 2.
 *     y(t, k)  X as it is, or its softmax over the classes
 *     a(t, s)  probability of all paths over steps 0 .. t that end in state s:
 *              a(0, 0) = y(0, 0), a(0, 1) = y(0, l(1)), a(t, s) = y(t, l(s)) (a(t-1, s) + a(t-1, s-1) + [l(s) != l(s-2), s odd] a(t-1, s-2))
 *     b(t, s)  the same from the end: of all paths over steps t+1 .. T_n-1 that state s at step t may go on with
 *     p = a(T_n-1, S-1) + a(T_n-1, S-2);  cost = -log p
 *     o(t, k)  1/p sum over states s of class k of a(t, s) b(t, s): the part of p that goes through class k at step t
 *     gradient(t, k) = y(t, k) - o(t, k), by what the softmax takes; where X holds probabilities -o(t, k) / y(t, k), which is the gradient
 *              by X, but y(t, k) for classes that no path goes through (o = 0), as the vendor's library has it
 * Gradients of steps from T_n on are 0 (skip: left alone).
 *
 * A sample is short where T_n < L + (neighbours among its labels that are equal): no path fits. As in the vendor's library its cost is 0, not
 * infinite, and its gradient 0, or left alone (skip). One with lengths or labels out of range has the cost NaN and such a gradient. */
#ifndef DN_OPS_CTC_H
#define DN_OPS_CTC_H

#include "ops/problem.h"

/* The arrays of a call, wherever they lie. */
static inline const int32_t *dn_ctc_labels(const dn_problem *p, const dn_args *a)
{
    return p->u.ctc.host ? a->labels : a->aux[DN_AUX_LABELS];
}
static inline const int32_t *dn_ctc_label_lengths(const dn_problem *p, const dn_args *a)
{
    return p->u.ctc.host ? a->label_lengths : a->aux[DN_AUX_LABEL_LENGTHS];
}
static inline const int32_t *dn_ctc_input_lengths(const dn_problem *p, const dn_args *a)
{
    return p->u.ctc.host ? a->lengths : a->aux[DN_AUX_INPUT_LENGTHS];
}

#endif
