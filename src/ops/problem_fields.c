/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The words of every operation's text line, and the rules that its problems are checked by. */
#include "ops/problem_fields.h"

#include "ops/rnn.h"

#include <string.h>

static const char *const conv_modes[] = { "conv", "xcorr", NULL };
static const char *const nan_modes[] = { "stop", "pass", NULL };
static const char *const pool_modes[] = { "max", "avgpad", "avg", "maxdet", NULL };
static const char *const act_modes[] = { "sigmoid", "relu", "tanh", "crelu", "elu", "identity", "swish", NULL };
static const char *const softmax_algos[] = { "fast", "accurate", "log", NULL };
static const char *const softmax_modes[] = { "instance", "channel", NULL };
static const char *const bn_modes[] = { "peract", "spatial", "persistent", NULL };
static const char *const bn_ops[] = { "bn", "act", "addact", NULL };

static const char *const tensor_ops[] = { "add", "mul", "min", "max", "sqrt", "not", NULL };
static const char *const reduce_ops[] = { "add", "mul", "min", "max", "amax", "avg", "norm1", "norm2", "mulnz", NULL };
static const char *const index_types[] = { "u32", "u64", "u16", "u8", NULL };

#define AT(type, member) (uint16_t) offsetof(type, member)
#define ACT_AT(type, member) (uint16_t)(offsetof(type, act) + offsetof(dn_act_param, member))

