/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * One pass over the archive. Files are made below an open folder, folder by folder without following a link, so that no name and no link can lead out;
 * links are made last, when it is known what they lead to. */
#include "unpack.h"
#include "file.h"
#include "members.h"

#include <archive.h>
#include <archive_entry.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { BLOCK = 1 << 18 };

/* Every name of the archive, for names that come twice and for the targets of links. */
typedef struct seen {
    char *name;          /* without "./" and trailing slashes */
    char *folded;        /* in small letters */
    mode_t type;
    char *place;         /* NULL where it was left out */
} seen;

typedef struct work {
    unpack *u;
    struct archive *a;
    seen *all;
    size_t count;
    struct { char *place, *name, *target; } *links;
    size_t link_count;
    uint64_t total;
    bool show;           /* a progress line on stderr */
    time_t shown;
} work;

static int refuse(unpack *u, const char *name, const char *why)
{
    char *clean = cli_clean(name, true);
    snprintf(u->error, sizeof u->error, "%.600s: %s", clean ? clean : "?", why);
    free(clean);
    u->refused = true;
    return -1;
}

static int broken(unpack *u, const char *name, int error)
{
    snprintf(u->error, sizeof u->error, "%.600s: %s", name, strerror(error));
    u->failed = error;
    return -1;
}

const char *unpack_bad_name(const char *name)
{
    size_t length = strlen(name);
    if (length == 0)
        return "a member without a name";
    if (length > UNPACK_NAME)
        return "a name of more than 1024 bytes";
    for (const unsigned char *p = (const unsigned char *)name; *p; p++)
        if (*p < 0x20 || *p >= 0x7f)
            return *p < 0x80 ? "a name with a control character" : "a name with a character outside ASCII, which no archive of cuDNN has";
    if (strchr(name, '\\'))
        return "a name with a backslash";
    if (name[0] == '/' || (isalpha((unsigned char)name[0]) && name[1] == ':'))
        return "an absolute name";
    for (const char *part = name; part; part = strchr(part, '/'), part = part ? part + 1 : NULL) {
        size_t n = strcspn(part, "/");
        if (n == 2 && part[0] == '.' && part[1] == '.')
            return "a name with \"..\" in it";
        if (n > 255)
            return "a part of a name of more than 255 bytes";
    }
    return NULL;
}

/* name without "." parts and double or trailing slashes. */
static void normalise(const char *name, char *out)
{
    char *o = out;
    for (const char *part = name; *part;) {
        size_t n = strcspn(part, "/");
        if (n > 0 && !(n == 1 && part[0] == '.')) {
            if (o > out)
                *o++ = '/';
            memcpy(o, part, n);
            o += n;
        }
        part += n;
        part += strspn(part, "/");
    }
    *o = 0;
}

static bool is_license(const char *base)
{
    char lower[8] = "";
    for (size_t i = 0; i < 7 && base[i]; i++)
        lower[i] = (char)tolower((unsigned char)base[i]);
    return strncmp(lower, "license", 7) == 0 || strncmp(lower, "notice", 6) == 0;
}

bool unpack_place(const char *name, char *out, size_t size, char *top, size_t top_size)
{
    static const struct { const char *folder, *becomes; } folders[] = { { "include", "include" }, { "lib", "lib" }, { "lib64", "lib" },
                                                                         { "bin", "bin" }, { "libexec", "libexec" }, { "share", "share" } };
    const char *part = name, *end = strrchr(name, '.');
    /* Packages of Python mark their folders. */
    if (end && (strcmp(end, ".py") == 0 || strcmp(end, ".pyc") == 0))
        return *top = 0, false;
    for (int depth = 0; depth < 4; depth++) {
        size_t n = strcspn(part, "/");
        for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
            if (strlen(folders[i].folder) == n && strncmp(part, folders[i].folder, n) == 0) {
                size_t before = part > name ? (size_t)(part - name - 1) : 0;
                return snprintf(top, top_size, "%.*s", (int)before, name) < (int)top_size &&
                       snprintf(out, size, "%s%s", folders[i].becomes, part + n) < (int)size;
            }
        if (!part[n])
            break;
        part += n + 1;
    }
    *top = 0;
    return is_license(cli_base_name(name)) && snprintf(out, size, "%s", cli_base_name(name)) < (int)size;
}

