/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Misuse of recurrent networks. Rows of descriptors were compared with the vendor's 8.9.7 and 9.19, the calls with 9.19 on a GPU, and the
 * older ones with 8.9.7 as far as it looks at arguments before it needs a device. */
#include "misuse.h"
#include "rnn_case.h"

#include <math.h>
#include <string.h>

#define ENUM_REASON "the vendor takes any number"
#define STRICT_REASON "every algorithm number takes it here"

static const rnn_case good = {RNN_F32, RNN_SMALL, .layers = 1, .cell = CUDNN_LSTM, .bias = DOUBLE_BIAS, .states = 1, .fill = 7, .flags = 1,
                              .T = 4, .B = 3, .len = {2, 4, 3}};

static void rnn_desc(cudnnRNNDescriptor_t d)
{
#define SET(algo, cell, bias, dir, input, type, prec, math, in, hid, proj, layers, flags) \
    (d, (cudnnRNNAlgo_t)(algo), (cudnnRNNMode_t)(cell), (cudnnRNNBiasMode_t)(bias), (cudnnDirectionMode_t)(dir), \
     (cudnnRNNInputMode_t)(input), (cudnnDataType_t)(type), (cudnnDataType_t)(prec), (cudnnMathType_t)(math), in, hid, proj, layers, NULL, flags)
    ROW(cudnnSetRNNDescriptor_v8, SET(4, 2, 2, 0, 0, 0, 0, 0, 3, 4, 4, 1, 0), BAD, "algo is 4");
    ROW(cudnnSetRNNDescriptor_v8, SET(0, -1, 2, 0, 0, 0, 0, 0, 3, 4, 4, 1, 0), BAD, "cellMode is -1");
    ROW(cudnnSetRNNDescriptor_v8, SET(0, 2, 4, 0, 0, 0, 0, 0, 3, 4, 4, 1, 0), BAD, "biasMode is 4");
    ROW(cudnnSetRNNDescriptor_v8, SET(0, 2, 2, 2, 0, 0, 0, 0, 3, 4, 4, 1, 0), BAD, "dirMode is 2");
    ROW(cudnnSetRNNDescriptor_v8, SET(0, 2, 2, 0, 2, 0, 0, 0, 3, 4, 4, 1, 0), BAD, "inputMode is 2");
    ROW(cudnnSetRNNDescriptor_v8, SET(0, 2, 2, 0, 0, 0, 0, 4, 3, 4, 4, 1, 0), BAD, "mathType is 4");
    ROW(cudnnSetRNNDescriptor_v8, SET(0, 2, 2, 0, 0, 0, 0, 0, 0, 4, 4, 1, 0), BAD, "inputSize is 0");
    ROW(cudnnSetRNNDescriptor_v8, SET(0, 2, 2, 0, 0, 0, 0, 0, 3, -1, 4, 1, 0), BAD, "hiddenSize is -1");
    ROW(cudnnSetRNNDescriptor_v8, SET(0, 2, 2, 0, 0, 0, 0, 0, 3, 4, 0, 1, 0), BAD, "projSize is 0");
    ROW(cudnnSetRNNDescriptor_v8, SET(0, 2, 2, 0, 0, 0, 0, 0, 3, 4, 4, 0, 0), BAD, "numLayers is 0");
    ROW(cudnnSetRNNDescriptor_v8, SET(0, 2, 2, 0, 0, 0, 0, 0, 3, 4, 4, 1, 2), BAD, "auxFlags is 2");
    ROW(cudnnSetRNNDescriptor_v8, SET(0, 2, 2, 0, 0, 0, 0, 0, 3, 4, 5, 1, 0), NOSUP, "projSize is 5", "hiddenSize 4");
    ROW(cudnnSetRNNDescriptor_v8, SET(0, 3, 2, 0, 0, 0, 0, 0, 3, 4, 2, 1, 0), NOSUP, "only an LSTM");
    ROW(cudnnSetRNNDescriptor_v8, SET(0, 2, 2, 0, 0, 3, 0, 0, 3, 4, 4, 1, 0), NOSUP, "dataType is 3");
    ROW(cudnnSetRNNDescriptor_v8, SET(0, 2, 2, 0, 0, 0, 2, 0, 3, 4, 4, 1, 0), NOSUP, "mathPrec is 2", "dataType 0");
    ROW(cudnnSetRNNDescriptor_v8, SET(0, 2, 2, 0, 0, 0, 1, 0, 3, 4, 4, 1, 0), NOSUP, "mathPrec is 1");
    ROW(cudnnSetRNNDescriptor_v8, SET(0, 2, 2, 0, 0, 1, 0, 0, 3, 4, 4, 1, 0), NOSUP, "mathPrec is 0");
    ROW(cudnnSetRNNDescriptor_v8, SET(0, 2, 2, 0, 0, 3, 0, 0, 0, 4, 4, 1, 0), BAD, "inputSize is 0");
    ROW_V(cudnnSetRNNDescriptor_v8, SET(1, 2, 2, 0, 0, 0, 0, 0, 3, 4, 2, 1, 0), OK, NOSUP, STRICT_REASON, "");
    ROW_OURS(cudnnSetRNNDescriptor_v8, (d, 0, 2, 2, 0, 0, 0, 0, 0, 3, 4, 4, 1, (cudnnDropoutDescriptor_t)(void *)d, 0), BAD,
             "dropoutDesc is an RNN descriptor");
    ROW(cudnnSetRNNDescriptor_v8, SET(0, 2, 2, 0, 0, 0, 0, 0, 3, 4, 4, 1, 1), OK, "");
}

