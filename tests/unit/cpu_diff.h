/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * One problem run by a row of the cpu engine and by ref, results compared. Every buffer ends in a guard, lies at an address that
 * is aligned to its element only, and is NaN where nothing was put; inputs are checked to be as they were. */
#ifndef CPU_DIFF_H
#define CPU_DIFF_H

#include "core/engine.h"
#include "cpu/dnnl.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define GUARD 64
#define GUARD_BYTE 0x5a

typedef struct buffer {
    unsigned char *memory;
    void *data;
    size_t bytes;
    dn_dtype type;
    int64_t count;
} buffer;

/* Operands of one run. Values are set before; outputs are compared after. */
typedef struct operands {
    buffer role[DN_ROLE_COUNT], aux[DN_AUX_COUNT];
    buffer workspace;
} operands;

static dn_handle cpu, ref;

static inline int diff_setup(void **state)
{
    (void)state;
    memset(&cpu, 0, sizeof cpu);
    memset(&ref, 0, sizeof ref);
    cpu.engine = &dn_cpu_engine;
    ref.engine = &dn_ref_engine;
    if (dn_cpu_engine.probe())
        return 0;
    return dn_cpu_engine.open(&cpu) != DN_SUCCESS;
}

static inline int diff_teardown(void **state)
{
    (void)state;
    if (!dn_cpu_engine.probe())
        dn_handle_close(&cpu);
    dn_handle_close(&ref);
    return 0;
}

/* Tests of a machine without oneDNN say so instead of passing. */
#define NEED_ONEDNN()                                 \
    do {                                              \
        const char *why_ = dn_cpu_engine.probe();     \
        if (why_) {                                   \
            print_message("skipped: %s\n", why_);     \
            skip();                                   \
        }                                             \
    } while (0)

