/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The products of gemm.h from the host. Sums are made in f32, or in f64 where asked for, in an order that depends on the sizes alone. */
#ifndef DN_CUDA_GEMM_HOST_H
#define DN_CUDA_GEMM_HOST_H

#include "cuda/gemm/gemm.h"
#include "cuda/naive.h"

enum { DN_GEMM_TILES = 2, DN_GEMM_TURNS = 4 };  /* 128 and 64 wide; A, B as they lie or turned */
enum { DN_WGMMA_TILES = 4, DN_WGMMA_SPLITS = 4 };  /* 128 x 128, 64 x 128, 128 x 64, 128 x 128 in relay; 1, 2, 4, 8 blocks for a sum */

/* Made once per plan. */
typedef struct dn_gemm_functions {
    dn_cu_fn any, reduce;
    dn_cu_fn tiled[DN_GEMM_TILES][DN_GEMM_TURNS];  /* f16, bf16: on tensor cores; NULL where the type or the device has none */
    dn_cu_fn wgmma[DN_WGMMA_TILES][DN_GEMM_TURNS];  /* f16, bf16 on capability 9.0; NULL elsewhere */
    int at_once[DN_WGMMA_SPLITS];                /* blocks that run at once there, one on an SM, by the blocks that share a sum; 0: none may */
    dn_dtype type;                               /* of A and B there */
    int f64;                                     /* sums are f64 */
} dn_gemm_functions;

/* type: of the products that matter (other types are taken too, by the slower kernel). */
dn_status dn_cuda_gemm_prepare(dn_handle *h, dn_dtype type, bool f64, dn_gemm_functions *f);

/* Bytes that let a product with large k and few outputs run in parts; 0 where it has none. Any less (NULL) is one part. */
size_t dn_cuda_gemm_workspace(int64_t m, int64_t n, int64_t k, int64_t batch, bool f64);

/* g's first part filled in. workspace: NULL or what dn_cuda_gemm_workspace says, aligned to 16 bytes. */
dn_status dn_cuda_gemm(dn_handle *h, const dn_gemm_functions *f, const dn_gemm *g, void *workspace);

/* gemm_wgmma.c. The kernels for capability 9.0, as far as they are there: f->wgmma, f->at_once. */
dn_status dn_gemm_wgmma_prepare(dn_handle *h, dn_gemm_functions *f);
/* Whether they take a product that the tiled kernels take. */
bool dn_gemm_wgmma_takes(const dn_gemm_functions *f, const dn_gemm *g);
dn_status dn_gemm_wgmma_run(dn_handle *h, const dn_gemm_functions *f, const dn_gemm *g);

#endif
