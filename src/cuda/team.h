/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * How many threads of a block the naive kernels put on one group of elements. Shared by host and kernels. */
#ifndef DN_CUDA_TEAM_H
#define DN_CUDA_TEAM_H

#include "cuda/view.h"

enum { DN_TEAM_BLOCK = 256 };

#if !defined(__CUDACC__)  /* NVRTC takes no host functions */
/* A power of two, by the problem alone. t: the tensor that is read; side by side lie the elements of one group, or else neighbours of
 * several groups: then one thread each, if that is enough threads. */
static inline int dn_team_of(const dn_walk *groups, const dn_walk *inner, int t)
{
    long long across = groups->step[t][groups->rank - 1], along = inner->step[t][inner->rank - 1];
    across = across < 0 ? -across : across;
    along = along < 0 ? -along : along;
    if (inner->count < 8 || (groups->count >= 4096 && across < along && inner->count < 65536))
        return 1;
    return inner->count <= 1024 && groups->count >= 1024 ? 32 : DN_TEAM_BLOCK;
}
#endif

#endif
