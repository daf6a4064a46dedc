/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Misuse of CTC loss, and of algorithm descriptors and performance records (ABI 8). Descriptor rows were compared with the vendor's 8.9.7
 * and 9.19, the calls with 9.19 on a GPU. */
#include "misuse.h"

#include <string.h>

#define UNCHECKED_REASON "documented: an enumerator, or a length; the vendor does not look at it"

static void ctc_desc(cudnnCTCLossDescriptor_t d)
{
    cudnnDataType_t type;
    const cudnnLossNormalizationMode_t softmax = CUDNN_LOSS_NORMALIZATION_SOFTMAX;
    const cudnnNanPropagation_t stop = CUDNN_NOT_PROPAGATE_NAN;
    ROW(cudnnCreateCTCLossDescriptor, (NULL), BAD, "ctcLossDesc is NULL");
    ROW(cudnnDestroyCTCLossDescriptor, (NULL), OK, "");
    ROW(cudnnSetCTCLossDescriptor, (d, F16), NOSUP, "compType is 2");
    ROW(cudnnSetCTCLossDescriptor, (d, (cudnnDataType_t)-1), NOSUP, "compType is -1");
    ROW(cudnnSetCTCLossDescriptor, (NULL, F32), BAD, "ctcLossDesc is NULL");
    ROW(cudnnSetCTCLossDescriptorEx, (NULL, F32, softmax, stop), BAD, "ctcLossDesc is NULL");
    ROW(cudnnSetCTCLossDescriptorEx, (d, I8, softmax, stop), NOSUP, "compType is 3");
    ROW_V(cudnnSetCTCLossDescriptorEx, (d, F32, (cudnnLossNormalizationMode_t)2, stop), BAD, OK, UNCHECKED_REASON, "normMode is 2");
    ROW_V(cudnnSetCTCLossDescriptorEx, (d, F32, softmax, (cudnnNanPropagation_t)2), BAD, OK, UNCHECKED_REASON, "gradMode is 2");
    ROW(cudnnSetCTCLossDescriptor_v8, (NULL, F32, softmax, stop, 4), BAD, "ctcLossDesc is NULL");
    ROW_V(cudnnSetCTCLossDescriptor_v8, (d, F32, softmax, stop, -1), BAD, OK, UNCHECKED_REASON, "maxLabelLength is -1");
    ROW(cudnnGetCTCLossDescriptor, (NULL, &type), BAD, "ctcLossDesc is NULL");
    ROW(cudnnGetCTCLossDescriptor, (d, NULL), OK, "");
    ROW(cudnnGetCTCLossDescriptorEx, (NULL, &type, NULL, NULL), BAD, "ctcLossDesc is NULL");
    ROW(cudnnGetCTCLossDescriptorEx, (d, NULL, NULL, NULL), OK, "");
    ROW(cudnnGetCTCLossDescriptor_v8, (NULL, &type, NULL, NULL, NULL), BAD, "ctcLossDesc is NULL");
    ROW(cudnnGetCTCLossDescriptor_v8, (d, NULL, NULL, NULL, NULL), OK, "");
#if DN_ABI == 9
    ROW(cudnnSetCTCLossDescriptor_v9, (NULL, F32, softmax, CUDNN_CTC_ZERO_OOB_GRADIENTS, 4), BAD, "ctcLossDesc is NULL");
    ROW(cudnnSetCTCLossDescriptor_v9, (d, F16, softmax, CUDNN_CTC_ZERO_OOB_GRADIENTS, 4), NOSUP, "compType is 2");
    ROW_V(cudnnSetCTCLossDescriptor_v9, (d, F32, softmax, (cudnnCTCGradMode_t)2, 4), BAD, OK, UNCHECKED_REASON, "ctcGradMode is 2");
    ROW(cudnnGetCTCLossDescriptor_v9, (NULL, &type, NULL, NULL, NULL), BAD, "ctcLossDesc is NULL");
    ROW(cudnnGetCTCLossDescriptor_v9, (d, NULL, NULL, NULL, NULL), OK, "");
#endif
    CALL(cudnnSetCTCLossDescriptor_v8, (d, F32, softmax, stop, 4));
}

/* 5 steps, 2 samples, 3 classes */
typedef struct ctc_call {
    cudnnTensorDescriptor_t x, other, long_one, f64, flat;
    float *probs, *gradients, *costs;
    void *ws;
    int *labels, *label_lengths, *input_lengths;  /* where the library reaches them */
} ctc_call;

