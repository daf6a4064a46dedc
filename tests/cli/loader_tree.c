/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Folders, names and path lists come from small pools, so that the same name lies in several places and most lists meet something. */
#include "loader_tree.h"
#include "tiny_elf.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <gnu/lib-names.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOADER "/lib64/ld-linux-x86-64.so.2"

static const char *const folders[] = { "/app",
                                       "/app/lib",
                                       "/app/lib/inner",
                                       "/opt/a",
                                       "/opt/a/lib/x86_64-linux-gnu",
                                       "/opt/b",
                                       "/opt/b/x86_64",
                                       "/data/lib",
                                       "/lib/x86_64-linux-gnu",
                                       "/usr/lib/x86_64-linux-gnu",
                                       "/lib",
                                       "/usr/lib",
                                       "/lib64",
                                       "/usr/lib64" };
static const char *const subfolders[] = {
    "glibc-hwcaps/x86-64-v2", "glibc-hwcaps/x86-64-v3", "glibc-hwcaps/x86-64-v4", "tls", "x86_64", "tls/x86_64", "haswell", "avx512_1"
};
static const char *const names[] = { "liba.so.1", "libb.so.2", "libc1.so", "libd.so.8", "libe.so.9", "libf.so.10", "libg.so.09" };
static const char *const elements[] = { "/app/lib",
                                        "/opt/a",
                                        "/opt/b",
                                        "/data/lib",
                                        "$ORIGIN",
                                        "${ORIGIN}",
                                        "$ORIGIN/inner",
                                        "${ORIGIN}/../lib",
                                        "$ORIGIN/..",
                                        "/opt/a/$LIB",
                                        "/opt/a/${LIB}/",
                                        "/opt/b/$PLATFORM",
                                        "/opt/b/${PLATFORM}",
                                        "",
                                        ".",
                                        "lib",
                                        "../opt/b",
                                        "/opt/b//",
                                        "/app/lib/",
                                        "/not/there",
                                        "$ORIGINAL/x",
                                        "/opt/$NAME",
                                        "/link",
                                        "/opt/a/../b",
                                        "/" };
enum {
    FOLDERS = sizeof folders / sizeof *folders,
    SUBFOLDERS = sizeof subfolders / sizeof *subfolders,
    NAMES = sizeof names / sizeof *names,
    ELEMENTS = sizeof elements / sizeof *elements
};

static bool is_root, has_proc;

unsigned loader_tree_random(unsigned *seed, unsigned n)
{
    *seed = *seed * 1664525 + 1013904223;
    return (unsigned)(((uint64_t)*seed * n) >> 32);
}

static bool chance(unsigned *seed, unsigned percent)
{
    return loader_tree_random(seed, 100) < percent;
}

static char *text(const char *fmt, ...)
{
    va_list args;
    char *s;

    va_start(args, fmt);
    if (vasprintf(&s, fmt, args) < 0)
        abort();
    va_end(args);
    return s;
}

/* All folders of a path below base. */
static void make_folders(const char *base, const char *path)
{
    char *all = text("%s%s", base, path);

    for (char *at = all + strlen(base) + 1; (at = strchr(at, '/')) != NULL; at++) {
        *at = 0;
        mkdir(all, 0755);
        *at = '/';
    }
    mkdir(all, 0755);
    free(all);
}

/* Makes root the root of this process. -1: not allowed; 1: with /proc in it, which tells the loader what $ORIGIN of the program is. */
static int enter(const char *root)
{
    char *proc = text("%s/proc", root);
    bool mounted;

    mkdir(proc, 0755);
    if (!is_root && unshare(CLONE_NEWUSER) != 0)
        return -1;
    mounted = unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0
              && mount("/proc", proc, NULL, MS_BIND | MS_REC, NULL) == 0;
    free(proc);
    return chroot(root) != 0 || chdir("/") != 0 ? -1 : mounted;
}

static int copy_file(const char *from, const char *to)
{
    int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0755), bad = in < 0 || out < 0;
    char block[65536];
    ssize_t n;

    while (!bad && (n = read(in, block, sizeof block)) > 0)
        bad = write(out, block, (size_t)n) != n;
    if (in >= 0)
        close(in);
    if (out >= 0)
        close(out);
    return bad ? -1 : 0;
}

