/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Misuse of multi-head attention. Rows were compared with the vendor's 9.19: descriptors without a GPU, the calls on one. */
#include "misuse.h"

#include <math.h>
#include <string.h>

#define WORK_REASON "the vendor's training works in the reserve space alone"
#define TYPE_REASON "documented: the data has the type of attnDesc; the vendor's does not look at it"
#define INTERNAL CUDNN_STATUS_INTERNAL_ERROR

static const cudnnSeqDataAxis_t axes[4] = {CUDNN_SEQDATA_TIME_DIM, CUDNN_SEQDATA_BATCH_DIM, CUDNN_SEQDATA_BEAM_DIM, CUDNN_SEQDATA_VECT_DIM};

static void sequence(cudnnSeqDataDescriptor_t d)
{
    const int dims[4] = {3, 2, 3, 4}, len[7] = {3, 2, 1, 3, 1, 2, 1}, zero[6] = {3, 2, 1, 0, 1, 2}, large[6] = {3, 2, 1, 4, 1, 2};
    const cudnnSeqDataAxis_t twice[4] = {0, 0, 2, 3}, vector_first[4] = {3, 0, 1, 2}, wild[4] = {0, 1, 7, 3};
    cudnnDataType_t type;
    ROW(cudnnCreateSeqDataDescriptor, (NULL), BAD, "seqDataDesc is NULL");
    ROW(cudnnDestroySeqDataDescriptor, (NULL), OK, "");
    ROW(cudnnSetSeqDataDescriptor, (NULL, F32, 4, dims, axes, 6, len, NULL), BAD, "seqDataDesc is NULL");
    ROW(cudnnSetSeqDataDescriptor, (d, 99, 4, dims, axes, 6, len, NULL), BAD, "dataType is 99");
    ROW_V(cudnnSetSeqDataDescriptor, (d, I8, 4, dims, axes, 6, len, NULL), NOSUP, INTERNAL, "no type of attention", "dataType is i8");
    ROW(cudnnSetSeqDataDescriptor, (d, F32, 3, dims, axes, 6, len, NULL), NOSUP, "nbDims is 3");
    ROW(cudnnSetSeqDataDescriptor, (d, F32, 5, dims, axes, 6, len, NULL), NOSUP, "nbDims is 5");
    ROW(cudnnSetSeqDataDescriptor, (d, F32, 0, dims, axes, 6, len, NULL), BAD, "nbDims is 0");
    ROW(cudnnSetSeqDataDescriptor, (d, F32, 4, ((int[]){3, 2, 3, 0}), axes, 6, len, NULL), BAD, "dimA[3] is 0");
    ROW(cudnnSetSeqDataDescriptor, (d, F32, 4, ((int[]){1 << 20, 1 << 10, 1 << 10, 1 << 30}), axes, 6, len, NULL), BAD, "dimA");
    ROW(cudnnSetSeqDataDescriptor, (d, F32, 4, dims, twice, 6, len, NULL), BAD, "axes[1] is 0", "once");
    ROW(cudnnSetSeqDataDescriptor, (d, F32, 4, dims, vector_first, 6, len, NULL), BAD, "axes[3] is 2", "VECT");
    ROW(cudnnSetSeqDataDescriptor, (d, F32, 4, dims, wild, 6, len, NULL), BAD, "axes[2] is 7");
    ROW(cudnnSetSeqDataDescriptor, (d, F32, 4, dims, axes, 5, len, NULL), BAD, "seqLengthArraySize is 5", "6");
    ROW(cudnnSetSeqDataDescriptor, (d, F32, 4, dims, axes, 7, len, NULL), BAD, "seqLengthArraySize is 7");
    ROW(cudnnSetSeqDataDescriptor, (d, F32, 4, dims, axes, 6, zero, NULL), BAD, "seqLengthArray[3] is 0");
    ROW(cudnnSetSeqDataDescriptor, (d, F32, 4, dims, axes, 6, large, NULL), BAD, "seqLengthArray[3] is 4", "3");
    ROW_OURS(cudnnSetSeqDataDescriptor, (d, F32, 4, NULL, axes, 6, len, NULL), BAD, "dimA is NULL");
    ROW_OURS(cudnnSetSeqDataDescriptor, (d, F32, 4, dims, NULL, 6, len, NULL), BAD, "axes is NULL");
    ROW_OURS(cudnnSetSeqDataDescriptor, (d, F32, 4, dims, axes, 6, NULL, NULL), BAD, "seqLengthArray is NULL");
    ROW(cudnnGetSeqDataDescriptor, (d, &type, NULL, 0, NULL, NULL, NULL, 0, NULL, NULL), OK, "");
    ROW(cudnnGetSeqDataDescriptor, (d, &type, NULL, -1, NULL, NULL, NULL, 0, NULL, NULL), BAD, "nbDimsRequested is -1");
    ROW(cudnnGetSeqDataDescriptor, (NULL, &type, NULL, 0, NULL, NULL, NULL, 0, NULL, NULL), BAD, "seqDataDesc is NULL");
}

