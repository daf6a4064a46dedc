/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Dropout on the host. The elements are cut into blocks by their number in logical order, not by rows, so that a block owns whole
 * bytes of the mask and whole blocks of random words, and so that both tensors may have dims of their own. */
#include "core/philox.h"
#include "ops/dropout.h"
#include "ref/ref.h"

#include <string.h>

#define BLOCK 1024  /* elements; a multiple of 8 (mask bytes) and of 4 (random words) */

/* A place in a tensor, moved forward element by element in logical order. */
typedef struct cursor {
    dn_iter it;
    int64_t at;  /* in the row */
    dn_dtype type;
    unsigned char *base;
} cursor;

static void cursor_init(cursor *c, const dn_tensor *t, void *base)
{
    dn_iter_init(&c->it, 1, &t);
    c->at = 0;
    c->type = (dn_dtype)t->type;
    c->base = base;
}

static void cursor_seek(cursor *c, int64_t element)
{
    dn_iter_seek(&c->it, element / c->it.n);
    c->at = element % c->it.n;
}

/* Moves n elements from the tensor to v, or from v to the tensor. */
static void cursor_copy(cursor *c, int64_t n, double *v, bool store)
{
    while (n > 0) {
        int64_t left = c->it.n - c->at, len = n < left ? n : left;
        int64_t stride = c->it.stride[0], offset = c->it.offset[0] + c->at * stride;
        if (store)
            dn_store_row(c->type, c->base, offset, stride, len, v, 1, 0);
        else
            dn_load_row(c->type, c->base, offset, stride, len, v);
        v += len;
        n -= len;
        c->at += len;
        if (c->at == c->it.n) {
            c->at = 0;
            dn_iter_next(&c->it);
        }
    }
}

typedef struct dropout_job {
    cursor in, out;
    int64_t count;
    unsigned char *mask;
    double scale;           /* 1 / (1 - p) */
    bool draw;              /* fill the mask first */
    uint64_t seed, call, threshold;
} dropout_job;

/* Bits of the elements first .. first + n - 1; bits past the last element of the tensor are 0. */
static void draw_mask(const dropout_job *job, int64_t first, int64_t n, unsigned char *mask)
{
    memset(mask, 0, (size_t)(n + 7) / 8);
    for (int64_t i = 0; i < n; i += 4) {
        unsigned word[4];
        dn_philox_dropout(job->seed, job->call, (uint64_t)(first + i) / 4, word);
        for (int64_t k = i; k < i + 4 && k < n; k++)
            if (word[k - i] >= job->threshold)
                mask[k / 8] |= (unsigned char)(1 << k % 8);
    }
}

static void run_blocks(void *ctx, int64_t begin, int64_t end)
{
    const dropout_job *job = ctx;
    cursor in = job->in, out = job->out;
    double v[BLOCK];
    cursor_seek(&in, begin * BLOCK);
    cursor_seek(&out, begin * BLOCK);
    for (int64_t b = begin; b < end; b++) {
        int64_t first = b * BLOCK, left = job->count - first, n = left < BLOCK ? left : BLOCK;
        unsigned char *mask = job->mask + first / 8;
        if (job->draw)
            draw_mask(job, first, n, mask);
        cursor_copy(&in, n, v, false);
        for (int64_t i = 0; i < n; i++)
            v[i] = mask[i / 8] >> i % 8 & 1 ? v[i] * job->scale : 0;
        cursor_copy(&out, n, v, true);
    }
}

static void run_job(dropout_job *job, const dn_tensor *in, const void *in_ptr, const dn_tensor *out, void *out_ptr,
                    const dn_args *a)
{
    cursor_init(&job->in, in, (void *)(uintptr_t)in_ptr);
    cursor_init(&job->out, out, out_ptr);
    job->count = dn_tensor_count(in);
    job->mask = a->reserve;
    job->scale = a->dropout < 1 ? 1 / (1 - (double)a->dropout) : 0;
    dn_parallel((job->count + BLOCK - 1) / BLOCK, DN_PIECE_GRAIN / BLOCK, run_blocks, job);
}

/* The buffer of the states has no alignment of its own, hence the copies. */
static dn_status run_fwd(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    (void)h;
    const dn_problem *p = &plan->problem;
    dn_dropout_state state;
    memcpy(&state, a->aux[DN_AUX_STATES], sizeof state);
    dropout_job job = { .draw = true, .seed = state.seed, .call = state.call, .threshold = dn_dropout_threshold(a->dropout) };
    run_job(&job, &p->t[DN_X], a->ptr[DN_X], &p->t[DN_Y], a->ptr[DN_Y], a);
    state.call++;
    memcpy(a->aux[DN_AUX_STATES], &state, sizeof state);
    return DN_SUCCESS;
}

static dn_status run_bwd(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    (void)h;
    const dn_problem *p = &plan->problem;
    dropout_job job = { .draw = false };
    run_job(&job, &p->t[DN_DY], a->ptr[DN_DY], &p->t[DN_DX], a->ptr[DN_DX], a);
    return DN_SUCCESS;
}

static const char *check(const dn_problem *p)
{
    (void)p;
    return NULL;
}

static const dn_solver rows[] = {
    { .name = "ref_dropout_fwd", .op = DN_OP_DROPOUT, .dir = DN_DIR_FWD, .algo = -1, .check = check, .run = run_fwd },
    { .name = "ref_dropout_bwd_data", .op = DN_OP_DROPOUT, .dir = DN_DIR_BWD_DATA, .algo = -1, .check = check, .run = run_bwd },
};

const dn_rows dn_ref_dropout = { rows, sizeof(rows) / sizeof(rows[0]) };
