/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * cudnnReduceTensor against a loop over elements: all operations, any kept dimensions, types, layouts, indices, NaN modes. */
#include "tens.h"

#include "api/api.h"
#include "ops/reduce.h"

#define BAD CUDNN_STATUS_BAD_PARAM
#define UNSUPPORTED CUDNN_STATUS_NOT_SUPPORTED

static const dn_dtype types[] = { DN_F32, DN_F64, DN_F16, DN_BF16, DN_I8, DN_U8, DN_I32 };

static cudnnReduceTensorDescriptor_t desc_of(int op, dn_dtype compute, int nan, int indices, int type)
{
    cudnnReduceTensorDescriptor_t d;
    OK(cudnnCreateReduceTensorDescriptor(&d));
    OK(cudnnSetReduceTensorDescriptor(d, (cudnnReduceTensorOp_t)op, (cudnnDataType_t)compute, (cudnnNanPropagation_t)nan,
                                      (cudnnReduceTensorIndices_t)indices, (cudnnIndicesType_t)type));
    return d;
}

/* Element i of a: its output's number in c and its number within that output's block. */
static void place(const tens *a, const tens *c, int64_t i, int64_t *out, int64_t *in)
{
    int64_t out_unit = 1, in_unit = 1;
    *out = *in = 0;
    for (int d = a->rank - 1; d >= 0; d--) {
        int64_t k = i % a->dims[d];
        i /= a->dims[d];
        *out += c->dims[d] == 1 ? 0 : k * out_unit;
        *in += c->dims[d] == 1 ? k * in_unit : 0;
        out_unit *= c->dims[d];
        in_unit *= c->dims[d] == 1 ? a->dims[d] : 1;
    }
}

/* The elements of output `out`, in order; answers their number. */
static int64_t block(const tens *a, const tens *c, int64_t out, double *v)
{
    int64_t n = 0;
    for (int64_t i = 0; i < a->count; i++) {
        int64_t o, k;
        place(a, c, i, &o, &k);
        if (o == out) {
            v[k] = tens_get(a, i);
            n++;
        }
    }
    return n;
}

static double truth(int op, const double *v, int64_t n, int64_t *at)
{
    double s = op == DN_REDUCE_MUL || op == DN_REDUCE_MUL_NO_ZEROS ? 1 : 0;
    *at = 0;
    for (int64_t i = 0; i < n; i++) {
        double x = op == DN_REDUCE_AMAX ? fabs(v[i]) : v[i];
        switch (op) {
        case DN_REDUCE_ADD: case DN_REDUCE_AVG: s += x; break;
        case DN_REDUCE_NORM1: s += fabs(x); break;
        case DN_REDUCE_NORM2: s += x * x; break;
        case DN_REDUCE_MUL: s *= x; break;
        case DN_REDUCE_MUL_NO_ZEROS: s *= x == 0 ? 1 : x; break;
        default:
            if (i == 0 || (op == DN_REDUCE_MIN ? x < s : x > s)) {
                s = x;
                *at = i;
            }
        }
    }
    return op == DN_REDUCE_AVG ? s / (double)n : op == DN_REDUCE_NORM2 ? sqrt(s) : s;
}

static uint64_t index_at(const void *base, int type, int64_t i)
{
    switch (type) {
    case 0: return ((const uint32_t *)base)[i];
    case 1: return ((const uint64_t *)base)[i];
    case 2: return ((const uint16_t *)base)[i];
    default: return ((const uint8_t *)base)[i];
    }
}

static void run(cudnnReduceTensorDescriptor_t d, const tens *a, const tens *c, void *indices, size_t size, double alpha, double beta)
{
    size_t bytes;
    scalar x = scalar_of(c->type, alpha), y = scalar_of(c->type, beta);
    OK(cudnnGetReductionWorkspaceSize(handle, d, a->desc, c->desc, &bytes));
    void *workspace = malloc(bytes + 1);
    OK(cudnnReduceTensor(handle, d, indices, size, workspace, bytes, &x, a->desc, a->data, &y, c->desc, c->data));
    free(workspace);
}

