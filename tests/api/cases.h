/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * What people who use cuDNN ran into, each case under the number it has in the project's list and with the thread it is from. */
#ifndef CASES_H
#define CASES_H

#include "api_data.h"

#define F32 CUDNN_DATA_FLOAT
#define F64 CUDNN_DATA_DOUBLE
#define F16 CUDNN_DATA_HALF
#define BF16 CUDNN_DATA_BFLOAT16
#define CROSS CUDNN_CROSS_CORRELATION

/* A plain 2-D case: n c h w, k r s, pad 1, stride 1. */
conv_case plain_2d(cudnnDataType_t type, int n, int c, int h, int w, int k, int r);
/* Runs every algorithm of every direction and compares; the three numbers of ref's families must be there. */
void check_all_algos(const conv_case *c);
/* The vendor's own limits are no failure of the test: true for its NOT_SUPPORTED. */
bool vendor_cannot(cudnnStatus_t st);

void L1_offsets_past_2_31(void **state);
void L3_odd_batch_1d_backward(void **state);
void L4_batch_1251_equals_1250(void **state);
void L5_conv3d_f16(void **state);
void L6_conv3d_bf16(void **state);
void L8_dilated_backward_data_algo_1(void **state);
void L9_every_listed_algorithm_runs(void **state);
void L10_deterministic_means_equal_bits(void **state);
void L11_queried_workspace_is_enough(void **state);
void L12_find_without_workspace(void **state);
void L13_find_leaves_operands_alone(void **state);
void L14_conv_alpha_beta(void **state);
void L14_other_alpha_beta(void **state);
void L15_guards_stay_intact(void **state);
void L16_offset_pointers(void **state);
void L18_int8x4_fused_runs_again(void **state);
void L19_conv_bias_activation(void **state);
void L20_transposed_conv(void **state);
void L21_half_with_half_or_float(void **state);
void L22_zero_sizes(void **state);
void L24_bn_inference_large_batch(void **state);
void L25_bn_training_large_batch(void **state);
void L26_bn_training_one_value(void **state);
void L27_bn_persistent_raises_nothing(void **state);
void L30_pool_padding_as_window(void **state);
void L31_max_pool_nan(void **state);
void L32_add_tensor_broadcast(void **state);
void L32_op_tensor_broadcast(void **state);
void L34_softmax_any_dimension(void **state);
void L35_softmax_offsets_past_2_32(void **state);
void L43_dropout_repeats(void **state);
void grid_of_convolutions(void **state);

/* A sparse mapping of this many bytes, or skip() where there is none to be had or a GPU works. */
void *sparse_map(size_t bytes);

#endif
