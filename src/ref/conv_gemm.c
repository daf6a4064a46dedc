/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Tiles of a convolution's matrix product: how large, where their working memory lies, and how one is computed: for each block of
 * DN_CONV_KC reduction steps, the filter's rows and the gathered columns are packed into panels, and the kernel multiplies them.
 * Tile sizes change with the processor and the count of threads; the order in which one output is summed does not. */
#include "ref/conv.h"

#include "ops/act_fn.h"

#include <string.h>

const dn_conv_kernel *dn_conv_kernel_get(void)
{
#if defined(DN_HAVE_AVX512)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw")
        && __builtin_cpu_supports("avx512vl"))
        return &dn_conv_kernel_avx512;
#endif
#if defined(DN_HAVE_AVX2)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return &dn_conv_kernel_avx2;
#endif
    return &dn_conv_kernel_base;
}

/* --- sizes --- */

void dn_conv_tiles_choose(dn_conv_tiles *t, const dn_conv_kernel *k, int64_t m, int64_t n, int64_t copies)
{
    int64_t want = dn_thread_count() > 1 ? 2 * (int64_t)dn_thread_count() : 1;
    t->m_tiles = dn_ceil_div(m, DN_CONV_MC);
    t->n_tiles = dn_ceil_div(n, DN_CONV_NC);
    for (;;) {
        t->mt = dn_round_up(dn_ceil_div(m, t->m_tiles), k->mr);
        t->nt = dn_round_up(dn_ceil_div(n, t->n_tiles), k->nr);
        t->m_tiles = dn_ceil_div(m, t->mt);
        t->n_tiles = dn_ceil_div(n, t->nt);
        if (copies * t->m_tiles * t->n_tiles >= want)
            break;
        if (t->nt > 4 * k->nr)  /* repeats the packing of the filter, which is cheaper than the columns' */
            t->n_tiles *= 2;
        else if (t->mt > 4 * k->mr)
            t->m_tiles *= 2;
        else
            break;
    }
}

static size_t slot_size(const dn_conv_tiles *t)
{
    int64_t doubles = (t->mt + t->nt) * DN_CONV_KC + t->mt * t->nt + DN_CONV_NC + t->extra + 5 * (DN_CONV_ALIGN / 8);
    return (size_t)dn_round_up((int64_t)sizeof(dn_conv_slot) + doubles * 8, DN_CONV_ALIGN);
}

size_t dn_conv_slots_size(const dn_conv_tiles *t)
{
    return slot_size(t) * (size_t)dn_thread_count();
}

static double *cut(char **at, int64_t doubles)
{
    double *p = (double *)*at;
    *at += dn_round_up(doubles * 8, DN_CONV_ALIGN);
    return p;
}

void dn_conv_slots_init(const dn_conv_tiles *t, void *memory)
{
    for (int i = 0; i < dn_thread_count(); i++) {
        dn_conv_slot *s = (dn_conv_slot *)((char *)memory + (size_t)i * slot_size(t));
        char *at = (char *)s + dn_round_up((int64_t)sizeof *s, DN_CONV_ALIGN);
        atomic_flag_clear(&s->taken);
        s->a = cut(&at, t->mt * DN_CONV_KC);
        s->b = cut(&at, t->nt * DN_CONV_KC);
        s->c = cut(&at, t->mt * t->nt);
        s->row = cut(&at, DN_CONV_NC);
        s->extra = cut(&at, t->extra);
    }
}

dn_conv_slot *dn_conv_slot_take(const dn_conv_tiles *t, void *memory)
{
    /* There are as many slots as threads, so a free one turns up at once. */
    for (int i = 0;; i = (i + 1) % dn_thread_count()) {
        dn_conv_slot *s = (dn_conv_slot *)((char *)memory + (size_t)i * slot_size(t));
        if (!atomic_flag_test_and_set_explicit(&s->taken, memory_order_acquire))
            return s;
    }
}

/* --- one tile --- */

void dn_conv_pack_filter(const dn_conv_kernel *k, dn_conv_slot *s, const dn_conv_filter *f, const void *w, int64_t add, int64_t m,
                         int64_t mn, int64_t l, int64_t len)
{
    for (int64_t i = 0; i < dn_round_up(mn, k->mr); i++) {
        double *panel = s->a + i / k->mr * k->mr * DN_CONV_KC + i % k->mr;
        if (i < mn)
            dn_conv_filter_load(f, w, add + (m + i) * f->row_stride, l, len, s->row);
        else
            memset(s->row, 0, (size_t)len * sizeof(double));
        for (int64_t j = 0; j < len; j++)
            panel[j * k->mr] = s->row[j];
    }
}

