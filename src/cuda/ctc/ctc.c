/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * CTC loss on the GPU. Labels and lengths that lie in host memory go to the front of the workspace as parameters of small kernels, so that
 * the caller may change them when the call returns, and a graph that captured the call has its own. */
#include "cuda/ctc/ctc.h"

#include "cuda/naive.h"
#include "cuda/rows.h"
#include "ops/ctc.h"

#include <stdlib.h>
#include <string.h>

typedef struct ctc_state {
    dn_cuda_grid grid, put;
    union {
        dn_ctc_naive naive;
        dn_ctc_warps warps;
    } params;
} ctc_state;

enum { NAIVE_BLOCKS = 512, PUT_THREADS = 256, LINE = 256 };

static int64_t round_up(int64_t bytes)
{
    return (bytes + LINE - 1) / LINE * LINE;
}

/* --- host arrays --- */

/* Bytes that they take on the device at most: labels, label lengths, input lengths. */
static int64_t host_bytes(const dn_problem *p)
{
    return p->u.ctc.host ? round_up(4 * p->t[DN_X].dims[1] * ((int64_t)p->u.ctc.max_label + 2)) : 0;
}

/* Puts count integers at out. */
static dn_status put(dn_handle *h, const ctc_state *s, int *out, const int32_t *from, int64_t count)
{
    dn_status st = DN_SUCCESS;
    for (int64_t done = 0; st == DN_SUCCESS && done < count; ) {
        dn_ctc_put q = { .out = out + done };
        int64_t narrow = DN_CTC_PUT_BYTES / 2, n = count - done < narrow ? count - done : narrow;
        for (int64_t i = 0; i < n; i++)
            q.wide |= from[done + i] < 0 || from[done + i] > UINT16_MAX;
        n = q.wide && n > narrow / 2 ? narrow / 2 : n;
        for (int64_t i = 0; i < n; i++) {
            q.value[q.wide ? 2 * i : i] = (unsigned short)from[done + i];
            if (q.wide)
                q.value[2 * i + 1] = (unsigned short)((uint32_t)from[done + i] >> 16);
        }
        q.count = (int)n;
        st = dn_cuda_launch(h, &s->put, &q);
        done += n;
    }
    return st;
}

/* The arrays where the device has them; *rest: the workspace behind them. */
static dn_status bring(dn_handle *h, const dn_plan *plan, const dn_args *a, dn_ctc_call *c, void **rest)
{
    const dn_problem *p = &plan->problem;
    int64_t n = p->t[DN_X].dims[1], total = 0;
    uintptr_t base = ((uintptr_t)a->workspace + LINE - 1) / LINE * LINE;
    int *to = (int *)base;
    *rest = (void *)(base + (uintptr_t)host_bytes(p));
    c->labels = dn_ctc_labels(p, a);
    c->label_lengths = dn_ctc_label_lengths(p, a);
    c->input_lengths = dn_ctc_input_lengths(p, a);
    if (!p->u.ctc.host)
        return DN_SUCCESS;
    for (int64_t i = 0; i < n; i++)
        total += a->label_lengths[i];
    dn_status st = put(h, plan->state, to, a->label_lengths, n);
    if (st == DN_SUCCESS)
        st = put(h, plan->state, to + n, a->lengths, n);
    if (st == DN_SUCCESS)
        st = put(h, plan->state, to + 2 * n, a->labels, total);
    c->label_lengths = to;
    c->input_lengths = to + n;
    c->labels = to + 2 * n;
    return st;
}

