/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The whole contract between the core and an engine: a table of rows (dn_solver), a few hooks, and what a prepared row is (dn_plan).
 * The core knows no operation and no device; an engine knows no exported function. */
#ifndef DN_CORE_ENGINE_H
#define DN_CORE_ENGINE_H

#include "core/status.h"
#include "ops/problem.h"

typedef struct dn_handle dn_handle;
typedef struct dn_plan dn_plan;

enum {
    DN_SOLVER_NONDETERMINISTIC = 1,  /* may give other bits from run to run */
    DN_SOLVER_PLAIN = 2,             /* check and workspace look at neither align nor DN_F_BETA_ZERO: one query answers for all */
    DN_SOLVER_TILED = 4,             /* rounds, and spreads NaN and infinity, over tiles of outputs: it runs where its number is asked
                                      * for, and is never the default nor the truth for another row */
    DN_SOLVER_TF32 = 8,              /* rounds f32 factors to tf32: not where the problem asks for FMA math, nor with NVIDIA_TF32_OVERRIDE=0 */
};

/* A row. Stateless and constant. Rows of one table are grouped by op, fastest first; the first that accepts is the default. */
typedef struct dn_solver {
    const char *name;  /* <engine>_<op>_<dir>_<algo>[_<layout>][_<type>]: also the log, filter, bench and test id */
    uint8_t op;        /* dn_op */
    uint8_t dir;       /* dn_dir */
    int16_t algo;      /* the cuDNN algorithm number it stands for, -1 where the operation has none */
    uint16_t flags;
    /* NULL: takes it. Else a fixed sentence why not, such as "needs c % 8 == 0". Must not depend on anything but p. */
    const char *(*check)(const dn_problem *p);
    /* Bytes that run needs for p; unset = 0. */
    size_t (*workspace)(const dn_problem *p);
    /* Fills plan->state (and frees it in release); unset = nothing to prepare. */
    dn_status (*prepare)(dn_handle *h, dn_plan *plan);
    /* The arguments were checked: pointers that the problem needs are there, the workspace is large enough. */
    dn_status (*run)(dn_handle *h, const dn_plan *plan, const dn_args *a);
    void (*release)(dn_plan *plan);
    const void *data;  /* constants of the row: kernel symbol, tile, ... */
} dn_solver;

/* A table of rows; an engine is a list of them, one per operation, so that an operation's file owns its rows. */
typedef struct dn_rows {
    const dn_solver *rows;
    int count;
} dn_rows;

struct dn_plan {
    dn_problem problem;
    const dn_solver *solver;
    size_t workspace;
    void *state;       /* what prepare made */
    uint64_t hash;
    dn_plan *next;     /* in its hash bucket */
    uint64_t used;     /* clock of the last use, for eviction */
};

typedef struct dn_engine {
    const char *name;
    /* NULL where the engine can work here; else the sentence why not. Called once per handle creation; cheap. */
    const char *(*probe)(void);
    dn_status (*open)(dn_handle *h);   /* sets h->state; unset = nothing */
    void (*close)(dn_handle *h);
    /* Memory of the engine. Unset = host memory, 64-byte aligned. */
    dn_status (*alloc)(dn_handle *h, size_t size, void **ptr);
    dn_status (*release)(dn_handle *h, void *ptr);
    dn_status (*copy_in)(dn_handle *h, void *dst, const void *src, size_t size);   /* host to engine, done on return */
    dn_status (*copy_out)(dn_handle *h, void *dst, const void *src, size_t size);  /* engine to host, done on return */
    dn_status (*synchronize)(dn_handle *h);
    /* Whether work of the handle is still to be done, without waiting for it; unset = none is. */
    dn_status (*poll)(dn_handle *h, bool *busy);
    /* Before each run: SUCCESS where the engine can reach the memory that the call names; unset = it can. */
    dn_status (*admit)(dn_handle *h, const dn_plan *plan, const dn_args *a);
    /* Runs the plan once and waits; *ms is the time that its work took. Unset = by the host's clock. */
    dn_status (*time_run)(dn_handle *h, const dn_plan *plan, const dn_args *a, float *ms);
    const dn_rows *const *tables;      /* ended by NULL; order within an op is order of preference */
    const struct dn_engine *fallback;  /* rows asked after its own; same memory space */
} dn_engine;

