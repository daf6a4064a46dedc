/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Activation through the exported functions, on the ref engine. */
#include "tens.h"

#include "ops/act_fn.h"

#include <float.h>

static cudnnActivationDescriptor_t act(int mode, int nan, double coef, double beta)
{
    cudnnActivationDescriptor_t d;
    OK(cudnnCreateActivationDescriptor(&d));
    OK(cudnnSetActivationDescriptor(d, (cudnnActivationMode_t)mode, (cudnnNanPropagation_t)nan, coef));
    OK(cudnnSetActivationDescriptorSwishBeta(d, beta));
    return d;
}

static void forward(cudnnActivationDescriptor_t d, const tens *x, tens *y, double alpha, double beta)
{
    scalar a = scalar_of(x->type, alpha), b = scalar_of(x->type, beta);
    OK(cudnnActivationForward(handle, d, &a, x->desc, x->data, &b, y->desc, y->data));
}

static void backward(cudnnActivationDescriptor_t d, const tens *y, const tens *dy, const tens *x, tens *dx, double alpha, double beta)
{
    scalar a = scalar_of(x->type, alpha), b = scalar_of(x->type, beta);
    OK(cudnnActivationBackward(handle, d, &a, y->desc, y->data, dy->desc, dy->data, x->desc, x->data, &b, dx->desc, dx->data));
}

/* The functions again, written another way. coef 1.5, beta 0.75. */
static double oracle(int mode, double x)
{
    switch (mode) {
    case CUDNN_ACTIVATION_SIGMOID: return 0.5 + 0.5 * tanh(x / 2);
    case CUDNN_ACTIVATION_RELU: return fmax(x, 0);
    case CUDNN_ACTIVATION_TANH: return (exp(x) - exp(-x)) / (exp(x) + exp(-x));
    case CUDNN_ACTIVATION_CLIPPED_RELU: return fmin(fmax(x, 0), 1.5);
    case CUDNN_ACTIVATION_ELU: return x >= 0 ? x : 1.5 * (exp(x) - 1);
    default: return x * (0.5 + 0.5 * tanh(0.75 * x / 2));
    }
}

static const int modes[] = { CUDNN_ACTIVATION_SIGMOID, CUDNN_ACTIVATION_RELU, CUDNN_ACTIVATION_TANH, CUDNN_ACTIVATION_CLIPPED_RELU,
                             CUDNN_ACTIVATION_ELU, CUDNN_ACTIVATION_SWISH };
static const dn_dtype types[] = { DN_F32, DN_F64, DN_F16, DN_BF16 };

static void every_mode_type_and_layout(void **state)
{
    (void)state;
    static const int shapes[][9] = { { 3, 2, 3, 5 }, { 4, 1, 1, 1, 1 }, { 4, 2, 3, 4, 7 }, { 5, 1, 2, 3, 2, 3 }, { 8, 2, 1, 2, 1, 2, 1, 2, 3 } };
    for (size_t m = 0; m < 6; m++)
        for (size_t ty = 0; ty < 4; ty++)
            for (size_t s = 0; s < 5; s++)
                for (int k = 0; k < LAYOUTS * LAYOUTS; k++) {
                    cudnnActivationDescriptor_t d = act(modes[m], 0, 1.5, 0.75);
                    tens x = tens_make(types[ty], shapes[s][0], shapes[s] + 1, (layout)(k % LAYOUTS));
                    tens y = tens_make(types[ty], shapes[s][0], shapes[s] + 1, (layout)(k / LAYOUTS));
                    tens_reals(&x, 5);
                    for (int64_t i = 0; i < x.count; i++)
                        tens_set(&x, i, 3 * tens_get(&x, i));
                    forward(d, &x, &y, 1, 0);
                    for (int64_t i = 0; i < x.count; i++)
                        tens_close(&y, i, oracle(modes[m], tens_get(&x, i)), 3 * type_epsilon(types[ty]));
                    forward(d, &x, &y, 2, 0.5);
                    for (int64_t i = 0; i < x.count; i++)
                        tens_close(&y, i, 2.5 * oracle(modes[m], tens_get(&x, i)), 12 * type_epsilon(types[ty]));
                    tens_watch(&x);
                    tens_watch(&y);
                    tens_free(&x);
                    tens_free(&y);
                    OK(cudnnDestroyActivationDescriptor(d));
                }
}

