/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Every exported function, real or not, with arguments that no program should pass: all nulls, garbage memory, dead, wild and
 * wrong-type objects, each argument broken alone while all others are good. None may crash, and none may answer SUCCESS to a
 * dead object or an enumerator that does not exist.
 *
 * A function is called through a pointer that takes eight doubles and 32 words: in the calling conventions of 64-bit Linux
 * (System V x86-64, AAPCS64) the callee finds its arguments there whatever their types, in order, and ignores the rest.
 * Each function has a child process of its own, so a crash names the function and the case.
 *
 * Not tried: unmapped pointers where the function must write a result or read data; no library can know them. */
#define _GNU_SOURCE
#include "api_lib.h"
#include "prototypes.h"

#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORDS 32
#define DOUBLES 8
#define CHILD_SECONDS 60
#define REGION (64 * 1024)

typedef uint64_t (*any_function)(double, double, double, double, double, double, double, double, uint64_t, uint64_t, uint64_t,
                                 uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                                 uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                                 uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                                 uint64_t, uint64_t);

typedef struct call {
    uint64_t word[WORDS];
    double fp[DOUBLES];
    int words, fps;
} call;

/* Seen by parent and child. */
static struct shared {
    char doing[256];         /* the case that runs */
    char senseless[4096];    /* calls that answered SUCCESS and should not */
    int calls, senseless_count;
} *shared;

static proto *protos;
static int proto_count;
static unsigned char *garbage;                 /* 4 KiB of 0x5a */
static unsigned char *good[PROTO_ARGS_MAX];    /* REGION bytes each, int 1 everywhere */
static cudnnHandle_t handle;

static uint64_t call_any(void *f, const call *c)
{
    any_function fn;
    memcpy(&fn, &f, sizeof fn);
    const uint64_t *w = c->word;
    const double *d = c->fp;
    return fn(d[0], d[1], d[2], d[3], d[4], d[5], d[6], d[7], w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9], w[10],
              w[11], w[12], w[13], w[14], w[15], w[16], w[17], w[18], w[19], w[20], w[21], w[22], w[23], w[24], w[25], w[26], w[27],
              w[28], w[29], w[30], w[31]);
}

static void push_word(call *c, uint64_t v)
{
    if (c->words < WORDS)
        c->word[c->words++] = v;
}

static void push_fp(call *c, arg_kind kind, double v)
{
    float f = (float)v;
    if (c->fps == DOUBLES)
        return;
    if (kind == ARG_FLOAT)
        memcpy(&c->fp[c->fps++], &f, sizeof f);  /* a float lies in the low half of its register */
    else
        c->fp[c->fps++] = v;
}

/* cudnnTensorDescriptor_t: "Create" + "TensorDescriptor" */
static void *object_function(const char *verb, const char *type)
{
    char name[128];
    snprintf(name, sizeof name, "cudnn%s%.*s", verb, (int)(strlen(type) - 7), type + 5);
    return api_symbol(name);
}

static uint64_t call_words(void *f, uint64_t a, uint64_t b)
{
    call c = {{a, b}, {0}, 2, 0};
    return f ? call_any(f, &c) : 1;
}

static void set_object(const char *type, void *object)
{
    if (!strcmp(type, "cudnnTensorDescriptor_t"))
        api.cudnnSetTensor4dDescriptor(object, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 1, 1, 1);
    else if (!strcmp(type, "cudnnFilterDescriptor_t"))
        api.cudnnSetFilter4dDescriptor(object, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 1, 1, 1, 1);
    else if (!strcmp(type, "cudnnConvolutionDescriptor_t"))
        api.cudnnSetConvolution2dDescriptor(object, 0, 0, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT);
    else if (!strcmp(type, "cudnnPoolingDescriptor_t"))
        api.cudnnSetPooling2dDescriptor(object, CUDNN_POOLING_MAX, CUDNN_PROPAGATE_NAN, 1, 1, 0, 0, 1, 1);
    else if (!strcmp(type, "cudnnActivationDescriptor_t"))
        api.cudnnSetActivationDescriptor(object, CUDNN_ACTIVATION_RELU, CUDNN_PROPAGATE_NAN, 0.0);
    else if (!strcmp(type, "cudnnRNNDescriptor_t"))
        api.cudnnSetRNNDescriptor_v8(object, CUDNN_RNN_ALGO_STANDARD, CUDNN_LSTM, CUDNN_RNN_DOUBLE_BIAS, CUDNN_UNIDIRECTIONAL,
                                     CUDNN_LINEAR_INPUT, CUDNN_DATA_FLOAT, CUDNN_DATA_FLOAT, CUDNN_DEFAULT_MATH, 1, 1, 1, 1, NULL, 0);
    else if (!strcmp(type, "cudnnRNNDataDescriptor_t"))
        api.cudnnSetRNNDataDescriptor(object, CUDNN_DATA_FLOAT, CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED, 1, 1, 1, (const int[]){1}, NULL);
    else if (!strcmp(type, "cudnnDropoutDescriptor_t") && handle) {
        size_t size = 0;
        if (api.cudnnDropoutGetStatesSize(handle, &size) == OK)
            api.cudnnSetDropoutDescriptor(object, handle, 0.5f, calloc(1, size), size, 1);
    }
}

