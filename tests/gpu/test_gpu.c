/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * What a library on a GPU owes its caller beyond right numbers: it works in the caller's contexts and on the caller's streams, may be
 * captured into graphs, takes every kind of memory that the device reaches, and says in words what it cannot do. */
#include "gpu.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define N 1000
#define P(ptr) ((void *)(uintptr_t)(ptr))

static void engine_is_cuda(void **state)
{
    (void)state;
    relu r;
    relu_make(&r, N);
    if (api_ours)
        assert_string_equal(api.anydnnGetEngineName(r.h), "cuda");
    assert_true(api.cudnnGetMaxDeviceVersion() >= 750);
    assert_true(api.cudnnGetCudartVersion() >= 11000);
    relu_free(&r);
}

/* --- contexts --- */

/* A handle made in one context works when another is current, and leaves that one current. */
static void other_context_current(void **state)
{
    (void)state;
    gpu_context mine, other, now;
    gpu_ptr x, y;
    relu r;
    CU(CtxGetCurrent(&mine));
    relu_make(&r, N);
    relu_memory(N, &x, &y);
    CU(CtxCreate(&other, 0, 0));
    assert_int_equal(relu_run(&r, P(x), P(y)), OK);
    CU(CtxGetCurrent(&now));
    assert_ptr_equal(now, other);
    for (now = other; now;) {  /* contexts are a stack: setting none takes the top off */
        CU(CtxSetCurrent(NULL));
        CU(CtxGetCurrent(&now));
    }
    assert_int_equal(relu_run(&r, P(x), P(y)), OK);
    CU(CtxGetCurrent(&now));
    assert_null(now);
    CU(CtxSetCurrent(mine));
    relu_check(N, y);
    CU(CtxDestroy(other));
    CU(CtxSetCurrent(mine));
    relu_free(&r);
}

/* Contexts come and go; a later one may have the address of an earlier one and holds none of its modules. */
static void contexts_come_and_go(void **state)
{
    (void)state;
    gpu_context mine;
    CU(CtxGetCurrent(&mine));
    for (int i = 0; i < 5; i++) {
        gpu_context c;
        gpu_ptr x, y;
        relu r;
        CU(CtxCreate(&c, 0, 0));
        relu_make(&r, N);
        relu_memory(N, &x, &y);
        assert_int_equal(relu_run(&r, P(x), P(y)), OK);
        relu_check(N, y);
        relu_free(&r);
        CU(CtxDestroy(c));
    }
    CU(CtxSetCurrent(mine));
}

/* Without a context the handle takes the primary one, which the CUDA run time uses too. */
static void *without_context(void *out)
{
    relu *r = out;
    relu_make(r, N);
    return NULL;
}

static void no_context_current(void **state)
{
    (void)state;
    gpu_ptr x, y;
    relu r;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, without_context, &r), 0);  /* a new thread has none */
    pthread_join(thread, NULL);
    relu_memory(N, &x, &y);
    assert_int_equal(relu_run(&r, P(x), P(y)), OK);
    relu_check(N, y);
    relu_free(&r);
}

/* --- streams --- */

static void streams(void **state)
{
    (void)state;
    gpu_stream own;
    relu r;
    CU(StreamCreate(&own, 1));
    relu_make(&r, N);
    gpu_stream all[] = { NULL, (gpu_stream)1, (gpu_stream)2, own };
    for (int i = 0; i < 4; i++) {
        gpu_ptr x, y;
        cudaStream_t got;
        relu_memory(N, &x, &y);
        CALL(cudnnSetStream, (r.h, (cudaStream_t)all[i]));
        CALL(cudnnGetStream, (r.h, &got));
        assert_ptr_equal(got, all[i]);
        assert_int_equal(relu_run(&r, P(x), P(y)), OK);
        CU(StreamSynchronize(all[i]));
        relu_check(N, y);
        CU(MemFree(x));
        CU(MemFree(y));
    }
    relu_free(&r);
    CU(StreamDestroy(own));
}

/* --- graphs --- */

