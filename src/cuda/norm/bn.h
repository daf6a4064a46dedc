/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * What the batch normalisation kernels are given; shared by host and kernels. */
#ifndef DN_CUDA_NORM_BN_H
#define DN_CUDA_NORM_BN_H

#include "cuda/act/act.h"
#include "cuda/flat_walk.h"
#include "cuda/view.h"

/* Data tensors of a call. OUT: y or dx, IN: z or dy; those that it lacks walk as x does. */
enum { DN_BN_X, DN_BN_OUT, DN_BN_IN, DN_BN_DZ, DN_BN_MASK, DN_BN_TENSORS };

/* Parameter arrays, as in dn_aux. */
enum { DN_BN_SCALE, DN_BN_BIAS, DN_BN_MEAN, DN_BN_VAR, DN_BN_SAVE_MEAN, DN_BN_SAVE_INVSTD, DN_BN_DSCALE, DN_BN_DBIAS, DN_BN_PARAMS };

typedef struct dn_bn_naive {
    dn_walk kept, reduced;        /* over the tensors above; after them, in kept, the parameters. infer: kept alone, over everything */
    dn_elements e[DN_BN_MASK];
    dn_elements param[DN_BN_PARAMS];  /* ptr NULL where the call has none */
    unsigned char *mask;          /* one byte an element, 1 where the gradient goes through; NULL without */
    int ops, group;               /* group: threads for one kept element, 1 or the whole block */
    dn_act_fn act;
    double eps, factor, alpha, beta, alpha2, beta2;
} dn_bn_naive;

/* The tuned kernels. NCHW: n images of c planes of hw elements. NHWC: rows of `row` elements, c of them or a multiple, hw 1. Statistics of a
 * channel are taken by s blocks, whose partial sums are added in order. */
typedef struct dn_bn_fast {
    const void *x, *in;          /* in: z or dy */
    void *out, *dz;
    unsigned char *mask;
    const float *scale, *bias;
    float *mean, *var, *save_mean, *save_inv, *dscale, *dbias;  /* NULL where the call has none */
    float *part;                 /* row x s x 2 */
    float *k;                    /* c x 4: what apply multiplies by and adds */
    long long count, image;      /* elements in all, of an image */
    double m, inv_m, eps, factor, alpha2, beta2;  /* m: elements of a channel */
    dn_div plane, channel;   /* NCHW apply: plane in units (vectors where hw is a multiple of one, else elements), c */
    unsigned vectors, partial;   /* 16-byte vectors in all; the one that is not full, or ~0 */
    int n, c, hw, s, rows, row;  /* NCHW: row is c */
    int first;                   /* from the first element of a channel to that of the next */
    int span;                    /* NCHW statistics: vectors that cover a plane wherever it starts. NHWC: vectors across a block */
    int ops, nan, mask_wide;     /* mask_wide: it may be moved as vectors */
    float ceiling, alpha, beta;  /* ceiling: of clipped ReLU, infinity for ReLU */
} dn_bn_fast;

/* Kernels that hold what they read in shared memory: bn_held_body.cuh and bn_ring_body.cuh. */
enum {
    DN_BN_GROUP = 8, DN_BN_HELD_TRAIN = 256, DN_BN_HELD_BWD = 192,  /* channels at most; threads of a quarter of an SM */
    /* ring: threads that sum, and that write; all; chunks and blocks of a team at most */
    DN_BN_RING_WORK = 256, DN_BN_RING_THREADS = 2 * DN_BN_RING_WORK + 32 * 4, DN_BN_RING_CHUNKS = 31, DN_BN_RING_PARTS = 160
};
typedef struct dn_bn_held {
    dn_bn_fast f;                /* ring: part is one word of 16 bytes for each channel and block of a team, zero before */
    int group, run;              /* channels that a block works on together; vectors of them in an image */
    int step;                    /* vectors from one of a thread to its next: of several channels a multiple of run */
    int parts, slice;            /* blocks of a team, each with a part of the images; vectors of each tensor that a block, or a chunk, has room for */
    int teams, chunks;           /* ring */
} dn_bn_held;

#endif