/* A good object of the type, or a tensor descriptor where the library cannot make that type yet. A new one for each call,
 * since the call may destroy it. */
static void *object_new(const char *type)
{
    void *object = NULL;
    if (!strcmp(type, "cudaStream_t"))
        return NULL;
    if (!strcmp(type, "cudnnHandle_t"))
        return handle;
    if (call_words(object_function("Create", type), (uint64_t)(uintptr_t)&object, 0) != 0 || !object)
        api.cudnnCreateTensorDescriptor((cudnnTensorDescriptor_t *)&object);
    set_object(type, object);
    return object;
}

static void *object_dead(const char *type)
{
    void *object = NULL;
    if (!strcmp(type, "cudnnHandle_t")) {
        if (api.cudnnCreate((cudnnHandle_t *)&object) == OK)
            api.cudnnDestroy(object);
        return object;
    }
    if (call_words(object_function("Create", type), (uint64_t)(uintptr_t)&object, 0) == 0 && object) {
        call_words(object_function("Destroy", type), (uint64_t)(uintptr_t)object, 0);
        return object;
    }
    api.cudnnCreateTensorDescriptor((cudnnTensorDescriptor_t *)&object);
    api.cudnnDestroyTensorDescriptor(object);
    return object;
}

/* Good arguments, but for number `broken` (-1: none), which is v. */
static void build(const proto *p, int broken, uint64_t v, call *c)
{
    memset(c, 0, sizeof *c);
    for (int i = 0; i < p->count; i++) {
        const proto_arg *a = &p->arg[i];
        if (a->kind == ARG_FLOAT || a->kind == ARG_DOUBLE) {
            double d = 0.5;
            if (i == broken)
                memcpy(&d, &v, sizeof d);
            push_fp(c, a->kind, d);
        } else if (i == broken) {
            push_word(c, v);
        } else if (a->kind == ARG_OBJECT) {
            push_word(c, (uint64_t)(uintptr_t)object_new(a->type));
        } else if (!strcmp(a->type, "cudnnCallback_t")) {
            push_word(c, 0);
        } else if (a->kind == ARG_POINTER) {
            for (int *q = (int *)(void *)good[i], *end = q + REGION / 4; q < end; q++)
                *q = 1;
            push_word(c, (uint64_t)(uintptr_t)good[i]);
        } else {
            push_word(c, a->kind == ARG_INT);
        }
    }
}

/* May a call with everything null succeed? Destroying nothing is allowed, and so is asking for nothing. */
static bool null_may_succeed(const char *name)
{
    return !strncmp(name, "cudnnDestroy", 12) || strstr(name, "VersionCheck") || !strcmp(name, "cudnnSetCallback") ||
           !strcmp(name, "cudnnBackendDestroyDescriptor");
}

/* An argument that may be NULL, but nothing else that is bad: what the call does not look at where nothing is fused to a normalisation, and
 * dropout that a network does without. */
static bool may_be_null(const proto *p, int i)
{
    const char *name = p->arg[i].name;
    bool back = strstr(p->name, "Backward") != NULL;
    if (strstr(name, "ropoutDesc") && (!strncmp(p->name, "cudnnSetRNNDescriptor", 21) || !strcmp(p->name, "cudnnSetAttnDescriptor")))
        return true;
    return strstr(p->name, "Normalization") && (!strcmp(name, back ? "dzDesc" : "zDesc") || !strcmp(name, "activationDesc") ||
                                                (back && !strcmp(name, "yDesc")));
}

