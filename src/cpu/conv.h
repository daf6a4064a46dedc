/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * What convolution (conv.c) and convolution with bias and activation (conv_bias_act.c) share. */
#ifndef DN_CPU_CONV_H
#define DN_CPU_CONV_H

#include "cpu/op.h"

typedef struct dn_cpu_conv_formats {
    dn_cpu_layout layout;   /* of the caller's tensors where their strides allow both */
    dn_role out;            /* what is computed: DN_Y, DN_X or DN_W */
    dn_dtype result;        /* its type as the primitive makes it */
} dn_cpu_conv_formats;

/* The rules that need no oneDNN; NULL where they are kept. */
const char *dn_cpu_conv_refuses(const dn_problem *p);
dn_cpu_conv_formats dn_cpu_conv_formats_of(const dn_problem *p, bool direct);
/* The primitive with X, W, Y (and B where with_bias) bound. Its result goes to the output itself, or, where `stage` says so, to
 * scratch at offset *stage in the output's own format. */
const char *dn_cpu_conv_op(const dn_problem *p, const dn_cpu_conv_formats *f, dn_cpu_op *op, const size_t *stage, bool with_bias,
                           const dn_dnnl_post *posts, int count);
/* md of X, Y or W as the caller has it, of another type. */
const char *dn_cpu_conv_md(dn_dnnl_md **out, const dn_problem *p, dn_role role, dn_cpu_layout layout, dn_dtype type);

#endif
