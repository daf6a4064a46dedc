/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Parameters of the CTC kernels; letters and formulas in ops/ctc.h. Shared by host and kernels. */
#ifndef DN_CUDA_CTC_CTC_H
#define DN_CUDA_CTC_CTC_H

#include "cuda/view.h"

/* What is the same in all of them: int32 arrays in device memory, all labels one after another. */
typedef struct dn_ctc_call {
    const int *labels, *label_lengths, *input_lengths;
    int steps, batch, classes, max_label;
    int norm, skip, gradients;  /* gradients: they are wanted */
    int zero;
} dn_ctc_call;

enum { DN_CTC_NAIVE_BLOCK = 256 };

typedef struct dn_ctc_naive {
    dn_ctc_call c;
    dn_elements x, dx, costs;
    long long x_stride[3], dx_stride[3];
    double *work;       /* block_doubles for every block */
    long long block_doubles, room;  /* room: states of a sample */
} dn_ctc_naive;

enum { DN_CTC_WARPS = 12, DN_CTC_LABELS_MAX = 255, DN_CTC_CLASSES_MAX = 8192 };

/* f32, classes side by side. */
typedef struct dn_ctc_warps {
    dn_ctc_call c;
    const float *x;
    float *dx, *costs;
    long long x_step, x_sample, dx_step, dx_sample;
    float *work;        /* sample_floats for every sample; NULL: everything is in shared memory */
    long long sample_floats;
    int room, zero;     /* room: labels in shared memory; a sample with more is short */
} dn_ctc_warps;

/* Floats that one sample with this many steps and labels keeps: mantissa and exponent of two states for every pair of a blank and a label
 * (lanes take up to 8 pairs each, the last one's may be partly there), and what y is for the blank and every label. */
static inline
#if defined(__CUDACC__) || defined(DN_EMULATED)
__device__
#endif
long long dn_ctc_sample_floats(int steps, int labels)
{
    int pairs = labels + 1, per_lane = pairs <= 32 ? 1 : pairs <= 64 ? 2 : pairs <= 128 ? 4 : 8;
    int lanes = (pairs + per_lane - 1) / per_lane;
    return (long long)steps * (4 * per_lane * lanes + pairs);
}

/* Host integers on their way to the device as a kernel's parameter: 16 bits each where all fit, else 32. */
enum { DN_CTC_PUT_BYTES = 3840 };

typedef struct dn_ctc_put {
    int *out;
    int count, wide;
    unsigned short value[DN_CTC_PUT_BYTES / 2];  /* wide: two of them make one, the lower half first */
} dn_ctc_put;

#endif
