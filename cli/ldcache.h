/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Reader of /etc/ld.so.cache: the format "glibc-ld.so.cache1.1", alone or behind the older one, with the list of glibc-hwcaps names that
 * glibc 2.33 added. Sources: ldconfig(8), glibc's dl-cache.h (structure and constants). Every offset is checked, so any bytes may be given. */
#ifndef DN_CLI_LDCACHE_H
#define DN_CLI_LDCACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ldcache {
    const unsigned char *data;  /* the caller's bytes, from the new header on */
    size_t size;
    uint32_t count;
    uint64_t hwcaps_at;         /* table of string offsets; 0 where there is none */
    uint32_t hwcaps_count;
    const char *fault;          /* a fixed sentence after a failed ldcache_parse */
} ldcache;

typedef struct ldcache_lib {
    const char *name, *path;
    uint32_t flags;
    uint64_t hwcap;
    const char *subdirectory;   /* name below glibc-hwcaps, or NULL */
} ldcache_lib;

/* What the loader's processor can do, as far as the cache asks. */
typedef struct ldcache_cpu {
    int level;                  /* 1 to 4: x86-64, x86-64-v2 .. -v4; 0 where such levels do not exist */
    uint64_t legacy;            /* the hwcap bits that do not exclude an entry (glibc before 2.37) */
} ldcache_cpu;

/* 0, or -1 with fault set. data must outlive the cache. */
int ldcache_parse(ldcache *c, const void *data, size_t size);
/* False where the entry's offsets lie outside the file. */
bool ldcache_entry(const ldcache *c, uint32_t index, ldcache_lib *lib);
/* The path that the loader takes for a name, or NULL. flags: the architecture's word, see ldcache_flags. */
const char *ldcache_find(const ldcache *c, const char *name, uint32_t flags, const ldcache_cpu *cpu);
/* The word for libraries of this ELF class (1: 32 bits, 2: 64) and machine; 0 where it is not known. */
uint32_t ldcache_flags(unsigned elf_class, unsigned machine);
/* Position of a glibc-hwcaps name in the loader's order (1 is best), 0 where this processor does not use it. */
int ldcache_hwcaps_priority(const char *subdirectory, int level);

#endif
