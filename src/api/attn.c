/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Multi-head attention: sizes of buffers, forward, gradients. */
#include "attn.h"

#include <string.h>

/* A call being turned into a problem; the first step that fails leaves its status and text, and the later ones do nothing. */
typedef struct attn_call {
    dn_handle *h;
    const dn_attn_desc *d;
    dn_problem p;
    dn_args a;
    dn_status st;
} attn_call;

static void begin(attn_call *c, cudnnHandle_t handle, const cudnnAttnDescriptor_t desc, dn_dir dir)
{
    memset(&c->a, 0, sizeof c->a);
    dn_problem_init(&c->p, DN_OP_ATTN, dir);
    c->h = dn_handle_of(handle);
    c->d = c->h ? dn_attn_of(desc, "attnDesc") : NULL;
    c->st = c->d ? DN_SUCCESS : DN_BAD_PARAM;
    if (!c->d)
        return;
    c->p.u.attn = c->d->p;
    c->p.math = (uint8_t)c->d->math;
    c->p.compute = (uint8_t)c->d->compute;
    c->p.flags = DN_F_BETA_ZERO;
    c->a.alpha = 1;
    c->a.step = -1;
}

static void want(attn_call *c, const void *ptr, const char *name)
{
    if (c->st == DN_SUCCESS)
        c->st = dn_want(ptr, name);
}

static int32_t key_beams(const dn_attn_desc *d)
{
    return d->mode & CUDNN_ATTN_QUERYMAP_ONE_TO_ONE ? d->beam : 1;
}

/* The sizes that the attention descriptor knows of sequence data. keys: of keys or values. */
static dn_status check_seq(const dn_attn_desc *d, const dn_seq_desc *s, int64_t vector, bool keys, const char *name)
{
    int beams = keys ? key_beams(d) : d->beam;
    const struct { int axis; int64_t most; bool exact; const char *what, *rule; } rules[] = {
        { CUDNN_SEQDATA_VECT_DIM, vector, true, "vector", "" },
        { CUDNN_SEQDATA_BEAM_DIM, beams, true, "beam", "" },
        { CUDNN_SEQDATA_BATCH_DIM, d->batch, false, "batch", " or less" },
        { CUDNN_SEQDATA_TIME_DIM, keys ? d->t : d->s, false, "time", " or less" },
    };
    if (s->type != d->type)
        return dn_fail(DN_BAD_PARAM, "%s is of %s; it must be of attnDesc's type, %s", name, dn_dtype_name((dn_dtype)s->type),
                       dn_dtype_name((dn_dtype)d->type));
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        int v = s->dims[rules[i].axis];
        if (rules[i].exact ? v != rules[i].most : v > rules[i].most)
            return dn_fail(DN_BAD_PARAM, "%s has %s size %d; by attnDesc it must be %lld%s", name, rules[i].what, v, (long long)rules[i].most,
                           rules[i].rule);
    }
    return DN_SUCCESS;
}

/* Sequence data under a role; out NULL: no data of this role, its description alone. */
static void seq(attn_call *c, dn_role role, const cudnnSeqDataDescriptor_t desc, const char *desc_name, const void *ptr, const char *name,
                int64_t vector, bool keys)
{
    if (c->st != DN_SUCCESS)
        return;
    const dn_seq_desc *s = dn_seq_of(desc, desc_name);
    dn_tensor t;
    c->st = !s ? DN_BAD_PARAM : dn_want(ptr, name);
    if (c->st == DN_SUCCESS)
        c->st = check_seq(c->d, s, vector, keys, desc_name);
    if (c->st != DN_SUCCESS)
        return;
    dn_seq_tensor(&t, s->type, s->dims, s->axes);
    dn_bind(&c->p, &c->a, role, &t, ptr);
}

static int64_t out_size(const dn_attn_desc *d)
{
    return d->p.o_proj ? d->p.o_proj : (int64_t)d->p.heads * (d->p.v_proj ? d->p.v_proj : d->in[DN_ATTN_V]);
}