static void gradients_are_finite_differences(void **state)
{
    (void)state;
    const int dims[] = { 2, 3, 5, 7 };
    const double h = 1e-5;
    for (size_t m = 0; m < 6; m++) {
        cudnnActivationDescriptor_t d = act(modes[m], 0, 1.5, 0.75);
        tens x = tens_make(DN_F64, 4, dims, PACKED), y = tens_make(DN_F64, 4, dims, CHANNELS_LAST);
        tens dy = tens_make(DN_F64, 4, dims, GAPS), dx = tens_make(DN_F64, 4, dims, REVERSED);
        tens up = tens_make(DN_F64, 4, dims, PACKED), down = tens_make(DN_F64, 4, dims, PACKED);
        tens_reals(&x, 3);
        tens_reals(&dy, 4);
        for (int64_t i = 0; i < x.count; i++)  /* 0 and the ceiling are corners */
            if (fabs(tens_get(&x, i)) < 1e-3)
                tens_set(&x, i, 0.25);
        forward(d, &x, &y, 1, 0);
        backward(d, &y, &dy, &x, &dx, 1, 0);
        for (int sign = 0; sign < 2; sign++) {
            tens moved = tens_make(DN_F64, 4, dims, PACKED);
            for (int64_t i = 0; i < x.count; i++)
                tens_set(&moved, i, tens_get(&x, i) + (sign ? -h : h));
            forward(d, &moved, sign ? &down : &up, 1, 0);
            tens_free(&moved);
        }
        for (int64_t i = 0; i < x.count; i++)
            tens_close(&dx, i, tens_get(&dy, i) * (tens_get(&up, i) - tens_get(&down, i)) / (2 * h), 1e-8);
        backward(d, &y, &dy, &x, &dx, 3, 0);
        tens once = tens_make(DN_F64, 4, dims, PACKED);
        backward(d, &y, &dy, &x, &once, 1, 0);
        backward(d, &y, &dy, &x, &dx, 2, -1);
        for (int64_t i = 0; i < x.count; i++)
            tens_close(&dx, i, -tens_get(&once, i), 1e-12);
        tens_watch(&dx);
        tens_free(&x), tens_free(&y), tens_free(&dy), tens_free(&dx), tens_free(&up), tens_free(&down), tens_free(&once);
        OK(cudnnDestroyActivationDescriptor(d));
    }
}