static void replay(gpu_stream s, gpu_ptr x, gpu_ptr y, int n)
{
    void *graph, *exec;
    float *seven = malloc((size_t)n * sizeof *seven);
    CU(EndCapture(s, &graph));
    assert_non_null(graph);
    CU(Instantiate(&exec, graph, 0));
    for (int i = 0; i < n; i++)
        seven[i] = 7;
    CU(HtoD(y, seven, (size_t)n * sizeof *seven));  /* so that a call that ran at once would not do */
    CU(GraphLaunch(exec, s));
    CU(StreamSynchronize(s));
    relu_check(n, y);
    CU(GraphExecDestroy(exec));
    CU(GraphDestroy(graph));
    free(seven);
    (void)x;
}

/* Capture modes: 0 global, 1 of the thread, 2 relaxed; the plan is made before the capture, or inside. */
static void capture(void **state)
{
    (void)state;
    gpu_stream s;
    CU(StreamCreate(&s, 1));
    for (int mode = 0; mode < 3; mode++)
        for (int inside = 0; inside < 2; inside++) {
            relu r;
            gpu_ptr x, y;
            relu_make(&r, N + mode);
            CALL(cudnnSetStream, (r.h, (cudaStream_t)s));
            relu_memory(r.n, &x, &y);
            if (!inside)
                assert_int_equal(relu_run(&r, P(x), P(y)), OK);
            CU(StreamSynchronize(s));
            CU(BeginCapture(s, mode));
            assert_int_equal(relu_run(&r, P(x), P(y)), OK);
            replay(s, x, y, r.n);
            relu_free(&r);
        }
    CU(StreamDestroy(s));
}

/* --- memory --- */

static void kinds_of_memory(void **state)
{
    (void)state;
    float *pinned;
    gpu_ptr managed, x, y;
    relu r;
    relu_make(&r, N);
    relu_memory(N, &x, &y);
    CU(MemAllocHost((void **)&pinned, N * sizeof *pinned));
    CU(MemAllocManaged(&managed, N * sizeof(float), 1));
    assert_int_equal(relu_run(&r, P(x), pinned), OK);
    assert_int_equal(relu_run(&r, P(x), P(managed)), OK);
    CU(CtxSynchronize());
    for (int i = 0; i < N; i++)
        assert_true(pinned[i] == (i > N / 2 ? (float)(i - N / 2) : 0) && ((float *)P(managed))[i] == pinned[i]);
    CU(MemFreeHost(pinned));
    CU(MemFree(managed));
    relu_free(&r);
}

/* A host pointer where the device cannot reach it: a status and a sentence, and the context works on. */
static void pageable_memory(void **state)
{
    (void)state;
    int reach = 0;
    gpu_ptr x, y;
    float *host = calloc(N, sizeof *host);
    relu r;
    relu_make(&r, N);
    relu_memory(N, &x, &y);
    CU(DeviceGetAttribute(&reach, 88, 0));  /* pageable memory access */
    if (reach) {
        assert_int_equal(relu_run(&r, P(x), host), OK);
    } else if (api_ours) {
        assert_int_equal(relu_run(&r, P(x), host), BAD);
        assert_non_null(strstr(api_error(), "not memory that the GPU can reach"));
        assert_int_equal(relu_run(&r, host, P(y)), BAD);
    }
    assert_int_equal(relu_run(&r, P(x), P(y)), OK);
    CU(CtxSynchronize());
    relu_check(N, y);
    relu_free(&r);
    free(host);
}

static void too_much_memory(void **state)
{
    (void)state;
    void *p = NULL;
    size_t left, total;
    gpu_ptr x, y;
    relu r;
    if (!api_ours)
        skip();
    relu_make(&r, N);
    CU(MemGetInfo(&left, &total));
    assert_true(api.anydnnMalloc(r.h, total + 1, &p) != OK);
    assert_non_null(strstr(api_error(), "the device has not that much memory"));
    relu_memory(N, &x, &y);
    assert_int_equal(relu_run(&r, P(x), P(y)), OK);
    relu_check(N, y);
    relu_free(&r);
}

/* --- threads: a handle and a stream each, on one device --- */

