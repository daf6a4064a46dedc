/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The library around the operations: versions, strings, handles and descriptors in numbers and in threads, fork, callback,
 * log file, and a clean standard output. */
#define _GNU_SOURCE
#include "api_lib.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 8
#define MANY 100000

static void versions(void **state)
{
    (void)state;
    int major = 0, minor = 0, patch = 0;
    CALL(cudnnGetProperty, (MAJOR_VERSION, &major));
    CALL(cudnnGetProperty, (MINOR_VERSION, &minor));
    CALL(cudnnGetProperty, (PATCH_LEVEL, &patch));
    if (api_ours) {
        assert_int_equal(api.cudnnGetVersion(), API_VERSION);
        assert_int_equal(api.cudnnGetVersion(), CUDNN_VERSION);
    }
    assert_int_equal(api.cudnnGetVersion(), DN_ABI == 8 ? major * 1000 + minor * 100 + patch : major * 10000 + minor * 100 + patch);
#if DN_ABI == 8
    CALL(cudnnOpsInferVersionCheck, ());
    CALL(cudnnOpsTrainVersionCheck, ());
    CALL(cudnnCnnInferVersionCheck, ());
    CALL(cudnnCnnTrainVersionCheck, ());
    CALL(cudnnAdvInferVersionCheck, ());
    CALL(cudnnAdvTrainVersionCheck, ());
#else
    CALL(cudnnGraphVersionCheck, ());
    CALL(cudnnOpsVersionCheck, ());
    CALL(cudnnCnnVersionCheck, ());
    CALL(cudnnAdvVersionCheck, ());
#endif
    api.cudnnGetCudartVersion();
    api.cudnnGetMaxDeviceVersion();
}

/* name and value of every status of this ABI */
#define S(n) {CUDNN_STATUS_##n, "CUDNN_STATUS_" #n}
static const struct { cudnnStatus_t value; const char *name; } statuses[] = {
    S(SUCCESS), S(NOT_INITIALIZED), S(BAD_PARAM), S(INTERNAL_ERROR), S(EXECUTION_FAILED), S(NOT_SUPPORTED), S(LICENSE_ERROR),
    S(RUNTIME_IN_PROGRESS), S(RUNTIME_FP_OVERFLOW),
#if DN_ABI == 8
    S(ALLOC_FAILED), S(INVALID_VALUE), S(ARCH_MISMATCH), S(MAPPING_ERROR), S(RUNTIME_PREREQUISITE_MISSING), S(VERSION_MISMATCH),
#else
    S(SUBLIBRARY_VERSION_MISMATCH), S(SERIALIZATION_VERSION_MISMATCH), S(DEPRECATED), S(SUBLIBRARY_LOADING_FAILED),
    S(BAD_PARAM_NULL_POINTER), S(BAD_PARAM_MISALIGNED_POINTER), S(BAD_PARAM_NOT_FINALIZED), S(BAD_PARAM_OUT_OF_BOUND),
    S(BAD_PARAM_SIZE_INSUFFICIENT), S(BAD_PARAM_STREAM_MISMATCH), S(BAD_PARAM_SHAPE_MISMATCH), S(BAD_PARAM_DUPLICATED_ENTRIES),
    S(BAD_PARAM_ATTRIBUTE_TYPE), S(BAD_PARAM_CUDA_GRAPH_MISMATCH), S(BAD_PARAM_DESCRIPTOR_TYPE), S(NOT_SUPPORTED_GRAPH_PATTERN),
    S(NOT_SUPPORTED_SHAPE), S(NOT_SUPPORTED_DATA_TYPE), S(NOT_SUPPORTED_LAYOUT), S(NOT_SUPPORTED_INCOMPATIBLE_CUDA_DRIVER),
    S(NOT_SUPPORTED_INCOMPATIBLE_CUDART), S(NOT_SUPPORTED_ARCH_MISMATCH), S(NOT_SUPPORTED_RUNTIME_PREREQUISITE_MISSING),
    S(NOT_SUPPORTED_SUBLIBRARY_UNAVAILABLE), S(NOT_SUPPORTED_SHARED_MEMORY_INSUFFICIENT), S(NOT_SUPPORTED_PADDING),
    S(NOT_SUPPORTED_BAD_LAUNCH_PARAM), S(NOT_SUPPORTED_CUDA_GRAPH_NATIVE_API), S(NOT_SUPPORTED_INVALID_DYNAMIC_SHAPE),
    S(INTERNAL_ERROR_COMPILATION_FAILED), S(INTERNAL_ERROR_UNEXPECTED_VALUE), S(INTERNAL_ERROR_HOST_ALLOCATION_FAILED),
    S(INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED), S(INTERNAL_ERROR_BAD_LAUNCH_PARAM), S(INTERNAL_ERROR_TEXTURE_CREATION_FAILED),
    S(EXECUTION_FAILED_CUDA_DRIVER), S(EXECUTION_FAILED_CUBLAS), S(EXECUTION_FAILED_CUDART), S(EXECUTION_FAILED_CURAND),
#endif
};

