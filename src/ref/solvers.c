/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The ref engine: the right answer, everywhere. Plain C, any stride, sums in double. */
#include "ref/ref.h"

static const dn_rows *const tables[] = {
    &dn_ref_conv_winograd_deep, &dn_ref_conv_fft_large, &dn_ref_conv_plane, &dn_ref_conv, &dn_ref_conv_bwd_data, &dn_ref_conv_bwd_filter,
    &dn_ref_conv_winograd, &dn_ref_conv_fft,
    &dn_ref_pool, &dn_ref_act, &dn_ref_softmax, &dn_ref_bn, &dn_ref_dropout, &dn_ref_pointwise,
    &dn_ref_tensor_op, &dn_ref_reduce, &dn_ref_transform_ex, &dn_ref_im2col, &dn_ref_conv_vect, &dn_ref_lrn, &dn_ref_divnorm, &dn_ref_spatial, &dn_ref_attn, &dn_ref_sba, &dn_ref_stats, &dn_ref_ctc,
    &dn_ref_rnn, &dn_ref_rnn_bwd_data, &dn_ref_rnn_bwd_filter, NULL,
};

const dn_engine dn_ref_engine = { .name = "ref", .tables = tables };
