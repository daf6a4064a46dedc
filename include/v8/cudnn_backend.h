/* SPDX-License-Identifier: Apache-2.0 */
/* Copyright the anydnn authors */
/* cudnn_backend.h: graph API: descriptors with attributes, engines, plans */
/* Long because programs include it by this name. */
#ifndef _CUDNN_BACKEND_H_
#define _CUDNN_BACKEND_H_

#include <stddef.h>
#include <stdint.h>

#include "cudnn_ops_infer.h"
#include "cudnn_cnn_infer.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Graph API ------------------------------------------------------------------------------- */

/* Any descriptor of the graph API; see cudnnBackendCreateDescriptor. */
typedef void *cudnnBackendDescriptor_t;

/* A fraction, for strides below 1 in resampling. */
typedef struct cudnnFractionStruct {
    int64_t numerator;
    int64_t denominator;              /* above 0 */
} cudnnFraction_t;

/*
 * Element operations of a graph. x is the first, b the second input; the BWD ones give dx from dy
 * and x (or y).
 */
typedef enum {
    CUDNN_POINTWISE_ADD                  = 0,
    CUDNN_POINTWISE_MUL                  = 1,
    CUDNN_POINTWISE_MIN                  = 2,
    CUDNN_POINTWISE_MAX                  = 3,
    CUDNN_POINTWISE_SQRT                 = 4,
    CUDNN_POINTWISE_ADD_SQUARE           = 5, /* x + b * b */
    CUDNN_POINTWISE_DIV                  = 6,
    CUDNN_POINTWISE_MOD                  = 7, /* floored remainder */
    CUDNN_POINTWISE_POW                  = 8,
    CUDNN_POINTWISE_SUB                  = 9,
    CUDNN_POINTWISE_ABS                  = 10,
    CUDNN_POINTWISE_CEIL                 = 11,
    CUDNN_POINTWISE_COS                  = 12,
    CUDNN_POINTWISE_EXP                  = 13,
    CUDNN_POINTWISE_FLOOR                = 14,
    CUDNN_POINTWISE_LOG                  = 15,
    CUDNN_POINTWISE_NEG                  = 16,
    CUDNN_POINTWISE_RSQRT                = 17, /* 1 / sqrt(x) */
    CUDNN_POINTWISE_SIN                  = 18,
    CUDNN_POINTWISE_TAN                  = 19,
    CUDNN_POINTWISE_ERF                  = 20,
    CUDNN_POINTWISE_IDENTITY             = 21,
    CUDNN_POINTWISE_RECIPROCAL           = 22,
    CUDNN_POINTWISE_RELU_FWD             = 100, /* max(0, x), with clips and slope */
    CUDNN_POINTWISE_TANH_FWD             = 101,
    CUDNN_POINTWISE_SIGMOID_FWD          = 102,
    CUDNN_POINTWISE_ELU_FWD              = 103,
    CUDNN_POINTWISE_GELU_FWD             = 104,
    CUDNN_POINTWISE_SOFTPLUS_FWD         = 105,
    CUDNN_POINTWISE_SWISH_FWD            = 106,
    CUDNN_POINTWISE_GELU_APPROX_TANH_FWD = 107, /* gelu by tanh */
    CUDNN_POINTWISE_RELU_BWD             = 200,
    CUDNN_POINTWISE_TANH_BWD             = 201,
    CUDNN_POINTWISE_SIGMOID_BWD          = 202,
    CUDNN_POINTWISE_ELU_BWD              = 203,
    CUDNN_POINTWISE_GELU_BWD             = 204,
    CUDNN_POINTWISE_SOFTPLUS_BWD         = 205,
    CUDNN_POINTWISE_SWISH_BWD            = 206,
    CUDNN_POINTWISE_GELU_APPROX_TANH_BWD = 207,
    CUDNN_POINTWISE_CMP_EQ               = 300,
    CUDNN_POINTWISE_CMP_NEQ              = 301,
    CUDNN_POINTWISE_CMP_GT               = 302,
    CUDNN_POINTWISE_CMP_GE               = 303,
    CUDNN_POINTWISE_CMP_LT               = 304,
    CUDNN_POINTWISE_CMP_LE               = 305,
    CUDNN_POINTWISE_LOGICAL_AND          = 400,
    CUDNN_POINTWISE_LOGICAL_OR           = 401,
    CUDNN_POINTWISE_LOGICAL_NOT          = 402,
    CUDNN_POINTWISE_GEN_INDEX            = 501, /* position along AXIS */
    CUDNN_POINTWISE_BINARY_SELECT        = 601 /* t ? x : b */
} cudnnPointwiseMode_t;

/* Resampling and pooling. */
typedef enum {
    CUDNN_RESAMPLE_NEAREST                 = 0,
    CUDNN_RESAMPLE_BILINEAR                = 1,
    CUDNN_RESAMPLE_AVGPOOL                 = 2, /* same as INCLUDE_PADDING */
    CUDNN_RESAMPLE_AVGPOOL_INCLUDE_PADDING = 2,
    CUDNN_RESAMPLE_MAXPOOL                 = 3,
    CUDNN_RESAMPLE_AVGPOOL_EXCLUDE_PADDING = 4
} cudnnResampleMode_t;

/* What lies outside of the image in resampling. */
typedef enum {
    CUDNN_ZERO_PAD     = 0, /* zeros */
    CUDNN_NEG_INF_PAD  = 1, /* minus infinity */
    CUDNN_EDGE_VAL_PAD = 2 /* the nearest pixel */
} cudnnPaddingMode_t;

