/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Inner loops of convolutions with few output channels per group, where a matrix product would be mostly packing
 * (conv_plane_kernel.isa.c). Rows of doubles; the caller lets them be read and written up to the next multiple of DN_PLANE_PAD. */
#ifndef DN_REF_CONV_PLANE_H
#define DN_REF_CONV_PLANE_H

#include <stdint.h>

enum { DN_PLANE_ROWS = 4, DN_PLANE_PAD = 8 };

typedef struct dn_plane_kernel {
    const char *isa;
    /* out[i][j] += sum over t < taps of w[i][t] * in[off[t] + j], i < rows <= DN_PLANE_ROWS, j < n; rows of out ld apart */
    void (*gather)(int64_t n, int rows, int64_t taps, const int64_t *off, const double *w, const double *in, double *out, int64_t ld);
    /* sum[t][j % 8] += a[j] * in[off[t] + j] for j < n, which reads no further */
    void (*dot)(int64_t n, int64_t taps, const int64_t *off, const double *a, const double *in, double *sum);
} dn_plane_kernel;

extern const dn_plane_kernel dn_plane_kernel_base;
#if defined(__x86_64__) || defined(_M_X64)
extern const dn_plane_kernel dn_plane_kernel_avx2, dn_plane_kernel_avx512;
#endif

#endif
