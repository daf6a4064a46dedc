/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Spatial transformer through the exported functions, on the ref engine: grid generator and sampler against the formulas written
 * out per pixel, against numbers worked out by hand, and against finite differences of theta, x and the grid. */
#include "tens.h"

#include "ops/problem.h"

typedef struct st {
    cudnnSpatialTransformerDescriptor_t desc;
    int n, c, ih, iw, oh, ow;
    tens x, y, dy, dx, grid, dgrid, theta, dtheta;
} st;

static st make(dn_dtype type, int n, int c, int ih, int iw, int oh, int ow, layout lx, layout ly)
{
    st s = { .n = n, .c = c, .ih = ih, .iw = iw, .oh = oh, .ow = ow };
    const int in[] = { n, c, ih, iw }, out[] = { n, c, oh, ow }, grid[] = { n, oh, ow, 2 }, theta[] = { n, 2, 3 };
    OK(cudnnCreateSpatialTransformerDescriptor(&s.desc));
    OK(cudnnSetSpatialTransformerNdDescriptor(s.desc, CUDNN_SAMPLER_BILINEAR, (cudnnDataType_t)type, 4, out));
    s.x = tens_make(type, 4, in, lx);
    s.dx = tens_make(type, 4, in, ly);
    s.y = tens_make(type, 4, out, ly);
    s.dy = tens_make(type, 4, out, lx);
    s.grid = tens_make(type, 4, grid, PACKED);
    s.dgrid = tens_make(type, 4, grid, PACKED);
    s.theta = tens_make(type, 3, theta, PACKED);
    s.dtheta = tens_make(type, 3, theta, PACKED);
    tens_reals(&s.x, 1), tens_reals(&s.dy, 2), tens_reals(&s.theta, 3), tens_reals(&s.grid, 4);
    return s;
}

static void drop(st *s)
{
    tens *all[] = { &s->x, &s->y, &s->dy, &s->dx, &s->grid, &s->dgrid, &s->theta, &s->dtheta };
    for (int i = 0; i < 8; i++) {
        tens_watch(all[i]);
        tens_free(all[i]);
    }
    OK(cudnnDestroySpatialTransformerDescriptor(s->desc));
}

static void sample(st *s, double alpha, double beta)
{
    scalar a = scalar_of(s->x.type, alpha), b = scalar_of(s->x.type, beta);
    OK(cudnnSpatialTfSamplerForward(handle, s->desc, &a, s->x.desc, s->x.data, s->grid.data, &b, s->y.desc, s->y.data));
}

static void sample_back(st *s, double alpha, double beta, double alpha_grid, double beta_grid)
{
    scalar a = scalar_of(s->x.type, alpha), b = scalar_of(s->x.type, beta);
    scalar ag = scalar_of(s->x.type, alpha_grid), bg = scalar_of(s->x.type, beta_grid);
    OK(cudnnSpatialTfSamplerBackward(handle, s->desc, &a, s->x.desc, s->x.data, &b, s->dx.desc, s->dx.data, &ag, s->dy.desc,
                                     s->dy.data, s->grid.data, &bg, s->dgrid.data));
}

static int64_t index4(const int *dims, int64_t n, int64_t c, int64_t h, int64_t w)
{
    return ((n * dims[1] + c) * dims[2] + h) * dims[3] + w;
}

/* --- the oracle: every input pixel has the weight max(0, 1 - |distance|) along both axes --- */

static double hat(double d)
{
    return fabs(d) < 1 ? 1 - fabs(d) : 0;
}

static double place(const st *s, int64_t n, int64_t h, int64_t w, int k)
{
    int size = k ? s->ih : s->iw;
    return (tens_get(&s->grid, index4(s->grid.dims, n, h, w, k)) + 1) * (size - 1) / 2;
}

static double want_y(const st *s, int64_t n, int64_t c, int64_t h, int64_t w)
{
    double sum = 0, px = place(s, n, h, w, 0), py = place(s, n, h, w, 1);
    for (int i = 0; i < s->ih; i++)
        for (int j = 0; j < s->iw; j++)
            sum += tens_get(&s->x, index4(s->x.dims, n, c, i, j)) * hat(py - i) * hat(px - j);
    return sum;
}