static void error_strings(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
        if (api_ours || strcmp(api.cudnnGetErrorString(statuses[i].value), "CUDNN_UNKNOWN_STATUS"))  /* an older vendor's */
            assert_string_equal(api.cudnnGetErrorString(statuses[i].value), statuses[i].name);
    const int wild[] = {-1, 424242, 0x7fffffff};
    for (int i = 0; i < 3; i++) {
        const char *s = api.cudnnGetErrorString((cudnnStatus_t)wild[i]);
        assert_non_null(s);
        assert_string_not_equal(s, "CUDNN_STATUS_SUCCESS");
    }
}

/* The same text from both functions; a short buffer is cut and ended. */
static void last_error(void **state)
{
    (void)state;
    int value;
    if (!api_ours)
        skip();
    assert_int_not_equal(api.cudnnGetProperty((libraryPropertyType)99, &value), OK);
    const char *text = api.anydnnGetLastErrorString();
    assert_non_null(strstr(text, "cudnnGetProperty: "));
#if DN_ABI >= 9
    char whole[4096], cut[12];
    api.cudnnGetLastErrorString(whole, sizeof whole);
    assert_string_equal(whole, text);
    memset(cut, 'x', sizeof cut);
    api.cudnnGetLastErrorString(cut, 10);
    assert_int_equal(strlen(cut), 9);
    assert_memory_equal(cut, text, 9);
    assert_int_equal(cut[10], 'x');
    api.cudnnGetLastErrorString(cut, 0);
    api.cudnnGetLastErrorString(NULL, 10);
#endif
}

static void many_descriptors(void **state)
{
    (void)state;
    cudnnTensorDescriptor_t *all = malloc(MANY * sizeof *all);
    assert_non_null(all);
    for (int i = 0; i < MANY; i++) {
        CALL(cudnnCreateTensorDescriptor, (&all[i]));
        CALL(cudnnSetTensor4dDescriptor, (all[i], CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 1 + i, 1, 1));
    }
    for (int i = 0; i < MANY; i += 997) {
        cudnnDataType_t type;
        int n, c, h, w, s[4];
        CALL(cudnnGetTensor4dDescriptor, (all[i], &type, &n, &c, &h, &w, s, s + 1, s + 2, s + 3));
        assert_int_equal(c, 1 + i);
    }
    for (int i = 0; i < MANY; i++)
        CALL(cudnnDestroyTensorDescriptor, (all[i]));
    free(all);
    for (int i = 0; i < MANY; i++) {  /* and one at a time: the memory is used again */
        cudnnFilterDescriptor_t f;
        CALL(cudnnCreateFilterDescriptor, (&f));
        CALL(cudnnDestroyFilterDescriptor, (f));
    }
}

/* y = relu(x) on 1 x 1 x 1 x count; fails where the result is wrong. Safe in threads: no cmocka calls. */
static bool relu_works(cudnnHandle_t h, int count)
{
    cudnnTensorDescriptor_t x;
    cudnnActivationDescriptor_t act;
    const float one = 1, zero = 0;
    bool good = api.cudnnCreateTensorDescriptor(&x) == OK && api.cudnnCreateActivationDescriptor(&act) == OK &&
                api.cudnnSetTensor4dDescriptor(x, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 1, 1, count) == OK &&
                api.cudnnSetActivationDescriptor(act, CUDNN_ACTIVATION_RELU, CUDNN_PROPAGATE_NAN, 0) == OK;
    float *in = malloc((size_t)count * sizeof *in), *out = malloc((size_t)count * sizeof *out);
    for (int i = 0; i < count; i++)
        in[i] = (float)(i % 7 - 3);
    good = good && api.cudnnActivationForward(h, act, &one, x, in, &zero, x, out) == OK;
    for (int i = 0; good && i < count; i++)
        good = out[i] == (in[i] > 0 ? in[i] : 0);
    free(in);
    free(out);
    return api.cudnnDestroyTensorDescriptor(x) == OK && api.cudnnDestroyActivationDescriptor(act) == OK && good;
}

