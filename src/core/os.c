/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The operating system, POSIX and Windows (mingw's pthreads serve both). */
#if !defined(_WIN32)
#define _GNU_SOURCE
#endif
#include "core/os.h"

#include <stdio.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(_WIN32)
#include <malloc.h>
#include <windows.h>
#else
#include <dlfcn.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/syscall.h>
#endif
#endif

/* --- locks and fork --- */

#if !defined(_WIN32)
static dn_lock *known_locks;
static pthread_mutex_t known_mutex = PTHREAD_MUTEX_INITIALIZER;  /* guards the list; held over a fork, so that it cannot grow */

/* All or none, again and again: threads nest these locks in orders that this place does not know. */
static void take_all(void)
{
    for (;;) {
        pthread_mutex_lock(&known_mutex);
        dn_lock *l = known_locks;
        while (l && pthread_mutex_trylock(&l->m) == 0)
            l = l->next;
        if (!l)
            return;
        for (dn_lock *held = known_locks; held != l; held = held->next)
            pthread_mutex_unlock(&held->m);
        pthread_mutex_unlock(&known_mutex);
        sched_yield();
    }
}

static void give_all(void)
{
    for (dn_lock *l = known_locks; l; l = l->next)
        pthread_mutex_unlock(&l->m);
    pthread_mutex_unlock(&known_mutex);
}

static void register_fork(void)
{
    pthread_atfork(take_all, give_all, give_all);
}

/* Before the lock is taken for the first time by anyone. */
static void make_known(dn_lock *l)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, register_fork);
    pthread_mutex_lock(&known_mutex);
    if (!atomic_load(&l->known)) {
        l->next = known_locks;
        known_locks = l;
        atomic_store(&l->known, 1);
    }
    pthread_mutex_unlock(&known_mutex);
}
#endif

void dn_lock_take(dn_lock *l)
{
#if !defined(_WIN32)
    if (!atomic_load_explicit(&l->known, memory_order_acquire))
        make_known(l);
#endif
    pthread_mutex_lock(&l->m);
}

void dn_lock_give(dn_lock *l)
{
    pthread_mutex_unlock(&l->m);
}

uint64_t dn_time_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void dn_time_wall(unsigned *sec, unsigned *usec)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    *sec = (unsigned)t.tv_sec;
    *usec = (unsigned)(t.tv_nsec / 1000);
}

#if defined(_WIN32)
#define MAKE_DIR(path) CreateDirectoryA(path, NULL)
#else
#define MAKE_DIR(path) mkdir(path, 0777)
#endif

void dn_make_parents(const char *path)
{
    char part[2048];
    size_t n = strlen(path);
    if (n >= sizeof part)
        return;
    for (size_t i = 1; i < n; i++) {
        if (path[i] != '/' && path[i] != '\\')
            continue;
        memcpy(part, path, i);
        part[i] = 0;
        (void)!MAKE_DIR(part);
    }
}

int dn_rename_over(const char *from, const char *to)
{
#if defined(_WIN32)
    return MoveFileExA(from, to, MOVEFILE_REPLACE_EXISTING) ? 0 : -1;
#else
    return rename(from, to);
#endif
}

#if defined(_WIN32)

void *dn_lib_open(const char *name)
{
    return (void *)LoadLibraryA(name);
}

void *dn_lib_symbol(void *lib, const char *name)
{
    return (void *)(uintptr_t)GetProcAddress((HMODULE)lib, name);
}

const char *dn_lib_error(void)
{
    static _Thread_local char text[256];
    DWORD n = FormatMessageA(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS, NULL, GetLastError(), 0, text,
                             sizeof text, NULL);
    while (n && (text[n - 1] == '\n' || text[n - 1] == '\r'))
        text[--n] = 0;
    return text;
}

unsigned long long dn_process_id(void)
{
    return GetCurrentProcessId();
}

unsigned long long dn_thread_id(void)
{
    return GetCurrentThreadId();
}

void *dn_aligned_alloc(size_t size)
{
    return _aligned_malloc(size ? size : 64, 64);
}

void dn_aligned_free(void *p)
{
    _aligned_free(p);
}

#else

void *dn_lib_open(const char *name)
{
    return dlopen(name, RTLD_NOW | RTLD_LOCAL);
}

void *dn_lib_symbol(void *lib, const char *name)
{
    return dlsym(lib, name);
}

const char *dn_lib_error(void)
{
    const char *e = dlerror();
    return e ? e : "no reason given";
}

unsigned long long dn_process_id(void)
{
    return (unsigned long long)getpid();
}

unsigned long long dn_thread_id(void)
{
#if defined(__linux__)
    return (unsigned long long)syscall(SYS_gettid);
#else
    return (unsigned long long)(uintptr_t)pthread_self();
#endif
}

void *dn_aligned_alloc(size_t size)
{
    void *p = NULL;
    return posix_memalign(&p, 64, size ? size : 64) == 0 ? p : NULL;
}

void dn_aligned_free(void *p)
{
    free(p);
}

#endif
