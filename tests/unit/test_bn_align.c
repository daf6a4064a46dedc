/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Batch normalisation on the cpu engine where x is aligned and parameters are not: the results of the aligned call. All parameter
 * arrays share one description, so a row must hear of the least aligned of them. */
#include "tensor_util.h"

enum { SCALE, BIAS, RUN_MEAN, RUN_VAR, SAVE_MEAN, SAVE_INV, DSCALE, DBIAS, PARAMS };
enum { INFER, TRAIN, BACKWARD, CALLS };
enum { C = 20 };

static const unsigned char used[CALLS][PARAMS] = {
    [INFER] = { [SCALE] = 1, [BIAS] = 1, [RUN_MEAN] = 1, [RUN_VAR] = 1 },
    [TRAIN] = { [SCALE] = 1, [BIAS] = 1, [RUN_MEAN] = 1, [RUN_VAR] = 1, [SAVE_MEAN] = 1, [SAVE_INV] = 1 },
    [BACKWARD] = { [SCALE] = 1, [SAVE_MEAN] = 1, [SAVE_INV] = 1, [DSCALE] = 1, [DBIAS] = 1 },
};

typedef struct bn {
    tensor x, y, dy, param;
    _Alignas(16) unsigned char room[PARAMS][C * sizeof(float) + 16];
    unsigned char *p[PARAMS];
} bn;

/* Parameter `one` (every one where it is PARAMS) starts `shift` bytes past an aligned place. */
static void bn_init(bn *b, int one, size_t shift)
{
    const int dims[] = { 3, C, 4, 4 }, params[] = { 1, C, 1, 1 };
    b->x = tensor_new(DN_F32, 4, dims, NHWC);
    b->y = tensor_new(DN_F32, 4, dims, NHWC);
    b->dy = tensor_new(DN_F32, 4, dims, NHWC);
    b->param = tensor_new(DN_F32, 4, params, NCHW);
    fill(&b->x, 1);
    fill(&b->dy, 2);
    assert_int_equal((uintptr_t)b->x.ptr % 16, 0);
    for (int i = 0; i < PARAMS; i++) {
        b->p[i] = b->room[i] + (one == PARAMS || one == i ? shift : 0);
        fill(&b->param, (uint64_t)i + 3);
        for (int k = 0; k < C; k++)
            put(&b->param, k, 0.5 + fabs(get(&b->param, k)));  /* variances and deviations are above 0 */
        memcpy(b->p[i], b->param.memory, b->param.bytes);
    }
}

static void bn_free(bn *b)
{
    tensor_free(&b->x);
    tensor_free(&b->y);
    tensor_free(&b->dy);
    tensor_free(&b->param);
}

static cudnnStatus_t bn_call(bn *b, int call)
{
    const cudnnBatchNormMode_t mode = CUDNN_BATCHNORM_SPATIAL;
    const float *one = &one_f, *zero = &zero_f;
    unsigned char *const *p = b->p;
    if (call == INFER)
        return cudnnBatchNormalizationForwardInference(handle, mode, one, zero, b->x.desc, b->x.ptr, b->y.desc, b->y.ptr,
                                                       b->param.desc, p[SCALE], p[BIAS], p[RUN_MEAN], p[RUN_VAR], 1e-3);
    if (call == TRAIN)
        return cudnnBatchNormalizationForwardTraining(handle, mode, one, zero, b->x.desc, b->x.ptr, b->y.desc, b->y.ptr,
                                                      b->param.desc, p[SCALE], p[BIAS], 0.25, p[RUN_MEAN], p[RUN_VAR], 1e-3,
                                                      p[SAVE_MEAN], p[SAVE_INV]);
    return cudnnBatchNormalizationBackward(handle, mode, one, zero, one, zero, b->x.desc, b->x.ptr, b->dy.desc, b->dy.ptr,
                                           b->y.desc, b->y.ptr, b->param.desc, p[SCALE], p[DSCALE], p[DBIAS], 1e-3, p[SAVE_MEAN],
                                           p[SAVE_INV]);
}

static void compare(bn *a, bn *b)
{
    for (int64_t i = 0; i < a->y.count; i++)
        assert_near(get(&b->y, i), get(&a->y, i), 1e-5);
    for (int i = 0; i < PARAMS; i++)
        for (size_t k = 0; k < C; k++) {
            float want, got;
            memcpy(&want, a->p[i] + k * sizeof want, sizeof want);
            memcpy(&got, b->p[i] + k * sizeof got, sizeof got);
            assert_near(got, want, 1e-5);
        }
}

static void misaligned_parameters(void **state)
{
    (void)state;
    static const size_t shifts[] = { 1, 2, 4, 8 };
    for (int call = 0; call < CALLS; call++)
        for (int one = 0; one <= PARAMS; one++)
            for (int s = 0; s < 4; s++) {
                bn a, b;
                bn_init(&a, PARAMS, 0);
                bn_init(&b, one, shifts[s]);
                assert_int_equal(bn_call(&a, call), CUDNN_STATUS_SUCCESS);
                assert_int_equal(strncmp(anydnnGetLastSolver(handle), "cpu_", 4), 0);
                assert_int_equal(bn_call(&b, call), CUDNN_STATUS_SUCCESS);
                bool split = shifts[s] % sizeof(float) && (one == PARAMS || used[call][one]);  /* oneDNN wants whole floats */
                if (strncmp(anydnnGetLastSolver(handle), split ? "ref_" : "cpu_", 4))
                    fail_msg("call %d, parameter %d, shift %zu ran on %s", call, one, shifts[s], anydnnGetLastSolver(handle));
                compare(&a, &b);
                bn_free(&a);
                bn_free(&b);
            }
}

static int cpu_setup(void **state)
{
    (void)state;
    setenv("ANYDNN_ENGINE", "cpu", 1);
    return cudnnCreate(&handle) == CUDNN_STATUS_SUCCESS ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(misaligned_parameters) };
    if (dn_cpu_engine.probe()) {
        print_message("skipped: %s\n", dn_cpu_engine.probe());
        return 0;
    }
    return cmocka_run_group_tests(tests, cpu_setup, handle_teardown);
}