static void inputs(attn_call *c, const char *const names[3], const cudnnSeqDataDescriptor_t q, const void *queries,
                   const cudnnSeqDataDescriptor_t k, const void *keys, const cudnnSeqDataDescriptor_t v, const void *values)
{
    if (c->st != DN_SUCCESS)
        return;
    seq(c, DN_X, q, names[0], queries, "queries", c->d->in[DN_ATTN_Q], false);
    seq(c, DN_B, k, names[1], keys, "keys", c->d->in[DN_ATTN_K], true);
    seq(c, DN_Z, v, names[2], values, "values", c->d->in[DN_ATTN_V], true);
}

/* The weight buffer; ptr may be NULL where there are no weights. */
static void weights(attn_call *c, size_t size, const void *ptr, const char *name)
{
    if (c->st != DN_SUCCESS)
        return;
    int64_t count = dn_attn_weights(c->d);
    size_t need = (size_t)count * dn_dtype_size((dn_dtype)c->d->type);
    dn_tensor t = { .type = (uint8_t)c->d->type, .rank = 1, .vect = 1, .dims = { count }, .strides = { 1 } };
    if (size < need)
        c->st = dn_fail(DN_BAD_PARAM, "weightSizeInBytes is %zu; it must be %zu or more", size, need);
    else if (need)
        want(c, ptr, name);
    if (c->st == DN_SUCCESS && need)
        dn_bind(&c->p, &c->a, DN_W, &t, ptr);
}

static void reserve(attn_call *c, size_t size, void *ptr)
{
    dn_attn_reserve r;
    want(c, ptr, "reserveSpace");
    if (c->st != DN_SUCCESS || (c->st = dn_attn_check(&c->p)) != DN_SUCCESS)
        return;
    dn_attn_reserve_layout(&c->p, &r);  /* the check saw that it can be counted */
    if (size < r.bytes)
        c->st = dn_fail(DN_BAD_PARAM, "reserveSpaceSizeInBytes is %zu; it must be %zu or more", size, r.bytes);
    c->a.reserve = ptr;
    c->a.reserve_size = size;
}

/* What dropout a training call has: none where its probability is 0. Gradients draw from the copy of its states in the reserve space. */
static void dropout(attn_call *c, cudnnDropoutDescriptor_t desc, const char *name, int32_t *has, float *probability, dn_aux states)
{
    if (c->st != DN_SUCCESS || !desc)
        return;
    const dn_dropout_desc *d = dn_dropout_of(desc, name);
    if (!d || (d->dropout > 0 && !d->states && c->p.dir == DN_DIR_TRAIN)) {
        c->st = d ? dn_fail(DN_BAD_PARAM, "%s of attnDesc has no states", name) : DN_BAD_PARAM;
        return;
    }
    *has = d->dropout > 0;
    *probability = d->dropout;
    c->a.aux[states] = d->dropout > 0 ? d->states : NULL;
}

static void dropouts(attn_call *c)
{
    if (c->st != DN_SUCCESS)
        return;
    dropout(c, c->d->dropout, "attnDropoutDesc", &c->p.u.attn.dropout, &c->a.dropout, DN_AUX_STATES);
    dropout(c, c->d->post, "postDropoutDesc", &c->p.u.attn.post, &c->a.dropout2, DN_AUX_STATES2);
}

static void lengths(attn_call *c, const int *lo, const int *hi, const int *qo, const char *qo_name, const int *kv, const char *kv_name)
{
    want(c, lo, "loWinIdx");
    want(c, hi, "hiWinIdx");
    want(c, qo, qo_name);
    want(c, kv, kv_name);
    c->a.lo = lo;
    c->a.hi = hi;
    c->a.aux[DN_AUX_LENGTHS_QO] = (void *)(uintptr_t)qo;
    c->a.aux[DN_AUX_LENGTHS_KV] = (void *)(uintptr_t)kv;
}

/* Both spaces hold arrays of all types. */
static void aligned(attn_call *c, const void *ptr, const char *name)
{
    if (c->st == DN_SUCCESS && (uintptr_t)ptr % 16)
        c->st = dn_fail(DN_BAD_PARAM, "%s is %p; it must be a multiple of 16", name, ptr);
}

static cudnnStatus_t run(attn_call *c, size_t size, void *workspace)
{
    aligned(c, workspace, "workSpace");
    aligned(c, c->a.reserve, "reserveSpace");
    c->a.workspace = workspace;
    c->a.workspace_size = size;
    if (c->st == DN_SUCCESS)
        c->st = dn_attn_check(&c->p);
    return dn_answer(c->st == DN_SUCCESS ? dn_run(c->h, &c->p, &c->a) : c->st);
}

