/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * A primitive by oneDNN's own calls, as a program written for it would make them: every operand in the format that the primitive asks for,
 * and what the caller has in plain form reordered in each call. */
#ifndef DN_BENCH_ONEDNN_H
#define DN_BENCH_ONEDNN_H

#include "target.h"

#include "cpu/dnnl.h"

enum { BENCH_DIRECT_ARGS = 12 };

typedef struct bench_operand {
    int slot, arg;           /* slot -1: memory of its own */
    size_t offset;           /* bytes from the slot's pointer */
    bool out;
    dn_dnnl_md *user, *wish; /* as it lies, and what the operation was described with; user NULL: as the primitive wants it */
    dn_dnnl_pd *reorder_pd;
    dn_dnnl_prim *reorder;
    dn_dnnl_mem *user_mem, *prim_mem;
    void *copy;
} bench_operand;

typedef struct bench_direct {
    dn_dnnl_pd *pd;
    dn_dnnl_prim *prim;
    dn_dnnl_stream *stream;
    bench_operand op[BENCH_DIRECT_ARGS];
    int count;
} bench_direct;

dn_status bench_direct_refuse(const char *what, int status);
/* Fills a call's operands and its primitive descriptor. */
typedef dn_status (*bench_direct_make)(bench_direct *x, const dn_problem *p, const bench_data *data);
dn_status bench_direct_prepare(bench_target *t, const bench_case *c, const bench_data *data, bench_direct_make make);
dn_status bench_direct_run(bench_target *t, const bench_memory *m);
void bench_direct_finish(bench_target *t);

/* onednn_rnn.c: whether oneDNN has the like of this network, and the call. */
bool bench_onednn_has_rnn(const bench_case *c);
dn_status bench_onednn_make_rnn(bench_direct *x, const dn_problem *p, const bench_data *data);

#endif
