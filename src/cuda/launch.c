/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The hot path of the engine. */
#include "cuda/cuda.h"

#include <stdlib.h>

dn_status dn_cuda_launch(dn_handle *h, const dn_cuda_grid *g, const void *params)
{
    void *list[] = { (void *)(uintptr_t)params };
    int pushed;
    dn_status st = dn_cuda_enter(h, &pushed);
    if (st != DN_SUCCESS)
        return st;
    int rc = dn_cu_table->LaunchKernel(g->f, g->grid[0], g->grid[1], g->grid[2], g->block[0], g->block[1], g->block[2], g->shared, h->stream,
                                       list, NULL);
    dn_cuda_leave(pushed);
    return dn_cu_check(rc, "launching a kernel");
}

void dn_cuda_grid_loop(const dn_handle *h, dn_cuda_grid *g, int64_t threads, unsigned block, unsigned waves)
{
    int64_t blocks = (threads + block - 1) / block, most = (int64_t)dn_cuda_device_of(h)->sm_count * (2048 / block) * waves;
    blocks = blocks < most ? blocks : most;
    g->grid[0] = (unsigned)(blocks > 0 ? blocks : 1);
    g->grid[1] = g->grid[2] = 1;
    g->block[0] = block;
    g->block[1] = g->block[2] = 1;
}

void dn_cuda_release(dn_plan *plan)
{
    free(plan->state);
    plan->state = NULL;
}
