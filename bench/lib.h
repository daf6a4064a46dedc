/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * A library with cuDNN's interface, ABI 8 or 9, opened by path: a case becomes descriptors and calls as a program makes them.
 * The prototypes are ABI 8's; those used here are the same in 9, whose statuses alone differ. */
#ifndef DN_BENCH_LIB_H
#define DN_BENCH_LIB_H

#include "target.h"

#include <cudnn.h>
#include <anydnn.h>

/* What is called of a library; one that it lacks is NULL. */
#define BENCH_FUNCTIONS(X) \
    X(cudnnBatchNormalizationBackwardEx) \
    X(cudnnGetBatchNormalizationBackwardExWorkspaceSize) \
    X(cudnnNormalizationForwardInference) \
    X(cudnnActivationBackward) X(cudnnActivationForward) X(cudnnAddTensor) X(cudnnBatchNormalizationBackward) \
    X(cudnnBatchNormalizationForwardInference) X(cudnnBatchNormalizationForwardTraining) \
    X(cudnnBatchNormalizationForwardTrainingEx) X(cudnnConvolutionBackwardBias) X(cudnnConvolutionBackwardData) \
    X(cudnnConvolutionBackwardFilter) X(cudnnConvolutionBiasActivationForward) X(cudnnConvolutionForward) X(cudnnCreate) X(cudnnSetStream) \
    X(cudnnCreateActivationDescriptor) X(cudnnCreateConvolutionDescriptor) X(cudnnCreateDropoutDescriptor) \
    X(cudnnCreateFilterDescriptor) X(cudnnCreateLRNDescriptor) X(cudnnCreateOpTensorDescriptor) \
    X(cudnnCreatePoolingDescriptor) X(cudnnCreateReduceTensorDescriptor) X(cudnnCreateSpatialTransformerDescriptor) \
    X(cudnnCreateTensorDescriptor) X(cudnnCreateTensorTransformDescriptor) X(cudnnDestroy) \
    X(cudnnDestroyActivationDescriptor) X(cudnnDestroyConvolutionDescriptor) X(cudnnDestroyDropoutDescriptor) \
    X(cudnnDestroyFilterDescriptor) X(cudnnDestroyLRNDescriptor) X(cudnnDestroyOpTensorDescriptor) \
    X(cudnnDestroyPoolingDescriptor) X(cudnnDestroyReduceTensorDescriptor) X(cudnnDestroySpatialTransformerDescriptor) \
    X(cudnnDestroyTensorDescriptor) X(cudnnDestroyTensorTransformDescriptor) X(cudnnDivisiveNormalizationBackward) \
    X(cudnnDivisiveNormalizationForward) X(cudnnDropoutBackward) X(cudnnDropoutForward) X(cudnnDropoutGetReserveSpaceSize) \
    X(cudnnDropoutGetStatesSize) X(cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize) \
    X(cudnnGetBatchNormalizationTrainingExReserveSpaceSize) X(cudnnGetConvolutionBackwardDataAlgorithm_v7) \
    X(cudnnGetConvolutionBackwardDataWorkspaceSize) X(cudnnGetConvolutionBackwardFilterAlgorithm_v7) \
    X(cudnnGetConvolutionBackwardFilterWorkspaceSize) X(cudnnGetConvolutionForwardAlgorithm_v7) \
    X(cudnnGetConvolutionForwardWorkspaceSize) X(cudnnGetErrorString) X(cudnnGetReductionWorkspaceSize) X(cudnnGetVersion) \
    X(cudnnCTCLoss_v8) X(cudnnCreateCTCLossDescriptor) X(cudnnDestroyCTCLossDescriptor) X(cudnnGetCTCLossWorkspaceSize_v8) \
    X(cudnnSetCTCLossDescriptor_v8) \
    X(cudnnIm2Col) X(cudnnLRNCrossChannelBackward) X(cudnnLRNCrossChannelForward) X(cudnnOpTensor) X(cudnnPoolingBackward) \
    X(cudnnPoolingForward) X(cudnnReduceTensor) X(cudnnScaleTensor) X(cudnnSetActivationDescriptor) \
    X(cudnnSetActivationDescriptorSwishBeta) X(cudnnSetConvolutionGroupCount) X(cudnnSetConvolutionMathType) \
    X(cudnnSetConvolutionNdDescriptor) X(cudnnSetDropoutDescriptor) X(cudnnSetFilterNdDescriptor) X(cudnnSetLRNDescriptor) \
    X(cudnnSetOpTensorDescriptor) X(cudnnSetPoolingNdDescriptor) X(cudnnSetReduceTensorDescriptor) \
    X(cudnnSetSpatialTransformerNdDescriptor) X(cudnnSetTensor) X(cudnnSetTensorNdDescriptor) \
    X(cudnnSetTensorNdDescriptorEx) X(cudnnSetTensorTransformDescriptor) X(cudnnSoftmaxBackward) X(cudnnSoftmaxForward) \
    X(cudnnSpatialTfGridGeneratorBackward) X(cudnnSpatialTfGridGeneratorForward) X(cudnnSpatialTfSamplerBackward) \
    X(cudnnSpatialTfSamplerForward) X(cudnnTransformTensor) X(cudnnTransformTensorEx) X(anydnnGetEngineName) \
    X(anydnnGetLastErrorString) \
    X(cudnnBuildRNNDynamic) X(cudnnCreateRNNDataDescriptor) X(cudnnCreateRNNDescriptor) X(cudnnDestroyRNNDataDescriptor) \
    X(cudnnDestroyRNNDescriptor) X(cudnnGetRNNTempSpaceSizes) X(cudnnGetRNNWeightSpaceSize) X(cudnnRNNBackwardData_v8) \
    X(cudnnRNNBackwardWeights_v8) X(cudnnRNNForward) X(cudnnRNNSetClip_v8) X(cudnnSetRNNDataDescriptor) X(cudnnSetRNNDescriptor_v8) \
    X(cudnnCreateAttnDescriptor) X(cudnnCreateSeqDataDescriptor) X(cudnnDestroyAttnDescriptor) X(cudnnDestroySeqDataDescriptor) \
    X(cudnnGetMultiHeadAttnBuffers) X(cudnnMultiHeadAttnBackwardData) X(cudnnMultiHeadAttnBackwardWeights) X(cudnnMultiHeadAttnForward) \
    X(cudnnSetAttnDescriptor) X(cudnnSetSeqDataDescriptor)

