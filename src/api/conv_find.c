/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Which algorithms there are for a convolution, with what workspace, and how fast. Each number is asked of the table of rows as a
 * call with that number would be, so what is listed is what then runs. */
#include "conv.h"

#include "core/tunefile.h"

#include <string.h>

enum { ALGO_MAX = 8, ROWS_MAX = 64 };

/* One entry, before it becomes the perf struct of its direction. */
typedef struct algo_perf {
    int algo;
    dn_status status;
    float ms;
    size_t memory;
    bool deterministic;
    const dn_solver *solver;  /* NULL where no row takes the number */
} algo_perf;

typedef struct algo_list {
    int count;
    algo_perf e[ALGO_MAX];
} algo_list;

static dn_status check_request(int requested, const int *returned, const void *results)
{
    if (dn_want_range(requested, 1, INT32_MAX, "requestedAlgoCount", "1 or more") || dn_want(returned, "returnedAlgoCount")
        || dn_want(results, "perfResults"))
        return DN_BAD_PARAM;
    return DN_SUCCESS;
}

static bool listed(const algo_list *list, int algo)
{
    for (int i = 0; i < list->count; i++)
        if (list->e[i].algo == algo)
            return true;
    return false;
}

/* The numbers that no row takes, after those that one does. */
static void list_refused(algo_list *list, int algos)
{
    for (int algo = 0; algo < algos; algo++)
        if (!listed(list, algo))
            list->e[list->count++] = (algo_perf){.algo = algo, .status = DN_NOT_SUPPORTED, .ms = -1, .deterministic = true};
}

/* Moves the row that won an earlier Find to the front. */
static void put_first(algo_list *list, const dn_solver *tuned)
{
    for (int i = 1; tuned && i < list->count; i++)
        if (list->e[i].solver == tuned) {
            algo_perf e = list->e[i];
            memmove(list->e + 1, list->e, (size_t)i * sizeof e);
            list->e[0] = e;
        }
}

/* Every number in the order of the rows, which is that of preference. */
static void list_rows(const dn_conv_call *c, int algos, algo_list *list)
{
    const dn_solver *s;
    list->count = 0;
    for (int i = 0; (s = dn_solver_at(c->h->engine, (dn_op)c->p.op, (dn_dir)c->p.dir, i)); i++) {
        if (s->algo < 0 || s->algo >= algos || listed(list, s->algo))
            continue;
        dn_problem p = c->p;
        p.algo = s->algo;
        if (dn_row_of(c->h, &p) != s)
            continue;  /* several rows may stand for a number: its place is that of the one that runs */
        algo_perf e = {.algo = s->algo, .ms = -1, .solver = s, .deterministic = !(s->flags & DN_SOLVER_NONDETERMINISTIC)};
        e.status = dn_plan_workspace(c->h, &p, &e.memory);
        list->e[list->count++] = e;
    }
    put_first(list, dn_tuned_row(c->h->engine, &c->p));
    list_refused(list, algos);
}

static void sort_by_time(algo_list *list)
{
    for (int i = 1; i < list->count; i++) {
        algo_perf e = list->e[i];
        int j = i;
        for (; j > 0 && list->e[j - 1].status != DN_SUCCESS && e.status == DN_SUCCESS; j--)
            list->e[j] = list->e[j - 1];
        for (; j > 0 && e.status == DN_SUCCESS && list->e[j - 1].ms > e.ms; j--)
            list->e[j] = list->e[j - 1];
        list->e[j] = e;
    }
}

/* The first of p's rows, in table order, that was prepared: the one that a call would run. */
static const dn_timing *timing_of(const dn_handle *h, const dn_problem *p, const dn_timing *t, int n)
{
    const dn_solver *s;
    for (int i = 0; (s = dn_solver_at(h->engine, (dn_op)p->op, (dn_dir)p->dir, i)); i++)
        for (int j = 0; j < n; j++)
            if (t[j].solver == s)
                return &t[j];
    return NULL;
}

/* The row's own status and time, and the workspace that the workspace query names for this number: what is listed must be enough
 * for any later call with it, whatever its beta and pointers. */
