/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Recurrent networks: the life of their descriptors here, the rest in rnn_fields.c and rnn_older.c. Statuses of wrong arguments are in
 * misuse_rnn.c, numbers against the vendor's in test_rnn_golden.c. */
#include "rnn_tests.h"

#include <stdlib.h>
#include <string.h>

static void descriptor_keeps_what_was_set(void **state)
{
    (void)state;
    cudnnRNNDescriptor_t d;
    cudnnDropoutDescriptor_t drop, got_drop;
    cudnnRNNAlgo_t algo;
    cudnnRNNMode_t cell;
    cudnnRNNBiasMode_t bias;
    cudnnDirectionMode_t dir;
    cudnnRNNInputMode_t input;
    cudnnDataType_t type, prec;
    cudnnMathType_t math;
    int32_t in, hid, proj, layers;
    uint32_t flags;
    CALL(cudnnCreateDropoutDescriptor, (&drop));
    CALL(cudnnCreateRNNDescriptor, (&d));
    CALL(cudnnSetRNNDescriptor_v8, (d, CUDNN_RNN_ALGO_STANDARD, CUDNN_LSTM, CUDNN_RNN_SINGLE_REC_BIAS, CUDNN_BIDIRECTIONAL,
        CUDNN_LINEAR_INPUT, F16, F32, CUDNN_TENSOR_OP_MATH, 5, 7, 3, 2, drop, CUDNN_RNN_PADDED_IO_ENABLED));
    CALL(cudnnGetRNNDescriptor_v8, (d, &algo, &cell, &bias, &dir, &input, &type, &prec, &math, &in, &hid, &proj, &layers, &got_drop, &flags));
    assert_true(algo == CUDNN_RNN_ALGO_STANDARD && cell == CUDNN_LSTM && bias == CUDNN_RNN_SINGLE_REC_BIAS && dir == CUDNN_BIDIRECTIONAL);
    assert_true(input == CUDNN_LINEAR_INPUT && type == F16 && prec == F32 && math == CUDNN_TENSOR_OP_MATH);
    assert_true(in == 5 && hid == 7 && proj == 3 && layers == 2 && got_drop == drop && flags == CUDNN_RNN_PADDED_IO_ENABLED);
    CALL(cudnnGetRNNDescriptor_v8, (d, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    CALL(cudnnDestroyRNNDescriptor, (d));
    CALL(cudnnDestroyDropoutDescriptor, (drop));
}

static void clipping_is_kept_until_the_next_set(void **state)
{
    (void)state;
    rnn_case c = {RNN_F32, RNN_SMALL, .layers = 1, .cell = CUDNN_LSTM, .T = 1, .B = 1, .len = {1}};
    rnn r;
    cudnnRNNClipMode_t mode;
    cudnnNanPropagation_t nan;
    double lo, hi;
    rnn_descriptors(&r, &c);
    CALL(cudnnRNNSetClip_v8, (r.desc, CUDNN_RNN_CLIP_MINMAX, CUDNN_PROPAGATE_NAN, -2, 3));
    CALL(cudnnRNNGetClip_v8, (r.desc, &mode, &nan, &lo, &hi));
    assert_true(mode == CUDNN_RNN_CLIP_MINMAX && nan == CUDNN_PROPAGATE_NAN && lo == -2 && hi == 3);
#if DN_ABI >= 9
    CALL(cudnnRNNSetClip_v9, (r.desc, CUDNN_RNN_CLIP_MINMAX, -4, 5));
    CALL(cudnnRNNGetClip_v9, (r.desc, &mode, &lo, &hi));
    assert_true(mode == CUDNN_RNN_CLIP_MINMAX && lo == -4 && hi == 5);
#endif
    CALL(cudnnSetRNNDescriptor_v8, (r.desc, 0, CUDNN_LSTM, 0, 0, 0, F32, F32, 0, 3, 4, 4, 1, NULL, 0));
    CALL(cudnnRNNGetClip_v8, (r.desc, &mode, NULL, &lo, &hi));
    assert_true(mode == CUDNN_RNN_CLIP_NONE && lo == 0 && hi == 0);
    rnn_free(&r);
}

static void data_descriptor_keeps_what_was_set(void **state)
{
    (void)state;
    cudnnRNNDataDescriptor_t d;
    cudnnDataType_t type;
    cudnnRNNDataLayout_t layout;
    const int length[3] = {2, 4, 3}, shorter[2] = {1, 2};
    int T, B, V, got[4] = {77, 77, 77, 77};
    double fill = 2.5, back = 0;
    CALL(cudnnCreateRNNDataDescriptor, (&d));
    CALL(cudnnSetRNNDataDescriptor, (d, F64, CUDNN_RNN_DATA_LAYOUT_BATCH_MAJOR_UNPACKED, 4, 3, 5, length, &fill));
    CALL(cudnnGetRNNDataDescriptor, (d, &type, &layout, &T, &B, &V, 2, got, &back));
    assert_true(type == F64 && layout == CUDNN_RNN_DATA_LAYOUT_BATCH_MAJOR_UNPACKED && T == 4 && B == 3 && V == 5 && back == 2.5);
    assert_true(got[0] == 2 && got[1] == 4 && got[2] == 77);
    CALL(cudnnSetRNNDataDescriptor, (d, F32, CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED, 2, 2, 1, shorter, NULL));  /* set again */
    CALL(cudnnGetRNNDataDescriptor, (d, &type, &layout, &T, &B, &V, 2, got, &back));
    assert_true(T == 2 && B == 2 && got[0] == 1 && got[1] == 2);
    CALL(cudnnDestroyRNNDataDescriptor, (d));
}

/* Each keeps an array of its own: the caller's may go. */
static void many_data_descriptors(void **state)
{
    (void)state;
    enum { MANY = 2000, LONG = 300 };
    static cudnnRNNDataDescriptor_t d[MANY];
    int *length = malloc(LONG * sizeof *length), got[LONG];
    for (int i = 0; i < MANY; i++) {
        for (int b = 0; b < LONG; b++)
            length[b] = (i + b) % 8;
        CALL(cudnnCreateRNNDataDescriptor, (&d[i]));
        CALL(cudnnSetRNNDataDescriptor, (d[i], F32, CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED, 8, LONG, 5, length, NULL));
    }
    free(length);
    for (int i = 0; i < MANY; i++) {
        cudnnDataType_t type;
        cudnnRNNDataLayout_t layout;
        int T, B, V;
        float fill;
        CALL(cudnnGetRNNDataDescriptor, (d[i], &type, &layout, &T, &B, &V, LONG, got, &fill));
        assert_true(B == LONG && got[7] == (i + 7) % 8 && got[LONG - 1] == (i + LONG - 1) % 8);
        CALL(cudnnDestroyRNNDataDescriptor, (d[i]));
    }
}

#if DN_ABI == 8
/* _v6 leaves out what the calls bring; what was set by one is read by the other where it makes sense. */
static void older_descriptor(void **state)
{
    (void)state;
    cudnnHandle_t h = api_handle();
    cudnnRNNDescriptor_t d;
    cudnnDropoutDescriptor_t drop = NULL;
    cudnnRNNAlgo_t algo;
    cudnnRNNMode_t cell;
    cudnnRNNBiasMode_t bias;
    cudnnDirectionMode_t dir;
    cudnnRNNInputMode_t input;
    cudnnDataType_t prec;
    cudnnMathType_t math;
    int hid, layers, rec, out;
    unsigned pad;
    size_t size;
    CALL(cudnnCreateRNNDescriptor, (&d));
    CALL(cudnnGetRNNBiasMode, (d, &bias));
    assert_int_equal(bias, CUDNN_RNN_DOUBLE_BIAS);
    CALL(cudnnSetRNNDescriptor_v6, (h, d, 7, 2, NULL, CUDNN_SKIP_INPUT, CUDNN_BIDIRECTIONAL, CUDNN_LSTM, CUDNN_RNN_ALGO_STANDARD, F32));
    CALL(cudnnGetRNNDescriptor_v6, (h, d, &hid, &layers, &drop, &input, &dir, &cell, &algo, &prec));
    assert_true(hid == 7 && layers == 2 && !drop && input == CUDNN_SKIP_INPUT && dir == CUDNN_BIDIRECTIONAL && cell == CUDNN_LSTM);
    assert_true(algo == CUDNN_RNN_ALGO_STANDARD && prec == F32);
    CALL(cudnnSetRNNProjectionLayers, (h, d, 3, 0));
    CALL(cudnnGetRNNProjectionLayers, (h, d, &rec, &out));
    assert_true(rec == 3 && out == 0);
    CALL(cudnnSetRNNMatrixMathType, (d, CUDNN_TENSOR_OP_MATH));
    CALL(cudnnSetRNNBiasMode, (d, CUDNN_RNN_NO_BIAS));
    CALL(cudnnSetRNNPaddingMode, (d, CUDNN_RNN_PADDED_IO_ENABLED));
    CALL(cudnnGetRNNMatrixMathType, (d, &math));
    CALL(cudnnGetRNNBiasMode, (d, &bias));
    CALL(cudnnGetRNNPaddingMode, (d, &pad));
    assert_true(math == CUDNN_TENSOR_OP_MATH && bias == CUDNN_RNN_NO_BIAS && pad == CUDNN_RNN_PADDED_IO_ENABLED);
    ROW(cudnnGetRNNWeightSpaceSize, (h, d, &size), NOINIT, "cudnnSetRNNDescriptor_v8");
    CALL(cudnnSetRNNDescriptor_v6, (h, d, 7, 2, NULL, CUDNN_LINEAR_INPUT, 0, CUDNN_LSTM, 0, F32));  /* back to the defaults */
    CALL(cudnnGetRNNMatrixMathType, (d, &math));
    CALL(cudnnGetRNNBiasMode, (d, &bias));
    CALL(cudnnGetRNNPaddingMode, (d, &pad));
    CALL(cudnnGetRNNProjectionLayers, (h, d, &rec, &out));
    assert_true(math == CUDNN_DEFAULT_MATH && bias == CUDNN_RNN_DOUBLE_BIAS && pad == 0 && rec == 7);
    CALL(cudnnSetRNNDescriptor_v8, (d, 0, CUDNN_GRU, 1, 1, 0, F32, F32, 3, 5, 6, 6, 4, NULL, 1));
    CALL(cudnnGetRNNDescriptor_v6, (h, d, &hid, &layers, &drop, &input, &dir, &cell, &algo, &prec));
    assert_true(hid == 6 && layers == 4 && dir == CUDNN_BIDIRECTIONAL && cell == CUDNN_GRU);
    CALL(cudnnDestroyRNNDescriptor, (d));
    api_rows_done();
}
#endif

static const struct CMUnitTest tests[] = {
    API_TEST(descriptor_keeps_what_was_set), API_TEST(clipping_is_kept_until_the_next_set), API_TEST(data_descriptor_keeps_what_was_set),
    API_TEST(many_data_descriptors), API_TEST(L36_empty_sequences), API_TEST(L37_one_step_of_one_sequence),
    API_TEST(L38_sizes_do_not_depend_on_lengths), API_TEST(L39_weights_tile_the_space), API_TEST(L40_gru_formula), API_TEST(lstm_formula),
    API_TEST(L42_weight_gradients_add), API_TEST(L42_reserve_space_is_of_its_call), API_TEST(L43_rnn_dropout_repeats),
    API_TEST(dropout_gradients), API_TEST(layouts_agree),
#if DN_ABI == 8
    API_TEST(older_descriptor), API_TEST(older_calls_give_the_same), API_TEST(ex_calls_give_the_same), API_TEST(linear_layers_give_the_same),
    API_TEST(find_measures_the_call), API_TEST(plan_for_another_batch),
#endif
};

API_MAIN(tests)