/* Flag operations between devices. */
typedef enum {
    CUDNN_SIGNAL_SET  = 0,
    CUDNN_SIGNAL_WAIT = 1
} cudnnSignalMode_t;

/* Statistics of a tensor per channel. */
typedef enum {
    CUDNN_GENSTATS_SUM_SQSUM = 0 /* sum and sum of squares */
} cudnnGenStatsMode_t;

/* Which statistics a batch-norm finalise node makes. */
typedef enum {
    CUDNN_BN_FINALIZE_STATISTICS_TRAINING  = 0,
    CUDNN_BN_FINALIZE_STATISTICS_INFERENCE = 1
} cudnnBnFinalizeStatsMode_t;

/* Distributions of the random number node. */
typedef enum {
    CUDNN_RNG_DISTRIBUTION_BERNOULLI = 0,
    CUDNN_RNG_DISTRIBUTION_UNIFORM   = 1,
    CUDNN_RNG_DISTRIBUTION_NORMAL    = 2
} cudnnRngDistribution_t;

/* Kinds of normalisation nodes. */
typedef enum {
    CUDNN_LAYER_NORM    = 0,
    CUDNN_INSTANCE_NORM = 1,
    CUDNN_BATCH_NORM    = 2,
    CUDNN_GROUP_NORM    = 3,
    CUDNN_RMS_NORM      = 4
} cudnnBackendNormMode_t;

/* Inference or training. */
typedef enum {
    CUDNN_NORM_FWD_INFERENCE = 0,
    CUDNN_NORM_FWD_TRAINING  = 1
} cudnnBackendNormFwdPhase_t;

/* Special memory orders. */
typedef enum {
    CUDNN_TENSOR_REORDERING_NONE    = 0,
    CUDNN_TENSOR_REORDERING_INT8x32 = 1,
    CUDNN_TENSOR_REORDERING_F16x16  = 2
} cudnnBackendTensorReordering_t;

/* Kinds of graph descriptors. */
typedef enum {
    CUDNN_BACKEND_POINTWISE_DESCRIPTOR = 0,
    CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR = 1,
    CUDNN_BACKEND_ENGINE_DESCRIPTOR = 2,
    CUDNN_BACKEND_ENGINECFG_DESCRIPTOR = 3,
    CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR = 4,
    CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR = 5,
    CUDNN_BACKEND_INTERMEDIATE_INFO_DESCRIPTOR = 6,
    CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR = 7,
    CUDNN_BACKEND_KNOB_INFO_DESCRIPTOR = 8,
    CUDNN_BACKEND_LAYOUT_INFO_DESCRIPTOR = 9,
    CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR = 10,
    CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR = 11,
    CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR = 12,
    CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR = 13,
    CUDNN_BACKEND_OPERATION_GEN_STATS_DESCRIPTOR = 14,
    CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR = 15,
    CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR = 16,
    CUDNN_BACKEND_TENSOR_DESCRIPTOR = 17,
    CUDNN_BACKEND_MATMUL_DESCRIPTOR = 18,
    CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR = 19,
    CUDNN_BACKEND_OPERATION_BN_FINALIZE_STATISTICS_DESCRIPTOR = 20,
    CUDNN_BACKEND_REDUCTION_DESCRIPTOR = 21,
    CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR = 22,
    CUDNN_BACKEND_OPERATION_BN_BWD_WEIGHTS_DESCRIPTOR = 23,
    CUDNN_BACKEND_RESAMPLE_DESCRIPTOR = 24,
    CUDNN_BACKEND_OPERATION_RESAMPLE_FWD_DESCRIPTOR = 25,
    CUDNN_BACKEND_OPERATION_RESAMPLE_BWD_DESCRIPTOR = 26,
    CUDNN_BACKEND_OPERATION_CONCAT_DESCRIPTOR = 27,
    CUDNN_BACKEND_OPERATION_SIGNAL_DESCRIPTOR = 28,
    CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR = 29,
    CUDNN_BACKEND_OPERATION_NORM_BACKWARD_DESCRIPTOR = 30,
    CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR = 31,
    CUDNN_BACKEND_RNG_DESCRIPTOR = 32,
    CUDNN_BACKEND_OPERATION_RNG_DESCRIPTOR = 33
} cudnnBackendDescriptorType_t;

