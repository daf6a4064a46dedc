/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * C = op(alpha1 * A, alpha2 * B) + beta * C on the host: pieces of a row go through double and are rounded once. MIN and MAX: where
 * NaN does not go through, a NaN operand loses to a number; where it does, it wins. */
#include "ref/ref.h"

#include <math.h>

enum { ADD, MUL, MIN, MAX, SQRT, NOT };

/* Tensors of the walk: 0 C, 1 A, 2 B. */
typedef struct op_job {
    const dn_problem *p;
    const dn_args *a;
} op_job;

static void unary(int op, int64_t n, double *a)
{
    for (int64_t i = 0; i < n; i++)
        a[i] = op == SQRT ? sqrt(a[i]) : 1 - a[i];
}

static void binary(const dn_tensor_op_param *u, int64_t n, double *a, const double *b)
{
    switch (u->op) {
    case ADD:
        for (int64_t i = 0; i < n; i++)
            a[i] += b[i];
        break;
    case MUL:
        for (int64_t i = 0; i < n; i++)
            a[i] *= b[i];
        break;
    default:
        for (int64_t i = 0; i < n; i++) {
            bool none = isnan(a[i]) || isnan(b[i]);
            bool take = none ? isnan(u->nan ? b[i] : a[i]) : u->op == MIN ? b[i] < a[i] : b[i] > a[i];
            a[i] = take ? b[i] : a[i];
        }
    }
}

static void op_piece(void *ctx, const dn_piece *k)
{
    const op_job *job = ctx;
    const dn_problem *p = job->p;
    double a[DN_PIECE_MAX], b[DN_PIECE_MAX];
    dn_load_row((dn_dtype)p->t[DN_X].type, job->a->ptr[DN_X], k->offset[1], k->stride[1], k->n, a);
    for (int64_t i = 0; i < k->n; i++)
        a[i] *= job->a->alpha;
    if (p->u.tensor_op.op >= SQRT) {
        unary(p->u.tensor_op.op, k->n, a);
    } else {
        dn_load_row((dn_dtype)p->t[DN_B].type, job->a->ptr[DN_B], k->offset[2], k->stride[2], k->n, b);
        for (int64_t i = 0; i < k->n; i++)
            b[i] *= job->a->alpha2;
        binary(&p->u.tensor_op, k->n, a, b);
    }
    dn_store_row((dn_dtype)p->t[DN_Y].type, job->a->ptr[DN_Y], k->offset[0], k->stride[0], k->n, a, 1, job->a->beta);
}

static dn_status run(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    (void)h;
    const dn_problem *p = &plan->problem;
    const dn_tensor *const t[] = { &p->t[DN_Y], &p->t[DN_X], &p->t[DN_B] };
    op_job job = { p, a };
    dn_iter it;
    dn_iter_init_any_order(&it, p->u.tensor_op.op >= SQRT ? 2 : 3, t);
    dn_iter_run(&it, op_piece, &job);
    return DN_SUCCESS;
}

static const char *check(const dn_problem *p)
{
    (void)p;
    return NULL;
}

static const dn_solver rows[] = {
    { .name = "ref_optensor_fwd", .op = DN_OP_TENSOR, .dir = DN_DIR_FWD, .algo = -1, .check = check, .run = run },
};

const dn_rows dn_ref_tensor_op = { rows, sizeof(rows) / sizeof(rows[0]) };