/* Integers: sums are exact, and rounding to the output's type happens once. */
static void check(int op, dn_dtype in, dn_dtype out, int rank, const int *dims, int kept, layout how, int index_type, double beta)
{
    int c_dims[TENS_RANK];
    for (int d = 0; d < rank; d++)
        c_dims[d] = kept >> d & 1 ? dims[d] : 1;
    tens a = tens_make(in, rank, dims, how), c = tens_make(out, rank, c_dims, (layout)((how + kept) % LAYOUTS));
    cudnnReduceTensorDescriptor_t d = desc_of(op, out == DN_F64 ? DN_F64 : DN_F32, 0, index_type >= 0, index_type < 0 ? 0 : index_type);
    size_t size;
    tens_integers(&a, op == DN_REDUCE_MUL || op == DN_REDUCE_MUL_NO_ZEROS ? 1 : 6, (uint32_t)(op + kept));
    if (in == DN_U8)
        for (int64_t i = 0; i < a.count; i++)
            tens_set(&a, i, fmod(fabs(tens_get(&a, i)), 7));
    double *old = calloc((size_t)c.count, sizeof(double)), *v = calloc((size_t)a.count, sizeof(double));
    if (beta != 0)
        tens_integers(&c, 5, 3);
    for (int64_t i = 0; i < c.count; i++)
        old[i] = beta != 0 ? tens_get(&c, i) : 0;
    OK(cudnnGetReductionIndicesSize(handle, d, a.desc, c.desc, &size));
    assert_int_equal(size, index_type < 0 ? 0 : (size_t)c.count * (size_t)dn_reduce_index_size(index_type));
    unsigned char *indices = malloc(size + 8);
    memset(indices, 0xee, size + 8);
    run(d, &a, &c, indices, size, 2, beta);
    for (int64_t i = 0; i < c.count; i++) {
        int64_t at, n = block(&a, &c, i, v);
        tens_close(&c, i, tens_rounded(&c, 2 * truth(op, v, n, &at) + beta * old[i]), 0);
        if (index_type >= 0 && op >= DN_REDUCE_MIN && op <= DN_REDUCE_AMAX)
            assert_int_equal(index_at(indices, index_type, i), at);
        else if (index_type >= 0)
            assert_true(indices[i] == 0xee);
    }
    assert_true(indices[size] == 0xee);
    tens_watch(&c);
    OK(cudnnDestroyReduceTensorDescriptor(d));
    free(indices);
    free(old);
    free(v);
    tens_free(&a);
    tens_free(&c);
}

static void any_dimensions_are_kept(void **state)
{
    (void)state;
    const int dims[] = { 2, 3, 4, 5, 2, 1, 3, 2 };
    for (int rank = 2; rank <= 5; rank++)
        for (int kept = 0; kept < (1 << rank) - 1; kept++)
            for (int op = 0; op <= DN_REDUCE_MUL_NO_ZEROS; op++)
                check(op, types[op % 2], types[op % 2], rank, dims, kept, (layout)((kept + op) % LAYOUTS), op % 5 - 1, kept & 1 ? 3 : 0);
    check(DN_REDUCE_ADD, DN_F32, DN_F32, 8, dims, 0x5a, GAPS, -1, 1);
    check(DN_REDUCE_MAX, DN_F32, DN_F32, 8, dims, 0xa1, REVERSED, 1, 0);
}

static void every_type_is_taken(void **state)
{
    (void)state;
    const int dims[] = { 3, 4, 5, 6 };
    for (int i = 0; i < 49; i++) {
        dn_dtype in = types[i / 7], out = types[i % 7];
        if ((in == DN_F64) == (out == DN_F64))
            for (int op = 0; op <= DN_REDUCE_MUL_NO_ZEROS; op++)
                check(op, in, out, 4, dims, i % 15, CHANNELS_LAST, i % 4, i & 1 ? 1 : 0);
    }
}

/* Large enough for parts: the winner is the first of many equal ones, wherever a part ends; sums are exact. */
static void large_reductions(void **state)
{
    (void)state;
    const int dims[] = { 6, 5, 300, 70 };
    for (int kept = 0; kept < 4; kept++)
        for (int how = 0; how < LAYOUTS; how++) {
            int c_dims[] = { kept & 1 ? 6 : 1, kept & 2 ? 5 : 1, 1, 1 };
            tens a = tens_make(DN_F32, 4, dims, (layout)how), c = tens_make(DN_F32, 4, c_dims, PACKED);
            cudnnReduceTensorDescriptor_t min = desc_of(DN_REDUCE_MIN, DN_F32, 0, 1, 0), add = desc_of(DN_REDUCE_ADD, DN_F32, 0, 0, 0);
            uint32_t at[30];
            int64_t out, in, want[30], sum[30] = { 0 };
            double low[30];
            tens_integers(&a, 60, 5);
            for (int i = 0; i < 30; i++)
                low[i] = INFINITY;
            for (int64_t i = 0; i < a.count; i++) {
                place(&a, &c, i, &out, &in);
                double v = tens_get(&a, i);
                sum[out] += (int64_t)v;
                if (v < low[out]) {
                    low[out] = v;
                    want[out] = in;
                }
            }
            run(min, &a, &c, at, sizeof at, 1, 0);
            for (int64_t i = 0; i < c.count; i++)
                assert_true(tens_get(&c, i) == low[i] && at[i] == want[i]);
            run(add, &a, &c, NULL, 0, 1, 0);
            for (int64_t i = 0; i < c.count; i++)
                assert_true(tens_get(&c, i) == (double)sum[i]);
            OK(cudnnDestroyReduceTensorDescriptor(min));
            OK(cudnnDestroyReduceTensorDescriptor(add));
            tens_free(&a);
            tens_free(&c);
        }
}