static inline uint32_t random_of(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static inline buffer buffer_new(dn_dtype type, int64_t count, size_t size)
{
    buffer b = { .type = type, .count = count, .bytes = (size_t)count * size };
    b.memory = malloc(b.bytes + 2 * GUARD + size);
    assert_non_null(b.memory);
    memset(b.memory, GUARD_BYTE, b.bytes + 2 * GUARD + size);
    b.data = b.memory + GUARD + (size < GUARD ? size : 0);
    memset(b.data, 0xff, b.bytes);
    return b;
}

static inline void buffer_check(const buffer *b, const char *row)
{
    if (!b->memory)
        return;
    for (const unsigned char *c = b->memory; c < (unsigned char *)b->data; c++)
        if (*c != GUARD_BYTE)
            fail_msg("%s wrote before a buffer", row);
    const unsigned char *end = (unsigned char *)b->data + b->bytes;
    for (int i = 0; i < GUARD; i++)
        if (end[i] != GUARD_BYTE)
            fail_msg("%s wrote past a buffer", row);
}

static inline buffer buffer_copy(const buffer *b)
{
    if (!b->memory)
        return *b;
    buffer c = buffer_new(b->type, b->count, b->bytes / (size_t)b->count);
    memcpy(c.data, b->data, b->bytes);
    return c;
}

static inline void operands_free(operands *o)
{
    for (int r = 0; r < DN_ROLE_COUNT; r++)
        free(o->role[r].memory);
    for (int k = 0; k < DN_AUX_COUNT; k++)
        free(o->aux[k].memory);
    free(o->workspace.memory);
}

static inline operands operands_copy(const operands *o)
{
    operands c = { 0 };
    for (int r = 0; r < DN_ROLE_COUNT; r++)
        c.role[r] = buffer_copy(&o->role[r]);
    for (int k = 0; k < DN_AUX_COUNT; k++)
        c.aux[k] = buffer_copy(&o->aux[k]);
    return c;
}

static inline void buffer_random(buffer *b, double lo, double hi, uint32_t seed)
{
    for (int64_t i = 0; i < b->count; i++)
        dn_store(b->type, b->data, i, lo + (hi - lo) * random_of(&seed) / 16777216.0);
}

static inline bool is_output(const dn_problem *p, int role)
{
    switch (p->op) {
    case DN_OP_CONV: case DN_OP_CONV_BIAS_ACT:
        return role == (p->dir == DN_DIR_BWD_DATA ? DN_X : p->dir == DN_DIR_BWD_FILTER ? DN_W : DN_Y);
    default:
        return role == (p->dir == DN_DIR_BWD_DATA || p->dir == DN_DIR_BWD ? DN_DX : DN_Y);
    }
}

/* Memory for every tensor of p (batch normalisation's W describes the parameters and has none). Inputs are random in -1 .. 1,
 * outputs NaN where beta is 0. */
static inline operands operands_new(const dn_problem *p, uint32_t seed)
{
    operands o = { 0 };
    for (int r = 0; r < DN_ROLE_COUNT; r++) {
        const dn_tensor *t = &p->t[r];
        if (!t->rank || (p->op == DN_OP_BN && r == DN_W))
            continue;
        int64_t lo, hi;
        assert_true(dn_tensor_span(t, &lo, &hi));
        assert_int_equal(lo, 0);
        o.role[r] = buffer_new((dn_dtype)t->type, hi + 1, dn_dtype_size((dn_dtype)t->type));
        if (!is_output(p, r) || !(p->flags & DN_F_BETA_ZERO))
            buffer_random(&o.role[r], -1, 1, seed + (uint32_t)r);
    }
    return o;
}

static inline void bind_args(dn_args *a, const operands *o)
{
    for (int r = 0; r < DN_ROLE_COUNT; r++)
        a->ptr[r] = o->role[r].data;
    for (int k = 0; k < DN_AUX_COUNT; k++)
        a->aux[k] = o->aux[k].data;
}

/* Runs exactly this row on copies; the caller frees the result. In place, the output is put where the problem says. */
static inline operands run_row(dn_handle *h, const dn_solver *row, const dn_problem *p, const dn_args *args, const operands *in)
{
    operands o = operands_copy(in);
    dn_args a = *args;
    dn_plan *plan = NULL;
    if (dn_plan_make(h, row, p, &plan) != DN_SUCCESS)
        fail_msg("%s accepted and could not be prepared: %s", row->name, dn_error_text());
    bind_args(&a, &o);
    if ((p->flags & DN_F_IN_PLACE) && p->op == DN_OP_CONV_BIAS_ACT)
        a.ptr[DN_Y] = a.ptr[DN_Z];
    else if (p->flags & DN_F_IN_PLACE)
        a.ptr[p->dir == DN_DIR_FWD || p->dir == DN_DIR_INFER || p->dir == DN_DIR_TRAIN ? DN_Y : DN_DX] =
            a.ptr[p->dir == DN_DIR_BWD_DATA ? DN_DY : DN_X];
    if (plan->workspace) {
        o.workspace = buffer_new(DN_U8, (int64_t)plan->workspace, 1);
        a.workspace = o.workspace.data;
        a.workspace_size = plan->workspace;
    }
    dn_status st = row->run(h, plan, &a);
    if (st != DN_SUCCESS)
        fail_msg("%s: %s: %s", row->name, dn_status_name(st), dn_error_text());
    for (int r = 0; r < DN_ROLE_COUNT; r++) {
        buffer_check(&o.role[r], row->name);
        bool in_place = p->flags & DN_F_IN_PLACE;
        if (o.role[r].memory && !is_output(p, r) && !in_place && memcmp(o.role[r].data, in->role[r].data, in->role[r].bytes) != 0)
            fail_msg("%s wrote to an input", row->name);
    }
    for (int k = 0; k < DN_AUX_COUNT; k++)
        buffer_check(&o.aux[k], row->name);
    buffer_check(&o.workspace, row->name);
    dn_plan_free(plan);
    return o;
}

/* Relative bound of a type for a sum of `length` products; docs/numerics.md. */
static inline double bound_of(dn_dtype t, double length)
{
    double b = t == DN_F32 ? 1e-5 : t == DN_BF16 ? 1e-2 : t == DN_F16 ? 2e-3 : 1e-12;
    return b * fmax(1, sqrt(length / 1000));
}

static inline bool same_or_near(double got, double want, double bound)
{
    if (got == want)
        return true;
    if (isnan(want) || isnan(got))
        return isnan(want) && isnan(got);
    if (isinf(want) || isinf(got))
        return false;
    return fabs(got - want) <= bound;
}

/* magnitude: per element, what the bound is a part of; NULL: 1 and the value itself. */
static inline void compare(const buffer *got, const buffer *want, const buffer *magnitude, double length, const char *row,
                           const char *line, const char *what)
{
    double bound = bound_of(got->type, length);
    for (int64_t i = 0; i < got->count; i++) {
        double g = dn_load(got->type, got->data, i), w = dn_load(want->type, want->data, i);
        double m = magnitude ? fabs(dn_load(magnitude->type, magnitude->data, i)) : 1 + fabs(w);
        if (!same_or_near(g, w, bound * (m + fabs(w))))
            fail_msg("%s: %s: element %lld of %s is %.9g, ref has %.9g, bound %.3g", line, row, (long long)i, what, g, w,
                     bound * (m + fabs(w)));
    }
}

/* Absolute values of every operand, for the sum of |products|. */
static inline operands operands_abs(const operands *o)
{
    operands c = operands_copy(o);
    for (int r = 0; r < DN_ROLE_COUNT; r++)
        for (int64_t i = 0; i < c.role[r].count; i++)
            dn_store(c.role[r].type, c.role[r].data, i, fabs(dn_load(c.role[r].type, c.role[r].data, i)));
    return c;
}

/* First row of ref for p, of those that keep an output to its own inputs. */
static inline const dn_solver *ref_row(const dn_problem *p)
{
    const dn_solver *s;
    dn_problem any = *p;
    any.algo = -1;
    for (int i = 0; (s = dn_solver_at(&dn_ref_engine, (dn_op)p->op, (dn_dir)p->dir, i)); i++)
        if (!dn_solver_refuses(s, &any))
            return s;
    return NULL;
}

static inline bool is_cpu(const dn_solver *s)
{
    return strncmp(s->name, "cpu_", 4) == 0;
}

/* Every cpu row that accepts p against ref; answers how many did. */
static inline int diff(const dn_problem *p, const dn_args *a, const operands *in, double length)
{
    char line[1024];
    dn_problem_print(p, line, sizeof line);
    const dn_solver *truth = ref_row(p), *s;
    if (!truth)
        fail_msg("%s: no row of ref", line);
    operands want = run_row(&ref, truth, p, a, in), mag = { 0 };
    bool sums = p->op == DN_OP_CONV || p->op == DN_OP_POOL;
    if (sums) {
        operands positive = operands_abs(in);
        dn_args abs_args = *a;
        abs_args.alpha = fabs(a->alpha), abs_args.beta = fabs(a->beta);
        mag = run_row(&ref, truth, p, &abs_args, &positive);
        operands_free(&positive);
    }
    int ran = 0;
    for (int i = 0; (s = dn_solver_at(&dn_cpu_engine, (dn_op)p->op, (dn_dir)p->dir, i)) && is_cpu(s); i++) {
        if (dn_solver_refuses(s, p))
            continue;
        operands got = run_row(&cpu, s, p, a, in);
        for (int r = 0; r < DN_ROLE_COUNT; r++)
            if (got.role[r].memory)
                compare(&got.role[r], &want.role[r], sums ? &mag.role[r] : NULL, length, s->name, line, "a tensor");
        for (int k = 0; k < DN_AUX_COUNT; k++)
            if (got.aux[k].memory)
                compare(&got.aux[k], &want.aux[k], NULL, length, s->name, line, "a parameter");
        operands_free(&got);
        ran++;
    }
    operands_free(&want);
    operands_free(&mag);
    return ran;
}

/* Packed in a layout. */
static inline void tensor_set(dn_tensor *t, dn_dtype type, int rank, const int64_t *dims, bool channel_last)
{
    memset(t, 0, sizeof *t);
    t->type = (uint8_t)type;
    t->rank = (uint8_t)rank;
    t->vect = 1;
    t->vect_dim = 1;
    memcpy(t->dims, dims, (size_t)rank * sizeof dims[0]);
    assert_true(channel_last ? dn_tensor_pack_nhwc(t) : dn_tensor_pack(t));
}

#endif