static void run_case(const proto *p, void *f, const call *c, const char *what, int arg, bool success_is_senseless)
{
    snprintf(shared->doing, sizeof shared->doing, "%s, %s%s%s", p->name, what, arg < 0 ? "" : " ", arg < 0 ? "" : p->arg[arg].name);
    shared->calls++;
    uint64_t st = call_any(f, c);
    if (p->returns_status && success_is_senseless && (int)st == 0) {
        size_t n = strlen(shared->senseless);
        snprintf(shared->senseless + n, sizeof shared->senseless - n, "    %s answered SUCCESS\n", shared->doing);
        shared->senseless_count++;
    }
}

/* Which word of the call argument i is: numbers with a point travel apart. */
static int word_of(const proto *p, int i)
{
    int word = 0;
    for (int k = 0; k < i; k++)
        word += p->arg[k].kind != ARG_FLOAT && p->arg[k].kind != ARG_DOUBLE;
    return word;
}

enum { BAD_NULL, BAD_DEAD, BAD_GARBAGE, BAD_WILD, BAD_HIGH, BAD_ODD, BAD_TYPE, BAD_HANDLE, BAD_INSIDE, BAD_COUNT };

/* A pointer into an object, past its head; NULL where no object of this type can be made. */
static void *inside(void *object)
{
    return object ? (char *)object + 8 : NULL;
}

static void *bad_object(int way, const char *type)
{
    switch (way) {
    case BAD_DEAD:
        return object_dead(type);
    case BAD_GARBAGE:
        return garbage;
    case BAD_WILD:
        return (void *)(uintptr_t)0xdeadbeef0;
    case BAD_HIGH:
        return (void *)(uintptr_t)~0xfULL;
    case BAD_ODD:
        return garbage + 1;
    case BAD_TYPE:
        return object_new(strstr(type, "Convolution") ? "cudnnTensorDescriptor_t" : "cudnnConvolutionDescriptor_t");
    case BAD_HANDLE:
        return !strcmp(type, "cudnnHandle_t") ? object_new("cudnnTensorDescriptor_t") : (void *)handle;
    case BAD_INSIDE:
        return inside(object_new(type));
    default:
        return NULL;
    }
}

static void break_object(const proto *p, void *f, int i)
{
    static const char *const what[BAD_COUNT] = {"null object", "dead object", "garbage as object", "wild object", "high object",
                                                "odd object", "wrong type for", "handle for", "inside of"};
    const char *type = p->arg[i].type;
    const bool stream = !strcmp(type, "cudaStream_t");  /* opaque to us: any value is a stream */
    for (int way = 0; way < BAD_COUNT; way++) {
        call c;
        build(p, i, 0, &c);
        /* Made last: the place of a dead object may be used again by the next one. */
        c.word[word_of(p, i)] = (uint64_t)(uintptr_t)bad_object(way, type);
        run_case(p, f, &c, what[way], i, !stream && !(way == BAD_NULL && (null_may_succeed(p->name) || may_be_null(p, i))));
    }
}

/* A count of elements that the call reads or writes: no library knows where the caller's array ends. */
static bool counts_an_array(const proto *p, int i)
{
    return (!strcmp(p->name, "cudnnSetRNNDataDescriptor") && !strcmp(p->arg[i].name, "batchSize"))
           || !strcmp(p->arg[i].name, "numberToCreate");
}

/* A union of all enumerations of algorithms, passed by value: what it holds is not known until it is used. */
static bool is_algorithm(const proto *p, int i)
{
    return !strcmp(p->arg[i].type, "cudnnAlgorithm_t");
}

static void break_argument(const proto *p, void *f, int i)
{
    static const int64_t ints[] = {-1, 0, 2, 7, 1 << 20, INT_MAX, INT_MIN, INT64_MAX, INT64_MIN};
    static const int64_t enums[] = {-1, 99, 0x5a5a5a5a, INT_MAX, INT_MIN};
    static const double doubles[] = {-1, 0, 1e300, -1e-300};
    call c;
    switch (p->arg[i].kind) {
    case ARG_OBJECT:
        break_object(p, f, i);
        break;
    case ARG_POINTER:
        build(p, i, 0, &c);
        run_case(p, f, &c, "null", i, false);
        if (strcmp(p->arg[i].type, "cudnnCallback_t")) {
            build(p, i, (uint64_t)(uintptr_t)garbage, &c);
            run_case(p, f, &c, "garbage in", i, false);
        }
        break;
    case ARG_ENUM:
        for (size_t k = 0; k < sizeof enums / sizeof *enums; k++) {
            build(p, i, (uint64_t)enums[k], &c);
            run_case(p, f, &c, "wild", i, !is_algorithm(p, i));
        }
        break;
    case ARG_INT:
        for (size_t k = 0; k < sizeof ints / sizeof *ints; k++) {
            if (counts_an_array(p, i) && (int)ints[k] > REGION / 8)
                continue;
            build(p, i, (uint64_t)ints[k], &c);
            run_case(p, f, &c, "wild", i, false);
        }
        break;
    default:
        for (size_t k = 0; k < sizeof doubles / sizeof *doubles; k++) {
            uint64_t bits;
            memcpy(&bits, &doubles[k], sizeof bits);
            build(p, i, bits, &c);
            run_case(p, f, &c, "wild", i, false);
        }
    }
}

