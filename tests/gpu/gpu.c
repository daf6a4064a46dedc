/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#include "gpu.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

struct gpu_driver cu;

int gpu_open(void)
{
    static const struct { const char *name; size_t at; } names[] = {
#define X(member, name, args) { name, offsetof(struct gpu_driver, member) },
        GPU_FUNCTIONS(X)
#undef X
    };
    void *lib = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    int n = 0;
    gpu_context context = NULL;
    if (!lib) {
        printf("skipped: libcuda.so.1 cannot be opened\n");
        return 77;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void *f = dlsym(lib, names[i].name);
        if (!f) {
            printf("skipped: the driver has no %s\n", names[i].name);
            return 77;
        }
        memcpy((char *)&cu + names[i].at, &f, sizeof f);
    }
    if (cu.Init(0) || cu.DeviceGet(&n, 0) || cu.Retain(&context, n) || cu.CtxSetCurrent(context)) {
        printf("skipped: no device answers\n");
        return 77;
    }
    return 0;
}

void relu_make(relu *r, int n)
{
    *r = (relu){ .n = n };
    CALL(cudnnCreate, (&r->h));
    CALL(cudnnCreateTensorDescriptor, (&r->t));
    CALL(cudnnSetTensor4dDescriptor, (r->t, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, n, 1, 1));
    CALL(cudnnCreateActivationDescriptor, (&r->a));
    CALL(cudnnSetActivationDescriptor, (r->a, CUDNN_ACTIVATION_RELU, CUDNN_NOT_PROPAGATE_NAN, 0));
}

cudnnStatus_t relu_run(const relu *r, const void *x, void *y)
{
    const float one = 1, zero = 0;
    return api.cudnnActivationForward(r->h, r->a, &one, r->t, x, &zero, r->t, y);
}

void relu_free(relu *r)
{
    CALL(cudnnDestroyActivationDescriptor, (r->a));
    CALL(cudnnDestroyTensorDescriptor, (r->t));
    CALL(cudnnDestroy, (r->h));
}

void relu_memory(int n, gpu_ptr *x, gpu_ptr *y)
{
    float *host = malloc((size_t)n * sizeof *host);
    assert_non_null(host);
    CU(MemAlloc(x, (size_t)n * sizeof *host));
    CU(MemAlloc(y, (size_t)n * sizeof *host));
    for (int i = 0; i < n; i++)
        host[i] = (float)(i - n / 2);
    CU(HtoD(*x, host, (size_t)n * sizeof *host));
    for (int i = 0; i < n; i++)
        host[i] = 7;
    CU(HtoD(*y, host, (size_t)n * sizeof *host));
    free(host);
}

void relu_check(int n, gpu_ptr y)
{
    float *host = malloc((size_t)n * sizeof *host);
    assert_non_null(host);
    CU(DtoH(host, y, (size_t)n * sizeof *host));
    for (int i = 0; i < n; i++)
        assert_true(host[i] == (i > n / 2 ? (float)(i - n / 2) : 0));
    free(host);
}