/* --- sizes --- */

/* Whether the largest sequences that the descriptor allows can be described and counted. */
static dn_status check_largest(const dn_attn_desc *d)
{
    const struct { const char *what; int64_t time, beams, vector; } all[] = {
        { "queries", d->s, d->beam, d->in[DN_ATTN_Q] }, { "keys", d->t, key_beams(d), d->in[DN_ATTN_K] },
        { "values", d->t, key_beams(d), d->in[DN_ATTN_V] }, { "output", d->s, d->beam, out_size(d) },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        int64_t n = all[i].time * d->batch;
        if (all[i].vector > INT32_MAX || __builtin_mul_overflow(n, all[i].beams, &n) || __builtin_mul_overflow(n, all[i].vector, &n)
            || n > DN_COUNT_MAX)
            return dn_fail(DN_BAD_PARAM, "attnDesc allows %s of time %lld, batch %d, beam %lld, vector %lld; a vector has less than 2^31 "
                           "values and all of them are 2^52 or less", all[i].what, (long long)all[i].time, d->batch,
                           (long long)all[i].beams, (long long)all[i].vector);
    }
    return DN_SUCCESS;
}

/* The largest problem of this direction that the descriptor allows. */
static void largest(const attn_call *c, dn_dir dir, dn_problem *p)
{
    static const int32_t axes[4] = { CUDNN_SEQDATA_TIME_DIM, CUDNN_SEQDATA_BATCH_DIM, CUDNN_SEQDATA_BEAM_DIM, CUDNN_SEQDATA_VECT_DIM };
    const dn_attn_desc *d = c->d;
    int32_t beams = key_beams(d);
    *p = c->p;
    p->dir = (uint8_t)dir;
    dn_seq_tensor(&p->t[DN_X], d->type, (int32_t[]){ d->s, d->batch, d->beam, d->in[0] }, axes);
    dn_seq_tensor(&p->t[DN_B], d->type, (int32_t[]){ d->t, d->batch, beams, d->in[1] }, axes);
    dn_seq_tensor(&p->t[DN_Z], d->type, (int32_t[]){ d->t, d->batch, beams, d->in[2] }, axes);
    dn_role out = dir == DN_DIR_INFER || dir == DN_DIR_TRAIN ? DN_Y : DN_DY;
    dn_seq_tensor(&p->t[out], d->type, (int32_t[]){ d->s, d->batch, d->beam, (int32_t)out_size(d) }, axes);
    if (dir == DN_DIR_BWD_DATA)
        p->t[DN_DX] = p->t[DN_X];
    int64_t count = dn_attn_weights(d);
    if (count)
        p->t[DN_W] = (dn_tensor){ .type = (uint8_t)d->type, .rank = 1, .vect = 1, .dims = { count }, .strides = { 1 } };
    for (int r = 0; r < DN_ROLE_COUNT; r++)
        p->align[r] = p->t[r].rank ? 16 : 0;
}

static dn_status work_of(const attn_call *c, dn_dir dir, size_t *most, dn_problem *p)
{
    size_t bytes;
    dn_status st = check_largest(c->d);
    if (st != DN_SUCCESS)
        return st;
    largest(c, dir, p);
    st = dn_attn_check(p);
    if (st == DN_SUCCESS)
        st = dn_plan_workspace(c->h, p, &bytes);
    if (st == DN_SUCCESS && bytes > *most)
        *most = bytes;
    return st;
}