/* Each x gives y and, with dy = 2, dx: as measured on the vendor's 9.19. */
static void corners(void **state)
{
    (void)state;
    static const double x_of[] = { -INFINITY, -2, 0, 0.5, 1, 2, INFINITY, NAN };
    static const struct { int mode, nan; double coef, y[8], dx[8]; } rows[] = {
        { CUDNN_ACTIVATION_SIGMOID, 0, 1, { 0, 0.11920292202211755, 0.5, 0.62245933120185459, 0.7310585786300049, 0.8807970779778823, 1, NAN },
          { 0, 0.2099871708070, 0.5, 0.470007424403, 0.393223866483, 0.2099871708070, 0, NAN } },
        { CUDNN_ACTIVATION_RELU, 0, 1, { 0, 0, 0, 0.5, 1, 2, INFINITY, 0 }, { 0, 0, 0, 2, 2, 2, 2, 0 } },
        { CUDNN_ACTIVATION_RELU, 1, 0.75, { 0, 0, 0, 0.5, 1, 2, INFINITY, NAN }, { 0, 0, 0, 2, 2, 2, 2, 0 } },
        { CUDNN_ACTIVATION_CLIPPED_RELU, 0, 1, { 0, 0, 0, 0.5, 1, 1, 1, 0 }, { 0, 0, 0, 2, 2, 0, 0, 0 } },
        { CUDNN_ACTIVATION_CLIPPED_RELU, 1, 1, { 0, 0, 0, 0.5, 1, 1, 1, NAN }, { 0, 0, 0, 2, 2, 0, 0, 0 } },
        { CUDNN_ACTIVATION_CLIPPED_RELU, 0, -1, { -1, -1, -1, -1, -1, -1, -1, -1 }, { 0, 0, 0, 0, 0, 0, 0, 0 } },
        { CUDNN_ACTIVATION_CLIPPED_RELU, 0, 0, { 0, 0, 0, 0, 0, 0, 0, 0 }, { 0, 0, 0, 0, 0, 0, 0, 0 } },
        { CUDNN_ACTIVATION_ELU, 0, 1, { -1, -0.86466471676338730, 0, 0.5, 1, 2, INFINITY, NAN },
          { 0, 0.2706705664732254, 2, 2, 2, 2, 2, NAN } },
        { CUDNN_ACTIVATION_TANH, 0, 1, { -1, -0.96402758007581688, 0, 0.46211715726000976, 0.76159415595576489, 0.96402758007581688, 1, NAN },
          { 0, 0.1413016497063, 2, 1.572895465931855, 0.839948683228052, 0.1413016497063, 0, NAN } },
        { CUDNN_ACTIVATION_SWISH, 0, 1, { NAN, -0.23840584404423515, 0, 0.31122966560092730, 0.7310585786300049, 1.7615941559557646, INFINITY, NAN },
          { NAN, -0.181568497570, 1, 1.479922374605, 1.855341023743, 2.181568497570, NAN, NAN } },
    };
    const int dims[] = { 1, 1, 1, 8 };
    for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
        cudnnActivationDescriptor_t d = act(rows[r].mode, rows[r].nan, rows[r].coef, 1);
        tens x = tens_make(DN_F64, 4, dims, PACKED), y = tens_make(DN_F64, 4, dims, PACKED);
        tens dy = tens_make(DN_F64, 4, dims, PACKED), dx = tens_make(DN_F64, 4, dims, PACKED);
        for (int i = 0; i < 8; i++) {
            tens_set(&x, i, x_of[i]);
            tens_set(&dy, i, 2);
        }
        forward(d, &x, &y, 1, 0);
        backward(d, &y, &dy, &x, &dx, 1, 0);
        for (int i = 0; i < 8; i++) {
            tens_close(&y, i, rows[r].y[i], 1e-14);
            tens_close(&dx, i, rows[r].dx[i], 1e-8);
        }
        tens_free(&x), tens_free(&y), tens_free(&dy), tens_free(&dx);
        OK(cudnnDestroyActivationDescriptor(d));
    }
}

static void far_arguments_stay_finite(void **state)
{
    (void)state;
    const dn_act_param s = { .mode = DN_ACT_SIGMOID }, e = { .mode = DN_ACT_ELU, .coef = 2 }, w = { .mode = DN_ACT_SWISH, .beta = 1 };
    assert_true(dn_act_apply(&s, -1e4) == 0 && dn_act_apply(&s, 1e4) == 1);
    assert_true(dn_act_apply(&e, -1e4) == -2 && dn_act_apply(&e, -1e-12) > -2.1e-12);
    assert_true(dn_act_apply(&w, -1e4) == 0 && dn_act_apply(&w, 1e4) == 1e4);
    assert_true(dn_act_grad(&w, -1e4, 0, 1) == 0 && dn_act_grad(&w, 1e4, 1e4, 1) == 1);
}

/* y written over x, dx over dy; gradients that need x alone for its sign are right from y. */
static void in_place(void **state)
{
    (void)state;
    const int dims[] = { 2, 3, 9, 70 };
    static const int ms[] = { CUDNN_ACTIVATION_SIGMOID, CUDNN_ACTIVATION_RELU, CUDNN_ACTIVATION_TANH, CUDNN_ACTIVATION_ELU };
    for (size_t m = 0; m < 4; m++)
        for (int lay = 0; lay < LAYOUTS; lay++) {
            cudnnActivationDescriptor_t d = act(ms[m], 0, 0.5, 1);
            tens x = tens_make(DN_F32, 4, dims, (layout)lay), y = tens_make(DN_F32, 4, dims, (layout)lay);
            tens g = tens_make(DN_F32, 4, dims, (layout)lay), dx = tens_make(DN_F32, 4, dims, (layout)lay);
            tens_reals(&x, 8);
            tens_reals(&g, 9);
            forward(d, &x, &y, 1, 0);
            backward(d, &y, &g, &x, &dx, 1, 0);
            forward(d, &x, &x, 1, 0);
            backward(d, &x, &g, &x, &g, 1, 0);
            assert_memory_equal(x.memory, y.memory, x.bytes);
            assert_memory_equal(g.memory, dx.memory, g.bytes);
            tens_free(&x), tens_free(&y), tens_free(&g), tens_free(&dx);
            OK(cudnnDestroyActivationDescriptor(d));
        }
}

