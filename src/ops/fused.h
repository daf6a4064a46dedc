/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The steps of the fused operations that no other operation does. Arrays by channel are described by W, whose dimensions are 1 or
 * X's (1 x C x 1 x ... for statistics by channel); which of them there are stands in dn_problem.u.fused.
 *
 *     sba fwd        Y = act(scale X + bias + scale2 Z + bias2); X, Y and Z may have float types of their own. B: a mask of Y,
 *                    where the gradient of act goes through (ReLU, clipped ReLU, identity).
 *     sba bwd_data   DX = DY where it goes through by the mask B, else 0
 *     stats fwd      sum = sum of X, sqsum = sum of X^2 over what W has size 1 in
 *     bnfinal train  mean = sum / m;  var = sqsum / m - mean^2, not below 0;  inv = 1 / sqrt(var + eps);  m is dn_args.count
 *                    running mean and variance blended with factor, the variance unbiased (m / (m - 1)), as in training
 *                    scale2 = scale inv;  bias2 = bias - scale mean inv: what the normalisation multiplies by and adds; B describes them
 *     bnfinal infer  the same two of the running mean and variance
 *
 * A mask is int32 words without gaps, as the vendor's 9.19 writes them: channels in slabs of 64, each slab of 2 words for every place,
 * the places (n and space in NHWC order) rounded up to 32. Four words are 64 channels of two places: of element e = place 64 + channel
 * of the slab, bit e / 4 mod 32 of word e / 128 * 4 + e mod 4 is 1 where the gradient stops. Bits of no element are 0. It stops below 0
 * and above a ceiling, and goes through at 0 and NaN, as there. */
#ifndef DN_OPS_FUSED_H
#define DN_OPS_FUSED_H

#include "ops/problem.h"

#include <math.h>

enum { DN_MASK_SLAB = 64, DN_MASK_UNIT = 128, DN_MASK_WORDS = 4 };  /* channels; elements and words that belong together */

/* Places of t: all dimensions but the channel. */
int64_t dn_fused_places(const dn_tensor *t);
/* Of t's mask: pairs of places in a slab, slabs. Words in all: 4 x pairs x slabs. */
int64_t dn_mask_pairs(const dn_tensor *t);
int64_t dn_mask_slabs(const dn_tensor *t);
/* Statistics per activation (DN_BN_PER_ACTIVATION) or per channel (DN_BN_SPATIAL), by W's dimensions. */
int dn_fused_mode(const dn_tensor *w);
/* Whether the call has this array. */
bool dn_fused_has(const dn_problem *p, dn_aux which);
/* Whether any of the arrays that W describes belongs to the call. */
bool dn_sba_has_arrays(const dn_fused_param *u);

/* Whether the gradient of act stops at what goes into it. */
static inline bool dn_mask_stops(const dn_act_param *act, double v)
{
    return act->mode != DN_ACT_IDENTITY && (v < 0 || (act->mode == DN_ACT_CLIPPED_RELU && v > act->coef));
}

typedef struct dn_bn_final {
    double mean, var, unbiased, inv;
} dn_bn_final;

/* The statistics of m elements of that sum and sum of squares. */
static inline dn_bn_final dn_bn_final_of(double sum, double sqsum, double m, double eps)
{
    dn_bn_final s;
    s.mean = sum / m;
    s.var = sqsum / m - s.mean * s.mean;
    s.var = s.var < 0 ? 0 : s.var;
    s.unbiased = m > 1 ? s.var * (m / (m - 1)) : s.var;
    s.inv = 1 / sqrt(s.var + eps);
    return s;
}

#endif
