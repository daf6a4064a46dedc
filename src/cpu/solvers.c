/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The cpu engine: oneDNN where it computes what cuDNN's interface says, ref's rows for the rest. Memory is the host's. */
#include "cpu/op.h"

static const char *probe(void)
{
    return dn_dnnl_get()->missing;
}

static dn_status open_stream(dn_handle *h)
{
    enum { IN_ORDER = 1 };
    const dn_dnnl *d = dn_dnnl_get();
    dn_dnnl_stream *s = NULL;
    int st = d->stream_create(&s, d->cpu, IN_ORDER);
    if (st)
        return dn_cpu_fail("dnnl_stream_create", st);
    h->state = s;
    return DN_SUCCESS;
}

static void close_stream(dn_handle *h)
{
    if (h->state)
        dn_dnnl_get()->stream_destroy(h->state);
    h->state = NULL;
}

static const dn_rows *const tables[] = {
    &dn_cpu_conv, &dn_cpu_conv_bias_act, &dn_cpu_pool, &dn_cpu_act, &dn_cpu_softmax, &dn_cpu_bn, &dn_cpu_transform,
    &dn_cpu_rnn_fwd, &dn_cpu_rnn_bwd_data, &dn_cpu_rnn_bwd_filter, NULL
};

const dn_engine dn_cpu_engine = {
    .name = "cpu",
    .probe = probe,
    .open = open_stream,
    .close = close_stream,
    .tables = tables,
    .fallback = &dn_ref_engine,
};
