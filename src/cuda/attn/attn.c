/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Attention on the GPU: plans, memory, launches. */
#include "cuda/attn/host.h"

#include "core/philox.h"
#include "cuda/rows.h"
#include "ops/dropout.h"
#include "ref/conv.h"

#include <stdlib.h>
#include <string.h>

enum { PARTS_MAX = 64, PART_LEAST = 256, PARTIAL_MAX = 40 << 20 };  /* as gemm.c cuts products, and 40 MiB */

_Static_assert(sizeof(dn_attn_window) <= 4096, "parameters of a kernel");
_Static_assert(sizeof(dn_dropout_state) == 64, "the kernels read it by offset");

/* --- memory --- */

static size_t take(size_t *used, size_t size, int64_t a, int64_t b)
{
    size_t at = *used, n;
    if (*used == SIZE_MAX || __builtin_mul_overflow((size_t)a, (size_t)b, &n) || __builtin_mul_overflow(n, size, &n) || n > SIZE_MAX - 255 ||
        __builtin_add_overflow(at, (n + 255) / 256 * 256, used))
        *used = SIZE_MAX;
    return at;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* All but the products' part. */
static void lay_out(const dn_problem *p, const dn_attn_size *z, const dn_attn_reserve *r, dn_attn_work *w)
{
    const dn_attn_param *u = &p->u.attn;
    size_t used = 0, size = dn_dtype_size((dn_dtype)p->t[DN_X].type), wide = p->t[DN_X].type == DN_F64 ? 8 : 4;
    bool forward = p->dir == DN_DIR_INFER || p->dir == DN_DIR_TRAIN, filter = p->dir == DN_DIR_BWD_FILTER;
    int64_t probs = z->heads * z->rows_q, rows = larger(z->rows_q, z->rows_k), vector = larger(z->q, larger(z->k, z->v));
    memset(w, 0, sizeof *w);
    w->kept = take(&used, 1, p->dir == DN_DIR_INFER ? (int64_t)r->dq : 0, 1);
    w->window = take(&used, sizeof(int), forward ? 2 * z->s : 0, 1);
    w->xq = take(&used, size, p->dir != DN_DIR_BWD_DATA && u->q_proj ? z->rows_q : 0, z->q);
    w->xk = take(&used, size, p->dir != DN_DIR_BWD_DATA && u->k_proj ? z->rows_k : 0, z->k);
    w->xv = take(&used, size, p->dir != DN_DIR_BWD_DATA && u->v_proj ? z->rows_k : 0, z->v);
    w->score = take(&used, wide, filter ? 0 : probs, z->t);
    w->dropped = take(&used, size, !filter && u->dropout ? probs : 0, z->t);
    w->ds = take(&used, size, p->dir == DN_DIR_BWD_DATA ? probs : 0, z->t);
    w->split = take(&used, size, filter ? 0 : rows * z->heads, larger(z->e, z->f));
    w->dheads = take(&used, size, p->dir == DN_DIR_BWD_DATA ? z->rows_q * z->heads : 0, z->f);
    w->out = take(&used, wide, rows, larger(z->out, forward || filter ? 0 : vector));
    w->partial = used;
    w->bytes = used;
}

static void begin(dn_attn_call *c, const dn_problem *p, const dn_args *a)
{
    memset(c, 0, sizeof *c);
    c->p = p;
    c->u = &p->u.attn;
    c->a = a;
    c->type = (dn_dtype)p->t[DN_X].type;
    c->wide = c->type == DN_F64 ? DN_F64 : DN_F32;
    dn_attn_size_of(p, &c->z);
}

static void walk(dn_attn_call *c)
{
    if (c->p->dir == DN_DIR_BWD_DATA)
        dn_attn_backward_data(c);
    else if (c->p->dir == DN_DIR_BWD_FILTER)
        dn_attn_backward_filter(c);
    else
        dn_attn_forward(c);
}

/* Sizes of everything, by a walk that launches nothing; SIZE_MAX past size_t. */
static size_t measure(const dn_problem *p, dn_attn_reserve *r, dn_attn_work *w, size_t *partial)
{
    dn_args none = { .step = -1 };
    dn_attn_call c;
    begin(&c, p, &none);
    if (!dn_attn_reserve_layout(p, r))
        return SIZE_MAX;
    lay_out(p, &c.z, r, w);
    c.r = *r;
    c.w = *w;
    walk(&c);
    *partial = c.partial;
    return w->bytes == SIZE_MAX || __builtin_add_overflow(w->bytes, c.partial, &w->bytes) ? SIZE_MAX : w->bytes;
}

static size_t workspace(const dn_problem *p)
{
    dn_attn_reserve r;
    dn_attn_work w;
    size_t partial;
    return measure(p, &r, &w, &partial);
}

static const char *check(const dn_problem *p)
{
    return workspace(p) == SIZE_MAX ? "the intermediate values have more bytes than size_t counts" : NULL;
}

/* --- launches --- */

dn_elements dn_attn_array(dn_dtype type, unsigned char *base, size_t at)
{
    dn_elements e = dn_elements_typed(type);
    dn_elements_bind(&e, (void *)((uintptr_t)base + at));
    return e;
}

dn_attn_weight dn_attn_kind(const dn_attn_call *c, int kind)
{
    dn_attn_weight w;
    int64_t in[3] = { c->z.q, c->z.k, c->z.v };
    dn_attn_weight_at(c->u, in, kind, &w);
    return w;
}

dn_elements dn_attn_weights_at(const dn_attn_call *c, const dn_attn_weight *w)
{
    return dn_attn_array(c->type, c->a->ptr[DN_W], (size_t)w->at * dn_dtype_size(c->type));
}

static void shift(dn_elements *e, int64_t by)
{
    e->ptr = (void *)((uintptr_t)e->ptr + (uintptr_t)(by * e->size));
}

/* What a product may want at most for its parts. Unlike what it does want, this never falls where a size rises: a caller asks once, for the
 * largest sizes, and may call with smaller ones. */
static size_t parts_at_most(const dn_attn_call *c, const dn_gemm *g)
{
    int64_t parts = g->k / PART_LEAST;
    double bytes = (double)(parts < PARTS_MAX ? parts : PARTS_MAX) * (double)g->batch * (double)g->m * (double)g->n * (c->wide == DN_F64 ? 8 : 4);
    return parts < 2 ? 0 : bytes < PARTIAL_MAX ? (size_t)bytes : PARTIAL_MAX;
}

static void one_product(dn_attn_call *c, const dn_gemm *g)
{
    size_t most = parts_at_most(c, g);
    c->partial = most > c->partial ? most : c->partial;
    if (c->st != DN_SUCCESS || !c->h)
        return;
    size_t need = dn_cuda_gemm_workspace(g->m, g->n, g->k, g->batch, c->wide == DN_F64);
    c->st = dn_cuda_gemm(c->h, &c->s->gemm, g, need && need <= c->s->partial_room ? c->work + c->w.partial : NULL);
}

void dn_attn_product(dn_attn_call *c, const dn_gemm *given, int64_t outer, const int64_t pitches[3])
{
    dn_gemm g = *given;
    if (g.batch == 1 && (pitches[2] || outer == 1)) {
        g.pitch_a = pitches[0], g.pitch_b = pitches[1], g.pitch_c = pitches[2];
        g.batch = outer;
        outer = 1;
    } else if (pitches[0] == g.batch * g.pitch_a && pitches[1] == g.batch * g.pitch_b && pitches[2] == g.batch * g.pitch_c) {
        g.batch *= outer;
        outer = 1;
    }
    for (int64_t o = 0; o < outer; o++) {
        one_product(c, &g);
        shift(&g.a, pitches[0]);
        shift(&g.b, pitches[1]);
        shift(&g.c, pitches[2]);
        g.beta = pitches[2] ? given->beta : 1;
    }
}

void dn_attn_launch(dn_attn_call *c, dn_attn_fn f, int64_t threads, const void *params)
{
    if (c->st != DN_SUCCESS || !c->h || !threads)
        return;
    dn_cuda_grid grid = { .f = c->s->f[f] };
    unsigned block = f == DN_ATTN_SOFTMAX_FN || f == DN_ATTN_SOFTMAX_BWD_FN ? DN_ATTN_BLOCK : 256;
    dn_cuda_grid_loop(c->h, &grid, threads, block, 4);
    if (f == DN_ATTN_COLUMNS_FN)
        grid.grid[0] = (unsigned)dn_ceil_div(threads, DN_ATTN_COLUMNS);
    c->st = dn_cuda_launch(c->h, &grid, params);
}

static void strides_of(const dn_tensor *t, long long to[4])
{
    for (int i = 0; i < 4; i++)
        to[i] = t->strides[i];
}

void dn_attn_pack(dn_attn_call *c, const dn_attn_move *m, bool back)
{
    dn_attn_rows_view v = { .e = dn_elements_of(m->t), .compact = m->compact, .rows = m->t->dims[1] * m->t->dims[2] * m->times,
                            .vector = m->t->dims[3], .beams = (int)m->t->dims[2], .times = (int)m->times, .first = (int)m->first,
                            .len = m->len, .mask = m->mask };
    dn_elements_bind(&v.e, m->ptr);
    strides_of(m->t, v.stride);
    if (m->added) {
        v.added = dn_elements_of(m->added);
        dn_elements_bind(&v.added, m->added_ptr);
        strides_of(m->added, v.added_stride);
    }
    dn_attn_launch(c, back ? DN_ATTN_UNPACK_FN : DN_ATTN_PACK_FN, v.rows * v.vector, &v);
}

void dn_attn_turn_heads(dn_attn_call *c, dn_elements from, dn_elements to, int64_t rows, int64_t size, bool split)
{
    dn_attn_turn t = { .from = from, .to = to, .rows = rows, .heads = (int)c->z.heads, .size = (int)size, .split = split };
    dn_attn_launch(c, DN_ATTN_TURN_FN, rows * c->z.heads * size, &t);
}

dn_attn_mask_view dn_attn_mask_from(const dn_attn_call *c, int which)
{
    float p = which ? c->a->dropout2 : c->a->dropout;
    if (c->p->dir == DN_DIR_INFER || !(which ? c->u->post : c->u->dropout))
        return (dn_attn_mask_view){ 0 };
    return (dn_attn_mask_view){ .state = (void *)((uintptr_t)c->kept + c->r.states + (size_t)which * sizeof(dn_dropout_state)),
                                .threshold = dn_dropout_threshold(p), .scale = p < 1 ? 1 / (1 - (double)p) : 0 };
}

/* --- rows --- */

static dn_status prepare(dn_handle *h, dn_plan *plan)
{
    static const char *const names[2 * DN_ATTN_FNS] = {
        "cuda_attn_window", "cuda_attn_keep", "cuda_attn_pack", "cuda_attn_unpack", "cuda_attn_softmax_f32", "cuda_attn_softmax_bwd_f32",
        "cuda_attn_drop", "cuda_attn_turn", "cuda_attn_columns",
        "cuda_attn_window", "cuda_attn_keep", "cuda_attn_pack", "cuda_attn_unpack", "cuda_attn_softmax_f64", "cuda_attn_softmax_bwd_f64",
        "cuda_attn_drop", "cuda_attn_turn", "cuda_attn_columns"
    };
    const dn_problem *p = &plan->problem;
    bool f64 = p->t[DN_X].type == DN_F64;
    dn_attn_plan *s = calloc(1, sizeof *s);
    if (!s)
        return dn_fail(DN_ALLOC_FAILED, "no memory for a plan of %s", plan->solver->name);
    plan->state = s;
    measure(p, &s->reserve, &s->work, &s->partial_room);
    dn_status st = dn_cuda_gemm_prepare(h, (dn_dtype)p->t[DN_X].type, f64, &s->gemm);
    for (int i = 0; i < DN_ATTN_FNS && st == DN_SUCCESS; i++)
        st = dn_cuda_function(h, "cuda_attn", names[f64 ? i + DN_ATTN_FNS : i], 0, &s->f[i]);
    return st;
}

static dn_status run(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    dn_attn_call c;
    begin(&c, &plan->problem, a);
    c.h = h;
    c.s = plan->state;
    c.r = c.s->reserve;
    c.w = c.s->work;
    c.work = a->workspace;
    c.kept = c.p->dir == DN_DIR_INFER ? c.work + c.w.kept : a->reserve;
    if (a->step >= 0) {
        c.first = a->step;
        dn_attn_size_one_step(&c.z);
    }
    walk(&c);
    return c.st;
}

#define ROW(row, direction) { .name = row, .op = DN_OP_ATTN, .dir = direction, .algo = -1, .flags = DN_SOLVER_PLAIN, .check = check, \
                              .workspace = workspace, .prepare = prepare, .run = run, .release = dn_cuda_release }
static const dn_solver rows[] = {
    ROW("cuda_attn_infer", DN_DIR_INFER),
    ROW("cuda_attn_train", DN_DIR_TRAIN),
    ROW("cuda_attn_bwd_data", DN_DIR_BWD_DATA),
    ROW("cuda_attn_bwd_filter", DN_DIR_BWD_FILTER),
};

const dn_rows dn_cuda_attn = { rows, sizeof rows / sizeof *rows };
