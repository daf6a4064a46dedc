/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Recurrent networks by oneDNN's matrix product: what the three directions share. */
#include "cpu/rnn.h"

#include <string.h>

enum {
    SLICE = 16, BLOCK = 64,   /* rows of a slice and units of a block at most: products of these shapes run at full speed */
    SMALL = 256               /* units of a state whose recurrent matrix fits a core's cache */
};

static const dn_cpu_rnn_kernel *kernel(void)
{
#if defined(DN_HAVE_AVX512)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw")
        && __builtin_cpu_supports("avx512vl"))
        return &dn_cpu_rnn_kernel_avx512;
#endif
#if defined(DN_HAVE_AVX2)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return &dn_cpu_rnn_kernel_avx2;
#endif
    return &dn_cpu_rnn_kernel_base;
}

const char *dn_cpu_rnn_check(const dn_problem *p)
{
    const char *missing = dn_dnnl_get()->missing;
    if (missing)
        return missing;
    if (dn_rnn_input(p)->type != DN_F32)
        return "needs type f32";
    for (int r = 0; r < DN_ROLE_COUNT; r++)
        if (p->t[r].rank && p->align[r] && p->align[r] < sizeof(float))
            return "needs pointers aligned to the element size";
    return NULL;
}

void dn_cpu_rnn_init(dn_cpu_rnn *c, const dn_problem *p, const dn_args *a, dn_rnn_room *room)
{
    memset(c, 0, sizeof *c);
    dn_ref_rnn_job_init(&c->j, p, a, room);
    const dn_rnn_job *j = &c->j;
    c->k = kernel();
    c->projects = j->proj != j->hidden;
    c->lstm = j->q->cell == DN_RNN_LSTM;
    c->gru = j->q->cell == DN_RNN_GRU;
    c->units = j->gates * j->hidden;
    c->plain = (c->gru ? 2 : j->gates) * j->hidden;
    c->by_units = j->hidden > SMALL;
    c->slices = c->by_units ? 1 : dn_ceil_div(j->batch, SLICE);
    c->slice = dn_ceil_div(j->batch, c->slices);
    c->block = c->by_units ? BLOCK : j->hidden;
    c->blocks = dn_ceil_div(j->hidden, c->block);
    c->clip = (dn_cpu_rnn_clip){ .on = j->q->clip, .nan = j->q->clip_nan, .low = (float)j->q->lclip, .high = (float)j->q->rclip };
}

dn_status dn_cpu_rnn_status(const dn_cpu_rnn *c)
{
    int st = atomic_load(&c->failed);
    return st ? dn_cpu_fail("dnnl_sgemm", st) : DN_SUCCESS;
}

void dn_cpu_rnn_multiply(dn_cpu_rnn *c, int64_t m, int64_t n, int64_t k, float alpha, dn_cpu_matrix a, dn_cpu_matrix b, float beta, float *to,
                         int64_t ld)
{
    int saved = dn_dnnl_enter_alone();
    int st = dn_dnnl_get()->sgemm(a.turned ? 'T' : 'N', b.turned ? 'T' : 'N', m, n, k, alpha, a.at, a.ld, b.at, b.ld, beta, to, ld);
    dn_dnnl_leave(saved);
    if (st)
        atomic_store(&c->failed, st);
}

dn_cpu_matrix dn_cpu_rnn_weight(const dn_cpu_rnn *c, int pseudo, int linear, dn_rnn_weight *w)
{
    dn_rnn_weight_at(c->j.q, pseudo, linear, w);
    return (dn_cpu_matrix){ (const float *)c->j.a->ptr[DN_W] + w->matrix, w->columns, false };
}

dn_cpu_rnn_range dn_cpu_rnn_alive(const dn_cpu_rnn *c, int64_t t, int64_t r0, int64_t r1)
{
    while (r0 < r1 && !dn_cpu_rnn_lives(c, t, r0))
        r0++;
    while (r0 < r1 && !dn_cpu_rnn_lives(c, t, r1 - 1))
        r1--;
    return (dn_cpu_rnn_range){ r0, r1 };
}

dn_cpu_matrix dn_cpu_rnn_sequence(const dn_cpu_rnn *c, dn_role role, int64_t t, int64_t b)
{
    const dn_tensor *s = &c->j.p->t[role];
    int64_t ld = c->j.q->layout == DN_RNN_PACKED || c->j.batch == 1 ? s->dims[2] : s->strides[1];
    return (dn_cpu_matrix){ (const float *)c->j.a->ptr[role] + dn_ref_rnn_offset(&c->j, s, t * c->j.batch + b), ld, false };
}

dn_cpu_matrix dn_cpu_rnn_input(const dn_cpu_rnn *c, int layer, int64_t t, int64_t b)
{
    const dn_rnn_job *j = &c->j;
    if (layer == 0)
        return dn_cpu_rnn_sequence(c, DN_X, t, b);
    const float *from = (const float *)(dn_ref_rnn_drops(j, layer) ? j->dropped : dn_ref_rnn_out(j, layer - 1));
    return (dn_cpu_matrix){ from + (t * j->batch + b) * j->width, j->width, false };
}

static bool is_whole(const dn_cpu_rnn *c)
{
    return c->j.first[c->j.time] == c->j.time * c->j.batch;
}

bool dn_cpu_rnn_is_stretch(const dn_cpu_rnn *c, dn_role role)
{
    const dn_rnn_job *j = &c->j;
    const dn_tensor *s = &j->p->t[role];
    if (j->q->layout == DN_RNN_PACKED)
        return is_whole(c);
    return s->strides[0] == j->batch * s->dims[2] && (j->batch == 1 || s->strides[1] == s->dims[2]);
}

