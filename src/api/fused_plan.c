/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Making plans of fused operations: what a type needs of the pack, and the steps that compute it. The first failure stays in st, and what
 * follows does nothing.
 *
 *     CONV_BNSTATS    [sba of x]  conv  [stats of y]          CONV_SCALE_BIAS_ADD_ACTIVATION   conv to f32  sba
 *     WGRAD           [sba of x]  conv backward filter        GEN_BITMASK                      sba with a mask
 *     BN_FINALIZE     bnfinal                                 DACTIVATION_FORK_DBATCHNORM      [sba backward or copy]  bn backward
 *
 * Types 4 to 6 and what the vendor's library refuses on newer devices (statistics) are computed all the same. */
#include "fused.h"

#include "ops/act_fn.h"
#include "ops/bn.h"
#include "ops/fused.h"

#include <string.h>

typedef struct build {
    dn_handle *h;
    const dn_fused_const *k;
    dn_fused_plan *plan;
    dn_status st;
    int mode;                     /* cudnnBatchNormMode_t */
    dn_act_param act;
} build;

enum { PART_ALIGN = 256 };

static void fail(build *b, dn_status st)
{
    if (b->st == DN_SUCCESS)
        b->st = st;
}

/* --- what the pack holds --- */

static const dn_tensor none;

/* NULL where the label is not set, which is a failure where it is needed. */
static const dn_fused_item *item_of(build *b, int label, bool needed)
{
    const dn_fused_item *i = &b->k->item[label];
    if (b->st != DN_SUCCESS)
        return NULL;
    if (!i->set && needed)
        b->st = dn_fail(DN_BAD_PARAM, "%s is not set; operations of type %d need it", dn_fused_labels[label].name, b->k->ops);
    return i->set ? i : NULL;
}

/* Whether the copied descriptor was set before it was copied. */
static bool described(build *b, int label, uint32_t set)
{
    if (!set)
        fail(b, dn_fail(DN_BAD_PARAM, "%s is a descriptor that was created but never set", dn_fused_labels[label].name));
    return set;
}

static const dn_tensor *tensor(build *b, int label, bool needed)
{
    const dn_fused_item *i = item_of(b, label, needed);
    return i && described(b, label, i->u.tensor.set) ? &i->u.tensor.t : &none;
}

static const dn_tensor *filter(build *b, int label)
{
    const dn_fused_item *i = item_of(b, label, true);
    return i && described(b, label, i->u.filter.set) ? &i->u.filter.t : &none;
}

/* Whether a placeholder says that there is a pointer. */
static bool given(build *b, int label)
{
    int v = b->k->item[label].value;
    if (b->st == DN_SUCCESS && dn_want_range(v, CUDNN_PTR_NULL, CUDNN_PTR_16B_ALIGNED, dn_fused_labels[label].name,
                                             "CUDNN_PTR_NULL, CUDNN_PTR_ELEM_ALIGNED or CUDNN_PTR_16B_ALIGNED (0 to 2)"))
        b->st = DN_BAD_PARAM;
    return b->st == DN_SUCCESS && v != CUDNN_PTR_NULL;
}

static void want_given(build *b, int label)
{
    if (!given(b, label) && b->st == DN_SUCCESS)
        fail(b, dn_fail(DN_BAD_PARAM, "%s is CUDNN_PTR_NULL; operations of type %d need it", dn_fused_labels[label].name, b->k->ops));
}

/* The pointer of a placeholder as a step's source. Optional ones may be NULL in the variant pack. */
static uint8_t source(build *b, int label, const dn_tensor *t, bool optional)
{
    int pointer = dn_fused_labels[label].pointer;
    given(b, label);
    if (optional)
        b->plan->optional |= 1u << pointer;
    else
        b->plan->needed |= 1u << pointer;
    if (b->k->item[label].value == CUDNN_PTR_16B_ALIGNED)
        b->plan->wide |= 1u << pointer;
    b->plan->bytes[pointer] = (uint8_t)dn_dtype_size((dn_dtype)t->type);
    return (uint8_t)(DN_FROM_POINTER + pointer);
}

