/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Divisive normalisation on the GPU: some planes at a time, in double in the handle's scratch. */
#include "cuda/lrn/lrn.h"

#include "cuda/naive.h"
#include "cuda/rows.h"
#include "ops/lrn.h"

#include <stdlib.h>

typedef struct divnorm_state {
    dn_cuda_grid load, terms, result;
    dn_divnorm_naive params;
    int64_t planes, batch;  /* of the problem; of one round */
} divnorm_state;

enum { THREADS = 256 };
#define SCRATCH_MOST ((int64_t)1 << 28)  /* bytes, unless one plane needs more */

static void describe(dn_divnorm_tensor *out, const dn_tensor *t)
{
    if (!t->rank)
        return;
    out->e = dn_elements_of(t);
    int shift = 5 - t->rank;
    for (int d = 0; d < t->rank; d++)
        out->stride[d < 2 ? d : d + shift] = t->strides[d];
}

static void params_init(const dn_problem *p, dn_divnorm_naive *q)
{
    const dn_tensor *x = &p->t[DN_X];
    const dn_lrn_param *u = &p->u.lrn;
    bool fwd = p->dir == DN_DIR_FWD;
    describe(&q->out, &p->t[fwd ? DN_Y : DN_DX]);
    describe(&q->x, x);
    describe(&q->means, &p->t[p->t[DN_B].rank ? DN_B : DN_X]);
    describe(&q->dy, &p->t[DN_DY]);
    describe(&q->dmeans, &p->t[p->t[DN_DZ].rank ? DN_DZ : DN_X]);
    q->channels = x->dims[1];
    q->depth = x->rank > 4 ? x->dims[2] : 1;
    q->height = x->dims[x->rank - 2];
    q->width = x->dims[x->rank - 1];
    q->fn = (dn_lrn_fn){ dn_lrn_back(u->n), dn_lrn_ahead(u->n), u->alpha, u->beta, u->k };
    for (int d = 2; d < x->rank; d++)
        q->fn.share /= u->n;
}

static size_t scratch_bytes(const dn_problem *p, const divnorm_state *s)
{
    const dn_divnorm_naive *q = &s->params;
    int copies = p->dir == DN_DIR_FWD ? 2 : 4;
    return sizeof(double) * (size_t)(copies * s->batch * q->depth * q->height * q->width);
}

static dn_status prepare(dn_handle *h, dn_plan *plan)
{
    const dn_problem *p = &plan->problem;
    bool fwd = p->dir == DN_DIR_FWD;
    divnorm_state *s = calloc(1, sizeof *s);
    void *scratch;
    if (!s)
        return dn_fail(DN_ALLOC_FAILED, "no memory for a plan of %s", plan->solver->name);
    plan->state = s;
    params_init(p, &s->params);
    int64_t size = s->params.depth * s->params.height * s->params.width, most = SCRATCH_MOST / (int64_t)sizeof(double) / 4 / size;
    s->planes = p->t[DN_X].dims[0] * p->t[DN_X].dims[1];
    s->batch = s->planes < most ? s->planes : most > 1 ? most : 1;
    dn_cuda_grid_loop(h, &s->load, s->batch * size, THREADS, 4);
    s->terms = s->result = s->load;
    dn_status st = dn_cuda_function(h, "cuda_divnorm_naive", "cuda_divnorm_load", 0, &s->load.f);
    if (st == DN_SUCCESS && !fwd)
        st = dn_cuda_function(h, "cuda_divnorm_naive", "cuda_divnorm_terms", 0, &s->terms.f);
    if (st == DN_SUCCESS)
        st = dn_cuda_function(h, "cuda_divnorm_naive", plan->solver->name, 0, &s->result.f);
    return st == DN_SUCCESS ? dn_cuda_scratch(h, scratch_bytes(p, s), &scratch) : st;
}

static dn_status run(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    const divnorm_state *s = plan->state;
    bool fwd = plan->problem.dir == DN_DIR_FWD;
    dn_divnorm_naive q = s->params;
    void *scratch;
    dn_status st = dn_cuda_scratch(h, scratch_bytes(&plan->problem, s), &scratch);
    int64_t size = s->batch * q.depth * q.height * q.width;
    q.x_plane = scratch;
    q.m_plane = q.x_plane + size;
    q.g_plane = q.m_plane + size;
    q.t_plane = q.g_plane + size;
    dn_elements_bind(&q.out.e, a->ptr[fwd ? DN_Y : DN_DX]);
    dn_elements_bind(&q.x.e, a->ptr[DN_X]);
    dn_elements_bind(&q.means.e, a->ptr[DN_B]);
    if (!fwd) {
        dn_elements_bind(&q.dy.e, a->ptr[DN_DY]);
        dn_elements_bind(&q.dmeans.e, a->ptr[DN_DZ]);
    }
    q.alpha = a->alpha;
    q.beta = a->beta;
    for (q.first = 0; st == DN_SUCCESS && q.first < s->planes; q.first += s->batch) {
        q.planes = s->planes - q.first < s->batch ? s->planes - q.first : s->batch;
        st = dn_cuda_launch(h, &s->load, &q);
        if (st == DN_SUCCESS && !fwd)
            st = dn_cuda_launch(h, &s->terms, &q);
        if (st == DN_SUCCESS)
            st = dn_cuda_launch(h, &s->result, &q);
    }
    return st;
}

static const char *check(const dn_problem *p)
{
    return dn_ref_divnorm.rows[p->dir == DN_DIR_FWD ? 0 : 1].check(p);
}

static const dn_solver rows[] = {
    { .name = "cuda_divnorm_fwd_naive", .op = DN_OP_DIVNORM, .dir = DN_DIR_FWD, .algo = -1, .check = check, .prepare = prepare,
      .run = run, .release = dn_cuda_release },
    { .name = "cuda_divnorm_bwd_data_naive", .op = DN_OP_DIVNORM, .dir = DN_DIR_BWD_DATA, .algo = -1, .check = check, .prepare = prepare,
      .run = run, .release = dn_cuda_release },
};

const dn_rows dn_cuda_divnorm = { rows, sizeof rows / sizeof rows[0] };
