/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * A convolution by oneDNN's own calls, as a program written for it would make them: weights in the format that it asks for,
 * activations NHWC where they lie so, else in its format too; every call reorders what the caller has in plain form. What such
 * calls of any operation share. */
#include "onednn.h"

#include "core/os.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARGS = 3, DIFF = 128 };

static int type_of(int t)
{
    return t == DN_F32 ? DN_DNNL_F32 : t == DN_BF16 ? DN_DNNL_BF16 : -1;
}

/* [k, c/g, ...] as [g, k/g, c/g, ...] where there are groups. */
static dn_tensor grouped(const dn_tensor *w, int groups)
{
    dn_tensor g = *w;
    if (groups == 1)
        return g;
    g.rank++;
    memmove(g.dims + 1, w->dims, (size_t)w->rank * sizeof *w->dims);
    memmove(g.strides + 1, w->strides, (size_t)w->rank * sizeof *w->strides);
    g.dims[0] = groups;
    g.dims[1] = w->dims[0] / groups;
    g.strides[0] = w->strides[0] * g.dims[1];
    return g;
}

dn_status bench_direct_refuse(const char *what, int status)
{
    return dn_fail(DN_NOT_SUPPORTED, "oneDNN: %s answered %s", what, dn_dnnl_status_name(status));
}

static dn_status make_mds(bench_direct *x, const dn_problem *p)
{
    const dn_dnnl_interface *i = dn_dnnl_get()->i;
    x->count = ARGS;
    static const int roles[ARGS] = { DN_X, DN_W, DN_Y };
    static const int args[ARGS] = { DN_DNNL_ARG_SRC, DN_DNNL_ARG_WEIGHTS, DN_DNNL_ARG_DST };
    int out = p->dir == DN_DIR_BWD_DATA ? 0 : p->dir == DN_DIR_BWD_FILTER ? 1 : 2;
    for (int k = 0; k < ARGS; k++) {
        bench_operand *o = &x->op[k];
        dn_tensor t = k == 1 ? grouped(&p->t[DN_W], p->u.conv.groups) : p->t[roles[k]];
        bool nhwc = k != 1 && dn_tensor_is_packed_nhwc(&t) && !dn_tensor_is_packed(&t);
        if (type_of(t.type) < 0)
            return dn_fail(DN_NOT_SUPPORTED, "oneDNN is asked for f32 and bf16 alone");
        o->slot = roles[k];
        o->out = k == out;
        bool diff = out != 2 && (k == 2 || k == out);
        o->arg = args[k] + (diff ? DIFF : 0);
        int st = i->md_make(&o->user, t.rank, t.dims, type_of(t.type), t.strides);
        if (!st)
            st = i->md_make(&o->wish, t.rank, t.dims, type_of(t.type), nhwc ? t.strides : NULL);
        if (st)
            return bench_direct_refuse("a memory descriptor", st);
    }
    return DN_SUCCESS;
}

static dn_status make_pd(bench_direct *x, const dn_problem *p)
{
    const dn_dnnl *d = dn_dnnl_get();
    const dn_conv_param *u = &p->u.conv;
    dn_dnnl_desc desc = { .kind = DN_DNNL_CONV, .alg = DN_DNNL_CONV_DIRECT, .src = x->op[0].wish, .weights = x->op[1].wish,
                          .dst = x->op[2].wish };
    desc.prop = x->op[0].out ? DN_DNNL_BWD_DATA : x->op[1].out ? DN_DNNL_BWD_WEIGHTS : DN_DNNL_INFER;
    for (int k = 0; k < u->spatial; k++) {
        desc.strides[k] = u->stride[k];
        desc.dilation[k] = u->dilation[k] - 1;
        desc.pad[k] = u->pad[k];
    }
    int st = 0;
    dn_dnnl_pd *forward = NULL;
    if (desc.prop != DN_DNNL_INFER) {
        dn_dnnl_desc f = desc;
        f.prop = DN_DNNL_TRAIN;
        st = d->i->pd_make(&forward, &f);
        desc.hint = forward;
    }
    if (!st)
        st = d->i->pd_make(&x->pd, &desc);
    if (forward)
        d->pd_destroy(forward);
    return st ? bench_direct_refuse("the convolution", st) : DN_SUCCESS;
}

static dn_status make_conv(bench_direct *x, const dn_problem *p, const bench_data *data)
{
    (void)data;
    dn_status st = make_mds(x, p);
    return st == DN_SUCCESS ? make_pd(x, p) : st;
}

/* --- any operation --- */

static int make_copy(bench_operand *o, const dn_dnnl_md *want)
{
    const dn_dnnl *d = dn_dnnl_get();
    o->copy = dn_aligned_alloc(d->md_size(want));
    return o->copy ? d->mem_create(&o->prim_mem, want, d->cpu, o->copy) : 1;
}

static dn_status bind(bench_direct *x)
{
    const dn_dnnl *d = dn_dnnl_get();
    for (int k = 0; k < x->count; k++) {
        bench_operand *o = &x->op[k];
        const dn_dnnl_md *want = dn_dnnl_arg_md(x->pd, o->arg);
        if (!o->user) {
            int st = make_copy(o, want);
            if (st)
                return bench_direct_refuse("memory of a call", st);
            continue;
        }
        int st = d->mem_create(&o->user_mem, o->user, d->cpu, NULL);
        if (!st && !d->md_equal(o->user, want)) {
            st = make_copy(o, want);
            if (!st)
                st = o->out ? d->reorder_pd(&o->reorder_pd, want, d->cpu, o->user, d->cpu, NULL)
                            : d->reorder_pd(&o->reorder_pd, o->user, d->cpu, want, d->cpu, NULL);
            if (!st)
                st = d->prim_create(&o->reorder, o->reorder_pd);
        }
        if (st)
            return bench_direct_refuse("a reorder", st);
    }
    return DN_SUCCESS;
}