static void read_mode(build *b)
{
    int v = b->k->item[CUDNN_PARAM_BN_MODE].value;
    if (dn_want_range(v, 0, DN_BN_MODE_COUNT - 1, "CUDNN_PARAM_BN_MODE", "a cudnnBatchNormMode_t, 0 to 2"))
        fail(b, DN_BAD_PARAM);
    b->mode = b->k->ops == CUDNN_FUSED_CONV_SCALE_BIAS_ADD_ACTIVATION ? DN_BN_SPATIAL : v;
}

/* Without a descriptor there is no activation. */
static void read_act(build *b)
{
    const dn_fused_item *i = item_of(b, CUDNN_PARAM_ACTIVATION_DESC, false);
    b->act = (dn_act_param){ .mode = DN_ACT_IDENTITY };
    if (i && described(b, CUDNN_PARAM_ACTIVATION_DESC, i->u.act.set))
        b->act = dn_act_param_of(&i->u.act.p);
}

/* --- steps --- */

static dn_fused_step *begin(build *b, dn_op op, dn_dir dir)
{
    dn_fused_step *s = &b->plan->step[b->plan->steps++];
    memset(s, 0, sizeof *s);
    dn_problem_init(&s->p, op, dir);
    s->p.flags = DN_F_BETA_ZERO;
    return s;
}

static void bind(dn_fused_step *s, dn_role role, const dn_tensor *t, uint8_t from)
{
    s->p.t[role] = *t;
    s->p.align[role] = t->rank ? 16 : 0;
    s->role[role] = from;
}

/* A tensor of the workspace, without gaps; t is what it is like. */
static uint8_t part(build *b, dn_tensor *t)
{
    int64_t count = 0;
    size_t bytes = 0;
    bool last = !dn_tensor_is_packed(t) && dn_tensor_is_packed_nhwc(t);
    if (b->st != DN_SUCCESS)
        return DN_FROM_NONE;
    if (last ? dn_tensor_pack_nhwc(t) : dn_tensor_pack(t))
        count = dn_tensor_count(t);
    dn_fused_plan *p = b->plan;
    if (!count || __builtin_mul_overflow((size_t)count, dn_dtype_size((dn_dtype)t->type), &bytes) ||
        __builtin_add_overflow(bytes, p->part[p->parts] + PART_ALIGN - 1, &bytes))
        fail(b, dn_fail(DN_BAD_PARAM, "what passes between the steps has more bytes than a size_t holds"));
    p->part[p->parts + 1] = bytes / PART_ALIGN * PART_ALIGN;
    return (uint8_t)(DN_FROM_WORKSPACE + p->parts++);
}

static void set_compute(dn_problem *p, const dn_tensor *data)
{
    p->compute = (uint8_t)(data->type == DN_F64 ? DN_F64 : DN_F32);
}

/* The arrays of a scale-bias step: a pair of placeholders by one description, which like's dimensions and the mode determine. */
static void arrays(build *b, dn_fused_step *s, int desc, int scale, int bias, bool second, const dn_tensor *like)
{
    dn_fused_param *u = &s->p.u.fused;
    bool has_scale = scale >= 0 && given(b, scale), has_bias = bias >= 0 && given(b, bias);
    dn_tensor want, *w = &s->p.t[DN_W];
    if (!has_scale && !has_bias)
        return;
    const dn_tensor *t = tensor(b, desc, true);
    if (b->st != DN_SUCCESS || !like->rank)
        return;
    dn_bn_derive(like, b->mode, &want);
    if (!dn_tensor_same_dims(t, &want))
        fail(b, dn_fail(DN_BAD_PARAM, "%s is not 1 x %lld x %s in CUDNN_PARAM_BN_MODE %d", dn_fused_labels[desc].name,
                        (long long)want.dims[1], b->mode == DN_BN_PER_ACTIVATION ? "the spatial sizes" : "1 ...", b->mode));
    else if (w->rank && (w->type != t->type || !dn_tensor_same_layout(w, t)))
        fail(b, dn_fail(DN_BAD_PARAM, "%s and CUDNN_PARAM_BN_EQSCALEBIAS_DESC differ; they must be equal", dn_fused_labels[desc].name));
    bind(s, DN_W, t, DN_FROM_NONE);
    if (has_scale) {
        *(second ? &u->scale2 : &u->scale) = 1;
        s->aux[second ? DN_AUX_SCALE2 : DN_AUX_SCALE] = source(b, scale, t, false);
    }
    if (has_bias) {
        *(second ? &u->bias2 : &u->bias) = 1;
        s->aux[second ? DN_AUX_BIAS2 : DN_AUX_BIAS] = source(b, bias, t, false);
    }
}

