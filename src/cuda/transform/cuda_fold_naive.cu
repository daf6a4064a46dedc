/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Padding and folding, the formulas of ops/transform.h. Takes everything. One thread per element of y in a loop over the grid, in double. */
#include "cuda/common.cuh"
#include "cuda/transform/fold.h"

/* The place in x of what y has at index; false where there is only padding. The phase is the position within a block of space. */
DN_FN bool fold_place(const dn_fold_naive *p, const dn_s64 *index, dn_s64 *from)
{
    dn_s64 chan = index[1] - p->before[1], phase = chan / p->x_dims[1];
    bool there = chan >= 0 && phase < p->factor;
    from[0] = index[0] - p->before[0];
    from[1] = chan % p->x_dims[1];
#pragma unroll
    for (int d = DN_VIEW_RANK - 1; d >= 2; d--) {
        from[d] = 0;
        if (d < p->rank) {
            from[d] = index[d] * p->by[d] + phase % p->by[d] - p->before[d];
            phase /= p->by[d];
        }
    }
    return there;
}

DN_FN bool unfold_place(const dn_fold_naive *p, const dn_s64 *index, dn_s64 *from)
{
    dn_s64 chan = index[1] - p->before[1], phase = 0;
    bool there = chan >= 0 && chan < (p->x_dims[1] + p->factor - 1) / p->factor;
    from[0] = index[0] - p->before[0];
#pragma unroll
    for (int d = 2; d < DN_VIEW_RANK; d++) {
        from[d] = 0;
        if (d < p->rank) {
            dn_s64 i = index[d] - p->before[d];
            there = there && i >= 0;
            from[d] = i / p->by[d];
            phase = phase * p->by[d] + i % p->by[d];
        }
    }
    from[1] = phase * p->y_dims[1] + chan;
    return there;
}

extern "C" __global__ void cuda_transformex_fwd_naive(const __grid_constant__ dn_fold_naive p)
{
    for (dn_s64 i = DN_THREAD; i < p.count; i += DN_THREADS) {
        dn_s64 index[DN_VIEW_RANK], from[DN_VIEW_RANK];
        dn_index(i, p.y_dims, index);
        bool there = p.unfold ? unfold_place(&p, index, from) : fold_place(&p, index, from);
#pragma unroll
        for (int d = 0; d < DN_VIEW_RANK; d++)
            there = there && from[d] >= 0 && from[d] < p.x_dims[d];
        double v = there ? dn_load(&p.x.e, dn_offset(&p.x, from)) : 0;
        dn_store_blend(&p.y.e, dn_offset(&p.y, index), v, p.alpha, p.beta);
    }
}