static seen *find(const work *w, const char *name)
{
    for (size_t i = 0; i < w->count; i++)
        if (strcmp(w->all[i].name, name) == 0)
            return &w->all[i];
    return NULL;
}

static char *folded(const char *name)
{
    char *out = strdup(name);
    for (char *p = out; p && *p; p++)
        *p = (char)tolower((unsigned char)*p);
    return out;
}

/* A name that was there, or differs in capital letters only, or lies below something that is no folder. NULL, or why. */
static const char *clash(const work *w, const char *name, const char *lower, mode_t type)
{
    for (size_t i = 0; i < w->count; i++) {
        const seen *s = &w->all[i];
        size_t n = strlen(s->folded);
        if (strncmp(s->folded, lower, n) != 0)
            continue;
        if (!lower[n] && strcmp(s->name, name) != 0)
            return "differs from another name in capital letters only";
        if (!lower[n] && !(S_ISDIR(type) && S_ISDIR(s->type)))
            return "the name is used twice";
        if (lower[n] == '/' && !S_ISDIR(s->type))
            return "lies below a name that is no folder";
    }
    return NULL;
}

static seen *remember(work *w, const char *name, mode_t type, const char *place)
{
    seen *more = realloc(w->all, (w->count + 1) * sizeof *more);
    if (!more)
        return NULL;
    w->all = more;
    more[w->count] = (seen){ strdup(name), folded(name), type, place ? strdup(place) : NULL };
    if (!more[w->count].name || !more[w->count].folded || (place && !more[w->count].place))
        return NULL;
    return &more[w->count++];
}

/* Opens the folder of a place below the build's, making what is missing; -1 with errno. Links are not followed. */
static int open_above(int dir, const char *place)
{
    int at = fcntl(dir, F_DUPFD_CLOEXEC, 0);
    for (const char *part = place, *slash; at >= 0 && (slash = strchr(part, '/')) != NULL; part = slash + 1) {
        char name[256];
        snprintf(name, sizeof name, "%.*s", (int)(slash - part), part);
        int below = mkdirat(at, name, 0755) == 0 || errno == EEXIST ? openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
        int saved = errno;
        close(at);
        errno = saved;
        at = below;
    }
    return at;
}

/* A line that people see when it takes longer than a second. */
static void show(work *w)
{
    time_t now = w->show ? time(NULL) : 0;
    if (now <= w->shown)
        return;
    w->shown = now;
    int64_t done = archive_filter_bytes(w->a, -1);
    int percent = w->u->archive_size ? (int)(done * 100 / (int64_t)w->u->archive_size) : 0;
    fprintf(stderr, "\runpacking: %3d %% (%llu MiB)\033[K", percent > 100 ? 100 : percent, (unsigned long long)(w->total >> 20));
}

/* Bytes of the open member: to fd (-1: nowhere) and into the digest. */
static int take_bytes(work *w, const char *name, int fd, digest *d, uint64_t *size)
{
    unpack *u = w->u;
    unsigned char *block = malloc(BLOCK);
    la_ssize_t n = -1;
    int retries = 0, code = block ? 0 : broken(u, name, ENOMEM);
    while (code == 0 && (n = archive_read_data(w->a, block, BLOCK)) != 0) {
        if (n < 0 && (n != ARCHIVE_RETRY || ++retries == 100))  /* some damage is answered with "retry" for ever */
            code = refuse(u, name, archive_error_string(w->a) ? archive_error_string(w->a) : "cannot be unpacked");
        if (n <= 0)
            continue;
        w->total += (uint64_t)n;
        *size += (uint64_t)n;
        if (w->total > UNPACK_BYTES)
            code = refuse(u, name, "the archive unpacks to more than 16 GiB");
        else if (w->total > UNPACK_SLACK && w->total / UNPACK_RATIO > u->archive_size)
            code = refuse(u, name, "the archive unpacks to more than 200 times its size");
        digest_add(d, block, (size_t)n);
        for (la_ssize_t at = 0; code == 0 && fd >= 0 && at < n;) {
            ssize_t put = write(fd, block + at, (size_t)(n - at));
            if (put < 0 && errno != EINTR)
                code = broken(u, name, errno);
            at += put > 0 ? put : 0;
        }
        show(w);
    }
    free(block);
    return code;
}