static algo_perf timed_entry(const dn_conv_call *c, const dn_problem *p, const dn_timing *t)
{
    algo_perf e = {.algo = p->algo, .status = t->status, .ms = t->ms,
                   .solver = t->solver, .deterministic = !(t->solver->flags & DN_SOLVER_NONDETERMINISTIC)};
    dn_status st = dn_plan_workspace(c->h, p, &e.memory);
    if (e.status == DN_SUCCESS)
        e.status = st != DN_SUCCESS ? st : e.memory > c->a.workspace_size ? DN_ALLOC_FAILED : DN_SUCCESS;
    return e;
}

/* Times each number's row on the data and workspace of the call. */
static void time_rows(const dn_conv_call *c, int algos, algo_list *list)
{
    list->count = 0;
    for (int algo = 0; algo < algos; algo++) {
        dn_problem p = c->p;
        dn_timing t[ROWS_MAX];
        p.algo = (int16_t)algo;
        const dn_timing *first = timing_of(c->h, &p, t, dn_tune(c->h, &p, &c->a, t, ROWS_MAX));
        if (first)
            list->e[list->count++] = timed_entry(c, &p, first);
    }
    list_refused(list, algos);
    sort_by_time(list);
    if (list->e[0].status == DN_SUCCESS)
        dn_tuned_keep(c->h->engine, &c->p, list->e[0].solver);
}

/* --- memory of the plain Find --- */

/* A buffer for t, filled with bytes that are an ordinary positive number in every type (0x3c3c: 1.06 as a half, 0.0115 as a
 * float or bfloat16, 60 as a byte). base is freed, ptr passed. */
static dn_status find_buffer(dn_handle *h, const dn_tensor *t, void **base, void **ptr)
{
    unsigned char fill[4096];
    int64_t lo, hi, unit = (int64_t)dn_dtype_size((dn_dtype)t->type) * t->vect;
    if (!dn_tensor_span(t, &lo, &hi))
        return dn_fail(DN_BAD_PARAM, "a tensor spans more than the address space");
    size_t size = (size_t)((hi - lo + 1) * unit);
    dn_status st = dn_mem_alloc(h, size, base);
    memset(fill, 0x3c, sizeof fill);
    for (size_t at = 0; st == DN_SUCCESS && at < size; at += sizeof fill)
        st = dn_mem_copy_in(h, (char *)*base + at, fill, size - at < sizeof fill ? size - at : sizeof fill);
    *ptr = st == DN_SUCCESS ? (char *)*base - lo * unit : NULL;
    return st;
}

/* The largest workspace that any number wants and that can be had: a number whose workspace cannot be had keeps no other from
 * being timed. */
static void find_workspace(dn_conv_call *c, int algos)
{
    size_t limit = SIZE_MAX;
    while (limit) {
        size_t want = 0;
        for (int algo = 0; algo < algos; algo++) {
            dn_problem p = c->p;
            size_t bytes = 0;
            p.algo = (int16_t)algo;
            if (dn_row_of(c->h, &p) && dn_plan_workspace(c->h, &p, &bytes) == DN_SUCCESS && bytes < limit && bytes > want)
                want = bytes;
        }
        if (!want || dn_mem_alloc(c->h, want, &c->a.workspace) == DN_SUCCESS) {
            c->a.workspace_size = want;
            return;
        }
        c->a.workspace = NULL;
        limit = want;
    }
}

static dn_status find_on_own_memory(dn_conv_call *c, int algos, algo_list *list)
{
    static const dn_role roles[3] = {DN_X, DN_W, DN_Y};
    void *base[3] = {0};
    dn_status st = DN_SUCCESS;
    for (int i = 0; st == DN_SUCCESS && i < 3; i++) {
        void *ptr = NULL;
        st = find_buffer(c->h, &c->p.t[roles[i]], &base[i], &ptr);
        if (st == DN_SUCCESS)
            dn_bind(&c->p, &c->a, roles[i], &c->p.t[roles[i]], ptr);
    }
    if (st == DN_SUCCESS) {
        find_workspace(c, algos);
        time_rows(c, algos, list);
        if (c->a.workspace)
            dn_mem_free(c->h, c->a.workspace);
    }
    for (int i = 0; i < 3; i++)
        if (base[i])
            dn_mem_free(c->h, base[i]);
    return st;
}

