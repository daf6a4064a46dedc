/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The matrix of a convolution by GEMM: elements are moved, never converted. A row of the matrix is a place of the output; in a
 * convolution that turns its filter round, tap r stands for the element that filter element r meets, R - 1 - r places on. */
#include "ref/ref.h"

#include <string.h>

typedef struct col_job {
    const dn_problem *p;
    const dn_args *a;
    size_t size;                  /* bytes of an element */
    int64_t taps;                 /* per channel, without the last dimension */
    int64_t out[DN_SPATIAL_MAX];
} col_job;

/* The last dimension of the window: input indices i0, i0 + step ...; those outside 0 .. limit - 1 give zeros. */
static void copy_taps(unsigned char *to, const unsigned char *from, int64_t i0, int64_t step, int64_t limit, int64_t stride, int64_t n,
                      size_t size)
{
    for (int64_t k = 0; k < n; k++, to += size) {
        int64_t i = i0 + k * step;
        if (i < 0 || i >= limit)
            memset(to, 0, size);
        else
            memcpy(to, from + i * stride, size);
    }
}

/* Index in x of tap r at output position o in spatial dimension j. */
static int64_t place(const dn_problem *p, int j, int64_t o, int64_t r)
{
    const dn_conv_param *u = &p->u.conv;
    int64_t turned = u->mode == 0 ? p->t[DN_W].dims[2 + j] - 1 - r : r;
    return o * u->stride[j] - u->pad[j] + turned * u->dilation[j];
}

static void write_row(const col_job *job, int64_t n, const int64_t *o, unsigned char *to)
{
    const dn_problem *p = job->p;
    const dn_tensor *x = &p->t[DN_X], *w = &p->t[DN_W];
    int last = p->u.conv.spatial - 1;
    int64_t size = (int64_t)job->size, window = w->dims[2 + last];
    int64_t i0 = place(p, last, o[last], 0), step = p->u.conv.mode == 0 ? -p->u.conv.dilation[last] : p->u.conv.dilation[last];
    for (int64_t c = 0; c < x->dims[1]; c++)
        for (int64_t tap = 0; tap < job->taps; tap++, to += window * size) {
            int64_t rest = tap, at = n * x->strides[0] + c * x->strides[1];
            bool there = true;
            for (int j = last - 1; j >= 0; j--) {
                int64_t i = place(p, j, o[j], rest % w->dims[2 + j]);
                there = there && i >= 0 && i < x->dims[2 + j];
                at += i * x->strides[2 + j];
                rest /= w->dims[2 + j];
            }
            copy_taps(to, (const unsigned char *)job->a->ptr[DN_X] + (there ? at * size : 0), i0, step, there ? x->dims[2 + last] : 0,
                      x->strides[2 + last] * size, window, job->size);
        }
}

static void run_rows(void *ctx, int64_t begin, int64_t end)
{
    const col_job *job = ctx;
    int64_t width = job->p->t[DN_Y].dims[1];
    for (int64_t row = begin; row < end; row++) {
        int64_t o[DN_SPATIAL_MAX], rest = row;
        for (int j = job->p->u.conv.spatial - 1; j >= 0; j--) {
            o[j] = rest % job->out[j];
            rest /= job->out[j];
        }
        write_row(job, rest, o, (unsigned char *)job->a->ptr[DN_Y] + row * width * (int64_t)job->size);
    }
}

static dn_status run(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    (void)h;
    const dn_problem *p = &plan->problem;
    const dn_conv_param *u = &p->u.conv;
    col_job job = { .p = p, .a = a, .size = dn_dtype_size((dn_dtype)p->t[DN_X].type), .taps = 1 };
    for (int j = 0; j < u->spatial; j++) {
        job.out[j] = dn_conv_out_dim(p->t[DN_X].dims[2 + j], p->t[DN_W].dims[2 + j], u->pad[j], u->stride[j], u->dilation[j]);
        if (j + 1 < u->spatial)
            job.taps *= p->t[DN_W].dims[2 + j];
    }
    int64_t grain = DN_PIECE_GRAIN / p->t[DN_Y].dims[1];
    dn_parallel(p->t[DN_Y].dims[0], grain > 0 ? grain : 1, run_rows, &job);
    return DN_SUCCESS;
}

static const char *check(const dn_problem *p)
{
    return dn_tensor_is_packed(&p->t[DN_Y]) ? NULL : "needs a packed matrix";
}

static const dn_solver rows[] = {
    { .name = "ref_im2col_fwd", .op = DN_OP_IM2COL, .dir = DN_DIR_FWD, .algo = -1, .check = check, .run = run },
};

const dn_rows dn_ref_im2col = { rows, sizeof(rows) / sizeof(rows[0]) };
