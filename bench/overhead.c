/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Mode overhead: what a library costs around the work. Each figure is the best of several, in a fresh process where the
 * process matters, since the least is what the library itself costs. */
#include "bench.h"

#include "core/os.h"

#include <cudnn.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct calls {
    __typeof__(&cudnnCreate) create;
    __typeof__(&cudnnDestroy) destroy;
    __typeof__(&cudnnCreateTensorDescriptor) create_tensor;
    __typeof__(&cudnnSetTensor4dDescriptor) set_tensor;
    __typeof__(&cudnnCreateActivationDescriptor) create_act;
    __typeof__(&cudnnSetActivationDescriptor) set_act;
    __typeof__(&cudnnActivationForward) act_forward;
    const char *(*engine)(cudnnHandle_t);
} calls;

static void *need(void *lib, const char *name)
{
    void *f = dlsym(lib, name);
    if (!f) {
        fprintf(stderr, "dnbench: %s has no %s\n", bench_library(), name);
        exit(BENCH_CANNOT_READ);
    }
    return f;
}

static void *load(calls *c)
{
    void *lib = dlopen(bench_library(), RTLD_NOW | RTLD_LOCAL);
    if (!lib) {
        fprintf(stderr, "dnbench: %s\n", dlerror());
        exit(BENCH_CANNOT_READ);
    }
    *(void **)&c->create = need(lib, "cudnnCreate");
    *(void **)&c->destroy = need(lib, "cudnnDestroy");
    *(void **)&c->create_tensor = need(lib, "cudnnCreateTensorDescriptor");
    *(void **)&c->set_tensor = need(lib, "cudnnSetTensor4dDescriptor");
    *(void **)&c->create_act = need(lib, "cudnnCreateActivationDescriptor");
    *(void **)&c->set_act = need(lib, "cudnnSetActivationDescriptor");
    *(void **)&c->act_forward = need(lib, "cudnnActivationForward");
    *(void **)&c->engine = dlsym(lib, "anydnnGetEngineName");
    return lib;
}

static double ms_since(uint64_t start)
{
    return (double)(dn_time_ns() - start) * 1e-6;
}

/* What one fresh process measures: milliseconds of loading, of the first and second cudnnCreate; 0 where it failed. */
typedef struct start_up {
    double load, first, second;
} start_up;

static void measure_start(start_up *s)
{
    calls c;
    cudnnHandle_t a, b;
    uint64_t t = dn_time_ns();
    load(&c);
    s->load = ms_since(t);
    t = dn_time_ns();
    cudnnStatus_t st = c.create(&a);
    s->first = ms_since(t);
    t = dn_time_ns();
    if (st == CUDNN_STATUS_SUCCESS && c.create(&b) == CUDNN_STATUS_SUCCESS)
        s->second = ms_since(t);
    else
        s->first = s->second = 0;
}

static int in_child(start_up *s)
{
    int fd[2];
    if (pipe(fd) != 0)
        return 0;
    pid_t child = fork();
    if (child == 0) {
        memset(s, 0, sizeof *s);
        measure_start(s);
        ssize_t sent = write(fd[1], s, sizeof *s);
        _exit(sent != (ssize_t)sizeof *s);
    }
    close(fd[1]);
    ssize_t got = child > 0 ? read(fd[0], s, sizeof *s) : -1;
    close(fd[0]);
    int status = 1;
    waitpid(child, &status, 0);
    return got == (ssize_t)sizeof *s && status == 0;
}

static int print_start(void)
{
    start_up best = { 1e9, 1e9, 1e9 };
    for (int i = 0; i < 10; i++) {
        start_up s;
        if (!in_child(&s))
            return 0;
        best.load = s.load < best.load ? s.load : best.load;
        best.first = s.first < best.first ? s.first : best.first;
        best.second = s.second < best.second ? s.second : best.second;
    }
    printf("load                    %8.3f ms\nfirst cudnnCreate       %8.3f ms\nsecond cudnnCreate      %8.3f ms\n", best.load,
           best.first, best.second);
    return 1;
}

static int print_calls(void)
{
    calls c;
    cudnnHandle_t h;
    cudnnTensorDescriptor_t t;
    cudnnActivationDescriptor_t a;
    load(&c);
    if (c.create(&h) != CUDNN_STATUS_SUCCESS) {
        printf("cudnnCreate fails here, so calls are not timed\n");
        return BENCH_FINDINGS;
    }
    float x = 1, y = 0, one = 1, zero = 0;
    c.create_tensor(&t);
    c.set_tensor(t, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 1, 1, 1);
    c.create_act(&a);
    c.set_act(a, CUDNN_ACTIVATION_RELU, CUDNN_NOT_PROPAGATE_NAN, 0);
    double best = 1e9;
    const int calls_per_run = 100000;
    for (int run = 0; run < 7; run++) {
        uint64_t start = dn_time_ns();
        for (int i = 0; i < calls_per_run; i++)
            if (c.act_forward(h, a, &one, t, &x, &zero, t, &y) != CUDNN_STATUS_SUCCESS)
                return BENCH_FINDINGS;
        double ns = (double)(dn_time_ns() - start) / calls_per_run;
        best = ns < best ? ns : best;
    }
    printf("activation 1x1x1x1      %8.3f us a call, %.0f calls a second, engine %s\n", best * 1e-3, 1e9 / best,
           c.engine ? c.engine(h) : "of another library");
    return BENCH_GOOD;
}

int bench_overhead(int argc, char **argv)
{
    if (argc > 1) {
        int help = strcmp(argv[1], "--help") == 0;
        fprintf(help ? stdout : stderr, "usage: dnbench overhead [--lib PATH]\n"
                                        "  host engines only: operands are host memory (ANYDNN_ENGINE picks cpu or ref)\n");
        return help ? BENCH_GOOD : BENCH_USAGE;
    }
    printf("%s\n", bench_library());
    return print_start() ? print_calls() : BENCH_CANNOT_READ;
}