/* --- what the three directions share --- */

typedef enum ask { ASK_GET, ASK_FIND, ASK_FIND_EX } ask;

/* Fills list with at most requested entries. Find runs with alpha 1 and beta 0. */
static dn_status answer_list(dn_conv_call *c, ask kind, int algos, int requested, const int *returned, const void *results,
                             algo_list *list)
{
    dn_conv_verify(c);
    if (c->st == DN_SUCCESS)
        c->st = check_request(requested, returned, results);
    if (c->st != DN_SUCCESS)
        return c->st;
    c->a.alpha = 1;
    if (kind != ASK_GET)
        c->p.flags |= DN_F_BETA_ZERO;
    if (kind == ASK_GET)
        list_rows(c, algos, list);
    else if (kind == ASK_FIND)
        c->st = find_on_own_memory(c, algos, list);
    else
        time_rows(c, algos, list);
    if (list->count > requested)
        list->count = requested;
    return c->st;
}

static cudnnStatus_t answer_count(cudnnHandle_t handle, int algos, int *count)
{
    if (!dn_handle_of(handle) || dn_want(count, "count"))
        return dn_answer(DN_BAD_PARAM);
    *count = algos;
    return dn_answer(DN_SUCCESS);
}

static cudnnStatus_t answer_workspace(dn_conv_call *c, size_t *bytes)
{
    if (c->st == DN_SUCCESS)
        c->st = dn_want(bytes, "sizeInBytes");
    dn_conv_verify(c);
    return dn_answer(c->st == DN_SUCCESS ? dn_plan_workspace(c->h, &c->p, bytes) : c->st);
}

/* dn_answer also logs, and an entry's status is no answer of the call. */
static cudnnStatus_t entry_status(dn_status st)
{
    return st == DN_SUCCESS        ? CUDNN_STATUS_SUCCESS
           : st == DN_ALLOC_FAILED ? CUDNN_STATUS_ALLOC_FAILED
           : st == DN_NOT_SUPPORTED ? CUDNN_STATUS_NOT_SUPPORTED
                                    : CUDNN_STATUS_EXECUTION_FAILED;
}

static cudnnDeterminism_t determinism(const algo_perf *e)
{
    return e->deterministic ? CUDNN_DETERMINISTIC : CUDNN_NON_DETERMINISTIC;
}

/* --- forward --- */

static void ask_forward(dn_conv_call *c, cudnnHandle_t handle, const cudnnTensorDescriptor_t x, const char *x_name,
                        const cudnnFilterDescriptor_t w, const char *w_name, const cudnnConvolutionDescriptor_t conv,
                        const cudnnTensorDescriptor_t y, const char *y_name, int algo, int count)
{
    dn_conv_begin(c, handle, DN_DIR_FWD, conv, algo, count);
    dn_conv_bind_tensor(c, DN_X, x, x_name, NULL, NULL);
    dn_conv_bind_filter(c, w, w_name, NULL, NULL);
    dn_conv_bind_tensor(c, DN_Y, y, y_name, NULL, NULL);
}

static cudnnStatus_t list_forward(dn_conv_call *c, ask kind, int requested, int *returned, cudnnConvolutionFwdAlgoPerf_t *results)
{
    algo_list list = {0};
    dn_status st = answer_list(c, kind, CUDNN_CONVOLUTION_FWD_ALGO_COUNT, requested, returned, results, &list);
    if (st != DN_SUCCESS)
        return dn_answer(st);
    for (int i = 0; i < list.count; i++)
        results[i] = (cudnnConvolutionFwdAlgoPerf_t){.algo = (cudnnConvolutionFwdAlgo_t)list.e[i].algo,
                                                     .status = entry_status(list.e[i].status), .time = list.e[i].ms,
                                                     .memory = list.e[i].memory, .determinism = determinism(&list.e[i]),
                                                     .mathType = (cudnnMathType_t)c->math};
    *returned = list.count;
    return dn_answer(DN_SUCCESS);
}