static double want_dx(const st *s, int64_t n, int64_t c, int64_t i, int64_t j)
{
    double sum = 0;
    for (int h = 0; h < s->oh; h++)
        for (int w = 0; w < s->ow; w++)
            sum += tens_get(&s->dy, index4(s->dy.dims, n, c, h, w)) * hat(place(s, n, h, w, 1) - (double)i) *
                   hat(place(s, n, h, w, 0) - (double)j);
    return sum;
}

#define EACH(i, n) for (int i = 0; i < (n); i++)

static void check_sampler(st *s)
{
    double eps = 8 * type_epsilon(s->x.type);
    sample(s, 1, 0);
    sample_back(s, 1, 0, 1, 0);
    EACH(n, s->n) EACH(c, s->c) EACH(h, s->oh) EACH(w, s->ow) {
        double y = want_y(s, n, c, h, w);
        tens_close(&s->y, index4(s->y.dims, n, c, h, w), y, eps * (fabs(y) + 1));
    }
    EACH(n, s->n) EACH(c, s->c) EACH(i, s->ih) EACH(j, s->iw) {
        double dx = want_dx(s, n, c, i, j);
        tens_close(&s->dx, index4(s->dx.dims, n, c, i, j), dx, eps * (fabs(dx) + 1));
    }
}

static const dn_dtype types[] = { DN_F32, DN_F64, DN_F16, DN_BF16 };

static void random_samplers(void **state)
{
    (void)state;
    uint32_t seed = 5;
    for (int round = 0; round < 300; round++) {
        int v[6];
        for (int i = 0; i < 6; i++)
            v[i] = 1 + (int)(tens_random(&seed) % (i < 2 ? 3 : 6));
        st s = make(types[round % 4], v[0], v[1], v[2], v[3], v[4], v[5], (layout)(tens_random(&seed) % LAYOUTS),
                    (layout)(tens_random(&seed) % LAYOUTS));
        for (int64_t i = 0; i < s.grid.count; i++)  /* some outside, some far outside, some on pixels */
            tens_set(&s.grid, i, tens_get(&s.grid, i) * (round % 5 == 0 ? 1 : round % 5 == 1 ? 3 : 1.3));
        if (round % 7 == 0)
            tens_integers(&s.grid, 1, seed);
        check_sampler(&s);
        drop(&s);
    }
}

/* Rows longer than a span, and work for several threads. */
static void large_sampler(void **state)
{
    (void)state;
    st s = make(DN_F64, 2, 3, 7, 9, 5, 300, CHANNELS_LAST, PACKED);
    check_sampler(&s);
    drop(&s);
}

static void sampler_alpha_beta(void **state)
{
    (void)state;
    st s = make(DN_F64, 2, 3, 4, 5, 3, 6, PACKED, GAPS);
    double y[108], dx[120], dg[72];
    sample(&s, 1, 0);
    sample_back(&s, 1, 0, 1, 0);
    for (int i = 0; i < 108; i++)
        y[i] = tens_get(&s.y, i), tens_set(&s.y, i, i);
    for (int i = 0; i < 120; i++)
        dx[i] = tens_get(&s.dx, i), tens_set(&s.dx, i, i);
    for (int i = 0; i < 72; i++)
        dg[i] = tens_get(&s.dgrid, i), tens_set(&s.dgrid, i, i);
    sample(&s, 3, 2);
    sample_back(&s, 3, 2, -1, 0.5);
    for (int i = 0; i < 108; i++)
        tens_close(&s.y, i, 3 * y[i] + 2 * i, 1e-12);
    for (int i = 0; i < 120; i++)
        tens_close(&s.dx, i, 3 * dx[i] + 2 * i, 1e-12);
    for (int i = 0; i < 72; i++)
        tens_close(&s.dgrid, i, -dg[i] + 0.5 * i, 1e-12);
    drop(&s);
}

