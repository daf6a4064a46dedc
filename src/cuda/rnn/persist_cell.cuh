/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Where a lane's values lie, and the functions of the cells. */
#ifndef DN_CUDA_RNN_PERSIST_CELL_CUH
#define DN_CUDA_RNN_PERSIST_CELL_CUH

#include "cuda/rnn/persist_weights.cuh"

/* The lane's batch element of block n of the slice. */
DN_FN int rnn_batch(const rnn_place *a, int n)
{
    return a->batch + n * 8 + a->g;
}

/* Its row at time t; there are fewer than 2^31. */
DN_FN int rnn_row(const dn_rnn_persist *p, const rnn_place *a, int t, int n)
{
    return t * p->batches + rnn_batch(a, n);
}

/* Of the lane's units in [D][B][H]. */
DN_FN long long rnn_state_at(const dn_rnn_persist *p, const rnn_place *a, int b)
{
    return ((long long)a->dir * p->batches + b) * p->hidden + a->unit;
}

/* The time of a step; negative or past the last where there is no such step. */
DN_FN int rnn_time(const dn_rnn_persist *p, int back, int step)
{
    return back ? p->steps - 1 - step : step;
}

DN_FN float rnn_clip(const dn_rnn_persist *p, float c)
{
    if (!p->clip || (p->clip_nan && c != c))
        return c;
    return fminf(fmaxf(c, p->clip_lo), p->clip_hi);
}

/* v: the recurrent products of the gates on entry, what the reserve space keeps on return. h is rounded to the data's type. */
DN_FN void rnn_cell(const dn_rnn_persist *p, const float (&in)[GATES], float bias_n, float (&v)[SLOTS], float *h, float *c)
{
#if defined(RNN_LSTM)
    v[0] = sigmoid(v[0] + in[0]);
    v[1] = sigmoid(v[1] + in[1]);
    v[2] = tanh_of(v[2] + in[2]);
    v[3] = sigmoid(v[3] + in[3]);
    *c = rnn_clip(p, fmaf(v[1], *c, v[0] * v[2]));
    *h = v[3] * tanh_of(*c);
#elif defined(RNN_GRU)
    v[3] = v[2] + bias_n;
    v[0] = sigmoid(v[0] + in[0]);
    v[1] = sigmoid(v[1] + in[1]);
    v[2] = tanh_of(fmaf(v[0], v[3], in[2]));
    *h = fmaf(v[1], *h - v[2], v[2]);
#else
    v[0] += in[0];
    v[0] = p->relu ? (v[0] < 0 ? 0 : v[0]) : tanh_of(v[0]);
    *h = v[0];
#endif
    *h = widen(narrow(*h));
}

#endif