void bench_direct_finish(bench_target *t)
{
    const dn_dnnl *d = dn_dnnl_get();
    bench_direct *x = t->call;
    for (int k = 0; x && k < x->count; k++) {
        bench_operand *o = &x->op[k];
        if (o->reorder)
            d->prim_destroy(o->reorder);
        if (o->reorder_pd)
            d->pd_destroy(o->reorder_pd);
        if (o->user_mem)
            d->mem_destroy(o->user_mem);
        if (o->prim_mem)
            d->mem_destroy(o->prim_mem);
        d->i->md_free(o->user), d->i->md_free(o->wish);
        dn_aligned_free(o->copy);
    }
    if (x && x->stream)
        d->stream_destroy(x->stream);
    if (x && x->prim)
        d->prim_destroy(x->prim);
    if (x && x->pd)
        d->pd_destroy(x->pd);
    free(x);
    t->call = NULL;
}

dn_status bench_direct_prepare(bench_target *t, const bench_case *c, const bench_data *data, bench_direct_make make)
{
    const dn_dnnl *d = dn_dnnl_get();
    bench_direct *x = calloc(1, sizeof *x);
    if (!x)
        return dn_fail(DN_ALLOC_FAILED, "no memory");
    t->call = x;
    int saved = dn_dnnl_enter();
    dn_status st = make(x, &c->p, data);
    int made = st == DN_SUCCESS ? d->prim_create(&x->prim, x->pd) : 0;
    if (st == DN_SUCCESS && !made)
        made = d->stream_create(&x->stream, d->cpu, 1);
    if (made)
        st = bench_direct_refuse("the primitive", made);
    if (st == DN_SUCCESS)
        st = bind(x);
    dn_dnnl_leave(saved);
    if (st != DN_SUCCESS)
        bench_direct_finish(t);
    return st;
}

static int reorder(const dn_dnnl *d, const bench_direct *x, const bench_operand *o)
{
    dn_dnnl_arg args[2] = { { DN_DNNL_ARG_SRC, o->out ? o->prim_mem : o->user_mem },
                            { DN_DNNL_ARG_DST, o->out ? o->user_mem : o->prim_mem } };
    return d->prim_execute(o->reorder, x->stream, 2, args);
}

dn_status bench_direct_run(bench_target *t, const bench_memory *m)
{
    const dn_dnnl *d = dn_dnnl_get();
    bench_direct *x = t->call;
    dn_dnnl_arg args[BENCH_DIRECT_ARGS];
    int saved = dn_dnnl_enter(), st = 0;
    for (int k = 0; k < x->count && !st; k++) {
        bench_operand *o = &x->op[k];
        if (o->user)
            st = d->mem_set(o->user_mem, (char *)m->b[o->slot].pointer + o->offset);
        args[k] = (dn_dnnl_arg){ o->arg, o->prim_mem ? o->prim_mem : o->user_mem };
        if (!st && o->reorder && !o->out)
            st = reorder(d, x, o);
    }
    if (!st)
        st = d->prim_execute(x->prim, x->stream, x->count, args);
    for (int k = 0; k < x->count && !st; k++)
        if (x->op[k].reorder && x->op[k].out)
            st = reorder(d, x, &x->op[k]);
    if (!st)
        st = d->stream_wait(x->stream);
    dn_dnnl_leave(saved);
    return st ? dn_fail(DN_EXECUTION_FAILED, "oneDNN: %s", dn_dnnl_status_name(st)) : DN_SUCCESS;
}

static dn_status prepare_conv(bench_target *t, const bench_case *c, const bench_data *data, size_t *workspace)
{
    *workspace = 0;
    return bench_direct_prepare(t, c, data, make_conv);
}

static dn_status prepare_rnn(bench_target *t, const bench_case *c, const bench_data *data, size_t *workspace)
{
    *workspace = 0;
    return bench_direct_prepare(t, c, data, bench_onednn_make_rnn);
}

static bool target(bench_source *s, const bench_case *c, int i, bench_target *t)
{
    memset(t, 0, sizeof *t);
    bool conv = c->p.op == DN_OP_CONV && c->p.dir <= DN_DIR_BWD_FILTER && c->beta == 0 && c->alpha == 1;
    if (i || (!conv && !bench_onednn_has_rnn(c)))
        return false;
    snprintf(t->name, sizeof t->name, "onednn_%s_%s", dn_op_name((dn_op)c->p.op), dn_dir_name((dn_dir)c->p.dir));
    t->source = s;
    t->prepare = conv ? prepare_conv : prepare_rnn;
    t->run = bench_direct_run;
    t->finish = bench_direct_finish;
    return true;
}

static void close_source(bench_source *s)
{
    (void)s;
}

bool bench_source_onednn(bench_source *s)
{
    const dn_dnnl *d = dn_dnnl_get();
    memset(s, 0, sizeof *s);
    if (d->missing) {
        fprintf(stderr, "dnbench: %s\n", d->missing);
        return false;
    }
    s->name = "onednn";
    s->target = target;
    s->close = close_source;
    return true;
}
