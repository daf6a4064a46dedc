/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Teams: p.team neighbouring threads of a block of DN_TEAM_BLOCK (a power of two) that work on one group of elements. All threads of the
 * block call these together. Sums are trees, always the same, so bits do not depend on the run. */
#ifndef DN_CUDA_TEAM_CUH
#define DN_CUDA_TEAM_CUH

#include "cuda/common.cuh"
#include "cuda/team.h"

/* v's sum, or its maximum (NaN passed over), over the threads of a team; sh: DN_TEAM_BLOCK values. */
DN_FN double dn_team_reduce(double v, int team, double *sh, bool maximum)
{
    int t = (int)threadIdx.x, lane = t & (team - 1);
    if (team == 1)
        return v;
    __syncthreads();
    sh[t] = v;
    for (int o = team / 2; o > 0; o /= 2) {
        __syncthreads();
        if (lane < o)
            sh[t] = maximum ? fmax(sh[t], sh[t + o]) : sh[t] + sh[t + o];
    }
    __syncthreads();
    return sh[t - lane];
}

DN_FN double dn_team_sum(double v, int team, double *sh)
{
    return dn_team_reduce(v, team, sh, false);
}

DN_FN double dn_team_max(double v, int team, double *sh)
{
    return dn_team_reduce(v, team, sh, true);
}

#endif
