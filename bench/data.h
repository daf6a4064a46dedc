/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * What a case reads and writes, as values: every operand has a slot (a role, or DN_ROLE_COUNT + an aux), whose elements stand in
 * an array of doubles in logical order (last dimension fastest), whatever type and strides the memory of a run has. */
#ifndef DN_BENCH_DATA_H
#define DN_BENCH_DATA_H

#include "case.h"

enum { BENCH_SLOTS = DN_ROLE_COUNT + DN_AUX_COUNT, BENCH_IN = 1, BENCH_OUT = 2 };
#define BENCH_AUX(a) (DN_ROLE_COUNT + (a))

typedef struct bench_slot {
    dn_tensor t;      /* rank 0: not there */
    int flow;         /* BENCH_IN, BENCH_OUT or both; 0: scratch that the call may spoil */
    int64_t count;
    double *v;        /* before the run, each value one of t's type; NaN for an output that is not read */
    int share;        /* slot whose memory it shares (in place), or -1 */
} bench_slot;

typedef struct bench_data {
    bench_slot s[BENCH_SLOTS];
    unsigned char *states, *reserve;  /* of dropout and of a fused normalisation; before the run */
    size_t states_size, reserve_size;
    int64_t bits;                     /* of dropout's reserve that mean anything; the rest pads it */
    dn_tensor mask;                   /* rank 0: the reserve's bytes as they are; else a byte per element, here in logical order */
    bool reserve_in;                  /* the reserve is an input */
    bool own_reserve;                 /* it is whatever the library's own calls write (chain.h): no bytes here, but a size for our rows */
    struct bench_prior *prior;        /* the call that must come before, or NULL */
    int32_t *lengths;                 /* of sequences, by batch element; NULL: no sequences */
    int32_t *lo, *hi;                 /* windows of attention, by time of the queries */
} bench_data;

typedef struct bench_prior bench_prior;

/* Name of a slot: "x", "scale". */
const char *bench_slot_name(int slot);
/* Bytes that the values and one copy in memory take, about; to refuse what the machine cannot hold. */
double bench_data_bytes(const bench_case *c);
/* False with a last-error text: no memory, or a forward step that cannot be computed. */
bool bench_data_make(bench_data *d, const bench_case *c);
void bench_data_free(bench_data *d);

/* What the output slots must hold. */
typedef struct bench_truth {
    double *v[BENCH_SLOTS];     /* NULL: not an output */
    double *sum[BENCH_SLOTS];   /* sum of |products| per element; NULL: see top */
    double top[BENCH_SLOTS];    /* largest magnitude in the slot: of sum, else of v */
    double length;              /* terms of one sum */
    bool sums_exact;            /* only the exact value will do: whole numbers that f32 sums exactly in any order, or no sums */
    unsigned char *reserve;     /* after the run */
} bench_truth;

/* ref in double on the widened values, without the caller's layouts. */
bool bench_truth_make(bench_truth *t, const bench_case *c, const bench_data *d);
void bench_truth_free(bench_truth *t);

/* Offset of logical element i, in scalars of the stored type from the tensor's pointer. */
int64_t bench_offset(const dn_tensor *t, int64_t i);
/* Whether two elements of t share memory. */
bool bench_overlaps(const dn_tensor *t);

/* The value that element i of a slot has before it is rounded to its type: a number of -1 .. 1 from splitmix64. */
double bench_unit(uint64_t seed, int slot, int64_t i);

#endif