/* Forgets the last step; its work is none. */
static void drop(build *b)
{
    b->plan->steps--;
}

/* x, perhaps scaled, shifted and activated into the workspace, where the convolution reads it. */
static uint8_t prologue(build *b, dn_tensor *x)
{
    uint8_t from = source(b, CUDNN_PARAM_XDATA_PLACEHOLDER, x, false);
    dn_fused_step *s = begin(b, DN_OP_SBA, DN_DIR_FWD);
    arrays(b, s, CUDNN_PARAM_BN_EQSCALEBIAS_DESC, CUDNN_PARAM_BN_EQSCALE_PLACEHOLDER, CUDNN_PARAM_BN_EQBIAS_PLACEHOLDER, false, x);
    if (b->st != DN_SUCCESS || (!dn_sba_has_arrays(&s->p.u.fused) && b->act.mode == DN_ACT_IDENTITY)) {
        drop(b);
        return from;
    }
    s->p.u.fused.act = b->act;
    set_compute(&s->p, x);
    bind(s, DN_X, x, from);
    from = part(b, x);
    bind(s, DN_Y, x, from);
    fail(b, dn_sba_check(&s->p));
    return from;
}

static dn_fused_step *conv(build *b, dn_dir dir, const dn_tensor *x, uint8_t x_from, const dn_tensor *w, uint8_t w_from,
                           const dn_tensor *y, uint8_t y_from)
{
    const dn_fused_item *i = item_of(b, CUDNN_PARAM_CONV_DESC, true);
    dn_fused_step *s = begin(b, DN_OP_CONV, dir);
    if (!i || !described(b, CUDNN_PARAM_CONV_DESC, i->u.conv.set) || b->st != DN_SUCCESS)
        return s;
    s->p.u.conv = i->u.conv.p;
    s->p.math = (uint8_t)i->u.conv.math;
    s->p.compute = (uint8_t)i->u.conv.compute;
    bind(s, DN_X, x, x_from);
    bind(s, DN_W, w, w_from);
    bind(s, DN_Y, y, y_from);
    b->st = dn_conv_check(&s->p);
    return s;
}

/* --- the types --- */

static void stats(build *b, const dn_tensor *y, uint8_t y_from)
{
    bool sum = given(b, CUDNN_PARAM_YSUM_PLACEHOLDER), sq = given(b, CUDNN_PARAM_YSQSUM_PLACEHOLDER);
    if (b->st != DN_SUCCESS || (!sum && !sq))
        return;
    const dn_tensor *t = tensor(b, CUDNN_PARAM_YSTATS_DESC, true);
    dn_fused_step *s = begin(b, DN_OP_STATS, DN_DIR_FWD);
    dn_tensor want;
    if (b->st != DN_SUCCESS)
        return;
    dn_bn_derive(y, b->mode, &want);
    if (!dn_tensor_same_dims(t, &want)) {
        b->st = dn_fail(DN_BAD_PARAM, "CUDNN_PARAM_YSTATS_DESC does not fit CUDNN_PARAM_YDESC in CUDNN_PARAM_BN_MODE %d", b->mode);
        return;
    }
    set_compute(&s->p, y);
    s->p.u.fused = (dn_fused_param){ .sum = sum, .sqsum = sq };
    bind(s, DN_X, y, y_from);
    bind(s, DN_W, t, DN_FROM_NONE);
    if (sum)
        s->aux[DN_AUX_SUM] = source(b, CUDNN_PARAM_YSUM_PLACEHOLDER, t, false);
    if (sq)
        s->aux[DN_AUX_SQSUM] = source(b, CUDNN_PARAM_YSQSUM_PLACEHOLDER, t, false);
    b->st = dn_stats_check(&s->p);
}

