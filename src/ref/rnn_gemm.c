/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Matrix products of recurrent networks, in double. */
#include "ref/rnn.h"

#include <string.h>

enum {
    PIECE = 512,                 /* values that are widened at once */
    BLOCK = 256,                 /* steps of a product whose panels stay in the cache */
    ROWS = 128,                  /* of c in one piece of work; a multiple of every kernel's mr */
    WORK = 1 << 18               /* multiplications that are worth another thread */
};

enum { LINE = 64 };

dn_rnn_room dn_ref_rnn_room_of(void *workspace)
{
    return (dn_rnn_room){ .base = (char *)workspace + (LINE - (uintptr_t)workspace % LINE) % LINE };
}

size_t dn_ref_rnn_room_bytes(const dn_rnn_room *r)
{
    return r->used > SIZE_MAX - LINE ? SIZE_MAX : r->used + LINE;
}

void *dn_ref_rnn_take(dn_rnn_room *r, int64_t count, int64_t each, size_t size)
{
    size_t bytes;
    void *at = r->base ? r->base + r->used : NULL;
    if (__builtin_mul_overflow((size_t)count, (size_t)each, &bytes) || __builtin_mul_overflow(bytes, size, &bytes)
        || bytes > SIZE_MAX - LINE || __builtin_add_overflow((bytes + LINE - 1) / LINE * LINE, r->used, &r->used))
        r->used = SIZE_MAX;
    return at;
}

static int64_t begin_of(const dn_rnn_lines *l, int64_t line)
{
    return l->at ? l->at[line] : l->first + line * l->pitch;
}

typedef struct pack {
    const dn_rnn_lines *l;
    int w;
    double *panel;
} pack;

static void pack_line_panels(void *ctx, int64_t begin, int64_t end)
{
    const pack *k = ctx;
    const dn_rnn_lines *l = k->l;
    double v[PIECE];
    for (int64_t line = begin * k->w; line < end * k->w; line++) {
        double *to = k->panel + line / k->w * k->w * l->len + line % k->w;
        for (int64_t at = 0; at < l->len; at += PIECE) {
            int64_t n = l->len - at < PIECE ? l->len - at : PIECE;
            if (line < l->count)
                dn_load_row(l->type, l->base, begin_of(l, line) + at, 1, n, v);
            else
                memset(v, 0, sizeof v);
            for (int64_t i = 0; i < n; i++, to += k->w)
                *to = v[i];
        }
    }
}

void dn_ref_rnn_pack_lines(const dn_rnn_lines *l, int w, double *panel)
{
    pack k = { l, w, panel };
    dn_parallel(dn_ceil_div(l->count, w), 1 + 4096 / (l->len + 1), pack_line_panels, &k);
}

static void pack_value_panels(void *ctx, int64_t begin, int64_t end)
{
    const pack *k = ctx;
    const dn_rnn_lines *l = k->l;
    int w = k->w;
    double v[PIECE];
    for (int64_t line = begin; line < end; line++)
        for (int64_t at = 0; at < l->len; at += PIECE - PIECE % w) {
            int64_t most = PIECE - PIECE % w, n = l->len - at < most ? l->len - at : most;
            dn_load_row(l->type, l->base, begin_of(l, line) + at, 1, n, v);
            for (int64_t i = n; i < dn_round_up(n, w); i++)
                v[i] = 0;
            for (int64_t i = 0; i < n; i += w)
                memcpy(k->panel + (at + i) * l->count + line * w, v + i, (size_t)w * sizeof *v);
        }
}

void dn_ref_rnn_pack_values(const dn_rnn_lines *l, int w, double *panel)
{
    pack k = { l, w, panel };
    dn_parallel(l->count, 1 + 16384 / (l->len + 1), pack_value_panels, &k);
}

typedef struct product {
    const dn_conv_kernel *k;
    int64_t m, steps, columns;  /* columns: panels of b */
    const double *a, *b;
    double *c;
    int64_t ldc;
} product;

static void multiply_tiles(void *ctx, int64_t begin, int64_t end)
{
    const product *p = ctx;
    int mr = p->k->mr, nr = p->k->nr;
    for (int64_t i = begin; i < end; i++) {
        int64_t column = i % p->columns, row = i / p->columns * ROWS;
        int64_t last = row + ROWS < p->m ? row + ROWS : p->m;
        for (int64_t l = 0; l < p->steps; l += BLOCK) {
            int64_t n = p->steps - l < BLOCK ? p->steps - l : BLOCK;
            const double *b = p->b + column * nr * p->steps + l * nr;
            for (int64_t r = row; r < last; r += mr)
                p->k->tile(n, p->a + r * p->steps + l * mr, b, p->c + r * p->ldc + column * nr, p->ldc);
        }
    }
}

void dn_ref_rnn_multiply(const dn_conv_kernel *k, int64_t m, int64_t n, int64_t steps, const double *a, const double *b, double *c, int64_t ldc)
{
    product p = { .k = k, .m = m, .steps = steps, .columns = dn_ceil_div(n, k->nr), .a = a, .b = b, .c = c, .ldc = ldc };
    int64_t cost = (m < ROWS ? m : ROWS) * k->nr * steps;
    dn_parallel(p.columns * dn_ceil_div(m, ROWS), 1 + WORK / (cost + 1), multiply_tiles, &p);
}