static const dn_field conv_fields[] = {
    { .key = "pad", .kind = DN_FIELD_SPATIAL, .offset = AT(dn_conv_param, pad), .count_offset = AT(dn_conv_param, spatial), .standard = 0 },
    { .key = "str", .kind = DN_FIELD_SPATIAL, .offset = AT(dn_conv_param, stride), .count_offset = AT(dn_conv_param, spatial), .standard = 1 },
    { .key = "dil", .kind = DN_FIELD_SPATIAL, .offset = AT(dn_conv_param, dilation), .count_offset = AT(dn_conv_param, spatial), .standard = 1 },
    { .key = "grp", .kind = DN_FIELD_INT, .offset = AT(dn_conv_param, groups), .standard = 1 },
    { .key = "mode", .kind = DN_FIELD_NAME, .offset = AT(dn_conv_param, mode), .standard = 1, .names = conv_modes },
    { .key = "reordered", .kind = DN_FIELD_INT, .offset = AT(dn_conv_param, reordered), .standard = 0 },
    { .key = "act", .kind = DN_FIELD_NAME, .offset = ACT_AT(dn_conv_param, mode), .standard = DN_ACT_RELU, .names = act_modes, .fused_only = true },
    { .key = "nan", .kind = DN_FIELD_NAME, .offset = ACT_AT(dn_conv_param, nan), .standard = 0, .names = nan_modes, .fused_only = true },
    { .key = "coef", .kind = DN_FIELD_REAL, .offset = ACT_AT(dn_conv_param, coef), .standard = 0, .fused_only = true },
    { .key = "beta", .kind = DN_FIELD_REAL, .offset = ACT_AT(dn_conv_param, beta), .standard = 0, .fused_only = true },
    { 0 },
};
static const dn_field pool_fields[] = {
    { .key = "mode", .kind = DN_FIELD_NAME, .offset = AT(dn_pool_param, mode), .standard = 0, .names = pool_modes },
    { .key = "win", .kind = DN_FIELD_SPATIAL, .offset = AT(dn_pool_param, window), .count_offset = AT(dn_pool_param, spatial), .standard = -1 },
    { .key = "pad", .kind = DN_FIELD_SPATIAL, .offset = AT(dn_pool_param, pad), .count_offset = AT(dn_pool_param, spatial), .standard = 0 },
    { .key = "str", .kind = DN_FIELD_SPATIAL, .offset = AT(dn_pool_param, stride), .count_offset = AT(dn_pool_param, spatial), .standard = 1 },
    { .key = "nan", .kind = DN_FIELD_NAME, .offset = AT(dn_pool_param, nan), .standard = 0, .names = nan_modes },
    { 0 },
};
static const dn_field act_fields[] = {
    { .key = "act", .kind = DN_FIELD_NAME, .offset = AT(dn_act_param, mode), .standard = DN_ACT_RELU, .names = act_modes },
    { .key = "nan", .kind = DN_FIELD_NAME, .offset = AT(dn_act_param, nan), .standard = 0, .names = nan_modes },
    { .key = "coef", .kind = DN_FIELD_REAL, .offset = AT(dn_act_param, coef), .standard = 0 },
    { .key = "beta", .kind = DN_FIELD_REAL, .offset = AT(dn_act_param, beta), .standard = 0 },
    { 0 },
};
static const dn_field softmax_fields[] = {
    { .key = "algo", .kind = DN_FIELD_NAME, .offset = AT(dn_softmax_param, algo), .standard = 1, .names = softmax_algos },
    { .key = "mode", .kind = DN_FIELD_NAME, .offset = AT(dn_softmax_param, mode), .standard = 0, .names = softmax_modes },
    { 0 },
};
static const dn_field bn_fields[] = {
    { .key = "mode", .kind = DN_FIELD_NAME, .offset = AT(dn_bn_param, mode), .standard = 1, .names = bn_modes },
    { .key = "ops", .kind = DN_FIELD_NAME, .offset = AT(dn_bn_param, ops), .standard = 0, .names = bn_ops },
    { .key = "act", .kind = DN_FIELD_NAME, .offset = ACT_AT(dn_bn_param, mode), .standard = DN_ACT_RELU, .names = act_modes },
    { .key = "nan", .kind = DN_FIELD_NAME, .offset = ACT_AT(dn_bn_param, nan), .standard = 0, .names = nan_modes },
    { .key = "coef", .kind = DN_FIELD_REAL, .offset = ACT_AT(dn_bn_param, coef), .standard = 0 },
    { .key = "beta", .kind = DN_FIELD_REAL, .offset = ACT_AT(dn_bn_param, beta), .standard = 0 },
    { 0 },
};
static const dn_field tensor_op_fields[] = {
    { .key = "op", .kind = DN_FIELD_NAME, .offset = AT(dn_tensor_op_param, op), .standard = 0, .names = tensor_ops },
    { .key = "nan", .kind = DN_FIELD_NAME, .offset = AT(dn_tensor_op_param, nan), .standard = 0, .names = nan_modes },
    { 0 },
};
static const dn_field reduce_fields[] = {
    { .key = "op", .kind = DN_FIELD_NAME, .offset = AT(dn_reduce_param, op), .standard = 0, .names = reduce_ops },
    { .key = "nan", .kind = DN_FIELD_NAME, .offset = AT(dn_reduce_param, nan), .standard = 0, .names = nan_modes },
    { .key = "idx", .kind = DN_FIELD_INT, .offset = AT(dn_reduce_param, indices), .standard = 0 },
    { .key = "idxtype", .kind = DN_FIELD_NAME, .offset = AT(dn_reduce_param, index_type), .standard = 0, .names = index_types },
    { 0 },
};
static const dn_field lrn_fields[] = {
    { .key = "n", .kind = DN_FIELD_INT, .offset = AT(dn_lrn_param, n), .standard = 5 },
    { .key = "alpha", .kind = DN_FIELD_REAL, .offset = AT(dn_lrn_param, alpha), .standard = 1e-4 },
    { .key = "beta", .kind = DN_FIELD_REAL, .offset = AT(dn_lrn_param, beta), .standard = 0.75 },
    { .key = "k", .kind = DN_FIELD_REAL, .offset = AT(dn_lrn_param, k), .standard = 2 },
    { 0 },
};
static const char *const folds[] = { "fold", "unfold", NULL };
static const dn_field transform_fields[] = {
    { .key = "dir", .kind = DN_FIELD_NAME, .offset = AT(dn_transform_param, fold), .standard = 0, .names = folds },
    { .key = "by", .kind = DN_FIELD_SPATIAL, .offset = AT(dn_transform_param, by), .count_offset = AT(dn_transform_param, spatial), .standard = 1 },
    { .key = "before", .kind = DN_FIELD_DIMS, .offset = AT(dn_transform_param, before), .count_offset = AT(dn_transform_param, spatial), .standard = 0 },
    { .key = "after", .kind = DN_FIELD_DIMS, .offset = AT(dn_transform_param, after), .count_offset = AT(dn_transform_param, spatial), .standard = 0 },
    { 0 },
};
static const char *const rnn_cells[] = { "relu", "tanh", "lstm", "gru", NULL };
static const char *const rnn_biases[] = { "none", "input", "double", "recurrent", NULL };
static const char *const rnn_layouts[] = { "time", "packed", "batch", NULL };
static const dn_field rnn_fields[] = {
    { .key = "cell", .kind = DN_FIELD_NAME, .offset = AT(dn_rnn_param, cell), .standard = DN_RNN_LSTM, .names = rnn_cells },
    { .key = "in", .kind = DN_FIELD_INT, .offset = AT(dn_rnn_param, input), .standard = 0 },
    { .key = "hid", .kind = DN_FIELD_INT, .offset = AT(dn_rnn_param, hidden), .standard = 0 },
    { .key = "proj", .kind = DN_FIELD_INT, .offset = AT(dn_rnn_param, proj), .standard = 0 },
    { .key = "layers", .kind = DN_FIELD_INT, .offset = AT(dn_rnn_param, layers), .standard = 1 },
    { .key = "bi", .kind = DN_FIELD_INT, .offset = AT(dn_rnn_param, bidirectional), .standard = 0 },
    { .key = "skip", .kind = DN_FIELD_INT, .offset = AT(dn_rnn_param, skip), .standard = 0 },
    { .key = "bias", .kind = DN_FIELD_NAME, .offset = AT(dn_rnn_param, bias), .standard = DN_RNN_BIAS_DOUBLE, .names = rnn_biases },
    { .key = "layout", .kind = DN_FIELD_NAME, .offset = AT(dn_rnn_param, layout), .standard = 0, .names = rnn_layouts },
    { .key = "clip", .kind = DN_FIELD_INT, .offset = AT(dn_rnn_param, clip), .standard = 0 },
    { .key = "lclip", .kind = DN_FIELD_REAL, .offset = AT(dn_rnn_param, lclip), .standard = 0 },
    { .key = "rclip", .kind = DN_FIELD_REAL, .offset = AT(dn_rnn_param, rclip), .standard = 0 },
    { .key = "clipnan", .kind = DN_FIELD_NAME, .offset = AT(dn_rnn_param, clip_nan), .standard = 0, .names = nan_modes },
    { .key = "drop", .kind = DN_FIELD_INT, .offset = AT(dn_rnn_param, dropout), .standard = 0 },
    { 0 },
};
static const char *const ctc_norms[] = { "none", "softmax", NULL };
static const dn_field ctc_fields[] = {
    { .key = "norm", .kind = DN_FIELD_NAME, .offset = AT(dn_ctc_param, norm), .standard = 1, .names = ctc_norms },
    { .key = "skip", .kind = DN_FIELD_INT, .offset = AT(dn_ctc_param, skip), .standard = 0 },
    { .key = "labels", .kind = DN_FIELD_INT, .offset = AT(dn_ctc_param, max_label), .standard = 0 },
    { .key = "host", .kind = DN_FIELD_INT, .offset = AT(dn_ctc_param, host), .standard = 0 },
    { 0 },
};
static const dn_field sba_fields[] = {
    { .key = "scale", .kind = DN_FIELD_INT, .offset = AT(dn_fused_param, scale), .standard = 1 },
    { .key = "bias", .kind = DN_FIELD_INT, .offset = AT(dn_fused_param, bias), .standard = 1 },
    { .key = "scale2", .kind = DN_FIELD_INT, .offset = AT(dn_fused_param, scale2), .standard = 0 },
    { .key = "bias2", .kind = DN_FIELD_INT, .offset = AT(dn_fused_param, bias2), .standard = 0 },
    { .key = "act", .kind = DN_FIELD_NAME, .offset = ACT_AT(dn_fused_param, mode), .standard = DN_ACT_RELU, .names = act_modes },
    { .key = "nan", .kind = DN_FIELD_NAME, .offset = ACT_AT(dn_fused_param, nan), .standard = 0, .names = nan_modes },
    { .key = "coef", .kind = DN_FIELD_REAL, .offset = ACT_AT(dn_fused_param, coef), .standard = 0 },
    { .key = "beta", .kind = DN_FIELD_REAL, .offset = ACT_AT(dn_fused_param, beta), .standard = 0 },
    { 0 },
};
static const dn_field stats_fields[] = {
    { .key = "sum", .kind = DN_FIELD_INT, .offset = AT(dn_fused_param, sum), .standard = 1 },
    { .key = "sqsum", .kind = DN_FIELD_INT, .offset = AT(dn_fused_param, sqsum), .standard = 1 },
    { 0 },
};
static const dn_field bn_final_fields[] = {
    { .key = "scale", .kind = DN_FIELD_INT, .offset = AT(dn_fused_param, scale), .standard = 1 },
    { .key = "bias", .kind = DN_FIELD_INT, .offset = AT(dn_fused_param, bias), .standard = 1 },
    { .key = "scale2", .kind = DN_FIELD_INT, .offset = AT(dn_fused_param, scale2), .standard = 1 },
    { .key = "bias2", .kind = DN_FIELD_INT, .offset = AT(dn_fused_param, bias2), .standard = 1 },
    { .key = "running", .kind = DN_FIELD_INT, .offset = AT(dn_fused_param, running), .standard = 1 },
    { .key = "saved", .kind = DN_FIELD_INT, .offset = AT(dn_fused_param, saved), .standard = 1 },
    { 0 },
};
static const dn_field attn_fields[] = {
    { .key = "heads", .kind = DN_FIELD_INT, .offset = AT(dn_attn_param, heads), .standard = 1 },
    { .key = "qp", .kind = DN_FIELD_INT, .offset = AT(dn_attn_param, q_proj), .standard = 0 },
    { .key = "kp", .kind = DN_FIELD_INT, .offset = AT(dn_attn_param, k_proj), .standard = 0 },
    { .key = "vp", .kind = DN_FIELD_INT, .offset = AT(dn_attn_param, v_proj), .standard = 0 },
    { .key = "op", .kind = DN_FIELD_INT, .offset = AT(dn_attn_param, o_proj), .standard = 0 },
    { .key = "bias", .kind = DN_FIELD_INT, .offset = AT(dn_attn_param, bias), .standard = 0 },
    { .key = "res", .kind = DN_FIELD_INT, .offset = AT(dn_attn_param, residual), .standard = 0 },
    { .key = "drop", .kind = DN_FIELD_INT, .offset = AT(dn_attn_param, dropout), .standard = 0 },
    { .key = "post", .kind = DN_FIELD_INT, .offset = AT(dn_attn_param, post), .standard = 0 },
    { .key = "scale", .kind = DN_FIELD_REAL, .offset = AT(dn_attn_param, scale), .standard = 1 },
    { 0 },
};
static const dn_field no_fields[] = { { 0 } };