static void make_conv_stats(build *b)
{
    dn_tensor x = *tensor(b, CUDNN_PARAM_XDESC, true);
    item_of(b, CUDNN_PARAM_CONV_DESC, true);
    const dn_tensor *w = filter(b, CUDNN_PARAM_WDESC), *y = tensor(b, CUDNN_PARAM_YDESC, true);
    if (b->st != DN_SUCCESS)
        return;
    uint8_t from = prologue(b, &x), out = source(b, CUDNN_PARAM_YDATA_PLACEHOLDER, y, false);
    conv(b, DN_DIR_FWD, &x, from, w, source(b, CUDNN_PARAM_WDATA_PLACEHOLDER, w, false), y, out);
    stats(b, y, out);
}

static void make_wgrad(build *b)
{
    dn_tensor x = *tensor(b, CUDNN_PARAM_XDESC, true);
    item_of(b, CUDNN_PARAM_CONV_DESC, true);
    const dn_tensor *w = filter(b, CUDNN_PARAM_DWDESC), *y = tensor(b, CUDNN_PARAM_DYDESC, true);
    if (b->st != DN_SUCCESS)
        return;
    uint8_t from = prologue(b, &x), dy = source(b, CUDNN_PARAM_DYDATA_PLACEHOLDER, y, false);
    conv(b, DN_DIR_BWD_FILTER, &x, from, w, source(b, CUDNN_PARAM_DWDATA_PLACEHOLDER, w, false), y, dy);
}

/* An array of the final step, where its placeholder says that there is one. */
static bool array(build *b, dn_fused_step *s, dn_aux which, int label, const dn_tensor *t, bool optional)
{
    bool has = given(b, label);
    if (has)
        s->aux[which] = source(b, label, t, optional);
    return has;
}

static void make_final(build *b)
{
    bool train = b->k->ops == CUDNN_FUSED_BN_FINALIZE_STATISTICS_TRAINING;
    dn_fused_step *s = begin(b, DN_OP_BN_FINAL, train ? DN_DIR_TRAIN : DN_DIR_INFER);
    dn_fused_param *u = &s->p.u.fused;
    const dn_tensor *sums = train ? tensor(b, CUDNN_PARAM_YSTATS_DESC, true) : NULL;
    if (train) {
        want_given(b, CUDNN_PARAM_YSUM_PLACEHOLDER);
        want_given(b, CUDNN_PARAM_YSQSUM_PLACEHOLDER);
    }
    const dn_tensor *eq = tensor(b, CUDNN_PARAM_BN_EQSCALEBIAS_DESC, true);
    const dn_tensor *w = tensor(b, CUDNN_PARAM_BN_SCALEBIAS_MEANVAR_DESC, true);
    want_given(b, CUDNN_PARAM_BN_SCALE_PLACEHOLDER);
    want_given(b, CUDNN_PARAM_BN_BIAS_PLACEHOLDER);
    if (!train) {
        want_given(b, CUDNN_PARAM_BN_RUNNING_MEAN_PLACEHOLDER);
        want_given(b, CUDNN_PARAM_BN_RUNNING_VAR_PLACEHOLDER);
    }
    if (b->st == DN_SUCCESS && train && (sums->type != w->type || !dn_tensor_same_layout(sums, w)))
        b->st = dn_fail(DN_BAD_PARAM, "CUDNN_PARAM_YSTATS_DESC and CUDNN_PARAM_BN_SCALEBIAS_MEANVAR_DESC differ; they must be equal");
    if (b->st != DN_SUCCESS)
        return;
    set_compute(&s->p, w);
    bind(s, DN_W, w, DN_FROM_NONE);
    bind(s, DN_B, eq, DN_FROM_NONE);
    u->scale = array(b, s, DN_AUX_SCALE, CUDNN_PARAM_BN_SCALE_PLACEHOLDER, w, false);
    u->bias = array(b, s, DN_AUX_BIAS, CUDNN_PARAM_BN_BIAS_PLACEHOLDER, w, false);
    u->scale2 = array(b, s, DN_AUX_SCALE2, CUDNN_PARAM_BN_EQSCALE_PLACEHOLDER, eq, true);
    u->bias2 = array(b, s, DN_AUX_BIAS2, CUDNN_PARAM_BN_EQBIAS_PLACEHOLDER, eq, true);
    bool mean = array(b, s, DN_AUX_MEAN, CUDNN_PARAM_BN_RUNNING_MEAN_PLACEHOLDER, w, train);
    bool var = array(b, s, DN_AUX_VAR, CUDNN_PARAM_BN_RUNNING_VAR_PLACEHOLDER, w, train);
    u->running = mean || var;
    if (train) {
        array(b, s, DN_AUX_SUM, CUDNN_PARAM_YSUM_PLACEHOLDER, w, false);
        array(b, s, DN_AUX_SQSUM, CUDNN_PARAM_YSQSUM_PLACEHOLDER, w, false);
        mean = array(b, s, DN_AUX_SAVE_MEAN, CUDNN_PARAM_BN_SAVED_MEAN_PLACEHOLDER, w, true);
        var = array(b, s, DN_AUX_SAVE_INVSTD, CUDNN_PARAM_BN_SAVED_INVSTD_PLACEHOLDER, w, true);
        u->saved = mean || var;
    }
    fail(b, dn_bn_final_check(&s->p));
}

