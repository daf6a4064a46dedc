/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The plan of a persistent recurrence: every way that fits is tried, and the one whose steps seem shortest is taken. */
#include "cuda/rnn/persist_plan.h"

#include <stdio.h>
#include <string.h>

enum {
    SHARED_MOST = 227 * 1024, WARPS_MOST = 8, HIDDEN_MOST = 1024,
    GRID_STEP = 2600,   /* clocks of a step that does nothing: two ways through the L2 cache, and a sum over warps */
    BULK_PIECES = 128,  /* with fewer 128 bytes for all blocks, a warp's stores are faster than bulk copies */
};

static int gates_of(const dn_rnn_persist_size *s)
{
    return s->cell == DN_RNN_LSTM ? 4 : s->cell == DN_RNN_GRU ? 3 : 1;
}

static int round_up(int n, int to)
{
    return (n + to - 1) / to * to;
}

/* Clusters of this size that run at once: they lie within a GPC, and its SMs do not come out even. Measured on 132 SMs. */
static int clusters_at_once(int blocks, int sm_count)
{
    int at_132 = blocks == 4 ? 30 : blocks == 8 ? 15 : 7, n = at_132 * sm_count / 132;
    return n > 0 ? n : 1;
}

/* Clocks of one step as an H200 was seen to need them: 8 for a product on each of four tensor cores, so many at least for each step of depth;
 * 128 bytes of shared memory; the cells of a lane, which cost more than twice as much from the second block of batch elements on; bytes that a
 * block receives; the way to the other blocks and back. */
static double step_cost(int warps, int depth, int products, double read, int own, double received, int blocks)
{
    int each = (warps + 3) / 4;
    double busy = products * 8.0 * each;
    if (busy < depth * 25.0)
        busy = depth * 25.0;
    return busy + read / 256 + (530 + 1140 * (own - 1)) * each + received / 24 + 414 + 25 * blocks;
}

static void set_common(dn_rnn_persist_plan *plan, const dn_rnn_persist_size *s, int sm_count, int blocks, int units, int batch, double step)
{
    int slices = (s->batches + batch - 1) / batch, clusters = slices * s->directions, room = clusters_at_once(blocks, sm_count);
    dn_rnn_persist *q = &plan->params;
    q->steps = s->steps;
    q->batches = s->batches;
    q->hidden = s->hidden;
    q->directions = s->directions;
    q->blocks = blocks;
    q->units = units;
    q->slices = slices;
    q->batch = batch;
    q->relu = s->cell == DN_RNN_RELU;
    plan->cost = (clusters + room - 1) / room * step;
}

/* The forward plan of these choices, if it fits: persist_step.cuh. */
static bool try_forward(const dn_rnn_persist_size *s, int sm_count, int blocks, int batch, int nt, int split, dn_rnn_persist_plan *plan)
{
    int size = (int)dn_dtype_size(s->type), chunk = 16 / size, rows = gates_of(s);
    int units = round_up((s->hidden + blocks - 1) / blocks, blocks < 8 ? 16 : 8);
    int row_warps = units / 8, columns = batch / 8 / nt, warps = row_warps * split * columns, depth = blocks * units / chunk / 2;
    if (columns * nt * 8 != batch || depth % (4 * split) || (split > 1 && nt == 1 && row_warps * columns > 4))
        return false;
    depth /= split;
    int kept = DN_RNN_KEPT(rows, nt), rest = depth > kept ? depth - kept : 0, own = nt >= split ? nt / split : 1, tiles = (nt + 1) / 2;
    size_t state = (size_t)(blocks * units) * (size_t)(batch * size), stage = state / (size_t)blocks;
    size_t shared = 2 * state + 2 * stage + 128 + (size_t)(row_warps * split * rest * rows) * 256;
    if (split > 1)
        shared += (size_t)(warps * nt * rows) * 256;
    if (warps > WARPS_MOST || shared > SHARED_MOST)
        return false;
    double step = step_cost(warps, depth, depth * rows * tiles, warps * (depth * tiles * 512.0 + rest * rows * 512.0), own, (double)state, blocks)
                + (split > 1 ? 440 : 0);
    *plan = (dn_rnn_persist_plan){ .nt = nt, .split = split, .threads = (unsigned)warps * 32, .shared = (unsigned)shared };
    plan->params.row_warps = row_warps;
    plan->params.depth = depth;
    plan->params.bulk = (16 / chunk) * own * blocks >= BULK_PIECES;
    set_common(plan, s, sm_count, blocks, units, batch, step);
    return true;
}