/* The time of the archive's entry, or of the archive where it has none. */
static struct timespec time_of(const unpack *u, struct archive_entry *entry)
{
    struct timespec t = { (time_t)u->archive_mtime, 0 };
    if (entry && archive_entry_mtime_is_set(entry) && archive_entry_mtime(entry) > 0)
        t = (struct timespec){ archive_entry_mtime(entry), 0 };
    return t;
}

static int take_file(work *w, struct archive_entry *entry, const char *name, const char *place)
{
    unpack *u = w->u;
    struct timespec t = time_of(u, entry), times[2] = { t, t };
    manifest_entry *e = manifest_add(u->m, MANIFEST_FILE, place, NULL);
    digest *d = digest_begin();
    int above = u->dir >= 0 ? open_above(u->dir, place) : -1, fd = -1, code = e && d ? 0 : broken(u, name, ENOMEM);
    mode_t mode = archive_entry_perm(entry) & 0111 ? 0755 : 0644;
    if (code == 0 && u->dir >= 0) {
        fd = above >= 0 ? openat(above, cli_base_name(place), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600) : -1;
        if (fd < 0)
            code = broken(u, name, errno);
    }
    if (code == 0)
        code = take_bytes(w, name, fd, d, &e->size);
    if (code == 0 && fd >= 0 && (fchmod(fd, mode) != 0 || futimens(fd, times) != 0 || fsync(fd) != 0))
        code = broken(u, name, errno);
    if (fd >= 0 && close(fd) != 0 && code == 0)
        code = broken(u, name, errno);
    if (above >= 0)
        close(above);
    char sum[DIGEST_TEXT] = "";
    if (d)
        digest_end(d, sum);
    if (e) {
        memcpy(e->sha256, sum, sizeof sum);
        e->mode = mode;
        e->mtime = t.tv_sec;
    }
    return code;
}

/* A hard link to a file that came before becomes a second name of that file. */
static int take_hardlink(work *w, const char *name, const char *target, const char *place)
{
    unpack *u = w->u;
    char clean[UNPACK_NAME + 1];
    if (unpack_bad_name(target))
        return refuse(u, name, "a hard link that leads out of the archive");
    normalise(target, clean);
    const seen *to = find(w, clean);
    if (!to || !S_ISREG(to->type))
        return refuse(u, name, "a hard link to what is no file of the archive before it");
    if (!to->place)
        return refuse(u, name, "a hard link to a file that does not belong to the layout");
    const manifest_entry *old = manifest_find(u->m, to->place);
    manifest_entry copy = old ? *old : (manifest_entry){ 0 };
    manifest_entry *e = old ? manifest_add(u->m, MANIFEST_FILE, place, NULL) : NULL;
    if (!e)
        return broken(u, name, ENOMEM);
    e->mode = copy.mode;
    e->size = copy.size;
    e->mtime = copy.mtime;
    memcpy(e->sha256, copy.sha256, sizeof e->sha256);
    if (u->dir < 0)
        return 0;
    int from = open_above(u->dir, to->place), at = open_above(u->dir, place);
    int code = from >= 0 && at >= 0 && linkat(from, cli_base_name(to->place), at, cli_base_name(place), 0) == 0 ? 0 : broken(u, name, errno);
    if (from >= 0)
        close(from);
    if (at >= 0)
        close(at);
    return code;
}

static int take_symlink(work *w, const char *name, const char *target, const char *place)
{
    if (!target || !*target || strlen(target) > UNPACK_NAME)
        return refuse(w->u, name, "a link with no target, or with one of more than 1024 bytes");
    for (const unsigned char *p = (const unsigned char *)target; *p; p++)
        if (*p < 0x20 || *p == 0x7f || *p == '\\')
            return refuse(w->u, name, "a link with a control character or a backslash in its target");
    if (!archive_link_is_safe(name, target))
        return refuse(w->u, name, "a link that leads out of the archive");
    if (!place)
        return 0;
    void *more = realloc(w->links, (w->link_count + 1) * sizeof *w->links);
    if (!more)
        return broken(w->u, name, ENOMEM);
    w->links = more;
    w->links[w->link_count].place = strdup(place);
    w->links[w->link_count].name = strdup(name);
    w->links[w->link_count].target = strdup(target);
    return w->links[w->link_count].place && w->links[w->link_count].name && w->links[w->link_count++].target ? 0 : broken(w->u, name, ENOMEM);
}

