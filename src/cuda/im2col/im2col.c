/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The matrix of a convolution by GEMM on the GPU. */
#include "cuda/im2col/im2col.h"

#include "cuda/naive.h"
#include "cuda/rows.h"

#include <stdlib.h>

_Static_assert(DN_SPATIAL_MAX <= DN_IM2COL_SPATIAL, "the kernel takes every number of dimensions");

typedef struct im2col_state {
    dn_cuda_grid grid;
    dn_im2col_naive params;
} im2col_state;

static void fill(dn_im2col_naive *q, const dn_problem *p)
{
    const dn_conv_param *u = &p->u.conv;
    const dn_tensor *x = &p->t[DN_X], *w = &p->t[DN_W];
    q->x = dn_elements_of(x);
    q->y = dn_elements_of(&p->t[DN_Y]);
    q->rows = p->t[DN_Y].dims[0];
    q->cols = p->t[DN_Y].dims[1];
    q->batch_stride = x->strides[0];
    q->chan_stride = x->strides[1];
    q->spatial = u->spatial;
    q->turned = u->mode == 0;
    for (int j = 0; j < u->spatial; j++) {
        q->in[j] = x->dims[2 + j];
        q->window[j] = w->dims[2 + j];
        q->out[j] = dn_conv_out_dim(q->in[j], q->window[j], u->pad[j], u->stride[j], u->dilation[j]);
        q->x_stride[j] = x->strides[2 + j];
        q->pad[j] = u->pad[j];
        q->stride[j] = u->stride[j];
        q->dilation[j] = u->dilation[j];
    }
}

static dn_status prepare(dn_handle *h, dn_plan *plan)
{
    im2col_state *s = calloc(1, sizeof *s);
    if (!s)
        return dn_fail(DN_ALLOC_FAILED, "no memory for a plan of %s", plan->solver->name);
    plan->state = s;
    fill(&s->params, &plan->problem);
    dn_cuda_grid_loop(h, &s->grid, s->params.rows * s->params.cols, 256, 4);
    return dn_cuda_function(h, "cuda_im2col_naive", plan->solver->name, 0, &s->grid.f);
}

static dn_status run(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    const im2col_state *s = plan->state;
    dn_im2col_naive params = s->params;
    dn_elements_bind(&params.x, a->ptr[DN_X]);
    dn_elements_bind(&params.y, a->ptr[DN_Y]);
    return dn_cuda_launch(h, &s->grid, &params);
}

static const char *check(const dn_problem *p)
{
    return dn_ref_im2col.rows[0].check(p);
}

static const dn_solver rows[] = {
    { .name = "cuda_im2col_fwd_naive", .op = DN_OP_IM2COL, .dir = DN_DIR_FWD, .algo = -1, .check = check, .prepare = prepare, .run = run,
      .release = dn_cuda_release },
};

const dn_rows dn_cuda_im2col = { rows, sizeof rows / sizeof rows[0] };
