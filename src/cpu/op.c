/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#include "cpu/op.h"

#include "core/log.h"
#include "core/os.h"

#include <stdlib.h>
#include <string.h>

enum { SCRATCHPAD_BY_USER = 1 };

/* --- tensors --- */

int dn_cpu_type(dn_dtype t)
{
    switch (t) {
    case DN_F32: return DN_DNNL_F32;
    case DN_F16: return DN_DNNL_F16;
    case DN_BF16: return DN_DNNL_BF16;
    case DN_I32: return DN_DNNL_S32;
    case DN_I8: return DN_DNNL_S8;
    case DN_U8: return DN_DNNL_U8;
    default: return -1;
    }
}

dn_cpu_layout dn_cpu_layout_of(const dn_problem *p, const dn_role *roles, int count)
{
    bool nhwc = false;
    for (int k = 0; k < count; k++) {
        const dn_tensor *t = &p->t[roles[k]];
        bool channel_last = dn_tensor_is_packed_nhwc(t), plain = dn_tensor_is_packed(t);
        if (plain && !channel_last)
            return DN_CPU_NCHW;
        nhwc |= channel_last && !plain;
    }
    return nhwc ? DN_CPU_NHWC : DN_CPU_NCHW;
}

const char *dn_cpu_md(dn_dnnl_md **out, const dn_tensor *t, dn_cpu_layout layout)
{
    dn_tensor u = *t;
    bool plain = dn_tensor_is_packed(t), channel_last = dn_tensor_is_packed_nhwc(t);
    if (!plain && !channel_last)
        return "needs tensors packed as NCHW or NHWC";
    if (channel_last && (layout == DN_CPU_NHWC || !plain))
        dn_tensor_pack_nhwc(&u);
    else
        dn_tensor_pack(&u);
    int st = dn_dnnl_get()->i->md_make(out, u.rank, u.dims, dn_cpu_type(u.type), u.strides);
    return st ? "oneDNN makes no memory descriptor of these tensors" : NULL;
}

const char *dn_cpu_tensors(const dn_problem *p, const dn_role *roles, int count)
{
    for (int k = 0; k < count; k++) {
        const dn_tensor *t = &p->t[roles[k]];
        if (t->vect != 1)
            return "needs plain types, not vectors";
        if (p->align[roles[k]] && p->align[roles[k]] < dn_dtype_size(t->type))
            return "needs pointers aligned to the element size";
        if (!dn_tensor_is_packed(t) && !dn_tensor_is_packed_nhwc(t))
            return "needs tensors packed as NCHW or NHWC";
        if (dn_tensor_count(t) > INT32_MAX)
            return "needs fewer than 2^31 elements a tensor: oneDNN's kernels compute some offsets in 32 bits";
    }
    return NULL;
}

/* --- building --- */

static int make_attr(dn_dnnl_attr **out, const dn_dnnl_post *posts, int count)
{
    const dn_dnnl *d = dn_dnnl_get();
    dn_dnnl_posts *list = NULL;
    int st = d->attr_create(out);
    if (st)
        return st;
    st = d->attr_set_scratchpad_mode(*out, SCRATCHPAD_BY_USER);
    if (!st && count)
        st = d->posts_create(&list);
    for (int k = 0; k < count && !st; k++)
        st = d->i->post_append(list, &posts[k]);
    if (list && !st)
        st = d->attr_set_post_ops(*out, list);
    if (list)
        d->posts_destroy(list);
    if (st)
        d->attr_destroy(*out);
    return st;
}

#define NO_ATTR "oneDNN has no room for the attributes"

static const char *judge(dn_cpu_op *op, int st)
{
    if (st) {
        op->pd = NULL;
        return st == 3 ? "oneDNN has no code for this problem on this CPU" : "oneDNN does not take this problem";
    }
    if (strstr(dn_dnnl_impl(op->pd), "ref"))
        return "oneDNN has only its reference code for this problem on this CPU";
    return NULL;
}

