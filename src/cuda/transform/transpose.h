/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * What the transposing kernels are given: in[batch][rows][cols] to out[batch][cols][rows], both dense. NCHW to NHWC has rows = C and
 * cols = H * W, the way back rows = H * W and cols = C. Shared by host and kernels. */
#ifndef DN_CUDA_TRANSFORM_TRANSPOSE_H
#define DN_CUDA_TRANSFORM_TRANSPOSE_H

#define DN_TRANSPOSE_TILE 64
#define DN_TRANSPOSE_SHARED 32768  /* bytes that the kernel for small planes uses at most */

typedef struct dn_transpose {
    const void *in;
    void *out;
    unsigned batch, rows, cols;
    unsigned across, down;   /* tile: tiles along cols and rows; small planes: groups of an image, channels of a group */
    int type;                /* dn_dtype */
    float alpha;
} dn_transpose;

#endif