static const int host_labels[] = {1, 2, 1}, host_lengths[] = {2, 1}, host_steps[] = {5, 4};
enum { WS = 1 << 16 };

static cudnnTensorDescriptor_t describe(cudnnDataType_t type, int rank, int a, int b, int c)
{
    cudnnTensorDescriptor_t t;
    CALL(cudnnCreateTensorDescriptor, (&t));
    CALL(cudnnSetTensorNdDescriptor, (t, type, rank, (const int[]){a, b, c, 1}, (const int[]){b * c, c, 1, 1}));
    return t;
}

static ctc_call call_make(void)
{
    ctc_call c = {.x = describe(F32, 3, 5, 2, 3), .other = describe(F32, 3, 5, 2, 4), .long_one = describe(F32, 3, 6, 2, 3),
                  .f64 = describe(F64, 3, 5, 2, 3), .flat = describe(F32, 4, 5, 2, 3)};
    c.probs = api_alloc(4096), c.gradients = api_alloc(4096), c.costs = api_alloc(64), c.ws = api_alloc(WS);
    c.labels = api_alloc(64), c.label_lengths = api_alloc(64), c.input_lengths = api_alloc(64);
    for (int i = 0; i < 30; i++)
        c.probs[i] = 0.25f;
    memcpy(c.labels, host_labels, sizeof host_labels);
    memcpy(c.label_lengths, host_lengths, sizeof host_lengths);
    memcpy(c.input_lengths, host_steps, sizeof host_steps);
    return c;
}

static void call_drop(ctc_call *c)
{
    cudnnTensorDescriptor_t all[] = {c->x, c->other, c->long_one, c->f64, c->flat};
    for (int i = 0; i < 5; i++)
        CALL(cudnnDestroyTensorDescriptor, (all[i]));
}

#define DET CUDNN_CTC_LOSS_ALGO_DETERMINISTIC
#define WRONG ((cudnnCTCLossAlgo_t)2)
#define INTS(...) ((const int[]){__VA_ARGS__})

static void ctc_sizes(const ctc_call *c, cudnnCTCLossDescriptor_t d, const objects *o)
{
    cudnnHandle_t h = api_handle();
    const int *l = host_labels, *n = host_lengths, *s = host_steps;
    size_t size;
    ROW(cudnnGetCTCLossWorkspaceSize, (h, c->x, c->long_one, l, n, s, DET, d, &size), BAD, "dimension 0 of gradients is 6");
    ROW(cudnnGetCTCLossWorkspaceSize_v8, (h, DET, d, c->x, c->long_one, &size), BAD, "dimension 0 of gradients is 6");
    ROW_V(cudnnGetCTCLossWorkspaceSize_v8, (h, DET, d, c->f64, c->f64, &size), OK, NOSUP, "f64 with FLOAT arithmetic is no trouble here", "");
    if (!api_ours)
        return;
    ROW(cudnnGetCTCLossWorkspaceSize, (h, c->x, c->x, l, n, s, WRONG, d, &size), BAD, "algo is 2");
    ROW(cudnnGetCTCLossWorkspaceSize, (h, c->x, c->x, l, n, INTS(6, 4), DET, d, &size), BAD, "inputLengths[0] is 6", "5");
    ROW(cudnnGetCTCLossWorkspaceSize_v8, (h, WRONG, d, c->x, c->x, &size), BAD, "algo is 2");
    ROW(cudnnGetCTCLossWorkspaceSize, (NULL, c->x, c->x, l, n, s, DET, d, &size), BAD, "handle is NULL");
    ROW(cudnnGetCTCLossWorkspaceSize, (h, NULL, c->x, l, n, s, DET, d, &size), BAD, "probsDesc is NULL");
    ROW(cudnnGetCTCLossWorkspaceSize, (h, o->never, c->x, l, n, s, DET, d, &size), BAD, "probsDesc", "never set");
    ROW(cudnnGetCTCLossWorkspaceSize, (h, c->x, c->other, l, n, s, DET, d, &size), BAD, "dimension 2 of gradients is 4");
    ROW(cudnnGetCTCLossWorkspaceSize, (h, c->x, c->x, NULL, n, s, DET, d, &size), BAD, "labels is NULL");
    ROW(cudnnGetCTCLossWorkspaceSize, (h, c->x, c->x, l, NULL, s, DET, d, &size), BAD, "labelLengths is NULL");
    ROW(cudnnGetCTCLossWorkspaceSize, (h, c->x, c->x, l, n, NULL, DET, d, &size), BAD, "inputLengths is NULL");
    ROW(cudnnGetCTCLossWorkspaceSize, (h, c->x, c->x, l, n, s, DET, NULL, &size), BAD, "ctcLossDesc is NULL");
    ROW(cudnnGetCTCLossWorkspaceSize, (h, c->x, c->x, l, n, s, DET, d, NULL), BAD, "sizeInBytes is NULL");
    ROW(cudnnGetCTCLossWorkspaceSize, (h, c->x, c->x, l, INTS(-1, 1), s, DET, d, &size), BAD, "labelLengths[0] is -1");
    ROW(cudnnGetCTCLossWorkspaceSize_v8, (NULL, DET, d, c->x, c->x, &size), BAD, "handle is NULL");
    ROW(cudnnGetCTCLossWorkspaceSize_v8, (h, DET, NULL, c->x, c->x, &size), BAD, "ctcLossDesc is NULL");
    ROW(cudnnGetCTCLossWorkspaceSize_v8, (h, DET, d, NULL, c->x, &size), BAD, "probsDesc is NULL");
    ROW(cudnnGetCTCLossWorkspaceSize_v8, (h, DET, d, c->flat, c->flat, &size), BAD, "probs has 4 dimensions");
    ROW(cudnnGetCTCLossWorkspaceSize_v8, (h, DET, d, c->x, c->f64, &size), BAD, "type f64", "f32");
    ROW(cudnnGetCTCLossWorkspaceSize_v8, (h, DET, d, c->x, c->x, NULL), BAD, "sizeInBytes is NULL");
}

