/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Views: where the elements of a convolution's operands lie. Strides are multiplied once per run of the fastest column dimension
 * and tap; inner loops only add. */
#include "ref/conv.h"

#include <string.h>

/* o * stride - pad + r * dilation; a true convolution turns the filter round, r becomes R - 1 - r. */
void dn_conv_geometry_get(const dn_problem *p, dn_conv_geometry *g)
{
    const dn_conv_param *u = &p->u.conv;
    for (int j = 0; j < u->spatial; j++) {
        int64_t last = (p->t[DN_W].dims[2 + j] - 1) * (int64_t)u->dilation[j];
        g->base[j] = -(int64_t)u->pad[j] + (u->mode == 0 ? last : 0);
        g->step[j] = u->mode == 0 ? -(int64_t)u->dilation[j] : u->dilation[j];
    }
}

void dn_conv_view_plain(dn_conv_view *v, const dn_tensor *t, int64_t chans)
{
    memset(v, 0, sizeof *v);
    v->type = (dn_dtype)t->type;
    v->chan_stride = t->strides[1];
    v->group_stride = chans * t->strides[1];
    v->rank = t->rank - 1;
    for (int j = 0; j < v->rank; j++) {
        int64_t n = t->dims[j ? j + 1 : 0];
        v->dim[j] = (dn_conv_dim){.cols = n, .taps = 1, .mul = 1, .limit = n, .stride = t->strides[j ? j + 1 : 0]};
    }
    dn_conv_view_finish(v);
}

void dn_conv_view_input(dn_conv_view *v, const dn_problem *p)
{
    const dn_tensor *x = &p->t[DN_X], *w = &p->t[DN_W], *y = &p->t[DN_Y];
    dn_conv_geometry g;
    dn_conv_geometry_get(p, &g);
    memset(v, 0, sizeof *v);
    v->type = (dn_dtype)x->type;
    v->chan_stride = x->strides[1];
    v->group_stride = w->dims[1] * x->strides[1];
    v->rank = x->rank - 1;
    v->dim[0] = (dn_conv_dim){.cols = x->dims[0], .taps = 1, .mul = 1, .limit = x->dims[0], .stride = x->strides[0]};
    for (int j = 0; j < p->u.conv.spatial; j++)
        v->dim[j + 1] = (dn_conv_dim){.cols = y->dims[j + 2], .taps = w->dims[j + 2], .mul = p->u.conv.stride[j], .base = g.base[j],
                                      .step = g.step[j], .limit = x->dims[j + 2], .stride = x->strides[j + 2]};
    dn_conv_view_finish(v);
}

/* Whether every column has an element under the only tap: then the dimension is an offset and a stride. */
static bool dim_is_plain(const dn_conv_dim *d)
{
    return d->taps == 1 && d->base >= 0 && d->base + (d->cols - 1) * d->mul < d->limit;
}

static void dim_make_plain(dn_conv_view *v, dn_conv_dim *d)
{
    v->offset += d->base * d->stride;
    d->stride *= d->mul;
    d->mul = 1;
    d->base = d->step = 0;
    d->limit = d->cols;
}

void dn_conv_view_finish(dn_conv_view *v)
{
    dn_conv_dim keep[DN_CONV_DIMS];
    int n = 0;
    v->cols = v->taps = 1;
    for (int j = v->rank - 1; j >= 0; j--) {
        v->dim[j].tap_weight = v->taps;
        v->taps *= v->dim[j].taps;
        v->cols *= v->dim[j].cols;
    }
    for (int j = 0; j < v->rank; j++)
        if (dim_is_plain(&v->dim[j]))
            dim_make_plain(v, &v->dim[j]);
    /* A dimension with one column changes no column's index, so it may stand before the others: runs get longer. */
    for (int j = 0; j < v->rank; j++)
        if (v->dim[j].cols == 1 && !dim_is_plain(&v->dim[j]))
            keep[n++] = v->dim[j];
    for (int j = 0; j < v->rank; j++) {
        const dn_conv_dim *d = &v->dim[j];
        if (d->cols == 1)
            continue;
        dn_conv_dim *before = n ? &keep[n - 1] : NULL;
        if (before && before->cols > 1 && dim_is_plain(before) && dim_is_plain(d) && before->stride == d->stride * d->cols) {
            before->cols *= d->cols;
            before->limit = before->cols;
            before->stride = d->stride;
        } else {
            keep[n++] = *d;
        }
    }
    if (n == 0)
        keep[n++] = (dn_conv_dim){.cols = 1, .taps = 1, .mul = 1, .limit = 1, .tap_weight = 1};
    v->rank = n;
    memcpy(v->dim, keep, (size_t)n * sizeof keep[0]);
}

