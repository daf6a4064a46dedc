/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * A small thread pool: one job at a time, its ranges taken from an atomic counter. A second caller, a nested call and a job too
 * small to share run on the calling thread at once, so nobody ever waits for another's job. After fork the child has no
 * threads: it makes its own at its first job. */
#if !defined(_WIN32)
#define _GNU_SOURCE
#endif
#include "core/config.h"
#include "core/os.h"

#include <stdatomic.h>
#include <stdbool.h>
#if defined(__linux__)
#include <sched.h>
#endif
#if defined(_WIN32)
#include <windows.h>
#else
#include <unistd.h>
#endif

#define THREADS_MAX 256

typedef struct job {
    dn_range_fn fn;
    void *ctx;
    int64_t n, chunk;
    _Atomic int64_t next;
} job;

static struct {
    pthread_mutex_t busy;      /* held by the caller whose job runs */
    pthread_mutex_t m;         /* guards the fields below */
    pthread_cond_t work, done;
    job *job;
    uint64_t generation;
    int started, running;
    unsigned long long owner;  /* process that started the threads */
} pool = { .busy = PTHREAD_MUTEX_INITIALIZER, .m = PTHREAD_MUTEX_INITIALIZER, .work = PTHREAD_COND_INITIALIZER,
           .done = PTHREAD_COND_INITIALIZER };

static _Thread_local bool inside;

static void work_off(job *j)
{
    inside = true;
    for (;;) {
        int64_t b = atomic_fetch_add_explicit(&j->next, j->chunk, memory_order_relaxed);
        if (b >= j->n)
            break;
        int64_t e = b + j->chunk < j->n ? b + j->chunk : j->n;
        j->fn(j->ctx, b, e);
    }
    inside = false;
}

static void *worker(void *arg)
{
    (void)arg;
    uint64_t seen = 0;
    pthread_mutex_lock(&pool.m);
    for (;;) {
        while (pool.generation == seen || !pool.job)
            pthread_cond_wait(&pool.work, &pool.m);
        seen = pool.generation;
        job *j = pool.job;
        pool.running++;
        pthread_mutex_unlock(&pool.m);
        work_off(j);
        pthread_mutex_lock(&pool.m);
        if (--pool.running == 0)
            pthread_cond_signal(&pool.done);
    }
    return NULL;
}

static int cpu_count(void)
{
#if defined(__linux__)
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return CPU_COUNT(&set);
#endif
#if defined(_WIN32)
    SYSTEM_INFO info;
    GetSystemInfo(&info);
    return (int)info.dwNumberOfProcessors;
#else
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (int)n : 1;
#endif
}

int dn_thread_count(void)
{
    static _Atomic int count;
    int n = atomic_load_explicit(&count, memory_order_relaxed);
    if (n == 0) {
        n = dn_config_get()->threads;
        if (n <= 0)
            n = cpu_count();
        if (n > THREADS_MAX)
            n = THREADS_MAX;
        if (n < 1)
            n = 1;
        atomic_store_explicit(&count, n, memory_order_relaxed);
    }
    return n;
}

/* With pool.busy held. The threads of the parent do not exist in a forked child, and its locks may be in any state there; only
 * busy is known to be ours, so the others start anew. */
static void start_threads(void)
{
    unsigned long long self = dn_process_id();
    if (pool.owner != self) {
        pthread_mutex_init(&pool.m, NULL);
        pthread_cond_init(&pool.work, NULL);
        pthread_cond_init(&pool.done, NULL);
        pool.job = NULL;
        pool.started = pool.running = 0;
        pool.owner = self;
    }
    while (pool.started < dn_thread_count() - 1) {
        pthread_t t;
        pthread_attr_t attr;
        pthread_attr_init(&attr);
        pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
        int failed = pthread_create(&t, &attr, worker, NULL);
        pthread_attr_destroy(&attr);
        if (failed)
            break;  /* fewer threads, same result */
        pool.started++;
    }
}

/* A child forked while another thread held busy would find it locked for ever. */
#if !defined(_WIN32)
static bool forked;

static void after_fork(void)
{
    pthread_mutex_init(&pool.busy, NULL);
    forked = true;
}

static void register_fork(void)
{
    pthread_atfork(NULL, NULL, after_fork);
}

static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

bool dn_forked(void)
{
    pthread_once(&fork_once, register_fork);
    return forked;
}
#else
bool dn_forked(void)
{
    return false;
}
#endif

static void run_shared(job *j)
{
    start_threads();
    pthread_mutex_lock(&pool.m);
    pool.job = j;
    pool.generation++;
    pthread_cond_broadcast(&pool.work);
    pthread_mutex_unlock(&pool.m);
    work_off(j);
    pthread_mutex_lock(&pool.m);
    pool.job = NULL;  /* a thread that wakes late finds nothing and sleeps again */
    while (pool.running)
        pthread_cond_wait(&pool.done, &pool.m);
    pthread_mutex_unlock(&pool.m);
}

void dn_parallel(int64_t n, int64_t grain, dn_range_fn fn, void *ctx)
{
    if (n <= 0)
        return;
    if (grain < 1)
        grain = 1;
    int64_t pieces = (n - 1) / grain + 1;
    int threads = dn_thread_count();
#if !defined(_WIN32)
    if (threads > 1 && pieces > 1)
        pthread_once(&fork_once, register_fork);
#endif
    if (threads == 1 || pieces == 1 || inside || pthread_mutex_trylock(&pool.busy) != 0) {
        fn(ctx, 0, n);
        return;
    }
    /* About four ranges a thread: enough to even out, few enough that taking one costs nothing. */
    int64_t share = pieces / (4 * (int64_t)threads);
    job j = { fn, ctx, n, grain * (share < 1 ? 1 : share), 0 };
    run_shared(&j);
    pthread_mutex_unlock(&pool.busy);
}