static void ctc_plain(const ctc_call *c, cudnnCTCLossDescriptor_t d)
{
    cudnnHandle_t h = api_handle();
    const int *l = host_labels, *n = host_lengths, *s = host_steps;
    float *p = c->probs, *g = c->gradients, *k = c->costs;
    void *w = c->ws;
    ROW(cudnnCTCLoss, (h, c->x, p, l, n, INTS(6, 4), k, c->x, g, DET, d, w, WS), BAD, "inputLengths[0] is 6", "5");
    ROW(cudnnCTCLoss, (h, c->x, p, l, n, s, k, c->x, g, DET, d, w, 8), BAD, "workSpaceSizeInBytes is 8");
    ROW(cudnnCTCLoss, (h, c->x, p, l, n, s, k, c->long_one, g, DET, d, w, WS), BAD, "dimension 0 of gradients is 6");
    if (!api_ours)
        return;
    ROW(cudnnCTCLoss, (h, c->x, p, l, n, s, k, c->x, g, WRONG, d, w, WS), BAD, "algo is 2");
    ROW(cudnnCTCLoss, (h, c->x, NULL, l, n, s, k, c->x, g, DET, d, w, WS), BAD, "probs is NULL");
    ROW(cudnnCTCLoss, (h, c->x, p, l, n, s, NULL, c->x, g, DET, d, w, WS), BAD, "costs is NULL");
    ROW(cudnnCTCLoss, (NULL, c->x, p, l, n, s, k, c->x, g, DET, d, w, WS), BAD, "handle is NULL");
    ROW(cudnnCTCLoss, (h, NULL, p, l, n, s, k, c->x, g, DET, d, w, WS), BAD, "probsDesc is NULL");
    ROW(cudnnCTCLoss, (h, c->x, p, NULL, n, s, k, c->x, g, DET, d, w, WS), BAD, "labels is NULL");
    ROW(cudnnCTCLoss, (h, c->x, p, l, NULL, s, k, c->x, g, DET, d, w, WS), BAD, "labelLengths is NULL");
    ROW(cudnnCTCLoss, (h, c->x, p, l, n, NULL, k, c->x, g, DET, d, w, WS), BAD, "inputLengths is NULL");
    ROW(cudnnCTCLoss, (h, c->x, p, l, n, s, k, NULL, g, DET, d, w, WS), BAD, "gradientsDesc is NULL");
    ROW(cudnnCTCLoss, (h, c->x, p, l, n, s, k, c->other, g, DET, d, w, WS), BAD, "dimension 2 of gradients is 4");
    ROW(cudnnCTCLoss, (h, c->x, p, l, n, s, k, c->x, g, DET, NULL, w, WS), BAD, "ctcLossDesc is NULL");
    ROW(cudnnCTCLoss, (h, c->x, p, l, n, s, k, c->x, p, DET, d, w, WS), BAD, "gradients is probs");
    ROW(cudnnCTCLoss, (h, c->x, p, INTS(1, 3, 1), n, s, k, c->x, g, DET, d, w, WS), BAD, "labels[1] is 3", "2");
    ROW(cudnnCTCLoss, (h, c->x, p, INTS(1, 2, -1), n, s, k, c->x, g, DET, d, w, WS), BAD, "labels[2] is -1");
    ROW(cudnnCTCLoss, (h, c->x, p, l, INTS(2, -1), s, k, c->x, g, DET, d, w, WS), BAD, "labelLengths[1] is -1");
    ROW(cudnnCTCLoss, (h, c->x, p, l, n, INTS(5, -1), k, c->x, g, DET, d, w, WS), BAD, "inputLengths[1] is -1");
    ROW(cudnnCTCLoss, (h, c->x, p, l, n, s, k, c->x, g, DET, d, NULL, WS), BAD, "workSpace is NULL");
    ROW(cudnnCTCLoss, (h, c->x, p, l, n, s, k, c->x, g, DET, d, (char *)w + 4, WS - 4), BAD, "workspace is", "multiple of 16");
    ROW(cudnnCTCLoss, (h, c->x, p, l, n, s, k, NULL, NULL, DET, d, w, WS), OK, "");
}

