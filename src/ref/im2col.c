/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The matrix of a convolution by GEMM: elements are moved, never converted. A row of the matrix is an element of the filter; in a
 * convolution that turns its filter round, tap r stands for the element that filter element r meets, R - 1 - r places on. The walk
 * goes over stretches, runs of the last output dimension: index (c, r..., n, o... without the last), the last fastest. */
#include "ref/ref.h"

#include <string.h>

enum { WALK_MAX = 2 * DN_SPATIAL_MAX + 1 };

typedef struct col_job {
    const dn_problem *p;
    const dn_args *a;
    size_t size;               /* bytes of an element */
    int rank;                  /* of the walk */
    int64_t dims[WALK_MAX];
    int64_t width;             /* elements of a stretch */
} col_job;

/* Index in x of tap r at output position o in spatial dimension j. */
static int64_t place(const dn_problem *p, int j, int64_t o, int64_t r)
{
    const dn_conv_param *u = &p->u.conv;
    int64_t turned = u->mode == 0 ? p->t[DN_W].dims[2 + j] - 1 - r : r;
    return o * u->stride[j] - u->pad[j] + turned * u->dilation[j];
}

/* How many of the n positions i0, i0 + step, ... are below limit; step > 0. */
static int64_t count_below(int64_t i0, int64_t step, int64_t limit, int64_t n)
{
    int64_t count = limit > i0 ? (limit - i0 + step - 1) / step : 0;
    return count < n ? count : n;
}

/* from: index 0 of the last dimension, or NULL where the whole stretch lies in the padding. */
static void write_stretch(const col_job *job, const unsigned char *from, int64_t i0, unsigned char *to)
{
    const dn_problem *p = job->p;
    int last = p->u.conv.spatial - 1;
    int64_t step = p->u.conv.stride[last], size = (int64_t)job->size, limit = p->t[DN_X].dims[2 + last];
    int64_t low = from ? count_below(i0, step, 0, job->width) : job->width;
    int64_t high = from ? count_below(i0, step, limit, job->width) : job->width;
    int64_t stride = p->t[DN_X].strides[2 + last] * size;
    memset(to, 0, (size_t)(low * size));
    for (int64_t k = low; k < high; k++)
        memcpy(to + k * size, from + (i0 + k * step) * stride, job->size);
    memset(to + high * size, 0, (size_t)((job->width - high) * size));
}

static void run_stretch(const col_job *job, const int64_t *index, unsigned char *to)
{
    const dn_problem *p = job->p;
    const dn_tensor *x = &p->t[DN_X];
    int spatial = p->u.conv.spatial;
    const int64_t *r = index + 1, *o = r + spatial + 1;
    int64_t at = o[-1] * x->strides[0] + index[0] * x->strides[1];
    bool there = true;
    for (int j = 0; j + 1 < spatial; j++) {
        int64_t i = place(p, j, o[j], r[j]);
        there = there && i >= 0 && i < x->dims[2 + j];
        at += i * x->strides[2 + j];
    }
    write_stretch(job, there ? (const unsigned char *)job->a->ptr[DN_X] + at * (int64_t)job->size : NULL,
                  place(p, spatial - 1, 0, r[spatial - 1]), to);
}

static void run_stretches(void *ctx, int64_t begin, int64_t end)
{
    const col_job *job = ctx;
    int64_t index[WALK_MAX], rest = begin, bytes = job->width * (int64_t)job->size;
    unsigned char *to = (unsigned char *)job->a->ptr[DN_Y] + begin * bytes;
    for (int d = job->rank - 1; d >= 0; d--) {
        index[d] = rest % job->dims[d];
        rest /= job->dims[d];
    }
    for (int64_t k = begin; k < end; k++, to += bytes) {
        run_stretch(job, index, to);
        for (int d = job->rank - 1; d >= 0 && ++index[d] == job->dims[d]; d--)
            index[d] = 0;
    }
}

static dn_status run(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    (void)h;
    const dn_problem *p = &plan->problem;
    const dn_conv_param *u = &p->u.conv;
    const dn_tensor *x = &p->t[DN_X], *w = &p->t[DN_W];
    col_job job = { .p = p, .a = a, .size = dn_dtype_size((dn_dtype)x->type) };
    job.dims[job.rank++] = x->dims[1];
    for (int j = 0; j < u->spatial; j++)
        job.dims[job.rank++] = w->dims[2 + j];
    job.dims[job.rank++] = x->dims[0];
    for (int j = 0; j < u->spatial; j++) {
        job.width = dn_conv_out_dim(x->dims[2 + j], w->dims[2 + j], u->pad[j], u->stride[j], u->dilation[j]);
        if (j + 1 < u->spatial)
            job.dims[job.rank++] = job.width;
    }
    int64_t grain = DN_PIECE_GRAIN / job.width;
    dn_parallel(p->t[DN_Y].dims[0] * p->t[DN_Y].dims[1] / job.width, grain > 0 ? grain : 1, run_stretches, &job);
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