/* Every argument broken in the same way. */
static void break_all(const proto *p, void *f)
{
    call c;
    memset(&c, 0, sizeof c);
    run_case(p, f, &c, "all null", -1, !null_may_succeed(p->name));
    bool has_object = false;
    for (int round = 0; round < 2; round++) {
        build(p, -1, 0, &c);
        c.words = 0;
        for (int i = 0; i < p->count; i++) {
            const proto_arg *a = &p->arg[i];
            has_object |= a->kind == ARG_OBJECT && strcmp(a->type, "cudaStream_t");
            if (a->kind == ARG_OBJECT)
                push_word(&c, (uint64_t)(uintptr_t)(round ? object_dead(a->type) : garbage));
            else if (a->kind == ARG_POINTER)
                push_word(&c, strcmp(a->type, "cudnnCallback_t") ? (uint64_t)(uintptr_t)garbage : 0);
            else if (a->kind == ARG_ENUM || a->kind == ARG_INT)
                push_word(&c, a->kind == ARG_INT);
        }
        memset(garbage, 0x5a, 4096);
        run_case(p, f, &c, round ? "all dead" : "all garbage", -1, has_object);
    }
    call good_call;
    build(p, -1, 0, &good_call);
    run_case(p, f, &good_call, "all good", -1, false);
}

static void child(const proto *p, void *f)
{
    const int fatal[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
        signal(fatal[i], SIG_DFL);  /* cmocka's handlers would go on with the tests */
    alarm(CHILD_SECONDS);
    if (api.cudnnCreate(&handle) != OK)
        handle = NULL;
    break_all(p, f);
    for (int i = 0; i < p->count; i++) {
        if (!strcmp(p->name, "cudnnDestroy") && api.cudnnCreate(&handle) != OK)
            handle = NULL;
        break_argument(p, f, i);
    }
    _exit(0);
}

/* Answers whether the function survived. */
static bool survives(const proto *p)
{
    void *f = api_symbol(p->name);
    if (!f)
        return true;  /* tests/abi compares the exports */
    shared->senseless[0] = 0;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0)
        child(p, f);
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (shared->senseless[0])
        print_error("%s", shared->senseless);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    if (WIFSIGNALED(status))
        print_error("    %s: %s\n", shared->doing, strsignal(WTERMSIG(status)));
    else
        print_error("    %s: exit %d\n", shared->doing, WEXITSTATUS(status));
    return false;
}

static int open_memory(void **state)
{
    (void)state;
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    garbage = mmap(NULL, 4096, PROT_READ | PROT_WRITE, flags, -1, 0);
    unsigned char *all = mmap(NULL, (size_t)REGION * PROTO_ARGS_MAX, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (shared == MAP_FAILED || garbage == MAP_FAILED || all == MAP_FAILED)
        return -1;
    memset(garbage, 0x5a, 4096);
    for (int i = 0; i < PROTO_ARGS_MAX; i++)
        good[i] = all + (size_t)REGION * (size_t)i;
    return 0;
}

static void every_function_survives(void **state)
{
    (void)state;
    proto_count = protos_read(DN_SOURCE_DIR "/data/api/functions.tsv", &protos);
    assert_true(proto_count >= (DN_ABI == 8 ? 264 : 220));
    int crashed = 0;
    for (int i = 0; i < proto_count; i++)
        crashed += !survives(&protos[i]);
    print_message("%d functions, %d calls, %d crashed, %d calls answered SUCCESS and should not\n", proto_count, shared->calls,
                  crashed, shared->senseless_count);
    free(protos);
    assert_int_equal(crashed, 0);
    assert_int_equal(shared->senseless_count, 0);
}

int main(int argc, char **argv)
{
    if (!api_open(argc, argv))
        return 2;
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_function_survives)};
    return cmocka_run_group_tests(tests, open_memory, NULL);
}
