/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Rows of recurrent networks that take one launch or more for every step, and what all rows share: sizes, workspace, functions. */
#include "cuda/rnn/call.h"

#include "cuda/rows.h"
#include "ref/conv.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGN = 256, SUM_LEAST = 64 };

void dn_rnn_sizes_of(dn_rnn_sizes *s, const dn_problem *p)
{
    const dn_rnn_param *q = &p->u.rnn;
    const dn_tensor *x = dn_rnn_input(p);
    memset(s, 0, sizeof *s);
    s->steps = x->dims[0];
    s->batch = x->dims[1];
    s->rows = s->steps * s->batch;
    s->input = q->input;
    s->hidden = q->hidden;
    s->proj = q->proj;
    s->layers = q->layers;
    s->directions = dn_rnn_directions(q);
    s->pseudos = s->layers * s->directions;
    s->gates = dn_rnn_gates(q);
    s->cell = q->cell;
    s->width = s->directions * s->proj;
    s->widest = s->width > s->input ? s->width : s->input;
    s->units = s->gates * s->hidden;
    s->slots = dn_rnn_slots(q) * s->hidden;
    s->lstm = q->cell == DN_RNN_LSTM;
    s->gru = q->cell == DN_RNN_GRU;
    s->bias_width = s->units + (s->gru ? s->hidden : 0);
    s->projects = q->proj != q->hidden;
    s->train = p->dir == DN_DIR_TRAIN;
    s->infer = p->dir == DN_DIR_INFER;
    s->type = (dn_dtype)x->type;
    s->compute = dn_rnn_compute_type(p);
    s->data = dn_dtype_size(s->type);
    s->sum = dn_dtype_size(s->compute);
}

dn_rnn_clip dn_rnn_clip_of(const dn_problem *p)
{
    const dn_rnn_param *q = &p->u.rnn;
    bool f32 = dn_rnn_compute_type(p) == DN_F32;
    return (dn_rnn_clip){ q->clip, q->clip_nan, f32 ? (double)(float)q->lclip : q->lclip, f32 ? (double)(float)q->rclip : q->rclip };
}

int64_t dn_rnn_sum_part(int64_t rows)
{
    int64_t part = dn_ceil_div(rows, DN_RNN_SUM_PARTS);
    return part > SUM_LEAST ? part : SUM_LEAST;
}

/* --- workspace --- */

static size_t section(size_t *end, int64_t count, size_t size)
{
    size_t at = *end;
    *end += ((size_t)count * size + ALIGN - 1) / ALIGN * ALIGN;
    return at;
}

/* States of all layers, each at a multiple of ALIGN. */
static size_t states(size_t *end, const dn_rnn_sizes *s, int64_t columns, size_t size)
{
    size_t at = *end, layer = ((size_t)(s->directions * s->batch * columns) * size + ALIGN - 1) / ALIGN * ALIGN;
    *end += layer * (size_t)s->layers;
    return at;
}

static void larger(size_t *size, size_t other)
{
    *size = other > *size ? other : *size;
}

/* Partial sums of the gradients by the weights. */
static size_t partial_size(const dn_rnn_sizes *s, bool f64)
{
    int64_t part = dn_rnn_sum_part(s->rows), h = s->hidden;
    size_t size = (size_t)(dn_ceil_div(s->rows, part) * s->pseudos * s->slots) * sizeof(double);
    larger(&size, dn_cuda_gemm_workspace(s->units, s->input, s->rows, 1, f64));
    larger(&size, dn_cuda_gemm_workspace(s->units, s->width, s->rows, 1, f64));
    larger(&size, dn_cuda_gemm_workspace(s->gru ? 2 * h : s->units, s->proj, s->rows, 1, f64));
    larger(&size, dn_cuda_gemm_workspace(h, s->proj, s->rows, 1, f64));
    larger(&size, dn_cuda_gemm_workspace(s->proj, h, s->rows, 1, f64));
    return size;
}

