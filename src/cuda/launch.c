/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The hot path of the engine. */
#include "cuda/cuda.h"

#include <stdlib.h>

enum { CLUSTER_PORTABLE = 8 };  /* blocks of a cluster that every device with clusters takes */

static int is_plain(const dn_cuda_grid *g)
{
    return g->cluster <= 1 && !g->cooperative;
}

/* attributes: 2 */
static dn_cu_config config_of(const dn_handle *h, const dn_cuda_grid *g, dn_cu_attribute *attributes)
{
    dn_cu_config c = { { g->grid[0], g->grid[1], g->grid[2] }, { g->block[0], g->block[1], g->block[2] }, g->shared, h->stream, attributes, 0 };
    if (g->cluster > 1)
        attributes[c.count++] = (dn_cu_attribute){ .id = DN_CU_LAUNCH_CLUSTER, .value.cluster = { g->cluster, 1, 1 } };
    if (g->cooperative)
        attributes[c.count++] = (dn_cu_attribute){ .id = DN_CU_LAUNCH_COOPERATIVE, .value.cooperative = 1 };
    return c;
}

static int launch_ex(const dn_handle *h, const dn_cuda_grid *g, void **list)
{
    dn_cu_attribute attributes[2];
    dn_cu_config c = config_of(h, g, attributes);
    return dn_cu_table->LaunchKernelEx(&c, g->f, list, NULL);
}

/* The context is current. *room: how many blocks run at once. */
static int blocks_at_once(const dn_handle *h, const dn_cuda_grid *g, int *room)
{
    dn_cu_attribute attributes[2];
    dn_cu_config c = config_of(h, g, attributes);
    int threads = (int)(g->block[0] * g->block[1] * g->block[2]), rc;
    *room = 0;
    if (g->cluster <= 1) {
        rc = dn_cu_table->OccupancyMaxBlocks(room, g->f, threads, g->shared);
        *room *= dn_cuda_device_of(h)->sm_count;
        return rc;
    }
    rc = g->cluster > CLUSTER_PORTABLE ? dn_cu_table->FuncSetAttribute(g->f, DN_CU_FUNC_LARGE_CLUSTER, 1) : DN_CU_SUCCESS;
    if (rc == DN_CU_SUCCESS)
        rc = dn_cu_table->OccupancyMaxClusters(room, g->f, &c);
    *room *= (int)g->cluster;
    return rc;
}

dn_status dn_cuda_grid_room(dn_handle *h, const dn_cuda_grid *g, int *room)
{
    int pushed;
    if (!is_plain(g) && (!dn_cu_table->LaunchKernelEx || !dn_cu_table->OccupancyMaxClusters))
        return dn_fail(DN_NOT_SUPPORTED, "the driver has no cuLaunchKernelEx");
    dn_status st = dn_cuda_enter(h, &pushed);
    if (st != DN_SUCCESS)
        return st;
    int rc = blocks_at_once(h, g, room);
    dn_cuda_leave(pushed);
    return dn_cu_check(rc, "asking how many blocks run at once");
}

dn_status dn_cuda_grid_fits(dn_handle *h, const dn_cuda_grid *g)
{
    int room;
    int64_t wanted = g->cooperative ? (int64_t)g->grid[0] * g->grid[1] * g->grid[2] : g->cluster;
    if (is_plain(g))
        return DN_SUCCESS;
    if (dn_cuda_grid_room(h, g, &room) != DN_SUCCESS || room < wanted)
        return dn_fail(DN_NOT_SUPPORTED, "the device has no room for %lld blocks at once", (long long)wanted);
    return DN_SUCCESS;
}

dn_status dn_cuda_launch(dn_handle *h, const dn_cuda_grid *g, const void *params)
{
    void *list[] = { (void *)(uintptr_t)params };
    int pushed;
    dn_status st = dn_cuda_enter(h, &pushed);
    if (st != DN_SUCCESS)
        return st;
    int rc = !is_plain(g) ? launch_ex(h, g, list)
                          : dn_cu_table->LaunchKernel(g->f, g->grid[0], g->grid[1], g->grid[2], g->block[0], g->block[1], g->block[2], g->shared,
                                                      h->stream, list, NULL);
    dn_cuda_leave(pushed);
    return dn_cu_check(rc, "launching a kernel");
}

dn_status dn_cuda_zero(dn_handle *h, void *ptr, size_t bytes)
{
    int pushed;
    dn_status st = dn_cuda_enter(h, &pushed);
    if (st != DN_SUCCESS)
        return st;
    int rc = dn_cu_table->MemsetD8Async((dn_cu_ptr)(uintptr_t)ptr, 0, bytes, h->stream);
    dn_cuda_leave(pushed);
    return dn_cu_check(rc, "clearing device memory");
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
