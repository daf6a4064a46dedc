/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#include "lib.h"

#include "core/os.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct { const char *name; size_t offset; } members[] = {
#define BENCH_ENTRY(n) { #n, offsetof(struct bench_functions, n) },
    BENCH_FUNCTIONS(BENCH_ENTRY)
#undef BENCH_ENTRY
    { "cudnnGetLastErrorString", offsetof(struct bench_functions, last_error_9) },
};

static void *member(const bench_lib *lib, const char *name)
{
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (strcmp(members[i].name, name) == 0) {
            void *f;
            memcpy(&f, (const char *)&lib->f + members[i].offset, sizeof f);
            return f;
        }
    return NULL;
}

static dn_status status_of(const bench_lib *lib, int st)
{
    static const dn_status eight[] = {
        DN_SUCCESS, DN_NOT_INITIALIZED, DN_ALLOC_FAILED, DN_BAD_PARAM, DN_INTERNAL_ERROR, DN_INVALID_VALUE, DN_ARCH_MISMATCH,
        DN_MAPPING_ERROR, DN_EXECUTION_FAILED, DN_NOT_SUPPORTED
    };
    if (lib->abi == 8)
        return st >= 0 && st < (int)(sizeof eight / sizeof *eight) ? eight[st] : DN_INTERNAL_ERROR;
    switch (st / 1000) {
    case 0: return DN_SUCCESS;
    case 1: return DN_NOT_INITIALIZED;
    case 2: return DN_BAD_PARAM;
    case 3: return DN_NOT_SUPPORTED;
    case 5: return DN_EXECUTION_FAILED;
    default: return st == 4003 || st == 4004 ? DN_ALLOC_FAILED : DN_INTERNAL_ERROR;
    }
}

dn_status bench_answer(const bench_call *c, const char *function, cudnnStatus_t answer)
{
    const bench_lib *lib = c->lib;
    dn_status st = status_of(lib, (int)answer);
    if (st == DN_SUCCESS)
        return st;
    char text[1024] = "";
    if (lib->f.anydnnGetLastErrorString)
        snprintf(text, sizeof text, "%s", lib->f.anydnnGetLastErrorString());
    else if (lib->f.last_error_9)
        lib->f.last_error_9(text, sizeof text);
    text[strcspn(text, "\n")] = 0;
    return dn_fail(st, "%s answered %s%s%s", function, lib->f.cudnnGetErrorString(answer), *text ? ": " : "", text);
}

static bool fits_int(const dn_tensor *t)
{
    for (int i = 0; i < t->rank; i++)
        if (t->dims[i] > INT32_MAX || t->strides[i] > INT32_MAX || t->strides[i] < INT32_MIN)
            return false;
    return true;
}

dn_status bench_tensor_set(const bench_call *c, cudnnTensorDescriptor_t desc, const dn_tensor *t)
{
    int dims[DN_RANK_MAX], strides[DN_RANK_MAX];
    if (!fits_int(t))
        return dn_fail(DN_NOT_SUPPORTED, "the interface has 32-bit sizes and strides");
    for (int i = 0; i < t->rank; i++) {
        dims[i] = (int)t->dims[i];
        strides[i] = (int)t->strides[i];
    }
    if (t->vect > 1)
        return BENCH_CALL(c, cudnnSetTensorNdDescriptorEx, desc, CUDNN_TENSOR_NCHW_VECT_C, (cudnnDataType_t)t->type, t->rank, dims);
    return BENCH_CALL(c, cudnnSetTensorNdDescriptor, desc, (cudnnDataType_t)t->type, t->rank, dims, strides);
}

/* A filter of a convolution; its only layouts are the named ones. */
static dn_status set_filter(bench_call *c, const dn_tensor *w)
{
    int dims[DN_RANK_MAX];
    cudnnTensorFormat_t format = w->vect > 1 ? CUDNN_TENSOR_NCHW_VECT_C : CUDNN_TENSOR_NCHW;
    if (!dn_tensor_is_packed(w)) {
        if (!dn_tensor_is_packed_nhwc(w))
            return dn_fail(DN_NOT_SUPPORTED, "a filter descriptor has no strides");
        format = CUDNN_TENSOR_NHWC;
    }
    for (int i = 0; i < w->rank; i++)
        dims[i] = (int)w->dims[i];
    dn_status st = BENCH_CALL(c, cudnnCreateFilterDescriptor, &c->filter);
    if (st == DN_SUCCESS)
        st = BENCH_CALL(c, cudnnSetFilterNdDescriptor, c->filter, (cudnnDataType_t)w->type, format, w->rank, dims);
    return st;
}

