/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The softmax of attention, a warp per row of scores, and its gradient. REAL: of the scores and of the arithmetic; EXP, INFINITE: of REAL;
 * SOFTMAX, SOFTMAX_BWD, WARP_SUM, WARP_MAX: names. */
DN_FN REAL WARP_SUM(REAL v)
{
    for (int d = 16; d; d /= 2)
        v += __shfl_xor_sync(0xffffffffu, v, d);
    return v;
}

/* NaN wins. */
DN_FN REAL WARP_MAX(REAL v)
{
    for (int d = 16; d; d /= 2) {
        REAL o = __shfl_xor_sync(0xffffffffu, v, d);
        v = o > v || o != o ? o : v;
    }
    return v;
}

extern "C" __global__ void SOFTMAX(const __grid_constant__ dn_attn_softmax_view p)
{
    int lane = (int)threadIdx.x & 31;
    dn_u64 seed = seed_of(&p.mask), call = call_of(&p.mask);
    for (dn_s64 line = WARP; line < p.lines; line += WARPS) {
        dn_s64 sequence = line % p.rows_q / p.times, from = line * p.keys;
        const REAL *score = (const REAL *)p.score + from;
        int time = p.first + (int)(line % p.times), keys = p.len_k[sequence / p.beams];
        int lo = p.lo[time] > 0 ? p.lo[time] : 0, hi = p.hi[time] < keys ? p.hi[time] : keys;
        hi = time >= p.len_q[sequence] || hi < lo ? lo : hi < p.keys ? hi : p.keys;
        REAL top = -INFINITE, sum = 0;
        for (int i = lo + lane; i < hi; i += 32)
            top = score[i] > top || score[i] != score[i] ? score[i] : top;
        top = WARP_MAX(top);
        for (int i = lo + lane; i < hi; i += 32)
            sum += EXP(score[i] - top);
        sum = WARP_SUM(sum);
        for (int i = lane; i < p.keys; i += 32) {
            REAL v = i >= lo && i < hi ? EXP(score[i] - top) / sum : 0;
            dn_store(&p.prob, from + i, v);
            if (p.kept.ptr)
                dn_store(&p.kept, from + i, drop(&p.mask, seed, call, from + i, v));
        }
    }
}

/* ds = scale p (dp - sum p dp) */
extern "C" __global__ void SOFTMAX_BWD(const __grid_constant__ dn_attn_softmax_view p)
{
    int lane = (int)threadIdx.x & 31;
    dn_u64 seed = seed_of(&p.mask), call = call_of(&p.mask);
    REAL scale = (REAL)p.scale;
    for (dn_s64 line = WARP; line < p.lines; line += WARPS) {
        dn_s64 from = line * p.keys;
        const REAL *score = (const REAL *)p.score + from;
        REAL sum = 0;
        for (int i = lane; i < p.keys; i += 32) {
            REAL d = p.mask.state ? (REAL)drop(&p.mask, seed, call, from + i, score[i]) : score[i];
            sum += (REAL)dn_load(&p.prob, from + i) * d;
        }
        sum = WARP_SUM(sum);
        for (int i = lane; i < p.keys; i += 32) {
            REAL d = p.mask.state ? (REAL)drop(&p.mask, seed, call, from + i, score[i]) : score[i], v = (REAL)dn_load(&p.prob, from + i);
            dn_store(&p.ds, from + i, v == 0 ? 0 : scale * v * (d - sum));
        }
    }
}

#undef REAL
#undef EXP
#undef INFINITE
#undef SOFTMAX
#undef SOFTMAX_BWD
#undef WARP_SUM
#undef WARP_MAX