static bool on_host(void)
{
    const char *engine = api_engine();
    return engine && (!strcmp(engine, "ref") || !strcmp(engine, "cpu"));
}

static atomic_int thread_failures;

/* A handle of its own, descriptors, work, and errors whose text must be this thread's. */
static void *thread_main(void *arg)
{
    const int id = (int)(intptr_t)arg;
    cudnnHandle_t h;
    if (api.cudnnCreate(&h) != OK) {
        thread_failures++;
        return NULL;
    }
    for (int i = 0; i < 200; i++) {
        cudnnTensorDescriptor_t t = NULL;
        char want[32];
        snprintf(want, sizeof want, "c is -%d", id * 1000 + i + 1);
        if (!relu_works(h, 1 + i * 37 % 5000) || api.cudnnCreateTensorDescriptor(&t) != OK)
            thread_failures++;
        if (api_class(api.cudnnSetTensor4dDescriptor(t, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, -(id * 1000 + i + 1), 1, 1)) != BAD ||
            !strstr(api.anydnnGetLastErrorString(), want) || api.cudnnDestroyTensorDescriptor(t) != OK)
            thread_failures++;
    }
    if (api.cudnnDestroy(h) != OK)
        thread_failures++;
    return NULL;
}

static void threads(void **state)
{
    (void)state;
    if (!on_host())
        skip();
    pthread_t id[THREADS];
    for (intptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&id[i], NULL, thread_main, (void *)i), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(id[i], NULL);
    assert_int_equal(thread_failures, 0);
}

static void two_handles(void **state)
{
    (void)state;
    cudnnHandle_t a, b;
    cudaStream_t s;
    api_handle();
    CALL(cudnnCreate, (&a));
    CALL(cudnnCreate, (&b));
    assert_ptr_not_equal(a, b);
    if (on_host()) {
        cudaStream_t wanted = (cudaStream_t)(uintptr_t)0x1234;  /* any value: the host engines have no streams */
        CALL(cudnnGetStream, (a, &s));
        assert_null(s);
        CALL(cudnnSetStream, (a, wanted));
        CALL(cudnnGetStream, (a, &s));
        assert_ptr_equal(s, wanted);
        CALL(cudnnGetStream, (b, &s));
        assert_null(s);
        assert_true(relu_works(a, 100));
        CALL(cudnnDestroy, (a));
        assert_true(relu_works(b, 100));
        cudnnStatus_t r = CUDNN_STATUS_INTERNAL_ERROR;
        for (int mode = CUDNN_ERRQUERY_RAWCODE; mode <= CUDNN_ERRQUERY_BLOCKING; mode++) {
            r = CUDNN_STATUS_INTERNAL_ERROR;
            CALL(cudnnQueryRuntimeError, (b, &r, (cudnnErrQueryMode_t)mode, NULL));
            assert_int_equal(r, OK);
        }
    } else {
        CALL(cudnnDestroy, (a));
    }
    CALL(cudnnDestroy, (b));
}

static void own_functions(void **state)
{
    (void)state;
    if (!api_ours)
        skip();
    cudnnHandle_t h = api_handle();
    const char *engine = getenv("ANYDNN_ENGINE");
    if (engine)
        assert_string_equal(api.anydnnGetEngineName(h), engine);
    assert_null(api.anydnnGetEngineName(NULL));
    void *p = NULL;
    char in[100] = "some bytes", out[100] = "";
    CALL(anydnnMalloc, (h, sizeof in, &p));
    assert_int_equal((uintptr_t)p % 64, 0);
    CALL(anydnnCopyIn, (h, p, in, sizeof in));
    CALL(anydnnCopyOut, (h, out, p, sizeof out));
    assert_memory_equal(in, out, sizeof in);
    CALL(anydnnSynchronize, (h));
    CALL(anydnnFree, (h, p));
    CALL(anydnnMalloc, (h, 0, &p));
    CALL(anydnnFree, (h, p));
    assert_true(strlen(api.anydnnGetVersionString()) >= 5);
    if (on_host()) {
        assert_true(relu_works(h, 10));
        assert_non_null(strstr(api.anydnnGetLastSolver(h), "_act_"));
    }
}

