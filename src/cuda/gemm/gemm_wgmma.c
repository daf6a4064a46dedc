/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Products on capability 9.0: which tile, and how many blocks share a sum. */
#include "cuda/gemm/host.h"

#include "ref/conv.h"

#include <string.h>

_Static_assert(sizeof(dn_gemm_wgmma) <= 4096, "parameters of a kernel");
_Static_assert(sizeof(dn_gemm_map) == 128, "a CUtensorMap");

/* bytes: of a stage. Clocks of one SM, fitted to times on an H200: for a stage; for what a block does beside its products, or in relay the
 * least that a tile takes; for a sum of the results of a cluster. They set choices alone. */
typedef struct tile {
    int m, n, bytes, threads;
    double stage, block, join;
} tile;

enum { RELAY = 3 };
static const tile tiles[DN_WGMMA_TILES] = {
    { 128, 128, 32768, 288, 600, 3200, 1500 },
    { 64, 128, 24576, 160, 390, 2000, 1000 },
    { 128, 64, 24576, 288, 500, 2000, 1000 },
    { 128, 128, 32768, 384, 610, 10500, 0 },
};
static const double relay_tile = 1500, relay_ends = 6000;  /* what every tile adds to its stages; the first load and the last results */

/* Shared memory of stages: where two blocks live on an SM, and where one does. ROOM_OF_RELAY: 5 stages, and what its warps turn results in.
 * ALIGN: what brings all to a multiple of 1024. */
enum { ROOM_OF_TWO = 98304, ROOM_OF_ONE = 196608, RELAY_STAGES = 5, ROOM_OF_RELAY = RELAY_STAGES * 32768 + 8 * 16 * 72 * 4, ALIGN = 1024 };

static const char *const names[2][DN_WGMMA_TILES][DN_GEMM_TURNS] = {
    { { "cuda_gemm_f16_128x128_nn", "cuda_gemm_f16_128x128_nt", "cuda_gemm_f16_128x128_tn", "cuda_gemm_f16_128x128_tt" },
      { "cuda_gemm_f16_64x128_nn", "cuda_gemm_f16_64x128_nt", "cuda_gemm_f16_64x128_tn", "cuda_gemm_f16_64x128_tt" },
      { "cuda_gemm_f16_128x64_nn", "cuda_gemm_f16_128x64_nt", "cuda_gemm_f16_128x64_tn", "cuda_gemm_f16_128x64_tt" },
      { "cuda_gemm_f16_relay_nn", "cuda_gemm_f16_relay_nt", "cuda_gemm_f16_relay_tn", "cuda_gemm_f16_relay_tt" } },
    { { "cuda_gemm_bf16_128x128_nn", "cuda_gemm_bf16_128x128_nt", "cuda_gemm_bf16_128x128_tn", "cuda_gemm_bf16_128x128_tt" },
      { "cuda_gemm_bf16_64x128_nn", "cuda_gemm_bf16_64x128_nt", "cuda_gemm_bf16_64x128_tn", "cuda_gemm_bf16_64x128_tt" },
      { "cuda_gemm_bf16_128x64_nn", "cuda_gemm_bf16_128x64_nt", "cuda_gemm_bf16_128x64_tn", "cuda_gemm_bf16_128x64_tt" },
      { "cuda_gemm_bf16_relay_nn", "cuda_gemm_bf16_relay_nt", "cuda_gemm_bf16_relay_tn", "cuda_gemm_bf16_relay_tt" } },
};

/* How many blocks run at once, each on its SM, in clusters of any size. */
static dn_status ask(dn_handle *h, dn_gemm_functions *f)
{
    f->at_once[0] = dn_cuda_device_of(h)->sm_count;
    for (int i = 1; i < DN_WGMMA_SPLITS; i++) {
        dn_cuda_grid g = { .f = f->wgmma[0][0], .grid = { 1u << i, 1, 1 }, .block = { (unsigned)tiles[0].threads, 1, 1 },
                           .shared = ROOM_OF_ONE + ALIGN, .cluster = 1u << i };
        dn_status st = dn_cuda_grid_room(h, &g, &f->at_once[i]);
        if (st != DN_SUCCESS)
            return st;
    }
    return DN_SUCCESS;
}

