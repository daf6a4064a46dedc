/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Launchers of the tuned pooling kernels. Tensors without gaps are planes of positions of c elements: NHWC n of them with all channels
 * side by side, NCHW n x c of one element. */
#include "cuda/pool/pool_rows.h"

#include "cuda/flat.h"

#include <stdio.h>
#include <stdlib.h>

enum { TAPS_MAX = 255 };  /* of a window whose winner is noted in a byte */

typedef struct fast_state {
    dn_cuda_grid grid, winner_grid;
    dn_pool_fast params, winner;
    size_t winners;  /* bytes; 0: none are noted */
} fast_state;

static bool is_max(const dn_problem *p)
{
    return p->u.pool.mode == 0 || p->u.pool.mode == 3;
}

/* --- what they take --- */

static const char *check_tensors(const dn_problem *p, bool (*packed)(const dn_tensor *t))
{
    static const dn_role fwd[] = { DN_X, DN_Y }, bwd[] = { DN_X, DN_DY, DN_DX };
    bool forward = p->dir == DN_DIR_FWD;
    for (int i = 0; i < (forward ? 2 : 3); i++) {
        dn_role r = forward ? fwd[i] : bwd[i];
        if (!packed(&p->t[r]))
            return packed == dn_tensor_is_packed ? "needs tensors packed as NCHW" : "needs tensors packed as NHWC";
        if (p->align[r] < 16)
            return "needs pointers aligned to 16 bytes";
    }
    return NULL;
}

static int64_t taps_of(const dn_problem *p)
{
    int64_t taps = 1;
    for (int d = 0; d < p->u.pool.spatial; d++)
        taps = taps > TAPS_MAX ? taps : taps * p->u.pool.window[d];
    return taps;
}

static const char *check_common(const dn_problem *p, dn_dtype type)
{
    if (p->t[DN_X].type != type)
        return "needs the type in its name";
    if (p->u.pool.spatial > 3)
        return "needs at most 3 pooled dimensions";
    if (p->dir != DN_DIR_FWD && is_max(p) && taps_of(p) > TAPS_MAX)
        return "needs a window of at most 255 elements";
    for (int r = DN_X; r <= DN_Y; r++)
        if (dn_tensor_count(&p->t[r]) / p->t[r].dims[0] >= (int64_t)1 << 30)
            return "needs images of fewer than 2^30 elements";
    if (p->dir != DN_DIR_FWD && is_max(p) && dn_tensor_count(&p->t[DN_Y]) > (int64_t)1 << 30)
        return "needs at most 2^30 windows";
    if (dn_tensor_count(&p->t[DN_Y]) >= (int64_t)1 << 33 || dn_tensor_count(&p->t[DN_X]) >= (int64_t)1 << 33)
        return "needs fewer than 2^33 elements";
    return NULL;
}

const char *dn_pool_check_nhwc(const dn_problem *p, dn_dtype type)
{
    const char *why = check_common(p, type);
    if (!why && p->t[DN_X].dims[1] % (type == DN_F32 ? 4 : 8) != 0)
        why = type == DN_F32 ? "needs channels in multiples of 4" : "needs channels in multiples of 8";
    return why ? why : check_tensors(p, dn_tensor_is_packed_nhwc);
}

const char *dn_pool_check_nchw(const dn_problem *p, dn_dtype type)
{
    const char *why = check_common(p, type);
    if (!why && (dn_tensor_count(&p->t[DN_X]) >= (int64_t)1 << 31 || dn_tensor_count(&p->t[DN_Y]) >= (int64_t)1 << 31))
        why = "needs fewer than 2^31 elements";
    if (!why && check_tensors(p, dn_tensor_is_packed_nhwc))  /* NHWC of any channels is taken too */
        why = check_tensors(p, dn_tensor_is_packed);
    return why;
}

/* --- plans --- */

static void shape(dn_pool_fast *k, const dn_problem *p, bool nchw)
{
    const dn_pool_param *q = &p->u.pool;
    for (int d = 0; d < 3; d++) {
        int i = d - 3 + q->spatial;
        k->in[d] = i < 0 ? 1 : (int)p->t[DN_X].dims[2 + i];
        k->out_size[d] = i < 0 ? 1 : (int)p->t[DN_Y].dims[2 + i];
        k->win[d] = i < 0 ? 1 : q->window[i];
        k->pad[d] = i < 0 ? 0 : q->pad[i];
        k->str[d] = i < 0 ? 1 : q->stride[i];
    }
    k->c = nchw ? 1 : (int)p->t[DN_X].dims[1];
    k->mode = !is_max(p) ? DN_POOL_AVERAGE : q->nan ? DN_POOL_MAX_NAN : DN_POOL_MAX;
    k->count_pad = q->mode == 1;
    k->pairs = k->c == 1 && k->in[2] % 2 == 0;
}