/* A parent with a working pool forks; both must go on. */
static void fork_then_use(void **state)
{
    (void)state;
    if (!on_host())
        skip();
    cudnnHandle_t h = api_handle();
    assert_true(relu_works(h, 1 << 20));
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        alarm(60);
        cudnnHandle_t mine;
        bool good = relu_works(h, 1 << 20) && api.cudnnCreate(&mine) == OK && relu_works(mine, 1 << 20) && api.cudnnDestroy(mine) == OK;
        _exit(good ? 0 : 1);
    }
    assert_true(relu_works(h, 1 << 20));
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* --- callback --- */
typedef struct heard {
    int count, errors;
    unsigned version;
    unsigned long long pid;
    cudnnStatus_t status;
    char text[2048];
} heard;

static void CUDNNWINAPI hear(cudnnSeverity_t sev, void *udata, const cudnnDebug_t *dbg, const char *msg)
{
    heard *h = udata;
    h->count++;
    h->version = dbg->cudnn_version;
    h->pid = dbg->pid;
    if (sev == CUDNN_SEV_ERROR) {
        h->errors++;
        h->status = dbg->cudnnStatus;
        snprintf(h->text, sizeof h->text, "%s", msg);
    }
}

static void callback(void **state)
{
    (void)state;
    heard h = {0};
    unsigned mask;
    void *udata;
    cudnnCallback_t fptr;
    cudnnTensorDescriptor_t t;
    CALL(cudnnCreateTensorDescriptor, (&t));
    CALL(cudnnSetCallback, (CUDNN_SEV_ERROR_EN | CUDNN_SEV_WARNING_EN | CUDNN_SEV_INFO_EN, &h, hear));
    CALL(cudnnGetCallback, (&mask, &udata, &fptr));
    assert_int_equal(mask, CUDNN_SEV_ERROR_EN | CUDNN_SEV_WARNING_EN | CUDNN_SEV_INFO_EN);
    assert_ptr_equal(udata, &h);
    assert_true(fptr == hear);
    api.cudnnSetTensor4dDescriptor(t, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, -3, 1, 1);
    CALL(cudnnSetCallback, (0, NULL, NULL));
    if (api_ours) {
        assert_true(h.errors >= 1);
        assert_int_equal(h.version, API_VERSION);
        assert_int_equal(h.pid, getpid());
        assert_int_equal(h.status, BAD);
        assert_non_null(strstr(h.text, "cudnnSetTensor4dDescriptor"));
        assert_non_null(strstr(h.text, "c is -3"));
    }
    int before = h.count;
    api.cudnnSetTensor4dDescriptor(t, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, -3, 1, 1);
    assert_int_equal(h.count, before);
    CALL(cudnnDestroyTensorDescriptor, (t));
}

/* --- log file and standard output, in processes of their own: the environment is read once --- */
static const char *self, *library_path;

/* Runs this program again as "work"; stdout and stderr of it go to these files. */
static void run_again(const char *variable, const char *value, const char *out, const char *err)
{
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        setenv("CUDNN_LOGLEVEL_DBG", "3", 1);
        setenv("CUDNN_LOGINFO_DBG", "1", 1);
        setenv("CUDNN_LOGERR_DBG", "1", 1);
        setenv(variable, value, 1);
        if (!freopen(out, "w", stdout) || !freopen(err, "w", stderr))
            _exit(3);
        execl(self, self, library_path, "work", (char *)NULL);
        _exit(4);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static char *contents(const char *path)
{
    static char text[1 << 16];
    FILE *f = fopen(path, "r");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f)
        fclose(f);
    text[n] = 0;
    return text;
}

static void log_destinations(void **state)
{
    (void)state;
    if (!api_ours)
        skip();
    char dir[] = "/tmp/anydnn-life-XXXXXX", log[64], out[64], err[64];
    assert_non_null(mkdtemp(dir));
    snprintf(log, sizeof log, "%s/log", dir);
    snprintf(out, sizeof out, "%s/out", dir);
    snprintf(err, sizeof err, "%s/err", dir);

    run_again("CUDNN_LOGDEST_DBG", log, out, err);
    assert_non_null(strstr(contents(log), "c is -3"));
    assert_string_equal(contents(out), "");
    assert_null(strstr(contents(err), "c is -3"));
    unlink(log);

    run_again("ANYDNN_LOG_FILE", log, out, err);
    assert_non_null(strstr(contents(log), "c is -3"));
    assert_string_equal(contents(out), "");

    run_again("CUDNN_LOGDEST_DBG", "stderr", out, err);
    assert_non_null(strstr(contents(err), "c is -3"));
    assert_string_equal(contents(out), "");

    run_again("CUDNN_LOGDEST_DBG", "stdout", out, err);
    assert_non_null(strstr(contents(out), "c is -3"));

    run_again("CUDNN_LOGDEST_DBG", "/no/such/folder/log", out, err);  /* no place to write is no failure */
    assert_string_equal(contents(out), "");
    unlink(log);
    unlink(out);
    unlink(err);
    rmdir(dir);
}