/* Columns of d whose index is inside under displacement disp: lo <= col < hi. */
static void dim_range(const dn_conv_dim *d, int64_t disp, int64_t *lo, int64_t *hi)
{
    int64_t first = disp >= 0 ? 0 : dn_ceil_div(-disp, d->mul);
    int64_t end = d->limit > disp ? dn_ceil_div(d->limit - disp, d->mul) : 0;
    *hi = end < d->cols ? end : d->cols;
    *lo = first < *hi ? first : *hi;
}

static void tap_compute(const dn_conv_view *v, int64_t tap, dn_conv_tap *t)
{
    t->off = 0;
    for (int j = 0; j < v->rank; j++) {
        const dn_conv_dim *d = &v->dim[j];
        int64_t disp = d->base;
        if (d->taps > 1)
            disp += (tap / d->tap_weight) % d->taps * d->step;
        dim_range(d, disp, &t->lo[j], &t->hi[j]);
        t->off += disp * d->stride;
    }
}

void dn_conv_view_tabulate(const dn_conv_view *v, dn_conv_tap *table)
{
    for (int64_t tap = 0; tap < v->taps; tap++)
        tap_compute(v, tap, &table[tap]);
}

/* --- cursor --- */

void dn_conv_cursor_seek(dn_conv_cursor *c, const dn_conv_view *v, int64_t col, int64_t cols)
{
    int last = v->rank - 1;
    int64_t index[DN_CONV_DIMS], off = v->offset;
    for (int j = last; j >= 0; j--) {
        index[j] = col % v->dim[j].cols;
        col /= v->dim[j].cols;
        off += index[j] * v->dim[j].mul * v->dim[j].stride;
    }
    c->view = v;
    c->tap = -1;
    c->cols = (int32_t)cols;
    c->runs = 0;
    c->stride = v->dim[last].mul * v->dim[last].stride;
    for (int32_t at = 0; at < cols;) {
        int64_t left = v->dim[last].cols - index[last];
        int32_t n = left < cols - at ? (int32_t)left : (int32_t)(cols - at);
        c->run[c->runs] = (dn_conv_piece){.off = off, .at = at, .n = n};
        memcpy(c->index[c->runs++], index, sizeof index);
        at += n;
        index[last] += n;
        off += n * c->stride;
        for (int j = last; j > 0 && index[j] == v->dim[j].cols; j--) {
            off += v->dim[j - 1].mul * v->dim[j - 1].stride - index[j] * v->dim[j].mul * v->dim[j].stride;
            index[j] = 0;
            index[j - 1]++;
        }
    }
}

static bool run_inside(const dn_conv_tap *t, const int64_t *index, int last)
{
    for (int j = 0; j < last; j++)
        if (index[j] < t->lo[j] || index[j] >= t->hi[j])
            return false;
    return true;
}

void dn_conv_cursor_tap(dn_conv_cursor *c, int64_t tap)
{
    const dn_conv_view *v = c->view;
    dn_conv_tap computed;
    const dn_conv_tap *t = &computed;
    int last = v->rank - 1;
    int32_t covered = 0;
    if (tap == c->tap)
        return;
    if (v->table)
        t = &v->table[tap];
    else
        tap_compute(v, tap, &computed);
    c->tap = tap;
    c->tap_off = t->off;
    c->pieces = 0;
    for (int32_t r = 0; r < c->runs; r++) {
        const int64_t *index = c->index[r];
        if (!run_inside(t, index, last))
            continue;
        int64_t q = index[last], end = q + c->run[r].n;
        int64_t lo = q > t->lo[last] ? q : t->lo[last], hi = end < t->hi[last] ? end : t->hi[last];
        if (lo >= hi)
            continue;
        c->piece[c->pieces++] = (dn_conv_piece){.off = c->run[r].off + (lo - q) * c->stride, .at = c->run[r].at + (int32_t)(lo - q),
                                                .n = (int32_t)(hi - lo)};
        covered += (int32_t)(hi - lo);
    }
    c->full = covered == c->cols;
}

