/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Runs the threads of a block on stacks of their own. A stack takes thread after thread until one waits at a barrier, which keeps it; so a
 * kernel without barriers is a loop. Every other block runs its threads from the last to the first: what a missing barrier would change
 * then changes. */
#include "block.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

emu_index emu_thread_index, emu_block_index, emu_block_size, emu_grid_size;
unsigned emu_thread;
uint64_t emu_slot[EMU_THREADS];
_Alignas(1024) unsigned char emu_shared[EMU_SHARED];

enum { STACK = 128 << 10, PAGE = 4096, LOOP_FRAMES = 2048, LAUNCH_FAILED = 719 };
enum state { NEW, READY, AT_BLOCK, AT_WARP, DONE };

/* From the top: the frames of fiber_main, the kernel's struct, the frames of the kernel. */
typedef struct fiber {
    void *sp;
    char *stack;
    unsigned long launch;  /* whose struct lies on the stack */
} fiber;

static struct {
    enum state state;
    unsigned mask;
    fiber *on;
} threads[EMU_THREADS];
static fiber fibers[EMU_THREADS], *idle[EMU_THREADS], *running;
static int fiber_count, idle_count;
static int count, started, backwards;     /* threads of the block; those that are no longer NEW; the order */
static const emu_launch *launch;
static unsigned long launch_number;
static void *scheduler;

void emu_switch(void **from, void *to);
void emu_call(emu_kernel kernel, void *params);

/* emu_switch keeps the registers that a call keeps, on the stack that it leaves. emu_call calls a function whose struct lies at params,
 * which is where the calling convention has a struct passed by value; one of up to 16 bytes (no floats) comes in two registers. */
__asm__(".text\n"
        ".globl emu_switch\n.hidden emu_switch\n.type emu_switch, @function\n"
        "emu_switch:\n"
        "    pushq %rbp\n    pushq %rbx\n    pushq %r12\n    pushq %r13\n    pushq %r14\n    pushq %r15\n"
        "    movq %rsp, (%rdi)\n    movq %rsi, %rsp\n"
        "    popq %r15\n    popq %r14\n    popq %r13\n    popq %r12\n    popq %rbx\n    popq %rbp\n    ret\n"
        ".size emu_switch, .-emu_switch\n"
        ".globl emu_call\n.hidden emu_call\n.type emu_call, @function\n"
        "emu_call:\n"
        "    pushq %rbp\n    movq %rsp, %rbp\n    movq %rsi, %rsp\n"
        "    movq %rdi, %rax\n    movq (%rsi), %rdi\n    movq 8(%rsi), %rsi\n    call *%rax\n"
        "    movq %rbp, %rsp\n    popq %rbp\n    ret\n"
        ".size emu_call, .-emu_call\n");

static char *params_of(const fiber *f)
{
    return f->stack + STACK - LOOP_FRAMES - EMU_PARAMS;
}

static void become(unsigned t)
{
    unsigned x = emu_block_size.x, y = emu_block_size.y;
    emu_thread = t;
    emu_thread_index = (emu_index){ t % x, t / x % y, t / x / y };
}

/* The next thread that has not begun, -1 where there is none. */
static int next_new(void)
{
    if (started == count)
        return -1;
    started++;
    return backwards ? count - started : started - 1;
}

static void fiber_main(void)
{
    for (;;) {
        emu_call(launch->kernel, params_of(running));
        threads[emu_thread].state = DONE;
        int next = next_new();
        if (next >= 0) {
            become((unsigned)next);
            continue;
        }
        idle[idle_count++] = running;
        emu_switch(&running->sp, scheduler);
    }
}

static void wait(enum state state)
{
    threads[emu_thread].state = state;
    threads[emu_thread].on = running;
    emu_switch(&running->sp, scheduler);
}

void emu_wait_block(void)
{
    wait(AT_BLOCK);
}

void emu_wait_warp(unsigned mask)
{
    threads[emu_thread].mask = mask;
    wait(AT_WARP);
}

/* NULL where there is no memory. */
static fiber *take_fiber(void)
{
    if (!idle_count) {
        fiber *f = &fibers[fiber_count];
        f->stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (f->stack == MAP_FAILED)
            return NULL;
        mprotect(f->stack, PAGE, PROT_NONE);
        void *start[8] = { [6] = (void *)(uintptr_t)fiber_main };  /* six registers, where to begin, where that would return to */
        f->sp = f->stack + STACK - PAGE / 16;
        f->sp = memcpy((char *)f->sp - sizeof start, start, sizeof start);
        idle[idle_count++] = f;
        fiber_count++;
    }
    fiber *f = idle[--idle_count];
    if (f->launch != launch_number) {
        memcpy(params_of(f), launch->params, EMU_PARAMS);
        f->launch = launch_number;
    }
    return f;
}

