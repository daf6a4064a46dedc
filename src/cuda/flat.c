/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Cuts elementwise calls into units. */
#include "cuda/flat.h"

#include "ref/ref.h"

#include <string.h>

_Static_assert(DN_FLAT_TENSORS <= DN_ITER_MAX, "an iterator walks them all");

/* With shift = 31 + log2(by) rounded up, mul = 2^shift / by rounded up is below 2^32, and the error of n * mul below 2^shift. */
dn_div dn_div_by(unsigned by)
{
    unsigned bits = 0;
    while (1u << bits < by)
        bits++;
    uint64_t top = (uint64_t)1 << (31 + bits);
    return (dn_div){ by, (unsigned)((top + by - 1) / by), 31 + bits };
}

static const char *walk(dn_iter *it, const dn_problem *p, const dn_role *roles, int count)
{
    const dn_tensor *t[DN_FLAT_TENSORS] = { NULL };
    for (int i = 0; i < count; i++) {
        t[i] = &p->t[roles[i]];
        if (p->align[roles[i]] < 16)
            return "needs pointers aligned to 16 bytes";
        if (t[i]->vect > 1)
            return "needs plain types";
    }
    dn_iter_init_any_order(it, count, t);
    return NULL;
}

static const char *rows_of(dn_flat *f, const dn_iter *it, int n)
{
    if (it->rank > 3)
        return "needs tensors that fold to three axes";
    if (it->n % n)
        return "needs contiguous tensors, or rows of whole 16-byte vectors";
    for (int i = 0; i < it->count; i++)
        for (int d = 0; d + 1 < it->rank; d++)
            if (it->step[i][d] % n)
                return "needs rows that begin at multiples of 16 bytes";
    if (it->n / n * it->rows > INT32_MAX)
        return "needs fewer than 2^31 vectors";
    f->units = (unsigned)(it->n / n * it->rows);
    f->row = dn_div_by((unsigned)(it->n / n));
    f->slab = dn_div_by((unsigned)it->dims[it->rank - 2]);
    for (int i = 0; i < it->count; i++) {
        f->step[i][0] = it->step[i][it->rank - 2];
        f->step[i][1] = it->rank == 3 ? it->step[i][0] : 0;
    }
    return NULL;
}

const char *dn_flat_of(dn_flat *f, const dn_problem *p, const dn_role *roles, int count, int n)
{
    dn_flat unused;
    dn_iter it;
    const char *why = walk(&it, p, roles, count);
    if (why)
        return why;
    if (!f)
        f = &unused;
    memset(f, 0, sizeof *f);
    f->rank = it.rank;
    for (int i = 0; i < count; i++)
        if (it.stride[i] != 1 && it.n > 1)
            return "needs a contiguous last axis";
    if (it.rank > 1)
        return rows_of(f, &it, n);
    if (it.n / n > INT32_MAX)
        return "needs fewer than 2^31 vectors";
    f->units = (unsigned)(it.n / n);
    f->tail = (unsigned)(it.n % n);
    return NULL;
}

/* Whether tensor i of the walk lies dense in the walk's order. */
static bool is_dense(const dn_iter *it, int i)
{
    int64_t step = 1;
    for (int d = it->rank - 1; d >= 0; d--) {
        if (it->step[i][d] != step && it->dims[d] > 1)
            return false;
        step *= it->dims[d];
    }
    return true;
}

const char *dn_repeat_of(dn_flat *f, dn_repeat *r, const dn_problem *p, const dn_role *roles, int count, int n)
{
    dn_iter it;
    const char *why = walk(&it, p, roles, count);
    if (why)
        return why;
    int64_t inner = 1, chans = 1;
    bool found = false;
    for (int i = 0; i + 1 < count; i++)
        if (!is_dense(&it, i))
            return "needs dense tensors of one layout";
    for (int d = it.rank - 1; d >= 0; d--) {
        int64_t step = it.step[count - 1][d];
        if (step != 0 && (found || step != 1))
            return "needs values that are repeated along one contiguous dimension";
        if (step != 0) {
            found = true;
            chans = it.dims[d];
        } else if (!found) {
            inner *= it.dims[d];
        }
    }
    int64_t total = it.n * it.rows;
    if (total > INT32_MAX)
        return "needs fewer than 2^31 elements";
    if (f) {
        *f = (dn_flat){ .units = (unsigned)(total / n), .tail = (unsigned)(total % n), .rank = 1 };
        r->inner = dn_div_by((unsigned)inner);
        r->chans = dn_div_by((unsigned)chans);
        r->kind = inner % n == 0 ? DN_REPEAT_ONE : inner == 1 && chans % n == 0 ? DN_REPEAT_LINE : inner >= n ? DN_REPEAT_TWO : DN_REPEAT_ANY;
    }
    return NULL;
}

void dn_flat_grid(dn_cuda_grid *g, const dn_flat *f, int n)
{
    unsigned of_block = (unsigned)(DN_FLAT_THREADS * (DN_FLAT_ELEMENTS / n)), blocks = f->units / of_block + (f->units % of_block != 0);
    g->grid[0] = blocks ? blocks : 1;
    g->grid[1] = g->grid[2] = 1;
    g->block[0] = DN_FLAT_THREADS;
    g->block[1] = g->block[2] = 1;
    g->shared = 0;
}