const char *dn_cpu_pd(dn_cpu_op *op, const dn_dnnl_desc *desc, const dn_dnnl_post *posts, int count)
{
    const dn_dnnl *d = dn_dnnl_get();
    dn_dnnl_attr *attr;
    if (make_attr(&attr, posts, count))
        return NO_ATTR;
    dn_dnnl_desc with = *desc;
    with.attr = attr;
    int st = d->i->pd_make(&op->pd, &with);
    d->attr_destroy(attr);
    return judge(op, st);
}

const char *dn_cpu_reorder_pd(dn_cpu_op *op, const dn_dnnl_md *from, const dn_dnnl_md *to)
{
    const dn_dnnl *d = dn_dnnl_get();
    dn_dnnl_attr *attr;
    if (make_attr(&attr, NULL, 0))
        return NO_ATTR;
    int st = d->reorder_pd(&op->pd, from, d->cpu, to, d->cpu, attr);
    d->attr_destroy(attr);
    return judge(op, st);
}

const char *dn_cpu_bind(dn_cpu_op *op, int arg, int slot, dn_cpu_flow flow, dn_dnnl_md *user)
{
    const dn_dnnl *d = dn_dnnl_get();
    dn_cpu_operand *o = &op->operand[op->count++];
    *o = (dn_cpu_operand){ .arg = arg, .slot = slot, .flow = flow, .user = user, .prim = dn_dnnl_arg_md(op->pd, arg) };
    if (!user || d->md_equal(user, o->prim))
        return NULL;
    int st = flow == DN_CPU_IN ? d->reorder_pd(&o->reorder_pd, user, d->cpu, o->prim, d->cpu, NULL)
                               : d->reorder_pd(&o->reorder_pd, o->prim, d->cpu, user, d->cpu, NULL);
    if (st) {
        o->reorder_pd = NULL;
        return "oneDNN has no reorder between these formats";
    }
    return NULL;
}

const char *dn_cpu_bind_at(dn_cpu_op *op, int arg, size_t at, dn_cpu_flow flow, dn_dnnl_md *user)
{
    const char *why = dn_cpu_bind(op, arg, DN_CPU_SCRATCH, flow, user);
    op->operand[op->count - 1].at = at;
    return why;
}

void dn_cpu_stage(const dn_problem *p, dn_cpu_state *s, dn_role out)
{
    s->staged = !(p->flags & DN_F_BETA_ZERO);
    if (s->staged)
        s->stage = dn_cpu_region(s, (size_t)dn_tensor_count(&p->t[out]) * sizeof(float));
}

const char *dn_cpu_bind_result(dn_cpu_op *op, const dn_cpu_state *s, int arg, dn_role out, dn_dnnl_md *user)
{
    return s->staged ? dn_cpu_bind_at(op, arg, s->stage, DN_CPU_OUT, user) : dn_cpu_bind(op, arg, (int)out, DN_CPU_OUT, user);
}

const char *dn_cpu_bind_sum(dn_cpu_op *op, int slot, dn_dnnl_md *user)
{
    const dn_dnnl *d = dn_dnnl_get();
    dn_cpu_operand *o = &op->operand[op->count++];
    *o = (dn_cpu_operand){ .slot = slot, .flow = DN_CPU_IN, .user = user, .prim = dn_dnnl_arg_md(op->pd, DN_DNNL_ARG_DST) };
    if (d->reorder_pd(&o->reorder_pd, user, d->cpu, o->prim, d->cpu, NULL)) {
        o->reorder_pd = NULL;
        return "oneDNN has no reorder between these formats";
    }
    return NULL;
}

static size_t round_up(size_t n)
{
    return (n + DN_CPU_ALIGN - 1) / DN_CPU_ALIGN * DN_CPU_ALIGN;
}

size_t dn_cpu_region(dn_cpu_state *s, size_t bytes)
{
    size_t at = s->scratch;
    s->scratch += round_up(bytes);
    return at;
}