static double loss(st *s)
{
    double sum = 0;
    sample(s, 1, 0);
    for (int64_t i = 0; i < s->y.count; i++)
        sum += tens_get(&s->y, i) * tens_get(&s->dy, i);
    return sum;
}

static void check_difference(st *s, tens *of, const tens *gradient)
{
    const double step = 1e-6;
    for (int64_t i = 0; i < of->count; i++) {
        double v = tens_get(of, i);
        tens_set(of, i, v + step);
        double up = loss(s);
        tens_set(of, i, v - step);
        double down = loss(s);
        tens_set(of, i, v);
        tens_close(gradient, i, (up - down) / (2 * step), 1e-7);
    }
}

/* Random places: none within a step of a pixel's row or column, where the surface has an edge. */
static void sampler_finite_differences(void **state)
{
    (void)state;
    st s = make(DN_F64, 2, 3, 4, 5, 3, 4, PACKED, REVERSED);
    for (int64_t i = 0; i < s.grid.count; i++)
        tens_set(&s.grid, i, tens_get(&s.grid, i) * 1.5);
    sample_back(&s, 1, 0, 1, 0);
    check_difference(&s, &s.x, &s.dx);
    check_difference(&s, &s.grid, &s.dgrid);
    drop(&s);
}

static void places_that_are_no_numbers(void **state)
{
    (void)state;
    st s = make(DN_F32, 1, 1, 2, 2, 1, 4, PACKED, PACKED);
    static const double gx[] = { NAN, INFINITY, 0, -1 }, gy[] = { 0, 0, -INFINITY, -1 };
    for (int i = 0; i < 4; i++) {
        tens_set(&s.grid, 2 * i, gx[i]);
        tens_set(&s.grid, 2 * i + 1, gy[i]);
    }
    sample(&s, 1, 0);
    sample_back(&s, 1, 0, 1, 0);
    assert_true(isnan(tens_get(&s.y, 0)));
    tens_close(&s.y, 1, 0, 0);
    tens_close(&s.y, 2, 0, 0);
    tens_close(&s.y, 3, tens_get(&s.x, 0), 0);
    tens_close(&s.dx, 0, tens_get(&s.dy, 3), 0);
    for (int i = 1; i < 4; i++)
        tens_close(&s.dx, i, 0, 0);
    drop(&s);
}

/* --- grid generator --- */

static double centre(int i, int n)
{
    return n > 1 ? 2.0 * i / (n - 1) - 1 : -1;
}

static void generate(st *s)
{
    OK(cudnnSpatialTfGridGeneratorForward(handle, s->desc, s->theta.data, s->grid.data));
}

static void grids(void **state)
{
    (void)state;
    static const int sizes[][3] = { { 1, 1, 1 }, { 2, 1, 5 }, { 3, 4, 1 }, { 2, 7, 6 }, { 2, 3, 400 } };
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        for (int t = 0; t < 4; t++) {
            st s = make(types[t], sizes[k][0], 1, 2, 2, sizes[k][1], sizes[k][2], PACKED, PACKED);
            double eps = 4 * type_epsilon(types[t]);
            generate(&s);
            tens_reals(&s.dgrid, 9);
            OK(cudnnSpatialTfGridGeneratorBackward(handle, s.desc, s.dgrid.data, s.dtheta.data));
            EACH(n, s.n) EACH(r, 2) {
                double d[3] = { 0 };
                EACH(h, s.oh) EACH(w, s.ow) {
                    const double at[] = { centre(w, s.ow), centre(h, s.oh), 1 };
                    double g = 0, v = tens_get(&s.dgrid, index4(s.dgrid.dims, n, h, w, r));
                    EACH(i, 3) {
                        g += tens_get(&s.theta, (n * 2 + r) * 3 + i) * at[i];
                        d[i] += v * at[i];
                    }
                    tens_close(&s.grid, index4(s.grid.dims, n, h, w, r), g, eps * (1 + fabs(g)));
                }
                EACH(i, 3)
                    tens_close(&s.dtheta, (n * 2 + r) * 3 + i, d[i], eps * (1 + fabs(d[i])) + 1e-13);
            }
            drop(&s);
        }
}

