/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Inner loops of batch normalisation over a tile v of rows x n doubles, row after row, one set per instruction set
 * (bn_kernel.isa.c). A parameter is an array of n, one per column (across), or a single number for the whole tile. Each column's
 * sum runs in order of the rows, a single sum in order of the tile, and no product is fused with a sum: all sets, and both
 * shapes, give the same bits for the same numbers. */
#ifndef DN_REF_BN_KERNEL_H
#define DN_REF_BN_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

typedef struct dn_bn_tile {
    int64_t rows, n;
    bool across;
} dn_bn_tile;

typedef struct dn_bn_kernel {
    void (*widen)(int64_t n, const void *x, double *v);             /* v = x, n floats at any address */
    void (*narrow)(int64_t n, const double *v, double alpha, void *y);  /* y = alpha v, n floats */
    void (*sum)(const dn_bn_tile *t, const double *v, double *s);   /* s += v */
    void (*center)(const dn_bn_tile *t, double *v, const double *mean);  /* v -= mean */
    void (*multiply)(const dn_bn_tile *t, double *v, const double *w);   /* v *= w, both tiles */
    void (*norm)(const dn_bn_tile *t, double *v, const double *inv, const double *scale, const double *bias);
    /* v is dy and becomes scale * inv * (v - sum - x * dot) */
    void (*dx)(const dn_bn_tile *t, double *v, const double *x, const double *scale, const double *inv, const double *sum,
               const double *dot);
} dn_bn_kernel;

extern const dn_bn_kernel dn_bn_kernel_base;
#if defined(DN_HAVE_AVX2)
extern const dn_bn_kernel dn_bn_kernel_avx2;
#endif
#if defined(DN_HAVE_AVX512)
extern const dn_bn_kernel dn_bn_kernel_avx512;
#endif

#endif