/* Folder part of from and target, with ".." taken out; it is known to stay inside. */
static void resolve(const char *from, const char *target, char *out, size_t size)
{
    const char *slash = strrchr(from, '/');
    size_t n = slash ? (size_t)(slash - from) : 0;
    snprintf(out, size, "%.*s", (int)n, from);
    for (const char *part = target; *part;) {
        size_t m = strcspn(part, "/"), length = strlen(out);
        if (m == 2 && part[0] == '.' && part[1] == '.') {
            char *last = strrchr(out, '/');
            *(last ? last : out) = 0;
        } else if (m > 0 && !(m == 1 && part[0] == '.') && length + m + 2 < size) {
            snprintf(out + length, size - length, "%s%.*s", length ? "/" : "", (int)m, part);
        }
        part += m;
        part += strspn(part, "/");
    }
}

/* Links at the end: each must lead to a file or a link of the archive; one that leads nowhere in it is left out. */
static int make_links(work *w)
{
    unpack *u = w->u;
    for (size_t i = 0; i < w->link_count; i++) {
        char whole[2 * UNPACK_NAME + 4], top[UNPACK_NAME + 1], text[3 * UNPACK_NAME] = "";
        const char *place = w->links[i].place;
        resolve(w->links[i].name, w->links[i].target, whole, sizeof whole);
        const seen *to = find(w, whole);
        if (to && S_ISDIR(to->type))
            return refuse(u, w->links[i].name, "a link to a folder");
        char at[UNPACK_NAME + 1];
        if (!to || !to->place || !unpack_place(whole, at, sizeof at, top, sizeof top)) {
            u->left_out++;
            continue;
        }
        /* The text is made anew: places differ from names where lib64 became lib. */
        size_t same = 0, k = 0;
        for (; place[k] && place[k] == at[k]; k++)
            if (place[k] == '/')
                same = k + 1;
        for (const char *p = place + same; *p; p++)
            if (*p == '/')
                strcat(text, "../");
        strcat(text, at + same);
        manifest_entry *e = manifest_add(u->m, MANIFEST_LINK, place, text);
        int above = e && u->dir >= 0 ? open_above(u->dir, place) : -1;
        int code = !e ? broken(u, place, ENOMEM) : u->dir >= 0 && (above < 0 || symlinkat(text, above, cli_base_name(place)) != 0)
                 ? broken(u, place, errno) : 0;
        if (above >= 0)
            close(above);
        if (code != 0)
            return -1;
    }
    return 0;
}

/* "nvidia_cudnn_cu12-8.9.7.29" of "nvidia_cudnn_cu12-8.9.7.29.dist-info/METADATA". */
static void note_distribution(unpack *u, const char *name)
{
    const char *end = strstr(name, ".dist-info/");
    if (end && !memchr(name, '/', (size_t)(end - name)) && (size_t)(end - name) < sizeof u->distribution)
        snprintf(u->distribution, sizeof u->distribution, "%.*s", (int)(end - name), name);
}

/* What is left out counts for the limits: to pass it by means to unpack it. */
static int pass_by(work *w, const char *name)
{
    char sum[DIGEST_TEXT];
    uint64_t size = 0;
    digest *d = digest_begin();
    int code = d ? take_bytes(w, name, -1, d, &size) : broken(w->u, name, ENOMEM);
    if (d)
        digest_end(d, sum);
    return code;
}

static const char *bad_kind(struct archive_entry *entry, mode_t type)
{
    if (!S_ISREG(type) && !S_ISDIR(type) && !S_ISLNK(type))
        return "a device, a pipe or a socket";
    if (archive_entry_perm(entry) & 07000 && !S_ISLNK(type))
        return "a member with set-user-ID, set-group-ID or sticky bit";
    if (archive_entry_is_encrypted(entry))
        return "an encrypted member";
    return NULL;
}

