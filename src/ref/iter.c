/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Iteration over strided tensors. Strides become steps in scalars once, in dn_iter_init; afterwards a row costs one addition per
 * tensor, and a carry one subtraction more. */
#include "ref/ref.h"

#include <string.h>

/* A dimension of the walk before and while folding. */
typedef struct axis {
    int64_t dim;
    int64_t step[DN_ITER_MAX];
} axis;

/* Scalars per stored unit of t along dimension d: 1 but along the dimension that vectors run along. */
static int64_t vector_along(const dn_tensor *t, int d)
{
    return t->vect > 1 && d == t->vect_dim ? t->vect : 1;
}

/* Step in scalars when dimension d of t advances by `by` scalars; by is a multiple of the vector, or below it. */
static int64_t step_of(const dn_tensor *t, int d, int64_t by)
{
    if (d >= t->rank || t->dims[d] == 1)
        return 0;
    int64_t along = vector_along(t, d);
    if (along == 1)
        return t->strides[d] * by * (t->vect > 1 ? t->vect : 1);
    return by < along ? by : t->strides[d] * (by / along) * along;
}

/* Size of dimension d in a multiple of v: up to the end of a last vector that is partly full where every tensor has the same
 * vector there, else without the rest, which a plain tensor does not store. */
static int64_t whole(int d, int64_t v, int count, const dn_tensor *const *t)
{
    int64_t size = t[0]->dims[d], rest = size % v;
    if (rest == 0)
        return size;
    for (int i = 0; i < count; i++)
        if (d < t[i]->rank && t[i]->dims[d] > 1 && vector_along(t[i], d) != v)
            return size - rest;
    return size - rest + v;
}

/* Dimension d as one axis, or as several where a tensor stores vectors along it: 64 channels of an x32 and an x4 tensor become
 * 2 x 8 x 4. The vectors of cuDNN's types divide one another. Answers the number of axes written, outermost first. */
static int split(int d, int count, const dn_tensor *const *t, axis *out)
{
    int64_t cut[3] = { 1, 0, 0 };  /* ascending sizes of the inner parts */
    int cuts = 1;
    for (int64_t v = 4; v <= 32; v *= 8)
        for (int i = 0; i < count; i++)
            if (d < t[i]->rank && vector_along(t[i], d) == v && cut[cuts - 1] != v)
                cut[cuts++] = v;
    int n = 0;
    int64_t left = whole(d, cut[cuts - 1], count, t);
    for (int k = cuts - 1; k >= 0; k--) {
        out[n].dim = left / cut[k];
        left = cut[k];
        for (int i = 0; i < count; i++)
            out[n].step[i] = step_of(t[i], d, cut[k]);
        n++;
    }
    return n;
}

/* Whether a (outer) and b (inner) are one axis for every tensor. */
static bool folds(const axis *a, const axis *b, int count)
{
    for (int i = 0; i < count; i++)
        if (a->step[i] != b->step[i] * b->dim)
            return false;
    return true;
}

static int fold(axis *ax, int n, int count)
{
    int out = 0;
    for (int k = 0; k < n; k++) {
        if (ax[k].dim == 1)
            continue;
        if (out > 0 && folds(&ax[out - 1], &ax[k], count)) {
            ax[k].dim *= ax[out - 1].dim;
            ax[out - 1] = ax[k];
        } else {
            ax[out++] = ax[k];
        }
    }
    if (out == 0) {
        ax[0].dim = 1;
        memset(ax[0].step, 0, sizeof(ax[0].step));
        out = 1;
    }
    return out;
}

static int64_t magnitude(int64_t v)
{
    return v < 0 ? -v : v;
}

/* Longest step of the first tensor outermost; equal ones keep their order. */
static void sort_axes(axis *ax, int n)
{
    for (int k = 1; k < n; k++) {
        axis a = ax[k];
        int j = k;
        for (; j > 0 && magnitude(ax[j - 1].step[0]) < magnitude(a.step[0]); j--)
            ax[j] = ax[j - 1];
        ax[j] = a;
    }
}

static void init(dn_iter *it, int count, const dn_tensor *const *t, bool any_order)
{
    axis ax[DN_ITER_RANK];
    int n = 0;
    for (int d = 0; d < t[0]->rank; d++)
        n += split(d, count, t, ax + n);
    if (any_order)
        sort_axes(ax, n);
    n = fold(ax, n, count);

    memset(it, 0, sizeof(*it));
    it->count = count;
    it->rank = n;
    it->n = ax[n - 1].dim;
    it->rows = 1;
    for (int d = 0; d < n; d++) {
        it->dims[d] = ax[d].dim;
        if (d < n - 1)
            it->rows *= ax[d].dim;
        for (int i = 0; i < count; i++)
            it->step[i][d] = ax[d].step[i];
    }
    for (int i = 0; i < count; i++)
        it->stride[i] = ax[n - 1].step[i];
}

void dn_iter_init(dn_iter *it, int count, const dn_tensor *const *t)
{
    init(it, count, t, false);
}

void dn_iter_init_any_order(dn_iter *it, int count, const dn_tensor *const *t)
{
    init(it, count, t, true);
}

void dn_iter_seek(dn_iter *it, int64_t row)
{
    memset(it->offset, 0, sizeof(it->offset));
    for (int d = it->rank - 2; d >= 0; d--) {
        it->index[d] = row % it->dims[d];
        row /= it->dims[d];
        for (int i = 0; i < it->count; i++)
            it->offset[i] += it->index[d] * it->step[i][d];
    }
}

void dn_iter_next(dn_iter *it)
{
    for (int d = it->rank - 2; d >= 0; d--) {
        for (int i = 0; i < it->count; i++)
            it->offset[i] += it->step[i][d];
        if (++it->index[d] < it->dims[d])
            return;
        it->index[d] = 0;
        for (int i = 0; i < it->count; i++)
            it->offset[i] -= it->step[i][d] * it->dims[d];
    }
}

typedef struct piece_job {
    const dn_iter *it;
    dn_piece_fn fn;
    void *ctx;
    int64_t max, per_row;  /* elements of a piece, pieces of a row */
} piece_job;

static void run_pieces(void *p, int64_t begin, int64_t end)
{
    const piece_job *job = p;
    dn_iter it = *job->it;
    dn_piece piece;
    int64_t row = begin / job->per_row, k = begin % job->per_row;
    dn_iter_seek(&it, row);
    memcpy(piece.stride, it.stride, sizeof(piece.stride));
    for (int64_t done = begin; done < end; done++) {
        int64_t at = k * job->max, left = it.n - at;
        piece.n = left < job->max ? left : job->max;
        piece.first = row * it.n + at;
        for (int i = 0; i < it.count; i++)
            piece.offset[i] = it.offset[i] + at * it.stride[i];
        job->fn(job->ctx, &piece);
        if (++k == job->per_row) {
            k = 0;
            row++;
            dn_iter_next(&it);
        }
    }
}

void dn_iter_run_costly(const dn_iter *it, int64_t max, int64_t cost, dn_piece_fn fn, void *ctx)
{
    if (it->n < 1)
        return;
    piece_job job = { it, fn, ctx, max, (it->n + max - 1) / max };
    int64_t typical = it->n < max ? it->n : max;
    int64_t grain = DN_PIECE_GRAIN / cost / typical;
    dn_parallel(it->rows * job.per_row, grain > 0 ? grain : 1, run_pieces, &job);
}

void dn_iter_run(const dn_iter *it, dn_piece_fn fn, void *ctx)
{
    dn_iter_run_costly(it, DN_PIECE_MAX, 1, fn, ctx);
}
