/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Slab i holds DN_POOL_FIRST << i objects, so a few slabs serve any count and a look-up walks a handful of ranges.
 * A free slot keeps cookie 0 and, after it, the link to the next free slot. */
#include "core/pool.h"

#include <stdlib.h>
#include <string.h>

typedef struct slot {
    uint32_t cookie;
    struct slot *next;
} slot;

static size_t slot_size(const dn_pool *pool)
{
    size_t size = pool->size < sizeof(slot) ? sizeof(slot) : pool->size;
    return (size + 15) / 16 * 16;
}

static size_t slab_slots(int i)
{
    return (size_t)DN_POOL_FIRST << i;
}

/* A slot never used before, from the last slab or a new one. */
static slot *fresh_slot(dn_pool *pool)
{
    int n = atomic_load_explicit(&pool->slabs, memory_order_relaxed);
    if (n == 0 || pool->fresh == slab_slots(n - 1)) {
        if (n == DN_POOL_SLABS)
            return NULL;
        unsigned char *slab = calloc(slab_slots(n), slot_size(pool));
        if (!slab)
            return NULL;
        atomic_store_explicit(&pool->slab[n], slab, memory_order_relaxed);
        atomic_store_explicit(&pool->slabs, n + 1, memory_order_release);
        pool->fresh = 0;
        n++;
    }
    unsigned char *slab = atomic_load_explicit(&pool->slab[n - 1], memory_order_relaxed);
    return (slot *)(slab + slot_size(pool) * pool->fresh++);
}

/* The slot that was freed first. At least DN_POOL_FIRST stay in the queue, so that a use after destroy meets a dead cookie for
 * as many creations; all of them go out only when memory is short. */
static slot *old_slot(dn_pool *pool, size_t keep)
{
    slot *s = pool->free_head;
    if (!s || pool->free_count <= keep)
        return NULL;
    pool->free_head = s->next;
    pool->free_count--;
    if (!s->next)
        pool->free_tail = NULL;
    return s;
}

void *dn_pool_new(dn_pool *pool)
{
    dn_lock_take(&pool->lock);
    slot *s = old_slot(pool, DN_POOL_FIRST);
    if (!s)
        s = fresh_slot(pool);
    if (!s)
        s = old_slot(pool, 0);
    dn_lock_give(&pool->lock);
    if (s) {
        memset(s, 0, pool->size);
        s->cookie = pool->cookie;
    }
    return s;
}

void dn_pool_free(dn_pool *pool, void *object)
{
    slot *s = object;
    dn_lock_take(&pool->lock);
    memset(s, 0, pool->size);
    s->next = NULL;
    if (pool->free_tail)
        ((slot *)pool->free_tail)->next = s;
    else
        pool->free_head = s;
    pool->free_tail = s;
    pool->free_count++;
    dn_lock_give(&pool->lock);
}

bool dn_pool_live(dn_pool *pool, const void *object)
{
    uintptr_t p = (uintptr_t)object;
    size_t size = slot_size(pool);
    int n = atomic_load_explicit(&pool->slabs, memory_order_acquire);
    for (int i = n - 1; i >= 0; i--) {
        uintptr_t base = (uintptr_t)atomic_load_explicit(&pool->slab[i], memory_order_relaxed);
        if (p - base < size * slab_slots(i))  /* unsigned: also false for p < base */
            return (p - base) % size == 0 && ((const slot *)object)->cookie == pool->cookie;
    }
    return false;
}