static int take_member(work *w, struct archive_entry *entry)
{
    unpack *u = w->u;
    const char *raw = archive_entry_pathname(entry), *hard = archive_entry_hardlink(entry), *why, *name;
    char clean[UNPACK_NAME + 1], place[UNPACK_NAME + 8], top[UNPACK_NAME + 1];
    mode_t type = hard ? S_IFREG : archive_entry_filetype(entry) ? archive_entry_filetype(entry) : S_IFREG;
    if (!raw || (why = unpack_bad_name(raw)) != NULL)
        return refuse(u, raw ? raw : "?", raw ? why : "a name that cannot be read");
    if ((why = bad_kind(entry, type)) != NULL)
        return refuse(u, raw, why);
    normalise(raw, clean);
    name = clean;
    if (!*name)
        return 0; /* "./" */
    char *lower = folded(name);
    why = lower ? clash(w, name, lower, type) : "memory is short";
    free(lower);
    if (why)
        return refuse(u, name, why);
    note_distribution(u, name);
    bool placed = unpack_place(name, place, sizeof place, top, sizeof top) &&
                  (strchr(place, '/') || (is_license(place) && !manifest_find(u->m, place)));
    if (placed && strchr(place, '/') && u->m->count && u->top[0] != 1 && strcmp(u->top, top) != 0)
        return refuse(u, name, "lies in another folder than what came before; a cuDNN archive has one");
    if (placed && strchr(place, '/') && !S_ISDIR(type))
        snprintf(u->top, sizeof u->top, "%s", top);
    placed &= !S_ISDIR(type);
    if (!remember(w, name, type, placed ? place : NULL))
        return broken(u, name, ENOMEM);
    u->left_out += !placed && !S_ISDIR(type);
    if (S_ISLNK(type))
        return take_symlink(w, name, archive_entry_symlink(entry), placed ? place : NULL);
    if (!placed)
        return hard || !S_ISREG(type) ? 0 : pass_by(w, name);
    return hard ? take_hardlink(w, name, hard, place) : take_file(w, entry, name, place);
}

static int take_all(work *w)
{
    unpack *u = w->u;
    struct archive_entry *entry;
    int code = 0, next = ARCHIVE_OK, retries = 0;
    for (size_t count = 0; code == 0 && (next = archive_read_next_header(w->a, &entry)) != ARCHIVE_EOF;) {
        if (next == ARCHIVE_RETRY && ++retries < 100)
            continue;
        if (next < ARCHIVE_WARN || next == ARCHIVE_RETRY)
            return refuse(u, "the archive", archive_error_string(w->a) ? archive_error_string(w->a) : "is damaged");
        if (++count > UNPACK_MEMBERS)
            return refuse(u, "the archive", "has more than 20000 members");
        code = take_member(w, entry);
    }
    if (code == 0 && u->m->count == 0)
        return refuse(u, "the archive", "has no folder include, lib, lib64 or bin of cuDNN");
    return code == 0 ? make_links(w) : code;
}

int unpack_run(unpack *u)
{
    work w = { .u = u, .a = archive_read_new(), .show = isatty(2) && !u->c->quiet && !u->c->json, .shown = time(NULL) };
    int code = -1;
    u->top[0] = 1; /* not known yet */
    if (w.a) {
        archive_read_support_filter_xz(w.a);
        archive_read_support_filter_gzip(w.a);
        archive_read_support_filter_bzip2(w.a);
        archive_read_support_filter_zstd(w.a);
        archive_read_support_format_tar(w.a);
        archive_read_support_format_zip(w.a);
        if (archive_read_open_fd(w.a, u->archive, BLOCK) != ARCHIVE_OK)
            refuse(u, "the archive", archive_error_string(w.a) ? archive_error_string(w.a) : "is none that is read here");
        else
            code = take_all(&w);
        if (w.show && w.shown)
            fprintf(stderr, "\r\033[K");
        archive_read_free(w.a);
    } else {
        broken(u, "the archive", ENOMEM);
    }
    for (size_t i = 0; i < w.count; i++) {
        free(w.all[i].name);
        free(w.all[i].folded);
        free(w.all[i].place);
    }
    for (size_t i = 0; i < w.link_count; i++) {
        free(w.links[i].place);
        free(w.links[i].name);
        free(w.links[i].target);
    }
    free(w.all);
    free(w.links);
    return code;
}
