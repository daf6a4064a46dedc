/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Kills a command of the tool at its system calls and looks at what is left.
 *
 *   kill [--all | --full] BASE WORK ANYDNN COMMAND...
 *
 * BASE is a tree that stands for the machine before the command. For every n the tree is copied to WORK/tree and the command is run on it
 * (with --root) under ptrace and killed at its n-th system call; without --all only calls that change files are counted, since a kill at any
 * other leaves what a kill at the next of those leaves. Then
 *   - what programs see (every name in usr/local/lib, include and cuda that leads to a file, and its bytes) must be what it was before the
 *     command or what it is after a whole run, nothing in between;
 *   - `anydnn list` must answer as on the whole tree, must not change that, and must leave no name but those of the tree before or after, and no leftover.
 * With --full nothing is killed: from the n-th call that needs room on the disk, all such calls answer that there is none (x86-64 only). The same must
 * hold, and the command must say that it failed unless it had taken effect.
 * Exit status 77 where processes cannot be traced here. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <linux/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TEXT = 1 << 20, PATH = 4096, ARGUMENTS = 32 };

typedef struct text {
    char *at;
    size_t length;
} text;

static void die(const char *what)
{
    perror(what);
    exit(2);
}

static void add(text *t, const char *a, const char *b, const char *c)
{
    int n = snprintf(t->at + t->length, TEXT - t->length, "%s%s%s\n", a, b, c);
    if (n < 0 || (size_t)n >= TEXT - t->length) {
        fprintf(stderr, "the tree is too large for this test\n");
        exit(2);
    }
    t->length += (size_t)n;
}