static void integers(void **state)
{
    (void)state;
    cudnnActivationDescriptor_t relu = act(CUDNN_ACTIVATION_RELU, 0, 0, 1), clip = act(CUDNN_ACTIVATION_CLIPPED_RELU, 0, 6, 1);
    const int dims[] = { 2, 8, 3, 5 };
    tens x = tens_make(DN_I8, 4, dims, GAPS), y = tens_make(DN_I8, 4, dims, CHANNELS_LAST);
    tens_integers(&x, 120, 2);
    forward(relu, &x, &y, 2, 0);
    for (int64_t i = 0; i < x.count; i++)
        assert_true(tens_get(&y, i) == fmin(2 * fmax(tens_get(&x, i), 0), 127));
    tens_free(&x), tens_free(&y);

    int8_t in[2 * 8 * 15], out[2 * 8 * 15];
    cudnnTensorDescriptor_t t;
    float one = 1, zero = 0;
    for (int i = 0; i < 240; i++)
        in[i] = (int8_t)(i - 120);
    OK(cudnnCreateTensorDescriptor(&t));
    OK(cudnnSetTensor4dDescriptor(t, CUDNN_TENSOR_NCHW_VECT_C, CUDNN_DATA_INT8x4, 2, 8, 3, 5));
    OK(cudnnActivationForward(handle, clip, &one, t, in, &zero, t, out));
    for (int i = 0; i < 240; i++)
        assert_int_equal(out[i], in[i] < 0 ? 0 : in[i] > 6 ? 6 : in[i]);
    REFUSED(cudnnActivationBackward(handle, clip, &one, t, in, t, in, t, in, &zero, t, out), CUDNN_STATUS_NOT_SUPPORTED, "f32");
    OK(cudnnDestroyTensorDescriptor(t));
    OK(cudnnDestroyActivationDescriptor(relu));
    OK(cudnnDestroyActivationDescriptor(clip));
}

/* Long rows are cut into pieces and shared by the threads. */
static void a_large_tensor(void **state)
{
    (void)state;
    const int dims[] = { 3, 5, 301, 100 };
    cudnnActivationDescriptor_t d = act(CUDNN_ACTIVATION_RELU, 0, 0, 1);
    tens x = tens_make(DN_F16, 4, dims, PACKED), y = tens_make(DN_F16, 4, dims, GAPS);
    tens_integers(&x, 1000, 6);
    forward(d, &x, &y, 1, 0);
    for (int64_t i = 0; i < x.count; i++)
        assert_true(tens_get(&y, i) == fmax(tens_get(&x, i), 0));
    tens_watch(&y);
    tens_free(&x), tens_free(&y);
    OK(cudnnDestroyActivationDescriptor(d));
}