static void ctc_v8(const ctc_call *c, cudnnCTCLossDescriptor_t d)
{
    cudnnHandle_t h = api_handle();
    int *l = c->labels, *n = c->label_lengths, *s = c->input_lengths;
    float *p = c->probs, *g = c->gradients, *k = c->costs;
    void *w = c->ws;
    ROW(cudnnCTCLoss_v8, (h, DET, d, c->x, p, l, n, s, k, c->x, g, 8, w), BAD, "workSpaceSizeInBytes is 8");
    ROW(cudnnCTCLoss_v8, (h, DET, d, c->x, p, l, n, s, k, c->long_one, g, WS, w), BAD, "dimension 0 of gradients is 6");
    if (!api_ours)
        return;
    ROW(cudnnCTCLoss_v8, (h, WRONG, d, c->x, p, l, n, s, k, c->x, g, WS, w), BAD, "algo is 2");
    ROW(cudnnCTCLoss_v8, (h, DET, d, c->x, NULL, l, n, s, k, c->x, g, WS, w), BAD, "probs is NULL");
    ROW(cudnnCTCLoss_v8, (h, DET, d, c->x, p, NULL, n, s, k, c->x, g, WS, w), BAD, "labels is NULL");
    ROW(cudnnCTCLoss_v8, (h, DET, d, c->x, p, l, NULL, s, k, c->x, g, WS, w), BAD, "labelLengths is NULL");
    ROW(cudnnCTCLoss_v8, (h, DET, d, c->x, p, l, n, NULL, k, c->x, g, WS, w), BAD, "inputLengths is NULL");
    ROW(cudnnCTCLoss_v8, (h, DET, d, c->x, p, l, n, s, NULL, c->x, g, WS, w), BAD, "costs is NULL");
    ROW(cudnnCTCLoss_v8, (h, DET, d, c->x, p, l, n, s, k, c->x, g, 0, w), BAD, "workSpaceSizeInBytes is 0");
    ROW(cudnnCTCLoss_v8, (NULL, DET, d, c->x, p, l, n, s, k, c->x, g, WS, w), BAD, "handle is NULL");
    ROW(cudnnCTCLoss_v8, (h, DET, NULL, c->x, p, l, n, s, k, c->x, g, WS, w), BAD, "ctcLossDesc is NULL");
    ROW(cudnnCTCLoss_v8, (h, DET, d, NULL, p, l, n, s, k, c->x, g, WS, w), BAD, "probsDesc is NULL");
    ROW(cudnnCTCLoss_v8, (h, DET, d, c->x, p, l, n, s, k, NULL, g, WS, w), BAD, "gradientsDesc is NULL");
    ROW(cudnnCTCLoss_v8, (h, DET, d, c->x, p, l, n, s, k, c->x, p, WS, w), BAD, "gradients is probs");
    ROW(cudnnCTCLoss_v8, (h, DET, d, c->x, p, l, n, s, k, c->x, g, WS, NULL), BAD, "workSpace is NULL");
}