/* y = act(x scaled and shifted + z scaled and shifted), perhaps with a mask. */
static void epilogue(build *b, const dn_tensor *x, uint8_t x_from)
{
    int bias = b->k->ops == CUDNN_FUSED_CONV_SCALE_BIAS_ADD_ACTIVATION ? -1 : CUDNN_PARAM_BN_EQBIAS_PLACEHOLDER;
    dn_fused_step *s = begin(b, DN_OP_SBA, DN_DIR_FWD);
    const dn_tensor *y = tensor(b, CUDNN_PARAM_YDESC, true);
    if (b->st != DN_SUCCESS)
        return;
    set_compute(&s->p, x);
    s->p.u.fused.act = b->act;
    bind(s, DN_X, x, x_from);
    bind(s, DN_Y, y, source(b, CUDNN_PARAM_YDATA_PLACEHOLDER, y, false));
    arrays(b, s, CUDNN_PARAM_BN_EQSCALEBIAS_DESC, CUDNN_PARAM_BN_EQSCALE_PLACEHOLDER, bias, false, x);
    arrays(b, s, CUDNN_PARAM_BN_Z_EQSCALEBIAS_DESC, CUDNN_PARAM_BN_Z_EQSCALE_PLACEHOLDER, CUDNN_PARAM_BN_Z_EQBIAS_PLACEHOLDER, true, x);
    if (given(b, CUDNN_PARAM_ZDATA_PLACEHOLDER)) {
        const dn_tensor *z = tensor(b, CUDNN_PARAM_ZDESC, true);
        bind(s, DN_Z, z, source(b, CUDNN_PARAM_ZDATA_PLACEHOLDER, z, false));
    }
    if (b->k->ops == CUDNN_FUSED_SCALE_BIAS_ADD_ACTIVATION_GEN_BITMASK && given(b, CUDNN_PARAM_ACTIVATION_BITMASK_PLACEHOLDER)) {
        const dn_tensor *m = tensor(b, CUDNN_PARAM_ACTIVATION_BITMASK_DESC, true);
        bind(s, DN_B, m, source(b, CUDNN_PARAM_ACTIVATION_BITMASK_PLACEHOLDER, m, false));
    }
    if (b->st == DN_SUCCESS)
        b->st = dn_sba_check(&s->p);
}