static void rnn_desc_read(cudnnRNNDescriptor_t d, cudnnRNNDescriptor_t never)
{
    cudnnRNNAlgo_t algo;
    double lo;
    ROW(cudnnCreateRNNDescriptor, (NULL), BAD, "rnnDesc is NULL");
    ROW(cudnnDestroyRNNDescriptor, (NULL), OK, "");
    ROW(cudnnGetRNNDescriptor_v8, (never, &algo, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL), NOINIT,
        "cudnnSetRNNDescriptor_v8");
    ROW(cudnnGetRNNDescriptor_v8, (NULL, &algo, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL), BAD,
        "rnnDesc is NULL");
    ROW_V(cudnnRNNSetClip_v8, (d, 2, 0, -1, 1), BAD, OK, ENUM_REASON, "clipMode is 2");
    ROW_V(cudnnRNNSetClip_v8, (d, 1, 2, -1, 1), BAD, OK, ENUM_REASON, "clipNanOpt is 2");
    ROW(cudnnRNNSetClip_v8, (d, 1, 0, 1, -1), BAD, "lclip is 1, rclip -1");
    ROW(cudnnRNNSetClip_v8, (d, 0, 0, 1, -1), BAD, "lclip is 1");
    ROW(cudnnRNNSetClip_v8, (d, 1, 0, (double)NAN, 1), BAD, "lclip is nan");
    ROW(cudnnRNNSetClip_v8, (d, 1, 0, 1, 1), OK, "");
    ROW(cudnnRNNSetClip_v8, (d, 1, 0, -(double)INFINITY, (double)INFINITY), OK, "");
    ROW(cudnnRNNSetClip_v8, (NULL, 1, 0, -1, 1), BAD, "rnnDesc is NULL");
    ROW(cudnnRNNGetClip_v8, (NULL, NULL, NULL, NULL, NULL), BAD, "rnnDesc is NULL");
    ROW(cudnnRNNGetClip_v8, (d, NULL, NULL, NULL, NULL), OK, "");
    (void)lo;
#if DN_ABI >= 9
    ROW_V(cudnnRNNSetClip_v9, (d, 2, -1, 1), BAD, OK, ENUM_REASON, "clipMode is 2");
    ROW(cudnnRNNSetClip_v9, (d, 1, 1, -1), BAD, "lclip is 1, rclip -1");
    ROW(cudnnRNNGetClip_v9, (NULL, NULL, &lo, NULL), BAD, "rnnDesc is NULL");
#endif
}

