/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Which kernel, tile and number of parts a product gets. */
#include "cuda/gemm/host.h"

#include "ref/conv.h"

#include <string.h>

enum { PARTS_MAX = 64, TILES_WANTED = 264, PART_LEAST = 256, WIDE = 128, SMALL = 64, MMA_THREADS_SMALL = 128 };

_Static_assert(sizeof(dn_gemm) <= 4096, "parameters of a kernel");

/* --- functions --- */

typedef struct tiled_kernels {
    const char *module, *names[DN_GEMM_TILES][DN_GEMM_TURNS];
} tiled_kernels;

static const tiled_kernels f16_kernels = { "cuda_gemm_f16_sm80",
    { { "cuda_gemm_f16_128_nn", "cuda_gemm_f16_128_nt", "cuda_gemm_f16_128_tn", "cuda_gemm_f16_128_tt" },
      { "cuda_gemm_f16_64_nn", "cuda_gemm_f16_64_nt", "cuda_gemm_f16_64_tn", "cuda_gemm_f16_64_tt" } } };
static const tiled_kernels bf16_kernels = { "cuda_gemm_bf16_sm80",
    { { "cuda_gemm_bf16_128_nn", "cuda_gemm_bf16_128_nt", "cuda_gemm_bf16_128_tn", "cuda_gemm_bf16_128_tt" },
      { "cuda_gemm_bf16_64_nn", "cuda_gemm_bf16_64_nt", "cuda_gemm_bf16_64_tn", "cuda_gemm_bf16_64_tt" } } };
static const tiled_kernels f32_kernels = { "cuda_gemm_f32",
    { { "cuda_gemm_f32_128_nn", "cuda_gemm_f32_128_nt", "cuda_gemm_f32_128_tn", "cuda_gemm_f32_128_tt" },
      { "cuda_gemm_f32_64_nn", "cuda_gemm_f32_64_nt", "cuda_gemm_f32_64_tn", "cuda_gemm_f32_64_tt" } } };

/* Dynamic shared memory: of the kernels on tensor cores alone. */
static unsigned shared_of(dn_dtype type, int tile)
{
    return type == DN_F32 ? 0 : (unsigned)((tile == 0 ? DN_GEMM_STAGES_128 * WIDE : DN_GEMM_STAGES_64 * SMALL) * 2 * DN_GEMM_STEP * 2);
}

static dn_status prepare_tiled(dn_handle *h, dn_dtype type, dn_gemm_functions *f)
{
    const tiled_kernels *of = type == DN_F16 ? &f16_kernels : type == DN_BF16 ? &bf16_kernels : &f32_kernels;
    for (int tile = 0; tile < DN_GEMM_TILES; tile++)
        for (int turn = 0; turn < DN_GEMM_TURNS; turn++) {
            dn_status st = dn_cuda_function(h, of->module, of->names[tile][turn], shared_of(type, tile), &f->tiled[tile][turn]);
            if (st != DN_SUCCESS) {
                memset(f->tiled, 0, sizeof f->tiled);
                return st == DN_NOT_SUPPORTED ? DN_SUCCESS : st;
            }
        }
    f->type = type;
    return type == DN_F32 ? DN_SUCCESS : dn_gemm_wgmma_prepare(h, f);
}

dn_status dn_cuda_gemm_prepare(dn_handle *h, dn_dtype type, bool f64, dn_gemm_functions *f)
{
    memset(f, 0, sizeof *f);
    f->f64 = f64;
    const char *module = f64 ? "cuda_gemm_any_f64" : "cuda_gemm_any_f32";
    dn_status st = dn_cuda_function(h, module, module, 0, &f->any);
    if (st == DN_SUCCESS)
        st = dn_cuda_function(h, module, f64 ? "cuda_gemm_reduce_f64" : "cuda_gemm_reduce_f32", 0, &f->reduce);
    if (st == DN_SUCCESS && !f64 && (type == DN_F16 || type == DN_BF16 || type == DN_F32))
        st = prepare_tiled(h, type, f);
    return st;
}

/* --- tiles and parts --- */

static int64_t tiles_of(int64_t m, int64_t n, int64_t batch, int64_t tile)
{
    return dn_ceil_div(m, tile) * dn_ceil_div(n, tile) * batch;
}

