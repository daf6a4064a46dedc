/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 *     dx = alpha * f'(x, y) dy + beta * dx
 *
 * DTYPE, KERNEL, mapping and limits as in act_fwd_body.cuh. x and y are read only by the modes that need them. */
#include "cuda/act/act_float.cuh"

enum { N = 16 / DN_VEC_SIZE(DTYPE), UNITS = DN_FLAT_ELEMENTS / N };
typedef dn_raw<16>::vec vec;

/* One unit; at: where it lies in dx x y dy. */
template <int MODE> DN_FN void grad(const dn_act_flat *p, const dn_s64 *at, vec vx, vec vy, vec vdy, vec vdx)
{
    float x[N] = {}, y[N] = {}, d[N], old[N];
    if (dn_act_reads_x(MODE))
        dn_unpack<DTYPE, N>(vx, x);
    if (dn_act_reads_y(MODE))
        dn_unpack<DTYPE, N>(vy, y);
    dn_unpack<DTYPE, N>(vdy, d);
#pragma unroll
    for (int k = 0; k < N; k++)
        d[k] = p->alpha * dn_act_grad_f<DTYPE, MODE>(p, x[k], y[k], d[k]);
    if (p->beta != 0) {
        dn_unpack<DTYPE, N>(vdx, old);
#pragma unroll
        for (int k = 0; k < N; k++)
            d[k] += p->beta * old[k];
    }
    dn_vec_store<DTYPE, N>(p->ptr[0], at[0], dn_pack<DTYPE, N>(d));
}

template <int MODE> DN_FN void grad_one(const dn_act_flat *p, dn_s64 i)
{
    float x = dn_act_reads_x(MODE) ? dn_one_load<DTYPE>(p->ptr[1], i) : 0, y = dn_act_reads_y(MODE) ? dn_one_load<DTYPE>(p->ptr[2], i) : 0;
    float v = p->alpha * dn_act_grad_f<DTYPE, MODE>(p, x, y, dn_one_load<DTYPE>(p->ptr[3], i));
    dn_one_store<DTYPE>(p->ptr[0], i, p->beta != 0 ? v + p->beta * dn_one_load<DTYPE>(p->ptr[0], i) : v);
}

template <int MODE> DN_FN void run(const dn_act_flat *p)
{
    dn_u32 first = DN_FLAT_FIRST(N);
    dn_s64 at[UNITS][4];
    vec x[UNITS], y[UNITS], dy[UNITS], dx[UNITS];
#pragma unroll
    for (int u = 0; u < UNITS; u++) {
        dn_u32 unit = first + u * DN_FLAT_THREADS;
        x[u] = y[u] = dy[u] = dx[u] = make_uint4(0, 0, 0, 0);
        if (unit < p->flat.units) {
            dn_flat_at<4, N>(&p->flat, unit, at[u]);
            if (dn_act_reads_x(MODE))
                x[u] = dn_vec_load<DTYPE, N>(p->ptr[1], at[u][1]);
            if (dn_act_reads_y(MODE))
                y[u] = dn_vec_load<DTYPE, N>(p->ptr[2], at[u][2]);
            dy[u] = dn_vec_load<DTYPE, N>(p->ptr[3], at[u][3]);
            if (p->beta != 0)
                dx[u] = dn_vec_load<DTYPE, N>(p->ptr[0], at[u][0]);
        }
    }
#pragma unroll
    for (int u = 0; u < UNITS; u++)
        if (first + u * DN_FLAT_THREADS < p->flat.units)
            grad<MODE>(p, at[u], x[u], y[u], dy[u], dx[u]);
    if (first < p->flat.tail)
        grad_one<MODE>(p, (dn_s64)p->flat.units * N + first);
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
