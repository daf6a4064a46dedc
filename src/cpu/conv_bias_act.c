/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 *     y = act(alpha * conv(x, w) + alpha2 * z + bias)
 *
 * Three primitives serve one problem, because the factors are known only when it runs. alpha 1 without z, or with alpha2 1: the
 * convolution itself adds bias and z and applies the activation as it stores (op FUSED, op FUSED_SUM). Any other factors, and the
 * ReLUs that let NaN through, which oneDNN's do not: the convolution as f32 in scratch, and one pass of our own (op PLAIN). */
#include "core/os.h"
#include "cpu/conv.h"
#include "ops/act_fn.h"

enum { PLAIN, FUSED, FUSED_SUM };

/* False where oneDNN's function is not ours. *n is 0 for the identity. */
static bool post_of(const dn_act_param *act, dn_dnnl_post *post, int *n)
{
    static const dn_dnnl_alg algs[DN_ACT_COUNT] = {
        [DN_ACT_SIGMOID] = DN_DNNL_LOGISTIC, [DN_ACT_RELU] = DN_DNNL_RELU, [DN_ACT_TANH] = DN_DNNL_TANH,
        [DN_ACT_CLIPPED_RELU] = DN_DNNL_CLIP, [DN_ACT_ELU] = DN_DNNL_ELU, [DN_ACT_SWISH] = DN_DNNL_SWISH,
    };
    *n = act->mode != DN_ACT_IDENTITY;
    *post = (dn_dnnl_post){ .alg = algs[act->mode] };
    switch (act->mode) {
    case DN_ACT_RELU:
        return !act->nan;
    case DN_ACT_CLIPPED_RELU:
        post->beta = (float)act->coef;
        return !act->nan && act->coef >= 0;
    case DN_ACT_ELU:
        post->alpha = (float)act->coef;
        return true;
    case DN_ACT_SWISH:
        post->alpha = (float)act->beta;
        return true;
    default:
        return true;
    }
}

static const char *refuses(const dn_problem *p)
{
    static const dn_role more[] = { DN_Z };
    const dn_tensor *y = &p->t[DN_Y], *z = &p->t[DN_Z], *b = &p->t[DN_B];
    const char *why = dn_cpu_conv_refuses(p);
    if (!why && z->rank)
        why = dn_cpu_tensors(p, more, 1);
    if (why)
        return why;
    if (z->rank && (z->type != y->type || !dn_tensor_same_layout(z, y)))
        return "needs z with the type and the layout of y";
    if (b->rank && b->type != DN_F32 && b->type != y->type)
        return "needs a bias of type f32 or of y's type";
    if (b->rank && (dn_tensor_count(b) != y->dims[1] || b->dims[1] != y->dims[1] || (b->dims[1] > 1 && b->strides[1] != 1)))
        return "needs a packed bias, one element a channel";
    if (b->rank && p->align[DN_B] && p->align[DN_B] < dn_dtype_size(b->type))
        return "needs pointers aligned to the element size";
    return NULL;
}

/* Whether some output has nothing but padding under its window. For such rows oneDNN 2.6's bf16 kernels go through their
 * post-operations on a path that crashes where one of them is a sum. */
static bool has_dry_output(const dn_problem *p)
{
    const dn_conv_param *c = &p->u.conv;
    for (int d = 0; d < c->spatial; d++) {
        for (int64_t o = 0; o < p->t[DN_Y].dims[2 + d]; o++) {
            int64_t at = o * c->stride[d] - c->pad[d], taps = 0;
            for (int64_t k = 0; k < p->t[DN_W].dims[2 + d]; k++, at += c->dilation[d])
                taps += at >= 0 && at < p->t[DN_X].dims[2 + d];
            if (!taps)
                return true;
        }
    }
    return false;
}

/* The two fused ops. Where oneDNN has no code for one of them, the plain one takes its place. */
static void build_fused(const dn_problem *p, dn_cpu_state *s, size_t from)
{
    dn_cpu_conv_formats f = dn_cpu_conv_formats_of(p, true);
    dn_dnnl_post post[2] = { { .alg = DN_DNNL_NONE } };
    int n;
    bool bias = p->t[DN_B].rank;
    s->optional[FUSED] = s->optional[FUSED_SUM] = true;
    if (!post_of(&p->u.conv.act, &post[1], &n))
        return;
    if (!dn_cpu_conv_op(p, &f, &s->op[FUSED], NULL, bias, post + 1, n))
        dn_cpu_place(s, &s->op[FUSED], from);
    dn_dnnl_md *z = NULL;
    dn_cpu_op *sum = &s->op[FUSED_SUM];
    if (!p->t[DN_Z].rank || has_dry_output(p) || dn_cpu_conv_op(p, &f, sum, NULL, bias, post, n + 1))
        return;
    if (!dn_cpu_conv_md(&z, p, DN_Z, f.layout, p->t[DN_Z].type) && !dn_cpu_bind_sum(sum, DN_Z, z))
        dn_cpu_place(s, sum, from);
    else
        dn_cpu_op_free(sum);
}