void dn_rnn_space_of(dn_rnn_space *space, const dn_problem *p, const dn_rnn_recurrence *r)
{
    dn_rnn_sizes s;
    size_t end = 0;
    dn_rnn_sizes_of(&s, p);
    bool forward = s.train || s.infer, backward = p->dir == DN_DIR_BWD_DATA, filter = p->dir == DN_DIR_BWD_FILTER;
    memset(space, 0, sizeof *space);
    space->lengths = section(&end, s.batch, sizeof(int));
    space->starts = section(&end, p->u.rnn.layout == DN_RNN_PACKED ? s.steps : 0, sizeof(long long));
    space->bias = section(&end, forward ? s.pseudos * s.bias_width : 0, s.sum);
    space->h = states(&end, &s, s.proj, s.data);
    space->c = states(&end, &s, s.lstm && !filter ? s.hidden : 0, s.sum);
    space->dh = states(&end, &s, backward ? s.proj : 0, s.sum);
    space->dc = states(&end, &s, backward && s.lstm ? s.hidden : 0, s.sum);
    space->gates = section(&end, s.infer ? s.directions * s.rows * s.units : 0, s.sum);
    space->x = section(&end, backward ? 0 : s.rows * s.input, s.data);
    space->dropped = section(&end, !backward && !s.infer && p->u.rnn.dropout && s.layers > 1 ? s.rows * s.width : 0, s.data);
    for (int i = 0; i < 2; i++) {
        bool used = i == 0 || s.layers > 1;
        space->out[i] = section(&end, s.infer && used ? s.rows * s.width : 0, s.data);
        space->dout[i] = section(&end, backward ? s.rows * s.widest : 0, s.sum);
    }
    space->previous = section(&end, filter ? s.rows * s.proj : 0, s.data);
    space->cells = section(&end, filter && s.projects ? s.rows * s.hidden : 0, s.data);
    space->partial = section(&end, filter ? (int64_t)partial_size(&s, r->exact) : 0, 1);
    space->scratch = section(&end, r->scratch && !filter ? (int64_t)r->scratch(p) : 0, 1);
    space->bytes = end;
}

size_t dn_rnn_cuda_workspace(const dn_problem *p, const dn_rnn_recurrence *r)
{
    dn_rnn_space space;
    dn_rnn_space_of(&space, p, r);
    return space.bytes + ALIGN - 1;
}

/* --- functions --- */

static const char *const kernel_names[DN_RNN_K_COUNT] = {
    "cuda_rnn_lengths", "cuda_rnn_starts", "cuda_rnn_move", "cuda_rnn_head", "cuda_rnn_copy", "cuda_rnn_bias", "cuda_rnn_skip_forward",
    "cuda_rnn_skip_backward", "cuda_rnn_sums", "cuda_rnn_sums_end",
};

/* Of one module, in the order of dn_rnn_cell_kernel. */
static const struct { const char *module, *names[DN_RNN_C_COUNT]; } cell_kernels[] = {
    { "cuda_rnn_naive", { "cuda_rnn_naive_step", "cuda_rnn_naive_project", "cuda_rnn_naive_back", "cuda_rnn_naive_back_project",
                          "cuda_rnn_naive_previous", "cuda_rnn_naive_cells" } },
    { "cuda_rnn_step_f32", { "cuda_rnn_step_f32", "cuda_rnn_project_f32", "cuda_rnn_back_f32", "cuda_rnn_back_project_f32",
                             "cuda_rnn_previous_f32", "cuda_rnn_cells_f32" } },
    { "cuda_rnn_step_f16", { "cuda_rnn_step_f16", "cuda_rnn_project_f16", "cuda_rnn_back_f16", "cuda_rnn_back_project_f16",
                             "cuda_rnn_previous_f16", "cuda_rnn_cells_f16" } },
    { "cuda_rnn_step_bf16", { "cuda_rnn_step_bf16", "cuda_rnn_project_bf16", "cuda_rnn_back_bf16", "cuda_rnn_back_project_bf16",
                              "cuda_rnn_previous_bf16", "cuda_rnn_cells_bf16" } },
};