static int child_result(pid_t child)
{
    int status = -1;

    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *where)
{
    (void)st;
    (void)kind;
    (void)where;
    return remove(path);
}

char *loader_tree_begin(const char *program)
{
    const char *tmp = getenv("TMPDIR");
    char *base = text("%s/anydnn-loader-XXXXXX", tmp && *tmp ? tmp : "/tmp"), *libc, *to;
    Dl_info info;
    int bad;

    is_root = geteuid() == 0;
    if (!mkdtemp(base) || chmod(base, 0755) != 0)
        abort();
    pid_t child = fork();
    if (child == 0)
        _exit(1 + enter(base));
    int entered = child < 0 ? 0 : child_result(child);
    has_proc = entered == 2;
    if (entered != 1 && entered != 2) {
        nftw(base, remove_one, 16, FTW_DEPTH | FTW_PHYS);
        free(base);
        return NULL;
    }
    void *handle = dlopen(LIBC_SO, RTLD_LAZY), *symbol = handle ? dlsym(handle, "gnu_get_libc_version") : NULL;
    libc = text("%s/libc.so.6", base);
    to = text("%s/ld.so", base);
    bad = !symbol || !dladdr(symbol, &info) || copy_file(info.dli_fname, libc) != 0 || copy_file(LOADER, to) != 0;
    free(libc);
    free(to);
    if (bad || access(program, R_OK) != 0) {
        fprintf(stderr, "cannot copy the C library or read %s\n", program);
        exit(3);
    }
    return base;
}

/* Up to four elements of the pool. */
static char *random_list(unsigned *seed, const char *separators)
{
    char list[1024] = "";
    unsigned n = 1 + loader_tree_random(seed, 4);

    for (unsigned i = 0; i < n; i++) {
        const char separator[2] = { separators[loader_tree_random(seed, (unsigned)strlen(separators))], 0 };

        strcat(list, i ? separator : "");
        strcat(list, elements[loader_tree_random(seed, ELEMENTS)]);
    }
    return strdup(list);
}

char *loader_tree_name(const loader_tree *t, unsigned *seed)
{
    const char *name = names[loader_tree_random(seed, NAMES)], *folder = folders[loader_tree_random(seed, FOLDERS)];

    (void)t;
    switch (loader_tree_random(seed, 20)) {
    case 0:
        return text("%s/%s", folder, name);
    case 1:
        return text("$ORIGIN/%s", name);
    case 2:
        return text("${ORIGIN}/../lib/%s", name);
    case 3:
        return text("./%s", name);
    case 4:
        return text("/link/%s", name);
    default:
        return strdup(name);
    }
}

/* Needs and search paths; the caller frees what the structure points to with free_spec. */
static void random_spec(const loader_tree *t, unsigned *seed, tiny_elf *e, unsigned needs)
{
    memset(e, 0, sizeof *e);
    for (unsigned i = 0; i < needs; i++)
        e->needed[i] = loader_tree_name(t, seed);
    if (chance(seed, 40))
        e->rpath = random_list(seed, ":");
    if (chance(seed, 30))
        e->runpath = random_list(seed, ":");
    if (chance(seed, 4))
        e->flags_1 = 0x800; /* -z nodefaultlib */
}

static void free_spec(tiny_elf *e)
{
    for (int i = 0; i < TINY_NEEDED_MAX; i++)
        free((char *)e->needed[i]);
    free((char *)e->rpath);
    free((char *)e->runpath);
}

static void write_text(const char *path, const char *what)
{
    FILE *f = fopen(path, "w");

    if (f) {
        fputs(what, f);
        fclose(f);
    }
}