static int fail(const char *what)
{
    fprintf(stderr, "emulated: %s, block %u %u %u: %s\n", launch->name, emu_block_index.x, emu_block_index.y, emu_block_index.z, what);
    return LAUNCH_FAILED;
}

/* Runs what can run. */
static int run_ready(void)
{
    for (int next; (next = next_new()) >= 0;) {
        running = take_fiber();
        if (!running)
            return fail("no memory for a stack");
        become((unsigned)next);
        emu_switch(&scheduler, running->sp);
    }
    for (int i = 0; i < count; i++) {
        int t = backwards ? count - 1 - i : i;
        if (threads[t].state != READY)
            continue;
        running = threads[t].on;
        become((unsigned)t);
        emu_switch(&scheduler, running->sp);
    }
    return 0;
}

/* Threads of the warp from `first` on go on where all that their mask names wait with the same mask, or are through. */
static int release_warp(int first)
{
    int released = 0, end = first + 32 < count ? first + 32 : count;
    for (int t = first; t < end; t++) {
        unsigned mask = threads[t].mask;
        int all = threads[t].state == AT_WARP;
        for (int k = first; all && k < end; k++)
            if (mask >> (k - first) & 1)
                all = threads[k].state == DONE || (threads[k].state == AT_WARP && threads[k].mask == mask);
        for (int k = first; all && k < end; k++)
            if ((mask >> (k - first) & 1) && threads[k].state == AT_WARP) {
                threads[k].state = READY;
                released++;
            }
    }
    return released;
}

static int run_block(void)
{
    for (int t = 0; t < count; t++)
        threads[t].state = NEW;
    for (started = 0;;) {
        int released = 0, waiting = 0, done = 0, code = run_ready();
        if (code)
            return code;
        for (int t = 0; t < count; t++) {
            waiting += threads[t].state == AT_BLOCK;
            done += threads[t].state == DONE;
        }
        if (done == count)
            return 0;
        for (int w = 0; waiting + done < count && w < count; w += 32)
            released += release_warp(w);
        for (int t = 0; waiting + done == count && t < count; t++)
            if (threads[t].state == AT_BLOCK) {
                threads[t].state = READY;
                released++;
            }
        if (!released)
            return fail("its threads wait for each other at different barriers, or for lanes that their mask does not name alike");
    }
}

/* --- a fault says where --- */

static const int fatal[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE };
enum { FATAL = sizeof fatal / sizeof *fatal };

static void report(int signal_number)
{
    char line[400];
    int n = snprintf(line, sizeof line, "emulated: %s, block %u %u %u, thread %u %u %u: %s\n", launch->name, emu_block_index.x, emu_block_index.y,
                     emu_block_index.z, emu_thread_index.x, emu_thread_index.y, emu_thread_index.z,
                     signal_number == SIGILL ? "a vector that is not aligned or an index outside its array"
                     : signal_number == SIGFPE ? "a division by zero" : "an access outside its memory");
    fwrite(line, 1, (size_t)n, stderr);
    fflush(stderr);
}

static void watch(struct sigaction *old)
{
    struct sigaction a = { .sa_handler = report, .sa_flags = (int)SA_RESETHAND };  /* the instruction is tried again, and ends the program */
    for (int i = 0; i < FATAL; i++)
        sigaction(fatal[i], &a, &old[i]);
}

/* Waiting threads of a launch that failed are never run again. */
static void forget_fibers(void)
{
    idle_count = 0;
    for (int i = 0; i < fiber_count; i++)
        munmap(fibers[i].stack, STACK);
    fiber_count = 0;
}

int emu_run(const emu_launch *l)
{
    struct sigaction old[FATAL];
    emu_index *b = &emu_block_index;
    int code = 0;
    launch = l;
    launch_number++;
    emu_grid_size = l->grid;
    emu_block_size = l->block;
    count = (int)(l->block.x * l->block.y * l->block.z);
    watch(old);
    for (b->z = 0; !code && b->z < l->grid.z; b->z++)
        for (b->y = 0; !code && b->y < l->grid.y; b->y++)
            for (b->x = 0; !code && b->x < l->grid.x; b->x++) {
                memset(emu_shared, 0xff, l->shared);
                backwards = !backwards;
                code = run_block();
            }
    for (int i = 0; i < FATAL; i++)
        sigaction(fatal[i], &old[i], NULL);
    if (code)
        forget_fibers();
    return code;
}