dn_status dn_gemm_wgmma_prepare(dn_handle *h, dn_gemm_functions *f)
{
    if (!dn_cu_table->TensorMapEncodeTiled || !dn_cu_table->LaunchKernelEx || dn_cuda_device_of(h)->shared_max < ROOM_OF_RELAY + ALIGN)
        return DN_SUCCESS;
    const char *module = f->type == DN_F16 ? "cuda_gemm_f16_sm90" : "cuda_gemm_bf16_sm90";
    dn_status st = DN_SUCCESS;
    for (int t = 0; t < DN_WGMMA_TILES; t++)
        for (int turn = 0; st == DN_SUCCESS && turn < DN_GEMM_TURNS; turn++)
            st = dn_cuda_function(h, module, names[f->type == DN_BF16][t][turn], ROOM_OF_RELAY + ALIGN, &f->wgmma[t][turn]);
    if (st == DN_SUCCESS)
        st = ask(h, f);
    if (st != DN_SUCCESS)
        memset(f->wgmma, 0, sizeof f->wgmma);
    return st == DN_NOT_SUPPORTED ? DN_SUCCESS : st;
}

/* --- what is taken --- */

/* What the copy engine reads: 16-byte units, steps below 2^40 bytes, indices of 32 bits. */
static bool is_mapped(const dn_elements *e, int64_t ld, int64_t pitch, int64_t batch)
{
    const int64_t most = (int64_t)1 << 39;
    return (uintptr_t)e->ptr % 16 == 0 && ld > 0 && ld < most && ld % 8 == 0 && (batch == 1 || (pitch >= 0 && pitch < most && pitch % 8 == 0));
}

static int64_t tiles_in(const tile *t, const dn_gemm *g)
{
    return dn_ceil_div(g->m, t->m) * dn_ceil_div(g->n, t->n) * g->batch;
}

bool dn_gemm_wgmma_takes(const dn_gemm_functions *f, const dn_gemm *g)
{
    enum { LEAST = 16, LEAST_WORK = 1 << 20, MOST = 1 << 30 };
    return f->wgmma[0][0] && g->m >= LEAST && g->n >= LEAST && g->k >= LEAST && g->m < MOST && g->n < MOST && g->k < MOST && g->batch < MOST
        && (double)g->m * (double)g->n * (double)g->k * (double)g->batch >= LEAST_WORK && is_mapped(&g->a, g->lda, g->pitch_a, g->batch)
        && is_mapped(&g->b, g->ldb, g->pitch_b, g->batch) && tiles_in(&tiles[1], g) < INT32_MAX >> DN_WGMMA_SPLITS;
}

/* --- choice --- */

typedef struct choice {
    int form, split;     /* split: log2 of the blocks that share a sum */
    int64_t blocks;
    double clocks;
} choice;

/* Where a grid fills more than every SM once, blocks come in pairs. */
static choice estimate(const dn_gemm_functions *f, const dn_gemm *g, int t, int split)
{
    choice c = { .form = t, .split = split, .blocks = tiles_in(&tiles[t], g) << split };
    double stages = (double)dn_ceil_div(dn_ceil_div(g->k, DN_WGMMA_STEP), (int64_t)1 << split) * tiles[t].stage;
    int64_t room = f->at_once[split];
    if (t == RELAY) {
        double each = stages + relay_tile > tiles[t].block ? stages + relay_tile : tiles[t].block;
        c.clocks = (double)dn_ceil_div(c.blocks, room) * each + relay_ends;
    } else {
        double rounds = c.blocks <= room ? 1 : 2 * (double)dn_ceil_div(c.blocks, 2 * room);
        c.clocks = rounds * (stages + tiles[t].block) + (split ? tiles[t].join : 0);
    }
    return c;
}

static choice choose(const dn_gemm_functions *f, const dn_gemm *g)
{
    choice best = estimate(f, g, 0, 0);
    for (int t = 0; t < DN_WGMMA_TILES; t++)
        for (int split = 0; split < (t == RELAY ? 1 : DN_WGMMA_SPLITS) && f->at_once[split]; split++) {
            if (g->k <= (DN_WGMMA_STEP << split) - DN_WGMMA_STEP)
                break;
            choice c = estimate(f, g, t, split);
            if (c.clocks < best.clocks)
                best = c;
        }
    return best;
}