cudnnStatus_t CUDNNWINAPI cudnnGetConvolutionForwardAlgorithmMaxCount(cudnnHandle_t handle, int *count)
{
    dn_call_begin("cudnnGetConvolutionForwardAlgorithmMaxCount");
    return answer_count(handle, CUDNN_CONVOLUTION_FWD_ALGO_COUNT, count);
}

cudnnStatus_t CUDNNWINAPI cudnnGetConvolutionForwardAlgorithm_v7(cudnnHandle_t handle, const cudnnTensorDescriptor_t srcDesc,
    const cudnnFilterDescriptor_t filterDesc, const cudnnConvolutionDescriptor_t convDesc, const cudnnTensorDescriptor_t destDesc,
    const int requestedAlgoCount, int *returnedAlgoCount, cudnnConvolutionFwdAlgoPerf_t *perfResults)
{
    dn_conv_call c;
    dn_call_begin("cudnnGetConvolutionForwardAlgorithm_v7");
    ask_forward(&c, handle, srcDesc, "srcDesc", filterDesc, "filterDesc", convDesc, destDesc, "destDesc", -1, 0);
    return list_forward(&c, ASK_GET, requestedAlgoCount, returnedAlgoCount, perfResults);
}

cudnnStatus_t CUDNNWINAPI cudnnFindConvolutionForwardAlgorithm(cudnnHandle_t handle, const cudnnTensorDescriptor_t xDesc,
    const cudnnFilterDescriptor_t wDesc, const cudnnConvolutionDescriptor_t convDesc, const cudnnTensorDescriptor_t yDesc,
    const int requestedAlgoCount, int *returnedAlgoCount, cudnnConvolutionFwdAlgoPerf_t *perfResults)
{
    dn_conv_call c;
    dn_call_begin("cudnnFindConvolutionForwardAlgorithm");
    ask_forward(&c, handle, xDesc, "xDesc", wDesc, "wDesc", convDesc, yDesc, "yDesc", -1, 0);
    return list_forward(&c, ASK_FIND, requestedAlgoCount, returnedAlgoCount, perfResults);
}

/* y holds the last timed result afterwards; nothing else of the caller's is written but the workspace. */
cudnnStatus_t CUDNNWINAPI cudnnFindConvolutionForwardAlgorithmEx(cudnnHandle_t handle, const cudnnTensorDescriptor_t xDesc,
    const void *x, const cudnnFilterDescriptor_t wDesc, const void *w, const cudnnConvolutionDescriptor_t convDesc,
    const cudnnTensorDescriptor_t yDesc, void *y, const int requestedAlgoCount, int *returnedAlgoCount,
    cudnnConvolutionFwdAlgoPerf_t *perfResults, void *workSpace, size_t workSpaceSizeInBytes)
{
    dn_conv_call c;
    dn_call_begin("cudnnFindConvolutionForwardAlgorithmEx");
    dn_conv_begin(&c, handle, DN_DIR_FWD, convDesc, -1, 0);
    dn_conv_bind_tensor(&c, DN_X, xDesc, "xDesc", x, "x");
    dn_conv_bind_filter(&c, wDesc, "wDesc", w, "w");
    dn_conv_bind_tensor(&c, DN_Y, yDesc, "yDesc", y, "y");
    dn_conv_bind_workspace(&c, workSpace, workSpaceSizeInBytes);
    return list_forward(&c, ASK_FIND_EX, requestedAlgoCount, returnedAlgoCount, perfResults);
}

cudnnStatus_t CUDNNWINAPI cudnnGetConvolutionForwardWorkspaceSize(cudnnHandle_t handle, const cudnnTensorDescriptor_t xDesc,
    const cudnnFilterDescriptor_t wDesc, const cudnnConvolutionDescriptor_t convDesc, const cudnnTensorDescriptor_t yDesc,
    cudnnConvolutionFwdAlgo_t algo, size_t *sizeInBytes)
{
    dn_conv_call c;
    dn_call_begin("cudnnGetConvolutionForwardWorkspaceSize");
    ask_forward(&c, handle, xDesc, "xDesc", wDesc, "wDesc", convDesc, yDesc, "yDesc", (int)algo, CUDNN_CONVOLUTION_FWD_ALGO_COUNT);
    return answer_workspace(&c, sizeInBytes);
}