/* The convolution's result stays f32 (f64 for f64) until the rest is done, where a row takes that. */
static void make_conv_add(build *b)
{
    const dn_tensor *x = tensor(b, CUDNN_PARAM_XDESC, true);
    item_of(b, CUDNN_PARAM_CONV_DESC, true);
    const dn_tensor *w = filter(b, CUDNN_PARAM_WDESC), *y = tensor(b, CUDNN_PARAM_YDESC, true);
    if (b->st != DN_SUCCESS)
        return;
    dn_tensor t = *y;
    size_t unused;
    if (t.type != DN_F64)
        t.type = DN_F32;
    uint8_t x_from = source(b, CUDNN_PARAM_XDATA_PLACEHOLDER, x, false), w_from = source(b, CUDNN_PARAM_WDATA_PLACEHOLDER, w, false);
    dn_fused_step *s = conv(b, DN_DIR_FWD, x, x_from, w, w_from, &t, DN_FROM_NONE);
    if (b->st == DN_SUCCESS && dn_plan_workspace(b->h, &s->p, &unused) != DN_SUCCESS)
        t.type = y->type;
    uint8_t from = part(b, &t);
    bind(s, DN_Y, &t, from);
    epilogue(b, &t, from);
}

static void make_bitmask(build *b)
{
    const dn_tensor *x = tensor(b, CUDNN_PARAM_XDESC, true);
    if (b->st == DN_SUCCESS)
        epilogue(b, x, source(b, CUDNN_PARAM_XDATA_PLACEHOLDER, x, false));
}

/* The gradient before the activation: into dz where that is wanted, else the workspace; dy itself where nothing changes it. */
static uint8_t stop_gradient(build *b, dn_tensor *g)
{
    bool stops = b->act.mode != DN_ACT_IDENTITY, fork = given(b, CUDNN_PARAM_DZDATA_PLACEHOLDER);
    const dn_tensor *dz = fork ? tensor(b, CUDNN_PARAM_DZDESC, true) : &none;
    uint8_t dy_from = source(b, CUDNN_PARAM_DYDATA_PLACEHOLDER, g, false), from;
    if (b->st != DN_SUCCESS || (!stops && !fork))
        return dy_from;
    if (stops && b->act.mode != DN_ACT_RELU && b->act.mode != DN_ACT_CLIPPED_RELU)
        fail(b, dn_fail(DN_NOT_SUPPORTED, "activation mode is %d; with a bit mask it must be 1 (RELU), 3 (CLIPPED_RELU) or 5 (IDENTITY)",
                        b->act.mode));
    dn_fused_step *s = stops ? begin(b, DN_OP_SBA, DN_DIR_BWD_DATA) : begin(b, DN_OP_TRANSFORM, DN_DIR_FWD);
    set_compute(&s->p, g);
    bind(s, stops ? DN_DY : DN_X, g, dy_from);
    if (fork) {
        *g = *dz;
        from = source(b, CUDNN_PARAM_DZDATA_PLACEHOLDER, dz, false);
    } else {
        from = part(b, g);
    }
    bind(s, stops ? DN_DX : DN_Y, g, from);
    if (stops) {
        const dn_tensor *m = tensor(b, CUDNN_PARAM_ACTIVATION_BITMASK_DESC, true);
        bind(s, DN_B, m, source(b, CUDNN_PARAM_ACTIVATION_BITMASK_PLACEHOLDER, m, false));
    }
    if (b->st == DN_SUCCESS)
        b->st = stops ? dn_sba_check(&s->p) : dn_pointwise_check(&s->p);
    return from;
}

/* A gradient by a parameter: the caller's array, or the workspace where it is not wanted. */
static uint8_t gradient(build *b, int label, const dn_tensor *w)
{
    dn_tensor t = *w;
    if (given(b, label))
        return source(b, label, w, false);
    return dn_tensor_is_packed(w) ? part(b, &t) : DN_FROM_NONE;
}

