/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#include "core/os.h"
#include "cpu/op.h"

#include <stdatomic.h>
#include <string.h>

dn_status dn_cpu_exact_prepare(dn_handle *h, dn_plan *plan)
{
    const dn_problem *p = &plan->problem;
    dn_cpu_state *s = plan->state;
    for (const dn_rows *const *t = dn_ref_engine.tables; *t; t++) {
        for (int k = 0; k < (*t)->count; k++) {
            const dn_solver *row = &(*t)->rows[k];
            if (row->op == p->op && row->dir == p->dir && !(row->flags & DN_SOLVER_TILED) && !(row->check && row->check(p)))
                return dn_plan_make(h, row, p, &s->exact);
        }
    }
    return dn_fail(DN_NOT_SUPPORTED, "%s: ref has no row for this problem", plan->solver->name);
}

dn_status dn_cpu_exact_run(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    const dn_plan *exact = ((const dn_cpu_state *)plan->state)->exact;
    return exact->solver->run(h, exact, a);
}

typedef struct scan {
    const void *x;
    _Atomic int found;
} scan;

/* An exponent of all ones is an infinity or a NaN. Blocks of fixed length, without branches: what compilers vectorise at any
 * optimisation level. */
enum { BLOCK = 64 };

static uint32_t bad_f32(const float *x, int64_t n)
{
    uint32_t u[BLOCK] = { 0 }, bad = 0;
    memcpy(u, x, (size_t)n * sizeof u[0]);
    for (int i = 0; i < BLOCK; i++)
        bad |= (u[i] & 0x7f800000u) == 0x7f800000u;
    return bad;
}

static uint32_t bad_bf16(const uint16_t *x, int64_t n)
{
    uint16_t u[BLOCK] = { 0 }, bad = 0;
    memcpy(u, x, (size_t)n * sizeof u[0]);
    for (int i = 0; i < BLOCK; i++)
        bad |= (u[i] & 0x7f80u) == 0x7f80u;
    return bad;
}

static void scan_f32(void *ctx, int64_t b, int64_t e)
{
    scan *s = ctx;
    const float *x = s->x;
    uint32_t bad = 0;
    for (; e - b >= BLOCK; b += BLOCK)
        bad |= bad_f32(x + b, BLOCK);
    if (bad | bad_f32(x + b, e - b))
        atomic_store_explicit(&s->found, 1, memory_order_relaxed);
}

static void scan_bf16(void *ctx, int64_t b, int64_t e)
{
    scan *s = ctx;
    const uint16_t *x = s->x;
    uint32_t bad = 0;
    for (; e - b >= BLOCK; b += BLOCK)
        bad |= bad_bf16(x + b, BLOCK);
    if (bad | bad_bf16(x + b, e - b))
        atomic_store_explicit(&s->found, 1, memory_order_relaxed);
}

bool dn_cpu_finite(const dn_problem *p, const dn_args *a, const dn_role *roles, int count)
{
    enum { GRAIN = 1 << 15 };
    for (int k = 0; k < count; k++) {
        const dn_tensor *t = &p->t[roles[k]];
        scan s = { a->ptr[roles[k]], 0 };
        dn_parallel(dn_tensor_count(t), GRAIN, t->type == DN_F32 ? scan_f32 : scan_bf16, &s);
        if (s.found)
            return false;
    }
    return true;
}