static double four(int op, int nan, const double *v, uint32_t *at)
{
    tens a = tens_make(DN_F32, 3, (const int[]){ 1, 1, 4 }, PACKED), c = tens_make(DN_F32, 3, (const int[]){ 1, 1, 1 }, PACKED);
    cudnnReduceTensorDescriptor_t d = desc_of(op, DN_F32, nan, 1, 0);
    for (int i = 0; i < 4; i++)
        tens_set(&a, i, v[i]);
    run(d, &a, &c, at, sizeof *at, 1, 0);
    double got = tens_get(&c, 0);
    OK(cudnnDestroyReduceTensorDescriptor(d));
    tens_free(&a);
    tens_free(&c);
    return got;
}

static void nan_goes_as_told(void **state)
{
    (void)state;
    const double some[] = { NAN, 5, -7, NAN }, none[] = { NAN, NAN, NAN, NAN }, late[] = { 1, 2, NAN, 0 };
    uint32_t at;
    assert_true(four(DN_REDUCE_MIN, 0, some, &at) == -7 && at == 2);
    assert_true(four(DN_REDUCE_MAX, 0, some, &at) == 5 && at == 1);
    assert_true(four(DN_REDUCE_AMAX, 0, some, &at) == 7 && at == 2);
    assert_true(isnan(four(DN_REDUCE_MAX, 0, none, &at)) && at == 0);
    assert_true(isnan(four(DN_REDUCE_MIN, 1, some, &at)) && at == 0);
    assert_true(isnan(four(DN_REDUCE_AMAX, 1, late, &at)) && at == 2);
    assert_true(isnan(four(DN_REDUCE_ADD, 0, some, &at)) && isnan(four(DN_REDUCE_MUL_NO_ZEROS, 0, some, &at)));
}

static void zeros_alone_multiply_to_one(void **state)
{
    (void)state;
    const double zeros[4] = { 0 }, some[] = { 0, 3, 0, -2 };
    uint32_t at;
    assert_true(four(DN_REDUCE_MUL_NO_ZEROS, 0, zeros, &at) == 1);
    assert_true(four(DN_REDUCE_MUL_NO_ZEROS, 0, some, &at) == -6 && four(DN_REDUCE_MUL, 0, some, &at) == 0);
}

static void says_what_is_wrong(void **state)
{
    (void)state;
    tens a = tens_make(DN_F32, 3, (const int[]){ 2, 3, 400 }, PACKED), c = tens_make(DN_F32, 3, (const int[]){ 2, 3, 1 }, PACKED);
    tens two = tens_make(DN_F32, 3, (const int[]){ 2, 2, 1 }, PACKED), f64 = tens_make(DN_F64, 3, c.dims, PACKED);
    tens r4 = tens_make(DN_F32, 4, (const int[]){ 2, 3, 1, 1 }, PACKED);
    cudnnReduceTensorDescriptor_t d = desc_of(DN_REDUCE_MAX, DN_F32, 0, 1, 0), small = desc_of(DN_REDUCE_MAX, DN_F32, 0, 1, 3);
    uint32_t at[6];
    size_t n;
    const float k = 1;
#define CALL_WITH(how, ind, size, out) cudnnReduceTensor(handle, how, ind, size, NULL, 0, &k, a.desc, a.data, &k, (out).desc, (out).data)
    REFUSED(CALL_WITH(d, at, sizeof at, two), BAD, "dimension 1 of cDesc is 2");
    REFUSED(CALL_WITH(d, at, sizeof at, r4), BAD, "cDesc has 4");
    REFUSED(CALL_WITH(d, at, sizeof at, f64), UNSUPPORTED, "f64 goes with f64");
    REFUSED(CALL_WITH(d, NULL, sizeof at, c), BAD, "indices is NULL");
    REFUSED(CALL_WITH(d, at, sizeof at - 1, c), CUDNN_STATUS_INVALID_VALUE, "indicesSizeInBytes is 23");
    REFUSED(CALL_WITH(small, at, sizeof at, c), UNSUPPORTED, "400 elements");
    REFUSED(cudnnReduceTensor(handle, d, at, sizeof at, NULL, 0, &k, a.desc, a.data, &k, a.desc, c.data), BAD, "all dimensions");
    REFUSED(cudnnReduceTensor(handle, d, at, sizeof at, NULL, 0, &k, a.desc, a.data, &k, c.desc, a.data), BAD, "in place");
    REFUSED(cudnnGetReductionWorkspaceSize(handle, d, a.desc, two.desc, &n), BAD, "dimension 1 of cDesc is 2");
#undef CALL_WITH
    OK(cudnnDestroyReduceTensorDescriptor(d));
    OK(cudnnDestroyReduceTensorDescriptor(small));
    tens *t[] = { &a, &c, &two, &f64, &r4 };
    for (int i = 0; i < 5; i++)
        tens_free(t[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_dimensions_are_kept),     cmocka_unit_test(every_type_is_taken), cmocka_unit_test(large_reductions),
        cmocka_unit_test(nan_goes_as_told),            cmocka_unit_test(zeros_alone_multiply_to_one),
        cmocka_unit_test(says_what_is_wrong),
    };
    return cmocka_run_group_tests(tests, handle_open, handle_close);
}