/* theta 1 0 0, 0 1 0 at the input's own size gives the input back; half of it in size, the corners. */
static void identity(void **state)
{
    (void)state;
    for (int size = 5; size >= 2; size -= 3) {
        st s = make(DN_F64, 1, 2, 5, 5, size, size, CHANNELS_LAST, PACKED);
        static const double theta[] = { 1, 0, 0, 0, 1, 0 };
        for (int i = 0; i < 6; i++)
            tens_set(&s.theta, i, theta[i]);
        generate(&s);
        sample(&s, 1, 0);
        EACH(c, 2) EACH(h, size) EACH(w, size)
            tens_close(&s.y, index4(s.y.dims, 0, c, h, w), tens_get(&s.x, index4(s.x.dims, 0, c, size == 5 ? h : h * 4,
            size == 5 ? w : w * 4)),
                       1e-15);
        drop(&s);
    }
}

/* The gradient of the sum of grid * dgrid, which is linear in theta. */
static void grid_finite_differences(void **state)
{
    (void)state;
    st s = make(DN_F64, 2, 1, 2, 2, 3, 4, PACKED, PACKED);
    tens_reals(&s.dgrid, 8);
    OK(cudnnSpatialTfGridGeneratorBackward(handle, s.desc, s.dgrid.data, s.dtheta.data));
    for (int64_t i = 0; i < s.theta.count; i++) {
        double v = tens_get(&s.theta, i), sum[2] = { 0 };
        for (int k = 0; k < 2; k++) {
            tens_set(&s.theta, i, v + (k ? -1 : 1));
            generate(&s);
            for (int64_t e = 0; e < s.grid.count; e++)
                sum[k] += tens_get(&s.grid, e) * tens_get(&s.dgrid, e);
        }
        tens_set(&s.theta, i, v);
        tens_close(&s.dtheta, i, (sum[0] - sum[1]) / 2, 1e-13);
    }
    drop(&s);
}

