/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The tests of test_rnn.c, by file. */
#ifndef RNN_TESTS_H
#define RNN_TESTS_H

#include "rnn_case.h"

/* rnn_fields.c */
void L36_empty_sequences(void **state);
void L37_one_step_of_one_sequence(void **state);
void L38_sizes_do_not_depend_on_lengths(void **state);
void L39_weights_tile_the_space(void **state);
void L40_gru_formula(void **state);
void lstm_formula(void **state);
void L42_weight_gradients_add(void **state);
void L42_reserve_space_is_of_its_call(void **state);
void L43_rnn_dropout_repeats(void **state);
void dropout_gradients(void **state);
void layouts_agree(void **state);

/* rnn_older.c, cuDNN 8 */
void older_calls_give_the_same(void **state);
void ex_calls_give_the_same(void **state);
void linear_layers_give_the_same(void **state);
void find_measures_the_call(void **state);
void plan_for_another_batch(void **state);

/* Fails unless n values are equal within tol. */
void expect_same(const char *what, int type, const void *got, const void *want, size_t n, double tol);

#endif