dn_status dn_rnn_cell_functions(dn_handle *h, const dn_problem *p, bool exact, dn_cu_fn f[DN_RNN_C_COUNT])
{
    dn_dtype type = (dn_dtype)dn_rnn_input(p)->type;
    int of = exact || type == DN_F64 ? 0 : type == DN_F32 ? 1 : type == DN_F16 ? 2 : 3;
    dn_status st = DN_SUCCESS;
    for (int i = 0; st == DN_SUCCESS && i < DN_RNN_C_COUNT; i++)
        st = dn_cuda_function(h, cell_kernels[of].module, cell_kernels[of].names[i], 0, &f[i]);
    return st;
}

/* In the order of dn_rnn_wide_kernel. */
static const struct { const char *module, *names[DN_RNN_W_COUNT]; } wide_kernels[] = {
    { "cuda_rnn_rows_f32", { "cuda_rnn_move_f32", "cuda_rnn_skip_forward_f32", "cuda_rnn_skip_backward_f32", "cuda_rnn_previous_wide_f32",
                             "cuda_rnn_sums_f32" } },
    { "cuda_rnn_rows_f16", { "cuda_rnn_move_f16", "cuda_rnn_skip_forward_f16", "cuda_rnn_skip_backward_f16", "cuda_rnn_previous_wide_f16",
                             "cuda_rnn_sums_f16" } },
    { "cuda_rnn_rows_bf16", { "cuda_rnn_move_bf16", "cuda_rnn_skip_forward_bf16", "cuda_rnn_skip_backward_bf16", "cuda_rnn_previous_wide_bf16",
                              "cuda_rnn_sums_bf16" } },
};

static dn_status wide_functions(dn_handle *h, dn_dtype type, dn_cu_fn f[DN_RNN_W_COUNT])
{
    int of = type == DN_F32 ? 0 : type == DN_F16 ? 1 : 2;
    dn_status st = DN_SUCCESS;
    for (int i = 0; st == DN_SUCCESS && i < DN_RNN_W_COUNT; i++)
        st = dn_cuda_function(h, wide_kernels[of].module, wide_kernels[of].names[i], 0, &f[i]);
    return st;
}

dn_status dn_rnn_cuda_prepare(dn_handle *h, dn_plan *plan)
{
    const dn_problem *p = &plan->problem;
    dn_rnn_plan *s = calloc(1, sizeof *s);
    if (!s)
        return dn_fail(DN_ALLOC_FAILED, "no memory for a plan of %s", plan->solver->name);
    plan->state = s;
    s->recurrence = plan->solver->data;
    dn_rnn_sizes_of(&s->s, p);
    dn_rnn_reserve_layout(p, &s->reserve);
    dn_rnn_space_of(&s->space, p, s->recurrence);
    dn_status st = dn_cuda_gemm_prepare(h, s->s.type, s->recurrence->exact, &s->gemm);
    for (int i = 0; st == DN_SUCCESS && i < DN_RNN_K_COUNT; i++)
        st = dn_cuda_function(h, "cuda_rnn_naive", kernel_names[i], 0, &s->kernels[i]);
    if (st == DN_SUCCESS)
        st = dn_rnn_cell_functions(h, p, s->recurrence->exact, s->cells);
    if (st == DN_SUCCESS && !s->recurrence->exact)
        st = wide_functions(h, s->s.type, s->wide);
    if (st == DN_SUCCESS && s->recurrence->prepare)
        st = s->recurrence->prepare(h, p, &s->recurrence_state);
    return st;
}

void dn_rnn_cuda_release(dn_plan *plan)
{
    dn_rnn_plan *s = plan->state;
    if (s)
        free(s->recurrence_state);
    dn_cuda_release(plan);
}

static bool is_full(const dn_problem *p, const dn_args *a)
{
    const dn_tensor *x = dn_rnn_input(p);
    for (int64_t b = 0; a->lengths && b < x->dims[1]; b++)
        if (a->lengths[b] != x->dims[0])
            return false;
    return true;
}