/* Attributes of graph descriptors. In brackets: kind of value and number of values. */
typedef enum {
    /*
     * Element operation: mode [POINTWISE_MODE 1], compute type [DATA_TYPE 1], NaN rule
     * [NAN_PROPOGATION 1], clips, slope, alpha and betas [FLOAT or DOUBLE 1], axis of GEN_INDEX
     * [INT64 1].
     */
    CUDNN_ATTR_POINTWISE_MODE = 0,
    CUDNN_ATTR_POINTWISE_MATH_PREC = 1,
    CUDNN_ATTR_POINTWISE_NAN_PROPAGATION = 2,
    CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP = 3,
    CUDNN_ATTR_POINTWISE_RELU_UPPER_CLIP = 4,
    CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP_SLOPE = 5,
    CUDNN_ATTR_POINTWISE_ELU_ALPHA = 6,
    CUDNN_ATTR_POINTWISE_SOFTPLUS_BETA = 7,
    CUDNN_ATTR_POINTWISE_SWISH_BETA = 8,
    CUDNN_ATTR_POINTWISE_AXIS = 9,

    /*
     * Convolution: compute type [DATA_TYPE 1], mode [CONVOLUTION_MODE 1], dilations, strides,
     * paddings before and after [INT64, one per spatial dimension], number of spatial dimensions
     * [INT64 1].
     */
    CUDNN_ATTR_CONVOLUTION_COMP_TYPE = 100,
    CUDNN_ATTR_CONVOLUTION_CONV_MODE = 101,
    CUDNN_ATTR_CONVOLUTION_DILATIONS = 102,
    CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES = 103,
    CUDNN_ATTR_CONVOLUTION_POST_PADDINGS = 104,
    CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS = 105,
    CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS = 106,

    /*
     * Ranking of engines: mode [HEUR_MODE 1], graph [BACKEND_DESCRIPTOR 1], results
     * [BACKEND_DESCRIPTOR any number, best first], multiprocessors to plan for [INT32 1], device
     * [BACKEND_DESCRIPTOR 1].
     */
    CUDNN_ATTR_ENGINEHEUR_MODE = 200,
    CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH = 201,
    CUDNN_ATTR_ENGINEHEUR_RESULTS = 202,
    CUDNN_ATTR_ENGINEHEUR_SM_COUNT_TARGET = 203,

    /*
     * Engine configuration: engine [BACKEND_DESCRIPTOR 1], intermediates and knob choices
     * [BACKEND_DESCRIPTOR any number], workspace [INT64 1] and shared memory [INT64 1] in bytes.
     */
    CUDNN_ATTR_ENGINECFG_ENGINE = 300,
    CUDNN_ATTR_ENGINECFG_INTERMEDIATE_INFO = 301,
    CUDNN_ATTR_ENGINECFG_KNOB_CHOICES = 302,

    /*
     * Plan: handle [HANDLE 1], configuration [BACKEND_DESCRIPTOR 1], workspace in bytes [INT64 1],
     * ids of intermediates [INT64 any number], text form [CHAR any number], kernel cache and device
     * [BACKEND_DESCRIPTOR 1].
     */
    CUDNN_ATTR_EXECUTION_PLAN_HANDLE = 400,
    CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG = 401,
    CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE = 402,
    CUDNN_ATTR_EXECUTION_PLAN_COMPUTED_INTERMEDIATE_UIDS = 403,
    CUDNN_ATTR_EXECUTION_PLAN_RUN_ONLY_INTERMEDIATE_UIDS = 404,
    CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION = 405,

    /*
     * Intermediate tensor: id and size in bytes [INT64 1], ids and attributes that it depends on
     * [INT64, ATTRIB_NAME].
     */
    CUDNN_ATTR_INTERMEDIATE_INFO_UNIQUE_ID = 500,
    CUDNN_ATTR_INTERMEDIATE_INFO_SIZE = 501,
    CUDNN_ATTR_INTERMEDIATE_INFO_DEPENDENT_DATA_UIDS = 502,
    CUDNN_ATTR_INTERMEDIATE_INFO_DEPENDENT_ATTRIBUTES = 503,

    /* Knob setting: which [KNOB_TYPE 1] and value [INT64 1]. */
    CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE = 600,
    CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE = 601,

    /*
     * y = alpha * conv(x, w) + beta * y: scalars [FLOAT or DOUBLE 1], the others
     * [BACKEND_DESCRIPTOR 1].
     */
    CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA = 700,
    CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA = 701,
    CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC = 702,
    CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W = 703,
    CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X = 704,
    CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y = 705,

    /* Gradient for the input, same kinds of values. */
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA = 706,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA = 707,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC = 708,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W = 709,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX = 710,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY = 711,

    /* Gradient for the filter, same kinds of values. */
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA = 712,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA = 713,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC = 714,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW = 715,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X = 716,
    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY = 717,

    /*
     * Element operation node: y = op(alpha1 * x, alpha2 * b), t the condition of BINARY_SELECT;
     * scalars [FLOAT or DOUBLE 1], the others [BACKEND_DESCRIPTOR 1].
     */
    CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR = 750,
    CUDNN_ATTR_OPERATION_POINTWISE_XDESC = 751,
    CUDNN_ATTR_OPERATION_POINTWISE_BDESC = 752,
    CUDNN_ATTR_OPERATION_POINTWISE_YDESC = 753,
    CUDNN_ATTR_OPERATION_POINTWISE_ALPHA1 = 754,
    CUDNN_ATTR_OPERATION_POINTWISE_ALPHA2 = 755,
    CUDNN_ATTR_OPERATION_POINTWISE_DXDESC = 756,
    CUDNN_ATTR_OPERATION_POINTWISE_DYDESC = 757,
    CUDNN_ATTR_OPERATION_POINTWISE_TDESC = 758,

    /*
     * Sum and sum of squares per channel: mode [GENSTATS_MODE 1], compute type [DATA_TYPE 1],
     * tensors [BACKEND_DESCRIPTOR 1].
     */
    CUDNN_ATTR_OPERATION_GENSTATS_MODE = 770,
    CUDNN_ATTR_OPERATION_GENSTATS_MATH_PREC = 771,
    CUDNN_ATTR_OPERATION_GENSTATS_XDESC = 772,
    CUDNN_ATTR_OPERATION_GENSTATS_SUMDESC = 773,
    CUDNN_ATTR_OPERATION_GENSTATS_SQSUMDESC = 774,

    /*
     * Batch-norm statistics from sums: mode [BN_FINALIZE_STATS_MODE 1], compute type [DATA_TYPE 1],
     * tensors and scalars as tensors [BACKEND_DESCRIPTOR 1].
     */
    CUDNN_ATTR_OPERATION_BN_FINALIZE_STATS_MODE = 780,
    CUDNN_ATTR_OPERATION_BN_FINALIZE_MATH_PREC = 781,
    CUDNN_ATTR_OPERATION_BN_FINALIZE_Y_SUM_DESC = 782,
    CUDNN_ATTR_OPERATION_BN_FINALIZE_Y_SQ_SUM_DESC = 783,
    CUDNN_ATTR_OPERATION_BN_FINALIZE_SCALE_DESC = 784,
    CUDNN_ATTR_OPERATION_BN_FINALIZE_BIAS_DESC = 785,
    CUDNN_ATTR_OPERATION_BN_FINALIZE_PREV_RUNNING_MEAN_DESC = 786,
    CUDNN_ATTR_OPERATION_BN_FINALIZE_PREV_RUNNING_VAR_DESC = 787,
    CUDNN_ATTR_OPERATION_BN_FINALIZE_UPDATED_RUNNING_MEAN_DESC = 788,
    CUDNN_ATTR_OPERATION_BN_FINALIZE_UPDATED_RUNNING_VAR_DESC = 789,
    CUDNN_ATTR_OPERATION_BN_FINALIZE_SAVED_MEAN_DESC = 790,
    CUDNN_ATTR_OPERATION_BN_FINALIZE_SAVED_INV_STD_DESC = 791,
    CUDNN_ATTR_OPERATION_BN_FINALIZE_EQ_SCALE_DESC = 792,
    CUDNN_ATTR_OPERATION_BN_FINALIZE_EQ_BIAS_DESC = 793,
    CUDNN_ATTR_OPERATION_BN_FINALIZE_ACCUM_COUNT_DESC = 794,
    CUDNN_ATTR_OPERATION_BN_FINALIZE_EPSILON_DESC = 795,
    CUDNN_ATTR_OPERATION_BN_FINALIZE_EXP_AVERATE_FACTOR_DESC = 796,

    /*
     * Graph: handle [HANDLE 1], nodes [BACKEND_DESCRIPTOR any number], number of engines [INT64 1],
     * flags [BOOLEAN 1].
     */
    CUDNN_ATTR_OPERATIONGRAPH_HANDLE = 800,
    CUDNN_ATTR_OPERATIONGRAPH_OPS = 801,
    CUDNN_ATTR_OPERATIONGRAPH_ENGINE_GLOBAL_COUNT = 802,

    /*
     * Tensor: alignment in bytes [INT64 1], type [DATA_TYPE 1], sizes and strides in elements
     * [INT64, one per dimension], vector length and dimension [INT64 1], id [INT64 1], virtual or
     * by value [BOOLEAN 1], order [TENSOR_REORDERING_MODE 1], row offsets [BACKEND_DESCRIPTOR 1].
     */
    CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT = 900,
    CUDNN_ATTR_TENSOR_DATA_TYPE = 901,
    CUDNN_ATTR_TENSOR_DIMENSIONS = 902,
    CUDNN_ATTR_TENSOR_STRIDES = 903,
    CUDNN_ATTR_TENSOR_VECTOR_COUNT = 904,
    CUDNN_ATTR_TENSOR_VECTORIZED_DIMENSION = 905,
    CUDNN_ATTR_TENSOR_UNIQUE_ID = 906,
    CUDNN_ATTR_TENSOR_IS_VIRTUAL = 907,
    CUDNN_ATTR_TENSOR_IS_BY_VALUE = 908,
    CUDNN_ATTR_TENSOR_REORDERING_MODE = 909,
    CUDNN_ATTR_TENSOR_RAGGED_OFFSET_DESC = 913,

    /*
     * Pointers of one execution: ids [INT64 any number], pointers [VOID_PTR as many], intermediates
     * [BACKEND_DESCRIPTOR], workspace [VOID_PTR 1], shapes and strides that replace those of the
     * tensors [INT64].
     */
    CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS = 1000,
    CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS = 1001,
    CUDNN_ATTR_VARIANT_PACK_INTERMEDIATES = 1002,
    CUDNN_ATTR_VARIANT_PACK_WORKSPACE = 1003,

    /* Layout wish of an engine: tensor id [INT64 1], layouts [LAYOUT_TYPE any number]. */
    CUDNN_ATTR_LAYOUT_INFO_TENSOR_UID = 1100,
    CUDNN_ATTR_LAYOUT_INFO_TYPES = 1101,

    /* Knob of an engine: which [KNOB_TYPE 1], largest, smallest, step [INT64 1]. */
    CUDNN_ATTR_KNOB_INFO_TYPE = 1200,
    CUDNN_ATTR_KNOB_INFO_MAXIMUM_VALUE = 1201,
    CUDNN_ATTR_KNOB_INFO_MINIMUM_VALUE = 1202,
    CUDNN_ATTR_KNOB_INFO_STRIDE = 1203,

    /*
     * Engine: graph [BACKEND_DESCRIPTOR 1], number [INT64 1], knobs and layouts [BACKEND_DESCRIPTOR
     * any number], notes [NUMERICAL_NOTE, BEHAVIOR_NOTE any number], multiprocessors [INT32 1],
     * device [BACKEND_DESCRIPTOR 1], clusters off [BOOLEAN 1].
     */
    CUDNN_ATTR_ENGINE_OPERATION_GRAPH = 1300,
    CUDNN_ATTR_ENGINE_GLOBAL_INDEX = 1301,
    CUDNN_ATTR_ENGINE_KNOB_INFO = 1302,
    CUDNN_ATTR_ENGINE_NUMERICAL_NOTE = 1303,
    CUDNN_ATTR_ENGINE_LAYOUT_INFO = 1304,
    CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE = 1305,
    CUDNN_ATTR_ENGINE_SM_COUNT_TARGET = 1306,

    /* Matrix product: compute type [DATA_TYPE 1], value of what is padded [DOUBLE 1]. */
    CUDNN_ATTR_MATMUL_COMP_TYPE = 1500,
    CUDNN_ATTR_MATMUL_PADDING_VALUE = 1503,

    /*
     * C = A B per batch: tensors and the product [BACKEND_DESCRIPTOR 1], batch count [INT64 1],
     * sizes per batch that replace M, N, K [BACKEND_DESCRIPTOR 1].
     */
    CUDNN_ATTR_OPERATION_MATMUL_ADESC = 1520,
    CUDNN_ATTR_OPERATION_MATMUL_BDESC = 1521,
    CUDNN_ATTR_OPERATION_MATMUL_CDESC = 1522,
    CUDNN_ATTR_OPERATION_MATMUL_DESC = 1523,
    CUDNN_ATTR_OPERATION_MATMUL_IRREGULARLY_STRIDED_BATCH_COUNT = 1524,
    CUDNN_ATTR_OPERATION_MATMUL_GEMM_M_OVERRIDE_DESC = 1525,
    CUDNN_ATTR_OPERATION_MATMUL_GEMM_N_OVERRIDE_DESC = 1526,
    CUDNN_ATTR_OPERATION_MATMUL_GEMM_K_OVERRIDE_DESC = 1527,

    /*
     * Reduction: operator [REDUCTION_OPERATOR_TYPE 1], compute type [DATA_TYPE 1], determinism
     * [BOOLEAN 1].
     */
    CUDNN_ATTR_REDUCTION_OPERATOR = 1600,
    CUDNN_ATTR_REDUCTION_COMP_TYPE = 1601,

    /* y = reduce(x) where y has size 1 [BACKEND_DESCRIPTOR 1]. */
    CUDNN_ATTR_OPERATION_REDUCTION_XDESC = 1610,
    CUDNN_ATTR_OPERATION_REDUCTION_YDESC = 1611,
    CUDNN_ATTR_OPERATION_REDUCTION_DESC = 1612,

    /*
     * Gradients of scale and bias, and the factors of dx: compute type [DATA_TYPE 1], tensors
     * [BACKEND_DESCRIPTOR 1].
     */
    CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_MATH_PREC = 1620,
    CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_MEAN_DESC = 1621,
    CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_INVSTD_DESC = 1622,
    CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_BN_SCALE_DESC = 1623,
    CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_X_DESC = 1624,
    CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_DY_DESC = 1625,
    CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_DBN_SCALE_DESC = 1626,
    CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_DBN_BIAS_DESC = 1627,
    CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_EQ_DY_SCALE_DESC = 1628,
    CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_EQ_X_SCALE_DESC = 1629,
    CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_EQ_BIAS = 1630,

    /*
     * Resampling: mode [RESAMPLE_MODE 1], compute type [DATA_TYPE 1], spatial dimensions [INT64 1],
     * paddings, strides and window [INT64 or FRACTION, one per spatial dimension], NaN rule
     * [NAN_PROPOGATION 1], padding mode [PADDING_MODE 1].
     */
    CUDNN_ATTR_RESAMPLE_MODE = 1700,
    CUDNN_ATTR_RESAMPLE_COMP_TYPE = 1701,
    CUDNN_ATTR_RESAMPLE_SPATIAL_DIMS = 1702,
    CUDNN_ATTR_RESAMPLE_POST_PADDINGS = 1703,
    CUDNN_ATTR_RESAMPLE_PRE_PADDINGS = 1704,
    CUDNN_ATTR_RESAMPLE_STRIDES = 1705,
    CUDNN_ATTR_RESAMPLE_WINDOW_DIMS = 1706,
    CUDNN_ATTR_RESAMPLE_NAN_PROPAGATION = 1707,
    CUDNN_ATTR_RESAMPLE_PADDING_MODE = 1708,

    /* Resampling node: tensors [BACKEND_DESCRIPTOR 1], scalars [FLOAT or DOUBLE 1]. */
    CUDNN_ATTR_OPERATION_RESAMPLE_FWD_XDESC = 1710,
    CUDNN_ATTR_OPERATION_RESAMPLE_FWD_YDESC = 1711,
    CUDNN_ATTR_OPERATION_RESAMPLE_FWD_IDXDESC = 1712,
    CUDNN_ATTR_OPERATION_RESAMPLE_FWD_ALPHA = 1713,
    CUDNN_ATTR_OPERATION_RESAMPLE_FWD_BETA = 1714,
    CUDNN_ATTR_OPERATION_RESAMPLE_FWD_DESC = 1716,

    /* Its gradient, same kinds of values. */
    CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DXDESC = 1720,
    CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DYDESC = 1721,
    CUDNN_ATTR_OPERATION_RESAMPLE_BWD_IDXDESC = 1722,
    CUDNN_ATTR_OPERATION_RESAMPLE_BWD_ALPHA = 1723,
    CUDNN_ATTR_OPERATION_RESAMPLE_BWD_BETA = 1724,
    CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DESC = 1725,
    CUDNN_ATTR_OPERATION_RESAMPLE_BWD_XDESC = 1726,
    CUDNN_ATTR_OPERATION_RESAMPLE_BWD_YDESC = 1727,

    /*
     * Concatenation: axis [INT64 1], inputs [BACKEND_DESCRIPTOR any number], input that lies in
     * place [INT64 1], output [BACKEND_DESCRIPTOR 1].
     */
    CUDNN_ATTR_OPERATION_CONCAT_AXIS = 1800,
    CUDNN_ATTR_OPERATION_CONCAT_INPUT_DESCS = 1801,
    CUDNN_ATTR_OPERATION_CONCAT_INPLACE_INDEX = 1802,
    CUDNN_ATTR_OPERATION_CONCAT_OUTPUT_DESC = 1803,

    /*
     * Set or wait for a flag: mode [SIGNAL_MODE 1], value [INT64 1], flag and tensors passed
     * through [BACKEND_DESCRIPTOR 1].
     */
    CUDNN_ATTR_OPERATION_SIGNAL_MODE = 1900,
    CUDNN_ATTR_OPERATION_SIGNAL_FLAGDESC = 1901,
    CUDNN_ATTR_OPERATION_SIGNAL_VALUE = 1902,
    CUDNN_ATTR_OPERATION_SIGNAL_XDESC = 1903,
    CUDNN_ATTR_OPERATION_SIGNAL_YDESC = 1904,

    /*
     * Normalisation: mode [NORM_MODE 1], phase [NORM_FWD_PHASE 1], tensors [BACKEND_DESCRIPTOR 1],
     * statistics of other devices [BACKEND_DESCRIPTOR any number].
     */
    CUDNN_ATTR_OPERATION_NORM_FWD_MODE = 2000,
    CUDNN_ATTR_OPERATION_NORM_FWD_PHASE = 2001,
    CUDNN_ATTR_OPERATION_NORM_FWD_XDESC = 2002,
    CUDNN_ATTR_OPERATION_NORM_FWD_MEAN_DESC = 2003,
    CUDNN_ATTR_OPERATION_NORM_FWD_INV_VARIANCE_DESC = 2004,
    CUDNN_ATTR_OPERATION_NORM_FWD_SCALE_DESC = 2005,
    CUDNN_ATTR_OPERATION_NORM_FWD_BIAS_DESC = 2006,
    CUDNN_ATTR_OPERATION_NORM_FWD_EPSILON_DESC = 2007,
    CUDNN_ATTR_OPERATION_NORM_FWD_EXP_AVG_FACTOR_DESC = 2008,
    CUDNN_ATTR_OPERATION_NORM_FWD_INPUT_RUNNING_MEAN_DESC = 2009,
    CUDNN_ATTR_OPERATION_NORM_FWD_INPUT_RUNNING_VAR_DESC = 2010,
    CUDNN_ATTR_OPERATION_NORM_FWD_OUTPUT_RUNNING_MEAN_DESC = 2011,
    CUDNN_ATTR_OPERATION_NORM_FWD_OUTPUT_RUNNING_VAR_DESC = 2012,
    CUDNN_ATTR_OPERATION_NORM_FWD_YDESC = 2013,
    CUDNN_ATTR_OPERATION_NORM_FWD_PEER_STAT_DESCS = 2014,

    /* Its gradient, same kinds of values. */
    CUDNN_ATTR_OPERATION_NORM_BWD_MODE = 2100,
    CUDNN_ATTR_OPERATION_NORM_BWD_XDESC = 2101,
    CUDNN_ATTR_OPERATION_NORM_BWD_MEAN_DESC = 2102,
    CUDNN_ATTR_OPERATION_NORM_BWD_INV_VARIANCE_DESC = 2103,
    CUDNN_ATTR_OPERATION_NORM_BWD_DYDESC = 2104,
    CUDNN_ATTR_OPERATION_NORM_BWD_SCALE_DESC = 2105,
    CUDNN_ATTR_OPERATION_NORM_BWD_EPSILON_DESC = 2106,
    CUDNN_ATTR_OPERATION_NORM_BWD_DSCALE_DESC = 2107,
    CUDNN_ATTR_OPERATION_NORM_BWD_DBIAS_DESC = 2108,
    CUDNN_ATTR_OPERATION_NORM_BWD_DXDESC = 2109,
    CUDNN_ATTR_OPERATION_NORM_BWD_PEER_STAT_DESCS = 2110,

    /* The same elements in another shape [BACKEND_DESCRIPTOR 1]. */
    CUDNN_ATTR_OPERATION_RESHAPE_XDESC = 2200,
    CUDNN_ATTR_OPERATION_RESHAPE_YDESC = 2201,

    /* Random numbers: distribution [RNG_DISTRIBUTION 1], its constants [DOUBLE 1]. */
    CUDNN_ATTR_RNG_DISTRIBUTION = 2300,
    CUDNN_ATTR_RNG_NORMAL_DIST_MEAN = 2301,
    CUDNN_ATTR_RNG_NORMAL_DIST_STANDARD_DEVIATION = 2302,
    CUDNN_ATTR_RNG_UNIFORM_DIST_MAXIMUM = 2303,
    CUDNN_ATTR_RNG_UNIFORM_DIST_MINIMUM = 2304,
    CUDNN_ATTR_RNG_BERNOULLI_DIST_PROBABILITY = 2305,

    /*
     * Random number node: output and distribution [BACKEND_DESCRIPTOR 1], seed [INT64 or
     * BACKEND_DESCRIPTOR 1], offset [BACKEND_DESCRIPTOR 1].
     */
    CUDNN_ATTR_OPERATION_RNG_YDESC = 2310,
    CUDNN_ATTR_OPERATION_RNG_SEED = 2311,
    CUDNN_ATTR_OPERATION_RNG_DESC = 2312,
    CUDNN_ATTR_OPERATION_RNG_OFFSET_DESC = 2313
} cudnnBackendAttributeName_t;

