/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 *     y = alpha * f(x) + beta * y
 *
 * DTYPE: the type (DN_T_...); KERNEL: the name. Contiguous tensors or rows of vectors, aligned to 16 bytes. Blocks of 256 threads; a thread
 * has 16 elements in vectors of 16 bytes, loaded before the first is used. No shared memory. */
#include "cuda/act/act_float.cuh"

enum { N = 16 / DN_VEC_SIZE(DTYPE), UNITS = DN_FLAT_ELEMENTS / N };
typedef dn_raw<16>::vec vec;

template <int MODE> DN_FN void run(const dn_act_flat *p)
{
    dn_u32 first = DN_FLAT_FIRST(N);
    dn_s64 at[UNITS][2];
    vec x[UNITS], y[UNITS];
    float f[N], old[N];
#pragma unroll
    for (int u = 0; u < UNITS; u++) {
        dn_u32 unit = first + u * DN_FLAT_THREADS;
        if (unit < p->flat.units) {
            dn_flat_at<2, N>(&p->flat, unit, at[u]);
            x[u] = dn_vec_load<DTYPE, N>(p->ptr[1], at[u][1]);
            if (p->beta != 0)
                y[u] = dn_vec_load<DTYPE, N>(p->ptr[0], at[u][0]);
        }
    }
#pragma unroll
    for (int u = 0; u < UNITS; u++)
        if (first + u * DN_FLAT_THREADS < p->flat.units) {
            dn_unpack<DTYPE, N>(x[u], f);
#pragma unroll
            for (int k = 0; k < N; k++)
                f[k] = p->alpha * dn_act_f<DTYPE, MODE>(p, f[k]);
            if (p->beta != 0) {
                dn_unpack<DTYPE, N>(y[u], old);
#pragma unroll
                for (int k = 0; k < N; k++)
                    f[k] += p->beta * old[k];
            }
            dn_vec_store<DTYPE, N>(p->ptr[0], at[u][0], dn_pack<DTYPE, N>(f));
        }
    if (first < p->flat.tail) {
        dn_s64 i = (dn_s64)p->flat.units * N + first;
        float v = p->alpha * dn_act_f<DTYPE, MODE>(p, dn_one_load<DTYPE>(p->ptr[1], i));
        dn_one_store<DTYPE>(p->ptr[0], i, p->beta != 0 ? v + p->beta * dn_one_load<DTYPE>(p->ptr[0], i) : v);
    }
}

extern "C" __global__ void __launch_bounds__(DN_FLAT_THREADS) KERNEL(const __grid_constant__ dn_act_flat p)
{
    switch (p.mode) {
    case DN_ACT_SIGMOID: run<DN_ACT_SIGMOID>(&p); break;
    case DN_ACT_RELU: run<DN_ACT_RELU>(&p); break;
    case DN_ACT_TANH: run<DN_ACT_TANH>(&p); break;
    case DN_ACT_CLIPPED_RELU: run<DN_ACT_CLIPPED_RELU>(&p); break;
    case DN_ACT_ELU: run<DN_ACT_ELU>(&p); break;
    default: run<DN_ACT_SWISH>(&p); break;
    }
}