/* One size of workspace for all calls of a training step. */
cudnnStatus_t CUDNNWINAPI cudnnGetMultiHeadAttnBuffers(cudnnHandle_t handle, const cudnnAttnDescriptor_t attnDesc, size_t *weightSizeInBytes,
                                                       size_t *workSpaceSizeInBytes, size_t *reserveSpaceSizeInBytes)
{
    dn_call_begin("cudnnGetMultiHeadAttnBuffers");
    static const dn_dir training[] = { DN_DIR_BWD_FILTER, DN_DIR_BWD_DATA, DN_DIR_TRAIN };
    attn_call c;
    dn_problem p;
    dn_attn_reserve r;
    size_t work = 0;
    begin(&c, handle, attnDesc, DN_DIR_INFER);
    want(&c, weightSizeInBytes, "weightSizeInBytes");
    want(&c, workSpaceSizeInBytes, "workSpaceSizeInBytes");
    if (c.st == DN_SUCCESS && reserveSpaceSizeInBytes)
        dropouts(&c);
    if (c.st == DN_SUCCESS && !reserveSpaceSizeInBytes)
        c.st = work_of(&c, DN_DIR_INFER, &work, &p);
    for (int i = 0; i < 3 && reserveSpaceSizeInBytes && c.st == DN_SUCCESS; i++)
        c.st = work_of(&c, training[i], &work, &p);
    if (c.st != DN_SUCCESS)
        return dn_answer(c.st);
    *weightSizeInBytes = (size_t)dn_attn_weights(c.d) * dn_dtype_size((dn_dtype)c.d->type);
    *workSpaceSizeInBytes = work;
    if (reserveSpaceSizeInBytes)
        *reserveSpaceSizeInBytes = dn_attn_reserve_layout(&p, &r) ? r.bytes : 0;  /* the check saw that it can be counted */
    return CUDNN_STATUS_SUCCESS;
}

/* --- calls --- */

/* Training is asked for by a reserve space. */
static void set_mode(attn_call *c, int step, bool train)
{
    if (c->st != DN_SUCCESS)
        return;
    const dn_tensor *x = &c->p.t[DN_X];
    if (step >= x->dims[0])
        c->st = dn_fail(DN_BAD_PARAM, "currIdx is %d; it must be below the time size of qDesc, %lld", step, (long long)x->dims[0]);
    else if (step >= 0 && train)
        c->st = dn_fail(DN_BAD_PARAM, "currIdx is %d; with a reserve space, in training, it must be negative: all times", step);
    c->a.step = step < 0 ? -1 : step;
    if (train)
        c->p.dir = DN_DIR_TRAIN;
}

cudnnStatus_t CUDNNWINAPI cudnnMultiHeadAttnForward(cudnnHandle_t handle, const cudnnAttnDescriptor_t attnDesc, int currIdx,
                                                    const int loWinIdx[], const int hiWinIdx[], const int devSeqLengthsQO[],
                                                    const int devSeqLengthsKV[], const cudnnSeqDataDescriptor_t qDesc, const void *queries,
                                                    const void *residuals, const cudnnSeqDataDescriptor_t kDesc, const void *keys,
                                                    const cudnnSeqDataDescriptor_t vDesc, const void *values,
                                                    const cudnnSeqDataDescriptor_t oDesc, void *out, size_t weightSizeInBytes,
                                                    const void *weights_, size_t workSpaceSizeInBytes, void *workSpace,
                                                    size_t reserveSpaceSizeInBytes, void *reserveSpace)
{
    dn_call_begin("cudnnMultiHeadAttnForward");
    static const char *const names[3] = { "qDesc", "kDesc", "vDesc" };
    attn_call c;
    bool train = reserveSpace || reserveSpaceSizeInBytes;
    begin(&c, handle, attnDesc, DN_DIR_INFER);
    lengths(&c, loWinIdx, hiWinIdx, devSeqLengthsQO, "devSeqLengthsQO", devSeqLengthsKV, "devSeqLengthsKV");
    inputs(&c, names, qDesc, queries, kDesc, keys, vDesc, values);
    if (c.st == DN_SUCCESS)
        seq(&c, DN_Y, oDesc, "oDesc", out, "out", out_size(c.d), false);
    weights(&c, weightSizeInBytes, weights_, "weights");
    c.p.u.attn.residual = residuals != NULL;
    c.a.aux[DN_AUX_RESIDUAL] = (void *)(uintptr_t)residuals;
    set_mode(&c, currIdx, train);
    if (train) {
        dropouts(&c);
        reserve(&c, reserveSpaceSizeInBytes, reserveSpace);
    }
    return run(&c, workSpaceSizeInBytes, workSpace);
}