static bool square(const dn_pool_fast *k, int window, int stride)
{
    return k->win[0] == 1 && k->in[0] == 1 && k->win[1] == window && k->win[2] == window && k->str[1] == stride && k->str[2] == stride;
}

static int form_of(const dn_pool_fast *k)
{
    return square(k, 2, 2) ? DN_POOL_2S2 : square(k, 3, 2) ? DN_POOL_3S2 : square(k, 3, 1) ? DN_POOL_3S1 : DN_POOL_GENERAL;
}

/* Neighbours along the width that a thread of NCHW takes together: whole vectors of whole rows, windows that stand on them, outputs in
 * pairs at least. */
static int line_of(const dn_pool_fast *k, int size)
{
    int vector = k->in[2] % (16 / size) == 0 ? 16 / size : k->in[2] % 4 == 0 ? 4 : 0, pad = k->win[2] - 2;
    bool stands = k->form != DN_POOL_GENERAL && k->pad[2] == pad && k->out_size[2] * k->str[2] == k->in[2];
    return stands ? vector : 0;
}

/* One thread for `unit` elements of each of width x rows x depth x n places. */
static void cut(dn_pool_fast *k, dn_cuda_grid *g, int unit, int width, int rows, int depth, int64_t n)
{
    int64_t threads = (int64_t)(k->c / unit) * width * rows * depth * n;
    k->units = dn_div_by((unsigned)(k->c / unit));
    k->width = dn_div_by((unsigned)width);
    k->rows = dn_div_by((unsigned)rows);
    k->depth = dn_div_by((unsigned)depth);
    k->threads = (unsigned)threads;
    *g = (dn_cuda_grid){ .grid = { (unsigned)((threads + DN_POOL_THREADS - 1) / DN_POOL_THREADS), 1, 1 },
                         .block = { DN_POOL_THREADS, 1, 1 } };
}

/* Outputs in strips of at most `longest`, shorter where that would leave the device idle. */
static void cut_outputs(const dn_handle *h, dn_pool_fast *k, dn_cuda_grid *g, int unit, int longest, int64_t n)
{
    int rows = k->out_size[1], width = k->line ? k->in[2] / k->line : k->out_size[2];
    int64_t enough = (int64_t)dn_cuda_device_of(h)->sm_count * 2048;
    for (k->strip = longest; k->strip > 1; k->strip /= 2)
        if ((int64_t)(k->c / unit) * width * ((rows + k->strip - 1) / k->strip) * k->out_size[0] * n >= enough)
            break;
    cut(k, g, unit, width, (rows + k->strip - 1) / k->strip, k->out_size[0], n);
}

static void cut_inputs(dn_pool_fast *k, dn_cuda_grid *g, int unit, int64_t n)
{
    bool block = (k->form == DN_POOL_2S2 && k->pad[1] == 0 && k->pad[2] == 0) || (k->form == DN_POOL_3S2 && k->pad[1] == 1 && k->pad[2] == 1);
    if (!block)
        k->form = DN_POOL_GENERAL;
    cut(k, g, unit, block ? (k->in[2] + 1) / 2 : k->in[2], block ? (k->in[1] + 1) / 2 : k->in[1], k->in[0], n);
}

/* The gradient of a maximum by lines: each of 2 rows of x to a row of windows. */
static bool is_lines(const dn_pool_fast *k)
{
    int rows = 2 * k->out_size[1];
    return k->line && k->str[1] == 2 && k->pad[1] == k->win[1] - 2 && (rows == k->in[1] || (k->win[1] == 3 && rows == k->in[1] + 1));
}

static bool is_whole(const dn_pool_fast *k)
{
    bool whole = true;
    for (int d = 0; d < 3; d++)
        whole = whole && k->out_size[d] == 1 && k->win[d] - k->pad[d] >= k->in[d];
    return whole;
}

/* One window over the whole input. n: planes, or images. */
static void cut_whole(dn_pool_fast *k, dn_cuda_grid *g, int unit, int size, int64_t n)
{
    enum { STAGE = 32 * 1024, STRIP = 64 };
    int64_t plane = (int64_t)k->in[0] * k->in[1] * k->in[2] * size, blocks;
    k->form = DN_POOL_WHOLE;
    k->units = dn_div_by((unsigned)(k->c / unit));
    k->threads = (unsigned)n;
    if (unit > 1) {
        k->strip = (int)k->units.by < 32 ? (int)k->units.by : 32;
        blocks = n * ((k->units.by + (unsigned)k->strip - 1) / (unsigned)k->strip);
    } else {
        for (k->strip = STRIP; k->strip > 1 && k->strip * plane > STAGE; k->strip /= 2)
            ;
        k->team = DN_POOL_THREADS / k->strip;
        k->staged = k->strip * plane <= STAGE && k->strip * plane % 16 == 0 && n % k->strip * plane % 16 == 0;
        blocks = (n + k->strip - 1) / k->strip;
    }
    *g = (dn_cuda_grid){ .grid = { (unsigned)blocks, 1, 1 }, .block = { DN_POOL_THREADS, 1, 1 },
                         .shared = k->staged ? (unsigned)(k->strip * plane) : 0 };
}