static const int plain[11] = {4, 4, 4, 2, 2, 2, 4, 3, 5, 2, 1};
#define SET(d, mode, heads, scale, type, compute, math, v) (d, mode, heads, scale, type, compute, (cudnnMathType_t)(math), NULL, NULL, (v)[0], \
                                                            (v)[1], (v)[2], (v)[3], (v)[4], (v)[5], (v)[6], (v)[7], (v)[8], (v)[9], (v)[10])

/* Size number i is -1. A function of its own: a row's jump may spoil a loop's counter. */
static void negative(cudnnAttnDescriptor_t d, int i)
{
    static const char *const names[] = {"qSize is -1", "kSize is -1", "vSize is -1", "qProjSize is -1", "kProjSize is -1", "vProjSize is -1",
                                        "oProjSize is -1", "qoMaxSeqLength is -1", "kvMaxSeqLength is -1", "maxBatchSize is -1",
                                        "maxBeamSize is -1"};
    int v[11];
    memcpy(v, plain, sizeof v);
    v[i] = -1;
    ROW(cudnnSetAttnDescriptor, SET(d, 0, 2, 0.5, F32, F32, 0, v), BAD, names[i]);
}

static void layer(cudnnAttnDescriptor_t d, objects *o)
{
    ROW(cudnnCreateAttnDescriptor, (NULL), BAD, "attnDesc is NULL");
    ROW(cudnnDestroyAttnDescriptor, (NULL), OK, "");
    ROW(cudnnSetAttnDescriptor, SET(NULL, 0, 2, 0.5, F32, F32, 0, plain), BAD, "attnDesc is NULL");
    ROW(cudnnSetAttnDescriptor, SET(d, 4, 2, 0.5, F32, F32, 0, plain), BAD, "attnMode is 0x4");
    ROW(cudnnSetAttnDescriptor, SET(d, 0, 0, 0.5, F32, F32, 0, plain), BAD, "nHeads is 0");
    ROW(cudnnSetAttnDescriptor, SET(d, 0, 2, -1, F32, F32, 0, plain), BAD, "smScaler is -1");
    ROW_V(cudnnSetAttnDescriptor, SET(d, 0, 2, NAN, F32, F32, 0, plain), BAD, OK, "NaN passes the vendor's comparison", "smScaler");
    ROW(cudnnSetAttnDescriptor, SET(d, 0, 2, 0.5, I8, F32, 0, plain), BAD, "dataType is i8");
    ROW(cudnnSetAttnDescriptor, SET(d, 0, 2, 0.5, (cudnnDataType_t)99, F32, 0, plain), BAD, "dataType is 99");
    ROW(cudnnSetAttnDescriptor, SET(d, 0, 2, 0.5, F64, F32, 0, plain), NOSUP, "computePrec is f32");
    ROW(cudnnSetAttnDescriptor, SET(d, 0, 2, 0.5, F32, F64, 0, plain), NOSUP, "computePrec is f64");
    ROW(cudnnSetAttnDescriptor, SET(d, 0, 2, 0.5, F32, F16, 0, plain), NOSUP, "computePrec is f16");
    ROW(cudnnSetAttnDescriptor, SET(d, 0, 2, 0.5, F32, F32, 4, plain), BAD, "mathType is 4");
    for (int i = 0; i < 11; i++)
        negative(d, i);
    ROW(cudnnSetAttnDescriptor, SET(d, 0, 2, 0.5, F32, F32, 0, ((const int[]){4, 4, 4, 3, 2, 2, 4, 3, 5, 2, 1})), BAD, "3 values", "2");
    ROW(cudnnSetAttnDescriptor, SET(d, 0, 2, 0.5, F32, F32, 0, ((const int[]){4, 4, 4, 0, 2, 2, 4, 3, 5, 2, 1})), BAD, "4 values", "2");
    ROW(cudnnGetAttnDescriptor, (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                                 NULL), BAD, "attnDesc is NULL");
    ROW_OURS(cudnnSetAttnDescriptor, (d, 0, 2, 0.5, 0, 0, 0, o->drop_dead, NULL, 4, 4, 4, 2, 2, 2, 4, 3, 5, 2, 1), BAD, "attnDropoutDesc");
    ROW_OURS(cudnnSetAttnDescriptor, (d, 0, 2, 0.5, 0, 0, 0, NULL, (cudnnDropoutDescriptor_t)(void *)o->x, 4, 4, 4, 2, 2, 2, 4, 3, 5, 2, 1), BAD,
             "postDropoutDesc is a tensor descriptor");
    CALL(cudnnSetAttnDescriptor, SET(d, 0, 2, 0.5, F32, F32, 0, plain));
}