/* Something else in the place of a library; answers false where it is to be a library. */
static bool make_odd_file(const loader_tree *t, const char *path, const char *name, unsigned *seed)
{
    char *other = text("%s/%s", folders[loader_tree_random(seed, FOLDERS)], name), *host = text("%s%s", t->root, other);
    tiny_elf e = { .soname = name };
    bool odd = true;

    switch (loader_tree_random(seed, t->bad_files ? 48 : 40)) {
    case 0:
        e.bits = 32;
        odd = tiny_elf_write(path, &e) == 0;
        break;
    case 1:
        e.machine = EM_AARCH64;
        odd = tiny_elf_write(path, &e) == 0;
        break;
    case 2:
        odd = symlink(other, path) == 0;
        break;
    case 3:
        odd = link(host, path) == 0;
        break;
    case 4:
        odd = symlink(name, path) == 0;
        break; /* in a circle */
    case 5:
        odd = symlink("nothing", path) == 0;
        break;
    case 40:
        write_text(path, "<html><body>Not found. This page is long enough to fill an ELF header, and more.</body></html>\n");
        break;
    case 41:
        write_text(path, "short");
        break;
    case 42:
        mkdir(path, 0755);
        break;
    case 43:
        e.type = ET_REL;
        odd = tiny_elf_write(path, &e) == 0;
        break;
    case 44:
        e.type = ET_EXEC;
        odd = tiny_elf_write(path, &e) == 0;
        break;
    case 45:
        e.flags_1 = 0x08000000;
        odd = tiny_elf_write(path, &e) == 0;
        break; /* marked as a program */
    default:
        odd = false;
    }
    free(other);
    free(host);
    return odd;
}

static void make_library(const loader_tree *t, const char *folder, const char *name, unsigned *seed)
{
    char *path = text("%s%s/%s", t->root, folder, name);
    tiny_elf e;
    struct stat st;

    if (lstat(path, &st) == 0) { /* /opt/b/x86_64 is a folder and a subfolder */
        free(path);
        return;
    }
    if (!make_odd_file(t, path, name, seed)) {
        random_spec(t, seed, &e, chance(seed, 60) ? 0 : 1 + loader_tree_random(seed, 2));
        if (!chance(seed, 10))
            e.soname = chance(seed, 90) ? name : names[loader_tree_random(seed, NAMES)];
        if (tiny_elf_write(path, &e) != 0)
            abort();
        if (t->secure && chance(seed, 30))
            chmod(path, 04755);
        free_spec(&e);
    }
    free(path);
}

static void make_libraries(const loader_tree *t, unsigned *seed)
{
    for (unsigned i = 0; i < FOLDERS; i++) {
        make_folders(t->root, folders[i]);
        for (unsigned k = 0; k < NAMES; k++)
            if (chance(seed, 40))
                make_library(t, folders[i], names[k], seed);
        if (!chance(seed, 15))
            continue;
        char *folder = text("%s/%s", folders[i], subfolders[loader_tree_random(seed, SUBFOLDERS)]);
        make_folders(t->root, folder);
        for (unsigned k = 0; k < NAMES; k++)
            if (chance(seed, 40))
                make_library(t, folder, names[k], seed);
        free(folder);
    }
}

static void make_cache(const loader_tree *t, unsigned *seed)
{
    char *etc = text("%s/etc", t->root), *conf = text("%s/ld.so.conf", etc);
    FILE *f;

    mkdir(etc, 0755);
    f = fopen(conf, "w");
    for (unsigned i = 0; f && i < 6; i++)
        fprintf(f, "%s\n", folders[loader_tree_random(seed, FOLDERS)]);
    if (f)
        fclose(f);
    bool no_links = chance(seed, 50);
    pid_t child = fork();
    if (child == 0) {
        int nothing = open("/dev/null", O_WRONLY);

        dup2(nothing, 1);
        dup2(nothing, 2);
        if (!is_root && unshare(CLONE_NEWUSER) != 0)
            _exit(1);
        execl("/sbin/ldconfig", "ldconfig", "-r", t->root, no_links ? "-X" : NULL, (char *)NULL);
        _exit(127);
    }
    if (child > 0)
        child_result(child);
    free(etc);
    free(conf);
}

static void make_surroundings(loader_tree *t, unsigned *seed)
{
    static const char *const cwds[] = { "/", "/app", "/opt/a", "/data/lib" };

    t->library_path = chance(seed, 60) ? random_list(seed, "::;") : chance(seed, 10) ? strdup("") : NULL;
    t->cwd = strdup(cwds[loader_tree_random(seed, 4)]);
    if (chance(seed, 20)) {
        char *a = loader_tree_name(t, seed), *b = loader_tree_name(t, seed);

        t->preload = text(chance(seed, 50) ? "%s:%s" : "%s %s", a, b);
        free(a);
        free(b);
    }
    if (chance(seed, 5)) {
        char *path = text("%s/etc/ld.so.preload", t->root), *a = loader_tree_name(t, seed), *what = text("# note: %s\n%s\n", a, a);

        make_folders(t->root, "/etc");
        write_text(path, what);
        free(path);
        free(what);
        free(a);
    }
}

