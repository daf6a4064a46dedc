/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * What the pooling kernels are given; shared by host and kernels. */
#ifndef DN_CUDA_POOL_POOL_H
#define DN_CUDA_POOL_POOL_H

#include "cuda/flat_walk.h"
#include "cuda/view.h"

enum { DN_POOL_AXES = 6 };

/* One pooled dimension: window o covers inputs o * str - pad ... + win - 1, cut to 0 ... in - 1. */
typedef struct dn_pool_axis {
    long long in, out;
    int win, pad, str;
} dn_pool_axis;

/* Everything brought to DN_POOL_AXES pooled dimensions by dimensions of size 1 in front, so that views have rank 8. A launch works on
 * planes first .. first + planes - 1, counted over n and c. */
typedef struct dn_pool_naive {
    dn_view x, y, dx, dy;
    long long c, first, planes, in_plane, out_plane;
    long long *winner;           /* planes x out_plane: where in its plane the maximum of a window lies, -1 for none */
    dn_pool_axis axis[DN_POOL_AXES];
    int max, count_pad, nan;
    double alpha, beta;
} dn_pool_naive;

/* The tuned kernels. Planes have in[0] x in[1] x in[2] positions (depth, height, width) of c elements side by side; a thread works on some
 * of these c: NHWC as it is, NCHW with n x c planes of one element. */
typedef struct dn_pool_fast {
    const void *x, *dy;
    void *out;                   /* y or dx */
    unsigned char *winner;       /* of each output: number of the tap that is its maximum, 255 for none */
    dn_div units, width, rows, depth;  /* threads across: units of a position, positions or blocks across, strips or blocks down, planes deep */
    unsigned threads;
    int in[3], out_size[3], win[3], pad[3], str[3];
    int c, strip;                /* strip: outputs that a thread makes, one below the other; planes, or vectors, of a block (WHOLE) */
    int line;                    /* NCHW: neighbours along the width that a thread reads as a vector, 0: none */
    int team, staged;            /* WHOLE: threads of a plane, a power of two; planes go through shared memory */
    int form;                    /* which code: DN_POOL_FORM_... */
    int mode;                    /* DN_POOL_AVERAGE ... */
    int count_pad, pairs;        /* pairs: neighbours along the width may be stored together */
    int plain;                   /* alpha 1, beta 0 */
    float alpha, beta;
} dn_pool_fast;

/* Window and stride of height and width; GENERAL also pools depth, WHOLE has one window over everything. The gradient's blocks are 2 x 2
 * positions (stride 2; pad 1 for 3 x 3). */
enum { DN_POOL_GENERAL, DN_POOL_2S2, DN_POOL_3S2, DN_POOL_3S1, DN_POOL_WHOLE };
enum { DN_POOL_AVERAGE, DN_POOL_MAX, DN_POOL_MAX_NAN };
enum { DN_POOL_THREADS = 256 };

#endif
