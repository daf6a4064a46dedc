/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Padding and folding: against a loop over elements, there and back, and a strided backward-data convolution done folded. */
#include "tens.h"

#include "api/api.h"

#define BAD CUDNN_STATUS_BAD_PARAM
#define UNSUPPORTED CUDNN_STATUS_NOT_SUPPORTED
#define FOLD CUDNN_TRANSFORM_FOLD
#define UNFOLD CUDNN_TRANSFORM_UNFOLD

typedef struct how {
    int rank, dims[TENS_RANK];
    int32_t before[TENS_RANK], after[TENS_RANK];
    uint32_t by[TENS_RANK];
} how;

static cudnnTensorTransformDescriptor_t transform_of(const how *h, cudnnFoldingDirection_t dir)
{
    cudnnTensorTransformDescriptor_t d;
    OK(cudnnCreateTensorTransformDescriptor(&d));
    OK(cudnnSetTensorTransformDescriptor(d, (uint32_t)h->rank, CUDNN_TENSOR_NCHW, h->before, h->after, h->by, dir));
    return d;
}

static int64_t number(const int *dims, int rank, const int64_t *index)
{
    int64_t at = 0;
    for (int d = 0; d < rank; d++) {
        if (index[d] < 0 || index[d] >= dims[d])
            return -1;
        at = at * dims[d] + index[d];
    }
    return at;
}

/* Number in x of what element i of y comes from, -1 where it is padding. Folded channel m * C + c is place m of channel c, C of the
 * side that is not folded. */
static int64_t source(const how *h, const tens *x, const tens *y, cudnnFoldingDirection_t dir, int64_t i)
{
    int64_t index[TENS_RANK], from[TENS_RANK], f = 1, m = 0;
    for (int d = h->rank - 1; d >= 0; d--) {
        index[d] = i % y->dims[d];
        i /= y->dims[d];
    }
    for (int j = 0; j + 2 < h->rank; j++)
        f *= h->by[j];
    from[0] = index[0] - h->before[0];
    if (dir == FOLD) {
        index[1] -= h->before[1];
        if (index[1] < 0 || index[1] >= f * x->dims[1])
            return -1;
        m = index[1] / x->dims[1];
        from[1] = index[1] % x->dims[1];
        for (int d = h->rank - 1; d >= 2; d--) {
            from[d] = index[d] * h->by[d - 2] + m % h->by[d - 2] - h->before[d];
            m /= h->by[d - 2];
        }
        return number(x->dims, h->rank, from);
    }
    for (int d = 1; d < h->rank; d++) {
        index[d] -= h->before[d];
        if (index[d] < 0)
            return -1;
        if (d < 2)
            continue;
        from[d] = index[d] / h->by[d - 2];
        m = m * h->by[d - 2] + index[d] % h->by[d - 2];
    }
    if (index[1] >= (x->dims[1] + f - 1) / f)
        return -1;
    from[1] = m * y->dims[1] + index[1];
    return number(x->dims, h->rank, from);
}

static void check(const how *h, cudnnFoldingDirection_t dir, dn_dtype in, dn_dtype out, layout lay, double beta)
{
    tens x = tens_make(in, h->rank, h->dims, lay);
    cudnnTensorTransformDescriptor_t d = transform_of(h, dir);
    cudnnTensorDescriptor_t want;
    cudnnDataType_t type;
    int rank, dims[TENS_RANK], strides[TENS_RANK];
    size_t bytes;
    OK(cudnnCreateTensorDescriptor(&want));
    OK(cudnnInitTransformDest(d, x.desc, want, &bytes));
    OK(cudnnGetTensorNdDescriptor(want, h->rank, &type, &rank, dims, strides));
    tens y = tens_make(out, rank, dims, (layout)((lay + 1) % LAYOUTS));
    assert_int_equal(bytes, (size_t)y.count * dn_dtype_size(in));
    assert_int_equal(type, in);
    tens_integers(&x, 50, 1);
    double *old = calloc((size_t)y.count, sizeof(double));
    if (beta != 0)
        tens_integers(&y, 50, 2);
    for (int64_t i = 0; i < y.count; i++)
        old[i] = beta != 0 ? tens_get(&y, i) : 0;
    scalar a = scalar_of(in == DN_F64 ? in : out, 2), b = scalar_of(in == DN_F64 ? in : out, beta);
    OK(cudnnTransformTensorEx(handle, d, &a, x.desc, x.data, &b, y.desc, y.data));
    for (int64_t i = 0; i < y.count; i++) {
        int64_t from = source(h, &x, &y, dir, i);
        tens_close(&y, i, tens_rounded(&y, (from < 0 ? 0 : 2 * tens_get(&x, from)) + beta * old[i]), 0);
    }
    tens_watch(&y);
    free(old);
    OK(cudnnDestroyTensorDescriptor(want));
    OK(cudnnDestroyTensorTransformDescriptor(d));
    tens_free(&x);
    tens_free(&y);
}