/* The backward plan of these choices, if it fits and there is a kernel with enough registers for it: persist_scatter.cuh. */
static bool try_backward(const dn_rnn_persist_size *s, int sm_count, int blocks, int nt, int squares, dn_rnn_persist_plan *plan)
{
    enum { WARPS = DN_RNN_SCATTER_WARPS };
    int chunk = 16 / (int)dn_dtype_size(s->type), units = round_up((s->hidden + blocks - 1) / blocks, 8), eights = units / 8;
    int depth = (gates_of(s) * units / chunk + 1) / 2, tiles = (blocks * eights + WARPS - 1) / WARPS, rest = DN_RNN_SCATTER_REST(tiles, depth);
    size_t parts = (size_t)(blocks * eights * nt) * 256, stage = (size_t)(depth * nt) * 256;
    size_t shared = 2 * parts + 2 * stage + 128 + (size_t)(rest * WARPS) * 256;
    bool exists = nt <= 2 && (squares == 1 || s->type != DN_F32);
    if (!exists || nt % squares || eights * nt > WARPS * squares || (squares > 1 && eights * nt <= WARPS) || shared > SHARED_MOST)
        return false;
    double step = (gates_of(s) > 1 ? 1.25 : 1) * step_cost(WARPS, depth, tiles * depth * ((nt + 1) / 2),
                                                           WARPS * (depth * ((nt + 1) / 2) * 512.0 + rest * 512.0) + (double)parts, squares,
                                                           (double)parts, blocks);
    *plan = (dn_rnn_persist_plan){ .nt = nt, .split = squares, .threads = WARPS * 32, .shared = (unsigned)shared };
    plan->params.row_warps = tiles;
    plan->params.depth = depth;
    set_common(plan, s, sm_count, blocks, units, nt * 8, step);
    return true;
}

static void keep_cheaper(dn_rnn_persist_plan *best, const dn_rnn_persist_plan *x)
{
    if (best->cost <= 0 || x->cost < best->cost)
        *best = *x;
}

bool dn_rnn_persist_choose(const dn_rnn_persist_size *s, int most, int sm_count, dn_rnn_persist_plan *plan)
{
    dn_rnn_persist_plan x;
    plan->cost = 0;
    if (s->hidden % 8 || s->hidden > HIDDEN_MOST)
        return false;
    for (int blocks = 4; blocks <= most; blocks *= 2)
        for (int nt = 1; nt <= 4; nt *= 2)
            for (int split = 1; split <= 2; split++) {
                if (s->backward && try_backward(s, sm_count, blocks, nt, split, &x))
                    keep_cheaper(plan, &x);
                for (int batch = 8; !s->backward && batch <= 64; batch *= 2)
                    if (try_forward(s, sm_count, blocks, batch, nt, split, &x))
                        keep_cheaper(plan, &x);
            }
    return plan->cost > 0;
}

/* The grid's plan with so many blocks of 8 batch elements and units / 8 of a block: persist_grid.cuh. */
static bool try_grid(const dn_rnn_persist_size *s, int sm_count, size_t shared_max, int nt, int tiles, dn_rnn_persist_plan *plan)
{
    enum { WARPS = DN_RNN_GRID_WARPS };
    int chunk = 16 / (int)dn_dtype_size(s->type), rows = s->backward ? 1 : gates_of(s), feeds = s->backward ? gates_of(s) : 1;
    int products = feeds * round_up(s->hidden, 2 * chunk) / (2 * chunk), depth = round_up((products + WARPS - 1) / WARPS, 4), halves = (nt + 1) / 2;
    int kept = DN_RNN_GRID_KEPT(rows, nt, tiles), rest = depth > kept ? depth - kept : 0;
    int blocks = (s->hidden + 8 * tiles - 1) / (8 * tiles);
    size_t shared = (size_t)(nt * tiles * rows) * WARPS * 256 + (size_t)(rest * rows * tiles) * WARPS * 256;
    if (shared > shared_max || blocks > sm_count)
        return false;
    *plan = (dn_rnn_persist_plan){ .grid = true, .nt = nt, .split = tiles, .threads = WARPS * 32, .shared = (unsigned)shared };
    plan->params.depth = depth;
    set_common(plan, s, sm_count, blocks, 8 * tiles, 8 * nt, 0);
    plan->together = sm_count / blocks;
    plan->launches = (plan->params.slices * s->directions + plan->together - 1) / plan->together;
    plan->exchange = (size_t)(2 * WARPS * depth * halves) * 512;
    plan->cost = plan->launches * (GRID_STEP + 12.0 * depth * rows * tiles * halves + (double)(WARPS * depth * halves) * 512 / 40
                                   + rest * rows * tiles * 12.0);
    return true;
}

bool dn_rnn_persist_grid(const dn_rnn_persist_size *s, int sm_count, size_t shared_max, dn_rnn_persist_plan *plan)
{
    int most = s->backward || gates_of(s) == 1 ? 3 : 2;
    dn_rnn_persist_plan x;
    plan->cost = 0;
    if (s->hidden % 8)
        return false;
    for (int tiles = 1; tiles <= most; tiles++)
        for (int nt = 2; nt <= (tiles == 1 ? 8 : 4); nt *= 2)
            if (try_grid(s, sm_count, shared_max, nt, tiles, &x))
                keep_cheaper(plan, &x);
    return plan->cost > 0;
}

void dn_rnn_persist_names(const dn_rnn_persist_size *s, const dn_rnn_persist_plan *plan, char *module, char *kernel, size_t size)
{
    const char *cell = s->cell == DN_RNN_LSTM ? "lstm" : s->cell == DN_RNN_GRU ? "gru" : "plain";
    const char *type = s->type == DN_F16 ? "f16" : s->type == DN_BF16 ? "bf16" : "f32", *dir = s->backward ? "bwd" : "fwd";
    const char *form = plan->grid ? "grid" : "cluster";
    snprintf(module, size, "cuda_rnn_%s_%s_%s_%s_sm90", cell, form, dir, type);
    snprintf(kernel, size, "cuda_rnn_%s_%s_%s_%s_%dx%d", cell, form, dir, type, plan->nt, plan->split);
}