/* --- backward data --- */

static void ask_backward_data(dn_conv_call *c, cudnnHandle_t handle, const cudnnFilterDescriptor_t w, const char *w_name,
                              const cudnnTensorDescriptor_t dy, const char *dy_name, const cudnnConvolutionDescriptor_t conv,
                              const cudnnTensorDescriptor_t dx, const char *dx_name, int algo, int count)
{
    dn_conv_begin(c, handle, DN_DIR_BWD_DATA, conv, algo, count);
    dn_conv_bind_filter(c, w, w_name, NULL, NULL);
    dn_conv_bind_tensor(c, DN_Y, dy, dy_name, NULL, NULL);
    dn_conv_bind_tensor(c, DN_X, dx, dx_name, NULL, NULL);
}

static cudnnStatus_t list_backward_data(dn_conv_call *c, ask kind, int requested, int *returned,
                                        cudnnConvolutionBwdDataAlgoPerf_t *results)
{
    algo_list list = {0};
    dn_status st = answer_list(c, kind, CUDNN_CONVOLUTION_BWD_DATA_ALGO_COUNT, requested, returned, results, &list);
    if (st != DN_SUCCESS)
        return dn_answer(st);
    for (int i = 0; i < list.count; i++)
        results[i] = (cudnnConvolutionBwdDataAlgoPerf_t){.algo = (cudnnConvolutionBwdDataAlgo_t)list.e[i].algo,
                                                         .status = entry_status(list.e[i].status), .time = list.e[i].ms,
                                                         .memory = list.e[i].memory, .determinism = determinism(&list.e[i]),
                                                         .mathType = (cudnnMathType_t)c->math};
    *returned = list.count;
    return dn_answer(DN_SUCCESS);
}

cudnnStatus_t CUDNNWINAPI cudnnGetConvolutionBackwardDataAlgorithmMaxCount(cudnnHandle_t handle, int *count)
{
    dn_call_begin("cudnnGetConvolutionBackwardDataAlgorithmMaxCount");
    return answer_count(handle, CUDNN_CONVOLUTION_BWD_DATA_ALGO_COUNT, count);
}

cudnnStatus_t CUDNNWINAPI cudnnGetConvolutionBackwardDataAlgorithm_v7(cudnnHandle_t handle, const cudnnFilterDescriptor_t filterDesc,
    const cudnnTensorDescriptor_t diffDesc, const cudnnConvolutionDescriptor_t convDesc, const cudnnTensorDescriptor_t gradDesc,
    const int requestedAlgoCount, int *returnedAlgoCount, cudnnConvolutionBwdDataAlgoPerf_t *perfResults)
{
    dn_conv_call c;
    dn_call_begin("cudnnGetConvolutionBackwardDataAlgorithm_v7");
    ask_backward_data(&c, handle, filterDesc, "filterDesc", diffDesc, "diffDesc", convDesc, gradDesc, "gradDesc", -1, 0);
    return list_backward_data(&c, ASK_GET, requestedAlgoCount, returnedAlgoCount, perfResults);
}

cudnnStatus_t CUDNNWINAPI cudnnFindConvolutionBackwardDataAlgorithm(cudnnHandle_t handle, const cudnnFilterDescriptor_t wDesc,
    const cudnnTensorDescriptor_t dyDesc, const cudnnConvolutionDescriptor_t convDesc, const cudnnTensorDescriptor_t dxDesc,
    const int requestedAlgoCount, int *returnedAlgoCount, cudnnConvolutionBwdDataAlgoPerf_t *perfResults)
{
    dn_conv_call c;
    dn_call_begin("cudnnFindConvolutionBackwardDataAlgorithm");
    ask_backward_data(&c, handle, wDesc, "wDesc", dyDesc, "dyDesc", convDesc, dxDesc, "dxDesc", -1, 0);
    return list_backward_data(&c, ASK_FIND, requestedAlgoCount, returnedAlgoCount, perfResults);
}

