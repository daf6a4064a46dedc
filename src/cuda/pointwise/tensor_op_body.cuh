/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 *     y = op(alpha * x, alpha2 * b) + beta * y        b as large as y, or a line of values repeated over it
 *
 * DTYPE: the type (DN_T_...); KERNEL: the name; ADD_ALONE: sums with a repeated b and nothing else. Mapping and limits as in blend_body.cuh. */
#include "cuda/flat.cuh"
#include "cuda/pointwise/pointwise.h"
#include "cuda/pointwise/tensor_op.cuh"

enum { N = 16 / DN_VEC_SIZE(DTYPE), UNITS = DN_FLAT_ELEMENTS / N };
typedef dn_raw<16>::vec vec;

#ifndef ADD_ALONE
#define ADD_ALONE 0
#endif

/* One and two operands never meet in one walk; the larger is minus the smaller of the negatives. Few cases, since each is unrolled. */
template <int KIND> DN_FN void apply(const dn_tensor_op_flat *p, float *a, const float *b)
{
    if (KIND == DN_B_NONE && p->op == DN_OP2_SQRT) {
        for (int k = 0; k < N; k++)
            a[k] = sqrtf(p->alpha * a[k]);
    } else if (KIND == DN_B_NONE) {
        for (int k = 0; k < N; k++)
            a[k] = 1 - p->alpha * a[k];
    } else if (ADD_ALONE || p->op == DN_OP2_ADD) {
        for (int k = 0; k < N; k++)
            a[k] = p->alpha * a[k] + p->alpha2 * b[k];
    } else if (p->op == DN_OP2_MUL) {
        for (int k = 0; k < N; k++)
            a[k] = p->alpha * a[k] * (p->alpha2 * b[k]);
    } else {
        float sign = p->op == DN_OP2_MIN ? 1.0f : -1.0f;
        for (int k = 0; k < N; k++)
            a[k] = sign * dn_pick(true, p->nan != 0, sign * p->alpha * a[k], sign * p->alpha2 * b[k]);
    }
}

template <int KIND> DN_FN void unit_of(const dn_tensor_op_flat *p, dn_u32 unit, dn_s64 at, vec vx, vec vb, vec vy)
{
    float a[N], b[N] = {}, old[N];
    dn_unpack<DTYPE, N>(vx, a);
    if (KIND == DN_B_FLAT)
        dn_unpack<DTYPE, N>(vb, b);
    else if (KIND != DN_B_NONE)
        dn_repeat_load<DTYPE, N, KIND>(p->b, &p->repeat, unit, b);
    apply<KIND>(p, a, b);
    if (p->beta != 0) {
        dn_unpack<DTYPE, N>(vy, old);
#pragma unroll
        for (int k = 0; k < N; k++)
            a[k] += p->beta * old[k];
    }
    dn_vec_store<DTYPE, N>(p->y, at, dn_pack<DTYPE, N>(a));
}

template <int KIND> DN_FN void tail_of(const dn_tensor_op_flat *p, dn_u32 k)
{
    dn_s64 i = (dn_s64)p->flat.units * N + k;
    float a = p->alpha * dn_one_load<DTYPE>(p->x, i), b = 0;
    if (KIND == DN_B_FLAT)
        b = p->alpha2 * dn_one_load<DTYPE>(p->b, i);
    else if (KIND != DN_B_NONE)
        b = p->alpha2 * dn_repeat_one<DTYPE>(p->b, &p->repeat, (dn_u32)i);
    a = dn_tensor_op(ADD_ALONE ? DN_OP2_ADD : p->op, p->nan != 0, a, b);
    dn_one_store<DTYPE>(p->y, i, p->beta != 0 ? a + p->beta * dn_one_load<DTYPE>(p->y, i) : a);
}

template <int KIND> DN_FN void run(const dn_tensor_op_flat *p)
{
    dn_u32 first = DN_FLAT_FIRST(N);
    dn_s64 at[UNITS][3];
    vec x[UNITS], b[UNITS], y[UNITS];
#pragma unroll
    for (int u = 0; u < UNITS; u++) {
        dn_u32 unit = first + u * DN_FLAT_THREADS;
        x[u] = b[u] = y[u] = make_uint4(0, 0, 0, 0);
        if (unit < p->flat.units) {
            dn_flat_at<3, N>(&p->flat, unit, at[u]);
            x[u] = dn_vec_load<DTYPE, N>(p->x, at[u][1]);
            if (KIND == DN_B_FLAT)
                b[u] = dn_vec_load<DTYPE, N>(p->b, at[u][2]);
            if (p->beta != 0)
                y[u] = dn_vec_load<DTYPE, N>(p->y, at[u][0]);
        }
    }
#pragma unroll
    for (int u = 0; u < UNITS; u++)
        if (first + u * DN_FLAT_THREADS < p->flat.units)
            unit_of<KIND>(p, first + u * DN_FLAT_THREADS, at[u][0], x[u], b[u], y[u]);
    if (first < p->flat.tail)
        tail_of<KIND>(p, first);
}

extern "C" __global__ void __launch_bounds__(DN_FLAT_THREADS) KERNEL(const __grid_constant__ dn_tensor_op_flat p)
{
    switch (p.kind) {
    case DN_REPEAT_ONE: run<DN_REPEAT_ONE>(&p); break;
    case DN_REPEAT_LINE: run<DN_REPEAT_LINE>(&p); break;
    case DN_REPEAT_TWO: run<DN_REPEAT_TWO>(&p); break;
    case DN_REPEAT_ANY: run<DN_REPEAT_ANY>(&p); break;
#if !ADD_ALONE
    case DN_B_FLAT: run<DN_B_FLAT>(&p); break;
    default: run<DN_B_NONE>(&p); break;
#endif
    }
}