static const char *build(const dn_problem *p, dn_cpu_state *s)
{
    const char *why = refuses(p);
    if (why)
        return why;
    dn_cpu_conv_formats f = dn_cpu_conv_formats_of(p, false);
    s->stage = dn_cpu_region(s, (size_t)dn_tensor_count(&p->t[DN_Y]) * sizeof(float));
    size_t from = s->scratch;
    why = dn_cpu_conv_op(p, &f, &s->op[PLAIN], &s->stage, false, NULL, 0);
    if (why)
        return why;
    dn_cpu_place(s, &s->op[PLAIN], from);
    build_fused(p, s, from);
    return NULL;
}

/* --- the pass after the plain convolution --- */

typedef struct finish {
    const dn_problem *p;
    const dn_args *a;
    const float *r;
    bool channel_last;
    int64_t channels, n;  /* n: elements of a row, which runs along the channels or has one channel */
} finish;

enum { PIECE = 512 };

/* Elements [at, at + n), whose channels are c, or c, c + 1, ... */
static void finish_piece(const finish *j, int64_t at, int64_t c, int64_t n)
{
    const dn_args *a = j->a;
    const dn_tensor *y = &j->p->t[DN_Y], *b = &j->p->t[DN_B];
    double v[PIECE], z[PIECE], bias[PIECE] = { 0 };
    dn_load_row(DN_F32, j->r, at, 1, n, v);
    if (b->rank)
        dn_load_row(b->type, a->ptr[DN_B], c, j->channel_last, n, bias);
    for (int64_t i = 0; i < n; i++)
        v[i] = v[i] * a->alpha + bias[i];
    if (j->p->t[DN_Z].rank && a->alpha2 != 0) {
        dn_load_row(y->type, a->ptr[DN_Z], at, 1, n, z);
        for (int64_t i = 0; i < n; i++)
            v[i] += a->alpha2 * z[i];
    }
    for (int64_t i = 0; i < n; i++)
        v[i] = dn_act_apply(&j->p->u.conv.act, v[i]);
    dn_store_row(y->type, a->ptr[DN_Y], at, 1, n, v, 1, 0);
}

static void finish_rows(void *ctx, int64_t begin, int64_t end)
{
    const finish *j = ctx;
    for (int64_t row = begin; row < end; row++)
        for (int64_t i = 0; i < j->n; i += PIECE)
            finish_piece(j, row * j->n + i, j->channel_last ? i : row % j->channels, j->n - i < PIECE ? j->n - i : PIECE);
}

static dn_status run_plain(const dn_problem *p, const dn_args *a, const dn_cpu_state *s, const dn_cpu_run *r)
{
    static const dn_role roles[] = { DN_X, DN_Y };
    dn_status st = dn_cpu_exec(&s->op[PLAIN], r);
    if (st != DN_SUCCESS)
        return st;
    const dn_tensor *y = &p->t[DN_Y];
    int64_t count = dn_tensor_count(y), c = y->dims[1];
    bool last = dn_tensor_is_packed_nhwc(y) && (dn_cpu_layout_of(p, roles, 2) == DN_CPU_NHWC || !dn_tensor_is_packed(y));
    finish j = { p, a, (const float *)(r->scratch + s->stage), last, c, last ? c : count / (y->dims[0] * c) };
    dn_parallel(count / j.n, 1 + (1 << 14) / j.n, finish_rows, &j);
    return DN_SUCCESS;
}

/* --- rows --- */

static dn_status run(dn_handle *h, const dn_plan *plan, const dn_args *a)
{
    const dn_problem *p = &plan->problem;
    const dn_cpu_state *s = plan->state;
    dn_cpu_run r;
    dn_cpu_begin(&r, h, plan, a);
    bool z = p->t[DN_Z].rank && a->alpha2 != 0;
    if (a->alpha == 1 && !z && s->op[FUSED].pd)
        return dn_cpu_exec(&s->op[FUSED], &r);
    if (a->alpha == 1 && z && a->alpha2 == 1 && s->op[FUSED_SUM].pd)
        return dn_cpu_exec(&s->op[FUSED_SUM], &r);
    return run_plain(p, a, s, &r);
}

static const char *check(const dn_problem *p)
{
    return dn_cpu_check(p, build);
}

static size_t workspace(const dn_problem *p)
{
    return dn_cpu_workspace(p, build);
}

static dn_status prepare(dn_handle *h, dn_plan *plan)
{
    return dn_cpu_prepare(h, plan, build, plan->solver->workspace);
}

static const dn_solver rows[] = {
    { .name = "cpu_convba_fwd_implicit_precomp_gemm", .op = DN_OP_CONV_BIAS_ACT, .dir = DN_DIR_FWD, .algo = 1, .check = check,
      .workspace = workspace, .prepare = prepare, .run = run, .release = dn_cpu_release },
    { .name = "cpu_convba_fwd_implicit_gemm", .op = DN_OP_CONV_BIAS_ACT, .dir = DN_DIR_FWD, .algo = 0, .check = check,
      .prepare = prepare, .run = run, .release = dn_cpu_release },
};

const dn_rows dn_cpu_conv_bias_act = { rows, sizeof rows / sizeof rows[0] };