/* dx holds the last timed result afterwards. */
cudnnStatus_t CUDNNWINAPI cudnnFindConvolutionBackwardDataAlgorithmEx(cudnnHandle_t handle, const cudnnFilterDescriptor_t wDesc,
    const void *w, const cudnnTensorDescriptor_t dyDesc, const void *dy, const cudnnConvolutionDescriptor_t convDesc,
    const cudnnTensorDescriptor_t dxDesc, void *dx, const int requestedAlgoCount, int *returnedAlgoCount,
    cudnnConvolutionBwdDataAlgoPerf_t *perfResults, void *workSpace, size_t workSpaceSizeInBytes)
{
    dn_conv_call c;
    dn_call_begin("cudnnFindConvolutionBackwardDataAlgorithmEx");
    dn_conv_begin(&c, handle, DN_DIR_BWD_DATA, convDesc, -1, 0);
    dn_conv_bind_filter(&c, wDesc, "wDesc", w, "w");
    dn_conv_bind_tensor(&c, DN_Y, dyDesc, "dyDesc", dy, "dy");
    dn_conv_bind_tensor(&c, DN_X, dxDesc, "dxDesc", dx, "dx");
    dn_conv_bind_workspace(&c, workSpace, workSpaceSizeInBytes);
    return list_backward_data(&c, ASK_FIND_EX, requestedAlgoCount, returnedAlgoCount, perfResults);
}

cudnnStatus_t CUDNNWINAPI cudnnGetConvolutionBackwardDataWorkspaceSize(cudnnHandle_t handle, const cudnnFilterDescriptor_t wDesc,
    const cudnnTensorDescriptor_t dyDesc, const cudnnConvolutionDescriptor_t convDesc, const cudnnTensorDescriptor_t dxDesc,
    cudnnConvolutionBwdDataAlgo_t algo, size_t *sizeInBytes)
{
    dn_conv_call c;
    dn_call_begin("cudnnGetConvolutionBackwardDataWorkspaceSize");
    ask_backward_data(&c, handle, wDesc, "wDesc", dyDesc, "dyDesc", convDesc, dxDesc, "dxDesc", (int)algo,
                      CUDNN_CONVOLUTION_BWD_DATA_ALGO_COUNT);
    return answer_workspace(&c, sizeInBytes);
}

/* --- backward filter --- */

static void ask_backward_filter(dn_conv_call *c, cudnnHandle_t handle, const cudnnTensorDescriptor_t x, const char *x_name,
                                const cudnnTensorDescriptor_t dy, const char *dy_name, const cudnnConvolutionDescriptor_t conv,
                                const cudnnFilterDescriptor_t dw, const char *dw_name, int algo, int count)
{
    dn_conv_begin(c, handle, DN_DIR_BWD_FILTER, conv, algo, count);
    dn_conv_bind_tensor(c, DN_X, x, x_name, NULL, NULL);
    dn_conv_bind_tensor(c, DN_Y, dy, dy_name, NULL, NULL);
    dn_conv_bind_filter(c, dw, dw_name, NULL, NULL);
}

static cudnnStatus_t list_backward_filter(dn_conv_call *c, ask kind, int requested, int *returned,
                                          cudnnConvolutionBwdFilterAlgoPerf_t *results)
{
    algo_list list = {0};
    dn_status st = answer_list(c, kind, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_COUNT, requested, returned, results, &list);
    if (st != DN_SUCCESS)
        return dn_answer(st);
    for (int i = 0; i < list.count; i++)
        results[i] = (cudnnConvolutionBwdFilterAlgoPerf_t){.algo = (cudnnConvolutionBwdFilterAlgo_t)list.e[i].algo,
                                                           .status = entry_status(list.e[i].status), .time = list.e[i].ms,
                                                           .memory = list.e[i].memory, .determinism = determinism(&list.e[i]),
                                                           .mathType = (cudnnMathType_t)c->math};
    *returned = list.count;
    return dn_answer(DN_SUCCESS);
}

cudnnStatus_t CUDNNWINAPI cudnnGetConvolutionBackwardFilterAlgorithmMaxCount(cudnnHandle_t handle, int *count)
{
    dn_call_begin("cudnnGetConvolutionBackwardFilterAlgorithmMaxCount");
    return answer_count(handle, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_COUNT, count);
}

