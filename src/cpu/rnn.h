/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * What the files of cpu's recurrent networks share. Products are dnnl_sgemm's, made within dn_parallel by one thread each; how the work is
 * cut follows from the problem alone, so that results do not depend on the number of threads. Sequences, lengths, dropout and the reserve
 * space are ref's (ref/rnn.h); letters as in ops/rnn.h.
 *
 * Small states: slices of the batch go through all steps on their own, both directions side by side, since sequences need each other at no
 * step; the recurrent matrix stays in a core's cache. Large ones: each step of the whole batch is cut into blocks of units, so that the
 * matrix is read once a step. Of a slice's rows those from the first to the last that lives are computed; what comes out for dead ones
 * among them goes nowhere. */
#ifndef DN_CPU_RNN_H
#define DN_CPU_RNN_H

#include "cpu/op.h"
#include "cpu/rnn_kernel.h"
#include "ref/rnn.h"

#include <stdatomic.h>

enum { DN_CPU_RNN_COLUMNS = 128 };  /* of a product that is cut by its columns */

typedef struct dn_cpu_rnn {
    dn_rnn_job j;
    const dn_cpu_rnn_kernel *k;
    int64_t units;             /* G H */
    int64_t plain;             /* units of recurrent products whose gradients are dgates as they stand: all but GRU's n */
    bool projects, lstm, gru;
    bool by_units;             /* one slice, cut by units */
    int64_t slices, slice;     /* of the batch, and rows of one */
    int64_t blocks, block;     /* of units, and units of one at most: a step's work is cut at multiples of it */
    dn_cpu_rnn_clip clip;
    atomic_int failed;         /* oneDNN's status, where it was not 0 */
} dn_cpu_rnn;

/* Rows of a batch at one step: [lo, hi) are computed, none where both are equal. */
typedef struct dn_cpu_rnn_range {
    int64_t lo, hi;
} dn_cpu_rnn_range;

typedef struct dn_cpu_matrix {
    const float *at;
    int64_t ld;
    bool turned;               /* its columns lie one after another */
} dn_cpu_matrix;

const char *dn_cpu_rnn_check(const dn_problem *p);
void dn_cpu_rnn_init(dn_cpu_rnn *c, const dn_problem *p, const dn_args *a, dn_rnn_room *room);
dn_status dn_cpu_rnn_status(const dn_cpu_rnn *c);  /* of all products */
static inline float *dn_cpu_rnn_floats(dn_rnn_room *room, int64_t count, int64_t each)
{
    return dn_ref_rnn_take(room, count, each, sizeof(float));
}

/* c [m][n] = alpha a [m][k] b [k][n] + beta c, by one thread. */
void dn_cpu_rnn_multiply(dn_cpu_rnn *c, int64_t m, int64_t n, int64_t k, float alpha, dn_cpu_matrix a, dn_cpu_matrix b, float beta, float *to,
                         int64_t ld);
/* The matrix of a linear layer as it lies; those of later gates follow it. */
dn_cpu_matrix dn_cpu_rnn_weight(const dn_cpu_rnn *c, int pseudo, int linear, dn_rnn_weight *w);
/* Columns (or, turned, the rows that lie there) from `column` on. */
static inline dn_cpu_matrix dn_cpu_rnn_columns(dn_cpu_matrix m, int64_t column)
{
    m.at += m.turned ? column * m.ld : column;
    return m;
}

/* Rows [r0, r1) of the batch that live at time t, and those between. */
dn_cpu_rnn_range dn_cpu_rnn_alive(const dn_cpu_rnn *c, int64_t t, int64_t r0, int64_t r1);
static inline bool dn_cpu_rnn_lives(const dn_cpu_rnn *c, int64_t t, int64_t b)
{
    return c->j.length[b] > t;
}

/* Sequence (t, b) of X, Y or a gradient, and the distance to the next b. */
dn_cpu_matrix dn_cpu_rnn_sequence(const dn_cpu_rnn *c, dn_role role, int64_t t, int64_t b);
/* Input of a layer at (t, b); layers that dropout stands before want dn_ref_rnn_drop. */
dn_cpu_matrix dn_cpu_rnn_input(const dn_cpu_rnn *c, int layer, int64_t t, int64_t b);
/* Rows (t, b) follow each other in the order of t B + b; dense: and all of them live. */
bool dn_cpu_rnn_is_stretch(const dn_cpu_rnn *c, dn_role role);
bool dn_cpu_rnn_is_dense(const dn_cpu_rnn *c, dn_role role);
static inline float *dn_cpu_rnn_reserve(const dn_cpu_rnn *c, size_t offset, size_t pitch, int pseudo)
{
    return (float *)dn_ref_rnn_section(&c->j, offset, pitch, pseudo);
}

/* One step of one direction: phases, one after the other, each cut into ranges of [0, extent). */
typedef struct dn_cpu_rnn_step {
    int d;
    int64_t t;
    dn_cpu_rnn_range rows;     /* of the slice */
    dn_cpu_rnn_range alive;
    int parity;                /* of the count of steps before: which of two states is read */
} dn_cpu_rnn_step;
typedef void (*dn_cpu_rnn_phase_fn)(void *ctx, const dn_cpu_rnn_step *s, int64_t begin, int64_t end);
typedef struct dn_cpu_rnn_phase {
    dn_cpu_rnn_phase_fn fn;
    int64_t extent, block;     /* block: of a range, where the work is cut by units */
} dn_cpu_rnn_phase;
typedef struct dn_cpu_rnn_walk {
    const dn_cpu_rnn *c;
    void *ctx;
    bool reverse;              /* steps run against the directions' order */
    void (*begin)(void *ctx, const dn_cpu_rnn_step *s);  /* before the first step of a slice; only d and rows are set */
    void (*end)(void *ctx, const dn_cpu_rnn_step *s);    /* after the last one; parity as the next step would have it */
    int count;
    dn_cpu_rnn_phase phase[3];
} dn_cpu_rnn_walk;
void dn_cpu_rnn_add_phase(dn_cpu_rnn_walk *w, dn_cpu_rnn_phase_fn fn, int64_t extent, int64_t block);
/* Steps [k0, k1) of all T, in each direction's order. */
void dn_cpu_rnn_run(const dn_cpu_rnn_walk *w, int64_t k0, int64_t k1);
/* A slice's part of a state or its gradient: the caller's [L D][B][size] and a layer's [D][B][size]. The caller's NULL is zeros on the way in, not
 * wanted on the way out. */
void dn_cpu_rnn_load_state(const dn_cpu_rnn *c, const dn_cpu_rnn_step *s, int layer, dn_aux from, int64_t size, float *to);
void dn_cpu_rnn_store_state(const dn_cpu_rnn *c, const dn_cpu_rnn_step *s, int layer, dn_aux to, int64_t size, const float *from);
/* Time of step k. */
static inline int64_t dn_cpu_rnn_time(const dn_cpu_rnn_walk *w, int d, int64_t k)
{
    return (d != 0) != w->reverse ? w->c->j.time - 1 - k : k;
}

#endif