static dn_status prepare_fwd(dn_handle *h, const char *module, fast_state *s, int unit, int size, int64_t n)
{
    char name[80];
    dn_pool_fast *k = &s->params;
    bool whole = is_whole(k) && (unit > 1 || k->c == 1);
    if (whole)
        cut_whole(k, &s->grid, unit, size, n);
    else
        cut_outputs(h, k, &s->grid, unit, k->form == DN_POOL_GENERAL ? 1 : 8, n);
    bool words = k->mode != DN_POOL_AVERAGE && k->form != DN_POOL_GENERAL && (unit > 1 || k->line);
    snprintf(name, sizeof name, "%.60s%s", module, whole ? "_whole" : words ? "_max" : "");
    return dn_cuda_function(h, module, name, 0, &s->grid.f);
}

static dn_status prepare(dn_handle *h, dn_plan *plan, bool one)
{
    const dn_problem *p = &plan->problem;
    const char *module = plan->solver->name;
    bool nchw = one && dn_tensor_is_packed(&p->t[DN_X]) && !check_tensors(p, dn_tensor_is_packed);
    int unit = one ? 1 : p->t[DN_X].type == DN_F32 ? 4 : 8;
    int64_t n = p->t[DN_X].dims[0] * (nchw ? p->t[DN_X].dims[1] : 1);
    fast_state *s = calloc(1, sizeof *s);
    char name[80];
    void *unused;
    if (!s)
        return dn_fail(DN_ALLOC_FAILED, "no memory for a plan of %s", module);
    plan->state = s;
    shape(&s->params, p, nchw);
    s->params.form = form_of(&s->params);
    s->params.line = nchw ? line_of(&s->params, p->t[DN_X].type == DN_F32 ? 4 : 2) : 0;
    s->winner = s->params;
    if (p->dir == DN_DIR_FWD)
        return prepare_fwd(h, module, s, unit, p->t[DN_X].type == DN_F32 ? 4 : 2, n);
    if (is_max(p) && is_lines(&s->params)) {
        snprintf(name, sizeof name, "%.60s_line", module);
        cut_outputs(h, &s->params, &s->grid, unit, 8, n);
        return dn_cuda_function(h, module, name, 0, &s->grid.f);
    }
    cut_inputs(&s->params, &s->grid, unit, n);
    dn_status st = dn_cuda_function(h, module, module, 0, &s->grid.f);
    if (st != DN_SUCCESS || !is_max(p))
        return st;
    snprintf(name, sizeof name, "%.60s_winner", module);
    s->winners = (size_t)dn_tensor_count(&p->t[DN_Y]);
    cut_outputs(h, &s->winner, &s->winner_grid, unit, 4, n);
    st = dn_cuda_function(h, module, name, 0, &s->winner_grid.f);
    return st == DN_SUCCESS ? dn_cuda_scratch(h, s->winners, &unused) : st;
}

dn_status dn_pool_prepare_nhwc(dn_handle *h, dn_plan *plan)
{
    return prepare(h, plan, false);
}

dn_status dn_pool_prepare_nchw(dn_handle *h, dn_plan *plan)
{
    return prepare(h, plan, true);
}

/* --- runs --- */

dn_status dn_pool_run_fast(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    const fast_state *s = plan->state;
    dn_pool_fast k = s->params, w = s->winner;
    bool fwd = plan->problem.dir == DN_DIR_FWD;
    void *winner = NULL;
    k.x = w.x = a->ptr[DN_X];
    k.dy = a->ptr[DN_DY];
    k.out = a->ptr[fwd ? DN_Y : DN_DX];
    k.alpha = (float)a->alpha;
    k.beta = (float)a->beta;
    k.plain = a->alpha == 1 && a->beta == 0;
    if (!s->winners)
        return dn_cuda_launch(h, &s->grid, &k);
    dn_status st = dn_cuda_scratch(h, s->winners, &winner);
    k.winner = w.winner = winner;
    if (st == DN_SUCCESS)
        st = dn_cuda_launch(h, &s->winner_grid, &w);
    return st == DN_SUCCESS ? dn_cuda_launch(h, &s->grid, &k) : st;
}
