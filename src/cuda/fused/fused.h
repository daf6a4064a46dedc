/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * What the kernels of the fused operations' own steps are given; shared by host and kernels. */
#ifndef DN_CUDA_FUSED_FUSED_H
#define DN_CUDA_FUSED_FUSED_H

#include "cuda/act/act.h"
#include "cuda/flat_walk.h"
#include "cuda/view.h"

/* Tensors of the walks; backward X is dy and Y is dx. */
enum { DN_SBA_X, DN_SBA_Y, DN_SBA_Z, DN_SBA_W, DN_SBA_TENSORS };
/* Arrays of W; ptr NULL where the call lacks it. */
enum { DN_SBA_SCALE, DN_SBA_BIAS, DN_SBA_SCALE2, DN_SBA_BIAS2, DN_SBA_ARRAYS };

typedef struct dn_sba_naive {
    dn_walk walk;                          /* of elements, or with a mask of places */
    dn_elements e[DN_SBA_W], array[DN_SBA_ARRAYS], mask;
    long long channel[DN_SBA_TENSORS];     /* with a mask: from channel to channel */
    long long pairs;                       /* of the mask: of places, in a slab of 64 channels */
    int channels, slabs;
    int added;                             /* Z is there */
    dn_act_fn fn;
} dn_sba_naive;

/* The tuned ones: places x channels without gaps, pointers aligned to 16. */
typedef struct dn_sba_nhwc {
    const void *x, *z;
    void *y;
    const void *array[DN_SBA_ARRAYS];
    unsigned *mask;
    dn_div line;                           /* vectors of a place; with a mask: slabs */
    unsigned count;                        /* vectors, with a mask those of all its words */
    unsigned places, pairs;
    int channels, wide;                    /* wide: the arrays are f32, else of the data's type */
    int mode, nan;
    float ceiling;                         /* of clipped ReLU */
} dn_sba_nhwc;

typedef struct dn_stats_naive {
    dn_walk kept, reduced;                 /* X and, kept, W; team threads for one kept element */
    dn_elements x, sum, sq;
    int team, zero;
} dn_stats_naive;

/* s parts of rows x channels; partial sums are part[channel][part], of values and of squares. */
typedef struct dn_stats_nhwc {
    const void *x;
    float *sum, *sq, *part;
    int rows, channels, s, span;           /* span: vectors across a block */
} dn_stats_nhwc;

/* Arrays of a final step: those of W, then the two of B. */
enum { DN_FINAL_SUM, DN_FINAL_SQSUM, DN_FINAL_SCALE, DN_FINAL_BIAS, DN_FINAL_MEAN, DN_FINAL_VAR, DN_FINAL_SAVE_MEAN, DN_FINAL_SAVE_INVSTD,
       DN_FINAL_SCALE2, DN_FINAL_BIAS2, DN_FINAL_ARRAYS };

typedef struct dn_final_naive {
    dn_walk walk;                          /* W, B */
    dn_elements array[DN_FINAL_ARRAYS];
    double m, eps, factor;
} dn_final_naive;

#endif