void misuse_attn_desc(void **state)
{
    (void)state;
    objects o;
    cudnnSeqDataDescriptor_t s;
    cudnnAttnDescriptor_t d;
    objects_make(&o);
    CALL(cudnnCreateSeqDataDescriptor, (&s));
    CALL(cudnnCreateAttnDescriptor, (&d));
    sequence(s);
    layer(d, &o);
    if (api_ours) {
        ROW(cudnnDestroySeqDataDescriptor, ((cudnnSeqDataDescriptor_t)(void *)d), BAD, "seqDataDesc is an attention descriptor");
        ROW(cudnnDestroyAttnDescriptor, ((cudnnAttnDescriptor_t)(void *)s), BAD, "attnDesc is a sequence data descriptor");
    }
    CALL(cudnnDestroySeqDataDescriptor, (s));
    CALL(cudnnDestroyAttnDescriptor, (d));
    ROW_OURS(cudnnDestroySeqDataDescriptor, (s), BAD, "destroyed");
    ROW_OURS(cudnnDestroyAttnDescriptor, (d), BAD, "destroyed");
    objects_free(&o);
    api_rows_done();
}

/* --- calls: two heads of 2, sizes 4, times 3 and 5, batch 2, float --- */

typedef struct call {
    cudnnAttnDescriptor_t d, never;
    cudnnSeqDataDescriptor_t q, k, v, o, wide, f64, short_q, small_batch, beams, unset;
    int *lo, *hi, *ql, *kl;
    float *x, *y, *w, *dw;
    size_t weights, work, infer_work, reserve;
    void *ws, *rs;
} call;

static cudnnSeqDataDescriptor_t make(cudnnDataType_t type, int time, int batch, int beam, int size)
{
    cudnnSeqDataDescriptor_t d;
    int dims[4] = {time, batch, beam, size}, len[8];
    for (int i = 0; i < batch * beam; i++)
        len[i] = time;
    CALL(cudnnCreateSeqDataDescriptor, (&d));
    CALL(cudnnSetSeqDataDescriptor, (d, type, 4, dims, axes, (size_t)(batch * beam), len, NULL));
    return d;
}