bool dn_cpu_rnn_is_dense(const dn_cpu_rnn *c, dn_role role)
{
    return is_whole(c) && dn_cpu_rnn_is_stretch(c, role);
}

void dn_cpu_rnn_load_state(const dn_cpu_rnn *c, const dn_cpu_rnn_step *s, int layer, dn_aux from, int64_t size, float *to)
{
    const dn_rnn_job *j = &c->j;
    const float *x = j->a->aux[from];
    int64_t row = s->d * j->batch + s->rows.lo, all = layer * j->directions * j->batch + row;
    size_t bytes = (size_t)((s->rows.hi - s->rows.lo) * size) * sizeof *to;
    if (x)
        memcpy(to + row * size, x + all * size, bytes);
    else
        memset(to + row * size, 0, bytes);
}

void dn_cpu_rnn_store_state(const dn_cpu_rnn *c, const dn_cpu_rnn_step *s, int layer, dn_aux to, int64_t size, const float *from)
{
    const dn_rnn_job *j = &c->j;
    float *y = j->a->aux[to];
    int64_t row = s->d * j->batch + s->rows.lo, all = layer * j->directions * j->batch + row;
    if (y)
        memcpy(y + all * size, from + row * size, (size_t)((s->rows.hi - s->rows.lo) * size) * sizeof *y);
}

/* --- steps --- */

void dn_cpu_rnn_add_phase(dn_cpu_rnn_walk *w, dn_cpu_rnn_phase_fn fn, int64_t extent, int64_t block)
{
    w->phase[w->count++] = (dn_cpu_rnn_phase){ fn, extent, w->c->by_units ? block : extent };
}

/* The longest sequence of some rows. */
static int64_t longest(const dn_cpu_rnn *c, dn_cpu_rnn_range rows)
{
    int64_t n = 0;
    for (int64_t b = rows.lo; b < rows.hi; b++)
        n = dn_ref_rnn_larger(n, c->j.length[b]);
    return n;
}

/* Where step k finds direction d of some rows. */
static void set_step(const dn_cpu_rnn_walk *w, dn_cpu_rnn_step *s, int64_t k)
{
    int64_t time = w->c->j.time, most = longest(w->c, s->rows), done = k < most ? k : most;
    if ((s->d != 0) != w->reverse)
        done = dn_ref_rnn_larger(0, k - (time - most));
    s->parity = (int)(done % 2);
    s->t = dn_cpu_rnn_time(w, s->d, k);
    if (k < time)
        s->alive = dn_cpu_rnn_alive(w->c, s->t, s->rows.lo, s->rows.hi);
}

static void end_at(const dn_cpu_rnn_walk *w, dn_cpu_rnn_step *s, int64_t k)
{
    if (k != w->c->j.time)
        return;
    set_step(w, s, k);
    w->end(w->ctx, s);
}

typedef struct stretch {
    const dn_cpu_rnn_walk *w;
    int64_t k0, k1;
} stretch;

static void run_slices(void *ctx, int64_t begin, int64_t end)
{
    const stretch *r = ctx;
    const dn_cpu_rnn_walk *w = r->w;
    const dn_cpu_rnn *c = w->c;
    for (int64_t i = begin; i < end; i++) {
        int64_t lo = i % c->slices * c->slice, hi = lo + c->slice < c->j.batch ? lo + c->slice : c->j.batch;
        dn_cpu_rnn_step s = { .d = (int)(i / c->slices), .rows = { lo < hi ? lo : hi, hi } };
        if (r->k0 == 0)
            w->begin(w->ctx, &s);
        for (int64_t k = r->k0; k < r->k1; k++) {
            set_step(w, &s, k);
            for (int p = 0; p < w->count && s.alive.lo < s.alive.hi; p++)
                w->phase[p].fn(w->ctx, &s, 0, w->phase[p].extent);
        }
        end_at(w, &s, r->k1);
    }
}

typedef struct cut {
    const dn_cpu_rnn_walk *w;
    const dn_cpu_rnn_phase *p;
    const dn_cpu_rnn_step *s;  /* [D] */
    int64_t blocks;
} cut;

static void run_blocks(void *ctx, int64_t begin, int64_t end)
{
    const cut *u = ctx;
    for (int64_t i = begin; i < end; i++) {
        const dn_cpu_rnn_step *s = &u->s[i / u->blocks];
        int64_t from = i % u->blocks * u->p->block, to = from + u->p->block < u->p->extent ? from + u->p->block : u->p->extent;
        if (s->alive.lo < s->alive.hi)
            u->p->fn(u->w->ctx, s, from, to);
    }
}

static void run_units(const dn_cpu_rnn_walk *w, int64_t k0, int64_t k1)
{
    const dn_rnn_job *j = &w->c->j;
    dn_cpu_rnn_step s[2] = { { .d = 0, .rows = { 0, j->batch } }, { .d = 1, .rows = { 0, j->batch } } };
    for (int d = 0; d < j->directions && k0 == 0; d++)
        w->begin(w->ctx, &s[d]);
    for (int64_t k = k0; k < k1; k++) {
        for (int d = 0; d < j->directions; d++)
            set_step(w, &s[d], k);
        for (int p = 0; p < w->count; p++) {
            cut u = { w, &w->phase[p], s, dn_ceil_div(w->phase[p].extent, w->phase[p].block) };
            dn_parallel(j->directions * u.blocks, 1, run_blocks, &u);
        }
    }
    for (int d = 0; d < j->directions; d++)
        end_at(w, &s[d], k1);
}

void dn_cpu_rnn_run(const dn_cpu_rnn_walk *w, int64_t k0, int64_t k1)
{
    stretch r = { w, k0, k1 };
    if (w->c->by_units)
        run_units(w, k0, k1);
    else
        dn_parallel(w->c->slices * w->c->j.directions, 1, run_slices, &r);
}