static void refusals(void **state)
{
    (void)state;
    const int dims[] = { 2, 3, 4, 5 }, other[] = { 2, 3, 5, 4 };
    float one = 1, zero = 0;
    cudnnActivationDescriptor_t relu = act(CUDNN_ACTIVATION_RELU, 0, 0, 1), id = act(CUDNN_ACTIVATION_IDENTITY, 0, 0, 1);
    cudnnActivationDescriptor_t sigmoid = act(CUDNN_ACTIVATION_SIGMOID, 0, 0, 1);
    tens x = tens_make(DN_F32, 4, dims, PACKED), l = tens_make(DN_F32, 4, dims, CHANNELS_LAST), o = tens_make(DN_F32, 4, other, PACKED);
    tens i = tens_make(DN_I64, 4, dims, PACKED), y = tens_make(DN_F32, 4, dims, PACKED);
    memset(x.data, 0, 480);
    REFUSED(cudnnActivationForward(handle, id, &one, x.desc, x.data, &zero, y.desc, y.data), CUDNN_STATUS_BAD_PARAM, "IDENTITY");
    REFUSED(cudnnActivationBackward(handle, id, &one, x.desc, x.data, x.desc, x.data, x.desc, x.data, &zero, y.desc, y.data),
            CUDNN_STATUS_BAD_PARAM, "IDENTITY");
    REFUSED(cudnnActivationForward(handle, relu, &one, x.desc, x.data, &zero, o.desc, o.data), CUDNN_STATUS_BAD_PARAM, "dimension 2 of yDesc");
    REFUSED(cudnnActivationForward(handle, relu, &one, x.desc, x.data, &zero, l.desc, x.data), CUDNN_STATUS_BAD_PARAM, "written over");
    REFUSED(cudnnActivationForward(handle, relu, &one, i.desc, i.data, &zero, i.desc, i.data), CUDNN_STATUS_NOT_SUPPORTED, "ref_act_fwd");
    REFUSED(cudnnActivationForward(handle, relu, &one, x.desc, x.data, NULL, y.desc, y.data), CUDNN_STATUS_BAD_PARAM, "beta is NULL");
    REFUSED(cudnnActivationBackward(handle, relu, &one, x.desc, x.data, o.desc, o.data, x.desc, x.data, &zero, y.desc, y.data),
            CUDNN_STATUS_NOT_SUPPORTED, "dyDesc");
    REFUSED(cudnnActivationBackward(handle, relu, &one, x.desc, x.data, x.desc, x.data, l.desc, y.data, &zero, y.desc, y.data),
            CUDNN_STATUS_BAD_PARAM, "written over");
    REFUSED(cudnnActivationBackward(handle, relu, &one, x.desc, x.data, x.desc, x.data, x.desc, NULL, &zero, y.desc, y.data),
            CUDNN_STATUS_BAD_PARAM, "x is NULL");
    OK(cudnnActivationBackward(handle, sigmoid, &one, x.desc, x.data, x.desc, x.data, x.desc, NULL, &zero, y.desc, y.data));
    tens_free(&x), tens_free(&l), tens_free(&o), tens_free(&i), tens_free(&y);
    OK(cudnnDestroyActivationDescriptor(relu));
    OK(cudnnDestroyActivationDescriptor(id));
    OK(cudnnDestroyActivationDescriptor(sigmoid));
}

static void descriptors(void **state)
{
    (void)state;
    cudnnActivationDescriptor_t d;
    cudnnActivationMode_t mode;
    cudnnNanPropagation_t nan;
    double coef, beta = 0;
    OK(cudnnCreateActivationDescriptor(&d));
    OK(cudnnGetActivationDescriptorSwishBeta(d, &beta));
    assert_true(beta == 1);
    OK(cudnnSetActivationDescriptorSwishBeta(d, 2.5));
    OK(cudnnSetActivationDescriptor(d, CUDNN_ACTIVATION_SWISH, CUDNN_PROPAGATE_NAN, 0.5));
    OK(cudnnGetActivationDescriptorSwishBeta(d, &beta));
    OK(cudnnGetActivationDescriptor(d, &mode, &nan, &coef));
    assert_true(beta == 2.5 && mode == CUDNN_ACTIVATION_SWISH && nan == CUDNN_PROPAGATE_NAN && coef == 0.5);
    REFUSED(cudnnSetActivationDescriptor(d, (cudnnActivationMode_t)7, CUDNN_PROPAGATE_NAN, 0), CUDNN_STATUS_BAD_PARAM, "mode is 7");
    OK(cudnnGetActivationDescriptor(d, &mode, &nan, &coef));
    assert_true(mode == CUDNN_ACTIVATION_SWISH);
    OK(cudnnDestroyActivationDescriptor(d));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_mode_type_and_layout),
        cmocka_unit_test(gradients_are_finite_differences),
        cmocka_unit_test(corners),
        cmocka_unit_test(far_arguments_stay_finite),
        cmocka_unit_test(in_place),
        cmocka_unit_test(integers),
        cmocka_unit_test(a_large_tensor),
        cmocka_unit_test(refusals),
        cmocka_unit_test(descriptors),
    };
    setenv("ANYDNN_ENGINE", "ref", 1);
    return cmocka_run_group_tests(tests, handle_open, handle_close);
}
