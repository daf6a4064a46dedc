/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#if !defined(_WIN32) && !defined(_DEFAULT_SOURCE)
#define _DEFAULT_SOURCE
#endif
#include "worker.h"

#include "cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef _WIN32

/* dnbench is a program for POSIX systems. */
char *worker_path(void) { return NULL; }
bool worker_start(worker *w, char *const argv[]) { (void)w, (void)argv; return false; }
char *worker_line(worker *w) { (void)w; return NULL; }
int worker_end(worker *w) { (void)w; return 0; }
int worker_signal(void) { return 0; }

#else

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

char *worker_path(void)
{
    static const char *const places[] = { "dnbench", "../libexec/anydnn/dnbench" };
    char here[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", here, sizeof here - 1);
    char *slash = n > 0 ? (here[n] = 0, strrchr(here, '/')) : NULL;
    for (int i = 0; slash && i < 2; i++) {
        char *path = cli_format("%.*s/%s", (int)(slash - here), here, places[i]);
        if (path && access(path, X_OK) == 0)
            return path;
        free(path);
    }
    return NULL;
}

static volatile sig_atomic_t came;
static volatile sig_atomic_t child;  /* process ids fit an int on every system that this runs on */
static struct sigaction before[2];
static const int ending[2] = { SIGINT, SIGTERM };

static void on_signal(int number)
{
    int saved = errno;
    came = number;
    if (child > 0)
        kill(child, SIGTERM);
    errno = saved;
}

bool worker_start(worker *w, char *const argv[])
{
    int ends[2];
    if (pipe(ends) != 0)
        return false;
    sigset_t both, mask;
    sigemptyset(&both);
    for (int i = 0; i < 2; i++)
        sigaddset(&both, ending[i]);
    sigprocmask(SIG_BLOCK, &both, &mask);  /* none may come before the handler knows the child */
    struct sigaction catch = { .sa_handler = on_signal, .sa_flags = SA_RESTART }, usual = { .sa_handler = SIG_DFL };
    pid_t pid = fork();
    for (int i = 0; i < 2; i++)
        sigaction(ending[i], pid ? &catch : &usual, pid ? &before[i] : NULL);
    child = pid > 0 ? (int)pid : 0;
    sigprocmask(SIG_SETMASK, &mask, NULL);
    if (pid == 0) {
        close(ends[0]);
        if (dup2(ends[1], 1) == 1) {
            close(ends[1]);
            execv(argv[0], argv);
        }
        _exit(127);
    }
    close(ends[1]);
    *w = (worker){ .id = pid, .out = pid > 0 ? fdopen(ends[0], "r") : NULL };
    if (!w->out)
        close(ends[0]);
    return pid > 0;
}

char *worker_line(worker *w)
{
    static char line[8192];
    if (!w->out || !fgets(line, sizeof line, w->out))
        return NULL;
    line[strcspn(line, "\n")] = 0;
    return line;
}

int worker_end(worker *w)
{
    int status = 0;
    if (w->out)
        fclose(w->out);
    while (waitpid((pid_t)w->id, &status, 0) < 0 && errno == EINTR)
        ;
    child = 0;
    for (int i = 0; i < 2; i++)
        sigaction(ending[i], &before[i], NULL);
    *w = (worker){ 0 };
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int worker_signal(void)
{
    return came;
}

#endif
