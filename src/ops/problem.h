/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * A problem is a plain value that says everything about one call but where its data lies: operation, direction, types, shapes,
 * strides, parameters. Its bytes are the key of the plan cache, so it is zero-filled before it is built (dn_problem_init).
 * What may change between two runs of one plan (pointers, alpha, beta, workspace) is dn_args. */
#ifndef DN_OPS_PROBLEM_H
#define DN_OPS_PROBLEM_H

#include "core/dtype.h"
#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DN_RANK_MAX 8
#define DN_SPATIAL_MAX 6  /* DN_RANK_MAX less batch and channel */
#define DN_COUNT_MAX ((int64_t)1 << 52)  /* elements of a tensor: the bytes of what rows make of so many still fit 64 bits */

typedef enum dn_op {
    DN_OP_CONV,           /* cross-correlation or convolution and its three gradients */
    DN_OP_CONV_BIAS_ACT,  /* y = act(alpha1 * conv(x, w) + alpha2 * z + bias) */
    DN_OP_POOL,
    DN_OP_ACT,
    DN_OP_SOFTMAX,
    DN_OP_BN,             /* batch normalisation */
    DN_OP_DROPOUT,
    DN_OP_ADD,            /* Y = alpha * X + beta * Y, X broadcast along its dimensions of size 1 */
    DN_OP_SCALE,          /* Y = alpha * Y */
    DN_OP_SET,            /* Y = value */
    DN_OP_TRANSFORM,      /* Y = alpha * X + beta * Y, another layout or type */
    DN_OP_TENSOR,         /* Y = op(alpha * X, alpha2 * B) + beta * Y, B broadcast along its dimensions of size 1 */
    DN_OP_REDUCE,         /* Y = alpha * reduce(X) + beta * Y over the dimensions where Y has size 1 */
    DN_OP_TRANSFORM_EX,   /* Y = alpha * fold or unfold(pad(X)) + beta * Y */
    DN_OP_IM2COL,         /* Y = the windows of X as columns: W is a description only */
    DN_OP_LRN,            /* local response normalisation across channels */
    DN_OP_DIVNORM,        /* divisive normalisation; B holds the means, DZ their gradient */
    DN_OP_ST_GRID,        /* spatial transformer: X is theta (n x 2 x 3), Y the grid (n x h x w x 2) */
    DN_OP_ST_SAMPLER,     /* spatial transformer: Y = X sampled at the grid B; DZ is the grid's gradient */
    DN_OP_RNN,            /* recurrent network (ops/rnn.h): X, Y are sequences, W the weight space; infer train bwd_data bwd_filter */
    DN_OP_CTC,            /* connectionist temporal classification (ops/ctc.h): X holds time x batch x classes, DX the gradients if wanted */
    DN_OP_SBA,            /* ops/fused.h: Y = act(X and Z scaled and shifted by channel), B its bit mask; bwd_data: DX = DY where B has a bit */
    DN_OP_STATS,          /* sums and sums of squares of X by channel */
    DN_OP_BN_FINAL,       /* such sums, or running statistics, to what a normalisation multiplies by and adds */
    DN_OP_ATTN,           /* multi-head attention (ops/attn.h): X queries, B keys, Z values, W weights; infer train bwd_data bwd_filter */
    DN_OP_COUNT
} dn_op;

typedef enum dn_dir {
    DN_DIR_FWD,
    DN_DIR_BWD_DATA,    /* gradient by the input */
    DN_DIR_BWD_FILTER,  /* gradient by the filter (conv) */
    DN_DIR_BWD_BIAS,    /* gradient by the bias (conv) */
    DN_DIR_BWD,         /* all gradients in one call (batch normalisation) */
    DN_DIR_INFER,
    DN_DIR_TRAIN,
    DN_DIR_COUNT
} dn_dir;

/* Which tensor of the call. In a convolution a gradient has the description of what it is the gradient of and stands under the
 * same role: for backward data DN_X is dx and DN_Y is dy, for backward filter DN_W is dw. In pooling, activation, softmax and
 * batch normalisation both may be there, with layouts of their own, so gradients have roles of their own. */