void dn_conv_pack_columns(const dn_conv_kernel *k, dn_conv_slot *s, const dn_conv_filter *f, const void *in, int64_t add, int64_t l,
                          int64_t len, double *panel, int64_t panel_size)
{
    int64_t cols = s->in.cols, full = dn_round_up(cols, k->nr);
    int64_t chan = dn_conv_filter_chan(f, l), tap = dn_conv_filter_tap(f, l), chan_stride = s->in.view->chan_stride;
    memset(s->row + cols, 0, (size_t)(full - cols) * sizeof(double));
    for (int64_t i = 0; i < len; i++, panel += k->nr) {
        dn_conv_cursor_tap(&s->in, tap);
        dn_conv_cursor_load(&s->in, k, in, add + chan * chan_stride, s->row);
        k->spread(full, s->row, panel, panel_size);
        if (f->tap_inner && ++tap == f->taps) {
            tap = 0;
            chan++;
        } else if (!f->tap_inner && ++chan == f->chans) {
            chan = 0;
            tap++;
        }
    }
}

void dn_conv_tile_multiply(const dn_conv_kernel *k, dn_conv_slot *s, int64_t mn, int64_t nn, int64_t len, const double *b,
                           int64_t b_panel, int64_t ldc)
{
    for (int64_t j = 0; j < nn; j += k->nr, b += b_panel)
        for (int64_t i = 0; i < mn; i += k->mr)
            k->tile(len, s->a + i * DN_CONV_KC, b, s->c + i * ldc + j, ldc);
}

/* row = act(alpha * row + alpha2 * z + bias); z's columns are those of the slot's cursor. */
static void fuse_row(const dn_conv_kernel *k, dn_conv_slot *s, const dn_conv_finish *f, int64_t chan, int64_t n, double *row)
{
    double bias = dn_load((dn_dtype)f->bias_t->type, f->bias, chan * f->bias_t->strides[1]);
    for (int64_t j = 0; j < n; j++)
        row[j] = f->alpha * row[j] + bias;
    if (f->z) {
        dn_conv_cursor_load(&s->z, k, f->z, chan * f->z_view->chan_stride, s->row);
        for (int64_t j = 0; j < n; j++)
            row[j] += f->alpha2 * s->row[j];
    }
    for (int64_t j = 0; j < n; j++)
        row[j] = dn_act_apply(f->act, row[j]);
}

void dn_conv_finish_tile(const dn_conv_kernel *k, dn_conv_slot *s, const dn_conv_gemm *g, const dn_conv_finish *f, int64_t group,
                         int64_t m, int64_t mn, int64_t col, int64_t cols, int64_t ldc)
{
    dn_conv_cursor_seek(&s->out, &g->out, col, cols);
    dn_conv_cursor_tap(&s->out, 0);
    if (f->z) {
        dn_conv_cursor_seek(&s->z, f->z_view, col, cols);
        dn_conv_cursor_tap(&s->z, 0);
    }
    for (int64_t i = 0; i < mn; i++) {
        int64_t chan = group * g->m + m + i;
        double *row = s->c + i * ldc;
        if (f->act)
            fuse_row(k, s, f, chan, cols, row);
        dn_conv_cursor_store(&s->out, f->out, chan * g->out.chan_stride, row, f->act ? 1 : f->alpha, f->act ? 0 : f->beta);
    }
}

void dn_conv_gemm_tile(const dn_conv_kernel *k, dn_conv_slot *s, const dn_conv_gemm *g, const dn_conv_tiles *t, const void *in,
                       const void *w, const dn_conv_finish *f, int64_t group, int64_t m_tile, int64_t n_tile)
{
    int64_t m = m_tile * t->mt, col = n_tile * t->nt;
    if (m >= g->m || col >= g->out.cols)
        return;
    int64_t mn = g->m - m < t->mt ? g->m - m : t->mt, nn = g->out.cols - col < t->nt ? g->out.cols - col : t->nt;
    int64_t w_add = group * g->w.group_stride, in_add = group * g->in.group_stride;
    memset(s->c, 0, (size_t)(t->mt * t->nt) * sizeof(double));
    dn_conv_cursor_seek(&s->in, &g->in, col, nn);
    for (int64_t l = 0; l < g->l; l += DN_CONV_KC) {
        int64_t len = g->l - l < DN_CONV_KC ? g->l - l : DN_CONV_KC;
        dn_conv_pack_columns(k, s, &g->w, in, in_add, l, len, s->b, k->nr * DN_CONV_KC);
        dn_conv_pack_filter(k, s, &g->w, w, w_add, m, mn, l, len);
        dn_conv_tile_multiply(k, s, mn, nn, len, s->b, k->nr * DN_CONV_KC, t->nt);
    }
    dn_conv_finish_tile(k, s, g, f, group, m, mn, col, nn, t->nt);
}
