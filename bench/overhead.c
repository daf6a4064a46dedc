/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Mode overhead: what a library costs around the work. Each figure is the best of several, in a fresh process where the
 * process matters, since the least is what the library itself costs. */
#include "bench.h"
#include "memory.h"

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

/* Where operands of a handle lie: device memory for a library on a GPU, else NULL. */
static const bench_space *space_of(const calls *c, cudnnHandle_t h)
{
    const char *engine = c->engine ? c->engine(h) : "cuda";
    return engine && strcmp(engine, "cuda") == 0 ? bench_cuda() : NULL;
}

/* Nanoseconds of fn per call, best of several rounds. On a device the queue is emptied between short rounds, outside of the time: a full
 * queue would make the host wait for the device. */
static double best_of(int (*fn)(void *ctx), void *ctx, const bench_space *space)
{
    int rounds = space ? 100 : 7, calls_per_round = space ? 200 : 100000;
    double best = 1e9;
    for (int r = 0; r < rounds; r++) {
        uint64_t start = dn_time_ns();
        for (int i = 0; i < calls_per_round; i++)
            if (fn(ctx) != 0)
                return -1;
        double ns = (double)(dn_time_ns() - start) / calls_per_round;
        best = ns < best ? ns : best;
        if (space && space->synchronize() != 0)
            return -1;
    }
    return best;
}

typedef struct act_call {
    calls c;
    cudnnHandle_t h;
    cudnnTensorDescriptor_t t;
    cudnnActivationDescriptor_t a;
    void *x, *y;
} act_call;

static int call_act(void *ctx)
{
    act_call *k = ctx;
    const float one = 1, zero = 0;
    return k->c.act_forward(k->h, k->a, &one, k->t, k->x, &zero, k->t, k->y) != CUDNN_STATUS_SUCCESS;
}

static int launch_nothing(void *ctx)
{
    return bench_cuda_launch_nothing(ctx);
}

/* What the driver itself takes for a launch, in the same process. */
static void print_launch(const bench_space *space)
{
    void *kernel = bench_cuda_kernel();
    double ns = kernel ? best_of(launch_nothing, kernel, space) : -1;
    if (ns >= 0)
        printf("bare cuLaunchKernel     %8.3f us\n", ns * 1e-3);
}

static int print_calls(void)
{
    act_call k;
    float host[2] = { 1, 0 };
    load(&k.c);
    if (!k.c.engine)
        bench_cuda();  /* another library: the context must be current before the handle is made */
    if (k.c.create(&k.h) != CUDNN_STATUS_SUCCESS) {
        printf("cudnnCreate fails here, so calls are not timed\n");
        return BENCH_FINDINGS;
    }
    const bench_space *space = space_of(&k.c, k.h);
    k.x = &host[0];
    k.y = &host[1];
    if (space && (space->alloc(&k.x, 256) != 0 || space->alloc(&k.y, 256) != 0))
        return BENCH_FINDINGS;
    k.c.create_tensor(&k.t);
    k.c.set_tensor(k.t, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 1, 1, 1);
    k.c.create_act(&k.a);
    k.c.set_act(k.a, CUDNN_ACTIVATION_RELU, CUDNN_NOT_PROPAGATE_NAN, 0);
    uint64_t start = dn_time_ns();
    if (call_act(&k) != 0 || (space && space->synchronize() != 0))
        return BENCH_FINDINGS;
    printf("first call              %8.3f ms (plan made%s)\n", ms_since(start), space ? ", kernel loaded" : "");
    double ns = best_of(call_act, &k, space);
    if (ns < 0)
        return BENCH_FINDINGS;
    printf("activation 1x1x1x1      %8.3f us a call, %.0f calls a second, engine %s\n", ns * 1e-3, 1e9 / ns,
           k.c.engine ? k.c.engine(k.h) : "of another library");
    if (space)
        print_launch(space);
    return BENCH_GOOD;
}

int bench_overhead(int argc, char **argv)
{
    if (argc > 1) {
        int help = strcmp(argv[1], "--help") == 0;
        fprintf(help ? stdout : stderr, "usage: dnbench overhead [--lib PATH]\n"
                                        "  What loading, cudnnCreate and a call cost beside the work; on a GPU the driver's own launch too\n"
                                        "  (ANYDNN_ENGINE picks the engine).\n");
        return help ? BENCH_GOOD : BENCH_USAGE;
    }
    printf("%s\n", bench_library());
    return print_start() ? print_calls() : BENCH_CANNOT_READ;
}