struct bench_functions {
#define BENCH_MEMBER(n) __typeof__(&n) n;
    BENCH_FUNCTIONS(BENCH_MEMBER)
#undef BENCH_MEMBER
    void (*last_error_9)(char *text, size_t size);
};

typedef struct bench_lib {
    void *handle_of_loader;
    int abi;
    size_t version;
    bool ours, all;
    char name[64];
    cudnnHandle_t h;
    const bench_space *space;
    struct bench_functions f;
} bench_lib;

/* A case as the library sees it. */
typedef struct bench_call bench_call;
struct bench_call {
    bench_lib *lib;
    const bench_case *c;
    const bench_data *d;
    int algo;
    cudnnTensorDescriptor_t t[DN_ROLE_COUNT];
    cudnnFilterDescriptor_t filter;
    cudnnConvolutionDescriptor_t conv;
    cudnnPoolingDescriptor_t pool;
    cudnnActivationDescriptor_t act;
    cudnnDropoutDescriptor_t dropout;
    cudnnOpTensorDescriptor_t tensor_op;
    cudnnReduceTensorDescriptor_t reduce;
    cudnnTensorTransformDescriptor_t transform;
    cudnnLRNDescriptor_t lrn;
    cudnnSpatialTransformerDescriptor_t spatial;
    cudnnCTCLossDescriptor_t ctc;
    size_t workspace;
    void *states, *reserve, *spare;   /* of another library's dropout, in its memory */
    size_t states_size, reserve_size;
    struct bench_rnn *rnn;
    struct bench_attn *attn;
    union { float f; double d; } alpha, beta, alpha2, beta2;
};

/* How an operation goes through the interface. prepare: descriptors beyond those of the tensors, and c->workspace. */
typedef struct bench_via {
    dn_op op;
    const char *needs[3];  /* functions that must be there, beside those that every library has */
    dn_status (*prepare)(bench_call *c);
    dn_status (*run)(bench_call *c, const bench_memory *m);
} bench_via;
extern const bench_via bench_via_conv[], bench_via_ops[], bench_via_norm[], bench_via_rnn[], bench_via_ctc[], bench_via_attn[];  /* each ended by a NULL run */

/* The library's status as ours, with its text as the last-error text. */
dn_status bench_answer(const bench_call *c, const char *function, cudnnStatus_t st);
#define BENCH_CALL(c, function, ...) bench_answer(c, #function, (c)->lib->f.function(__VA_ARGS__))
dn_status bench_tensor_set(const bench_call *c, cudnnTensorDescriptor_t desc, const dn_tensor *t);

void bench_rnn_free(bench_call *c);
void bench_attn_free(bench_call *c);

/* Numbers of algorithms of a convolution's direction or of recurrent networks, 0 where the operation has none. */
int bench_algo_count(const dn_problem *p);
/* What Get proposes for c->algo < 0. */
dn_status bench_conv_choose(bench_call *c);

#endif