cudnnStatus_t CUDNNWINAPI cudnnGetConvolutionBackwardFilterAlgorithm_v7(cudnnHandle_t handle, const cudnnTensorDescriptor_t srcDesc,
    const cudnnTensorDescriptor_t diffDesc, const cudnnConvolutionDescriptor_t convDesc, const cudnnFilterDescriptor_t gradDesc,
    const int requestedAlgoCount, int *returnedAlgoCount, cudnnConvolutionBwdFilterAlgoPerf_t *perfResults)
{
    dn_conv_call c;
    dn_call_begin("cudnnGetConvolutionBackwardFilterAlgorithm_v7");
    ask_backward_filter(&c, handle, srcDesc, "srcDesc", diffDesc, "diffDesc", convDesc, gradDesc, "gradDesc", -1, 0);
    return list_backward_filter(&c, ASK_GET, requestedAlgoCount, returnedAlgoCount, perfResults);
}

cudnnStatus_t CUDNNWINAPI cudnnFindConvolutionBackwardFilterAlgorithm(cudnnHandle_t handle, const cudnnTensorDescriptor_t xDesc,
    const cudnnTensorDescriptor_t dyDesc, const cudnnConvolutionDescriptor_t convDesc, const cudnnFilterDescriptor_t dwDesc,
    const int requestedAlgoCount, int *returnedAlgoCount, cudnnConvolutionBwdFilterAlgoPerf_t *perfResults)
{
    dn_conv_call c;
    dn_call_begin("cudnnFindConvolutionBackwardFilterAlgorithm");
    ask_backward_filter(&c, handle, xDesc, "xDesc", dyDesc, "dyDesc", convDesc, dwDesc, "dwDesc", -1, 0);
    return list_backward_filter(&c, ASK_FIND, requestedAlgoCount, returnedAlgoCount, perfResults);
}

/* dw holds the last timed result afterwards. The prototype calls dy's data y. */
cudnnStatus_t CUDNNWINAPI cudnnFindConvolutionBackwardFilterAlgorithmEx(cudnnHandle_t handle, const cudnnTensorDescriptor_t xDesc,
    const void *x, const cudnnTensorDescriptor_t dyDesc, const void *y, const cudnnConvolutionDescriptor_t convDesc,
    const cudnnFilterDescriptor_t dwDesc, void *dw, const int requestedAlgoCount, int *returnedAlgoCount,
    cudnnConvolutionBwdFilterAlgoPerf_t *perfResults, void *workSpace, size_t workSpaceSizeInBytes)
{
    dn_conv_call c;
    dn_call_begin("cudnnFindConvolutionBackwardFilterAlgorithmEx");
    dn_conv_begin(&c, handle, DN_DIR_BWD_FILTER, convDesc, -1, 0);
    dn_conv_bind_tensor(&c, DN_X, xDesc, "xDesc", x, "x");
    dn_conv_bind_tensor(&c, DN_Y, dyDesc, "dyDesc", y, "y");
    dn_conv_bind_filter(&c, dwDesc, "dwDesc", dw, "dw");
    dn_conv_bind_workspace(&c, workSpace, workSpaceSizeInBytes);
    return list_backward_filter(&c, ASK_FIND_EX, requestedAlgoCount, returnedAlgoCount, perfResults);
}

cudnnStatus_t CUDNNWINAPI cudnnGetConvolutionBackwardFilterWorkspaceSize(cudnnHandle_t handle, const cudnnTensorDescriptor_t xDesc,
    const cudnnTensorDescriptor_t dyDesc, const cudnnConvolutionDescriptor_t convDesc, const cudnnFilterDescriptor_t gradDesc,
    cudnnConvolutionBwdFilterAlgo_t algo, size_t *sizeInBytes)
{
    dn_conv_call c;
    dn_call_begin("cudnnGetConvolutionBackwardFilterWorkspaceSize");
    ask_backward_filter(&c, handle, xDesc, "xDesc", dyDesc, "dyDesc", convDesc, gradDesc, "gradDesc", (int)algo,
                        CUDNN_CONVOLUTION_BWD_FILTER_ALGO_COUNT);
    return answer_workspace(&c, sizeInBytes);
}