void dn_cpu_place(dn_cpu_state *s, dn_cpu_op *op, size_t from)
{
    const dn_dnnl *d = dn_dnnl_get();
    for (int k = 0; k < op->count; k++) {
        dn_cpu_operand *o = &op->operand[k];
        if (!o->reorder_pd || !o->arg)
            continue;
        o->copy = from;
        from += round_up(d->md_size(o->prim));
    }
    op->pad_offset = from;
    op->pad_size = d->md_size(dn_dnnl_arg_md(op->pd, DN_DNNL_ARG_SCRATCHPAD));
    from += round_up(op->pad_size);
    if (from > s->scratch)
        s->scratch = from;
}

/* --- life --- */

void dn_cpu_op_free(dn_cpu_op *op)
{
    const dn_dnnl *d = dn_dnnl_get();
    for (int k = 0; k < op->count; k++) {
        dn_cpu_operand *o = &op->operand[k];
        if (o->arg && o->prim_mem && o->prim_mem != o->user_mem)
            d->mem_destroy(o->prim_mem);
        if (o->user_mem)
            d->mem_destroy(o->user_mem);
        if (o->reorder)
            d->prim_destroy(o->reorder);
        if (o->reorder_pd)
            d->pd_destroy(o->reorder_pd);
        if (o->user)
            d->i->md_free(o->user);
    }
    if (op->pad_mem)
        d->mem_destroy(op->pad_mem);
    if (op->prim)
        d->prim_destroy(op->prim);
    if (op->pd)
        d->pd_destroy(op->pd);
    memset(op, 0, sizeof *op);
}

void dn_cpu_state_free(dn_cpu_state *s)
{
    for (int k = 0; k < DN_CPU_OPS; k++)
        dn_cpu_op_free(&s->op[k]);
    dn_plan_free(s->exact);
    s->exact = NULL;
}

dn_status dn_cpu_fail(const char *call, int status)
{
    return dn_fail(status == 1 ? DN_ALLOC_FAILED : status == 3 ? DN_NOT_SUPPORTED : DN_INTERNAL_ERROR, "oneDNN: %s answered %s",
                   call, dn_dnnl_status_name(status));
}

static const dn_cpu_operand *find_dst(const dn_cpu_op *op)
{
    int k = 0;
    while (op->operand[k].arg != DN_DNNL_ARG_DST)
        k++;
    return &op->operand[k];
}

static int compile_operand(dn_cpu_op *op, dn_cpu_operand *o, const char **call)
{
    const dn_dnnl *d = dn_dnnl_get();
    int st = 0;
    *call = "dnnl_primitive_create for a reorder";
    if (o->reorder_pd && (st = d->prim_create(&o->reorder, o->reorder_pd)) != 0)
        return st;
    *call = "dnnl_memory_create";
    st = d->mem_create(&o->user_mem, o->user ? o->user : o->prim, d->cpu, NULL);
    if (st)
        return st;
    if (!o->arg)
        o->prim_mem = find_dst(op)->prim_mem;
    else if (!o->reorder)
        o->prim_mem = o->user_mem;
    else
        st = d->mem_create(&o->prim_mem, o->prim, d->cpu, NULL);
    return st;
}

int dn_cpu_compile(dn_cpu_op *op, const char **call)
{
    const dn_dnnl *d = dn_dnnl_get();
    *call = "dnnl_primitive_create";
    int st = d->prim_create(&op->prim, op->pd);
    for (int k = 0; k < op->count && !st; k++)
        st = compile_operand(op, &op->operand[k], call);
    if (st || !op->pad_size)
        return st;
    *call = "dnnl_memory_create for the scratchpad";
    return d->mem_create(&op->pad_mem, dn_dnnl_arg_md(op->pd, DN_DNNL_ARG_SCRATCHPAD), d->cpu, NULL);
}