static void put(const char *base, const char *file, const char *root, const char *path)
{
    char *from = text("%s/%s", base, file), *to = text("%s%s", root, path);

    if (link(from, to) != 0 && copy_file(from, to) != 0)
        abort();
    free(from);
    free(to);
}

void loader_tree_make(loader_tree *t, const char *program, const char *base, int number, unsigned *seed)
{
    struct statvfs fs;
    tiny_elf e;
    char *path;

    memset(t, 0, sizeof *t);
    *seed = (unsigned)number * 2654435761u;
    for (int i = 0; i < 4; i++)
        loader_tree_random(seed, 2);
    t->number = number;
    t->root = text("%s/%d", base, number);
    t->program = "/app/program";
    t->bad_files = chance(seed, 20);
    t->secure = chance(seed, 10) && is_root && has_proc && statvfs(base, &fs) == 0 && !(fs.f_flag & ST_NOSUID);
    mkdir(t->root, 0755);
    make_libraries(t, seed);
    path = text("%s/link", t->root);
    if (symlink(folders[loader_tree_random(seed, FOLDERS)], path) != 0)
        abort();
    free(path);
    put(base, "libc.so.6", t->root, chance(seed, 50) ? "/lib/x86_64-linux-gnu/libc.so.6" : "/lib64/libc.so.6");
    put(base, "libc.so.6", t->root, "/usr/lib/libc.so.6");
    put(base, "ld.so", t->root, LOADER);
    random_spec(t, seed, &e, 1 + loader_tree_random(seed, 3));
    path = text("%s%s", t->root, t->program);
    if (tiny_elf_program(program, path, &e, t->secure ? 04755 : 0755) != 0)
        abort();
    free(path);
    free_spec(&e);
    if (chance(seed, 70))
        make_cache(t, seed);
    make_surroundings(t, seed);
    chmod(t->root, 0755);
}

void loader_tree_remove(loader_tree *t, bool keep)
{
    if (keep)
        printf("  kept in %s\n", t->root);
    else
        nftw(t->root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    free(t->root);
    free(t->library_path);
    free(t->preload);
    free(t->cwd);
}

void loader_tree_end(char *base)
{
    if (!getenv("KEEP"))
        nftw(base, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    free(base);
}

static void run_child(const loader_tree *t, char *const *words, bool trace, int out)
{
    const char *argv[40] = { t->program }, *env[5] = { NULL };
    int n = 0;

    for (int i = 0; i < 38 && words[i]; i++)
        argv[i + 1] = words[i];
    if (t->library_path)
        env[n++] = text("LD_LIBRARY_PATH=%s", t->library_path);
    if (t->preload)
        env[n++] = text("LD_PRELOAD=%s", t->preload);
    if (trace)
        env[n++] = "LD_TRACE_LOADED_OBJECTS=1";
    if (!has_proc)
        env[n++] = "LD_ORIGIN_PATH=/app";
    env[n] = NULL;
    dup2(out, 1);
    dup2(out, 2);
    if (enter(t->root) < 0 || chdir(t->cwd) != 0)
        _exit(125);
    if (t->secure && (setgid(65534) != 0 || setuid(65534) != 0))
        _exit(125);
    execve(t->program, (char *const *)argv, (char *const *)env);
    _exit(126);
}

char *loader_tree_run(const loader_tree *t, char *const *words, bool trace, int *code)
{
    int ends[2];
    size_t size = 0, room = 4096;
    char *out = malloc(room);
    ssize_t n;

    if (pipe(ends) != 0 || !out)
        abort();
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        run_child(t, words, trace, ends[1]);
    }
    close(ends[1]);
    while ((n = read(ends[0], out + size, room - size - 1)) > 0) {
        size += (size_t)n;
        if (room - size < 1024 && (out = realloc(out, room *= 2)) == NULL)
            abort();
    }
    out[size] = 0;
    close(ends[0]);
    *code = child_result(child);
    return out;
}