static dn_status set_tensors(bench_call *c)
{
    const dn_problem *p = &c->c->p;
    dn_status st = DN_SUCCESS;
    bool filter = p->op == DN_OP_CONV || p->op == DN_OP_CONV_BIAS_ACT || p->op == DN_OP_IM2COL;
    bool grid = p->op == DN_OP_ST_GRID || p->op == DN_OP_RNN || p->op == DN_OP_ATTN;
    for (int r = 0; st == DN_SUCCESS && r < DN_ROLE_COUNT; r++) {
        if (!p->t[r].rank || grid || (p->op == DN_OP_ST_SAMPLER && (r == DN_B || r == DN_DZ)) ||
            (p->op == DN_OP_IM2COL && r == DN_Y))
            continue;
        if (r == DN_W && filter) {
            st = set_filter(c, &p->t[r]);
            continue;
        }
        st = BENCH_CALL(c, cudnnCreateTensorDescriptor, &c->t[r]);
        if (st == DN_SUCCESS)
            st = bench_tensor_set(c, c->t[r], &p->t[r]);
    }
    return st;
}

static void destroy(bench_call *c)
{
    struct bench_functions *f = &c->lib->f;
    for (int r = 0; r < DN_ROLE_COUNT; r++)
        if (c->t[r])
            f->cudnnDestroyTensorDescriptor(c->t[r]);
    if (c->filter)
        f->cudnnDestroyFilterDescriptor(c->filter);
    if (c->conv)
        f->cudnnDestroyConvolutionDescriptor(c->conv);
    if (c->pool)
        f->cudnnDestroyPoolingDescriptor(c->pool);
    if (c->act)
        f->cudnnDestroyActivationDescriptor(c->act);
    if (c->dropout)
        f->cudnnDestroyDropoutDescriptor(c->dropout);
    if (c->tensor_op)
        f->cudnnDestroyOpTensorDescriptor(c->tensor_op);
    if (c->reduce)
        f->cudnnDestroyReduceTensorDescriptor(c->reduce);
    if (c->transform)
        f->cudnnDestroyTensorTransformDescriptor(c->transform);
    if (c->lrn)
        f->cudnnDestroyLRNDescriptor(c->lrn);
    if (c->spatial)
        f->cudnnDestroySpatialTransformerDescriptor(c->spatial);
    if (c->ctc)
        f->cudnnDestroyCTCLossDescriptor(c->ctc);
    bench_rnn_free(c);
    bench_attn_free(c);
    void *own[] = { c->states, c->reserve, c->spare };
    for (int i = 0; i < 3; i++)
        if (own[i])
            c->lib->space->release(own[i]);
    free(c);
}

static const bench_via *via_of(const bench_lib *lib, dn_op op)
{
    const bench_via *const tables[] = { bench_via_conv, bench_via_ops, bench_via_norm, bench_via_ctc, bench_via_rnn, bench_via_attn };
    for (size_t k = 0; k < sizeof tables / sizeof *tables; k++)
        for (const bench_via *v = tables[k]; v->run; v++)
            if (v->op == op) {
                for (int i = 0; i < 3 && v->needs[i]; i++)
                    if (!member(lib, v->needs[i]))
                        return NULL;
                return v;
            }
    return NULL;
}

static void set_factors(bench_call *c)
{
    const bench_case *k = c->c;
    const dn_problem *p = &k->p;
    bool wide = false;
    for (int r = 0; r < DN_ROLE_COUNT; r++)
        wide = wide || (p->t[r].rank && p->t[r].type == DN_F64);
    double alpha2 = p->op == DN_OP_CONV_BIAS_ACT && !p->t[DN_Z].rank ? 0 : k->alpha2;
    if (wide) {
        c->alpha.d = k->alpha, c->beta.d = k->beta, c->alpha2.d = alpha2, c->beta2.d = k->beta2;
    } else {
        c->alpha.f = (float)k->alpha, c->beta.f = (float)k->beta, c->alpha2.f = (float)alpha2, c->beta2.f = (float)k->beta2;
    }
}

/* --- a target --- */

static void finish(bench_target *t)
{
    if (t->call)
        destroy(t->call);
    t->call = NULL;
}

static dn_status prepare(bench_target *t, const bench_case *k, const bench_data *d, size_t *workspace)
{
    bench_lib *lib = t->source->lib;
    const bench_via *via = via_of(lib, (dn_op)k->p.op);
    bench_call *c = calloc(1, sizeof *c);
    if (!via || !c) {
        free(c);
        return dn_fail(DN_NOT_SUPPORTED, "the library has no calls for %s", dn_op_name((dn_op)k->p.op));
    }
    *c = (bench_call){ .lib = lib, .c = k, .d = d, .algo = t->algo };
    t->call = c;
    set_factors(c);
    dn_status st = set_tensors(c);
    if (st == DN_SUCCESS && via->prepare)
        st = via->prepare(c);
    t->algo = c->algo;
    *workspace = c->workspace;
    t->reserve_size = d->own_reserve ? c->reserve_size : 0;
    if (st != DN_SUCCESS)
        finish(t);
    return st;
}

