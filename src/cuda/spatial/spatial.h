/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * What the spatial transformer's kernels are given; shared by host and kernels. */
#ifndef DN_CUDA_SPATIAL_SPATIAL_H
#define DN_CUDA_SPATIAL_SPATIAL_H

#include "cuda/view.h"

enum { DN_SPATIAL_BLOCK = 256 };

typedef struct dn_spatial_tensor {
    dn_elements e;
    long long stride[4];
} dn_spatial_tensor;

typedef struct dn_stgrid {
    dn_spatial_tensor theta, grid;  /* or their gradients: n x 2 x 3, n x h x w x 2 */
    long long n, h, w;
} dn_stgrid;

/* For the gradient by x, the output pixels of a sample are listed by the cell of four pixels of x that they are sampled from: those of
 * cell k are list[ends[k - 1]] ... list[ends[k] - 1] (the first cell's from 0 on), in ascending order. */
typedef struct dn_stsample {
    dn_spatial_tensor x, y, grid, dx, dgrid;  /* y: or its gradient */
    long long n, c, h, w, out_h, out_w;
    long long first, batch;                   /* samples that are listed: of those, list and ends begin at 0 */
    long long *list, *ends;                   /* [batch][out_h out_w], [batch][cells] */
    int y_channel_last, dx_channel_last;      /* channels are the innermost dimension in memory */
    double alpha, beta, alpha2, beta2;
} dn_stsample;

#endif