static const how cases[] = {
    { 4, { 2, 4, 6, 6 }, { 0 }, { 0 }, { 2, 2 } },
    { 4, { 2, 3, 5, 7 }, { 0 }, { 0 }, { 2, 3 } },
    { 4, { 2, 5, 7, 9 }, { 0, 1, 2, 1 }, { 1, 0, 1, 2 }, { 3, 2 } },
    { 4, { 3, 6, 8, 9 }, { -1, 1, -2, -3 }, { 0, -2, 3, -1 }, { 2, 2 } },
    { 4, { 2, 3, 4, 5 }, { 0, 0, 2, 3 }, { 0, 4, 0, 1 }, { 1, 1 } },
    { 4, { 1, 4, 3, 3 }, { 0 }, { 0 }, { 5, 5 } },
    { 4, { 1, 2, 2, 1300 }, { 0, 0, 0, 3 }, { 0, 0, 0, 700 }, { 1, 3 } },
    { 5, { 2, 8, 3, 4, 5 }, { 0, 0, 1, 0, 1 }, { 0, 0, 0, 1, 1 }, { 2, 2, 2 } },
    { 3, { 2, 6, 11 }, { 0, 0, 2 }, { 0, 0, -1 }, { 3 } },
    { 8, { 1, 8, 2, 3, 2, 2, 3, 2 }, { 0 }, { 0, 0, 1 }, { 2, 1, 2, 1, 1, 2 } },
};

static void agrees_with_its_formula(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int lay = 0; lay < LAYOUTS; lay++)
            for (int dir = 0; dir < 2; dir++)
                check(&cases[i], (cudnnFoldingDirection_t)dir, DN_F32, lay & 1 ? DN_F32 : DN_F16, (layout)lay, dir ? 0 : 3);
}

static void every_type_is_taken(void **state)
{
    (void)state;
    static const dn_dtype types[] = { DN_F32, DN_F64, DN_F16, DN_BF16, DN_I8, DN_U8, DN_I32 };
    for (int i = 0; i < 49; i++)
        check(&cases[2], (cudnnFoldingDirection_t)(i & 1), types[i / 7], types[i % 7], (layout)(i % LAYOUTS), 0);
}

/* Unfolding what was folded, less what padding added, gives back the same. */
static void fold_then_unfold_is_identity(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        how f = cases[i], u = cases[i];
        int mid[TENS_RANK], factor = 1;
        for (int j = 0; j + 2 < f.rank; j++)
            factor *= (int)f.by[j];
        for (int d = 0; d < f.rank; d++) {
            f.before[d] = f.after[d] = u.before[d] = 0;
            int by = d < 2 ? 1 : (int)f.by[d - 2], blocks = (f.dims[d] + by - 1) / by;
            mid[d] = d == 1 ? f.dims[1] * factor : blocks;
            u.after[d] = f.dims[d] - (d == 1 ? f.dims[1] : blocks * by);
        }
        tens x = tens_make(DN_F32, f.rank, f.dims, PACKED), y = tens_make(DN_F32, f.rank, mid, GAPS);
        tens z = tens_make(DN_F32, f.rank, f.dims, CHANNELS_LAST);
        cudnnTensorTransformDescriptor_t there = transform_of(&f, FOLD), back = transform_of(&u, UNFOLD);
        const float one = 1, zero = 0;
        tens_reals(&x, 7);
        OK(cudnnTransformTensorEx(handle, there, &one, x.desc, x.data, &zero, y.desc, y.data));
        OK(cudnnTransformTensorEx(handle, back, &one, y.desc, y.data, &zero, z.desc, z.data));
        for (int64_t e = 0; e < x.count; e++)
            tens_close(&z, e, tens_get(&x, e), 0);
        OK(cudnnDestroyTensorTransformDescriptor(there));
        OK(cudnnDestroyTensorTransformDescriptor(back));
        tens_free(&x);
        tens_free(&y);
        tens_free(&z);
    }
}

