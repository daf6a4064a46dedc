/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Activation on the host: pieces of a row are widened to double, put through the function, scaled, blended and rounded once.
 * Any type, any strides, in place or not. */
#include "ops/act_fn.h"
#include "ref/ref.h"

typedef struct act_job {
    const dn_problem *p;
    const dn_args *a;
} act_job;

/* One loop per mode: the switch inside the inlined function has a constant to look at. */
#define EACH_MODE(loop)                       \
    switch (param->mode) {                    \
    case DN_ACT_SIGMOID: loop(DN_ACT_SIGMOID) break;           \
    case DN_ACT_RELU: loop(DN_ACT_RELU) break;                 \
    case DN_ACT_TANH: loop(DN_ACT_TANH) break;                 \
    case DN_ACT_CLIPPED_RELU: loop(DN_ACT_CLIPPED_RELU) break; \
    case DN_ACT_ELU: loop(DN_ACT_ELU) break;                   \
    case DN_ACT_SWISH: loop(DN_ACT_SWISH) break;               \
    default: loop(DN_ACT_IDENTITY) break;                      \
    }

static void apply_row(const dn_act_param *param, int64_t n, double *v)
{
    dn_act_param q = *param;
#define APPLY(m) q.mode = m; for (int64_t i = 0; i < n; i++) v[i] = dn_act_apply(&q, v[i]);
    EACH_MODE(APPLY)
#undef APPLY
}

static void grad_row(const dn_act_param *param, int64_t n, const double *x, const double *y, double *dy)
{
    dn_act_param q = *param;
#define GRAD(m) q.mode = m; for (int64_t i = 0; i < n; i++) dy[i] = dn_act_grad(&q, x[i], y[i], dy[i]);
    EACH_MODE(GRAD)
#undef GRAD
}

/* Tensors of the walk: 0 y, 1 x. */
static void fwd_piece(void *ctx, const dn_piece *k)
{
    const act_job *job = ctx;
    const dn_problem *p = job->p;
    const dn_args *a = job->a;
    dn_dtype type = dn_dtype_scalar(p->t[DN_X].type);
    double v[DN_PIECE_MAX];
    dn_load_row(type, a->ptr[DN_X], k->offset[1], k->stride[1], k->n, v);
    apply_row(&p->u.act, k->n, v);
    dn_store_row(type, a->ptr[DN_Y], k->offset[0], k->stride[0], k->n, v, a->alpha, a->beta);
}

/* Tensors of the walk: 0 dx, 1 x, 2 y, 3 dy. */
static void bwd_piece(void *ctx, const dn_piece *k)
{
    const act_job *job = ctx;
    const dn_problem *p = job->p;
    const dn_args *a = job->a;
    dn_dtype type = dn_dtype_scalar(p->t[DN_X].type);
    double x[DN_PIECE_MAX], y[DN_PIECE_MAX], dy[DN_PIECE_MAX];
    if (dn_act_reads_x(p->u.act.mode))
        dn_load_row(type, a->ptr[DN_X], k->offset[1], k->stride[1], k->n, x);
    if (dn_act_reads_y(p->u.act.mode))
        dn_load_row(type, a->ptr[DN_Y], k->offset[2], k->stride[2], k->n, y);
    dn_load_row(type, a->ptr[DN_DY], k->offset[3], k->stride[3], k->n, dy);
    grad_row(&p->u.act, k->n, x, y, dy);
    dn_store_row(type, a->ptr[DN_DX], k->offset[0], k->stride[0], k->n, dy, a->alpha, a->beta);
}

static dn_status run_fwd(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    (void)h;
    const dn_problem *p = &plan->problem;
    const dn_tensor *const t[] = { &p->t[DN_Y], &p->t[DN_X] };
    act_job job = { p, a };
    dn_iter it;
    dn_iter_init_any_order(&it, 2, t);
    dn_iter_run(&it, fwd_piece, &job);
    return DN_SUCCESS;
}

static dn_status run_bwd(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    (void)h;
    const dn_problem *p = &plan->problem;
    const dn_tensor *const t[] = { &p->t[DN_DX], &p->t[DN_X], &p->t[DN_Y], &p->t[DN_DY] };
    act_job job = { p, a };
    dn_iter it;
    dn_iter_init_any_order(&it, 4, t);
    dn_iter_run(&it, bwd_piece, &job);
    return DN_SUCCESS;
}

static const char *check_fwd(const dn_problem *p)
{
    dn_dtype t = dn_dtype_scalar(p->t[DN_X].type);
    return t == DN_F32 || t == DN_F64 || t == DN_F16 || t == DN_BF16 || t == DN_I8 || t == DN_U8 || t == DN_I32 ? NULL
        : "needs type f32, f64, f16, bf16, i32, or i8 or u8, vectorised or not";
}

static const char *check_bwd(const dn_problem *p)
{
    dn_dtype t = p->t[DN_X].type;
    return t == DN_F32 || t == DN_F64 || t == DN_F16 || t == DN_BF16 ? NULL : "needs type f32, f64, f16 or bf16";
}

static const dn_solver rows[] = {
    { .name = "ref_act_fwd", .op = DN_OP_ACT, .dir = DN_DIR_FWD, .algo = -1, .check = check_fwd, .run = run_fwd },
    { .name = "ref_act_bwd_data", .op = DN_OP_ACT, .dir = DN_DIR_BWD_DATA, .algo = -1, .check = check_bwd, .run = run_bwd },
};

const dn_rows dn_ref_act = { rows, sizeof(rows) / sizeof(rows[0]) };