static void rnn_data(cudnnRNNDataDescriptor_t d)
{
    const int even[3] = {4, 4, 4}, rising[3] = {2, 4, 3}, empty[3] = {4, 0, 2}, below[3] = {4, -1, 2}, above[3] = {4, 5, 2}, zero_last[3] = {4, 2, 0},
              shorter[3] = {3, 3, 3};
    const cudnnRNNDataLayout_t unpacked = CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED, packed = CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED;
    const cudnnStatus_t older = DN_ABI == 8 ? OK : BAD;
    const char *const late = DN_ABI == 8 ? "8.9.7 finds out in the call, or not at all" : NULL;
    cudnnDataType_t type;
    cudnnRNNDataLayout_t layout;
    int T, B, V, length[3];
    float fill;
    ROW(cudnnCreateRNNDataDescriptor, (NULL), BAD, "rnnDataDesc is NULL");
    ROW(cudnnDestroyRNNDataDescriptor, (NULL), OK, "");
    ROW(cudnnSetRNNDataDescriptor, (NULL, F32, unpacked, 4, 3, 5, even, NULL), BAD, "rnnDataDesc is NULL");
    ROW(cudnnSetRNNDataDescriptor, (d, CUDNN_DATA_INT8, unpacked, 4, 3, 5, even, NULL), NOSUP, "dataType is 3");
    ROW(cudnnSetRNNDataDescriptor, (d, F32, 3, 4, 3, 5, even, NULL), BAD, "layout is 3");
    ROW(cudnnSetRNNDataDescriptor, (d, F32, unpacked, 0, 3, 5, even, NULL), BAD, "maxSeqLength is 0");
    ROW(cudnnSetRNNDataDescriptor, (d, F32, unpacked, 4, 0, 5, even, NULL), BAD, "batchSize is 0");
    ROW(cudnnSetRNNDataDescriptor, (d, F32, unpacked, 4, 3, -1, even, NULL), BAD, "vectorSize is -1");
    ROW(cudnnSetRNNDataDescriptor, (d, F32, unpacked, 4, 3, 5, below, NULL), BAD, "seqLengthArray[1] is -1");
    ROW(cudnnSetRNNDataDescriptor, (d, F32, unpacked, 4, 3, 5, above, NULL), BAD, "seqLengthArray[1] is 5", "maxSeqLength = 4");
    ROW(cudnnSetRNNDataDescriptor, (d, F32, unpacked, 4, 3, 5, empty, NULL), OK, "");
    ROW(cudnnSetRNNDataDescriptor, (d, F32, unpacked, 4, 3, 5, rising, NULL), OK, "");
    ROW(cudnnSetRNNDataDescriptor, (d, F32, unpacked, 4, 3, 5, shorter, NULL), OK, "");
    ROW_V(cudnnSetRNNDataDescriptor, (d, F32, packed, 4, 3, 5, rising, NULL), BAD, older, late, "seqLengthArray", "packed");
    ROW_V(cudnnSetRNNDataDescriptor, (d, F32, packed, 4, 3, 5, zero_last, NULL), BAD, older, late, "seqLengthArray[2] is 0", "packed");
    ROW(cudnnSetRNNDataDescriptor, (d, F32, packed, 4, 3, 5, shorter, NULL), BAD, "seqLengthArray[0] is 3", "maxSeqLength = 4");
    if (api_ours || DN_ABI >= 9)
        ROW(cudnnSetRNNDataDescriptor, (d, F32, unpacked, 4, 3, 5, NULL, NULL), BAD, "seqLengthArray is NULL");
    ROW(cudnnGetRNNDataDescriptor, (NULL, &type, &layout, &T, &B, &V, 3, length, &fill), BAD, "rnnDataDesc is NULL");
    ROW(cudnnGetRNNDataDescriptor, (d, NULL, &layout, &T, &B, &V, 3, length, &fill), BAD, "dataType is NULL");
    ROW(cudnnGetRNNDataDescriptor, (d, &type, &layout, &T, &B, &V, -1, length, &fill), BAD, "arrayLengthRequested is -1");
    ROW(cudnnGetRNNDataDescriptor, (d, &type, &layout, &T, &B, &V, 3, NULL, &fill), BAD, "seqLengthArray is NULL");
    ROW(cudnnGetRNNDataDescriptor, (d, &type, &layout, &T, &B, &V, 3, length, NULL), BAD, "paddingFill is NULL");
}