dn_status dn_rnn_cuda_run(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    const dn_problem *p = &plan->problem;
    const dn_rnn_plan *s = plan->state;
    if (!s->s.infer && (uintptr_t)a->reserve % 16 != 0)
        return dn_fail(DN_BAD_PARAM, "reserveSpace is %p; it must be a multiple of 16", a->reserve);
    dn_rnn_call j = { .h = h, .p = p, .plan = s, .a = a, .full = is_full(p, a) };
    j.space = (char *)a->workspace + (ALIGN - (uintptr_t)a->workspace % ALIGN) % ALIGN;
    dn_status st = dn_rnn_put_positions(&j);
    if (st != DN_SUCCESS)
        return st;
    return p->dir == DN_DIR_BWD_DATA ? dn_rnn_run_backward(&j) : p->dir == DN_DIR_BWD_FILTER ? dn_rnn_run_filter(&j) : dn_rnn_run_forward(&j);
}

/* --- rows --- */

const char *dn_rnn_cuda_check(const dn_problem *p, dn_dtype type)
{
    if (dn_rnn_input(p)->type != type)
        return "takes another type";
    return NULL;
}

static const char *f16_check(const dn_problem *p)
{
    return dn_rnn_cuda_check(p, DN_F16);
}

static const char *bf16_check(const dn_problem *p)
{
    return dn_rnn_cuda_check(p, DN_BF16);
}

static const char *f32_check(const dn_problem *p)
{
    return dn_rnn_cuda_check(p, DN_F32);
}

static const char *naive_check(const dn_problem *p)
{
    return dn_rnn_cuda_check(p, (dn_dtype)dn_rnn_input(p)->type);
}

static size_t steps_workspace(const dn_problem *p)
{
    return dn_rnn_cuda_workspace(p, &dn_rnn_steps);
}

static size_t naive_workspace(const dn_problem *p)
{
    return dn_rnn_cuda_workspace(p, &dn_rnn_steps_exact);
}

#define ROW(label, direction, takes) DN_RNN_ROW(label, direction, DN_SOLVER_PLAIN, takes, steps_workspace, &dn_rnn_steps)
#define NAIVE_ROW(label, direction) DN_RNN_ROW(label, direction, DN_SOLVER_PLAIN, naive_check, naive_workspace, &dn_rnn_steps_exact)

static const dn_solver rows[] = {
    ROW("cuda_rnn_infer_gemm_f32", DN_DIR_INFER, f32_check),
    ROW("cuda_rnn_infer_gemm_f16", DN_DIR_INFER, f16_check),
    ROW("cuda_rnn_infer_gemm_bf16", DN_DIR_INFER, bf16_check),
    ROW("cuda_rnn_train_gemm_f32", DN_DIR_TRAIN, f32_check),
    ROW("cuda_rnn_train_gemm_f16", DN_DIR_TRAIN, f16_check),
    ROW("cuda_rnn_train_gemm_bf16", DN_DIR_TRAIN, bf16_check),
    ROW("cuda_rnn_bwd_data_gemm_f32", DN_DIR_BWD_DATA, f32_check),
    ROW("cuda_rnn_bwd_data_gemm_f16", DN_DIR_BWD_DATA, f16_check),
    ROW("cuda_rnn_bwd_data_gemm_bf16", DN_DIR_BWD_DATA, bf16_check),
    ROW("cuda_rnn_bwd_filter_gemm_f32", DN_DIR_BWD_FILTER, f32_check),
    ROW("cuda_rnn_bwd_filter_gemm_f16", DN_DIR_BWD_FILTER, f16_check),
    ROW("cuda_rnn_bwd_filter_gemm_bf16", DN_DIR_BWD_FILTER, bf16_check),
    NAIVE_ROW("cuda_rnn_infer_naive", DN_DIR_INFER),
    NAIVE_ROW("cuda_rnn_train_naive", DN_DIR_TRAIN),
    NAIVE_ROW("cuda_rnn_bwd_data_naive", DN_DIR_BWD_DATA),
    NAIVE_ROW("cuda_rnn_bwd_filter_naive", DN_DIR_BWD_FILTER),
};

const dn_rows dn_cuda_rnn = { rows, sizeof rows / sizeof rows[0] };
