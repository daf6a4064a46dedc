/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The hot path of the engine. */
#include "cuda/cuda.h"

#include <stdlib.h>

static dn_status launched(int rc)
{
    return rc == DN_CU_SUCCESS ? DN_SUCCESS : dn_cu_check(rc, "launching a kernel");
}

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
    return launched(rc);
}

dn_status dn_cuda_launch_cooperative(dn_handle *h, const dn_cuda_grid *g, const void *params)
{
    void *list[] = { (void *)(uintptr_t)params };
    int pushed;
    dn_status st = dn_cuda_enter(h, &pushed);
    if (st != DN_SUCCESS)
        return st;
    int rc = dn_cu_table->LaunchCooperativeKernel(g->f, g->grid[0], g->grid[1], g->grid[2], g->block[0], g->block[1], g->block[2], g->shared,
                                                  h->stream, list);
    dn_cuda_leave(pushed);
    return launched(rc);
}

dn_status dn_cuda_memset(dn_handle *h, void *ptr, int value, size_t size)
{
    int pushed;
    dn_status st = dn_cuda_enter(h, &pushed);
    if (st != DN_SUCCESS)
        return st;
    int rc = dn_cu_table->MemsetD8Async((dn_cu_ptr)(uintptr_t)ptr, (unsigned char)value, size, h->stream);
    dn_cuda_leave(pushed);
    return rc == DN_CU_SUCCESS ? DN_SUCCESS : dn_cu_check(rc, "filling memory");
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
