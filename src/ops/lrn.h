/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Parameters of local response and divisive normalisation: limits, the window, the power. */
#ifndef DN_OPS_LRN_H
#define DN_OPS_LRN_H

#include "ops/problem.h"

#include <math.h>

#define DN_LRN_N_MAX 16
#define DN_LRN_K_MIN 1e-5
#define DN_LRN_BETA_MIN 0.01

/* BAD_PARAM with the descriptor's names for what is out of its limits. */
dn_status dn_lrn_check_param(const dn_lrn_param *q);

/* The window of element i is i - dn_lrn_back(n) ... i + dn_lrn_ahead(n), cut at the ends: where n is even, the longer side is ahead. */
static inline int dn_lrn_back(int n)
{
    return (n - 1) / 2;
}

static inline int dn_lrn_ahead(int n)
{
    return n / 2;
}

/* d to the power of -beta. 3/4 and 1/2, which nearly all networks use, by square roots: exact to two units in the last place. */
static inline double dn_lrn_power(double d, double beta)
{
    if (beta == 0.75) {
        double r = sqrt(d);
        return 1 / (r * sqrt(r));
    }
    return beta == 0.5 ? 1 / sqrt(d) : beta == 1 ? 1 / d : pow(d, -beta);
}

#endif