/* Kinds of attribute values, with the C type of one value. */
typedef enum {
    CUDNN_TYPE_HANDLE                  = 0, /* cudnnHandle_t */
    CUDNN_TYPE_DATA_TYPE               = 1, /* cudnnDataType_t */
    CUDNN_TYPE_BOOLEAN                 = 2, /* bool, one byte */
    CUDNN_TYPE_INT64                   = 3, /* int64_t */
    CUDNN_TYPE_FLOAT                   = 4, /* float */
    CUDNN_TYPE_DOUBLE                  = 5, /* double */
    CUDNN_TYPE_VOID_PTR                = 6, /* void * */
    CUDNN_TYPE_CONVOLUTION_MODE        = 7, /* cudnnConvolutionMode_t */
    CUDNN_TYPE_HEUR_MODE               = 8, /* cudnnBackendHeurMode_t */
    CUDNN_TYPE_KNOB_TYPE               = 9, /* cudnnBackendKnobType_t */
    CUDNN_TYPE_NAN_PROPOGATION         = 10, /* cudnnNanPropagation_t */
    CUDNN_TYPE_NUMERICAL_NOTE          = 11, /* cudnnBackendNumericalNote_t */
    CUDNN_TYPE_LAYOUT_TYPE             = 12, /* cudnnBackendLayoutType_t */
    CUDNN_TYPE_ATTRIB_NAME             = 13, /* cudnnBackendAttributeName_t */
    CUDNN_TYPE_POINTWISE_MODE          = 14, /* cudnnPointwiseMode_t */
    CUDNN_TYPE_BACKEND_DESCRIPTOR      = 15, /* cudnnBackendDescriptor_t */
    CUDNN_TYPE_GENSTATS_MODE           = 16, /* cudnnGenStatsMode_t */
    CUDNN_TYPE_BN_FINALIZE_STATS_MODE  = 17, /* cudnnBnFinalizeStatsMode_t */
    CUDNN_TYPE_REDUCTION_OPERATOR_TYPE = 18, /* cudnnReduceTensorOp_t */
    CUDNN_TYPE_BEHAVIOR_NOTE           = 19, /* cudnnBackendBehaviorNote_t */
    CUDNN_TYPE_TENSOR_REORDERING_MODE  = 20, /* cudnnBackendTensorReordering_t */
    CUDNN_TYPE_RESAMPLE_MODE           = 21, /* cudnnResampleMode_t */
    CUDNN_TYPE_PADDING_MODE            = 22, /* cudnnPaddingMode_t */
    CUDNN_TYPE_INT32                   = 23, /* int32_t */
    CUDNN_TYPE_CHAR                    = 24, /* char */
    CUDNN_TYPE_SIGNAL_MODE             = 25, /* cudnnSignalMode_t */
    CUDNN_TYPE_FRACTION                = 26, /* cudnnFraction_t */
    CUDNN_TYPE_NORM_MODE               = 27, /* cudnnBackendNormMode_t */
    CUDNN_TYPE_NORM_FWD_PHASE          = 28, /* cudnnBackendNormFwdPhase_t */
    CUDNN_TYPE_RNG_DISTRIBUTION        = 29 /* cudnnRngDistribution_t */
} cudnnBackendAttributeType_t;