static dn_status prepare_state(dn_handle *h, dn_plan *plan, dn_ctc_call *c)
{
    const dn_problem *p = &plan->problem;
    const dn_tensor *x = &p->t[DN_X];
    ctc_state *s = plan->state;
    c->steps = (int)x->dims[0];
    c->batch = (int)x->dims[1];
    c->classes = (int)x->dims[2];
    c->max_label = p->u.ctc.max_label;
    c->norm = p->u.ctc.norm;
    c->skip = p->u.ctc.skip;
    c->gradients = p->t[DN_DX].rank > 0;
    s->put = (dn_cuda_grid){ .grid = { 1, 1, 1 }, .block = { PUT_THREADS, 1, 1 } };
    return p->u.ctc.host ? dn_cuda_function(h, "cuda_ctc_naive", "cuda_ctc_put", 0, &s->put.f) : DN_SUCCESS;
}

static dn_status make_state(dn_plan *plan)
{
    plan->state = calloc(1, sizeof(ctc_state));
    return plan->state ? DN_SUCCESS : dn_fail(DN_ALLOC_FAILED, "no memory for a plan of %s", plan->solver->name);
}

/* Labels of a sample that there must be room for: with more than steps it is short. */
static int64_t label_room(const dn_problem *p)
{
    int64_t steps = p->t[DN_X].dims[0];
    return p->u.ctc.max_label < steps ? p->u.ctc.max_label : steps;
}

/* --- in double, anything --- */

static const char *naive_check(const dn_problem *p)
{
    return dn_ref_ctc.rows[0].check(p);
}

static int64_t naive_doubles(const dn_problem *p)
{
    const dn_tensor *x = &p->t[DN_X];
    return (x->dims[0] + 2) * (2 * label_room(p) + 1) + x->dims[2] + 2 * x->dims[0];
}

static int64_t naive_blocks(const dn_problem *p)
{
    return p->t[DN_X].dims[1] < NAIVE_BLOCKS ? p->t[DN_X].dims[1] : NAIVE_BLOCKS;
}

static size_t naive_workspace(const dn_problem *p)
{
    return (size_t)(LINE + host_bytes(p) + naive_blocks(p) * naive_doubles(p) * (int64_t)sizeof(double));
}

static dn_status naive_prepare(dn_handle *h, dn_plan *plan)
{
    const dn_problem *p = &plan->problem;
    dn_status st = make_state(plan);
    if (st != DN_SUCCESS)
        return st;
    ctc_state *s = plan->state;
    dn_ctc_naive *q = &s->params.naive;
    q->x = dn_elements_of(&p->t[DN_X]);
    q->dx = dn_elements_of(&p->t[DN_DX]);
    q->costs = dn_elements_of(&p->t[DN_X]);
    for (int d = 0; d < 3; d++) {
        q->x_stride[d] = p->t[DN_X].strides[d];
        q->dx_stride[d] = p->t[DN_DX].strides[d];
    }
    q->block_doubles = naive_doubles(p);
    q->room = 2 * label_room(p) + 1;
    s->grid = (dn_cuda_grid){ .grid = { (unsigned)naive_blocks(p), 1, 1 }, .block = { DN_CTC_NAIVE_BLOCK, 1, 1 } };
    st = prepare_state(h, plan, &q->c);
    return st == DN_SUCCESS ? dn_cuda_function(h, "cuda_ctc_naive", plan->solver->name, 0, &s->grid.f) : st;
}

static dn_status naive_run(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    const ctc_state *s = plan->state;
    dn_ctc_naive q = s->params.naive;
    void *rest;
    dn_elements_bind(&q.x, a->ptr[DN_X]);
    dn_elements_bind(&q.costs, a->aux[DN_AUX_COSTS]);
    if (q.c.gradients)
        dn_elements_bind(&q.dx, a->ptr[DN_DX]);
    dn_status st = bring(h, plan, a, &q.c, &rest);
    q.work = rest;
    return st == DN_SUCCESS ? dn_cuda_launch(h, &s->grid, &q) : st;
}

/* --- two warps per sample, f32 --- */