void misuse_ctc(void **state)
{
    (void)state;
    cudnnCTCLossDescriptor_t d, dead;
    CALL(cudnnCreateCTCLossDescriptor, (&d));
    ctc_desc(d);
    if (api_ours) {
        CALL(cudnnCreateCTCLossDescriptor, (&dead));
        CALL(cudnnDestroyCTCLossDescriptor, (dead));
        ROW(cudnnDestroyCTCLossDescriptor, (dead), BAD, "destroyed");
        ROW(cudnnSetCTCLossDescriptor, ((cudnnCTCLossDescriptor_t)(void *)api_handle(), F32), BAD, "ctcLossDesc is a handle");
    }
    api_rows_done();
    objects o;
    api_handle();
    objects_make(&o);
    ctc_call c = call_make();
    ctc_sizes(&c, d, &o);
    ctc_plain(&c, d);
    ctc_v8(&c, d);
    MEM_CHECK();
    call_drop(&c);
    objects_free(&o);
    CALL(cudnnDestroyCTCLossDescriptor, (d));
    api_rows_done();
}

#if DN_ABI == 8
static void algorithm_objects(cudnnAlgorithmDescriptor_t d, cudnnAlgorithmPerformance_t *r)
{
    cudnnAlgorithm_t a = {.algo.RNNAlgo = CUDNN_RNN_ALGO_PERSIST_STATIC};
    cudnnAlgorithmDescriptor_t got;
    cudnnStatus_t status;
    float time;
    size_t memory;
    ROW(cudnnCreateAlgorithmDescriptor, (NULL), BAD, "algoDesc is NULL");
    ROW(cudnnDestroyAlgorithmDescriptor, (NULL), OK, "");
    ROW(cudnnCreateAlgorithmPerformance, (NULL, 1), BAD, "algoPerf is NULL");
    ROW(cudnnCreateAlgorithmPerformance, (r, 0), OK, "");
    ROW_V(cudnnCreateAlgorithmPerformance, (r, -1), BAD, OK, "a count below 0 makes no sense", "numberToCreate is -1");
    ROW(cudnnSetAlgorithmPerformance, (r[0], NULL, OK, 1, 1), OK, "");
    ROW_OURS(cudnnSetAlgorithmDescriptor, (NULL, a), BAD, "algoDesc is NULL");
    ROW_OURS(cudnnGetAlgorithmDescriptor, (NULL, &a), BAD, "algoDesc is NULL");
    ROW_OURS(cudnnGetAlgorithmDescriptor, (d, NULL), BAD, "algorithm is NULL");
    ROW_OURS(cudnnCopyAlgorithmDescriptor, (NULL, d), BAD, "src is NULL");
    ROW_OURS(cudnnCopyAlgorithmDescriptor, (d, NULL), BAD, "dest is NULL");
    ROW_OURS(cudnnSetAlgorithmPerformance, (NULL, d, OK, 1, 1), BAD, "algoPerf is NULL");
    ROW_OURS(cudnnSetAlgorithmPerformance, (r[0], (cudnnAlgorithmDescriptor_t)(void *)r[0], OK, 1, 1), BAD,
             "algoDesc is a performance record");
    ROW_OURS(cudnnGetAlgorithmPerformance, (NULL, &got, &status, &time, &memory), BAD, "algoPerf is NULL");
    ROW_OURS(cudnnGetAlgorithmPerformance, (r[0], NULL, &status, &time, &memory), BAD, "algoDesc is NULL");
    ROW_OURS(cudnnGetAlgorithmPerformance, (r[0], &got, NULL, &time, &memory), BAD, "status is NULL");
    ROW_OURS(cudnnGetAlgorithmPerformance, (r[0], &got, &status, NULL, &memory), BAD, "time is NULL");
    ROW_OURS(cudnnGetAlgorithmPerformance, (r[0], &got, &status, &time, NULL), BAD, "memory is NULL");
    ROW_OURS(cudnnDestroyAlgorithmPerformance, (NULL, 1), BAD, "algoPerf is NULL");
    ROW_OURS(cudnnDestroyAlgorithmPerformance, (r, -1), BAD, "numberToDestroy is -1");
}