static void call_make(call *c)
{
    static int lo[3] = {0, 0, 0}, hi[3] = {5, 5, 5};
    CALL(cudnnCreateAttnDescriptor, (&c->d));
    CALL(cudnnCreateAttnDescriptor, (&c->never));
    CALL(cudnnSetAttnDescriptor, SET(c->d, 0, 2, 0.5, F32, F32, 0, plain));
    CALL(cudnnGetMultiHeadAttnBuffers, (api_handle(), c->d, &c->weights, &c->infer_work, NULL));
    CALL(cudnnGetMultiHeadAttnBuffers, (api_handle(), c->d, &c->weights, &c->work, &c->reserve));
    c->q = make(F32, 3, 2, 1, 4);
    c->k = make(F32, 5, 2, 1, 4);
    c->v = make(F32, 5, 2, 1, 4);
    c->o = make(F32, 3, 2, 1, 4);
    c->wide = make(F32, 3, 2, 1, 5);
    c->f64 = make(F64, 3, 2, 1, 4);
    c->short_q = make(F32, 2, 2, 1, 4);
    c->small_batch = make(F32, 3, 1, 1, 4);
    c->beams = make(F32, 3, 2, 2, 4);
    CALL(cudnnCreateSeqDataDescriptor, (&c->unset));
    c->lo = lo;
    c->hi = hi;
    c->ql = api_alloc(64);
    c->kl = api_alloc(64);
    for (int i = 0; i < 2; i++) {
        c->ql[i] = 3;
        c->kl[i] = 5;
    }
    c->x = api_alloc(1024);
    c->y = api_alloc(1024);
    c->w = api_alloc(1024);
    c->dw = api_alloc(1024);
    memset(c->x, 0, 1024);
    memset(c->w, 0, 1024);
    c->ws = api_alloc((c->work > c->infer_work ? c->work : c->infer_work) + 256);
    c->rs = api_alloc(c->reserve + 256);
}

static void call_free(call *c)
{
    cudnnSeqDataDescriptor_t const all[] = {c->q, c->k, c->v, c->o, c->wide, c->f64, c->short_q, c->small_batch, c->beams, c->unset};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        CALL(cudnnDestroySeqDataDescriptor, (all[i]));
    CALL(cudnnDestroyAttnDescriptor, (c->d));
    CALL(cudnnDestroyAttnDescriptor, (c->never));
}

/* Layers whose largest batches no 64-bit number counts, or no sequence data descriptor describes. */
static void sizes_past_counting(void)
{
    static const int large[][11] = {
        {4, 4, 4, 2, 2, 2, 4, 1 << 30, 5, 1 << 30, 4}, {4, 4, 4, 2, 2, 2, 4, 3, 1 << 30, 1 << 30, 4}, {4, 4, 4, 0, 0, 1 << 30, 0, 3, 5, 2, 1},
    };
    static const char *const texts[] = {"queries of time 1073741824", "keys of time 1073741824", "output of time 3"};
    cudnnAttnDescriptor_t d;
    size_t w, k, r;
    if (!api_ours)
        return;
    CALL(cudnnCreateAttnDescriptor, (&d));
    for (int i = 0; i < 3; i++) {
        CALL(cudnnSetAttnDescriptor, SET(d, 0, 4, 0.5, F32, F32, 0, large[i]));
        ROW(cudnnGetMultiHeadAttnBuffers, (api_handle(), d, &w, &k, &r), BAD, "attnDesc allows", texts[i]);
    }
    CALL(cudnnDestroyAttnDescriptor, (d));
}

