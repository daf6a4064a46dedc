/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#define _DEFAULT_SOURCE
#include "isolate.h"

#include "bench.h"

#include "core/os.h"

#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#if defined(__linux__)
#include <sys/prctl.h>
#endif
#include <unistd.h>

enum { READY, ANSWER, DONE, MESSAGE_MAX = 8192, LEAVE = 77 };

typedef struct header {
    int32_t kind, line;
    uint64_t size;
} header;

static int out_fd = -1;
static int current_line;

static int write_all(int fd, const void *data, size_t size)
{
    const char *p = data;
    while (size) {
        ssize_t n = write(fd, p, size);
        if (n <= 0)
            return 0;
        p += n;
        size -= (size_t)n;
    }
    return 1;
}

static void send_kind(int kind, const void *message, size_t size)
{
    header h = { kind, current_line, size };
    if (!write_all(out_fd, &h, sizeof h) || !write_all(out_fd, message, size))
        _exit(LEAVE);
}

void bench_send(const void *message, size_t size)
{
    if (size <= MESSAGE_MAX)
        send_kind(ANSWER, message, size);
}

static void child_main(const bench_work *w, int from)
{
#if defined(__linux__)
    prctl(PR_SET_PDEATHSIG, SIGTERM);  /* a long line must not outlive the one that waits for it */
#endif
    int code = w->start ? w->start(w->ctx) : 0;
    if (code) {
        fflush(NULL);
        _exit(code);
    }
    send_kind(READY, NULL, 0);
    for (int i = from; i < w->n; i++) {
        current_line = i;
        int more = w->one(w->ctx, i);
        send_kind(DONE, NULL, 0);
        if (!more)
            _exit(LEAVE);
    }
    _exit(0);
}

/* 1: all of it, 0: end of the pipe, -1: the time is over. deadline_ns 0: none. */
static int read_all(int fd, void *data, size_t size, uint64_t deadline_ns)
{
    char *p = data;
    while (size) {
        struct pollfd f = { .fd = fd, .events = POLLIN };
        int wait = -1;
        if (deadline_ns) {
            uint64_t now = dn_time_ns();
            wait = now >= deadline_ns ? 0 : (int)((deadline_ns - now) / 1000000 + 1);
        }
        int rc = poll(&f, 1, wait);
        if (rc == 0)
            return -1;
        ssize_t n = rc > 0 ? read(fd, p, size) : -1;
        if (n <= 0)
            return 0;
        p += n;
        size -= (size_t)n;
    }
    return 1;
}

/* What one child did. */
typedef struct outcome {
    int next;     /* first line that it did not finish */
    int ready, late;
} outcome;

static outcome listen_to(const bench_work *w, int fd, int from)
{
    static char message[MESSAGE_MAX];
    outcome o = { .next = from };
    for (;;) {
        header h;
        uint64_t deadline = w->seconds > 0 ? dn_time_ns() + (uint64_t)((w->seconds + (o.ready ? 0 : 60)) * 1e9) : 0;
        int rc = read_all(fd, &h, sizeof h, deadline);
        if (rc == 1 && h.size <= sizeof message)
            rc = h.size ? read_all(fd, message, h.size, deadline) : 1;
        if (rc != 1) {
            o.late = rc < 0;
            return o;
        }
        o.ready = 1;
        if (h.kind == ANSWER)
            w->got(w->ctx, h.line, message, h.size);
        if (h.kind == DONE) {
            o.next = h.line + 1;
            if (w->done)
                w->done(w->ctx, h.line);
        }
    }
}

static const char *how_it_ended(int status, int late)
{
    static char text[64];
    if (late)
        return "ran past the time limit";
    if (WIFSIGNALED(status))
        snprintf(text, sizeof text, "crashed: %s", strsignal(WTERMSIG(status)));
    else
        snprintf(text, sizeof text, "its process ended with code %d", WEXITSTATUS(status));
    return text;
}

int bench_isolate(const bench_work *w)
{
    int from = 0;
    while (from < w->n) {
        int fd[2], status = 0;
        if (pipe(fd) != 0)
            return BENCH_CANNOT_READ;
        fflush(NULL);
        pid_t child = fork();
        if (child == 0) {
            close(fd[0]);
            out_fd = fd[1];
            child_main(w, from);
        }
        close(fd[1]);
        if (child < 0) {
            close(fd[0]);
            return BENCH_CANNOT_READ;
        }
        outcome o = listen_to(w, fd[0], from);
        if (o.late)
            kill(child, SIGKILL);
        close(fd[0]);
        waitpid(child, &status, 0);
        if (!o.ready)
            return WIFEXITED(status) && WEXITSTATUS(status) ? WEXITSTATUS(status) : BENCH_CANNOT_READ;
        from = o.next;
        bool left = WIFEXITED(status) && (WEXITSTATUS(status) == LEAVE || WEXITSTATUS(status) == 0);
        if (from < w->n && !(left && !o.late)) {
            w->died(w->ctx, from, how_it_ended(status, o.late));
            from++;
        }
    }
    return 0;
}
