/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * What the operating system gives: locks, shared libraries, clocks, aligned memory, the thread pool. The only header whose
 * implementation (os.c, threads.c) may call anything that is not in C11's library. */
#ifndef DN_CORE_OS_H
#define DN_CORE_OS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <pthread.h>

/* For static objects only: a lock is known for good once it was taken, so that fork can hold all of them while it copies the
 * process, and the child finds each free with what it guards whole. */
typedef struct dn_lock {
    pthread_mutex_t m;
    _Atomic int known;
    struct dn_lock *next;
} dn_lock;
#define DN_LOCK_INIT { .m = PTHREAD_MUTEX_INITIALIZER }
void dn_lock_take(dn_lock *l);
void dn_lock_give(dn_lock *l);

void *dn_lib_open(const char *name);                     /* NULL where it cannot be opened; dn_lib_error says why */
void *dn_lib_symbol(void *lib, const char *name);        /* NULL where it is not there */
const char *dn_lib_error(void);

uint64_t dn_time_ns(void);                               /* monotonic */
void dn_time_wall(unsigned *sec, unsigned *usec);
unsigned long long dn_process_id(void);
unsigned long long dn_thread_id(void);

/* Makes the directories above path that are not there; a failure shows when the file is opened. */
void dn_make_parents(const char *path);
int dn_rename_over(const char *from, const char *to);    /* 0, or not: rename that replaces, on Windows too */

void *dn_aligned_alloc(size_t size);                     /* 64-byte aligned; NULL on failure; size 0 gives a pointer too */
void dn_aligned_free(void *p);

/* core/threads.c. Calls fn(ctx, begin, end) over disjoint ranges that cover [0, n), each a multiple of grain long but the last,
 * on the library's threads and this one; returns when all are done. Which thread takes a range, and how many ranges one call
 * covers, is not fixed: fn must give the same result however [0, n) is cut. Nested calls run on the calling thread. */
typedef void (*dn_range_fn)(void *ctx, int64_t begin, int64_t end);
void dn_parallel(int64_t n, int64_t grain, dn_range_fn fn, void *ctx);
int dn_thread_count(void);
/* Whether this process was forked from one that had asked this before: the threads that other libraries had there are not here. */
bool dn_forked(void);

#endif