static void descriptors_and_refusals(void **state)
{
    (void)state;
    const float one = 1, zero = 0;
    const int dims[] = { 1, 2, 3, 4, 5 }, empty[] = { 1, 2, 0, 4 };
    st s = make(DN_F32, 1, 2, 6, 6, 3, 4, PACKED, PACKED);
    cudnnSpatialTransformerDescriptor_t d = NULL;
    OK(cudnnCreateSpatialTransformerDescriptor(&d));
    REFUSED(cudnnSpatialTfGridGeneratorForward(handle, d, s.theta.data, s.grid.data), CUDNN_STATUS_BAD_PARAM, "never set");
    REFUSED(cudnnSetSpatialTransformerNdDescriptor(d, (cudnnSamplerType_t)1, CUDNN_DATA_FLOAT, 4, dims), CUDNN_STATUS_BAD_PARAM,
            "samplerType");
    REFUSED(cudnnSetSpatialTransformerNdDescriptor(d, CUDNN_SAMPLER_BILINEAR, CUDNN_DATA_INT8, 4, dims),
            CUDNN_STATUS_NOT_SUPPORTED, "dataType is 3");
    REFUSED(cudnnSetSpatialTransformerNdDescriptor(d, CUDNN_SAMPLER_BILINEAR, CUDNN_DATA_INT32, 4, dims),
            CUDNN_STATUS_BAD_PARAM, "dataType is 4");
    REFUSED(cudnnSetSpatialTransformerNdDescriptor(d, CUDNN_SAMPLER_BILINEAR, CUDNN_DATA_FLOAT, 5, dims),
            CUDNN_STATUS_NOT_SUPPORTED, "nbDims is 5");
    REFUSED(cudnnSetSpatialTransformerNdDescriptor(d, CUDNN_SAMPLER_BILINEAR, CUDNN_DATA_FLOAT, 3, dims),
            CUDNN_STATUS_BAD_PARAM, "nbDims is 3");
    REFUSED(cudnnSetSpatialTransformerNdDescriptor(d, CUDNN_SAMPLER_BILINEAR, CUDNN_DATA_FLOAT, 4, empty),
            CUDNN_STATUS_BAD_PARAM, "dimA[2] is 0");
    REFUSED(cudnnSetSpatialTransformerNdDescriptor(d, CUDNN_SAMPLER_BILINEAR, CUDNN_DATA_FLOAT, 4, NULL),
            CUDNN_STATUS_BAD_PARAM, "dimA is NULL");
    OK(cudnnSetSpatialTransformerNdDescriptor(d, CUDNN_SAMPLER_BILINEAR, CUDNN_DATA_DOUBLE, 4, dims));
    REFUSED(cudnnSpatialTfSamplerForward(handle, d, &one, s.x.desc, s.x.data, s.grid.data, &zero, s.y.desc, s.y.data),
            CUDNN_STATUS_BAD_PARAM, "yDesc has type f32; stDesc was set with f64");
    REFUSED(cudnnSpatialTfSamplerForward(handle, s.desc, &one, s.x.desc, s.x.data, s.grid.data, &zero, s.x.desc, s.y.data),
            CUDNN_STATUS_BAD_PARAM, "dimension 2 of yDesc is 6; stDesc was set with 3");
    REFUSED(cudnnSpatialTfSamplerForward(handle, s.desc, &one, s.x.desc, s.x.data, NULL, &zero, s.y.desc, s.y.data),
            CUDNN_STATUS_BAD_PARAM, "grid is NULL");
    REFUSED(cudnnSpatialTfSamplerForward(handle, s.desc, &one, s.x.desc, s.x.data, s.grid.data, &zero, s.y.desc, s.x.data),
            CUDNN_STATUS_BAD_PARAM, "in place");
    REFUSED(cudnnSpatialTfSamplerBackward(handle, s.desc, &one, s.x.desc, s.x.data, &zero, s.y.desc, s.dx.data, &one, s.dy.desc,
                                          s.dy.data, s.grid.data, &zero, s.dgrid.data), CUDNN_STATUS_BAD_PARAM, "dxDesc");
    REFUSED(cudnnSpatialTfSamplerBackward(handle, s.desc, &one, s.x.desc, s.x.data, &zero, s.dx.desc, s.dx.data, NULL, s.dy.desc,
                                          s.dy.data, s.grid.data, &zero, s.dgrid.data), CUDNN_STATUS_BAD_PARAM,
                                          "alphaDgrid is NULL");
    OK(cudnnDestroySpatialTransformerDescriptor(d));
    dn_problem p;
    assert_int_equal(dn_problem_parse("stgrid fwd x=2x2x3:f32:nchw y=2x4x5x2:f32:nchw", &p), DN_SUCCESS);
    assert_int_equal(dn_problem_parse("stgrid fwd x=2x3x3:f32:nchw y=2x4x5x2:f32:nchw", &p), DN_BAD_PARAM);
    assert_int_equal(dn_problem_parse("stsample fwd x=n1c2h4w4:f32:nchw y=n1c2h3w5:f32:nchw b=1x3x5x2:f32:nchw", &p), DN_SUCCESS);
    assert_int_equal(dn_problem_parse("stsample fwd x=n1c2h4w4:f32:nchw y=n1c2h3w5:f32:nchw b=1x3x4x2:f32:nchw", &p), DN_BAD_PARAM);
    drop(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_samplers),
        cmocka_unit_test(large_sampler),
        cmocka_unit_test(sampler_alpha_beta),
        cmocka_unit_test(sampler_finite_differences),
        cmocka_unit_test(places_that_are_no_numbers),
        cmocka_unit_test(grids),
        cmocka_unit_test(identity),
        cmocka_unit_test(grid_finite_differences),
        cmocka_unit_test(descriptors_and_refusals),
    };
    setenv("ANYDNN_ENGINE", "ref", 1);
    return cmocka_run_group_tests(tests, handle_open, handle_close);
}