/* Whether the wide tile is worth it: where it fills a device, alone or in parts of k. */
static bool is_wide(int64_t m, int64_t n, int64_t k, int64_t batch, bool parts)
{
    return tiles_of(m, n, batch, WIDE) >= 96 || (parts && m >= WIDE && n >= WIDE && k >= 8 * PART_LEAST);
}

static int64_t parts_of(int64_t m, int64_t n, int64_t k, int64_t batch)
{
    int64_t parts = dn_ceil_div(TILES_WANTED, tiles_of(m, n, batch, is_wide(m, n, k, batch, true) ? WIDE : SMALL)), most = k / PART_LEAST;
    parts = parts < PARTS_MAX ? parts : PARTS_MAX;
    parts = parts < most ? parts : most;
    return parts > 1 ? parts : 1;
}

size_t dn_cuda_gemm_workspace(int64_t m, int64_t n, int64_t k, int64_t batch, bool f64)
{
    int64_t parts = parts_of(m, n, k, batch);
    return parts == 1 ? 0 : (size_t)(parts * batch * m * n) * (f64 ? sizeof(double) : sizeof(float));
}

static int is_aligned(const dn_elements *e, int64_t ld, int64_t pitch, int64_t batch, int64_t bytes)
{
    return (uintptr_t)e->ptr % (uintptr_t)bytes == 0 && ld * e->size % bytes == 0 && (batch == 1 || pitch * e->size % bytes == 0);
}

/* --- launches --- */

/* What the epilogue of the tiled kernels reads and writes. */
static bool is_short(const dn_elements *e)
{
    return !e->bytes && (e->type == DN_F32 || e->type == DN_F16 || e->type == DN_BF16);
}

static bool takes_tiled(const dn_gemm_functions *f, const dn_gemm *g)
{
    return f->tiled[0][0] && g->a.type == (int)f->type && g->b.type == (int)f->type && !g->a.bytes && !g->b.bytes && is_short(&g->c)
        && (!g->bias.ptr || is_short(&g->bias));
}

static dn_status product(dn_handle *h, const dn_gemm_functions *f, const dn_gemm *g)
{
    bool tiled = takes_tiled(f, g);
    int tile = tiled && is_wide(g->m, g->n, g->k, g->batch, g->parts > 1) ? 0 : 1;
    int64_t blocks = tiles_of(g->m, g->n, g->batch, tile == 0 ? WIDE : SMALL) * g->parts;
    if (blocks > INT32_MAX || g->part > INT32_MAX)
        return dn_fail(DN_NOT_SUPPORTED, "a matrix product of %lld x %lld by %lld is too large for a grid", g->m, g->n, g->k);
    bool small = tiled && tile == 1 && f->type != DN_F32;
    dn_cuda_grid grid = { .f = tiled ? f->tiled[tile][2 * g->trans_a + g->trans_b] : f->any, .grid = { (unsigned)blocks, 1, 1 },
                          .block = { small ? MMA_THREADS_SMALL : DN_GEMM_THREADS, 1, 1 }, .shared = tiled ? shared_of(f->type, tile) : 0 };
    return dn_cuda_launch(h, &grid, g);
}

dn_status dn_cuda_gemm(dn_handle *h, const dn_gemm_functions *f, const dn_gemm *given, void *workspace)
{
    if (takes_tiled(f, given) && dn_gemm_wgmma_takes(f, given))
        return dn_gemm_wgmma_run(h, f, given);
    dn_gemm g = *given;
    g.parts = workspace ? (int)parts_of(g.m, g.n, g.k, g.batch) : 1;
    g.part = dn_ceil_div(dn_ceil_div(g.k, g.parts), DN_GEMM_STEP) * DN_GEMM_STEP;
    g.partial = workspace;
    g.wide_a = is_aligned(&g.a, g.lda, g.pitch_a, g.batch, 16);
    g.wide_b = is_aligned(&g.b, g.ldb, g.pitch_b, g.batch, 16);
    g.wide_c = is_aligned(&g.c, g.ldc, g.pitch_c, g.batch, 2 * g.c.size);
    dn_status st = product(h, f, &g);
    if (st != DN_SUCCESS || g.parts == 1)
        return st;
    dn_cuda_grid grid = { .f = f->reduce };
    dn_cuda_grid_loop(h, &grid, g.batch * g.m * g.n, DN_GEMM_THREADS, 4);
    return dn_cuda_launch(h, &grid, &g);
}