/* What an engine does to numbers. */
typedef enum {
    CUDNN_NUMERICAL_NOTE_TENSOR_CORE = 0, /* matrix units */
    CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS = 1, /* inputs rounded to a shorter type */
    CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION = 2, /* sums in a shorter type */
    CUDNN_NUMERICAL_NOTE_FFT = 3,
    CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC = 4, /* bits may differ from run to run */
    CUDNN_NUMERICAL_NOTE_WINOGRAD = 5,
    CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_4x4 = 6,
    CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_6x6 = 7,
    CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13 = 8,
    CUDNN_NUMERICAL_NOTE_TYPE_COUNT = 9
} cudnnBackendNumericalNote_t;

/* What an engine needs or offers. */
typedef enum {
    CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION = 0, /* compiles at run time */
    CUDNN_BEHAVIOR_NOTE_REQUIRES_FILTER_INT8x32_REORDER = 1, /* wants a reordered filter */
    CUDNN_BEHAVIOR_NOTE_REQUIRES_BIAS_INT8x32_REORDER = 2, /* wants a reordered bias */
    CUDNN_BEHAVIOR_NOTE_TYPE_COUNT = 3
} cudnnBackendBehaviorNote_t;

/*
 * Tuning knobs of engines. Which of them an engine has, and their ranges, its KNOB_INFO attribute
 * tells.
 */
