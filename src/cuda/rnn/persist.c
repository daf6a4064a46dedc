/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Recurrences with all steps of a layer in one launch (compute capability 9.0): the weights of a direction stay in the registers and the shared
 * memory of one cluster, which does a slice of the batch; clusters know nothing of each other. */
#include "cuda/rnn/persist_plan.h"
#include "cuda/rows.h"

#include <stdlib.h>

enum { SMS_TYPICAL = 132, SHARED_TYPICAL = 227 * 1024, CLUSTER_LARGE = 16, CLUSTER_PORTABLE = 8 };

typedef struct cluster_state {
    dn_cuda_grid grid;
    dn_rnn_persist params;
} cluster_state;

static const char *cluster_check(const dn_problem *p, dn_dtype type)
{
    const char *why = dn_rnn_persist_check(p, type);
    if (why)
        return why;
    dn_rnn_persist_size s = dn_rnn_persist_size_of(p);
    dn_rnn_persist_plan plan, grid;
    if (!dn_rnn_persist_choose(&s, CLUSTER_LARGE, SMS_TYPICAL, &plan))
        return "the weights of a layer do not fit a cluster";
    /* Backward the blocks of a cluster send the more, the more units there are. */
    bool other = s.backward && type != DN_F32 && dn_rnn_persist_grid(&s, SMS_TYPICAL, SHARED_TYPICAL, &grid);
    return other && grid.launches == 1 && grid.cost < 0.9 * plan.cost ? "takes longer than the grid's blocks" : NULL;
}

static const char *check_f16(const dn_problem *p)
{
    return cluster_check(p, DN_F16);
}

static const char *check_bf16(const dn_problem *p)
{
    return cluster_check(p, DN_BF16);
}

static const char *check_f32(const dn_problem *p)
{
    return cluster_check(p, DN_F32);
}

/* The best plan with clusters of `most` blocks at most, if the device runs it. */
static dn_status make(dn_handle *h, const dn_rnn_persist_size *size, int most, cluster_state *s)
{
    dn_rnn_persist_plan plan;
    char module[64], kernel[64];
    if (!dn_rnn_persist_choose(size, most, dn_cuda_device_of(h)->sm_count, &plan))
        return dn_fail(DN_NOT_SUPPORTED, "the weights of a layer do not fit a cluster of %d blocks", most);
    dn_rnn_persist_names(size, &plan, module, kernel, sizeof module);
    s->params = plan.params;
    s->grid = (dn_cuda_grid){ .grid = { (unsigned)(plan.params.blocks * plan.params.slices * size->directions), 1, 1 },
                              .block = { plan.threads, 1, 1 }, .shared = plan.shared, .cluster = (unsigned)plan.params.blocks };
    dn_status st = dn_cuda_function(h, module, kernel, plan.shared, &s->grid.f);
    return st == DN_SUCCESS ? dn_cuda_grid_fits(h, &s->grid) : st;
}

static dn_status cluster_prepare(dn_handle *h, const dn_problem *p, void **state)
{
    dn_rnn_persist_size size = dn_rnn_persist_size_of(p);
    cluster_state *s = calloc(1, sizeof *s);
    if (!s)
        return dn_fail(DN_ALLOC_FAILED, "no memory for a plan of a recurrent network");
    *state = s;
    dn_status st = make(h, &size, CLUSTER_LARGE, s);
    if (st == DN_NOT_SUPPORTED && s->params.blocks > CLUSTER_PORTABLE)
        st = make(h, &size, CLUSTER_PORTABLE, s);
    return st;
}

static dn_status cluster_forward(dn_handle *h, const dn_problem *p, const void *state, const dn_rnn_layer_fwd *l, void *scratch)
{
    const cluster_state *s = state;
    dn_rnn_persist q = s->params;
    (void)scratch;
    dn_rnn_persist_forward(&q, p, l);
    return dn_cuda_launch(h, &s->grid, &q);
}

static dn_status cluster_backward(dn_handle *h, const dn_problem *p, const void *state, const dn_rnn_layer_bwd *l, void *scratch)
{
    const cluster_state *s = state;
    dn_rnn_persist q = s->params;
    (void)scratch;
    dn_rnn_persist_backward(&q, p, l);
    return dn_cuda_launch(h, &s->grid, &q);
}

static const dn_rnn_recurrence cluster = { .prepare = cluster_prepare, .forward = cluster_forward, .backward = cluster_backward };

static size_t cluster_workspace(const dn_problem *p)
{
    return dn_rnn_cuda_workspace(p, &cluster);
}

#define ROW(label, direction, takes, rounds) DN_RNN_ROW(label, direction, rounds, takes, cluster_workspace, &cluster)

static const dn_solver rows[] = {
    ROW("cuda_rnn_infer_cluster_f16", DN_DIR_INFER, check_f16, 0),
    ROW("cuda_rnn_infer_cluster_bf16", DN_DIR_INFER, check_bf16, 0),
    ROW("cuda_rnn_infer_cluster_f32", DN_DIR_INFER, check_f32, DN_SOLVER_TF32),
    ROW("cuda_rnn_train_cluster_f16", DN_DIR_TRAIN, check_f16, 0),
    ROW("cuda_rnn_train_cluster_bf16", DN_DIR_TRAIN, check_bf16, 0),
    ROW("cuda_rnn_train_cluster_f32", DN_DIR_TRAIN, check_f32, DN_SOLVER_TF32),
    ROW("cuda_rnn_bwd_data_cluster_f16", DN_DIR_BWD_DATA, check_f16, 0),
    ROW("cuda_rnn_bwd_data_cluster_bf16", DN_DIR_BWD_DATA, check_bf16, 0),
    ROW("cuda_rnn_bwd_data_cluster_f32", DN_DIR_BWD_DATA, check_f32, DN_SOLVER_TF32),
};

const dn_rows dn_cuda_rnn_cluster = { rows, sizeof rows / sizeof rows[0] };
