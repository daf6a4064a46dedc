/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * What can run a case: a row of an engine of this build, or an algorithm of a library with cuDNN's interface, or oneDNN. */
#ifndef DN_BENCH_TARGET_H
#define DN_BENCH_TARGET_H

#include "compare.h"

#include "core/engine.h"

typedef struct bench_source bench_source;
typedef struct bench_target bench_target;

struct bench_target {
    char name[96];
    unsigned how;            /* BENCH_TRANSFORMED and the like */
    bool deterministic;      /* says of itself that it gives equal bits in every run */
    const bench_source *source;
    const char *refusal;     /* why it does not take the case, or NULL */
    const bench_space *space;
    /* Descriptors, plans; *workspace: bytes that run wants. */
    dn_status (*prepare)(bench_target *t, const bench_case *c, const bench_data *d, size_t *workspace);
    dn_status (*run)(bench_target *t, const bench_memory *m);
    void (*finish)(bench_target *t);
    /* of a row */
    dn_handle *handle;
    const dn_solver *row;
    dn_plan *plan;
    const int32_t *lengths, *lo, *hi;  /* of the data */
    dn_problem p;            /* the case's, with the row's own number where by_number says so */
    /* of a library */
    size_t reserve_size;     /* that it wants where the reserve space is its own; 0: as large as ours */
    int algo;
    void *call;
    const bench_case *c;
};

struct bench_source {
    const char *name;
    bool by_number;  /* a row is asked under the number it stands for, where the case names none */
    bool ours;  /* its statuses and limits are ours: only NOT_SUPPORTED is no failure */
    /* Target i for this case, those that refuse it included; false past the last. */
    bool (*target)(bench_source *s, const bench_case *c, int i, bench_target *t);
    void (*close)(bench_source *s);
    /* NULL, or what is wrong with the device now: after that nothing more can be run in this process. */
    const char *(*sick)(bench_source *s);
    dn_handle h;
    struct bench_lib *lib;
};

/* engine: "ref", "cpu", or NULL for the first that works here. False with a message on stderr. */
bool bench_source_rows(bench_source *s, const char *engine);
/* A library with the cuDNN ABI 8 or 9, by path. all: every algorithm number is a target, else the one Get proposes. */
bool bench_source_library(bench_source *s, const char *path, bool all);
bool bench_source_onednn(bench_source *s);
/* Target by its own choice: the row that a call would run. */
bool bench_source_default(bench_source *s, const bench_case *c, bench_target *t);

#endif