static void *work(void *ctx)
{
    gpu_context *context = ctx;
    gpu_stream s;
    gpu_ptr x, y;
    relu r;
    CU(CtxSetCurrent(*context));
    CU(StreamCreate(&s, 1));
    for (int i = 0; i < 20; i++) {
        relu_make(&r, N + i);
        CALL(cudnnSetStream, (r.h, (cudaStream_t)s));
        relu_memory(r.n, &x, &y);
        for (int k = 0; k < 20; k++)
            assert_int_equal(relu_run(&r, P(x), P(y)), OK);
        CU(StreamSynchronize(s));
        relu_check(r.n, y);
        relu_free(&r);
    }
    return NULL;
}

static void threads(void **state)
{
    (void)state;
    pthread_t t[8];
    gpu_context mine;
    CU(CtxGetCurrent(&mine));
    for (int i = 0; i < 8; i++)
        assert_int_equal(pthread_create(&t[i], NULL, work, &mine), 0);
    for (int i = 0; i < 8; i++)
        pthread_join(t[i], NULL);
}

/* Every device of the machine at once. */
static void devices(void **state)
{
    (void)state;
    int count = 0;
    gpu_context mine, c;
    relu r[16];
    gpu_ptr x[16], y[16];
    CU(DeviceGetCount(&count));
    CU(CtxGetCurrent(&mine));
    for (int d = 0; d < count && d < 16; d++) {
        CU(Retain(&c, d));
        CU(CtxSetCurrent(c));
        relu_make(&r[d], N);
        relu_memory(N, &x[d], &y[d]);
    }
    CU(CtxSetCurrent(mine));
    for (int d = 0; d < count && d < 16; d++)
        assert_int_equal(relu_run(&r[d], P(x[d]), P(y[d])), OK);
    for (int d = 0; d < count && d < 16; d++) {
        CU(Retain(&c, d));
        CU(CtxSetCurrent(c));
        CU(CtxSynchronize());
        relu_check(N, y[d]);
        relu_free(&r[d]);
    }
    CU(CtxSetCurrent(mine));
}

/* --- the caller's own mistakes. A context does not get over them, so this test is the last. --- */

static const char wild_store[] =
    ".version 6.0\n.target sm_60\n.address_size 64\n"
    ".visible .entry wild_store() { .reg .b64 %a; .reg .b32 %v; mov.u64 %a, 4096; mov.u32 %v, 1; st.global.u32 [%a], %v; ret; }\n";

static void fault_of_the_caller(void **state)
{
    (void)state;
    void *module, *f;
    gpu_ptr x, y;
    relu r;
    char name[100];
    cudnnStatus_t st = OK;
    CU(DeviceGetName(name, sizeof name, 0));
    if (strcmp(name, "emulated device") == 0)
        skip();  /* tests/emulated: nothing there runs PTX */
    relu_make(&r, N);
    relu_memory(N, &x, &y);
    assert_int_equal(relu_run(&r, P(x), P(y)), OK);
    CU(ModuleLoadData(&module, wild_store));
    CU(ModuleGetFunction(&f, module, "wild_store"));
    CU(LaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    for (int i = 0; i < 1000 && st == OK; i++) {
        usleep(1000);
        st = relu_run(&r, P(x), P(y));
    }
    assert_int_equal(api_class(st), api_class(CUDNN_STATUS_EXECUTION_FAILED));
    if (api_ours)
        assert_non_null(strstr(api_error(), "may be the program's own"));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(engine_is_cuda), cmocka_unit_test(other_context_current), cmocka_unit_test(contexts_come_and_go),
    cmocka_unit_test(no_context_current), cmocka_unit_test(streams), cmocka_unit_test(capture), cmocka_unit_test(kinds_of_memory),
    cmocka_unit_test(pageable_memory), cmocka_unit_test(too_much_memory), cmocka_unit_test(threads), cmocka_unit_test(devices),
    cmocka_unit_test(fault_of_the_caller),
};

int main(int argc, char **argv)
{
    int code = gpu_open();
    if (code)
        return code;
    if (!api_open(argc, argv))
        return 2;
    return cmocka_run_group_tests_name(argv[0], tests, NULL, NULL);
}
