/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * alpha and beta. oneDNN fixes such factors when a primitive is made; cuDNN gives them with each call, so a result that is not
 * simply stored goes to scratch as f32 and is blended here, rounded once. One pass over memory, in f32 arithmetic. */
#include "core/os.h"
#include "cpu/op.h"

#include <string.h>

typedef struct job {
    const float *r;
    void *y;
    float alpha, beta;
} job;

static float bf16_widen(uint16_t h)
{
    uint32_t u = (uint32_t)h << 16;
    float v;
    memcpy(&v, &u, sizeof v);
    return v;
}

/* To nearest even; a NaN keeps its upper half and becomes quiet. */
static uint16_t bf16_round(float v)
{
    uint32_t u;
    memcpy(&u, &v, sizeof u);
    uint32_t rounded = (u + 0x7fffu + ((u >> 16) & 1)) >> 16;
    uint32_t nan = (u >> 16) | 0x40;
    return (uint16_t)(v == v ? rounded : nan);
}

static void scale_f32(void *ctx, int64_t b, int64_t e)
{
    const job *j = ctx;
    float *y = j->y;
    for (int64_t i = b; i < e; i++)
        y[i] *= j->alpha;
}

static void scale_bf16(void *ctx, int64_t b, int64_t e)
{
    const job *j = ctx;
    uint16_t *y = j->y;
    for (int64_t i = b; i < e; i++)
        y[i] = bf16_round(j->alpha * bf16_widen(y[i]));
}

static void store_f32(void *ctx, int64_t b, int64_t e)
{
    const job *j = ctx;
    const float *r = j->r;
    float *y = j->y;
    for (int64_t i = b; i < e; i++)
        y[i] = j->alpha * r[i];
}

static void store_bf16(void *ctx, int64_t b, int64_t e)
{
    const job *j = ctx;
    const float *r = j->r;
    uint16_t *y = j->y;
    for (int64_t i = b; i < e; i++)
        y[i] = bf16_round(j->alpha * r[i]);
}

static void add_f32(void *ctx, int64_t b, int64_t e)
{
    const job *j = ctx;
    const float *r = j->r;
    float *y = j->y;
    for (int64_t i = b; i < e; i++)
        y[i] = j->alpha * r[i] + j->beta * y[i];
}

static void add_bf16(void *ctx, int64_t b, int64_t e)
{
    const job *j = ctx;
    const float *r = j->r;
    uint16_t *y = j->y;
    for (int64_t i = b; i < e; i++)
        y[i] = bf16_round(j->alpha * r[i] + j->beta * bf16_widen(y[i]));
}

/* Any other type, in pieces of doubles. */
static void other(dn_dtype t, int64_t n, double alpha, const float *r, double beta, void *y)
{
    enum { PIECE = 512 };
    double v[PIECE];
    for (int64_t i = 0; i < n; i += PIECE) {
        int64_t m = n - i < PIECE ? n - i : PIECE;
        if (r)
            dn_load_row(DN_F32, r, i, 1, m, v);
        else
            dn_load_row(t, y, i, 1, m, v);
        dn_store_row(t, y, i, 1, m, v, alpha, beta);
    }
}

void dn_cpu_blend(dn_dtype t, int64_t n, double alpha, const float *r, double beta, void *y)
{
    enum { GRAIN = 1 << 14 };
    job j = { r, y, (float)alpha, (float)beta };
    dn_range_fn fn;
    if (t != DN_F32 && t != DN_BF16) {
        other(t, n, alpha, r, beta, y);
        return;
    }
    if (!r)
        fn = t == DN_F32 ? scale_f32 : scale_bf16;
    else if (beta == 0)
        fn = t == DN_F32 ? store_f32 : store_bf16;
    else
        fn = t == DN_F32 ? add_f32 : add_bf16;
    dn_parallel(n, GRAIN, fn, &j);
}

void dn_cpu_store(const dn_problem *p, const dn_cpu_state *s, const dn_cpu_run *r, const dn_args *a, dn_role out)
{
    const dn_tensor *t = &p->t[out];
    if (s->staged)
        dn_cpu_blend(t->type, dn_tensor_count(t), a->alpha, (const float *)(r->scratch + s->stage), a->beta, a->ptr[out]);
    else if (a->alpha != 1)
        dn_cpu_blend(t->type, dn_tensor_count(t), a->alpha, NULL, 0, a->ptr[out]);
}
