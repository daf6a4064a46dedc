/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#ifndef DN_CUDA_LRN_LRN_FN_CUH
#define DN_CUDA_LRN_LRN_FN_CUH

#include "cuda/common.cuh"
#include "cuda/lrn/lrn.h"

/* s to the power of -beta, as ops/lrn.h has it. */
DN_FN double dn_lrn_power(double s, double beta)
{
    if (beta == 0.75) {
        double r = sqrt(s);
        return 1 / (r * sqrt(r));
    }
    return beta == 0.5 ? 1 / sqrt(s) : beta == 1 ? 1 / s : pow(s, -beta);
}

#endif