/* All of them. Some primitive descriptors promise code that cannot be made (2.6: reorders of bf16 weights to a few formats). */
static int compile_all(dn_cpu_state *s, const char **call)
{
    for (int k = 0; k < DN_CPU_OPS; k++) {
        int st = s->op[k].pd ? dn_cpu_compile(&s->op[k], call) : 0;
        if (st && s->optional[k])
            dn_cpu_op_free(&s->op[k]);
        else if (st)
            return st;
    }
    return 0;
}

/* --- a row's functions --- */

/* Answers of the last few builds: a caller's queries come in bunches (check, workspace, prepare; a row per algorithm number) and
 * a build costs a tenth of a millisecond and more. It includes the code, so that what is accepted runs; oneDNN keeps the code
 * of its last primitives, so making it again is cheap. */
enum { MEMO = 8 };
typedef struct answer {
    dn_problem key;
    dn_cpu_build build;
    const char *why;
    size_t scratch;
} answer;
static answer memo[MEMO];
static int memo_next;
static dn_lock memo_lock = DN_LOCK_INIT;

/* What a build looks at: not the algorithm number, and not whether pointers are more than element-aligned. */
static dn_problem memo_key(const dn_problem *p)
{
    dn_problem k = *p;
    k.algo = -1;
    for (int r = 0; r < DN_ROLE_COUNT; r++)
        if (k.align[r] > 8)
            k.align[r] = 8;
    return k;
}

static answer ask(const dn_problem *p, dn_cpu_build build)
{
    answer a = { memo_key(p), build, NULL, 0 };
    dn_lock_take(&memo_lock);
    for (int k = 0; k < MEMO; k++) {
        if (memo[k].build == build && memcmp(&memo[k].key, &a.key, sizeof a.key) == 0) {
            a = memo[k];
            dn_lock_give(&memo_lock);
            return a;
        }
    }
    dn_lock_give(&memo_lock);
    dn_cpu_state s = { 0 };
    int saved = dn_dnnl_enter();
    const char *call;
    a.why = build(&a.key, &s);
    if (!a.why && compile_all(&s, &call))
        a.why = "oneDNN cannot make its code for this problem on this CPU";
    a.scratch = s.scratch;
    dn_cpu_state_free(&s);
    dn_dnnl_leave(saved);
    dn_lock_take(&memo_lock);
    memo[memo_next] = a;
    memo_next = (memo_next + 1) % MEMO;
    dn_lock_give(&memo_lock);
    return a;
}

const char *dn_cpu_check(const dn_problem *p, dn_cpu_build build)
{
    const char *missing = dn_dnnl_get()->missing;
    return missing ? missing : ask(p, build).why;
}

size_t dn_cpu_workspace(const dn_problem *p, dn_cpu_build build)
{
    size_t n = ask(p, build).scratch;
    return n ? n + DN_CPU_ALIGN : 0;
}

static dn_status prepare(dn_handle *h, const dn_plan *plan, dn_cpu_build build, dn_cpu_state *s)
{
    const char *why = build(&plan->problem, s);
    if (why)
        return dn_fail(DN_NOT_SUPPORTED, "%s: %s", plan->solver->name, why);
    const char *call;
    int st = compile_all(s, &call);
    if (st)
        return dn_cpu_fail(call, st);
    for (int k = 0; k < DN_CPU_OPS; k++)
        if (s->op[k].pd && dn_log_on(DN_LOG_INFO))
            dn_log(DN_LOG_INFO, DN_TOPIC_PLAN, "%s: oneDNN runs %s", plan->solver->name, dn_dnnl_impl(s->op[k].pd));
    return s->from_caller || !s->scratch ? DN_SUCCESS : dn_scratch_reserve(h, s->scratch + DN_CPU_ALIGN);
}