static void rnn_sizes(rnn *r, cudnnRNNDescriptor_t never)
{
    cudnnHandle_t h = api_handle();
    size_t a, b;
    void *m, *bias;
    cudnnTensorDescriptor_t md = r->hd, bd = r->cd;
    ROW(cudnnGetRNNWeightSpaceSize, (NULL, r->desc, &a), BAD, "handle is NULL");
    ROW(cudnnGetRNNWeightSpaceSize, (h, NULL, &a), BAD, "rnnDesc is NULL");
    ROW_OURS(cudnnGetRNNWeightSpaceSize, (h, r->desc, NULL), BAD, "weightSpaceSize is NULL");
    ROW_V(cudnnGetRNNWeightSpaceSize, (h, never, &a), NOINIT, DN_ABI == 8 ? NOINIT : OK, DN_ABI == 8 ? NULL : "9.19 answers 0 bytes",
          "cudnnSetRNNDescriptor_v8");
    ROW(cudnnGetRNNTempSpaceSizes, (NULL, r->desc, CUDNN_FWD_MODE_TRAINING, r->xd, &a, &b), BAD, "handle is NULL");
    ROW(cudnnGetRNNTempSpaceSizes, (h, NULL, CUDNN_FWD_MODE_TRAINING, r->xd, &a, &b), BAD, "rnnDesc is NULL");
    ROW(cudnnGetRNNTempSpaceSizes, (h, r->desc, CUDNN_FWD_MODE_TRAINING, NULL, &a, &b), BAD, "xDesc is NULL");
    ROW_OURS(cudnnGetRNNTempSpaceSizes, (h, r->desc, (cudnnForwardMode_t)2, r->xd, &a, &b), BAD, "fwdMode is 2");
    ROW_OURS(cudnnGetRNNTempSpaceSizes, (h, r->desc, CUDNN_FWD_MODE_TRAINING, r->yd, &a, &b), BAD, "xDesc has vectors of 4", "inputSize 3");
#define PARAMS(desc, pseudo, size, linear) (h, desc, pseudo, size, r->w, linear, md, &m, bd, &bias)
    ROW(cudnnGetRNNWeightParams, (NULL, r->desc, 0, r->wbytes, r->w, 0, md, &m, bd, &bias), BAD, "handle is NULL");
    ROW(cudnnGetRNNWeightParams, PARAMS(NULL, 0, r->wbytes, 0), BAD, "rnnDesc is NULL");
    ROW(cudnnGetRNNWeightParams, PARAMS(never, 0, r->wbytes, 0), BAD, "rnnDesc");
    ROW(cudnnGetRNNWeightParams, PARAMS(r->desc, -1, r->wbytes, 0), BAD, "pseudoLayer is -1");
    ROW(cudnnGetRNNWeightParams, PARAMS(r->desc, 1, r->wbytes, 0), BAD, "pseudoLayer is 1");
    ROW(cudnnGetRNNWeightParams, PARAMS(r->desc, 0, r->wbytes, -1), BAD, "linLayerID is -1");
    ROW(cudnnGetRNNWeightParams, PARAMS(r->desc, 0, r->wbytes, 9), BAD, "linLayerID is 9");
    ROW(cudnnGetRNNWeightParams, PARAMS(r->desc, 0, 8, 0), BAD, "weightSpaceSize is 8");
    ROW(cudnnGetRNNWeightParams, (h, r->desc, 0, r->wbytes, r->w, 0, NULL, &m, bd, &bias), BAD, "mDesc is NULL");
    ROW(cudnnGetRNNWeightParams, (h, r->desc, 0, r->wbytes, r->w, 0, md, &m, NULL, &bias), BAD, "bDesc is NULL");
    ROW_OURS(cudnnGetRNNWeightParams, (h, r->desc, 0, r->wbytes, r->w, 0, md, NULL, bd, &bias), BAD, "mAddr is NULL");
    ROW(cudnnGetRNNWeightParams, PARAMS(r->desc, 0, r->wbytes, 8), OK, "");  /* no projection: nothing there */
    ROW_OURS(cudnnBuildRNNDynamic, (h, r->desc, 3), NOSUP, "PERSIST_DYNAMIC");
    ROW_OURS(cudnnBuildRNNDynamic, (NULL, r->desc, 3), BAD, "handle is NULL");
    ROW_OURS(cudnnBuildRNNDynamic, (h, r->desc, 0), BAD, "miniBatch is 0");
    rnn_set_state(r->hd, r->c.type, 1, 3, 4);
    rnn_set_state(r->cd, r->c.type, 1, 3, 4);
}

/* More layers than half an int, and more bytes than a size_t. */
static void rnn_past_counting(rnn *r)
{
    cudnnHandle_t h = api_handle();
    cudnnRNNDescriptor_t d;
    size_t a = 7, b;
    void *m = NULL, *bias;
    if (!api_ours)
        return;
    CALL(cudnnCreateRNNDescriptor, (&d));
    CALL(cudnnSetRNNDescriptor_v8, (d, 0, CUDNN_RNN_RELU, CUDNN_RNN_NO_BIAS, CUDNN_BIDIRECTIONAL, 0, F32, F32, 0, 3, 1, 1, INT32_MAX, NULL, 1));
    CALL(cudnnGetRNNWeightSpaceSize, (h, d, &a));
    assert_int_equal(a, 4 * (2 * (3 + 1) + 3 * (2 * (uint64_t)INT32_MAX - 2)));
    ROW(cudnnGetRNNWeightParams, (h, d, INT32_MAX, a, r->w, 1, r->hd, &m, r->cd, &bias), OK, "");
    assert_ptr_equal(m, (char *)r->w + 4 * (8 + 3 * ((size_t)INT32_MAX - 2) + 2));
    ROW(cudnnGetRNNTempSpaceSizes, (h, d, CUDNN_FWD_MODE_TRAINING, r->xd, &a, &b), BAD, "numLayers is 2147483647", "1 to 1073741823");
    a = 7;
    CALL(cudnnSetRNNDescriptor_v8, (d, 0, CUDNN_LSTM, CUDNN_RNN_NO_BIAS, 0, 0, F32, F32, 0, 1 << 29, 1 << 29, 1 << 29, 3, NULL, 1));
    ROW(cudnnGetRNNWeightSpaceSize, (h, d, &a), NOSUP, "more bytes than");
    CALL(cudnnSetRNNDescriptor_v8, (d, 0, CUDNN_LSTM, 2, 1, 0, F32, F32, 0, INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX, NULL, 1));
    ROW(cudnnGetRNNWeightSpaceSize, (h, d, &a), NOSUP, "more bytes than");
    ROW(cudnnGetRNNWeightParams, (h, d, INT32_MAX, SIZE_MAX, r->w, 7, r->hd, &m, r->cd, &bias), NOSUP, "more bytes than");
    assert_int_equal(a, 7);
    CALL(cudnnDestroyRNNDescriptor, (d));
    rnn_set_state(r->hd, r->c.type, 1, 3, 4);
    rnn_set_state(r->cd, r->c.type, 1, 3, 4);
}