static void sizes_and_weights(const call *c, objects *o)
{
    cudnnHandle_t h = api_handle();
    size_t w, k, r;
    void *at;
    ROW(cudnnGetMultiHeadAttnBuffers, (NULL, c->d, &w, &k, &r), BAD, "handle is NULL");
    ROW(cudnnGetMultiHeadAttnBuffers, (h, NULL, &w, &k, &r), BAD, "attnDesc is NULL");
    ROW(cudnnGetMultiHeadAttnBuffers, (h, c->d, NULL, &k, &r), BAD, "weightSizeInBytes is NULL");
    ROW(cudnnGetMultiHeadAttnBuffers, (h, c->d, &w, NULL, &r), BAD, "workSpaceSizeInBytes is NULL");
    ROW_V(cudnnGetMultiHeadAttnBuffers, (h, c->never, &w, &k, &r), BAD, OK, "there is no layer", "never set");
    ROW(cudnnGetMultiHeadAttnWeights, (NULL, c->d, 0, c->weights, c->w, o->t, &at), BAD, "handle is NULL");
    ROW(cudnnGetMultiHeadAttnWeights, (h, NULL, 0, c->weights, c->w, o->t, &at), BAD, "attnDesc is NULL");
    ROW(cudnnGetMultiHeadAttnWeights, (h, c->d, 8, c->weights, c->w, o->t, &at), BAD, "wKind is 8");
    ROW(cudnnGetMultiHeadAttnWeights, (h, c->d, 0, c->weights - 1, c->w, o->t, &at), BAD, "weightSizeInBytes is 255", "256");
    ROW(cudnnGetMultiHeadAttnWeights, (h, c->d, 0, c->weights + 1, c->w, o->t, &at), OK, "");
    ROW(cudnnGetMultiHeadAttnWeights, (h, c->d, 0, c->weights, NULL, o->t, &at), BAD, "weights is NULL");
    ROW(cudnnGetMultiHeadAttnWeights, (h, c->d, 0, c->weights, c->w, NULL, &at), BAD, "wDesc is NULL");
    ROW(cudnnGetMultiHeadAttnWeights, (h, c->d, 0, c->weights, c->w, o->t, NULL), BAD, "wAddr is NULL");
    ROW(cudnnGetMultiHeadAttnWeights, (h, c->d, CUDNN_MH_ATTN_Q_BIASES, c->weights, c->w, o->t, &at), OK, "");
    assert_null(at);
}

#define FORWARD(desc, step, from, to, q_len, k_len, q_desc, data, k_desc, v_desc, o_desc, out, w_size, weights, size, space, r_size, kept) \
    (h, desc, step, from, to, q_len, k_len, q_desc, data, NULL, k_desc, c->x, v_desc, c->x, o_desc, out, w_size, weights, size, space, r_size, kept)
#define TAIL c->weights, c->w, c->work, c->ws, c->reserve, c->rs
#define HEAD c->d, -1, c->lo, c->hi, c->ql, c->kl
#define F(...) FORWARD(__VA_ARGS__)