static const char *warps_check(const dn_problem *p)
{
    const dn_tensor *x = &p->t[DN_X], *dx = &p->t[DN_DX];
    if (x->type != DN_F32)
        return "takes another type";
    if (p->compute != DN_F32)
        return "computes in f32";
    if (x->strides[2] != 1 || (dx->rank && dx->strides[2] != 1))
        return "needs the classes side by side";
    if (p->align[DN_X] < 4 || (dx->rank && p->align[DN_DX] < 4))
        return "needs aligned pointers";
    if (label_room(p) > DN_CTC_LABELS_MAX)
        return "needs 255 labels or less, or as many steps";
    if (x->dims[2] > DN_CTC_CLASSES_MAX)
        return "needs 8192 classes or less";
    return x->dims[0] * (label_room(p) + 1) < ((int64_t)1 << 27) ? NULL : "needs fewer steps";
}

/* Bytes of shared memory for the labels and the like, and floats for one sample's steps. */
static int64_t warps_small(const dn_problem *p)
{
    return 4 * (2 * label_room(p) + p->t[DN_X].dims[2] + 2 * p->t[DN_X].dims[0]) + 8;
}

static int64_t warps_floats(const dn_problem *p)
{
    return (dn_ctc_sample_floats((int)p->t[DN_X].dims[0], (int)label_room(p)) + 3) / 2 * 2;
}

static size_t warps_workspace(const dn_problem *p)
{
    return (size_t)(LINE + host_bytes(p) + p->t[DN_X].dims[1] * warps_floats(p) * 4);
}

static dn_status warps_prepare(dn_handle *h, dn_plan *plan)
{
    const dn_problem *p = &plan->problem;
    const dn_tensor *x = &p->t[DN_X], *dx = &p->t[DN_DX];
    dn_status st = make_state(plan);
    if (st != DN_SUCCESS)
        return st;
    ctc_state *s = plan->state;
    dn_ctc_warps *q = &s->params.warps;
    q->room = (int)label_room(p);
    q->x_step = x->strides[0];
    q->x_sample = x->strides[1];
    q->dx_step = dx->strides[0];
    q->dx_sample = dx->strides[1];
    int64_t shared = warps_small(p), whole = shared + warps_floats(p) * 4, most = (int64_t)dn_cuda_device_of(h)->shared_max - 1024;
    q->sample_floats = whole <= most ? 0 : warps_floats(p);
    shared = whole <= most ? whole : shared;
    s->grid = (dn_cuda_grid){ .grid = { (unsigned)x->dims[1], 1, 1 }, .block = { 32 * DN_CTC_WARPS, 1, 1 }, .shared = (unsigned)shared };
    st = prepare_state(h, plan, &q->c);
    /* The most for every plan: they share the function and what it may ask for. */
    return st == DN_SUCCESS ? dn_cuda_function(h, plan->solver->name, plan->solver->name, (size_t)most, &s->grid.f) : st;
}

static dn_status warps_run(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    const ctc_state *s = plan->state;
    dn_ctc_warps q = s->params.warps;
    void *rest;
    q.x = a->ptr[DN_X];
    q.dx = a->ptr[DN_DX];
    q.costs = a->aux[DN_AUX_COSTS];
    dn_status st = bring(h, plan, a, &q.c, &rest);
    q.work = q.sample_floats ? rest : NULL;
    return st == DN_SUCCESS ? dn_cuda_launch(h, &s->grid, &q) : st;
}

static const dn_solver rows[] = {
    { .name = "cuda_ctc_fwd_warps_f32", .op = DN_OP_CTC, .dir = DN_DIR_FWD, .algo = -1, .check = warps_check, .workspace = warps_workspace,
      .prepare = warps_prepare, .run = warps_run, .release = dn_cuda_release },
    { .name = "cuda_ctc_fwd_naive", .op = DN_OP_CTC, .dir = DN_DIR_FWD, .algo = -1, .check = naive_check, .workspace = naive_workspace,
      .prepare = naive_prepare, .run = naive_run, .release = dn_cuda_release },
};

const dn_rows dn_cuda_ctc = { rows, sizeof rows / sizeof rows[0] };
