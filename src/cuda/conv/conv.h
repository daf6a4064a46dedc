/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * What the convolution kernels that take everything are given; shared by host and kernels. The operands are the views of ref/conv.h: an
 * element (channel, tap, column) lies at
 *     offset + channel part + sum over dims of (col * mul + base + tap * step) * stride      where that index is in [0, limit), else it is 0
 * with channels counted over all groups. */
#ifndef DN_CUDA_CONV_CONV_H
#define DN_CUDA_CONV_CONV_H

#include "cuda/act/act.h"
#include "cuda/view.h"

enum { DN_GEMM_DIMS = 7, DN_GEMM_TAPS = 6 };

typedef struct dn_gemm_dim {
    long long cols, taps, mul, base, step, limit, stride, tap_weight;
} dn_gemm_dim;

typedef struct dn_gemm_view {
    dn_elements e;
    int rank, vect;            /* vect: channels per stored vector, 1 for plain types */
    long long chans;           /* of one group */
    long long offset, chan_stride;  /* chan_stride from vector to vector */
    dn_gemm_dim dim[DN_GEMM_DIMS];
} dn_gemm_view;

/* The filter as rows m and columns l = (channel, tap) or (tap, channel). */
typedef struct dn_gemm_filter {
    dn_elements e;
    int rank, vect, tap_inner;
    int reordered;             /* 1: laid out as cudnnReorderFilterAndBias does (INT8x32), and so is the bias */
    long long rows, chans, taps, all_rows;  /* rows: of one group; all_rows: of all */
    long long offset, group_stride, row_stride, chan_stride;
    long long dim[DN_GEMM_TAPS], stride[DN_GEMM_TAPS];
} dn_gemm_filter;

/* out[m][col] = alpha * sum over l of w[m][l] * in[l][col] + beta * out, or act(alpha * sum + alpha2 * z + bias) where fused.
 * The same for the gradient by the input, a phase of the stride at a time. */
typedef struct dn_gemm_fwd {
    dn_gemm_view in, out, z;
    dn_gemm_filter w;
    dn_elements bias;
    dn_act_fn act;
    long long groups, m, l, cols, bias_stride;
    double alpha, alpha2, beta;
    int fused, has_z;
    int chan_first;            /* direct kernels: neighbouring threads take neighbouring channels, not columns */
    int zero;
} dn_gemm_fwd;

/* dw[m][l] = alpha * sum over cols of dy[m][col] * x[l][col] + beta * dw. parts > 1: sums of ranges of columns go to the workspace
 * [parts][groups][m][l] first. */
typedef struct dn_gemm_filter_grad {
    dn_gemm_view x, dy;
    dn_gemm_filter dw;
    void *sums;
    long long groups, m, l, cols, parts, part;  /* part: columns of each */
    double alpha, beta;
} dn_gemm_filter_grad;

/* db[k] = alpha * sum over columns of dy[k] + beta * db[k] */
typedef struct dn_gemm_bias_grad {
    dn_gemm_view dy;
    dn_elements db;
    long long chans, cols, db_stride;
    double alpha, beta;
} dn_gemm_bias_grad;

#endif