/* A caller destroys the descriptor that a record began with, and gets another in its place: the record has no part in that one. */
static void record_outlives_its_descriptor(void)
{
    cudnnAlgorithmPerformance_t r;
    cudnnAlgorithmDescriptor_t own, d = NULL;
    cudnnAlgorithm_t a;
    cudnnStatus_t status;
    float time;
    size_t memory;
    CALL(cudnnCreateAlgorithmPerformance, (&r, 1));
    CALL(cudnnGetAlgorithmPerformance, (r, &own, &status, &time, &memory));
    CALL(cudnnDestroyAlgorithmDescriptor, (own));
    for (int i = 0; i < 4096 && d != own; i++) {
        if (d)
            CALL(cudnnDestroyAlgorithmDescriptor, (d));
        CALL(cudnnCreateAlgorithmDescriptor, (&d));
    }
    assert_ptr_equal(d, own);
    CALL(cudnnDestroyAlgorithmPerformance, (&r, 1));
    ROW(cudnnGetAlgorithmDescriptor, (d, &a), OK, "");
    CALL(cudnnDestroyAlgorithmDescriptor, (d));
}

static void algorithm_space(cudnnAlgorithmDescriptor_t d)
{
    unsigned char space[64] = {0};
    size_t size = 0;
    ROW(cudnnGetAlgorithmSpaceSize, (NULL, d, &size), BAD, "handle is NULL");
    ROW(cudnnSaveAlgorithm, (NULL, d, space, sizeof space), BAD, "handle is NULL");
    ROW(cudnnRestoreAlgorithm, (NULL, space, sizeof space, d), BAD, "handle is NULL");
    cudnnHandle_t h = api_handle();
    if (!api_ours)
        return;
    ROW(cudnnGetAlgorithmSpaceSize, (h, NULL, &size), BAD, "algoDesc is NULL");
    ROW(cudnnGetAlgorithmSpaceSize, (h, d, NULL), BAD, "algoSpaceSizeInBytes is NULL");
    CALL(cudnnGetAlgorithmSpaceSize, (h, d, &size));
    ROW(cudnnSaveAlgorithm, (h, NULL, space, size), BAD, "algoDesc is NULL");
    ROW(cudnnSaveAlgorithm, (h, d, NULL, size), BAD, "algoSpace is NULL");
    ROW(cudnnSaveAlgorithm, (h, d, space, size - 1), BAD, "algoSpaceSizeInBytes is");
    ROW(cudnnRestoreAlgorithm, (h, space, size, d), BAD, "does not hold");
    CALL(cudnnSaveAlgorithm, (h, d, space, size));
    ROW(cudnnRestoreAlgorithm, (h, space, size - 1, d), BAD, "algoSpaceSizeInBytes is");
    ROW(cudnnRestoreAlgorithm, (h, NULL, size, d), BAD, "algoSpace is NULL");
    ROW(cudnnRestoreAlgorithm, (h, space, size, NULL), BAD, "algoDesc is NULL");
    space[8]++;
    ROW(cudnnRestoreAlgorithm, (h, space, size, d), BAD, "version 2");
    space[8]--, space[16] ^= 1;
    ROW(cudnnRestoreAlgorithm, (h, space, size, d), BAD, "check sum");
}
#endif

void misuse_algorithm(void **state)
{
    (void)state;
#if DN_ABI == 8
    cudnnAlgorithmDescriptor_t d, dead;
    cudnnAlgorithmPerformance_t r[2];
    CALL(cudnnCreateAlgorithmDescriptor, (&d));
    CALL(cudnnCreateAlgorithmPerformance, (r, 2));
    algorithm_objects(d, r);
    api_rows_done();
    algorithm_space(d);
    CALL(cudnnDestroyAlgorithmPerformance, (r, 2));
    CALL(cudnnDestroyAlgorithmDescriptor, (d));
    if (api_ours) {
        CALL(cudnnCreateAlgorithmDescriptor, (&dead));
        CALL(cudnnDestroyAlgorithmDescriptor, (dead));
        ROW(cudnnDestroyAlgorithmDescriptor, (dead), BAD, "destroyed");
        record_outlives_its_descriptor();
        ROW(cudnnDestroyAlgorithmPerformance, (r, 1), BAD, "algoPerf[0]", "destroyed");
    }
    api_rows_done();
#endif
}
