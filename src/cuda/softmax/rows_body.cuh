/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Softmax of packed rows that fit into the registers of TEAM threads (a power of two to 1024, a block for itself from 512 on), NV vectors of
 * 16 bytes each: read once, written once. Vectors stay packed and are decoded at each use, since 64 floats would spill.
 * Any length; tensors aligned to 16 bytes. A vector that rows share is read by both, and each writes its own elements: in place too.
 *     DN_TYPE           DN_T_F32, DN_T_F16 or DN_T_BF16
 *     KERNEL_FWD, KERNEL_BWD (name, TEAM, NV)   make a kernel of that name */
#include "cuda/softmax/vectors.cuh"

DN_FN float warp_reduce(float v, int team, bool maximum)
{
    for (int o = team / 2; o; o /= 2) {
        float w = __shfl_xor_sync(0xffffffffu, v, o);
        v = maximum ? fmaxf(v, w) : v + w;
    }
    return v;
}

/* Over the threads of a team. sh: 32 floats */
template <int TEAM> DN_FN float team_reduce(float v, bool maximum, float *sh)
{
    v = warp_reduce(v, TEAM < 32 ? TEAM : 32, maximum);
    if (TEAM <= 32)
        return v;
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        sh[threadIdx.x / 32] = v;
    __syncthreads();
    const float *mine = sh + threadIdx.x / TEAM * (TEAM / 32);
    v = mine[0];
#pragma unroll
    for (int i = 1; i < TEAM / 32; i++)
        v = maximum ? fmaxf(v, mine[i]) : v + mine[i];
    return v;
}

template <int TEAM, int NV> DN_FN void rows_fwd(const dn_softmax_rows *p)
{
    __shared__ float sh[32];
    const int g = (int)threadIdx.x % TEAM, per = (TEAM < 256 ? 256 : TEAM) / TEAM;
    for (dn_s64 r0 = (dn_s64)blockIdx.x * per; r0 < p->rows; r0 += (dn_s64)gridDim.x * per) {
        const row_span row = span_of(p, r0 + threadIdx.x / TEAM, r0 + threadIdx.x / TEAM < p->rows);
        uint4 u[NV];
        float m = -DN_INF, s = 0;
#pragma unroll
        for (int k = 0; k < NV; k++)
            if (g + k * TEAM < row.vectors)
                u[k] = row_load(p, p->in, &row, g + k * TEAM, MINUS_INFINITY);
#pragma unroll
        for (int k = 0; k < NV; k++)
            if (g + k * TEAM < row.vectors) {
                float f[VN];
                dn_unpack<DN_TYPE, VN>(u[k], f);
#pragma unroll
                for (int e = 0; e < VN; e++)
                    m = fmaxf(m, f[e]);
            }
        m = dn_softmax_shift(p->algo, team_reduce<TEAM>(m, true, sh));
#pragma unroll
        for (int k = 0; k < NV; k++)
            if (g + k * TEAM < row.vectors) {
                float f[VN];
                dn_unpack<DN_TYPE, VN>(u[k], f);
#pragma unroll
                for (int e = 0; e < VN; e++)
                    s += dn_exp(f[e] - m);
            }
        const float k1 = dn_softmax_close(p->algo, team_reduce<TEAM>(s, false, sh), p->alpha);
#pragma unroll
        for (int k = 0; k < NV; k++)
            if (g + k * TEAM < row.vectors) {
                float f[VN];
                dn_unpack<DN_TYPE, VN>(u[k], f);
#pragma unroll
                for (int e = 0; e < VN; e++)
                    f[e] = dn_softmax_result(p->algo, f[e], m, k1, p->alpha);
                row_store(p, &row, g + k * TEAM, f);
            }
    }
}

/* The longest rows on devices before 8.0, whose compilers would spill: dy is read a second time instead of being kept. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#define KEEPS_GRADIENT(team) ((team) < 1024)
#else
#define KEEPS_GRADIENT(team) true
#endif

template <int TEAM, int NV> DN_FN void rows_bwd(const dn_softmax_rows *p)
{
    __shared__ float sh[32];
    const int g = (int)threadIdx.x % TEAM, per = (TEAM < 256 ? 256 : TEAM) / TEAM, team = per > 1 ? (int)threadIdx.x / TEAM : 0;
    for (dn_s64 r0 = (dn_s64)blockIdx.x * per; r0 < p->rows; r0 += (dn_s64)gridDim.x * per) {
        const row_span row = span_of(p, r0 + team, r0 + team < p->rows);
        uint4 u[NV], w[KEEPS_GRADIENT(TEAM) ? NV : 1];
        float s = 0;
#pragma unroll
        for (int k = 0; k < NV; k++)
            if (g + k * TEAM < row.vectors) {
                u[k] = row_load(p, p->in, &row, g + k * TEAM, 0);
                w[KEEPS_GRADIENT(TEAM) ? k : 0] = row_load(p, p->grad, &row, g + k * TEAM, 0);
            }
#pragma unroll
        for (int k = 0; k < NV; k++)
            if (g + k * TEAM < row.vectors) {
                float y[VN], dy[VN];
                dn_unpack<DN_TYPE, VN>(u[k], y);
                if (!KEEPS_GRADIENT(TEAM))
                    w[0] = row_load(p, p->grad, &row, g + k * TEAM, 0);
                dn_unpack<DN_TYPE, VN>(w[KEEPS_GRADIENT(TEAM) ? k : 0], dy);
#pragma unroll
                for (int e = 0; e < VN; e++)
                    s += dn_softmax_term(p->algo, y[e], dy[e]);
            }
        s = team_reduce<TEAM>(s, false, sh);
#pragma unroll
        for (int k = 0; k < NV; k++)
            if (g + k * TEAM < row.vectors) {
                float y[VN], dy[VN];
                dn_unpack<DN_TYPE, VN>(u[k], y);
                if (!KEEPS_GRADIENT(TEAM))
                    w[0] = row_load(p, p->grad, &row, g + k * TEAM, 0);
                dn_unpack<DN_TYPE, VN>(w[KEEPS_GRADIENT(TEAM) ? k : 0], dy);
#pragma unroll
                for (int e = 0; e < VN; e++)
                    dy[e] = dn_softmax_gradient(p->algo, y[e], dy[e], s, p->alpha);
                row_store(p, &row, g + k * TEAM, dy);
            }
    }
}

/* Blocks of an SM: what leaves few vectors per thread enough threads to be busy. Capability 7.5 has 1024 threads, others 1536 at least. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#define MANY 4
#else
#define MANY 6
#endif
#define BLOCKS(TEAM, NV) (TEAM > 512 ? 1 : TEAM == 512 ? 2 : NV == 1 ? MANY : NV == 2 ? 4 : 1)

#define KERNEL(name, call, TEAM, NV)                                                                                               \
    extern "C" __global__ void __launch_bounds__(TEAM < 256 ? 256 : TEAM, BLOCKS(TEAM, NV)) name(const __grid_constant__ dn_softmax_rows p) \
    {                                                                                                                              \
        call<TEAM, NV>(&p);                                                                                                        \
    }
#define KERNEL_FWD(name, TEAM, NV) KERNEL(name, rows_fwd, TEAM, NV)
#define KERNEL_BWD(name, TEAM, NV) KERNEL(name, rows_bwd, TEAM, NV)
