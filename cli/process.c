/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#define _GNU_SOURCE
#include "process.h"
#include "cli.h"
#include "tree.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

double process_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Does a change concern the variable of this environment entry? */
static bool concerns(const char *change, const char *entry)
{
    size_t n = strcspn(change, "=");

    return strncmp(change, entry, n) == 0 && entry[n] == '=';
}

static char **environment_with(const char *const *changes)
{
    size_t count = 0, more = 0, kept = 0;
    char **env;

    while (environ && environ[count])
        count++;
    while (changes && changes[more])
        more++;
    env = calloc(count + more + 1, sizeof *env);
    for (size_t i = 0; env && i < count; i++) {
        bool changed = false;
        for (size_t k = 0; k < more; k++)
            changed = changed || concerns(changes[k], environ[i]);
        if (!changed)
            env[kept++] = environ[i];
    }
    for (size_t k = 0; env && k < more; k++)
        if (strchr(changes[k], '='))
            env[kept++] = (char *)(uintptr_t)changes[k];
    return env;
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* In the child. A failure goes back through the pipe as errno. */
static void start_child(const char *const *argv, char **env, int pipes[4][2])
{
    sigset_t none;

    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    if (dup2(pipes[0][0], 0) == 0 && dup2(pipes[1][1], 1) == 1 && dup2(pipes[2][1], 2) == 2) {
        if (env)
            environ = env;
        execvp(argv[0], (char **)(uintptr_t)argv);
    }
    int error = errno;
    ssize_t n = write(pipes[3][1], &error, sizeof error);
    (void)n;
    _exit(127);
}

/* pipes: its input, output, errors, and the errno of a failed start. All close at exec. */
static int make_pipes(int pipes[4][2])
{
    for (int i = 0; i < 4; i++)
        if (pipe2(pipes[i], O_CLOEXEC) != 0) {
            while (i-- > 0) {
                close(pipes[i][0]);
                close(pipes[i][1]);
            }
            return -1;
        }
    return 0;
}

int process_begin(process *p, const char *const *argv, const char *const *changes, double seconds)
{
    int pipes[4][2], error = 0;
    char **env;

    memset(p, 0, sizeof *p);
    p->in = p->out = p->err = -1;
    p->code = -1;
    p->deadline = process_now() + seconds;
    if (make_pipes(pipes) != 0)
        return -1;
    env = environment_with(changes);
    fflush(NULL);
    p->pid = fork();
    if (p->pid == 0)
        start_child(argv, env, pipes);
    if (p->pid < 0)
        error = errno;
    free(env);
    close(pipes[0][0]);
    close(pipes[1][1]);
    close(pipes[2][1]);
    close(pipes[3][1]);
    p->in = pipes[0][1];
    p->out = pipes[1][0];
    p->err = pipes[2][0];
    signal(SIGPIPE, SIG_IGN); /* a child that is gone shows at its end */
    if (p->pid > 0 && read(pipes[3][0], &error, sizeof error) != (ssize_t)sizeof error)
        error = 0;
    close(pipes[3][0]);
    if (error) {
        process_free(p);
        errno = error;
        return -1;
    }
    return 0;
}

static void take(int *fd, process_text *t)
{
    char buffer[8192];
    ssize_t n = read(*fd, buffer, sizeof buffer);
    char *more;

    if (n < 0 && errno == EINTR)
        return;
    if (n <= 0) {
        close_fd(fd);
        return;
    }
    if (t->size + (size_t)n > PROCESS_TEXT_MAX)
        return;
    more = realloc(t->text, t->size + (size_t)n + 1);
    if (!more)
        return;
    t->text = more;
    memcpy(t->text + t->size, buffer, (size_t)n);
    t->size += (size_t)n;
    t->text[t->size] = 0;
}

static void kill_it(process *p)
{
    if (p->pid > 0 && !p->reaped) {
        kill(-p->pid, SIGKILL);
        kill(p->pid, SIGKILL);
    }
}

/* Waits for more output until the limit; false where both ends are closed or the time is over. */
static bool listen_more(process *p)
{
    struct pollfd f[2] = { { .fd = p->out, .events = POLLIN }, { .fd = p->err, .events = POLLIN } };
    double left = p->deadline - process_now();

    if (p->out < 0 && p->err < 0)
        return false;
    if (left <= 0 || poll(f, 2, left > 86400 ? -1 : (int)(left * 1000) + 1) == 0) {
        p->late = true;
        kill_it(p);
        return false;
    }
    if (f[0].revents)
        take(&p->out, &p->output);
    if (f[1].revents)
        take(&p->err, &p->errors);
    return true;
}

static const char *line_with(const process_text *t, const char *text)
{
    size_t n = strlen(text);

    for (const char *line = t->text; line && *line;) {
        const char *end = strchr(line, '\n');
        if (!end)
            return NULL;
        if (strncmp(line, text, n) == 0)
            return line;
        line = end + 1;
    }
    return NULL;
}

const char *process_wait_for(process *p, const char *text)
{
    const char *line;

    while (!(line = line_with(&p->output, text)) && p->out >= 0)
        if (!listen_more(p))
            break;
    return line ? line : line_with(&p->output, text);
}

void process_tell(process *p, const char *line)
{
    if (p->in >= 0 && write(p->in, line, strlen(line)) < 0)
        close_fd(&p->in);
}

static void reap(process *p)
{
    int status = 0;

    if (p->pid <= 0 || p->reaped)
        return;
    while (waitpid(p->pid, &status, 0) < 0 && errno == EINTR)
        ;
    p->reaped = true;
    p->code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    p->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

/* A grandchild may hold the pipes open for longer than the child lives: that is waited for only a moment. */
static bool has_ended(const process *p)
{
    siginfo_t info = { 0 };

    return waitid(P_PID, (id_t)p->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == p->pid;
}

void process_end(process *p)
{
    close_fd(&p->in);
    while (listen_more(p))
        if (has_ended(p) && p->deadline > process_now() + 1)
            p->deadline = process_now() + 1;
    if (has_ended(p))
        p->late = false;
    while (!p->late && !has_ended(p)) {
        if (process_now() > p->deadline) {
            p->late = true;
            kill_it(p);
        }
        usleep(2000);
    }
    reap(p);
}

void process_free(process *p)
{
    kill_it(p);
    reap(p);
    close_fd(&p->in);
    close_fd(&p->out);
    close_fd(&p->err);
    free(p->output.text);
    free(p->errors.text);
    p->output = p->errors = (process_text){ NULL, 0 };
}

int process_run(process *p, const char *const *argv, const char *const *changes, double seconds)
{
    if (process_begin(p, argv, changes, seconds) != 0)
        return -1;
    process_end(p);
    return 0;
}

const char *process_how(const process *p, char *out)
{
    if (p->late)
        snprintf(out, 120, "stopped after the time limit");
    else if (p->signal)
        snprintf(out, 120, "killed by signal %d (%s)", p->signal, strsignal(p->signal));
    else
        snprintf(out, 120, "exit code %d", p->code);
    return out;
}

char *process_self(void)
{
    char path[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);

    if (n <= 0)
        return NULL;
    path[n] = 0;
    return strdup(path);
}

char *process_beside(const char *relative)
{
    char *self = process_self(), *slash = self ? strrchr(self, '/') : NULL, *joined, *real;

    if (slash)
        *slash = 0;
    joined = slash ? tree_join(self, relative) : NULL;
    real = joined ? realpath(joined, NULL) : NULL;
    free(joined);
    free(self);
    return real;
}

char *process_library(const char *name)
{
    /* As it is installed; in a build folder it is always lib. */
    static const char *const folders[] = { "../" CLI_LIBDIR "/", "../lib/" };
    char *found = NULL;

    for (size_t i = 0; !found && i < sizeof folders / sizeof *folders; i++) {
        char *path = cli_format("%s%s", folders[i], name);
        found = path ? process_beside(path) : NULL;
        free(path);
    }
    return found;
}

static bool can_start(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

char *process_find(const char *name)
{
    const char *path = getenv("PATH");

    if (strchr(name, '/'))
        return can_start(name) ? strdup(name) : NULL;
    for (path = path ? path : "/usr/local/bin:/usr/bin:/bin"; *name; path++) {
        size_t n = strcspn(path, ":");
        char *full = n ? cli_format("%.*s/%s", (int)n, path, name) : strdup(name);

        if (full && can_start(full))
            return full;
        free(full);
        path += n;
        if (!*path)
            break;
    }
    return NULL;
}

const char *process_ldconfig(const char *root)
{
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) {
        if (freopen("/dev/null", "w", stdout) && freopen("/dev/null", "w", stderr))
            execl("/sbin/ldconfig", "ldconfig", *root ? "-r" : NULL, root, (char *)NULL);
        _exit(127);
    }
    if (pid < 0)
        return strerror(errno);
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return strerror(errno);
    return status == 0 ? NULL : WIFEXITED(status) && WEXITSTATUS(status) == 127 ? "/sbin/ldconfig cannot be started" : "ldconfig failed";
}