typedef enum dn_role {
    DN_X,   /* input */
    DN_Y,   /* output */
    DN_W,   /* filter; scale and bias in batch normalisation */
    DN_Z,   /* what is added before the activation */
    DN_B,   /* bias; mean and variance in the Normalization API */
    DN_DX,
    DN_DY,
    DN_DZ,
    DN_ROLE_COUNT
} dn_role;

/* rank 0 means "not part of this problem". dims and strides count scalars, except that for a vectorised type (vect 4 or 32)
 * dims[vect_dim] counts scalars and the strides count vectors, as cuDNN does. NCHW and NHWC are just strides. */
typedef struct dn_tensor {
    uint8_t type;      /* dn_dtype */
    uint8_t rank;      /* 0 .. DN_RANK_MAX */
    uint8_t vect;      /* scalars per stored unit, 1 for plain types */
    uint8_t vect_dim;  /* the dimension that vectors run along (1, the channel) */
    uint32_t zero;     /* always 0: no padding bytes in the key */
    int64_t dims[DN_RANK_MAX];
    int64_t strides[DN_RANK_MAX];
} dn_tensor;

/* Parameters by operation. Spatial arrays are in the order of the tensor's spatial dimensions ((d,) h, w). */
typedef struct dn_act_param {
    int32_t mode;  /* dn_act_mode */
    int32_t nan;   /* 1: NaN goes through */
    double coef;   /* ceiling of clipped ReLU, alpha of ELU; ReLU does not read it (nor does the vendor) */
    double beta;   /* of swish */
} dn_act_param;

typedef struct dn_conv_param {
    int32_t spatial;  /* number of spatial dimensions, 1 .. DN_SPATIAL_MAX */
    int32_t mode;     /* 0: convolution (filter flipped), 1: cross-correlation; cudnnConvolutionMode_t's numbers */
    int32_t groups;
    int32_t pad[DN_SPATIAL_MAX], stride[DN_SPATIAL_MAX], dilation[DN_SPATIAL_MAX];
    int32_t reordered;  /* 1: an INT8x32 filter, and the bias, lie as cudnnReorderFilterAndBias puts them */
    dn_act_param act;  /* DN_OP_CONV_BIAS_ACT only */
} dn_conv_param;

typedef struct dn_pool_param {
    int32_t spatial;
    int32_t mode;  /* 0 max, 1 average with padding counted, 2 average without, 3 max deterministic; cudnnPoolingMode_t */
    int32_t nan;   /* 1: NaN goes through */
    int32_t window[DN_SPATIAL_MAX], pad[DN_SPATIAL_MAX], stride[DN_SPATIAL_MAX];
} dn_pool_param;

typedef struct dn_softmax_param {
    int32_t algo;  /* 0 fast, 1 accurate (maximum subtracted), 2 log; cudnnSoftmaxAlgorithm_t */
    int32_t mode;  /* 0 instance (over c, h, w), 1 channel (over c); cudnnSoftmaxMode_t */
} dn_softmax_param;

typedef struct dn_bn_param {
    int32_t mode;      /* 0 per activation, 1 spatial, 2 spatial persistent; cudnnBatchNormMode_t */
    int32_t ops;       /* 0 norm, 1 norm + activation, 2 norm + add + activation; cudnnBatchNormOps_t */
    dn_act_param act;  /* where ops asks for it */
} dn_bn_param;

typedef struct dn_tensor_op_param {
    int32_t op;    /* 0 add, 1 mul, 2 min, 3 max, 4 sqrt of X, 5 not (1 - X); cudnnOpTensorOp_t */
    int32_t nan;   /* 1: NaN goes through min and max */
} dn_tensor_op_param;

typedef struct dn_reduce_param {
    int32_t op;          /* 0 add, 1 mul, 2 min, 3 max, 4 amax, 5 avg, 6 norm1, 7 norm2, 8 mul without zeros; cudnnReduceTensorOp_t */
    int32_t nan;         /* 1: NaN goes through min, max, amax */
    int32_t indices;     /* 1: flattened indices of min, max, amax are wanted (DN_AUX_INDICES) */
    int32_t index_type;  /* 0 u32, 1 u64, 2 u16, 3 u8; cudnnIndicesType_t */
} dn_reduce_param;