cudnnStatus_t CUDNNWINAPI cudnnMultiHeadAttnBackwardData(cudnnHandle_t handle, const cudnnAttnDescriptor_t attnDesc, const int loWinIdx[],
                                                         const int hiWinIdx[], const int devSeqLengthsDQDO[], const int devSeqLengthsDKDV[],
                                                         const cudnnSeqDataDescriptor_t doDesc, const void *dout,
                                                         const cudnnSeqDataDescriptor_t dqDesc, void *dqueries, const void *queries,
                                                         const cudnnSeqDataDescriptor_t dkDesc, void *dkeys, const void *keys,
                                                         const cudnnSeqDataDescriptor_t dvDesc, void *dvalues, const void *values,
                                                         size_t weightSizeInBytes, const void *weights_, size_t workSpaceSizeInBytes,
                                                         void *workSpace, size_t reserveSpaceSizeInBytes, void *reserveSpace)
{
    dn_call_begin("cudnnMultiHeadAttnBackwardData");
    static const char *const names[3] = { "dqDesc", "dkDesc", "dvDesc" };
    attn_call c;
    begin(&c, handle, attnDesc, DN_DIR_BWD_DATA);
    lengths(&c, loWinIdx, hiWinIdx, devSeqLengthsDQDO, "devSeqLengthsDQDO", devSeqLengthsDKDV, "devSeqLengthsDKDV");
    if (c.st == DN_SUCCESS)
        seq(&c, DN_DY, doDesc, "doDesc", dout, "dout", out_size(c.d), false);
    inputs(&c, names, dqDesc, queries, dkDesc, keys, dvDesc, values);
    if (c.st == DN_SUCCESS)
        seq(&c, DN_DX, dqDesc, "dqDesc", dqueries, "dqueries", c.d->in[DN_ATTN_Q], false);
    want(&c, dkeys, "dkeys");
    want(&c, dvalues, "dvalues");
    c.a.aux[DN_AUX_DKEYS] = dkeys;
    c.a.aux[DN_AUX_DVALUES] = dvalues;
    weights(&c, weightSizeInBytes, weights_, "weights");
    dropouts(&c);
    reserve(&c, reserveSpaceSizeInBytes, reserveSpace);
    return run(&c, workSpaceSizeInBytes, workSpace);
}

cudnnStatus_t CUDNNWINAPI cudnnMultiHeadAttnBackwardWeights(cudnnHandle_t handle, const cudnnAttnDescriptor_t attnDesc,
                                                            cudnnWgradMode_t addGrad, const cudnnSeqDataDescriptor_t qDesc,
                                                            const void *queries, const cudnnSeqDataDescriptor_t kDesc, const void *keys,
                                                            const cudnnSeqDataDescriptor_t vDesc, const void *values,
                                                            const cudnnSeqDataDescriptor_t doDesc, const void *dout,
                                                            size_t weightSizeInBytes, const void *weights_, void *dweights,
                                                            size_t workSpaceSizeInBytes, void *workSpace, size_t reserveSpaceSizeInBytes,
                                                            void *reserveSpace)
{
    dn_call_begin("cudnnMultiHeadAttnBackwardWeights");
    static const char *const names[3] = { "qDesc", "kDesc", "vDesc" };
    attn_call c;
    begin(&c, handle, attnDesc, DN_DIR_BWD_FILTER);
    if (c.st == DN_SUCCESS)
        c.st = dn_want_range((int)addGrad, CUDNN_WGRAD_MODE_ADD, CUDNN_WGRAD_MODE_SET, "addGrad", "CUDNN_WGRAD_MODE_ADD or _SET");
    inputs(&c, names, qDesc, queries, kDesc, keys, vDesc, values);
    if (c.st == DN_SUCCESS)
        seq(&c, DN_DY, doDesc, "doDesc", dout, "dout", out_size(c.d), false);
    if (c.st == DN_SUCCESS && dn_attn_weights(c.d))
        want(&c, weights_, "weights");
    weights(&c, weightSizeInBytes, dweights, "dweights");
    dropouts(&c);
    reserve(&c, reserveSpaceSizeInBytes, reserveSpace);
    if (addGrad == CUDNN_WGRAD_MODE_ADD) {
        c.a.beta = 1;
        c.p.flags &= (uint16_t)~DN_F_BETA_ZERO;
    }
    if (c.st == DN_SUCCESS && !c.p.t[DN_W].rank)
        return CUDNN_STATUS_SUCCESS;  /* no weights, no gradients */
    return run(&c, workSpaceSizeInBytes, workSpace);
}
