/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Objects given to the user (descriptors, handles) come from per-type pools. Memory of a pool is never returned, so reading a
 * dead object is legal, and dn_pool_live can tell a live object from a dead one, one of another type, and a wild pointer,
 * without ever reading outside the pool. A freed slot is reused last, so a use after destroy is found for as long as can be. */
#ifndef DN_CORE_POOL_H
#define DN_CORE_POOL_H

#include "core/os.h"

#include <stdbool.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define DN_POOL_SLABS 24  /* slab i holds DN_POOL_FIRST << i objects */
#define DN_POOL_FIRST 64

typedef struct dn_pool {
    const char *type;   /* "tensor descriptor", for texts */
    uint32_t cookie;    /* first four bytes of a live object */
    size_t size;        /* bytes of an object; its first member is uint32_t cookie */
    dn_lock lock;
    _Atomic(unsigned char *) slab[DN_POOL_SLABS];
    _Atomic int slabs;
    size_t fresh;       /* slots of the last slab never given out yet */
    void *free_head, *free_tail;
    size_t free_count;
} dn_pool;

#define DN_POOL(type_name, cookie_value, c_type) \
    { .type = (type_name), .cookie = (cookie_value), .size = sizeof(c_type), .lock = DN_LOCK_INIT }

void *dn_pool_new(dn_pool *pool);               /* zero-filled but for the cookie; NULL where memory is short */
void dn_pool_free(dn_pool *pool, void *object); /* a live object */
bool dn_pool_live(dn_pool *pool, const void *object);

#endif
