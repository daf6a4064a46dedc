/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Runs the cases on the engine that ANYDNN_ENGINE names. */
#include "cases.h"

static const struct CMUnitTest tests[] = {
    DATA_TEST(grid_of_convolutions),
    DATA_TEST(L1_offsets_past_2_31), DATA_TEST(L3_odd_batch_1d_backward), DATA_TEST(L4_batch_1251_equals_1250),
    DATA_TEST(L5_conv3d_f16), DATA_TEST(L6_conv3d_bf16), DATA_TEST(L8_dilated_backward_data_algo_1),
    DATA_TEST(L9_every_listed_algorithm_runs), DATA_TEST(L10_deterministic_means_equal_bits),
    DATA_TEST(L11_queried_workspace_is_enough), DATA_TEST(L12_find_without_workspace), DATA_TEST(L13_find_leaves_operands_alone),
    DATA_TEST(L14_conv_alpha_beta), DATA_TEST(L14_other_alpha_beta), DATA_TEST(L15_guards_stay_intact),
    DATA_TEST(L16_offset_pointers), DATA_TEST(L18_int8x4_fused_runs_again), DATA_TEST(L19_conv_bias_activation),
    DATA_TEST(L20_transposed_conv),
    DATA_TEST(L21_half_with_half_or_float), DATA_TEST(L22_zero_sizes), DATA_TEST(L24_bn_inference_large_batch),
    DATA_TEST(L25_bn_training_large_batch), DATA_TEST(L26_bn_training_one_value),
    DATA_TEST(L27_bn_persistent_raises_nothing), DATA_TEST(L30_pool_padding_as_window),
    DATA_TEST(L31_max_pool_nan), DATA_TEST(L32_add_tensor_broadcast), DATA_TEST(L32_op_tensor_broadcast), DATA_TEST(L34_softmax_any_dimension),
    DATA_TEST(L35_softmax_offsets_past_2_32), DATA_TEST(L43_dropout_repeats),
};

API_MAIN(tests)
