/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Scale, bias, add and activation on the host, with a bit mask or without, and the gradient through such a mask (ops/fused.h).
 * Without a mask pieces of a walk in memory order; with one the words that two places share have one thread. Words are moved as numbers
 * of the mask's type: dnbench's truth holds them as doubles. */
#include "ops/fused.h"

#include "ops/act_fn.h"
#include "ops/bn.h"
#include "ref/ref.h"

#include <string.h>

enum { X, Y, Z, W, WALKED };  /* tensors of the walks; backward: X is dy, Y is dx */

typedef struct job {
    const dn_problem *p;
    const dn_args *a;
    const dn_fused_param *u;
    dn_dtype type[WALKED];
    const void *ptr[WALKED];
    int64_t channel[WALKED];  /* from channel to channel */
    int64_t channels, count, pairs;  /* with a mask: of places */
    dn_iter places;
} job;

/* v = v * scale + bias, each as far as the call has it; at, step: of the W description. */
static void affine(const job *j, int64_t n, int64_t at, int64_t step, dn_aux scale, dn_aux bias, double *v)
{
    double k[DN_PIECE_MAX];
    if (dn_fused_has(j->p, scale)) {
        dn_load_row(j->type[W], j->a->aux[scale], at, step, n, k);
        for (int64_t i = 0; i < n; i++)
            v[i] *= k[i];
    }
    if (dn_fused_has(j->p, bias)) {
        dn_load_row(j->type[W], j->a->aux[bias], at, step, n, k);
        for (int64_t i = 0; i < n; i++)
            v[i] += k[i];
    }
}

/* What goes into the activation, for n elements. */
static void load(const job *j, const int64_t *at, const int64_t *step, int64_t n, double *v)
{
    double z[DN_PIECE_MAX];
    bool added = j->p->t[DN_Z].rank;
    dn_load_row(j->type[X], j->ptr[X], at[X], step[X], n, v);
    affine(j, n, at[W], step[W], DN_AUX_SCALE, DN_AUX_BIAS, v);
    if (!added && !j->u->bias2)
        return;
    if (added)
        dn_load_row(j->type[Z], j->ptr[Z], at[Z], step[Z], n, z);
    else
        memset(z, 0, (size_t)n * sizeof *z);
    affine(j, n, at[W], step[W], DN_AUX_SCALE2, DN_AUX_BIAS2, z);
    for (int64_t i = 0; i < n; i++)
        v[i] += z[i];
}

static void store(const job *j, const int64_t *at, const int64_t *step, int64_t n, double *v)
{
    for (int64_t i = 0; i < n; i++)
        v[i] = dn_act_apply(&j->u->act, v[i]);
    dn_store_row(j->type[Y], (void *)(uintptr_t)j->ptr[Y], at[Y], step[Y], n, v, 1, 0);
}

static void piece(void *ctx, const dn_piece *k)
{
    const job *j = ctx;
    double v[DN_PIECE_MAX];
    load(j, k->offset, k->stride, k->n, v);
    store(j, k->offset, k->stride, k->n, v);
}

/* --- with a mask, by units of two places and a slab of channels --- */

/* Where place `place` begins in the tensors. */
static void place_at(const job *j, int64_t place, int64_t *base)
{
    dn_iter it = j->places;
    dn_iter_seek(&it, place / it.n);
    for (int t = 0; t < WALKED; t++)
        base[t] = it.offset[t] + place % it.n * it.stride[t];
}

/* The words of a unit, moved as numbers of the mask's type. */
static void put_words(const job *j, int64_t unit, const uint32_t *words)
{
    double v[DN_MASK_WORDS];
    for (int w = 0; w < DN_MASK_WORDS; w++)
        v[w] = (double)(int32_t)words[w];
    dn_store_row((dn_dtype)j->p->t[DN_B].type, j->a->ptr[DN_B], unit * DN_MASK_WORDS, 1, DN_MASK_WORDS, v, 1, 0);
}

static void get_words(const job *j, int64_t unit, uint32_t *words)
{
    double v[DN_MASK_WORDS];
    dn_load_row((dn_dtype)j->p->t[DN_B].type, j->a->ptr[DN_B], unit * DN_MASK_WORDS, 1, DN_MASK_WORDS, v);
    for (int w = 0; w < DN_MASK_WORDS; w++)
        words[w] = (uint32_t)(int32_t)v[w];
}

