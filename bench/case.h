/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * A case: a problem line, and after a bar what a line of a problem cannot say because it may change between two runs:
 *     pool fwd x=n2c4h9w9:f32:nhwc win=3 str=2 | alpha=2 beta=3 fill=int
 * Tensors that follow from the others may be left out (y here). Words after the bar:
 *     alpha= beta=      out = alpha * result + beta * out; 1 and 0
 *     alpha2= beta2=    of parameter gradients (bn bwd), of z (convba), of b (optensor); 1 and 0
 *     eps= factor=      batch normalisation; 1e-5 and 0.1
 *     stats=none        batch normalisation without running or saved statistics
 *     count=            elements behind a sum (bnfinal); 50
 *     value=            of set, and of what is past the end of a sequence (rnn); 1.5
 *     p=                probability of dropout; 0.5
 *     len=              lengths of sequences: T,T2,... by batch element, again from the first where there are more, or FROM-TO: evenly
 *                       from the first element to the last; all of the tensor's length
 *     klen=             the same of keys and values (attn); len is of queries then, by batch element and beam
 *     win=BEFORE,AFTER  keys that a query sees, counted from its own time (attn); all
 *     step=             the only time of the queries that is computed (attn infer); -1 for all
 *     states=none       rnn without initial and final states
 *     fill=random|int|edge   what the inputs hold (data.c); random
 *     seed=             of the inputs; 1 */
#ifndef DN_BENCH_CASE_H
#define DN_BENCH_CASE_H

#include "ops/problem.h"

typedef enum bench_fill { BENCH_RANDOM, BENCH_INT, BENCH_EDGE, BENCH_FILLS } bench_fill;

enum { BENCH_LENGTHS = 16 };

/* Lengths of sequences; n 0: as long as the tensor. */
typedef struct bench_lengths {
    int32_t length[BENCH_LENGTHS];
    int n;
    bool even;  /* from length[0] to length[1] */
} bench_lengths;

typedef struct bench_case {
    char text[1024];  /* the whole line as it would be written out in full */
    dn_problem p;
    double alpha, beta, alpha2, beta2, eps, factor, value, dropout, count, step;
    uint64_t seed;
    bench_fill fill;
    bool no_stats, no_states;
    bench_lengths len, key_len;
    bool window;
    int32_t before, after;  /* of the window */
    bool coarse;  /* for timing: inputs of a million values that repeat, nothing computed beforehand */
} bench_case;

typedef struct bench_cases {
    bench_case *c;
    int n, room;
} bench_cases;

/* BAD_PARAM or NOT_SUPPORTED with a last-error text where the line is none. */
dn_status bench_case_parse(const char *line, bench_case *c);
/* Writes c->text and the flags of c->p anew after a change. */
void bench_case_update(bench_case *c);
/* Appends the lines of a file (blank lines and comments from # on are skipped), or the problems of the plan lines of a log, each
 * once. False with a message on stderr. */
bool bench_list_read(bench_cases *l, const char *path);
bool bench_list_add(bench_cases *l, const char *line, const char *where);
void bench_list_free(bench_cases *l);

/* Length of sequence b of batch. */
int32_t bench_length_of(const bench_lengths *l, int64_t b, int64_t batch, int64_t time);

/* Fills in the tensors that the line left out, as far as they follow from the others. */
void bench_complete(dn_problem *p);

#endif