typedef struct dn_transform_param {
    int32_t spatial;     /* number of spatial dimensions */
    int32_t fold;        /* 0 fold, 1 unfold; cudnnFoldingDirection_t */
    int32_t before[DN_RANK_MAX], after[DN_RANK_MAX];  /* padding per dimension, negative crops */
    int32_t by[DN_SPATIAL_MAX];                       /* folding factor per spatial dimension */
} dn_transform_param;

typedef struct dn_lrn_param {
    int32_t n;           /* window, in channels (LRN) or pixels (divisive) */
    int32_t zero;
    double alpha, beta, k;
} dn_lrn_param;

/* Sequence tensors X and Y (DX, DY) have rank 3: time, batch, vector, in that order whatever the layout, with that layout's strides. */
typedef struct dn_rnn_param {
    int32_t cell;           /* 0 ReLU, 1 tanh, 2 LSTM, 3 GRU; cudnnRNNMode_t */
    int32_t bidirectional;  /* 1: both directions, side by side in Y */
    int32_t layers;
    int32_t input, hidden;  /* sizes of an element of X and of a layer's state */
    int32_t proj;           /* size of the recurrent output after projection (LSTM); hidden where there is none */
    int32_t skip;           /* 1: X goes to the gates of the first layer without a matrix (input == hidden) */
    int32_t bias;           /* 0 none, 1 single in the input product, 2 double, 3 single in the recurrent product; cudnnRNNBiasMode_t */
    int32_t clip;           /* 1: the cell state of an LSTM is clipped to lclip .. rclip */
    int32_t clip_nan;       /* 1: NaN goes through clipping */
    int32_t layout;         /* 0 time major with padding, 1 packed, 2 batch major with padding; cudnnRNNDataLayout_t */
    int32_t dropout;        /* 1: between layers, by dn_args.dropout and DN_AUX_STATES (training) */
    double lclip, rclip;
} dn_rnn_param;

typedef struct dn_ctc_param {
    int32_t norm;           /* 0: X holds probabilities, 1: what a softmax makes probabilities of; cudnnLossNormalizationMode_t */
    int32_t skip;           /* 1: the gradients of a sample that is too short for its labels are left alone, 0: they are 0 */
    int32_t max_label;      /* the longest label sequence that there is room for */
    int32_t host;           /* 1: labels and lengths lie in host memory (dn_args.labels ...), 0: in the handle's (DN_AUX_LABELS ...) */
} dn_ctc_param;

/* Sizes after the projections, 0 where there is none. */
typedef struct dn_attn_param {
    int32_t heads;
    int32_t q_proj, k_proj, v_proj, o_proj;
    int32_t bias;           /* 1: the projections that there are have biases */
    int32_t residual;       /* 1: DN_AUX_RESIDUAL is added to the output */
    int32_t dropout;        /* 1: of the probabilities, by dn_args.dropout and DN_AUX_STATES (training) */
    int32_t post;           /* 1: of the output, by dn_args.dropout2 and DN_AUX_STATES2 (training) */
    int32_t zero;
    double scale;           /* of the scores */
} dn_attn_param;

/* Which arrays there are, 0 or 1 each (ops/fused.h) */
typedef struct dn_fused_param {
    int32_t scale, bias, scale2, bias2;  /* DN_OP_SBA, DN_OP_BN_FINAL */
    int32_t sum, sqsum;                  /* DN_OP_STATS */
    int32_t running, saved;              /* DN_OP_BN_FINAL train; an array of these pairs that is NULL is not written */
    dn_act_param act;                    /* DN_OP_SBA */
} dn_fused_param;

/* cudnnActivationMode_t's numbers */
typedef enum dn_act_mode {
    DN_ACT_SIGMOID, DN_ACT_RELU, DN_ACT_TANH, DN_ACT_CLIPPED_RELU, DN_ACT_ELU, DN_ACT_IDENTITY, DN_ACT_SWISH, DN_ACT_COUNT
} dn_act_mode;

enum { DN_MATH_FMA = 3 };  /* cudnnMathType_t: no tensor cores, f32 in full */

/* problem flags */
enum {
    DN_F_BETA_ZERO = 1,      /* every beta is 0: outputs are not read */
    DN_F_DETERMINISTIC = 2,  /* only rows that give equal bits from run to run */
    DN_F_IN_PLACE = 4,       /* an output is an input (same pointer) */
};

