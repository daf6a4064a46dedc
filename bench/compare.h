/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Is a result the truth's, within the limits of limits.h? */
#ifndef DN_BENCH_COMPARE_H
#define DN_BENCH_COMPARE_H

#include "memory.h"

typedef enum bench_verdict { BENCH_PASS, BENCH_MARGINAL_V, BENCH_FAIL, BENCH_UNSUPPORTED, BENCH_DIFFERS, BENCH_VERDICTS } bench_verdict;
/* BENCH_DIFFERS: from a golden file's answer, in a way that is known and written down. */

typedef struct bench_result {
    bench_verdict verdict;
    double part;      /* largest error as a part of its limit */
    double norm;      /* norm-wise relative error, the largest of the outputs */
    char why[256];    /* of fail, unsupported and differs */
} bench_result;

/* How a row computes changes what may be asked of it. */
enum {
    BENCH_TRANSFORMED = 1,  /* FFT, Winograd: errors are a part of the largest sum, whole numbers are not exact */
    BENCH_TF32 = 2,
    BENCH_OTHER_MASK = 4,   /* dropout with a generator of its own: only the form of the result can be looked at */
};

void bench_compare(const bench_case *c, const bench_data *d, const bench_truth *t, const bench_memory *m, unsigned how,
                   bench_result *r);
/* Limit of element i of a slot. */
double bench_allowed(const bench_case *c, const bench_slot *s, const bench_truth *t, int slot, int64_t i, unsigned how);
/* Error of one element as a part of its limit; infinite where only the exact value will do. */
double bench_part(const bench_case *c, const bench_slot *s, const bench_truth *t, int slot, int64_t i, double got, unsigned how);
const char *bench_verdict_name(bench_verdict v);

#endif
