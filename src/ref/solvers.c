/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The ref engine: the right answer, everywhere. Plain C, any stride, sums in double. */
#include "ref/ref.h"

static const dn_rows *const tables[] = {
    &dn_ref_conv, &dn_ref_conv_bwd_data, &dn_ref_conv_bwd_filter,
    &dn_ref_pool, &dn_ref_act, &dn_ref_softmax, &dn_ref_bn, &dn_ref_dropout, &dn_ref_pointwise, NULL,
};

const dn_engine dn_ref_engine = { .name = "ref", .tables = tables };