#define FWD(h, d, mode, xd, x, yd, y, hd, cd, wsize, w, wrk, ws, rsize, rs) \
    (h, d, mode, r.len, xd, x, yd, y, hd, r.hx, r.hy, cd, r.cx, r.cy, wsize, w, wrk, ws, rsize, rs)
#define TRAIN1(xd, yd, hd, cd) \
    FWD(h, r.desc, CUDNN_FWD_MODE_TRAINING, xd, r.x, yd, r.y, hd, cd, r.wbytes, r.w, r.work, r.ws, r.reserve, r.rs)

/* The sequences and states that do not go together. */
static void rnn_shapes(rnn r)
{
    cudnnHandle_t h = api_handle();
    cudnnRNNDataDescriptor_t d;
    cudnnTensorDescriptor_t t;
    rnn_case c = r.c;
    CALL(cudnnCreateRNNDataDescriptor, (&d));
    CALL(cudnnCreateTensorDescriptor, (&t));
    ROW(cudnnRNNForward, TRAIN1(d, r.yd, r.hd, r.cd), BAD, "xDesc was created but never set");
    rnn_set_data(d, &c, 4);
    ROW(cudnnRNNForward, TRAIN1(d, r.yd, r.hd, r.cd), BAD, "xDesc has vectors of 4", "inputSize 3");
    rnn_set_data(d, &c, 5);
    ROW(cudnnRNNForward, TRAIN1(r.xd, d, r.hd, r.cd), BAD, "yDesc has vectors of 5");
    c.type = F64;
    rnn_set_data(d, &c, 4);
    ROW(cudnnRNNForward, TRAIN1(r.xd, d, r.hd, r.cd), BAD, "yDesc has type f64", "f32");
    c = r.c;
    c.T = 5;
    rnn_set_data(d, &c, 4);
    ROW(cudnnRNNForward, TRAIN1(r.xd, d, r.hd, r.cd), BAD, "yDesc has 5 steps");
    c = r.c;
    c.B = 2;
    rnn_set_data(d, &c, 4);
    ROW(cudnnRNNForward, TRAIN1(r.xd, d, r.hd, r.cd), BAD, "yDesc has 4 steps of 2 sequences");
    c = r.c;
    c.layout = BATCH_MAJOR;
    rnn_set_data(d, &c, 4);
    ROW(cudnnRNNForward, TRAIN1(r.xd, d, r.hd, r.cd), BAD, "yDesc has layout 2");
    c = r.c;
    c.len[1] = 3;
    rnn_set_data(d, &c, 4);
    ROW(cudnnRNNForward, TRAIN1(r.xd, d, r.hd, r.cd), BAD, "sequence 1 of yDesc has length 3", "4");
    ROW(cudnnRNNForward, TRAIN1(r.xd, r.yd, t, r.cd), BAD, "hDesc was created but never set");
    rnn_set_state(t, F32, 2, 3, 4);
    ROW(cudnnRNNForward, TRAIN1(r.xd, r.yd, t, r.cd), BAD, "hDesc has 2 in dimension 0");
    rnn_set_state(t, F32, 1, 4, 4);
    ROW(cudnnRNNForward, TRAIN1(r.xd, r.yd, t, r.cd), BAD, "hDesc has 4 in dimension 1");
    rnn_set_state(t, F32, 1, 3, 5);
    ROW(cudnnRNNForward, TRAIN1(r.xd, r.yd, r.hd, t), BAD, "cDesc has 5 in dimension 2");
    rnn_set_state(t, F64, 1, 3, 4);
    ROW_OURS(cudnnRNNForward, TRAIN1(r.xd, r.yd, t, r.cd), BAD, "hDesc has type f64");
    CALL(cudnnSetTensorNdDescriptor, (t, F32, 3, ((const int[]){1, 3, 4}), ((const int[]){24, 8, 1})));
    ROW(cudnnRNNForward, TRAIN1(r.xd, r.yd, t, r.cd), BAD, "hDesc", "packed");
    CALL(cudnnSetTensorNdDescriptor, (t, F32, 5, ((const int[]){1, 3, 4, 1, 1}), ((const int[]){12, 4, 1, 1, 1})));
    ROW(cudnnRNNForward, TRAIN1(r.xd, r.yd, t, r.cd), OK, "");
    CALL(cudnnDestroyRNNDataDescriptor, (d));
    CALL(cudnnDestroyTensorDescriptor, (t));
}