typedef struct dn_problem {
    uint8_t op;       /* dn_op */
    uint8_t dir;      /* dn_dir */
    uint8_t math;     /* cudnnMathType_t: 0 default, 1 tensor op, 2 tensor op with conversion, 3 FMA only */
    uint8_t compute;  /* dn_dtype of the arithmetic asked for (conv); the wider of f32 and the data's type elsewhere */
    int16_t algo;     /* the caller's algorithm number, or -1 for any */
    uint16_t flags;
    uint8_t align[DN_ROLE_COUNT];  /* largest of 16, 8, 4, 2, 1 that divides the role's pointer; 16 in a query, 0 if unused */
    union {
        dn_conv_param conv;
        dn_pool_param pool;
        dn_act_param act;
        dn_softmax_param softmax;
        dn_bn_param bn;
        dn_tensor_op_param tensor_op;
        dn_reduce_param reduce;
        dn_transform_param transform;
        dn_lrn_param lrn;
        dn_rnn_param rnn;
        dn_fused_param fused;
        dn_ctc_param ctc;
        dn_attn_param attn;
    } u;
    dn_tensor t[DN_ROLE_COUNT];
} dn_problem;

/* Further pointers, by use rather than by shape. All in the handle's memory space. */
typedef enum dn_aux {
    DN_AUX_SCALE, DN_AUX_BIAS,           /* batch normalisation parameters (in) */
    DN_AUX_MEAN, DN_AUX_VAR,             /* running or estimated statistics (in and out) */
    DN_AUX_SAVE_MEAN, DN_AUX_SAVE_INVSTD,
    DN_AUX_DSCALE, DN_AUX_DBIAS,
    DN_AUX_STATES,                       /* dropout state */
    DN_AUX_INDICES,                      /* of a reduction (out) */
    DN_AUX_TEMP, DN_AUX_TEMP2,           /* scratch that the call's own arguments bring (divisive normalisation) */
    DN_AUX_HX, DN_AUX_HY, DN_AUX_CX, DN_AUX_CY,      /* initial and final states of a recurrent network; NULL: zeros, not wanted */
    DN_AUX_DHX, DN_AUX_DHY, DN_AUX_DCX, DN_AUX_DCY,  /* their gradients */
    DN_AUX_LABELS, DN_AUX_LABEL_LENGTHS, DN_AUX_INPUT_LENGTHS,  /* CTC, int32: all labels one after another, counts by sample */
    DN_AUX_COSTS,                        /* CTC (out), of X's type */
    DN_AUX_SUM, DN_AUX_SQSUM,            /* sums and sums of squares */
    DN_AUX_SCALE2, DN_AUX_BIAS2,         /* of Z; the equivalent ones of a normalisation (out) */
    DN_AUX_LENGTHS_QO, DN_AUX_LENGTHS_KV,  /* attention, int32: lengths of sequences, batch by beam */
    DN_AUX_RESIDUAL,                     /* attention: added to the output */
    DN_AUX_DKEYS, DN_AUX_DVALUES,        /* attention: gradients by B and Z (out) */
    DN_AUX_STATES2,                      /* attention: dropout state for the output */
    DN_AUX_COUNT
} dn_aux;

typedef struct dn_args {
    void *ptr[DN_ROLE_COUNT];  /* inputs are not written, whatever the const-ness here */
    void *aux[DN_AUX_COUNT];
    double alpha, beta;        /* out = alpha * result + beta * out */
    double alpha2, beta2;      /* parameter gradients (batch normalisation); alpha2 scales z in conv-bias-act */
    double eps, factor;        /* batch normalisation: epsilon, exponential average factor */
    double value[32];          /* DN_OP_SET: the value per scalar of one stored unit */
    float dropout;             /* probability that an element is dropped */
    float dropout2;            /* the same for the output of attention */
    const int32_t *lengths;    /* host: sequence lengths by batch element (recurrent networks) */
    const int32_t *labels, *label_lengths;  /* host, with lengths: CTC where its problem says host */
    int64_t count;             /* DN_OP_BN_FINAL: elements behind a sum */
    const int32_t *lo, *hi;    /* host: attention, the keys that the query at each time sees: lo <= key < hi */
    int32_t step;              /* attention: the only time of the queries to be computed, or -1 for all */
    double fill;               /* recurrent networks: what unpacked outputs get past a sequence's end */
    void *workspace;
    size_t workspace_size;
    void *reserve;
    size_t reserve_size;
} dn_args;