/* What the second process does: some success, some failure. */
static int work(void)
{
    cudnnTensorDescriptor_t t;
    cudnnHandle_t h;
    bool good = api.cudnnCreateTensorDescriptor(&t) == OK;
    api.cudnnSetTensor4dDescriptor(t, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, -3, 1, 1);
    if (api.cudnnCreate(&h) == OK) {
        good = good && (!on_host() || relu_works(h, 100)) && api.cudnnDestroy(h) == OK;  /* its memory is the host's */
    }
    return good && api.cudnnDestroyTensorDescriptor(t) == OK ? 0 : 1;
}

/* --- algorithm descriptors and performance records (ABI 8) --- */
static void algorithms(void **state)
{
    (void)state;
#if DN_ABI == 8
    cudnnAlgorithmDescriptor_t a, b, got = NULL;
    cudnnAlgorithm_t number = {.algo.RNNAlgo = CUDNN_RNN_ALGO_PERSIST_STATIC}, out = {.algo.RNNAlgo = CUDNN_RNN_ALGO_COUNT};
    cudnnAlgorithmPerformance_t r[3];
    cudnnStatus_t status = NOSUP;
    float time = -1;
    size_t memory = 1, size = 0;
    unsigned char space[256];
    CALL(cudnnCreateAlgorithmDescriptor, (&a));
    CALL(cudnnCreateAlgorithmDescriptor, (&b));
    CALL(cudnnGetAlgorithmDescriptor, (a, &out));
    assert_true(!api_ours || out.algo.RNNAlgo == 0);  /* the vendor's holds what was there */
    CALL(cudnnSetAlgorithmDescriptor, (a, number));
    CALL(cudnnCopyAlgorithmDescriptor, (a, b));
    CALL(cudnnGetAlgorithmDescriptor, (b, &out));
    assert_int_equal(out.algo.RNNAlgo, CUDNN_RNN_ALGO_PERSIST_STATIC);
    CALL(cudnnCreateAlgorithmPerformance, (r, 3));
    CALL(cudnnGetAlgorithmPerformance, (r[2], &got, &status, &time, &memory));
    assert_true(got && status == OK && time == 0 && memory == 0);  /* a descriptor of the record's own */
    CALL(cudnnGetAlgorithmDescriptor, (got, &out));
    CALL(cudnnSetAlgorithmPerformance, (r[1], a, NOSUP, 1.5f, 1234));
    CALL(cudnnGetAlgorithmPerformance, (r[1], &got, &status, &time, &memory));
    assert_true(got == a && status == NOSUP && time == 1.5f && memory == 1234);
    if (!api_ours)
        return;  /* the vendor's frees a's memory with the record */
    CALL(cudnnDestroyAlgorithmPerformance, (r, 3));
    CALL(cudnnGetAlgorithmSpaceSize, (api_handle(), a, &size));
    assert_true(size > 0 && size <= sizeof space);
    CALL(cudnnSaveAlgorithm, (api_handle(), a, space, size));
    number.algo.RNNAlgo = CUDNN_RNN_ALGO_STANDARD;
    CALL(cudnnSetAlgorithmDescriptor, (b, number));
    CALL(cudnnRestoreAlgorithm, (api_handle(), space, size, b));
    CALL(cudnnGetAlgorithmDescriptor, (b, &out));
    assert_int_equal(out.algo.RNNAlgo, CUDNN_RNN_ALGO_PERSIST_STATIC);
    CALL(cudnnDestroyAlgorithmDescriptor, (a));
    CALL(cudnnDestroyAlgorithmDescriptor, (b));
#endif
}

int main(int argc, char **argv)
{
    if (!api_open(argc, argv))
        return 2;
    if (argc > 2 && !strcmp(argv[2], "work"))
        return work();
    self = "/proc/self/exe";
    library_path = argc > 1 ? argv[1] : getenv("CUDNN_LIB");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(versions), cmocka_unit_test(error_strings), cmocka_unit_test(last_error), cmocka_unit_test(many_descriptors),
        cmocka_unit_test(threads), cmocka_unit_test(two_handles), cmocka_unit_test(own_functions), cmocka_unit_test(fork_then_use),
        cmocka_unit_test(callback), cmocka_unit_test(log_destinations),
        cmocka_unit_test(algorithms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