static void make_dbn(build *b)
{
    const dn_tensor *x = tensor(b, CUDNN_PARAM_XDESC, true), *dx = tensor(b, CUDNN_PARAM_DXDESC, true);
    const dn_tensor *w = tensor(b, CUDNN_PARAM_BN_SCALEBIAS_MEANVAR_DESC, true);
    dn_tensor g = *tensor(b, CUDNN_PARAM_DYDESC, true);
    if (b->st != DN_SUCCESS)
        return;
    uint8_t g_from = stop_gradient(b, &g);
    dn_fused_step *s = begin(b, DN_OP_BN, DN_DIR_BWD);
    set_compute(&s->p, x);
    s->p.u.bn.mode = b->mode;
    s->p.u.bn.act.mode = DN_ACT_RELU;  /* the problem line's standard: nothing is fused */
    bind(s, DN_X, x, source(b, CUDNN_PARAM_XDATA_PLACEHOLDER, x, false));
    bind(s, DN_DY, &g, g_from);
    bind(s, DN_DX, dx, source(b, CUDNN_PARAM_DXDATA_PLACEHOLDER, dx, false));
    bind(s, DN_W, w, DN_FROM_NONE);
    want_given(b, CUDNN_PARAM_BN_SCALE_PLACEHOLDER);
    bool mean = given(b, CUDNN_PARAM_BN_SAVED_MEAN_PLACEHOLDER), inv = given(b, CUDNN_PARAM_BN_SAVED_INVSTD_PLACEHOLDER);
    if (b->st == DN_SUCCESS && mean != inv)
        b->st = dn_fail(DN_BAD_PARAM, "of CUDNN_PARAM_BN_SAVED_MEAN_PLACEHOLDER and CUDNN_PARAM_BN_SAVED_INVSTD_PLACEHOLDER one is"
                        " CUDNN_PTR_NULL; both or none may be");
    if (b->st != DN_SUCCESS)
        return;
    s->aux[DN_AUX_SCALE] = source(b, CUDNN_PARAM_BN_SCALE_PLACEHOLDER, w, false);
    array(b, s, DN_AUX_SAVE_MEAN, CUDNN_PARAM_BN_SAVED_MEAN_PLACEHOLDER, w, false);
    array(b, s, DN_AUX_SAVE_INVSTD, CUDNN_PARAM_BN_SAVED_INVSTD_PLACEHOLDER, w, false);
    s->aux[DN_AUX_DSCALE] = gradient(b, CUDNN_PARAM_BN_DSCALE_PLACEHOLDER, w);
    s->aux[DN_AUX_DBIAS] = gradient(b, CUDNN_PARAM_BN_DBIAS_PLACEHOLDER, w);
    fail(b, dn_bn_check(&s->p));
}

/* The workspace: parts that pass between steps, then what any step needs for itself. */
static void measure(build *b)
{
    dn_fused_plan *p = b->plan;
    size_t most = 0;
    for (int i = 0; i < p->steps && b->st == DN_SUCCESS; i++) {
        size_t bytes = 0;
        b->st = dn_plan_workspace(b->h, &p->step[i].p, &bytes);
        most = bytes > most ? bytes : most;
    }
    if (b->st == DN_SUCCESS && __builtin_add_overflow(p->part[p->parts], most, &p->workspace))
        b->st = dn_fail(DN_BAD_PARAM, "the workspace has more bytes than a size_t holds");
}

dn_status dn_fused_make(dn_handle *h, dn_fused_plan *plan, const dn_fused_const *pack)
{
    static void (*const makers[DN_FUSED_TYPES])(build *b) = {
        [CUDNN_FUSED_SCALE_BIAS_ACTIVATION_CONV_BNSTATS] = make_conv_stats, [CUDNN_FUSED_SCALE_BIAS_ACTIVATION_WGRAD] = make_wgrad,
        [CUDNN_FUSED_BN_FINALIZE_STATISTICS_TRAINING] = make_final, [CUDNN_FUSED_BN_FINALIZE_STATISTICS_INFERENCE] = make_final,
        [CUDNN_FUSED_CONV_SCALE_BIAS_ADD_ACTIVATION] = make_conv_add, [CUDNN_FUSED_SCALE_BIAS_ADD_ACTIVATION_GEN_BITMASK] = make_bitmask,
        [CUDNN_FUSED_DACTIVATION_FORK_DBATCHNORM] = make_dbn,
    };
    dn_fused_plan made = { .cookie = plan->cookie, .ops = plan->ops, .made = 1 };
    build b = { .h = h, .k = pack, .plan = &made };
    read_mode(&b);
    read_act(&b);
    if (b.st == DN_SUCCESS)
        makers[pack->ops](&b);
    measure(&b);
    if (b.st == DN_SUCCESS)
        *plan = made;
    return b.st;
}