dn_status dn_cpu_prepare(dn_handle *h, dn_plan *plan, dn_cpu_build build, bool from_caller)
{
    dn_cpu_state *s = calloc(1, sizeof *s);
    if (!s)
        return dn_fail(DN_ALLOC_FAILED, "%zu bytes of host memory for a plan", sizeof *s);
    s->from_caller = from_caller;
    int saved = dn_dnnl_enter();
    dn_status st = prepare(h, plan, build, s);
    if (st != DN_SUCCESS) {
        dn_cpu_state_free(s);
        free(s);
    } else {
        plan->state = s;
    }
    dn_dnnl_leave(saved);
    return st;
}

void dn_cpu_release(dn_plan *plan)
{
    if (!plan->state)
        return;
    dn_cpu_state_free(plan->state);
    free(plan->state);
    plan->state = NULL;
}

/* --- running --- */

void dn_cpu_begin(dn_cpu_run *r, dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    const dn_cpu_state *s = plan->state;
    uintptr_t base = (uintptr_t)(s->from_caller ? a->workspace : h->scratch);
    r->stream = h->state;
    r->scratch = (unsigned char *)((base + DN_CPU_ALIGN - 1) / DN_CPU_ALIGN * DN_CPU_ALIGN);
    memcpy(r->slot, a->ptr, sizeof a->ptr);
    memcpy(r->slot + DN_ROLE_COUNT, a->aux, sizeof a->aux);
}

static int reorder(const dn_cpu_operand *o, const dn_cpu_run *r)
{
    enum { FROM = DN_DNNL_ARG_SRC, TO = DN_DNNL_ARG_DST };
    bool in = o->flow == DN_CPU_IN;
    dn_dnnl_arg args[] = { { FROM, in ? o->user_mem : o->prim_mem }, { TO, in ? o->prim_mem : o->user_mem } };
    return dn_dnnl_get()->prim_execute(o->reorder, r->stream, 2, args);
}

/* Sets the pointers of an operand and brings it into the primitive's format. */
static int bring(const dn_cpu_op *op, const dn_cpu_operand *o, const dn_cpu_run *r)
{
    const dn_dnnl *d = dn_dnnl_get();
    void *at = o->slot >= DN_CPU_SCRATCH ? r->scratch + o->at : r->slot[o->slot];
    int st = d->mem_set(o->user_mem, at);
    if (st || !o->reorder)
        return st;
    if (!o->arg) {
        const dn_cpu_operand *dst = find_dst(op);
        bool there = !dst->reorder && dst->slot < DN_CPU_SCRATCH && r->slot[dst->slot] == at;
        return there ? 0 : reorder(o, r);
    }
    st = d->mem_set(o->prim_mem, r->scratch + o->copy);
    return st || o->flow == DN_CPU_OUT ? st : reorder(o, r);
}

static int exec(const dn_cpu_op *op, const dn_cpu_run *r)
{
    const dn_dnnl *d = dn_dnnl_get();
    dn_dnnl_arg args[DN_CPU_OPERANDS + 1];
    int n = 0, st = 0;
    for (int k = 0; k < op->count && !st; k++) {
        st = bring(op, &op->operand[k], r);
        if (op->operand[k].arg)
            args[n++] = (dn_dnnl_arg){ op->operand[k].arg, op->operand[k].prim_mem };
    }
    if (!st && op->pad_mem) {
        st = d->mem_set(op->pad_mem, r->scratch + op->pad_offset);
        args[n++] = (dn_dnnl_arg){ DN_DNNL_ARG_SCRATCHPAD, op->pad_mem };
    }
    if (!st)
        st = d->prim_execute(op->prim, r->stream, n, args);
    for (int k = 0; k < op->count && !st; k++)
        if (op->operand[k].reorder && op->operand[k].flow == DN_CPU_OUT)
            st = reorder(&op->operand[k], r);
    return st ? st : d->stream_wait(r->stream);
}

dn_status dn_cpu_exec(const dn_cpu_op *op, const dn_cpu_run *r)
{
    int saved = dn_dnnl_enter();
    int st = exec(op, r);
    dn_dnnl_leave(saved);
    return st ? dn_cpu_fail("dnnl_primitive_execute", st) : DN_SUCCESS;
}
