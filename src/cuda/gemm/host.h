/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The products of gemm.h from the host. Sums are made in f32, or in f64 where asked for, in an order that depends on the sizes alone. */
#ifndef DN_CUDA_GEMM_HOST_H
#define DN_CUDA_GEMM_HOST_H

#include "cuda/gemm/gemm.h"
#include "cuda/naive.h"

enum { DN_GEMM_TILES = 2, DN_GEMM_TURNS = 4 };  /* 128 and 64 wide; A, B as they lie or turned */

/* Made once per plan. */
typedef struct dn_gemm_functions {
    dn_cu_fn any, reduce;
    dn_cu_fn tiled[DN_GEMM_TILES][DN_GEMM_TURNS];  /* f16, bf16: on tensor cores; NULL where the type or the device has none */
    dn_dtype type;                               /* of A and B there */
    int f64;                                     /* sums are f64 */
} dn_gemm_functions;

/* type: of the products that matter (other types are taken too, by the slower kernel). */
dn_status dn_cuda_gemm_prepare(dn_handle *h, dn_dtype type, bool f64, dn_gemm_functions *f);

/* Bytes that let a product with large k and few outputs run in parts; 0 where it has none. Any less (NULL) is one part. */
size_t dn_cuda_gemm_workspace(int64_t m, int64_t n, int64_t k, int64_t batch, bool f64);

/* g's first part filled in. workspace: NULL or what dn_cuda_gemm_workspace says, aligned to 16 bytes. */
dn_status dn_cuda_gemm(dn_handle *h, const dn_gemm_functions *f, const dn_gemm *g, void *workspace);

#endif