static void forward(const call *c)
{
    cudnnHandle_t h = api_handle();
    ROW(cudnnMultiHeadAttnForward, F(HEAD, c->q, c->x, c->k, c->v, c->o, c->y, TAIL), OK, "");
    ROW(cudnnMultiHeadAttnForward, F(HEAD, c->q, c->x, c->k, c->v, c->o, c->y, c->weights, c->w, c->infer_work, c->ws, 0, NULL), OK, "");
    ROW(cudnnMultiHeadAttnForward, F(NULL, -1, c->lo, c->hi, c->ql, c->kl, c->q, c->x, c->k, c->v, c->o, c->y, TAIL), BAD, "attnDesc is NULL");
    ROW(cudnnMultiHeadAttnForward, F(c->never, -1, c->lo, c->hi, c->ql, c->kl, c->q, c->x, c->k, c->v, c->o, c->y, TAIL), BAD, "never set");
    ROW(cudnnMultiHeadAttnForward, F(c->d, -1, NULL, c->hi, c->ql, c->kl, c->q, c->x, c->k, c->v, c->o, c->y, TAIL), BAD, "loWinIdx is NULL");
    ROW(cudnnMultiHeadAttnForward, F(c->d, -1, c->lo, NULL, c->ql, c->kl, c->q, c->x, c->k, c->v, c->o, c->y, TAIL), BAD, "hiWinIdx is NULL");
    ROW(cudnnMultiHeadAttnForward, F(c->d, -1, c->lo, c->hi, NULL, c->kl, c->q, c->x, c->k, c->v, c->o, c->y, TAIL), BAD, "devSeqLengthsQO is NULL");
    ROW(cudnnMultiHeadAttnForward, F(c->d, -1, c->lo, c->hi, c->ql, NULL, c->q, c->x, c->k, c->v, c->o, c->y, TAIL), BAD, "devSeqLengthsKV is NULL");
    ROW(cudnnMultiHeadAttnForward, F(HEAD, NULL, c->x, c->k, c->v, c->o, c->y, TAIL), BAD, "qDesc is NULL");
    ROW(cudnnMultiHeadAttnForward, F(HEAD, c->unset, c->x, c->k, c->v, c->o, c->y, TAIL), BAD, "qDesc was created but never set");
    ROW(cudnnMultiHeadAttnForward, F(HEAD, c->q, NULL, c->k, c->v, c->o, c->y, TAIL), BAD, "queries is NULL");
    ROW(cudnnMultiHeadAttnForward, F(HEAD, c->q, c->x, NULL, c->v, c->o, c->y, TAIL), BAD, "kDesc is NULL");
    ROW(cudnnMultiHeadAttnForward, F(HEAD, c->q, c->x, c->k, NULL, c->o, c->y, TAIL), BAD, "vDesc is NULL");
    ROW(cudnnMultiHeadAttnForward, F(HEAD, c->q, c->x, c->k, c->v, NULL, c->y, TAIL), BAD, "oDesc is NULL");
    ROW(cudnnMultiHeadAttnForward, F(HEAD, c->q, c->x, c->k, c->v, c->o, NULL, TAIL), BAD, "out is NULL");
    ROW(cudnnMultiHeadAttnForward, F(HEAD, c->wide, c->x, c->k, c->v, c->o, c->y, TAIL), BAD, "qDesc has vector size 5", "4");
    ROW(cudnnMultiHeadAttnForward, F(HEAD, c->q, c->x, c->k, c->v, c->wide, c->y, TAIL), BAD, "oDesc has vector size 5");
    ROW_V(cudnnMultiHeadAttnForward, F(HEAD, c->f64, c->x, c->k, c->v, c->o, c->y, TAIL), BAD, OK, TYPE_REASON, "qDesc is of f64");
    ROW(cudnnMultiHeadAttnForward, F(HEAD, c->short_q, c->x, c->k, c->v, c->o, c->y, TAIL), BAD, "time size of the outputs is 3", "2");
    ROW(cudnnMultiHeadAttnForward, F(HEAD, c->k, c->x, c->k, c->v, c->k, c->y, TAIL), BAD, "qDesc has time size 5", "3 or less");
    ROW(cudnnMultiHeadAttnForward, F(HEAD, c->small_batch, c->x, c->k, c->v, c->o, c->y, TAIL), BAD, "batch size", "1");
    ROW(cudnnMultiHeadAttnForward, F(HEAD, c->beams, c->x, c->k, c->v, c->beams, c->y, TAIL), BAD, "qDesc has beam size 2");
    ROW(cudnnMultiHeadAttnForward, F(HEAD, c->q, c->x, c->k, c->v, c->o, c->y, c->weights, NULL, c->work, c->ws, c->reserve, c->rs), BAD,
        "weights is NULL");
    ROW(cudnnMultiHeadAttnForward, F(HEAD, c->q, c->x, c->k, c->v, c->o, c->y, c->weights - 1, c->w, c->work, c->ws, c->reserve, c->rs), BAD,
        "weightSizeInBytes is 255");
    ROW_V(cudnnMultiHeadAttnForward, F(HEAD, c->q, c->x, c->k, c->v, c->o, c->y, c->weights, c->w, 0, c->ws, c->reserve, c->rs), BAD, OK,
          WORK_REASON, "workSpaceSizeInBytes is 0");
    ROW_V(cudnnMultiHeadAttnForward, F(HEAD, c->q, c->x, c->k, c->v, c->o, c->y, c->weights, c->w, c->work, NULL, c->reserve, c->rs), BAD, OK,
          WORK_REASON, "workSpace is NULL");
    ROW(cudnnMultiHeadAttnForward, F(HEAD, c->q, c->x, c->k, c->v, c->o, c->y, c->weights, c->w, c->work, c->ws, c->reserve - 1, c->rs), BAD,
        "reserveSpaceSizeInBytes is");
    ROW(cudnnMultiHeadAttnForward, F(HEAD, c->q, c->x, c->k, c->v, c->o, c->y, c->weights, c->w, c->work, c->ws, c->reserve, NULL), BAD,
        "reserveSpace is NULL");
    ROW(cudnnMultiHeadAttnForward, F(c->d, 0, c->lo, c->hi, c->ql, c->kl, c->q, c->x, c->k, c->v, c->o, c->y, TAIL), BAD, "currIdx is 0",
        "negative");
    ROW(cudnnMultiHeadAttnForward, F(c->d, 3, c->lo, c->hi, c->ql, c->kl, c->q, c->x, c->k, c->v, c->o, c->y, c->weights, c->w, c->infer_work,
        c->ws, 0, NULL), BAD, "currIdx is 3", "3");
}

