/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * What an element does to an output's state, in double: src/ref/reduce.c's rules. A winner is told by its value, then by the lower index,
 * so that the order of merging does not matter. */
#ifndef DN_CUDA_REDUCE_REDUCE_STATE_CUH
#define DN_CUDA_REDUCE_REDUCE_STATE_CUH

#include "cuda/reduce/reduce.h"
#include "cuda/team.cuh"

/* dn_reduce_op */
enum { DN_REDUCE_ADD, DN_REDUCE_MUL, DN_REDUCE_MIN, DN_REDUCE_MAX, DN_REDUCE_AMAX, DN_REDUCE_AVG, DN_REDUCE_NORM1, DN_REDUCE_NORM2,
       DN_REDUCE_MUL_NO_ZEROS };

DN_FN bool dn_reduce_multiplies(int op)
{
    return op == DN_REDUCE_MUL || op == DN_REDUCE_MUL_NO_ZEROS;
}

DN_FN bool dn_reduce_picks(int op)
{
    return op == DN_REDUCE_MIN || op == DN_REDUCE_MAX || op == DN_REDUCE_AMAX;
}

DN_FN dn_reduce_state dn_reduce_start(int op)
{
    dn_reduce_state s = { dn_reduce_multiplies(op) ? 1.0 : 0.0, -1 };
    return s;
}

/* What an element counts for before it is merged. */
DN_FN double dn_reduce_map(int op, double x)
{
    switch (op) {
    case DN_REDUCE_AMAX: case DN_REDUCE_NORM1: return fabs(x);
    case DN_REDUCE_NORM2: return x * x;
    case DN_REDUCE_MUL_NO_ZEROS: return x == 0 ? 1.0 : x;
    default: return x;
    }
}

/* Where NaN goes through it beats numbers, else numbers beat it. */
DN_FN bool dn_reduce_wins(int op, int nan, dn_reduce_state a, dn_reduce_state b)
{
    if (a.at < 0 || b.at < 0)
        return b.at < 0 && a.at >= 0;
    bool a_nan = a.v != a.v, b_nan = b.v != b.v;
    if (a_nan != b_nan)
        return a_nan == (nan != 0);
    if (a_nan || a.v == b.v)
        return a.at < b.at;
    return op == DN_REDUCE_MIN ? a.v < b.v : a.v > b.v;
}

DN_FN void dn_reduce_merge(int op, int nan, dn_reduce_state *s, dn_reduce_state with)
{
    if (dn_reduce_picks(op))
        *s = dn_reduce_wins(op, nan, with, *s) ? with : *s;
    else if (dn_reduce_multiplies(op))
        s->v *= with.v;
    else
        s->v += with.v;
}

/* The states of a team merged, in its first thread. sh: DN_TEAM_BLOCK states. */
DN_FN dn_reduce_state dn_reduce_team(int op, int nan, dn_reduce_state s, int team, dn_reduce_state *sh)
{
    int t = (int)threadIdx.x, lane = t & (team - 1);
    if (team == 1)
        return s;
    __syncthreads();
    sh[t] = s;
    for (int o = team / 2; o > 0; o /= 2) {
        __syncthreads();
        if (lane < o)
            dn_reduce_merge(op, nan, &sh[t], sh[t + o]);
    }
    __syncthreads();
    return sh[t - lane];
}

/* count: elements of a block. */
DN_FN double dn_reduce_finish(int op, double v, dn_s64 count)
{
    return op == DN_REDUCE_AVG ? v / (double)count : op == DN_REDUCE_NORM2 ? sqrt(v) : v;
}

#endif
