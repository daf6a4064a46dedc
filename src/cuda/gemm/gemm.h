/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Matrix products that several operations share, and what their kernels are given; shared by host and kernels.
 *     C[m, n] = alpha op(A)[m, k] op(B)[k, n] + bias[n] + beta C[m, n]        batch times
 * Matrices are row-major with a leading dimension; op turns a matrix where trans is set: A then lies as [k][m], B as [n][k]. */
#ifndef DN_CUDA_GEMM_GEMM_H
#define DN_CUDA_GEMM_GEMM_H

#include "cuda/view.h"

typedef struct dn_gemm {
    dn_elements a, b, c, bias;       /* bias.ptr NULL: none */
    long long m, n, k, batch;
    long long lda, ldb, ldc;         /* elements from row to row */
    long long pitch_a, pitch_b, pitch_c, pitch_bias;  /* elements from product to product */
    int trans_a, trans_b;
    double alpha, beta;              /* beta 0: C is not read */
    /* from here on by dn_cuda_gemm */
    int wide_a, wide_b, wide_c;      /* rows begin at multiples of 16 bytes; pairs of C at multiples of a pair */
    int parts;                       /* of k, each summed alone into partial where there is more than one */
    long long part;                  /* elements of k of a part, a multiple of DN_GEMM_STEP */
    void *partial;                   /* [parts][batch][m][n] */
} dn_gemm;

enum { DN_GEMM_STEP = 32, DN_GEMM_THREADS = 256, DN_GEMM_STAGES_128 = 4, DN_GEMM_STAGES_64 = 6 };

#endif