static void backward(const call *c)
{
    cudnnHandle_t h = api_handle();
#define DATA(from, out, to_q, data, to_k, to_v, weight, size, kept) \
    (h, c->d, from, c->hi, c->ql, c->kl, c->o, out, c->q, to_q, data, c->k, to_k, c->x, c->v, to_v, c->x, c->weights, weight, c->work, c->ws, \
     size, kept)
#define WEIGHTS(mode, desc, data, out, w_size, weight, to, size, kept) \
    (h, c->d, mode, desc, data, c->k, c->x, c->v, c->x, c->o, out, w_size, weight, to, c->work, c->ws, size, kept)
    float *dq = c->y, *dk = c->y + 64, *dv = c->y + 128;
    ROW(cudnnMultiHeadAttnForward, F(HEAD, c->q, c->x, c->k, c->v, c->o, c->y, TAIL), OK, "");
    ROW(cudnnMultiHeadAttnBackwardData, DATA(c->lo, c->x, dq, c->x, dk, dv, c->w, c->reserve, c->rs), OK, "");
    ROW(cudnnMultiHeadAttnBackwardData, DATA(NULL, c->x, dq, c->x, dk, dv, c->w, c->reserve, c->rs), BAD, "loWinIdx is NULL");
    ROW(cudnnMultiHeadAttnBackwardData, DATA(c->lo, NULL, dq, c->x, dk, dv, c->w, c->reserve, c->rs), BAD, "dout is NULL");
    ROW(cudnnMultiHeadAttnBackwardData, DATA(c->lo, c->x, NULL, c->x, dk, dv, c->w, c->reserve, c->rs), BAD, "dqueries is NULL");
    ROW(cudnnMultiHeadAttnBackwardData, DATA(c->lo, c->x, dq, NULL, dk, dv, c->w, c->reserve, c->rs), BAD, "queries is NULL");
    ROW(cudnnMultiHeadAttnBackwardData, DATA(c->lo, c->x, dq, c->x, NULL, dv, c->w, c->reserve, c->rs), BAD, "dkeys is NULL");
    ROW(cudnnMultiHeadAttnBackwardData, DATA(c->lo, c->x, dq, c->x, dk, NULL, c->w, c->reserve, c->rs), BAD, "dvalues is NULL");
    ROW(cudnnMultiHeadAttnBackwardData, DATA(c->lo, c->x, dq, c->x, dk, dv, NULL, c->reserve, c->rs), BAD, "weights is NULL");
    ROW(cudnnMultiHeadAttnBackwardData, DATA(c->lo, c->x, dq, c->x, dk, dv, c->w, 0, NULL), BAD, "reserveSpace is NULL");
    ROW(cudnnMultiHeadAttnBackwardData, DATA(c->lo, c->x, dq, c->x, dk, dv, c->w, c->reserve - 1, c->rs), BAD, "reserveSpaceSizeInBytes is");
    ROW(cudnnMultiHeadAttnBackwardWeights, WEIGHTS(0, c->q, c->x, c->x, c->weights, c->w, c->dw, c->reserve, c->rs), OK, "");
    ROW(cudnnMultiHeadAttnBackwardWeights, WEIGHTS(1, c->q, c->x, c->x, c->weights, c->w, c->dw, c->reserve, c->rs), OK, "");
    ROW(cudnnMultiHeadAttnBackwardWeights, WEIGHTS(2, c->q, c->x, c->x, c->weights, c->w, c->dw, c->reserve, c->rs), BAD, "addGrad is 2");
    ROW(cudnnMultiHeadAttnBackwardWeights, WEIGHTS(0, NULL, c->x, c->x, c->weights, c->w, c->dw, c->reserve, c->rs), BAD, "qDesc is NULL");
    ROW(cudnnMultiHeadAttnBackwardWeights, WEIGHTS(0, c->wide, c->x, c->x, c->weights, c->w, c->dw, c->reserve, c->rs), BAD, "qDesc has vector");
    ROW(cudnnMultiHeadAttnBackwardWeights, WEIGHTS(0, c->q, NULL, c->x, c->weights, c->w, c->dw, c->reserve, c->rs), BAD, "queries is NULL");
    ROW(cudnnMultiHeadAttnBackwardWeights, WEIGHTS(0, c->q, c->x, NULL, c->weights, c->w, c->dw, c->reserve, c->rs), BAD, "dout is NULL");
    ROW(cudnnMultiHeadAttnBackwardWeights, WEIGHTS(0, c->q, c->x, c->x, c->weights - 1, c->w, c->dw, c->reserve, c->rs), BAD, "weightSizeInBytes");
    ROW(cudnnMultiHeadAttnBackwardWeights, WEIGHTS(0, c->q, c->x, c->x, c->weights, NULL, c->dw, c->reserve, c->rs), BAD, "weights is NULL");
    ROW(cudnnMultiHeadAttnBackwardWeights, WEIGHTS(0, c->q, c->x, c->x, c->weights, c->w, NULL, c->reserve, c->rs), BAD, "dweights is NULL");
    ROW(cudnnMultiHeadAttnBackwardWeights, WEIGHTS(0, c->q, c->x, c->x, c->weights, c->w, c->dw, c->reserve - 1, c->rs), BAD,
        "reserveSpaceSizeInBytes");
    ROW(cudnnMultiHeadAttnBackwardWeights, WEIGHTS(0, c->q, c->x, c->x, c->weights, c->w, c->dw, c->reserve, NULL), BAD, "reserveSpace is NULL");
}

void misuse_attn_calls(void **state)
{
    (void)state;
    objects o;
    call c;
    api_handle();
    objects_make(&o);
    call_make(&c);
    sizes_and_weights(&c, &o);
    sizes_past_counting();
    forward(&c);
    backward(&c);
    call_free(&c);
    objects_free(&o);
    api_rows_done();
}