static void rnn_forward_rows(rnn r, cudnnRNNDescriptor_t never)
{
    cudnnHandle_t h = api_handle();
    const cudnnForwardMode_t train = CUDNN_FWD_MODE_TRAINING;
    const cudnnStatus_t inside = CUDNN_STATUS_INTERNAL_ERROR;
#define ALL(hh, d, mode, x, y, wsize, w, wrk, ws, rsize, rs) FWD(hh, d, mode, r.xd, x, r.yd, y, r.hd, r.cd, wsize, w, wrk, ws, rsize, rs)
    ROW(cudnnRNNForward, ALL(h, r.desc, train, r.x, r.y, r.wbytes, r.w, r.work, r.ws, r.reserve, r.rs), OK, "");
    ROW(cudnnRNNForward, ALL(NULL, r.desc, train, r.x, r.y, r.wbytes, r.w, r.work, r.ws, r.reserve, r.rs), BAD, "handle is NULL");
    ROW(cudnnRNNForward, ALL(h, NULL, train, r.x, r.y, r.wbytes, r.w, r.work, r.ws, r.reserve, r.rs), BAD, "rnnDesc is NULL");
    ROW_V(cudnnRNNForward, ALL(h, never, train, r.x, r.y, r.wbytes, r.w, r.work, r.ws, r.reserve, r.rs), BAD, inside, "one's own mistake",
          "rnnDesc was created but never set");
    ROW_OURS(cudnnRNNForward, ALL(h, r.desc, (cudnnForwardMode_t)2, r.x, r.y, r.wbytes, r.w, r.work, r.ws, r.reserve, r.rs), BAD, "fwdMode is 2");
    ROW_OURS(cudnnRNNForward, ALL(h, r.desc, train, NULL, r.y, r.wbytes, r.w, r.work, r.ws, r.reserve, r.rs), BAD, "x is NULL");
    ROW_OURS(cudnnRNNForward, ALL(h, r.desc, train, r.x, NULL, r.wbytes, r.w, r.work, r.ws, r.reserve, r.rs), BAD, "y is NULL");
    ROW(cudnnRNNForward, ALL(h, r.desc, train, r.x, r.y, r.wbytes - 1, r.w, r.work, r.ws, r.reserve, r.rs), BAD, "weightSpaceSize is",
        "the weights take");
    ROW(cudnnRNNForward, ALL(h, r.desc, train, r.x, r.y, r.wbytes, NULL, r.work, r.ws, r.reserve, r.rs), BAD, "weightSpace is NULL");
    ROW(cudnnRNNForward, ALL(h, r.desc, train, r.x, r.y, r.wbytes, r.w, r.work, r.ws, r.reserve - 1, r.rs), BAD, "reserveSpaceSize is");
    ROW(cudnnRNNForward, ALL(h, r.desc, train, r.x, r.y, r.wbytes, r.w, r.work, r.ws, r.reserve, NULL), BAD, "reserveSpace is NULL");
    ROW(cudnnRNNForward, ALL(h, r.desc, train, r.x, r.y, r.wbytes, r.w, r.work, r.ws, 0, NULL), BAD, "reserveSpaceSize is 0");
    if (r.work)
        ROW(cudnnRNNForward, ALL(h, r.desc, train, r.x, r.y, r.wbytes, r.w, 0, NULL, r.reserve, r.rs), BAD, "");
    ROW(cudnnRNNForward, FWD(h, r.desc, train, NULL, r.x, r.yd, r.y, r.hd, r.cd, r.wbytes, r.w, r.work, r.ws, r.reserve, r.rs), BAD,
        "xDesc is NULL");
    ROW(cudnnRNNForward, FWD(h, r.desc, train, r.xd, r.x, NULL, r.y, r.hd, r.cd, r.wbytes, r.w, r.work, r.ws, r.reserve, r.rs), BAD,
        "yDesc is NULL");
    ROW(cudnnRNNForward, FWD(h, r.desc, train, r.xd, r.x, r.yd, r.y, NULL, r.cd, r.wbytes, r.w, r.work, r.ws, r.reserve, r.rs), BAD,
        "hDesc is NULL");
    ROW(cudnnRNNForward, FWD(h, r.desc, train, r.xd, r.x, r.yd, r.y, r.hd, NULL, r.wbytes, r.w, r.work, r.ws, r.reserve, r.rs), BAD,
        "cDesc is NULL");
}

