/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The program of `anydnn run` and its signals. It is a child in our own process group, so a terminal's signals reach it without us; those that
 * somebody sends to us alone are handed on. When it stops we stop, so that a shell sees the job stopped; we end as it ended. */
#define _GNU_SOURCE
#include "run.h"

#include <errno.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Before 2.35 glibc sends every call that it bound lazily through its slow path when an audit library is there, whether that has use for it or not
 * (glibc bug 15533); what is bound at the start does not go there. */
static bool is_lazy_binding_slow(void)
{
    int major = 0, minor = 0;

    return sscanf(gnu_get_libc_version(), "%d.%d", &major, &minor) == 2 && major == 2 && minor < 35;
}

static int set_environment(const run_program *p, pid_t parent)
{
    const char *others = getenv("LD_AUDIT");
    char *report = cli_format("/proc/%d/fd/%d", (int)parent, p->report_fd),
         *audit = !others || !*others          ? cli_format("%s", p->audit)
                  : strstr(others, p->audit) ? cli_format("%s", others) /* one run within another */
                                             : cli_format("%s:%s", p->audit, others);
    int bad = !report || !audit || setenv("LD_AUDIT", audit, 1) != 0 || setenv("ANYDNN_RUN_DIR", p->dir, 1) != 0 ||
              setenv("ANYDNN_RUN_REPORT", report, 1) != 0 || (is_lazy_binding_slow() && setenv("LD_BIND_NOW", "1", 0) != 0);

    free(report);
    free(audit);
    return bad ? -1 : 0;
}

/* In the child. */
static void start_program(const run_program *p, pid_t parent, const sigset_t *mask, int failure)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() == parent && set_environment(p, parent) == 0) {
        sigprocmask(SIG_SETMASK, mask, NULL);
        execvp(p->argv[0], p->argv);
    }
    int error = errno;
    ssize_t n = write(failure, &error, sizeof error);
    (void)n;
    _exit(127);
}

/* True where it has ended. */
static bool look_at_child(run_program *p)
{
    int status;

    while (waitpid(p->pid, &status, WNOHANG | WUNTRACED | WCONTINUED) > 0) {
        if (WIFEXITED(status) || WIFSIGNALED(status)) {
            p->status = status;
            return true;
        }
        if (WIFSTOPPED(status))
            raise(SIGSTOP); /* what lets us go on is handed on like other signals */
    }
    return false;
}

static void wait_for(run_program *p, const sigset_t *all)
{
    siginfo_t info;

    while (!look_at_child(p)) {
        int number = sigwaitinfo(all, &info);

        /* What the kernel sends, a terminal's Ctrl-C for one, goes to the whole group. */
        if (number > 0 && number != SIGCHLD && info.si_code <= 0)
            kill(p->pid, number);
    }
}

static int not_started(const run_program *p, int error)
{
    fprintf(stderr, "anydnn run: %s: %s\n", p->argv[0], strerror(error));
    return error == ENOENT ? 127 : 126; /* as shells have it */
}

int run_supervise(run_program *p)
{
    sigset_t all, mask;
    int failure[2], error = 0;
    pid_t parent = getpid();

    /* An ignored SIGCHLD would take the child's end from us; the default disposition does the program no harm. */
    signal(SIGCHLD, SIG_DFL);
    if (pipe2(failure, O_CLOEXEC) != 0)
        return not_started(p, errno);
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &mask);
    fflush(NULL);
    p->pid = fork();
    if (p->pid == 0)
        start_program(p, parent, &mask, failure[1]);
    close(failure[1]);
    if (p->pid < 0) {
        error = errno;
    } else if (read(failure[0], &error, sizeof error) != (ssize_t)sizeof error) {
        error = 0;
        wait_for(p, &all);
    } else {
        waitpid(p->pid, &p->status, 0);
    }
    close(failure[0]);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    return error ? not_started(p, error) : 0;
}

void run_end_like(int status)
{
    fflush(NULL);
    if (WIFSIGNALED(status)) {
        const struct rlimit none = { 0, 0 };
        sigset_t set;

        setrlimit(RLIMIT_CORE, &none); /* the core is the program's */
        signal(WTERMSIG(status), SIG_DFL);
        sigemptyset(&set);
        sigaddset(&set, WTERMSIG(status));
        sigprocmask(SIG_UNBLOCK, &set, NULL);
        raise(WTERMSIG(status));
        _exit(128 + WTERMSIG(status));
    }
    _exit(WEXITSTATUS(status));
}