#define DN_PLAN_BUCKETS 256
#define DN_PLAN_MAX 1024  /* plans kept per handle; the least recently used goes first */

struct dn_handle {
    uint32_t cookie;   /* first member of every object given to the user; see core/pool.h */
    const dn_engine *engine;
    void *stream;      /* cudaStream_t of the caller; unused by host engines */
    void *state;       /* of the engine */
    void *scratch;     /* host scratch of rows whose cuDNN number promises a workspace of 0; grows in prepare only */
    size_t scratch_size;
    dn_plan *last;     /* most recent plan: the hit of a loop over one call */
    dn_plan *buckets[DN_PLAN_BUCKETS];
    int plan_count;
    uint64_t clock;
    const dn_solver *last_solver;  /* row of the last run, for anydnnGetLastSolver */
};

/* core/engines.c: the engines of this build, most preferred first, ended by NULL. */
extern const dn_engine *const dn_engines[];
extern const dn_engine dn_ref_engine;
extern const dn_engine dn_cpu_engine;
extern const dn_engine dn_cuda_engine;

/* core/run.c - the hot path. Finds or makes the plan, checks the workspace, runs it. */
dn_status dn_run(dn_handle *h, const dn_problem *p, const dn_args *a);

/* core/plan.c */
/* The cached plan of p, made if need be. NOT_SUPPORTED lists every row with its sentence in the last-error text. */
dn_status dn_plan_get(dn_handle *h, const dn_problem *p, dn_plan **plan);
/* Row i of those for this op and direction that h's engine has (its own, then its fallback's), NULL past the end.
 * Rows excluded by ANYDNN_SOLVER are not counted. */
const dn_solver *dn_solver_at(const dn_engine *e, dn_op op, dn_dir dir, int i);
/* NULL, or why this row does not take p (its algo and the flags included). */
const char *dn_solver_refuses(const dn_solver *s, const dn_problem *p);
/* The row that a call with p would run, NULL where none takes it. */
const dn_solver *dn_row_of(dn_handle *h, const dn_problem *p);
/* A plan of exactly this row, outside the cache; the caller frees it. */
dn_status dn_plan_make(dn_handle *h, const dn_solver *s, const dn_problem *p, dn_plan **plan);
void dn_plan_free(dn_plan *plan);
void dn_plan_cache_clear(dn_handle *h);
/* Workspace of p as a query knows it: neither beta nor pointers, so the largest over both beta flags and all alignment
 * classes of the row that would be chosen for each. */
dn_status dn_plan_workspace(dn_handle *h, const dn_problem *p, size_t *bytes);

/* core/tune.c - timing of rows for Find. */
typedef struct dn_timing {
    const dn_solver *solver;
    dn_status status;    /* of the run */
    float ms;            /* best of a few runs; -1 where it did not run */
    size_t workspace;
} dn_timing;
/* Times every row that accepts p with the given arguments (workspace included: a row that needs more is listed with
 * ALLOC_FAILED), sorted fastest first, failures last. Answers the count written, at most max. */
int dn_tune(dn_handle *h, const dn_problem *p, const dn_args *a, dn_timing *out, int max);

/* core/engines.c */
dn_status dn_handle_open(dn_handle *h);   /* picks the engine as docs/environment.md says, opens it */
void dn_handle_close(dn_handle *h);
dn_status dn_mem_alloc(dn_handle *h, size_t size, void **ptr);
dn_status dn_mem_free(dn_handle *h, void *ptr);
dn_status dn_mem_copy_in(dn_handle *h, void *dst, const void *src, size_t size);
dn_status dn_mem_copy_out(dn_handle *h, void *dst, const void *src, size_t size);
dn_status dn_mem_sync(dn_handle *h);
dn_status dn_mem_poll(dn_handle *h, bool *busy);
/* At least size bytes of host scratch owned by h, for rows that may not ask the caller. Call in prepare, use h->scratch in run. */
dn_status dn_scratch_reserve(dn_handle *h, size_t size);

#endif