static dn_status run(bench_target *t, const bench_memory *m)
{
    bench_call *c = t->call;
    return via_of(c->lib, (dn_op)c->c->p.op)->run(c, m);
}

static unsigned how_of(const bench_lib *lib, const dn_problem *p)
{
    unsigned how = 0;
    if (lib->ours)
        return 0;
    if ((p->op == DN_OP_CONV || p->op == DN_OP_CONV_BIAS_ACT) && p->math != 3 && p->t[DN_Y].type == DN_F32)
        how |= BENCH_TF32;
    if ((p->op == DN_OP_RNN || p->op == DN_OP_ATTN) && p->math != 3 && p->t[p->op == DN_OP_ATTN ? DN_X : DN_Y].type == DN_F32)
        how |= BENCH_TF32;
    return p->op == DN_OP_DROPOUT ? BENCH_OTHER_MASK : how;
}

static bool target(bench_source *s, const bench_case *c, int i, bench_target *t)
{
    bench_lib *lib = s->lib;
    int algos = bench_algo_count(&c->p), count = lib->all && algos && c->p.algo < 0 ? algos : 1;
    memset(t, 0, sizeof *t);
    if (i >= count)
        return false;
    t->algo = count > 1 ? i : c->p.algo;
    t->source = s;
    t->space = lib->space;
    t->how = how_of(lib, &c->p);
    int n = snprintf(t->name, sizeof t->name, "%s_%s_%s", lib->name, dn_op_name((dn_op)c->p.op), dn_dir_name((dn_dir)c->p.dir));
    if (t->algo >= 0 && algos)
        snprintf(t->name + n, sizeof t->name - (size_t)n, "_%d", t->algo);
    bool conv = algos && c->p.op != DN_OP_RNN;
    if (conv && (c->p.dir == DN_DIR_FWD ? t->algo >= 4 : t->algo >= 2))
        t->how |= BENCH_TRANSFORMED;  /* FFT and Winograd numbers */
    if (conv && !lib->ours && t->algo < 0)
        t->how |= BENCH_TRANSFORMED;
    t->prepare = prepare;
    t->run = run;
    t->finish = finish;
    return true;
}

/* --- loading --- */

static void close_library(bench_source *s)
{
    if (s->lib->h)
        s->lib->f.cudnnDestroy(s->lib->h);
    free(s->lib);
    s->lib = NULL;
}

static const char *sick(bench_source *s)
{
    return s->lib->space && s->lib->space->synchronize() != 0 ? "the device reported a failure" : NULL;
}

/* Ours answers its engine's name; any other library wants device memory. */
static bool find_space(bench_lib *lib)
{
    const char *engine = lib->f.anydnnGetEngineName ? lib->f.anydnnGetEngineName(lib->h) : "cuda";
    if (!engine || strcmp(engine, "cuda") != 0)
        return true;
    lib->space = bench_cuda();
    return lib->space && lib->f.cudnnSetStream && lib->f.cudnnSetStream(lib->h, lib->space->stream) == CUDNN_STATUS_SUCCESS;
}

static bool complain(const char *path, const char *what)
{
    fprintf(stderr, "dnbench: %s: %s\n", path, what);
    return false;
}

static bool open_library(bench_lib *lib, const char *path)
{
    lib->handle_of_loader = dn_lib_open(path);
    if (!lib->handle_of_loader)
        return complain(path, dn_lib_error());
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        void *f = dn_lib_symbol(lib->handle_of_loader, members[i].name);
        memcpy((char *)&lib->f + members[i].offset, &f, sizeof f);
    }
    if (!lib->f.cudnnGetVersion || !lib->f.cudnnCreate)
        return complain(path, "no cuDNN library: it lacks cudnnGetVersion or cudnnCreate");
    lib->version = lib->f.cudnnGetVersion();
    lib->abi = lib->version >= 90000 ? 9 : 8;
    lib->ours = lib->f.anydnnGetEngineName != NULL;
    if (!lib->ours && !bench_cuda())  /* its context must be current before the handle is made */
        return complain(path, dn_error_text());
    cudnnStatus_t st = lib->f.cudnnCreate(&lib->h);
    if (st != CUDNN_STATUS_SUCCESS)
        return complain(path, lib->f.cudnnGetErrorString(st));
    return find_space(lib) || complain(path, dn_error_text());
}

bool bench_source_library(bench_source *s, const char *path, bool all)
{
    memset(s, 0, sizeof *s);
    s->lib = calloc(1, sizeof *s->lib);
    if (!s->lib || !open_library(s->lib, path)) {
        free(s->lib);
        return false;
    }
    bench_lib *lib = s->lib;
    lib->all = all;
    snprintf(lib->name, sizeof lib->name, "%s%zu", lib->ours ? "anydnn" : "cudnn", lib->version);
    s->name = lib->name;
    s->ours = lib->ours;
    s->target = target;
    s->close = close_library;
    s->sick = sick;
    return true;
}