/* FNV-1a of a file's bytes, as text; "" where the name leads nowhere. */
static void bytes_of(const char *path, char out[32])
{
    unsigned char block[65536];
    uint64_t sum = 1469598103934665603u;
    struct stat st;
    int fd = stat(path, &st) == 0 && S_ISREG(st.st_mode) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    ssize_t n;
    out[0] = 0;
    if (fd < 0)
        return;
    while ((n = read(fd, block, sizeof block)) > 0)
        for (ssize_t i = 0; i < n; i++)
            sum = (sum ^ block[i]) * 1099511628211u;
    close(fd);
    snprintf(out, 32, "%016llx", (unsigned long long)sum);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* seen: what programs see. Else: every file and link, links with their text; generations have numbers, so .state and current are only looked
 * into for a journal. */
static void walk(const char *top, const char *below, bool seen, text *out)
{
    char path[PATH], name[PATH], line[PATH];
    struct stat st;
    snprintf(path, sizeof path, "%s/%s", top, below);
    if (lstat(path, &st) != 0)
        return;
    if (S_ISDIR(st.st_mode)) {
        DIR *dir = opendir(path);
        char *names[4096];
        size_t count = 0;
        for (struct dirent *d; dir && (d = readdir(dir)) != NULL && count < 4096;)
            if (strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0)
                names[count++] = strdup(d->d_name);
        if (dir)
            closedir(dir);
        qsort(names, count, sizeof *names, by_name);
        for (size_t i = 0; i < count; i++) {
            int n = snprintf(name, sizeof name, "%s/%s", below, names[i]);
            /* Nobody asks for a name that is on its way. */
            bool on_its_way = seen && strncmp(names[i], ".anydnn-new-", 12) == 0;
            if (n > 0 && (size_t)n < sizeof name && !on_its_way && strcmp(names[i], ".state") != 0 && strcmp(names[i], ".lock") != 0 && strcmp(names[i], "current") != 0)
                walk(top, name, seen, out);
            free(names[i]);
        }
        return;
    }
    line[0] = 0;
    if (S_ISLNK(st.st_mode) && !seen) {
        ssize_t n = readlink(path, line, sizeof line - 1);
        line[n > 0 ? n : 0] = 0;
    } else {
        char sum[32];
        bytes_of(path, sum);
        snprintf(line, sizeof line, "%s", sum);
        if (seen && !*sum)
            return;
    }
    add(out, below, " ", line);
}

static text look(const char *tree, bool seen)
{
    text t = { malloc(TEXT), 0 };
    if (!t.at)
        die("malloc");
    t.at[0] = 0;
    walk(tree, "usr/local/lib", seen, &t);
    walk(tree, "usr/local/include", seen, &t);
    walk(tree, "usr/local/cuda", seen, &t);
    if (!seen) {
        char path[PATH];
        walk(tree, "usr/local/opt", seen, &t);
        snprintf(path, sizeof path, "%s/usr/local/opt/cudnn/.state/journal", tree);
        if (access(path, F_OK) == 0)
            add(&t, "a journal is left", "", "");
    }
    return t;
}

static void shell(const char *fmt, const char *a, const char *b)
{
    char command[3 * PATH];
    snprintf(command, sizeof command, fmt, a, b, a);
    if (system(command) != 0)
        die(command);
}

/* Starts argv with its output in a file; traced where asked for. */
static pid_t start(char **argv, const char *output, bool traced)
{
    pid_t pid = fork();
    if (pid == 0) {
        int fd = open(output, O_WRONLY | O_CREAT | O_TRUNC, 0644);
        dup2(fd, 1);
        dup2(fd, 2);
        close(fd);
        if (traced && ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
            _exit(126);
        execv(argv[0], argv);
        _exit(127);
    }
    if (pid < 0)
        die("fork");
    return pid;
}

static int run(char **argv, const char *output)
{
    int status;
    pid_t pid = start(argv, output, false);
    if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
        return -1;
    return WEXITSTATUS(status);
}

/* Calls that change bytes or names. What comes between two of them (modes, times, fsync) is not told apart by what is looked at here. */
static bool changes(uint64_t nr, const uint64_t *args)
{
    static const long calls[] = {
#ifdef SYS_rename
        SYS_rename, SYS_mkdir, SYS_rmdir, SYS_unlink, SYS_symlink, SYS_link,
#endif
        SYS_renameat, SYS_renameat2, SYS_mkdirat, SYS_unlinkat, SYS_symlinkat, SYS_linkat, SYS_write, SYS_pwrite64, SYS_ftruncate, SYS_exit_group,
    };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (nr == (uint64_t)calls[i])
            return nr != SYS_write || args[0] > 2;
    return nr == SYS_openat && args[2] & O_CREAT;
}

/* Calls that need room. An open counts where it may make a file. */
static bool needs_room(uint64_t nr, const uint64_t *args)
{
    static const long calls[] = {
#ifdef SYS_mkdir
        SYS_mkdir, SYS_symlink, SYS_link,
#endif
        SYS_mkdirat, SYS_symlinkat, SYS_linkat, SYS_write, SYS_pwrite64, SYS_fsync,
    };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (nr == (uint64_t)calls[i])
            return nr != SYS_write || args[0] > 2;
    return nr == SYS_openat && args[2] & O_CREAT;
}

#ifdef __x86_64__
#include <sys/user.h>

/* The call at whose entry the process stands is not made, and answers ENOSPC. */
static void refuse_call(pid_t pid)
{
    struct user_regs_struct regs;
    int status;
    if (ptrace(PTRACE_GETREGS, pid, NULL, &regs) != 0)
        die("PTRACE_GETREGS");
    regs.orig_rax = (unsigned long long)-1;
    if (ptrace(PTRACE_SETREGS, pid, NULL, &regs) != 0 || ptrace(PTRACE_SYSCALL, pid, NULL, NULL) != 0 || waitpid(pid, &status, 0) != pid ||
        ptrace(PTRACE_GETREGS, pid, NULL, &regs) != 0)
        die("ptrace");
    regs.rax = (unsigned long long)-ENOSPC;
    if (ptrace(PTRACE_SETREGS, pid, NULL, &regs) != 0)
        die("PTRACE_SETREGS");
}
#else
static void refuse_call(pid_t pid)
{
    kill(pid, SIGKILL);
    exit(77);
}
#endif

typedef enum mode { CHANGES, ALL, FULL } mode;

/* Runs under ptrace; kills at the n-th call that counts. 1 killed, 0 ended by itself before, -1 cannot be traced. FULL: from
 * the n-th call on the disk is full; 1 where that happened, and *code is the exit code. */
static int run_killed(char **argv, const char *output, mode how, long n, int *code)
{
    int status;
    pid_t pid = start(argv, output, true);
    if (waitpid(pid, &status, 0) != pid)
        die("waitpid");
    if (!WIFSTOPPED(status))
        return -1;
    ptrace(PTRACE_SETOPTIONS, pid, NULL, (void *)(PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL));
    for (;;) {
        if (ptrace(PTRACE_SYSCALL, pid, NULL, NULL) != 0 || waitpid(pid, &status, 0) != pid)
            die("ptrace");
        if (WIFEXITED(status) || WIFSIGNALED(status))
            return *code = WIFEXITED(status) ? WEXITSTATUS(status) : -1, how == FULL && n <= 0;
        if (WSTOPSIG(status) != (SIGTRAP | 0x80))
            continue;
        struct ptrace_syscall_info info;
        memset(&info, 0, sizeof info);
        if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, (void *)sizeof info, &info) <= 0)
            return kill(pid, SIGKILL), waitpid(pid, &status, 0), -1;
        if (info.op != PTRACE_SYSCALL_INFO_ENTRY)
            continue;
        if (how == FULL && needs_room(info.entry.nr, (const uint64_t *)info.entry.args) && --n <= 0)
            refuse_call(pid);
        else if (how != FULL && (how == ALL || changes(info.entry.nr, (const uint64_t *)info.entry.args)) && --n == 0) {
            kill(pid, SIGKILL);
            waitpid(pid, &status, 0);
            return 1;
        }
    }
}

