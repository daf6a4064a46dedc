/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Inner loops of recurrent networks in f32, one set per instruction set (rnn_kernel.isa.c): n units of one position. Units of a gate lie one
 * after another, gates `gate` elements apart, those of sums and biases `sum_gate`. An output may lie where an input of the same unit lay.
 * Formulas and letters as in ops/rnn.h. */
#ifndef DN_CPU_RNN_KERNEL_H
#define DN_CPU_RNN_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

typedef struct dn_cpu_rnn_clip {
    bool on, nan;          /* nan: NaN goes through */
    float low, high;
} dn_cpu_rnn_clip;

typedef struct dn_cpu_rnn_units {
    int64_t n, gate, sum_gate;
    const float *sums;     /* both products by gate; GRU's n: that of the input */
    const float *product;  /* [n] GRU: R_n h */
    const float *bias;     /* by gate: both biases; GRU's n: that of the input */
    const float *bias_n;   /* [n] GRU: the recurrent one of n */
    const float *before;   /* [n] GRU: h; LSTM, gradient: c */
    const float *c;        /* [n] LSTM, gradient: c' */
    float *state;          /* [n] LSTM: c, then c' */
    float *keep;           /* by gate: what the reserve space keeps */
    float *cell;           /* [n] LSTM: c' once more */
    float *h;              /* [n] forward: h' before the projection */
    const float *dh;       /* [n] gradient by that */
    float *dc;             /* [n] LSTM: gradient by c', then by c */
    float *carry;          /* [n] GRU: part of the gradient by h that goes round the products */
    float *dgates;         /* by gate */
    dn_cpu_rnn_clip clip;
} dn_cpu_rnn_units;

typedef struct dn_cpu_rnn_kernel {
    void (*forward[4])(const dn_cpu_rnn_units *u);   /* by cell */
    void (*backward[4])(const dn_cpu_rnn_units *u);
    void (*project)(const dn_cpu_rnn_units *u);      /* h = keep tanh(clip(c)), keep being o */
    void (*turn)(int64_t rows, int64_t columns, const float *from, int64_t from_ld, float *to, int64_t to_ld);  /* to[c][r] = from[r][c] */
    void (*add)(int64_t n, const float *a, const float *b, float *to);  /* to = a + b; to may be a or b */
    void (*sum)(int64_t n, const float *row, double *sums);  /* sums += row */
} dn_cpu_rnn_kernel;

extern const dn_cpu_rnn_kernel dn_cpu_rnn_kernel_base;
#if defined(DN_HAVE_AVX2)
extern const dn_cpu_rnn_kernel dn_cpu_rnn_kernel_avx2;
#endif
#if defined(DN_HAVE_AVX512)
extern const dn_cpu_rnn_kernel dn_cpu_rnn_kernel_avx512;
#endif

#endif