static void rnn_backward_rows(rnn r)
{
    cudnnHandle_t h = api_handle();
#define BACK(hh, yd, y, dy, xd, dx, hd, cd, wsize, w, rsize, rs) \
    (hh, r.desc, r.len, yd, y, dy, xd, dx, hd, r.hx, r.dhy, r.dhx, cd, r.cx, r.dcy, r.dcx, wsize, w, r.work, r.ws, rsize, rs)
#define WEIGHTS(hh, mode, xd, x, hd, yd, y, wsize, dw, rsize, rs) \
    (hh, r.desc, mode, r.len, xd, x, hd, r.hx, yd, y, wsize, dw, r.work, r.ws, rsize, rs)
    ROW(cudnnRNNBackwardData_v8, BACK(NULL, r.yd, r.y, r.dy, r.xd, r.dx, r.hd, r.cd, r.wbytes, r.w, r.reserve, r.rs), BAD, "handle is NULL");
    ROW(cudnnRNNBackwardData_v8, BACK(h, NULL, r.y, r.dy, r.xd, r.dx, r.hd, r.cd, r.wbytes, r.w, r.reserve, r.rs), BAD, "yDesc is NULL");
    ROW(cudnnRNNBackwardData_v8, BACK(h, r.yd, r.y, r.dy, NULL, r.dx, r.hd, r.cd, r.wbytes, r.w, r.reserve, r.rs), BAD, "xDesc is NULL");
    ROW(cudnnRNNBackwardData_v8, BACK(h, r.xd, r.y, r.dy, r.xd, r.dx, r.hd, r.cd, r.wbytes, r.w, r.reserve, r.rs), BAD, "yDesc has vectors of 3");
    ROW_OURS(cudnnRNNBackwardData_v8, BACK(h, r.yd, r.y, NULL, r.xd, r.dx, r.hd, r.cd, r.wbytes, r.w, r.reserve, r.rs), BAD, "dy is NULL");
    ROW_OURS(cudnnRNNBackwardData_v8, BACK(h, r.yd, r.y, r.dy, r.xd, NULL, r.hd, r.cd, r.wbytes, r.w, r.reserve, r.rs), BAD, "dx is NULL");
    ROW(cudnnRNNBackwardData_v8, BACK(h, r.yd, r.y, r.dy, r.xd, r.dx, NULL, r.cd, r.wbytes, r.w, r.reserve, r.rs), BAD, "hDesc is NULL");
    ROW(cudnnRNNBackwardData_v8, BACK(h, r.yd, r.y, r.dy, r.xd, r.dx, r.hd, NULL, r.wbytes, r.w, r.reserve, r.rs), BAD, "cDesc is NULL");
    ROW(cudnnRNNBackwardData_v8, BACK(h, r.yd, r.y, r.dy, r.xd, r.dx, r.hd, r.cd, r.wbytes - 1, r.w, r.reserve, r.rs), BAD, "weightSpaceSize");
    ROW(cudnnRNNBackwardData_v8, BACK(h, r.yd, r.y, r.dy, r.xd, r.dx, r.hd, r.cd, r.wbytes, r.w, r.reserve - 1, r.rs), BAD, "reserveSpaceSize");
    ROW(cudnnRNNBackwardData_v8, BACK(h, r.yd, r.y, r.dy, r.xd, r.dx, r.hd, r.cd, r.wbytes, r.w, r.reserve, NULL), BAD, "reserveSpace is NULL");
    ROW(cudnnRNNBackwardWeights_v8, WEIGHTS(NULL, 0, r.xd, r.x, r.hd, r.yd, r.y, r.wbytes, r.dw, r.reserve, r.rs), BAD, "handle is NULL");
    ROW(cudnnRNNBackwardWeights_v8, WEIGHTS(h, CUDNN_WGRAD_MODE_SET, r.xd, r.x, r.hd, r.yd, r.y, r.wbytes, r.dw, r.reserve, r.rs), NOSUP,
        "CUDNN_WGRAD_MODE_SET");
    ROW(cudnnRNNBackwardWeights_v8, WEIGHTS(h, (cudnnWgradMode_t)2, r.xd, r.x, r.hd, r.yd, r.y, r.wbytes, r.dw, r.reserve, r.rs), BAD,
        "addGrad is 2");
    ROW(cudnnRNNBackwardWeights_v8, WEIGHTS(h, 0, NULL, r.x, r.hd, r.yd, r.y, r.wbytes, r.dw, r.reserve, r.rs), BAD, "xDesc is NULL");
    ROW(cudnnRNNBackwardWeights_v8, WEIGHTS(h, 0, r.xd, r.x, NULL, r.yd, r.y, r.wbytes, r.dw, r.reserve, r.rs), BAD, "hDesc is NULL");
    ROW(cudnnRNNBackwardWeights_v8, WEIGHTS(h, 0, r.xd, r.x, r.hd, r.xd, r.y, r.wbytes, r.dw, r.reserve, r.rs), BAD, "yDesc has vectors of 3");
    ROW(cudnnRNNBackwardWeights_v8, WEIGHTS(h, 0, r.xd, r.x, r.hd, r.yd, r.y, r.wbytes - 1, r.dw, r.reserve, r.rs), BAD, "weightSpaceSize");
    ROW(cudnnRNNBackwardWeights_v8, WEIGHTS(h, 0, r.xd, r.x, r.hd, r.yd, r.y, r.wbytes, NULL, r.reserve, r.rs), BAD, "dweightSpace is NULL");
    ROW(cudnnRNNBackwardWeights_v8, WEIGHTS(h, 0, r.xd, r.x, r.hd, r.yd, r.y, r.wbytes, r.dw, r.reserve - 1, r.rs), BAD, "reserveSpaceSize");
}