/* --- launch --- */

/* rows x columns elements per product, seen through boxes of height x 64. */
static int describe(dn_gemm_map *map, const dn_elements *e, const dn_gemm *g, int64_t rows, int64_t columns, int64_t ld, int64_t pitch, int height)
{
    const unsigned long long dims[3] = { (unsigned long long)columns, (unsigned long long)rows, (unsigned long long)g->batch };
    const unsigned long long strides[2] = { (unsigned long long)ld * 2, (unsigned long long)(g->batch > 1 ? pitch : ld) * 2 };
    const unsigned box[3] = { 64, (unsigned)height, 1 }, steps[3] = { 1, 1, 1 };
    return dn_cu_table->TensorMapEncodeTiled(map, e->type == DN_F16 ? DN_CU_MAP_F16 : DN_CU_MAP_BF16, 3, e->ptr, dims, strides, box, steps, 0,
                                             DN_CU_MAP_SWIZZLE_128, DN_CU_MAP_PROMOTE_128, 0);
}

static dn_status describe_both(dn_handle *h, const tile *t, dn_gemm_wgmma *p)
{
    const dn_gemm *g = &p->g;
    int pushed;
    dn_status st = dn_cuda_enter(h, &pushed);
    if (st != DN_SUCCESS)
        return st;
    int rc = g->trans_a ? describe(&p->a, &g->a, g, g->k, g->m, g->lda, g->pitch_a, DN_WGMMA_STEP)
                        : describe(&p->a, &g->a, g, g->m, g->k, g->lda, g->pitch_a, t->m);
    if (rc == DN_CU_SUCCESS)
        rc = g->trans_b ? describe(&p->b, &g->b, g, g->n, g->k, g->ldb, g->pitch_b, t->n)
                        : describe(&p->b, &g->b, g, g->k, g->n, g->ldb, g->pitch_b, DN_WGMMA_STEP);
    dn_cuda_leave(pushed);
    return dn_cu_check(rc, "describing a matrix to the device");
}

static bool is_wide(const dn_gemm *g)
{
    return (uintptr_t)g->c.ptr % (uintptr_t)(4 * g->c.size) == 0 && g->ldc % 4 == 0 && (g->batch == 1 || g->pitch_c % 4 == 0);
}

static dn_status launch(dn_handle *h, const dn_gemm_functions *f, const dn_gemm *g, choice c)
{
    const tile *t = &tiles[c.form];
    int sms = f->at_once[0], room = c.form == RELAY ? ROOM_OF_RELAY : c.blocks <= f->at_once[c.split] ? ROOM_OF_ONE : ROOM_OF_TWO;
    dn_gemm_wgmma p = { .g = *g, .m_tiles = (int)dn_ceil_div(g->m, t->m), .n_tiles = (int)dn_ceil_div(g->n, t->n), .tiles = (int)c.blocks,
                        .split = 1 << c.split };
    p.stages = c.form == RELAY ? RELAY_STAGES : room / t->bytes < DN_WGMMA_STAGES ? room / t->bytes : DN_WGMMA_STAGES;
    p.g.wide_c = is_wide(g);
    dn_status st = describe_both(h, t, &p);
    if (st != DN_SUCCESS)
        return st;
    dn_cuda_grid grid = { .f = f->wgmma[c.form][2 * (g->trans_a != 0) + (g->trans_b != 0)],
                          .grid = { (unsigned)(c.form == RELAY && c.blocks > sms ? sms : c.blocks), 1, 1 },
                          .block = { (unsigned)t->threads, 1, 1 }, .shared = (unsigned)(room + ALIGN), .cluster = 1u << c.split };
    return dn_cuda_launch(h, &grid, &p);
}

dn_status dn_gemm_wgmma_run(dn_handle *h, const dn_gemm_functions *f, const dn_gemm *g)
{
    return launch(h, f, g, choose(f, g));
}
