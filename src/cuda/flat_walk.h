/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Elementwise work in vectors of 16 bytes: how the elements of a call are cut, shared by host and kernels. */
#ifndef DN_CUDA_FLAT_WALK_H
#define DN_CUDA_FLAT_WALK_H

#define DN_FLAT_THREADS 256    /* of a block */
#define DN_FLAT_ELEMENTS 16    /* of a thread: two or four vectors in flight for each tensor */
#define DN_FLAT_TENSORS 4

/* Division of numbers below 2^31: n / by = n * mul >> shift. */
typedef struct dn_div {
    unsigned by, mul, shift;
} dn_div;

/* Elements in units of so many that a unit of the widest type is a vector. Either all tensors are contiguous in the same order (rank 1),
 * or rows of whole units lie at steps of whole units (rank 2 and 3). */
typedef struct dn_flat {
    unsigned units, tail;                     /* tail: elements behind the last unit, rank 1 alone */
    int rank, zero;
    dn_div row, slab;                         /* units of a row, rows of a slab */
    long long step[DN_FLAT_TENSORS][2];       /* elements from row to row and from slab to slab */
} dn_flat;

/* A contiguous line of values that is repeated over a dense tensor: element i of the tensor meets value (i / inner) % chans. */
enum { DN_REPEAT_ONE,     /* inner is a multiple of the unit: one value for the whole unit */
       DN_REPEAT_LINE,    /* inner is 1 and chans a multiple of the unit: a unit of values */
       DN_REPEAT_TWO,     /* inner is at least the unit: one value or two */
       DN_REPEAT_ANY };

typedef struct dn_repeat {
    dn_div inner, chans;
    int kind, zero;
} dn_repeat;

#endif
