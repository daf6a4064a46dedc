/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#include "fs.h"
#include "cli.h"
#include "tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/syscall.h>
#endif

void fs_free(char *a, char *b, char *c, char *d)
{
    int saved = errno;
    free(a);
    free(b);
    free(c);
    free(d);
    errno = saved;
}

char *fs_link_text(const char *path)
{
    char text[4096];
    ssize_t n = readlink(path, text, sizeof text - 1);
    if (n < 0)
        return NULL;
    text[n] = 0;
    return strdup(text);
}

bool fs_exists(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0;
}

bool fs_is_dir(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* A name beside path that nothing else uses; leftovers of this form are removed by the store. */
static char *beside(const char *path)
{
    const char *slash = strrchr(path, '/');
    return cli_format("%.*s/.anydnn-new-%ld", (int)(slash ? slash - path : 0), path, (long)getpid());
}

/* Renames the fresh name over path, or removes it; keeps errno. */
static int put_in_place(int made, char *fresh, const char *path)
{
    int code = made == 0 && rename(fresh, path) == 0 ? 0 : -1, saved = errno;
    if (code != 0)
        unlink(fresh);
    free(fresh);
    errno = saved;
    return code;
}

int fs_put_link(const char *path, const char *target)
{
    if (symlink(target, path) == 0)
        return 0;
    if (errno != EEXIST)
        return -1;
    char *fresh = beside(path);
    if (!fresh)
        return errno = ENOMEM, -1;
    unlink(fresh);
    return put_in_place(symlink(target, fresh), fresh, path);
}

static int write_all(int fd, const char *text, size_t size)
{
    while (size > 0) {
        ssize_t n = write(fd, text, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return -1;
        text += n;
        size -= (size_t)n;
    }
    return 0;
}

int fs_put_text(const char *path, const char *text, size_t size, unsigned mode)
{
    char *fresh = beside(path);
    if (!fresh)
        return errno = ENOMEM, -1;
    unlink(fresh);
    int fd = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
    int code = fd < 0 || write_all(fd, text, size) != 0 || fchmod(fd, mode) != 0 || fsync(fd) != 0 ? -1 : 0, saved = errno;
    if (fd >= 0 && close(fd) != 0 && code == 0)
        code = -1, saved = errno;
    errno = saved;
    return put_in_place(code, fresh, path);
}

static int remove_inside(int fd)
{
    DIR *dir = fdopendir(fd);
    struct dirent *d;
    int code = 0;
    if (!dir) {
        close(fd);
        return -1;
    }
    while (code == 0 && (d = readdir(dir)) != NULL)
        if (strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0)
            code = fs_remove_at(fd, d->d_name);
    int saved = errno;
    closedir(dir);
    errno = saved;
    return code;
}

int fs_remove_at(int dir, const char *name)
{
    if (unlinkat(dir, name, 0) == 0 || errno == ENOENT)
        return 0;
    if (errno != EISDIR && errno != EPERM)
        return -1;
    int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 || remove_inside(fd) != 0)
        return -1;
    return unlinkat(dir, name, AT_REMOVEDIR);
}

int fs_remove(const char *path)
{
    return fs_remove_at(AT_FDCWD, path);
}

static int copy_bytes(int from, int to)
{
    enum { BLOCK = 1 << 17 };
    char *block = malloc(BLOCK);
    ssize_t n = -1;
    while (block && (n = read(from, block, BLOCK)) != 0)
        if (n < 0 ? errno != EINTR : write_all(to, block, (size_t)n) != 0)
            break;
    int saved = errno;
    free(block);
    errno = block ? saved : ENOMEM;
    return n == 0 ? 0 : -1;
}

int fs_copy_file(const char *from, const char *to)
{
    struct stat st;
    int in = open(from, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK), saved;
    if (in < 0)
        return -1;
    int out = fstat(in, &st) == 0 && S_ISREG(st.st_mode) ? open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;
    struct timespec times[2] = { st.st_atim, st.st_mtim };
    int code = out >= 0 && copy_bytes(in, out) == 0 && fchmod(out, st.st_mode & 07777) == 0 && futimens(out, times) == 0 && fsync(out) == 0 ? 0 : -1;
    /* Only root may give a file away; anybody else's copy is his own. */
    if (code == 0 && fchown(out, st.st_uid, st.st_gid) != 0 && geteuid() == 0)
        code = -1;
    saved = errno;
    close(in);
    if (out >= 0)
        close(out);
    if (out >= 0 && code != 0)
        unlink(to);
    errno = saved;
    return code;
}

int fs_keep(const char *from, const char *to)
{
    return link(from, to) == 0 ? 0 : fs_copy_file(from, to);
}

int fs_move(const char *from, const char *to)
{
    if (rename(from, to) == 0)
        return 0;
    if (errno != EXDEV)
        return -1;
    char *fresh = beside(to);
    if (!fresh)
        return errno = ENOMEM, -1;
    unlink(fresh);
    if (put_in_place(fs_copy_file(from, fresh), fresh, to) != 0)
        return -1;
    return unlink(from);
}

int fs_make_above(const char *top, const char *path)
{
    char *whole = tree_join(top, path);
    int code = whole ? 0 : -1;
    for (char *slash = whole ? whole + strlen(top) : NULL; code == 0 && slash && (slash = strchr(slash + 1, '/')) != NULL;) {
        *slash = 0;
        code = mkdir(whole, 0755) == 0 || errno == EEXIST ? 0 : -1;
        *slash = '/';
    }
    fs_free(whole, NULL, NULL, NULL);
    return code;
}

int fs_exchange(const char *a, const char *b)
{
#if defined __linux__ && defined SYS_renameat2
    enum { EXCHANGE = 2 }; /* RENAME_EXCHANGE of linux/fs.h */
    return (int)syscall(SYS_renameat2, AT_FDCWD, a, AT_FDCWD, b, EXCHANGE);
#else
    (void)a;
    (void)b;
    return errno = ENOSYS, -1;
#endif
}

char *fs_relative(const char *from, const char *path)
{
    size_t same = 0;
    for (size_t i = 0;; i++) {
        bool end_from = from[i] == '/' || !from[i], end_path = path[i] == '/' || !path[i];
        if (end_from && end_path)
            same = i;
        if (from[i] != path[i] || !from[i])
            break;
    }
    size_t up = 0;
    for (const char *p = from + same; *p; p++)
        up += *p == '/' && p[1] && p[1] != '/';
    const char *rest = path + same + (path[same] == '/');
    char *out = malloc(up * 3 + strlen(rest) + 2), *o = out;
    if (!out)
        return NULL;
    for (size_t i = 0; i < up; i++, o += 3)
        memcpy(o, "../", 3);
    strcpy(o, rest);
    if (!*out)
        strcpy(out, ".");
    return out;
}

int fs_may_write(const char *dir, char *at, size_t size)
{
    char *path = strdup(dir);
    int code = path ? 0 : ENOMEM;
    struct stat st;
    while (path && lstat(path, &st) != 0 && errno == ENOENT) {
        char *slash = strrchr(path, '/');
        if (!slash || slash == path) {
            strcpy(path, "/");
            break;
        }
        *slash = 0;
    }
    if (path && stat(path, &st) == 0 && !S_ISDIR(st.st_mode))
        code = ENOTDIR;
    else if (path && faccessat(AT_FDCWD, path, W_OK | X_OK, AT_EACCESS) != 0)
        code = errno;
    snprintf(at, size, "%s", path ? path : dir);
    free(path);
    return code;
}

char *fs_real_as_far(const char *root, const char *path)
{
    char *head = strdup(path), *real = NULL, *out = NULL;
    size_t end = head ? strlen(head) : 0;
    while (head && !(real = tree_real(root, head))) {
        /* A link is there and leads nowhere: what would be made behind it lies somewhere else. */
        if (tree_look(root, head, false).kind != TREE_NONE)
            break;
        while (end > 0 && head[--end] != '/')
            ;
        head[end] = 0;
        if (end == 0) {
            real = strdup("/");
            break;
        }
    }
    if (real)
        out = path[end] ? tree_join(real, path + end) : strdup(real);
    free(real);
    free(head);
    return out;
}