/* n channels of the first (half 0) or second place of a unit. */
static void forward_half(const job *j, const int64_t *at, int64_t n, int half, uint32_t *words)
{
    double v[DN_MASK_SLAB];
    load(j, at, j->channel, n, v);
    for (int64_t i = 0; i < n; i++) {
        words[i % DN_MASK_WORDS] |= (uint32_t)dn_mask_stops(&j->u->act, v[i]) << (half * 16 + i / DN_MASK_WORDS);
    }
    store(j, at, j->channel, n, v);
}

static void backward_half(const job *j, const int64_t *at, int64_t n, int half, const uint32_t *words)
{
    double v[DN_MASK_SLAB];
    dn_load_row(j->type[X], j->ptr[X], at[X], j->channel[X], n, v);
    for (int64_t i = 0; i < n; i++)
        v[i] = words[i % DN_MASK_WORDS] >> (half * 16 + i / DN_MASK_WORDS) & 1 ? 0 : v[i];
    dn_store_row(j->type[Y], (void *)(uintptr_t)j->ptr[Y], at[Y], j->channel[Y], n, v, 1, 0);
}

/* Tasks: pairs of places, each with all slabs. */
static void run_pairs(void *ctx, int64_t begin, int64_t end)
{
    const job *j = ctx;
    bool fwd = j->p->dir == DN_DIR_FWD;
    for (int64_t pair = begin; pair < end; pair++)
        for (int64_t c = 0; c < j->channels; c += DN_MASK_SLAB) {
            uint32_t words[DN_MASK_WORDS] = { 0 };
            int64_t unit = c / DN_MASK_SLAB * j->pairs + pair, n = j->channels - c < DN_MASK_SLAB ? j->channels - c : DN_MASK_SLAB;
            if (!fwd)
                get_words(j, unit, words);
            for (int half = 0; half < 2 && pair * 2 + half < j->count; half++) {
                int64_t at[WALKED];
                place_at(j, pair * 2 + half, at);
                for (int t = 0; t < WALKED; t++)
                    at[t] += c * j->channel[t];
                if (fwd)
                    forward_half(j, at, n, half, words);
                else
                    backward_half(j, at, n, half, words);
            }
            if (fwd)
                put_words(j, unit, words);
        }
}

static dn_status run(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    (void)h;
    const dn_problem *p = &plan->problem;
    bool fwd = p->dir == DN_DIR_FWD;
    const dn_role roles[WALKED] = { fwd ? DN_X : DN_DY, fwd ? DN_Y : DN_DX, DN_Z, DN_W };
    job j = { .p = p, .a = a, .u = &p->u.fused };
    dn_tensor part[WALKED];
    const dn_tensor *whole[WALKED], *part_at[WALKED];
    for (int t = 0; t < WALKED; t++) {
        dn_role r = p->t[roles[t]].rank ? roles[t] : roles[X];
        whole[t] = &p->t[r];
        j.type[t] = (dn_dtype)p->t[r].type;
        j.ptr[t] = a->ptr[r];
        j.channel[t] = p->t[r].dims[1] > 1 ? p->t[r].strides[1] : 0;
        part[t] = dn_bn_part(&p->t[r], DN_BN_SPATIAL, false);
        part_at[t] = &part[t];
    }
    if (!p->t[DN_B].rank) {
        dn_iter_init_any_order(&j.places, WALKED, whole);
        dn_iter_run(&j.places, piece, &j);
        return DN_SUCCESS;
    }
    j.channels = whole[X]->dims[1];
    j.count = dn_fused_places(whole[X]);
    j.pairs = dn_mask_pairs(whole[X]);
    dn_iter_init(&j.places, WALKED, part_at);
    int64_t grain = DN_PIECE_GRAIN / j.channels / 2;
    dn_parallel(j.pairs, grain > 1 ? grain : 1, run_pairs, &j);
    return DN_SUCCESS;
}

static const char *check(const dn_problem *p)
{
    (void)p;
    return NULL;
}

static const dn_solver rows[] = {
    { .name = "ref_sba_fwd", .op = DN_OP_SBA, .dir = DN_DIR_FWD, .algo = -1, .check = check, .run = run },
    { .name = "ref_sba_bwd_data", .op = DN_OP_SBA, .dir = DN_DIR_BWD_DATA, .algo = -1, .check = check, .run = run },
};

const dn_rows dn_ref_sba = { rows, sizeof rows / sizeof rows[0] };