void dn_conv_cursor_load(const dn_conv_cursor *c, const dn_conv_kernel *k, const void *base, int64_t add, double *row)
{
    dn_dtype type = c->view->type;
    add += c->tap_off;
    if (!c->full)
        memset(row, 0, (size_t)c->cols * sizeof *row);
    if (type == DN_F32)
        k->load_f32(base, c->piece, c->pieces, add, c->stride, row);
    else if (type == DN_F64)
        k->load_f64(base, c->piece, c->pieces, add, c->stride, row);
    else
        for (int32_t i = 0; i < c->pieces; i++)
            dn_load_row(type, base, c->piece[i].off + add, c->stride, c->piece[i].n, row + c->piece[i].at);
}

void dn_conv_cursor_store(const dn_conv_cursor *c, void *base, int64_t add, const double *row, double alpha, double beta)
{
    add += c->tap_off;
    for (int32_t i = 0; i < c->pieces; i++)
        dn_store_row(c->view->type, base, c->piece[i].off + add, c->stride, c->piece[i].n, row + c->piece[i].at, alpha, beta);
}

/* --- filter --- */

void dn_conv_filter_forward(dn_conv_filter *f, const dn_problem *p)
{
    const dn_tensor *w = &p->t[DN_W];
    memset(f, 0, sizeof *f);
    f->type = (dn_dtype)w->type;
    f->rank = p->u.conv.spatial;
    f->chans = w->dims[1];
    f->row_stride = w->strides[0];
    f->chan_stride = w->strides[1];
    f->group_stride = w->dims[0] / p->u.conv.groups * w->strides[0];
    for (int j = 0; j < f->rank; j++) {
        f->dim[j] = w->dims[2 + j];
        f->stride[j] = w->strides[2 + j];
    }
    dn_conv_filter_finish(f);
}

/* The longer of channels and taps runs fastest, so that rows are long. */
void dn_conv_filter_finish(dn_conv_filter *f)
{
    int n = 0;
    f->taps = 1;
    for (int j = 0; j < f->rank; j++) {
        int64_t dim = f->dim[j], stride = f->stride[j];
        f->taps *= dim;
        if (dim == 1 && (n || j < f->rank - 1))
            continue;  /* moves no tap; but one dimension is kept */
        if (n && f->stride[n - 1] == stride * dim) {
            f->dim[n - 1] *= dim;
            f->stride[n - 1] = stride;
        } else {
            f->dim[n] = dim;
            f->stride[n++] = stride;
        }
    }
    f->rank = n;
    f->tap_inner = f->taps > f->chans;
}

/* Offset of tap and how many taps from it on are one stride apart. */
static int64_t tap_run(const dn_conv_filter *f, int64_t tap, int64_t *n)
{
    int64_t off = 0;
    int last = f->rank - 1;
    *n = f->dim[last] - tap % f->dim[last];
    for (int j = last; j >= 0; j--) {
        off += tap % f->dim[j] * f->stride[j];
        tap /= f->dim[j];
    }
    return off;
}

/* The run of elements one stride apart that begins at column l: its offset, length (at most limit) and stride. */
static int64_t column_run(const dn_conv_filter *f, int64_t l, int64_t limit, int64_t *n, int64_t *stride)
{
    int64_t chan = dn_conv_filter_chan(f, l), taps;
    int64_t off = f->offset + chan * f->chan_stride + tap_run(f, dn_conv_filter_tap(f, l), &taps);
    *n = f->tap_inner ? taps : f->chans - chan;
    *stride = f->tap_inner ? f->stride[f->rank - 1] : f->chan_stride;
    if (*n > limit)
        *n = limit;
    return off;
}

void dn_conv_filter_load(const dn_conv_filter *f, const void *base, int64_t add, int64_t l, int64_t n, double *row)
{
    int64_t run, stride;
    for (int64_t at = 0; at < n; at += run) {
        int64_t off = column_run(f, l + at, n - at, &run, &stride);
        dn_load_row(f->type, base, off + add, stride, run, row + at);
    }
}

void dn_conv_filter_store(const dn_conv_filter *f, void *base, int64_t add, int64_t l, int64_t n, const double *row, double alpha,
                          double beta)
{
    int64_t run, stride;
    for (int64_t at = 0; at < n; at += run) {
        int64_t off = column_run(f, l + at, n - at, &run, &stride);
        dn_store_row(f->type, base, off + add, stride, run, row + at, alpha, beta);
    }
}
