/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#define _DEFAULT_SOURCE
#include "memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PATTERN = 0xa5, NOTHING = 0xff, DEVICE_ZONE = 512 };

static size_t page_size(void)
{
    static size_t page;
    if (!page)
        page = (size_t)sysconf(_SC_PAGESIZE);
    return page;
}

static bool no_memory(size_t size)
{
    dn_fail(DN_ALLOC_FAILED, "no memory for a block of %zu bytes", size);
    return false;
}

/* lo: bytes that the operand reaches before its pointer. The pointer is a multiple of align and not of 2 * align, where that is
 * below 16. */
static bool open_host(bench_block *b, size_t size, size_t lo, size_t align, bench_place place)
{
    size_t page = page_size();
    b->open_size = (size + 64 + page - 1) / page * page;
    b->map_size = b->open_size + 2 * page;
    void *p = mmap(NULL, b->map_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return no_memory(size);
    b->map = p;
    b->open = b->map + page;
    if (mprotect(b->open, b->open_size, PROT_READ | PROT_WRITE) != 0)
        return no_memory(size);
    size_t at;  /* of the pointer, from b->open */
    if (place == BENCH_AT_START)
        at = (lo + align - 1) / align * align;
    else
        at = (b->open_size - size + lo) / align * align;
    if (align < 16 && at / align % 2 == 0)
        at = place == BENCH_AT_START || at < lo + align ? at + align : at - align;
    b->first = b->open + at - lo;
    b->pointer = b->open + at;
    return true;
}

static bool open_device(bench_block *b, const bench_space *space, size_t size, size_t lo, size_t align)
{
    size_t at = (DEVICE_ZONE + lo + 255) / 256 * 256 + (align < 16 ? align : 0);
    b->open_size = at - lo + size + DEVICE_ZONE;
    b->open = malloc(b->open_size);
    if (!b->open)
        return no_memory(size);
    if (space->alloc(&b->device, b->open_size) != 0) {
        b->device = NULL;
        return no_memory(size);
    }
    b->first = b->open + at - lo;
    b->pointer = (unsigned char *)b->device + at;
    return true;
}

static bool open_block(bench_memory *m, bench_block *b, size_t size, size_t lo, size_t align, bench_place place)
{
    b->bytes = size;
    if (!(m->space ? open_device(b, m->space, size, lo, align) : open_host(b, size, lo, align, place)))
        return false;
    memset(b->open, PATTERN, b->open_size);
    return true;
}

static bool upload(const bench_memory *m, const bench_block *b)
{
    if (!m->space || m->space->copy_in(b->device, b->open, b->open_size) == 0)
        return true;
    dn_fail(DN_EXECUTION_FAILED, "%s: copying to the device failed", m->space->name);
    return false;
}

bool bench_memory_extra(bench_memory *m, bench_block *b, size_t size, const void *fill, bench_place place)
{
    if (!open_block(m, b, size, 0, 16, place))
        return false;
    if (fill)
        memcpy(b->first, fill, size);
    else
        memset(b->first, NOTHING, size);
    return upload(m, b);
}

/* Where the tensor's pointer stands, given the lowest byte that it spans. */
static unsigned char *origin(const dn_tensor *t, unsigned char *first)
{
    int64_t lo, hi;
    dn_tensor_span(t, &lo, &hi);
    return first - lo * t->vect * (int64_t)dn_dtype_size((dn_dtype)t->type);
}

/* Rows of the last dimension in logical order; offset is the row's first element in scalars. */
typedef struct row {
    int64_t index[DN_RANK_MAX], offset;
} row;

static void next_row(const dn_tensor *t, row *r)
{
    for (int d = t->rank - 2; d >= 0; d--) {
        r->offset += t->strides[d];
        if (++r->index[d] < t->dims[d])
            return;
        r->offset -= t->dims[d] * t->strides[d];
        r->index[d] = 0;
    }
}

/* All elements from v into memory, or from memory into v. */
static void move_all(const dn_tensor *t, unsigned char *first, double *v, int64_t count, bool store)
{
    unsigned char *base = origin(t, first);
    dn_dtype type = dn_dtype_scalar((dn_dtype)t->type);
    int64_t n = t->dims[t->rank - 1], stride = t->strides[t->rank - 1];
    row r = { 0 };
    for (int64_t i = 0; i < count && t->vect == 1; i += n, next_row(t, &r))
        if (store)
            dn_store_row(type, base, r.offset, stride, n, v + i, 1, 0);
        else
            dn_load_row(type, base, r.offset, stride, n, v + i);
    for (int64_t i = 0; i < count && t->vect > 1; i++)
        if (store)
            dn_store(type, base, bench_offset(t, i), v[i]);
        else
            v[i] = dn_load(type, base, bench_offset(t, i));
}

/* Sets every byte of every element. */
static void paint_all(const dn_tensor *t, unsigned char *first, int64_t count, int byte)
{
    unsigned char *base = origin(t, first);
    int64_t size = (int64_t)dn_dtype_size((dn_dtype)t->type), n = t->dims[t->rank - 1];
    row r = { 0 };
    if (t->vect == 1 && dn_tensor_is_dense(t)) {  /* no gaps that must keep the pattern */
        memset(first, byte, (size_t)(count * size));
        return;
    }
    for (int64_t i = 0; i < count && t->vect == 1; i += n, next_row(t, &r))
        for (int64_t j = 0; j < n; j++)
            memset(base + (r.offset + j * t->strides[t->rank - 1]) * size, byte, (size_t)size);
    for (int64_t i = 0; i < count && t->vect > 1; i++)
        memset(base + bench_offset(t, i) * size, byte, (size_t)size);
}

/* An output that is not read before is NaN in every float type: all bits set, as is what a scratch array holds. */
static void put_values(bench_block *b, const bench_slot *s)
{
    memset(b->open, PATTERN, b->open_size);
    if (s->flow == BENCH_OUT && s->v[0] != s->v[0] && s->v[s->count - 1] != s->v[s->count - 1]) {
        paint_all(&s->t, b->first, s->count, NOTHING);
    } else if (s->flow) {
        move_all(&s->t, b->first, s->v, s->count, true);
    } else {
        memset(b->first, NOTHING, b->bytes);
    }
}

static bool keep_input(bench_block *b, const bench_slot *s)
{
    if (s->flow != BENCH_IN)
        return true;
    b->before = malloc(b->bytes);
    if (!b->before)
        return no_memory(b->bytes);
    memcpy(b->before, b->first, b->bytes);
    return true;
}

/* The reserve's bytes where a run's memory has them. */
static unsigned char *laid_out(const bench_data *d, const unsigned char *logical)
{
    unsigned char *bytes = malloc(d->reserve_size ? d->reserve_size : 1);
    for (size_t i = 0; bytes && i < d->reserve_size; i++)
        bytes[d->mask.rank ? (size_t)bench_offset(&d->mask, (int64_t)i) : i] = logical[i];
    return bytes;
}

static bool make_reserve(bench_memory *m, const bench_data *d, bench_place place)
{
    unsigned char *bytes = laid_out(d, d->reserve);
    bool good = bytes && bench_memory_extra(m, &m->reserve, d->reserve_size, d->reserve_in ? bytes : NULL, place);
    free(bytes);
    return good;
}

bool bench_memory_reserve_is(const bench_memory *m, const bench_data *d, const unsigned char *logical)
{
    unsigned char *bytes = laid_out(d, logical);
    const unsigned char *got = m->reserve.first;
    size_t whole = d->bits ? (size_t)(d->bits / 8) : d->reserve_size;
    bool same = bytes && memcmp(bytes, got, whole) == 0;
    if (same && d->bits % 8)
        same = ((bytes[whole] ^ got[whole]) & ((1 << d->bits % 8) - 1)) == 0;
    free(bytes);
    return same;
}

bool bench_memory_make(bench_memory *m, const bench_case *c, const bench_data *d, const bench_space *space, bench_place place)
{
    memset(m, 0, sizeof *m);
    m->space = space;
    bool good = true;
    for (int k = 0; good && k < BENCH_SLOTS; k++) {
        const bench_slot *s = &d->s[k];
        if (!s->v || s->share >= 0)
            continue;
        int64_t lo, hi, unit = (int64_t)dn_dtype_size((dn_dtype)s->t.type) * s->t.vect;
        if (!dn_tensor_span(&s->t, &lo, &hi))
            return false;
        size_t align = k < DN_ROLE_COUNT && c->p.align[k] ? c->p.align[k] : 16;
        good = open_block(m, &m->b[k], (size_t)((hi - lo + 1) * unit), (size_t)(-lo * unit), align, place);
        if (!good)
            break;
        put_values(&m->b[k], s);
        good = upload(m, &m->b[k]) && keep_input(&m->b[k], s);
    }
    for (int k = 0; k < BENCH_SLOTS; k++)
        if (d->s[k].share >= 0 && d->s[k].v) {
            m->b[k].pointer = m->b[d->s[k].share].pointer;
            free(m->b[d->s[k].share].before);  /* it is written */
            m->b[d->s[k].share].before = NULL;
        }
    if (good && d->states)
        good = bench_memory_extra(m, &m->states, d->states_size, d->states, place);
    if (good && d->reserve)
        good = make_reserve(m, d, place);
    if (!good)
        bench_memory_free(m);
    return good;
}

static bool again(bench_memory *m, bench_block *b, const bench_block *from)
{
    *b = *from;
    b->map = b->open = b->before = NULL;
    b->device = NULL;
    if (!from->device)
        return true;
    if (m->space->alloc(&b->device, from->open_size) != 0) {
        b->device = NULL;
        return no_memory(from->open_size);
    }
    b->pointer = (unsigned char *)b->device + ((unsigned char *)from->pointer - (unsigned char *)from->device);
    return m->space->copy_in(b->device, from->open, from->open_size) == 0;
}

bool bench_memory_again(bench_memory *m, const bench_memory *first)
{
    memset(m, 0, sizeof *m);
    m->space = first->space;
    bool good = true;
    for (int k = 0; good && k < BENCH_SLOTS; k++)
        good = again(m, &m->b[k], &first->b[k]);
    good = good && again(m, &m->states, &first->states) && again(m, &m->reserve, &first->reserve) &&
           again(m, &m->workspace, &first->workspace);
    for (int k = 0; good && k < BENCH_SLOTS; k++)  /* an operand that lies in another's block */
        for (int j = 0; j < BENCH_SLOTS && !first->b[k].device && first->b[k].pointer; j++)
            if (first->b[j].device && first->b[j].pointer == first->b[k].pointer)
                m->b[k].pointer = m->b[j].pointer;
    if (!good)
        bench_memory_free(m);
    return good;
}

bool bench_memory_reset(bench_memory *m, const bench_data *d)
{
    bool good = true;
    for (int k = 0; k < BENCH_SLOTS; k++)
        if (m->b[k].open && d->s[k].flow != BENCH_IN) {
            put_values(&m->b[k], &d->s[k]);
            good = upload(m, &m->b[k]) && good;
        } else if (m->b[k].open && !m->b[k].before) {
            put_values(&m->b[k], &d->s[k]);
            good = upload(m, &m->b[k]) && good;
        }
    if (m->states.open && d->states) {
        memcpy(m->states.first, d->states, d->states_size);
        good = upload(m, &m->states) && good;
    }
    return good;
}

static bool fetch_block(const bench_memory *m, bench_block *b)
{
    return !b->device || m->space->copy_out(b->open, b->device, b->open_size) == 0;
}

bool bench_memory_fetch(bench_memory *m, const bench_data *d)
{
    (void)d;
    if (!m->space)
        return true;
    bool good = m->space->synchronize() == 0;
    for (int k = 0; k < BENCH_SLOTS; k++)
        good = good && fetch_block(m, &m->b[k]);
    good = good && fetch_block(m, &m->states) && fetch_block(m, &m->reserve) && fetch_block(m, &m->workspace);
    if (!good)
        dn_fail(DN_EXECUTION_FAILED, "the device reported a failure");
    return good;
}

static bool pattern_kept(const unsigned char *from, const unsigned char *to)
{
    for (; from < to; from++)
        if (*from != PATTERN)
            return false;
    return true;
}

static const char *around(const bench_block *b, const char *name)
{
    static char text[96];
    if (!b->open)
        return NULL;
    if (!pattern_kept(b->open, b->first))
        snprintf(text, sizeof text, "wrote before %s", name);
    else if (!pattern_kept(b->first + b->bytes, b->open + b->open_size))
        snprintf(text, sizeof text, "wrote past %s", name);
    else
        return NULL;
    return text;
}

/* Bytes between the elements of a tensor with gaps. */
static const char *between(const bench_block *b, const bench_slot *s, const char *name)
{
    static char text[96];
    if (!s->flow || (s->t.vect == 1 && dn_tensor_is_dense(&s->t)) || bench_overlaps(&s->t))
        return NULL;
    unsigned char *owned = calloc(b->bytes, 1);
    if (!owned)
        return NULL;
    paint_all(&s->t, owned, s->count, 1);
    const char *found = NULL;
    /* The unused lanes of a last vector are the library's to fill: only whole vectors are nobody's. */
    for (size_t i = 0; i < b->bytes && !found && s->t.vect == 1; i++)
        if (!owned[i] && b->first[i] != PATTERN) {
            snprintf(text, sizeof text, "wrote between the elements of %s", name);
            found = text;
        }
    free(owned);
    return found;
}

const char *bench_memory_damage(const bench_memory *m, const bench_data *d)
{
    static char text[96];
    const char *found = NULL;
    for (int k = 0; k < BENCH_SLOTS && !found; k++) {
        const bench_block *b = &m->b[k];
        if (!b->open)
            continue;
        found = around(b, bench_slot_name(k));
        if (!found && b->before && memcmp(b->before, b->first, b->bytes) != 0) {
            snprintf(text, sizeof text, "wrote to the input %s", bench_slot_name(k));
            found = text;
        }
        if (!found)
            found = between(b, &d->s[k], bench_slot_name(k));
    }
    if (!found)
        found = around(&m->states, "the states");
    if (!found)
        found = around(&m->reserve, "the reserve space");
    return found ? found : around(&m->workspace, "the workspace");
}

static const bench_block *home(const bench_memory *m, const bench_data *d, int slot)
{
    return &m->b[d->s[slot].share >= 0 ? d->s[slot].share : slot];
}

void bench_memory_load(const bench_memory *m, const bench_data *d, int slot, double *out)
{
    move_all(&d->s[slot].t, home(m, d, slot)->first, out, d->s[slot].count, false);
}

uint64_t bench_memory_hash(const bench_memory *m, const bench_data *d)
{
    uint64_t h = 1469598103934665603u;
    for (int k = 0; k < BENCH_SLOTS; k++) {
        if (!d->s[k].v || !(d->s[k].flow & BENCH_OUT))
            continue;
        const bench_block *b = home(m, d, k);
        for (size_t i = 0; i < b->bytes; i++)
            h = (h ^ b->first[i]) * 1099511628211u;
    }
    return h;
}

static void close_block(const bench_memory *m, bench_block *b)
{
    if (b->map)
        munmap(b->map, b->map_size);
    else
        free(b->open);
    if (b->device)
        m->space->release(b->device);
    free(b->before);
    memset(b, 0, sizeof *b);
}

void bench_memory_free(bench_memory *m)
{
    for (int k = 0; k < BENCH_SLOTS; k++)
        close_block(m, &m->b[k]);
    close_block(m, &m->states);
    close_block(m, &m->reserve);
    close_block(m, &m->workspace);
}
