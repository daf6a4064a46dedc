/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 *     y = alpha * reduce(x) + beta * y, and the winners' indices
 *
 * Takes everything: any type, strides, alignment. A block of elements is cut into parts where there are few outputs; a team of threads per
 * part in a loop over the grid, in double. Parts are merged by the second kernel, in an order that the problem alone decides. */
#include "cuda/reduce/reduce_state.cuh"

DN_FN void finish(const dn_reduce_naive *p, dn_s64 output, dn_s64 y_at, dn_reduce_state s)
{
    dn_store_blend(&p->y, y_at, dn_reduce_finish(p->op, s.v, p->block.count), p->alpha, p->beta);
    if (p->index_bytes)
        dn_store_bytes((dn_u8 *)p->indices + output * p->index_bytes, p->index_bytes, (dn_u64)s.at);
}

extern "C" __global__ void cuda_reduce_fwd_naive(const __grid_constant__ dn_reduce_naive p)
{
    __shared__ dn_reduce_state sh[DN_TEAM_BLOCK];
    int lane = (int)threadIdx.x & (p.team - 1), per = DN_TEAM_BLOCK / p.team;
    dn_s64 items = p.out.count * p.parts;
    for (dn_s64 first = (dn_s64)blockIdx.x * per; first < items; first += (dn_s64)gridDim.x * per) {
        dn_s64 item = first + threadIdx.x / p.team, part = item / p.out.count, output = item % p.out.count, from[2];
        dn_s64 end = item < items ? (part + 1) * p.part : 0;
        dn_reduce_state s = dn_reduce_start(p.op);
        dn_walk_at<2>(&p.out, output, from);
        end = end < p.block.count ? end : p.block.count;
        for (dn_s64 i = part * p.part + lane; i < end; i += p.team) {
            dn_s64 at[1];
            dn_walk_at<1>(&p.block, i, at);
            dn_reduce_state one = { dn_reduce_map(p.op, dn_load(&p.x, from[1] + at[0])), i };
            dn_reduce_merge(p.op, p.nan, &s, one);
        }
        s = dn_reduce_team(p.op, p.nan, s, p.team, sh);
        if (lane != 0 || item >= items)
            continue;
        if (p.parts > 1)
            p.states[item] = s;
        else
            finish(&p, output, from[0], s);
    }
}

/* A team per output. */
extern "C" __global__ void cuda_reduce_fwd_naive_merge(const __grid_constant__ dn_reduce_naive p)
{
    __shared__ dn_reduce_state sh[DN_TEAM_BLOCK];
    int lane = (int)threadIdx.x & (p.team - 1), per = DN_TEAM_BLOCK / p.team;
    for (dn_s64 first = (dn_s64)blockIdx.x * per; first < p.out.count; first += (dn_s64)gridDim.x * per) {
        dn_s64 output = first + threadIdx.x / p.team, from[2];
        dn_reduce_state s = dn_reduce_start(p.op);
        for (dn_s64 part = lane; part < p.parts && output < p.out.count; part += p.team)
            dn_reduce_merge(p.op, p.nan, &s, p.states[part * p.out.count + output]);
        s = dn_reduce_team(p.op, p.nan, s, p.team, sh);
        if (lane != 0 || output >= p.out.count)
            continue;
        dn_walk_at<2>(&p.out, output, from);
        finish(&p, output, from[0], s);
    }
}