/* --- folded backward data --- */
typedef struct strided {
    int n, c, k, groups, spatial, in[3], win[3], pad[3], str[3];
} strided;

typedef struct folded {
    cudnnTensorDescriptor_t dy, dx, pdy, fdx;
    cudnnFilterDescriptor_t w, fw;
    cudnnConvolutionDescriptor_t conv, fconv;
    cudnnTensorTransformDescriptor_t fold_w, pad_dy, fold_dx, unfold_dx;
} folded;

static void folded_make(folded *f, const strided *s, cudnnTensorFormat_t format)
{
    cudnnTensorDescriptor_t *t[] = { &f->dy, &f->dx, &f->pdy, &f->fdx };
    cudnnTensorTransformDescriptor_t *x[] = { &f->fold_w, &f->pad_dy, &f->fold_dx, &f->unfold_dx };
    const int ones[] = { 1, 1, 1 };
    int rank = s->spatial + 2, xd[5] = { s->n, s->c }, yd[5] = { s->n, s->k }, wd[5] = { s->k, s->c / s->groups };
    for (int i = 0; i < 4; i++) {
        OK(cudnnCreateTensorDescriptor(t[i]));
        OK(cudnnCreateTensorTransformDescriptor(x[i]));
    }
    OK(cudnnCreateFilterDescriptor(&f->w));
    OK(cudnnCreateFilterDescriptor(&f->fw));
    OK(cudnnCreateConvolutionDescriptor(&f->conv));
    OK(cudnnCreateConvolutionDescriptor(&f->fconv));
    for (int j = 0; j < s->spatial; j++) {
        xd[j + 2] = s->in[j];
        wd[j + 2] = s->win[j];
        yd[j + 2] = (s->in[j] + 2 * s->pad[j] - s->win[j]) / s->str[j] + 1;
    }
    OK(cudnnSetTensorNdDescriptorEx(f->dx, format, CUDNN_DATA_FLOAT, rank, xd));
    OK(cudnnSetTensorNdDescriptorEx(f->dy, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, rank, yd));
    OK(cudnnSetFilterNdDescriptor(f->w, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, rank, wd));
    OK(cudnnSetConvolutionNdDescriptor(f->conv, s->spatial, s->pad, s->str, ones, CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
    OK(cudnnSetConvolutionGroupCount(f->conv, s->groups));
}

static void folded_free(folded *f)
{
    cudnnTensorDescriptor_t t[] = { f->dy, f->dx, f->pdy, f->fdx };
    cudnnTensorTransformDescriptor_t x[] = { f->fold_w, f->pad_dy, f->fold_dx, f->unfold_dx };
    for (int i = 0; i < 4; i++) {
        OK(cudnnDestroyTensorDescriptor(t[i]));
        OK(cudnnDestroyTensorTransformDescriptor(x[i]));
    }
    OK(cudnnDestroyFilterDescriptor(f->w));
    OK(cudnnDestroyFilterDescriptor(f->fw));
    OK(cudnnDestroyConvolutionDescriptor(f->conv));
    OK(cudnnDestroyConvolutionDescriptor(f->fconv));
}

static float *floats_of(size_t bytes, uint32_t seed)
{
    float *v = malloc(bytes);
    for (size_t i = 0; i < bytes / sizeof *v; i++)
        v[i] = seed ? (float)(tens_random(&seed) % 7) - 3 : NAN;
    return v;
}

static float *tensor_memory(cudnnTensorDescriptor_t d, uint32_t seed, size_t *bytes)
{
    OK(cudnnGetTensorSizeInBytes(d, bytes));
    return floats_of(*bytes, seed);
}

static void run_data(const folded *f, bool folds, const float *w, const float *dy, float *dx)
{
    const float one = 1, zero = 0;
    OK(cudnnConvolutionBackwardData(handle, &one, folds ? f->fw : f->w, w, folds ? f->pdy : f->dy, dy, folds ? f->fconv : f->conv,
                                    CUDNN_CONVOLUTION_BWD_DATA_ALGO_0, NULL, 0, &zero, folds ? f->fdx : f->dx, dx));
}

static void check_folded(const strided *s, cudnnTensorFormat_t format, cudnnTensorFormat_t own)
{
    folded f;
    const float one = 1, zero = 0;
    size_t bytes, dx_bytes;
    int pad[3], str[3], dil[3], n;
    cudnnConvolutionMode_t mode;
    cudnnDataType_t type;
    folded_make(&f, s, own);
    OK(cudnnGetFoldedConvBackwardDataDescriptors(handle, f.w, f.dy, f.conv, f.dx, format, f.fw, f.pdy, f.fconv, f.fdx, f.fold_w,
                                                 f.pad_dy, f.fold_dx, f.unfold_dx));
    OK(cudnnGetConvolutionNdDescriptor(f.fconv, s->spatial, &n, pad, str, dil, &mode, &type));
    for (int j = 0; j < s->spatial; j++)
        assert_int_equal(str[j], 1);
    OK(cudnnGetFilterSizeInBytes(f.w, &bytes));
    float *w = floats_of(bytes, 1), *dy = tensor_memory(f.dy, 2, &bytes), *dx = tensor_memory(f.dx, 0, &dx_bytes);
    float *got = floats_of(dx_bytes, 0), *pdy = tensor_memory(f.pdy, 0, &bytes), *fdx = tensor_memory(f.fdx, 0, &bytes);
    float *fdx2 = floats_of(bytes, 0);
    OK(cudnnGetFilterSizeInBytes(f.fw, &bytes));
    float *fw = floats_of(bytes, 0);
    run_data(&f, false, w, dy, dx);
    OK(cudnnTransformFilter(handle, f.fold_w, &one, f.w, w, &zero, f.fw, fw));
    OK(cudnnTransformTensorEx(handle, f.pad_dy, &one, f.dy, dy, &zero, f.pdy, pdy));
    run_data(&f, true, fw, pdy, fdx);
    OK(cudnnTransformTensorEx(handle, f.unfold_dx, &one, f.fdx, fdx, &zero, f.dx, got));
    for (size_t i = 0; i < dx_bytes / sizeof *dx; i++)
        if (!(got[i] == dx[i]))
            fail_msg("element %zu is %g folded, %g directly", i, got[i], dx[i]);
    OK(cudnnTransformTensorEx(handle, f.fold_dx, &one, f.dx, dx, &zero, f.fdx, fdx2));  /* and the gradient folds */
    memset(got, 0xff, dx_bytes);
    OK(cudnnTransformTensorEx(handle, f.unfold_dx, &one, f.fdx, fdx2, &zero, f.dx, got));
    assert_memory_equal(got, dx, dx_bytes);
    float *all[] = { w, dy, dx, got, pdy, fdx, fdx2, fw };
    for (int i = 0; i < 8; i++)
        free(all[i]);
    folded_free(&f);
}

static void folded_gradient_is_the_direct_one(void **state)
{
    (void)state;
    static const strided s[] = {
        { 2, 3, 4, 1, 2, { 8, 8 }, { 3, 3 }, { 1, 1 }, { 2, 2 } },      { 1, 3, 6, 1, 2, { 23, 20 }, { 7, 7 }, { 3, 3 }, { 2, 2 } },
        { 2, 3, 4, 1, 2, { 9, 10 }, { 3, 3 }, { 0, 0 }, { 2, 2 } },     { 2, 3, 4, 1, 2, { 9, 11 }, { 5, 4 }, { 2, 1 }, { 3, 2 } },
        { 1, 5, 16, 1, 2, { 9, 10 }, { 3, 3 }, { 5, 7 }, { 2, 3 } },    { 1, 5, 8, 1, 2, { 9, 10 }, { 1, 1 }, { 0, 0 }, { 2, 2 } },
        { 2, 6, 4, 2, 2, { 9, 10 }, { 3, 3 }, { 1, 1 }, { 1, 1 } },     { 1, 4, 8, 1, 2, { 12, 7 }, { 2, 5 }, { 0, 2 }, { 4, 3 } },
        { 1, 2, 3, 1, 3, { 5, 6, 7 }, { 3, 2, 3 }, { 1, 0, 1 }, { 2, 2, 3 } }, { 2, 3, 4, 1, 2, { 9, 10 }, { 3, 3 }, { 1, 1 }, { 1, 1 } },
        { 1, 3, 4, 1, 2, { 13, 3 }, { 2, 3 }, { 0, 1 }, { 5, 1 } },
    };
    for (size_t i = 0; i < sizeof s / sizeof *s; i++)
        for (int k = 0; k < 4; k++)
            check_folded(&s[i], k & 1 ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW, k & 2 ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW);
}

/* What the vendor's 9.19 gives for a 3x3 convolution of stride 2. */
static void folded_descriptors_are_the_vendors(void **state)
{
    (void)state;
    const strided s = { 2, 3, 4, 1, 2, { 9, 10 }, { 3, 3 }, { 1, 1 }, { 2, 2 } };
    folded f;
    cudnnDataType_t type;
    cudnnTensorFormat_t format;
    cudnnFoldingDirection_t dir;
    int n, d[4], st[4];
    int32_t before[4], after[4];
    uint32_t by[2];
    folded_make(&f, &s, CUDNN_TENSOR_NCHW);
    OK(cudnnGetFoldedConvBackwardDataDescriptors(handle, f.w, f.dy, f.conv, f.dx, CUDNN_TENSOR_NHWC, f.fw, f.pdy, f.fconv, f.fdx,
                                                 f.fold_w, f.pad_dy, f.fold_dx, f.unfold_dx));
    OK(cudnnGetFilterNdDescriptor(f.fw, 4, &type, &format, &n, d));
    assert_true(format == CUDNN_TENSOR_NHWC && d[0] == 8 && d[1] == 16 && d[2] == 2 && d[3] == 2);
    OK(cudnnGetTensorNdDescriptor(f.pdy, 4, &type, &n, d, st));
    assert_true(d[0] == 2 && d[1] == 8 && d[2] == 6 && d[3] == 6 && st[1] == 1);
    OK(cudnnGetTensorNdDescriptor(f.fdx, 4, &type, &n, d, st));
    assert_true(d[0] == 2 && d[1] == 16 && d[2] == 5 && d[3] == 5 && st[1] == 1);
    OK(cudnnGetTensorTransformDescriptor(f.fold_w, 4, &format, before, after, by, &dir));
    assert_true(before[2] == 1 && before[3] == 1 && after[0] == 4 && after[1] == 1 && after[2] == 0 && by[0] == 2 && dir == FOLD);
    OK(cudnnGetTensorTransformDescriptor(f.unfold_dx, 4, &format, before, after, by, &dir));
    assert_true(format == CUDNN_TENSOR_NCHW && after[1] == -1 && after[2] == -1 && after[3] == 0 && dir == UNFOLD);
    folded_free(&f);
}

static void says_what_is_wrong(void **state)
{
    (void)state;
    const strided s = { 2, 3, 4, 1, 2, { 9, 10 }, { 3, 3 }, { 1, 1 }, { 2, 2 } };
    folded f;
    size_t bytes;
    const float one = 1;
    float room[8];
    folded_make(&f, &s, CUDNN_TENSOR_NCHW);
#define GET(format) cudnnGetFoldedConvBackwardDataDescriptors(handle, f.w, f.dy, f.conv, f.dx, format, f.fw, f.pdy, f.fconv, f.fdx, \
                                                              f.fold_w, f.pad_dy, f.fold_dx, f.unfold_dx)
    REFUSED(GET((cudnnTensorFormat_t)3), BAD, "transformFormat is 3");
    REFUSED(GET(CUDNN_TENSOR_NCHW_VECT_C), UNSUPPORTED, "vectorised");
    OK(cudnnSetConvolution2dDescriptor(f.conv, 1, 1, 2, 2, 1, 1, CUDNN_CONVOLUTION, CUDNN_DATA_FLOAT));
    REFUSED(GET(CUDNN_TENSOR_NCHW), UNSUPPORTED, "CROSS_CORRELATION");
    OK(cudnnSetConvolution2dDescriptor(f.conv, 1, 2, 2, 2, 1, 2, CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
    REFUSED(GET(CUDNN_TENSOR_NCHW), UNSUPPORTED, "dilation 2");
    OK(cudnnSetConvolution2dDescriptor(f.conv, 1, 1, 2, 2, 1, 2, CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
    REFUSED(GET(CUDNN_TENSOR_NCHW), BAD, "dimension 3 of dyDesc");
    const strided grouped = { 2, 6, 4, 2, 2, { 9, 10 }, { 3, 3 }, { 1, 1 }, { 1, 2 } };
    folded_free(&f);
    folded_make(&f, &grouped, CUDNN_TENSOR_NCHW);
    REFUSED(GET(CUDNN_TENSOR_NCHW), UNSUPPORTED, "stride 1 is 2 with 2 groups");
    folded_free(&f);
    folded_make(&f, &s, CUDNN_TENSOR_NCHW);
#undef GET
    const how crop = { 4, { 2, 3, 9, 10 }, { 0, -2 }, { 0, -1 }, { 1, 1 } }, flat = { 3, { 2, 3, 9 }, { 0 }, { 0 }, { 1 } };
    cudnnTensorTransformDescriptor_t c = transform_of(&crop, FOLD), t3 = transform_of(&flat, FOLD), none;
    OK(cudnnCreateTensorTransformDescriptor(&none));
    REFUSED(cudnnInitTransformDest(c, f.dx, f.pdy, &bytes), BAD, "dimension 1 of the result would be 0");
    REFUSED(cudnnInitTransformDest(t3, f.dx, f.pdy, &bytes), BAD, "srcDesc has 4 dimensions, the transform 3");
    REFUSED(cudnnInitTransformDest(none, f.dx, f.pdy, &bytes), BAD, "never set");
    REFUSED(cudnnTransformTensorEx(handle, t3, &one, f.dx, room, &one, f.dx, room + 1), BAD, "the transform 3");
    OK(cudnnSetTensorTransformDescriptor(c, 4, CUDNN_TENSOR_NHWC, NULL, NULL, NULL, FOLD));
    REFUSED(cudnnTransformTensorEx(handle, c, &one, f.dx, room, &one, f.dy, room + 1), BAD, "dimension 1 of destDesc is 4");
    REFUSED(cudnnTransformTensorEx(handle, c, &one, f.dx, room, &one, f.dx, room), BAD, "overlap");
    REFUSED(cudnnTransformFilter(handle, c, &one, f.w, room, &one, f.fw, room + 1), BAD, "destDesc");
    OK(cudnnSetTensorTransformDescriptor(c, 4, CUDNN_TENSOR_NCHW_VECT_C, NULL, NULL, NULL, FOLD));
    REFUSED(cudnnInitTransformDest(c, f.dx, f.pdy, &bytes), UNSUPPORTED, "NCHW_VECT_C");
    OK(cudnnDestroyTensorTransformDescriptor(c));
    OK(cudnnDestroyTensorTransformDescriptor(t3));
    OK(cudnnDestroyTensorTransformDescriptor(none));
    folded_free(&f);
}

static void lines_go_both_ways(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "transformex fwd x=n2c4h6w6:f32:nchw y=n2c30h3w5:f32:nhwc by=2x3 before=0x0x0x1 after=0x1x0x6",
        "transformex fwd x=n2c8h6w6:i8:nchw y=n2c1h12w12:i8:nchw dir=unfold by=2 after=0x-1x0x0",
        "optensor fwd x=n2c4h6w6:f16:nhwc y=n2c4h6w6:f32:nchw b=n1c4h1w6:i8:nchw op=max nan=pass beta0",
        "optensor fwd x=2x3:f64:nchw y=2x3:f64:nchw op=sqrt comp=f64",
        "reduce fwd x=n2c4h6w6:bf16:nchw y=n1c4h1w1:f32:nchw op=amax nan=pass idx=1 idxtype=u16",
        "im2col fwd x=n2c4h6w6:f32:nchw y=36x72:f32:nchw w=k5c4r3s3:f32:nchw pad=1",
        "conv fwd x=n2c32h6w6:i8x32:nchw y=n2c32h6w6:i8x32:nchw w=k32c32r3s3:i8x32:nchw pad=1 reordered=1 comp=i32",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char text[512];
        dn_problem p, q;
        if (dn_problem_parse(lines[i], &p) != DN_SUCCESS)
            fail_msg("%s: %s", lines[i], dn_error_text());
        dn_problem_print(&p, text, sizeof text);
        assert_int_equal(dn_problem_parse(text, &q), DN_SUCCESS);
        assert_true(dn_problem_equal(&p, &q));
        assert_string_equal(text, lines[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_its_formula),
        cmocka_unit_test(every_type_is_taken),
        cmocka_unit_test(fold_then_unfold_is_identity),
        cmocka_unit_test(folded_gradient_is_the_direct_one),
        cmocka_unit_test(folded_descriptors_are_the_vendors),
        cmocka_unit_test(says_what_is_wrong),
        cmocka_unit_test(lines_go_both_ways),
    };
    return cmocka_run_group_tests(tests, handle_open, handle_close);
}