/* --- tensor (ops/tensor.c) --- */
/* Row-major packed strides for t's dims in dimension order. False where the count of elements overflows int64. */
bool dn_tensor_pack(dn_tensor *t);
/* The same with the channel (dimension 1) innermost. */
bool dn_tensor_pack_nhwc(dn_tensor *t);
int64_t dn_tensor_count(const dn_tensor *t);  /* product of dims */
bool dn_tensor_countable(const dn_tensor *t);  /* the product is at most DN_COUNT_MAX, which overlapping strides do not ensure */
/* Lowest and highest offset in stored units that any element has; false on overflow of int64. */
bool dn_tensor_span(const dn_tensor *t, int64_t *lo, int64_t *hi);
bool dn_tensor_is_packed(const dn_tensor *t);       /* dimension order, strides of dims of size 1 ignored */
bool dn_tensor_is_packed_nhwc(const dn_tensor *t);
bool dn_tensor_is_dense(const dn_tensor *t);        /* some order of dimensions leaves no gap and no overlap */
bool dn_tensor_same_dims(const dn_tensor *a, const dn_tensor *b);
bool dn_tensor_same_layout(const dn_tensor *a, const dn_tensor *b);  /* dims and the strides of dims over 1 */
/* "n16c64h56w56:f16:nhwc" into buf; answers the length that was needed. role picks the letters. */
int dn_tensor_print(const dn_tensor *t, dn_role role, char *buf, size_t size);

/* --- problem (ops/problem.c, ops/problem_parse.c; their words: ops/problem_fields.c) --- */
void dn_problem_init(dn_problem *p, dn_op op, dn_dir dir);  /* zero-fills; algo -1, align 16 for no role yet */
/* "conv fwd x=n16c64h56w56:f16:nhwc w=k64c64r3s3:f16:nhwc y=... pad=1 str=1 dil=1 grp=1 ..." Answers the length needed. */
int dn_problem_print(const dn_problem *p, char *buf, size_t size);
/* The same line back. On BAD_PARAM the last-error text names word and rule. */
dn_status dn_problem_parse(const char *line, dn_problem *p);
uint64_t dn_problem_hash(const dn_problem *p);
bool dn_problem_equal(const dn_problem *a, const dn_problem *b);
const char *dn_op_name(dn_op op);
const char *dn_dir_name(dn_dir dir);

/* --- one file per operation: shape rules. Each fills no pointers, checks the problem's tensors against each other and answers
 * BAD_PARAM or NOT_SUPPORTED with a text, or SUCCESS. Called by src/api before a problem reaches the core, and by the parser. --- */
dn_status dn_conv_check(const dn_problem *p);
dn_status dn_pool_check(const dn_problem *p);
dn_status dn_act_check(const dn_problem *p);
dn_status dn_softmax_check(const dn_problem *p);
dn_status dn_bn_check(const dn_problem *p);
dn_status dn_dropout_check(const dn_problem *p);
dn_status dn_pointwise_check(const dn_problem *p);  /* ADD SCALE SET TRANSFORM */
dn_status dn_tensor_op_check(const dn_problem *p);
dn_status dn_reduce_check(const dn_problem *p);
dn_status dn_transform_ex_check(const dn_problem *p);
dn_status dn_im2col_check(const dn_problem *p);
dn_status dn_lrn_check(const dn_problem *p);
dn_status dn_divnorm_check(const dn_problem *p);
dn_status dn_st_grid_check(const dn_problem *p);
dn_status dn_st_sampler_check(const dn_problem *p);
dn_status dn_rnn_check(const dn_problem *p);
dn_status dn_ctc_check(const dn_problem *p);
dn_status dn_attn_check(const dn_problem *p);
dn_status dn_sba_check(const dn_problem *p);
dn_status dn_stats_check(const dn_problem *p);
dn_status dn_bn_final_check(const dn_problem *p);
dn_status dn_problem_check(const dn_problem *p);    /* dispatches by op */

/* out = 1 + (in + 2 pad - ((window - 1) dilation + 1)) / stride, rounded down; may be <= 0, which the caller refuses. */
int64_t dn_conv_out_dim(int64_t in, int64_t window, int64_t pad, int64_t stride, int64_t dilation);

#endif
