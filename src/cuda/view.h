/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Tensors as the naive kernels see them: any type, any strides, any alignment. Shared by host and kernels, so built-in types alone. */
#ifndef DN_CUDA_VIEW_H
#define DN_CUDA_VIEW_H

/* Elements of one type behind a pointer. */
typedef struct dn_elements {
    void *ptr;
    int type;    /* dn_dtype of the scalars */
    int size;    /* bytes of a scalar */
    int bytes;   /* 1: ptr is no multiple of size, so elements are moved byte by byte */
    int zero;
} dn_elements;

/* A tensor by index. */
enum { DN_VIEW_RANK = 8 };

typedef struct dn_view {
    dn_elements e;
    long long stride[DN_VIEW_RANK];  /* in scalars, of a vectorised dimension from vector to vector; 0 where it is broadcast */
    int vect, vect_dim;              /* scalars per stored unit and the dimension they run along; 1 and -1 for plain types */
} dn_view;

/* A walk over tensors in step, as dn_iter_init folds it: element i of the walk has one index per axis (the last fastest), and lies in
 * tensor t at the sum of index times step[t], in scalars. */
enum { DN_WALK_RANK = 10, DN_WALK_TENSORS = 6 };

typedef struct dn_walk {
    long long count;                 /* product of dims */
    long long dims[DN_WALK_RANK];
    long long step[DN_WALK_TENSORS][DN_WALK_RANK];
    int rank, tensors;
} dn_walk;

#endif
