/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * What the reduction kernels are given; shared by host and kernels. */
#ifndef DN_CUDA_REDUCE_REDUCE_H
#define DN_CUDA_REDUCE_REDUCE_H

#include "cuda/view.h"

/* What is known of one output; in the workspace between the two stages. */
typedef struct dn_reduce_state {
    double v;
    long long at;  /* index of the winner, -1: nothing seen */
} dn_reduce_state;

typedef struct dn_reduce_naive {
    dn_walk out;     /* outputs: y, and x at the first element of each */
    dn_walk block;   /* elements of one output: x, from 0 */
    dn_elements y, x;
    int op, nan, team, index_bytes;  /* dn_reduce_param; threads per item; 0: no indices */
    long long parts, part;           /* of a block, each worked on alone, and elements of one */
    dn_reduce_state *states;         /* [parts][outputs], where parts > 1 */
    void *indices;
    double alpha, beta;
} dn_reduce_naive;

/* Packed x as [outer][kept][inner][places]: kept and places are y's, outer and inner are reduced. Lines: places is 1, and the inner elements
 * lie side by side. Columns: the places lie side by side. */
typedef struct dn_reduce_packed {
    dn_walk out;                     /* outputs in x's order: tensor 1 is y */
    dn_elements y;
    const void *x;
    long long outer, kept, inner, places;
    long long tail;                  /* the vector that x ends in the middle of; -1: none */
    long long steps, part, parts;    /* lines: vectors of an output, columns: rows; those of a part; parts */
    int vectors, team;               /* lines: vectors that inner elements touch at most; threads of an output's part */
    int op;                          /* dn_reduce_param */
    unsigned keep, flip;             /* what an element counts for: its bits & keep ^ flip */
    double *states;                  /* [parts][outputs], where parts > 1 */
    double count, alpha, beta;       /* count: elements of an output */
} dn_reduce_packed;

enum { DN_REDUCE_BLOCK = 256 };

#endif
