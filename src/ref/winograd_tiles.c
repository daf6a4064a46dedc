/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * What forward, backward data and backward filter of Winograd share: images cut in tiles, and the products of transformed panels. */
#include "ref/winograd.h"

#include <stdlib.h>
#include <string.h>

static int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }

const dn_winograd_kernel *dn_winograd_kernel_get(const dn_conv_kernel *k)
{
#if defined(DN_HAVE_AVX512)
    if (k == &dn_conv_kernel_avx512)
        return &dn_winograd_kernel_avx512;
#endif
#if defined(DN_HAVE_AVX2)
    if (k == &dn_conv_kernel_avx2)
        return &dn_winograd_kernel_avx2;
#endif
    (void)k;
    return &dn_winograd_kernel_base;
}

const char *dn_winograd_check(const dn_problem *p, int size)
{
    const dn_conv_param *u = &p->u.conv;
    const dn_tensor *w = &p->t[DN_W];
    const char *why = dn_ref_conv_check(p);
    if (why)
        return why;
    for (int r = DN_X; r <= DN_W; r++)
        if (!dn_dtype_is_float((dn_dtype)p->t[r].type))
            return "needs types f32, f64, f16 or bf16";
    if (u->spatial != 2)
        return "needs two spatial dimensions";
    if (u->stride[0] != 1 || u->stride[1] != 1)
        return "needs stride 1";
    if (u->dilation[0] != 1 || u->dilation[1] != 1)
        return "needs dilation 1";
    if (w->dims[2] == 3 && w->dims[3] == 3)
        return NULL;
    if (size == 4)
        return "needs 3x3 filters";
    return w->dims[2] == 5 && w->dims[3] == 5 ? NULL : "needs 3x3 or 5x5 filters";
}

void dn_winograd_release(dn_plan *plan)
{
    free(plan->state);
    plan->state = NULL;
}

/* --- tiles --- */

void dn_winograd_grid_set(dn_winograd_grid *g, const dn_tensor *t, int step)
{
    g->step = step;
    g->rows = dn_ceil_div(t->dims[2], step);
    g->cols = dn_ceil_div(t->dims[3], step);
    g->count = t->dims[0] * g->rows * g->cols;
}

void dn_winograd_image_set(dn_winograd_image *m, const dn_tensor *t, const int64_t *base)
{
    *m = (dn_winograd_image){.type = (dn_dtype)t->type, .image_stride = t->strides[0], .chan_stride = t->strides[1]};
    for (int j = 0; j < 2; j++) {
        m->dims[j] = t->dims[j + 2];
        m->stride[j] = t->strides[j + 2];
        m->base[j] = base[j];
    }
}

void dn_winograd_taps_set(dn_winograd_taps *f, const dn_problem *p, int row_dim, bool turned)
{
    const dn_tensor *w = &p->t[DN_W];
    *f = (dn_winograd_taps){.type = (dn_dtype)w->type, .count = w->dims[2], .row = w->strides[row_dim], .chan = w->strides[1 - row_dim]};
    f->group = w->dims[0] / p->u.conv.groups * w->strides[0];
    for (int j = 0; j < 2; j++) {
        f->stride[j] = turned ? -w->strides[j + 2] : w->strides[j + 2];
        f->offset += turned ? (f->count - 1) * w->strides[j + 2] : 0;
    }
}

int dn_winograd_runs(const dn_winograd_grid *g, int64_t first, int64_t count, dn_winograd_run *runs)
{
    int n = 0;
    int64_t col = first % g->cols, row = first / g->cols % g->rows, image = first / g->cols / g->rows;
    for (int64_t at = 0; at < count; n++) {
        int64_t len = min64(g->cols - col, count - at);
        runs[n] = (dn_winograd_run){.at = at, .n = len, .image = image, .row = row, .col = col};
        at += len;
        col = 0;
        if (++row == g->rows) {
            row = 0;
            image++;
        }
    }
    return n;
}

/* len pixels of a row of the image from column col on; zeros outside. */
static void load_pixels(const dn_conv_kernel *k, const dn_winograd_image *m, const void *base, int64_t add, int64_t col, int64_t len,
                        double *row)
{
    int64_t from = col < 0 ? min64(-col, len) : 0, to = col + len > m->dims[1] ? m->dims[1] - col : len;
    if (to <= from) {
        memset(row, 0, (size_t)len * sizeof *row);
        return;
    }
    dn_conv_piece piece = {.off = (col + from) * m->stride[1], .at = (int32_t)from, .n = (int32_t)(to - from)};
    memset(row, 0, (size_t)from * sizeof *row);
    memset(row + to, 0, (size_t)(len - to) * sizeof *row);
    if (m->type == DN_F32)
        k->load_f32(base, &piece, 1, add, m->stride[1], row);
    else if (m->type == DN_F64)
        k->load_f64(base, &piece, 1, add, m->stride[1], row);
    else
        dn_load_row(m->type, base, add + piece.off, m->stride[1], piece.n, row + from);
}

void dn_winograd_gather(const dn_conv_kernel *k, const dn_winograd_kernel *w, const dn_winograd_grid *g, const dn_winograd_image *m,
                        const void *base, int64_t add, const dn_winograd_run *runs, int count, int size, double *row, double *out,
                        int64_t ld, int64_t apart)
{
    for (int r = 0; r < count; r++) {
        const dn_winograd_run *run = &runs[r];
        int64_t top = run->row * g->step + m->base[0], left = run->col * g->step + m->base[1], len = (run->n - 1) * g->step + size;
        for (int i = 0; i < size; i++) {
            if (top + i >= 0 && top + i < m->dims[0])
                load_pixels(k, m, base, add + run->image * m->image_stride + (top + i) * m->stride[0], left, len, row);
            else
                memset(row, 0, (size_t)len * sizeof *row);
            w->split(run->n, row, g->step, size, out + i * size * ld + run->at * apart, ld, apart);
        }
    }
}

void dn_winograd_multiply(const dn_conv_kernel *k, const dn_winograd_kernel *w, int size, const dn_winograd_panels *a, int64_t a_panel,
                          int64_t rows, const dn_winograd_panels *b, int64_t b_panel, int64_t cols, int64_t len, double *product,
                          int64_t element)
{
    for (int e = 0; e < size * size; e++)
        for (int64_t l = 0; l < len; l += DN_CONV_KC) {
            const double *bp = b->at + e * b->element + b_panel * b->panel + l * k->nr;
            for (int64_t i = 0; i < rows; i += k->mr)
                w->multiply(min64(DN_CONV_KC, len - l), a->at + e * a->element + (a_panel + i / k->mr) * a->panel + l * k->mr, bp,
                            product + e * element + i * k->nr, cols, l > 0);
        }
}