/* What needs CUDNN_RNN_PADDED_IO_ENABLED, and gets no further without it. */
static void rnn_padding(rnn r)
{
    cudnnHandle_t h = api_handle();
    rnn_case c = r.c;
    CALL(cudnnSetRNNDescriptor_v8, (r.desc, 0, CUDNN_LSTM, CUDNN_RNN_DOUBLE_BIAS, 0, 0, F32, F32, CUDNN_FMA_MATH, 3, 4, 4, 1, NULL, 0));
    ROW(cudnnRNNForward, TRAIN1(r.xd, r.yd, r.hd, r.cd), BAD, "xDesc has padding", "PADDED_IO_ENABLED");
    c.layout = BATCH_MAJOR;
    c.len[0] = c.len[2] = 4;
    rnn_set_data(r.xd, &c, 3);
    rnn_set_data(r.yd, &c, 4);
    ROW(cudnnRNNForward, TRAIN1(r.xd, r.yd, r.hd, r.cd), BAD, "xDesc has the batch major layout");
    c.layout = UNPACKED;
    rnn_set_data(r.xd, &c, 3);
    rnn_set_data(r.yd, &c, 4);
    ROW_OURS(cudnnRNNForward, TRAIN1(r.xd, r.yd, r.hd, r.cd), OK, "");
    CALL(cudnnSetRNNDescriptor_v8, (r.desc, 0, CUDNN_LSTM, CUDNN_RNN_DOUBLE_BIAS, 0, CUDNN_SKIP_INPUT, F32, F32, 0, 3, 4, 4, 1, NULL, 0));
    ROW_OURS(cudnnRNNForward, TRAIN1(r.xd, r.yd, r.hd, r.cd), BAD, "xDesc has vectors of 3", "CUDNN_SKIP_INPUT");
}

void misuse_rnn(void **state)
{
    (void)state;
    cudnnRNNDescriptor_t d, never;
    cudnnRNNDataDescriptor_t data;
    rnn r;
    CALL(cudnnCreateRNNDescriptor, (&d));
    CALL(cudnnCreateRNNDescriptor, (&never));
    CALL(cudnnCreateRNNDataDescriptor, (&data));
    rnn_desc(d);
    rnn_desc_read(d, never);
    rnn_data(data);
    CALL(cudnnDestroyRNNDataDescriptor, (data));
    CALL(cudnnDestroyRNNDescriptor, (d));
    if (api_ours)
        ROW(cudnnRNNSetClip_v8, (d, 1, 0, -1, 1), BAD, "rnnDesc", "destroyed");
    api_rows_done();
    api_handle();
    rnn_make(&r, &good);
    rnn_sizes(&r, never);
    rnn_past_counting(&r);
    rnn_forward_rows(r, never);
    rnn_shapes(r);
    rnn_backward_rows(r);
    rnn_padding(r);
    MEM_CHECK();
    rnn_free(&r);
    CALL(cudnnDestroyRNNDescriptor, (never));
    api_rows_done();
}