const dn_op_info dn_ops[DN_OP_COUNT] = {
    [DN_OP_CONV] = { "conv", conv_fields, dn_conv_check },
    [DN_OP_CONV_BIAS_ACT] = { "convba", conv_fields, dn_conv_check },
    [DN_OP_POOL] = { "pool", pool_fields, dn_pool_check },
    [DN_OP_ACT] = { "act", act_fields, dn_act_check },
    [DN_OP_SOFTMAX] = { "softmax", softmax_fields, dn_softmax_check },
    [DN_OP_BN] = { "bn", bn_fields, dn_bn_check },
    [DN_OP_DROPOUT] = { "dropout", no_fields, dn_dropout_check },
    [DN_OP_ADD] = { "add", no_fields, dn_pointwise_check },
    [DN_OP_SCALE] = { "scale", no_fields, dn_pointwise_check },
    [DN_OP_SET] = { "set", no_fields, dn_pointwise_check },
    [DN_OP_TRANSFORM] = { "transform", no_fields, dn_pointwise_check },
    [DN_OP_TENSOR] = { "optensor", tensor_op_fields, dn_tensor_op_check },
    [DN_OP_REDUCE] = { "reduce", reduce_fields, dn_reduce_check },
    [DN_OP_TRANSFORM_EX] = { "transformex", transform_fields, dn_transform_ex_check },
    [DN_OP_IM2COL] = { "im2col", conv_fields, dn_im2col_check },
    [DN_OP_LRN] = { "lrn", lrn_fields, dn_lrn_check },
    [DN_OP_DIVNORM] = { "divnorm", lrn_fields, dn_divnorm_check },
    [DN_OP_ST_GRID] = { "stgrid", no_fields, dn_st_grid_check },
    [DN_OP_ST_SAMPLER] = { "stsample", no_fields, dn_st_sampler_check },
    [DN_OP_RNN] = { "rnn", rnn_fields, dn_rnn_check },
    [DN_OP_SBA] = { "sba", sba_fields, dn_sba_check },
    [DN_OP_STATS] = { "stats", stats_fields, dn_stats_check },
    [DN_OP_BN_FINAL] = { "bnfinal", bn_final_fields, dn_bn_final_check },
    [DN_OP_CTC] = { "ctc", ctc_fields, dn_ctc_check },
    [DN_OP_ATTN] = { "attn", attn_fields, dn_attn_check },
};
const char *const dn_dir_words[DN_DIR_COUNT] = { "fwd", "bwd_data", "bwd_filter", "bwd_bias", "bwd", "infer", "train" };
const char *const dn_role_words[DN_ROLE_COUNT] = { "x", "y", "w", "z", "b", "dx", "dy", "dz" };
const char *const dn_math_words[DN_MATH_WORDS] = { "default", "tensor", "convert", "fma" };
const dn_flag_word dn_flag_words[DN_FLAG_WORDS] = {
    { "beta0", DN_F_BETA_ZERO }, { "det", DN_F_DETERMINISTIC }, { "inplace", DN_F_IN_PLACE },
};

const void *dn_field_at(const dn_problem *p, size_t offset)
{
    return (const unsigned char *)&p->u + offset;
}

int32_t dn_field_int(const dn_problem *p, size_t offset)
{
    int32_t v;
    memcpy(&v, dn_field_at(p, offset), sizeof v);
    return v;
}

int dn_field_names(const dn_field *f)
{
    int n = 0;
    while (f->names[n])
        n++;
    return n;
}

int dn_field_length(const dn_problem *p, const dn_field *f)
{
    int n = dn_field_int(p, f->count_offset), max = f->kind == DN_FIELD_DIMS ? DN_RANK_MAX : DN_SPATIAL_MAX;
    n += f->kind == DN_FIELD_DIMS ? 2 : 0;
    return n < max ? n : max;
}