typedef enum {
    CUDNN_KNOB_TYPE_SPLIT_K               = 0,
    CUDNN_KNOB_TYPE_SWIZZLE               = 1,
    CUDNN_KNOB_TYPE_TILE_SIZE             = 2,
    CUDNN_KNOB_TYPE_USE_TEX               = 3,
    CUDNN_KNOB_TYPE_EDGE                  = 4,
    CUDNN_KNOB_TYPE_KBLOCK                = 5,
    CUDNN_KNOB_TYPE_LDGA                  = 6,
    CUDNN_KNOB_TYPE_LDGB                  = 7,
    CUDNN_KNOB_TYPE_CHUNK_K               = 8,
    CUDNN_KNOB_TYPE_SPLIT_H               = 9,
    CUDNN_KNOB_TYPE_WINO_TILE             = 10,
    CUDNN_KNOB_TYPE_MULTIPLY              = 11,
    CUDNN_KNOB_TYPE_SPLIT_K_BUF           = 12,
    CUDNN_KNOB_TYPE_TILEK                 = 13,
    CUDNN_KNOB_TYPE_STAGES                = 14,
    CUDNN_KNOB_TYPE_REDUCTION_MODE        = 15,
    CUDNN_KNOB_TYPE_CTA_SPLIT_K_MODE      = 16,
    CUDNN_KNOB_TYPE_SPLIT_K_SLC           = 17,
    CUDNN_KNOB_TYPE_IDX_MODE              = 18,
    CUDNN_KNOB_TYPE_SLICED                = 19,
    CUDNN_KNOB_TYPE_SPLIT_RS              = 20,
    CUDNN_KNOB_TYPE_SINGLEBUFFER          = 21,
    CUDNN_KNOB_TYPE_LDGC                  = 22,
    CUDNN_KNOB_TYPE_SPECFILT              = 23,
    CUDNN_KNOB_TYPE_KERNEL_CFG            = 24,
    CUDNN_KNOB_TYPE_WORKSPACE             = 25,
    CUDNN_KNOB_TYPE_TILE_CGA              = 26,
    CUDNN_KNOB_TYPE_TILE_CGA_M            = 27,
    CUDNN_KNOB_TYPE_TILE_CGA_N            = 28,
    CUDNN_KNOB_TYPE_BLOCK_SIZE            = 29,
    CUDNN_KNOB_TYPE_OCCUPANCY             = 30,
    CUDNN_KNOB_TYPE_ARRAY_SIZE_PER_THREAD = 31,
    CUDNN_KNOB_TYPE_NUM_C_PER_BLOCK       = 32,
    CUDNN_KNOB_TYPE_SPLIT_COLS            = 33,
    CUDNN_KNOB_TYPE_TILE_ROWS             = 34,
    CUDNN_KNOB_TYPE_TILE_COLS             = 35,
    CUDNN_KNOB_TYPE_LOAD_SIZE             = 36,
    CUDNN_KNOB_TYPE_COUNTS                = 37
} cudnnBackendKnobType_t;

