/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Recurrences with all steps of a layer in one launch (compute capability 9.0) for layers too large for a cluster: the weights of a direction
 * are spread over a group of SMs. Where the groups for both directions and the slices of the batch do not fit at once, one launch follows the
 * other, so few of these. */
#include "cuda/rnn/persist_plan.h"
#include "cuda/rows.h"

#include <stdlib.h>

enum { SMS_TYPICAL = 132, SHARED_TYPICAL = 227 * 1024, LAUNCHES_MOST = 2, COUNTER = DN_RNN_GRID_COUNTER * 4 };

typedef struct grid_state {
    dn_cuda_grid grid;
    dn_rnn_persist params;
    int groups, together;
} grid_state;

static int groups_of(const dn_rnn_persist_plan *plan)
{
    return plan->params.slices * plan->params.directions;
}

/* Bytes of the counters of all groups, then of the states of those of one launch. */
static size_t bytes_of(const dn_rnn_persist_plan *plan)
{
    int groups = groups_of(plan), together = groups < plan->together ? groups : plan->together;
    return (size_t)groups * COUNTER + (size_t)together * plan->exchange;
}

static const char *grid_check(const dn_problem *p, dn_dtype type)
{
    const char *why = dn_rnn_persist_check(p, type);
    if (why)
        return why;
    dn_rnn_persist_size s = dn_rnn_persist_size_of(p);
    dn_rnn_persist_plan plan;
    if (!dn_rnn_persist_grid(&s, SMS_TYPICAL, SHARED_TYPICAL, &plan))
        return "the weights of a direction do not fit the device";
    return plan.launches > LAUNCHES_MOST ? "has too large a batch" : NULL;
}

static const char *check_f16(const dn_problem *p)
{
    return grid_check(p, DN_F16);
}

static const char *check_bf16(const dn_problem *p)
{
    return grid_check(p, DN_BF16);
}

/* What a device of another size needs more of makes the row unfit there. */
static size_t grid_scratch(const dn_problem *p)
{
    dn_rnn_persist_size s = dn_rnn_persist_size_of(p);
    dn_rnn_persist_plan plan;
    return dn_rnn_persist_grid(&s, SMS_TYPICAL, SHARED_TYPICAL, &plan) ? bytes_of(&plan) : 0;
}

static dn_status grid_prepare(dn_handle *h, const dn_problem *p, void **state)
{
    const dn_cuda_device *d = dn_cuda_device_of(h);
    dn_rnn_persist_size size = dn_rnn_persist_size_of(p);
    dn_rnn_persist_plan plan;
    char module[64], kernel[64];
    grid_state *s = calloc(1, sizeof *s);
    if (!s)
        return dn_fail(DN_ALLOC_FAILED, "no memory for a plan of a recurrent network");
    *state = s;
    if (!dn_rnn_persist_grid(&size, d->sm_count, d->shared_max, &plan) || bytes_of(&plan) > grid_scratch(p))
        return dn_fail(DN_NOT_SUPPORTED, "the weights of a direction do not fit the device");
    dn_rnn_persist_names(&size, &plan, module, kernel, sizeof module);
    s->params = plan.params;
    s->groups = groups_of(&plan);
    s->together = s->groups < plan.together ? s->groups : plan.together;
    s->grid = (dn_cuda_grid){ .grid = { (unsigned)(plan.params.blocks * s->together), 1, 1 }, .block = { plan.threads, 1, 1 },
                              .shared = plan.shared, .cooperative = true };
    dn_status st = dn_cuda_function(h, module, kernel, plan.shared, &s->grid.f);
    return st == DN_SUCCESS ? dn_cuda_grid_fits(h, &s->grid) : st;
}

static dn_status run(dn_handle *h, const grid_state *s, dn_rnn_persist *q, void *scratch)
{
    int pushed;
    dn_status st = dn_cuda_enter(h, &pushed);
    if (st != DN_SUCCESS)
        return st;
    size_t counters = (size_t)s->groups * COUNTER;
    st = dn_cu_check(dn_cu_table->MemsetD8Async((dn_cu_ptr)(uintptr_t)scratch, 0, counters, h->stream), "clearing counters");
    dn_cuda_leave(pushed);
    q->exchange = (char *)scratch + counters;
    dn_cuda_grid grid = s->grid;
    for (q->first = 0; st == DN_SUCCESS && q->first < s->groups; q->first += s->together) {
        int groups = s->groups - q->first < s->together ? s->groups - q->first : s->together;
        grid.grid[0] = (unsigned)(q->blocks * groups);
        q->arrived = (unsigned *)scratch + q->first * DN_RNN_GRID_COUNTER;
        st = dn_cuda_launch(h, &grid, q);
    }
    return st;
}

static dn_status grid_forward(dn_handle *h, const dn_problem *p, const void *state, const dn_rnn_layer_fwd *l, void *scratch)
{
    const grid_state *s = state;
    dn_rnn_persist q = s->params;
    dn_rnn_persist_forward(&q, p, l);
    return run(h, s, &q, scratch);
}

static dn_status grid_backward(dn_handle *h, const dn_problem *p, const void *state, const dn_rnn_layer_bwd *l, void *scratch)
{
    const grid_state *s = state;
    dn_rnn_persist q = s->params;
    dn_rnn_persist_backward(&q, p, l);
    return run(h, s, &q, scratch);
}

static const dn_rnn_recurrence grid = { .scratch = grid_scratch, .prepare = grid_prepare, .forward = grid_forward, .backward = grid_backward };

static size_t grid_workspace(const dn_problem *p)
{
    return dn_rnn_cuda_workspace(p, &grid);
}

#define ROW(label, direction, takes) DN_RNN_ROW(label, direction, 0, takes, grid_workspace, &grid)

static const dn_solver rows[] = {
    ROW("cuda_rnn_infer_grid_f16", DN_DIR_INFER, check_f16),
    ROW("cuda_rnn_infer_grid_bf16", DN_DIR_INFER, check_bf16),
    ROW("cuda_rnn_train_grid_f16", DN_DIR_TRAIN, check_f16),
    ROW("cuda_rnn_train_grid_bf16", DN_DIR_TRAIN, check_bf16),
    ROW("cuda_rnn_bwd_data_grid_f16", DN_DIR_BWD_DATA, check_f16),
    ROW("cuda_rnn_bwd_data_grid_bf16", DN_DIR_BWD_DATA, check_bf16),
};

const dn_rows dn_cuda_rnn_grid = { rows, sizeof rows / sizeof rows[0] };