typedef struct scene {
    const char *base, *work, *anydnn;
    char **command;
    char tree[PATH], output[PATH];
    text seen_before, seen_after, names_before, names_after;
    int list_before, list_after;   /* exit codes of `anydnn list`: 1 where something was changed behind the store's back */
} scene;

static bool failed(const scene *s, long n, const char *what)
{
    fprintf(stderr, "FAILED: killed at call %ld of `%s %s`: %s\n", n, s->command[0], s->command[1], what);
    return false;
}

static int list_of(const scene *s)
{
    char *list[] = { (char *)s->anydnn, "list", "--root", (char *)s->tree, NULL };
    return run(list, s->output);
}

/* What is left after the kill, and after the next command. */
static bool judge(const scene *s, long n)
{
    text seen = look(s->tree, true);
    bool old = strcmp(seen.at, s->seen_before.at) == 0, new = strcmp(seen.at, s->seen_after.at) == 0, good = true;
    if (!old && !new) {
        good = failed(s, n, "programs see neither the old nor the new state:");
        fprintf(stderr, "%s", seen.at);
    } else if (list_of(s) != (old ? s->list_before : s->list_after)) {
        good = failed(s, n, "`anydnn list` is not content:");
        shell("cat '%s' >&2 %s", s->output, "");
    } else {
        text after = look(s->tree, true), names = look(s->tree, false);
        if (strcmp(after.at, seen.at) != 0)
            good = failed(s, n, "the next command changed what programs see; now:"), fprintf(stderr, "%s", after.at);
        else if (strcmp(names.at, s->names_before.at) != 0 && strcmp(names.at, s->names_after.at) != 0) {
            good = failed(s, n, "the next command left something:");
            fprintf(stderr, "%s", names.at);
        }
        free(after.at);
        free(names.at);
    }
    free(seen.at);
    return good;
}

static bool has_taken_effect(const scene *s)
{
    text seen = look(s->tree, true);
    bool is = strcmp(seen.at, s->seen_after.at) == 0;
    free(seen.at);
    return is;
}

static void fresh(const scene *s)
{
    shell("rm -rf '%s' && cp -a '%s' '%s'", s->tree, s->base);
}

int main(int argc, char **argv)
{
    mode how = argc > 1 && strcmp(argv[1], "--all") == 0 ? ALL : argc > 1 && strcmp(argv[1], "--full") == 0 ? FULL : CHANGES;
    scene s = { 0 };
    char *command[ARGUMENTS] = { NULL };
    int bad = 0;
    long n = 1;
    argv += how != CHANGES;
    argc -= how != CHANGES;
    if (argc < 5 || argc > ARGUMENTS - 4)
        return fprintf(stderr, "usage: kill [--all | --full] BASE WORK ANYDNN COMMAND...\n"), 2;
    s = (scene){ .base = argv[1], .work = argv[2], .anydnn = argv[3], .command = argv + 4 };
    snprintf(s.tree, sizeof s.tree, "%s/tree", s.work);
    snprintf(s.output, sizeof s.output, "%s/output", s.work);
    command[0] = argv[3];
    memcpy(command + 1, argv + 4, (size_t)(argc - 4) * sizeof *command);
    command[argc - 3] = "--root";
    command[argc - 2] = s.tree;
    fresh(&s);
    s.seen_before = look(s.tree, true);
    s.names_before = look(s.tree, false);
    s.list_before = list_of(&s);
    if (run(command, s.output) != 0) {
        failed(&s, 0, "the command alone is not good:");
        shell("cat '%s' >&2 %s", s.output, "");
        return 1;
    }
    s.seen_after = look(s.tree, true);
    s.names_after = look(s.tree, false);
    s.list_after = list_of(&s);
    for (;; n++) {
        fresh(&s);
        int code = 0, killed = run_killed(command, s.output, how, n, &code);
        if (killed < 0)
            return fprintf(stderr, "processes cannot be traced here\n"), 77;
        if (how == FULL && killed && code == 0 && !has_taken_effect(&s)) {
            bad += !failed(&s, n, "the disk was full, and the command says that all is good");
            shell("cat '%s' >&2 %s", s.output, "");
        }
        if (!judge(&s, n) && ++bad >= 5)
            return 1;
        if (!killed)
            break;
    }
    printf("%s: %s at %ld calls\n", s.command[0], how == FULL ? "no room" : "killed", n - 1);
    return n < 10 || bad ? 1 : 0;
}