/* Layouts that an engine prefers. */
typedef enum {
    CUDNN_LAYOUT_TYPE_PREFERRED_NCHW   = 0,
    CUDNN_LAYOUT_TYPE_PREFERRED_NHWC   = 1,
    CUDNN_LAYOUT_TYPE_PREFERRED_PAD4CK = 2,
    CUDNN_LAYOUT_TYPE_PREFERRED_PAD8CK = 3,
    CUDNN_LAYOUT_TYPE_COUNT            = 4
} cudnnBackendLayoutType_t;

/* How engine configurations are ranked. */
typedef enum {
    CUDNN_HEUR_MODE_INSTANT  = 0, /* old name of A */
    CUDNN_HEUR_MODE_B        = 1, /* slower, better ranking */
    CUDNN_HEUR_MODE_FALLBACK = 2, /* always works, not tuned */
    CUDNN_HEUR_MODE_A        = 3, /* quick ranking */
    CUDNN_HEUR_MODES_COUNT   = 4
} cudnnBackendHeurMode_t;

/*
 * Makes an empty descriptor of the given kind in *descriptor (host). NOT_SUPPORTED for an unknown
 * kind, BAD_PARAM when descriptor is NULL, ALLOC_FAILED when memory runs out.
 */
cudnnStatus_t CUDNNWINAPI cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t descriptorType,
    cudnnBackendDescriptor_t *descriptor);

