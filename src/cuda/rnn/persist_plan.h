/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * How the blocks and warps of a persistent recurrence share its work. */
#ifndef DN_CUDA_RNN_PERSIST_PLAN_H
#define DN_CUDA_RNN_PERSIST_PLAN_H

#include "cuda/rnn/persist.h"
#include "cuda/rnn/rnn.h"

typedef struct dn_rnn_persist_size {
    int steps, batches, hidden, directions, cell;  /* T, B, H, D, DN_RNN_ */
    bool backward;
    dn_dtype type;
} dn_rnn_persist_size;

/* The kernel is that of nt blocks of 8 batch elements and split parts of the depth (grid: split times 8 units of a block); `params` has the
 * numbers that are the plan's. */
typedef struct dn_rnn_persist_plan {
    dn_rnn_persist params;
    bool grid;
    int nt, split;
    unsigned threads, shared;
    int together, launches;  /* grid: groups of a launch, and launches */
    size_t exchange;         /* grid: bytes of a group's states */
    double cost;             /* estimate for a step of all, clocks */
} dn_rnn_persist_plan;

/* The cheapest plan with clusters of `most` blocks at most on a device of so many SMs; false: none. */
bool dn_rnn_persist_choose(const dn_rnn_persist_size *s, int most, int sm_count, dn_rnn_persist_plan *plan);

/* The cheapest plan for groups of blocks of a grid; false: none. */
bool dn_rnn_persist_grid(const dn_rnn_persist_size *s, int sm_count, size_t shared_max, dn_rnn_persist_plan *plan);

/* Module and kernel of a plan. */
void dn_rnn_persist_names(const dn_rnn_persist_size *s, const dn_rnn_persist_plan *plan, char *module, char *kernel, size_t size);

/* persist_bind.c */
dn_rnn_persist_size dn_rnn_persist_size_of(const dn_problem *p);
const char *dn_rnn_persist_check(const dn_problem *p, dn_dtype type);  /* what all of these rows refuse */
void dn_rnn_persist_forward(dn_rnn_persist *q, const dn_problem *p, const dn_rnn_layer_fwd *l);
void dn_rnn_persist_backward(dn_rnn_persist *q, const dn_problem *p, const dn_rnn_layer_bwd *l);

#endif
