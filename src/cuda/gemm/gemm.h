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

/* What the kernels for capability 9.0 are given: A and B by the driver's descriptions of tensors (CUtensorMap, opaque). */
#if defined(__cplusplus)
#define DN_GEMM_ALIGNED alignas(64)
#else
#define DN_GEMM_ALIGNED _Alignas(64)
#endif
typedef struct dn_gemm_map {
    DN_GEMM_ALIGNED unsigned long long words[16];
} dn_gemm_map;

typedef struct dn_gemm_wgmma {
    dn_gemm_map a, b;
    dn_gemm g;             /* wide_c: four elements of C begin at multiples of four */
    int m_tiles, n_tiles;
    int tiles;             /* of all products; times split */
    int stages;            /* of shared memory */
    int split;             /* blocks of a cluster, each with a range of k: 1, 2, 4, 8 */
} dn_gemm_wgmma;

/* k of a stage; the most stages; rows of tiles that are walked together */
enum { DN_WGMMA_STEP = 64, DN_WGMMA_STAGES = 8, DN_WGMMA_BAND = 16 };

enum { DN_GEMM_STEP = 32, DN_GEMM_THREADS = 256, DN_GEMM_STAGES_128 = 4, DN_GEMM_STAGES_64 = 6 };

#endif