/*
 * Frees the descriptor. NULL is accepted. Descriptors that refer to it must not be used any more.
 */
cudnnStatus_t CUDNNWINAPI cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor);

/*
 * Sets the descriptor back to the state after creation. cudnnBackendCreateDescriptor has done so
 * already.
 */
cudnnStatus_t CUDNNWINAPI cudnnBackendInitialize(cudnnBackendDescriptor_t descriptor);

/*
 * Checks all attributes of the descriptor and fixes them; from then on it can be read and used by
 * others, and not be changed. BAD_PARAM when an attribute is missing or wrong, NOT_SUPPORTED when
 * no engine can do what it describes.
 */
cudnnStatus_t CUDNNWINAPI cudnnBackendFinalize(cudnnBackendDescriptor_t descriptor);

/*
 * Sets an attribute from arrayOfElements: elementCount host values of attributeType. Only before
 * the descriptor is finalised. BAD_PARAM for a type or count that the attribute does not take, or a
 * value out of range; NOT_SUPPORTED for an attribute that this kind of descriptor does not have.
 */
cudnnStatus_t CUDNNWINAPI cudnnBackendSetAttribute(cudnnBackendDescriptor_t descriptor,
    cudnnBackendAttributeName_t attributeName, cudnnBackendAttributeType_t attributeType,
    int64_t elementCount, const void *arrayOfElements);

/*
 * Reads an attribute of a finalised descriptor into arrayOfElements (host, room for
 * requestedElementCount values); *elementCount (host, may be NULL) receives the number that there
 * are. With requestedElementCount 0 only the count is read. For attributes that are descriptors,
 * the array holds descriptors made by the caller, which are filled. BAD_PARAM for a wrong type or
 * NULL, NOT_INITIALIZED when it is not finalised.
 */
cudnnStatus_t CUDNNWINAPI cudnnBackendGetAttribute(cudnnBackendDescriptor_t const descriptor,
    cudnnBackendAttributeName_t attributeName, cudnnBackendAttributeType_t attributeType,
    int64_t requestedElementCount, int64_t *elementCount, void *arrayOfElements);

/*
 * Runs a finalised plan on the pointers of a finalised variant pack (tensor ids, engine pointers,
 * workspace), on the stream of the handle. BAD_PARAM when a tensor is missing, EXECUTION_FAILED
 * when a launch fails.
 */
cudnnStatus_t CUDNNWINAPI cudnnBackendExecute(cudnnHandle_t handle,
    cudnnBackendDescriptor_t executionPlan, cudnnBackendDescriptor_t variantPack);

#ifdef __cplusplus
}
#endif

#endif /* _CUDNN_BACKEND_H_ */
