/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * libanydnn_audit.so, which `anydnn run` names in LD_AUDIT: the loader asks it before every search (rtld-audit(7)). Names of cuDNN's libraries are
 * answered with the path of the same library in the chosen folder, whatever the search path or the folder that was asked for; everything else is
 * left alone. What was loaded goes into a report, as lines of the process's own map.
 *
 * An audit library lives in a namespace of its own, and would get a second C library there: memory, start-up time and, before glibc 2.32, static
 * TLS that the program misses then. So this one has none: system calls, and only what is written here. It must not define la_pltenter, la_pltexit
 * or la_symbind: with them every call between libraries goes through the loader.
 *
 *   ANYDNN_RUN_DIR     folder with the chosen libraries, absolute
 *   ANYDNN_RUN_REPORT  file to append lines to:
 *     A pid                the loader has taken this library in
 *     M pid line           line of /proc/self/maps of a file with "cudnn" in its name, after each change
 *     W pid name           libcudnn of a major version that the folder does not have was asked for, and left alone */
#include <stddef.h>
#include <stdint.h>

struct link_map;

enum { PATH_SIZE = 4096, LINE_SIZE = 4400, READ_SIZE = 16384 };
enum { ORIGINAL_NAME = 1, CONSISTENT = 0 }; /* LA_SER_ORIG, LA_ACT_CONSISTENT of <link.h> */
enum { O_RDONLY_ = 0, O_APPEND_WRITE = 02001, O_CLOEXEC_ = 02000000, AT_CWD = -100, EXISTS = 0 };

static const char *directory, *report;
static size_t directory_length;
static int changed; /* a library of cuDNN came in since the last report */

/* --- system calls --- */

#if defined __x86_64__
enum { CALL_READ = 0, CALL_WRITE = 1, CALL_CLOSE = 3, CALL_GETPID = 39, CALL_OPENAT = 257, CALL_FACCESSAT = 269 };
static long call(long number, long a, long b, long c, long d)
{
    long result;
    register long r10 __asm__("r10") = d;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10) : "rcx", "r11", "memory");
    return result;
}
#elif defined __aarch64__
enum { CALL_FACCESSAT = 48, CALL_OPENAT = 56, CALL_CLOSE = 57, CALL_READ = 63, CALL_WRITE = 64, CALL_GETPID = 172 };
static long call(long number, long a, long b, long c, long d)
{
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
    return x0;
}
#else
#error "the audit library knows the system calls of x86-64 and aarch64"
#endif

/* --- text --- */

static size_t length_of(const char *s)
{
    size_t n = 0;
    while (s[n])
        n++;
    return n;
}

static int starts_with(const char *s, const char *with)
{
    while (*with)
        if (*s++ != *with++)
            return 0;
    return 1;
}

static const char *find(const char *s, const char *what)
{
    for (; *s; s++)
        if (starts_with(s, what))
            return s;
    return NULL;
}

/* Appends to out[PATH_SIZE]; the length after it, PATH_SIZE where it does not fit. */
static size_t append(char *out, size_t at, const char *s, size_t n)
{
    if (at + n + 1 > PATH_SIZE)
        return PATH_SIZE;
    for (size_t i = 0; i < n; i++)
        out[at + i] = s[i];
    out[at + n] = 0;
    return at + n;
}

/* --- report --- */

/* One write for a line, so that lines of several processes do not mix. */
static void write_line(char kind, const char *text, size_t n)
{
    char line[LINE_SIZE], digits[24];
    size_t at = 0, count = 0;
    long file = report ? call(CALL_OPENAT, AT_CWD, (long)report, O_APPEND_WRITE | O_CLOEXEC_, 0) : -1;

    if (file < 0)
        return;
    line[at++] = kind;
    line[at++] = ' ';
    for (long pid = call(CALL_GETPID, 0, 0, 0, 0); pid > 0; pid /= 10)
        digits[count++] = (char)('0' + pid % 10);
    while (count)
        line[at++] = digits[--count];
    line[at++] = ' ';
    for (size_t i = 0; i < n && at < LINE_SIZE - 1; i++)
        line[at++] = text[i];
    line[at++] = '\n';
    call(CALL_WRITE, file, (long)line, (long)at, 0);
    call(CALL_CLOSE, file, 0, 0, 0);
}

/* The first part of each file is enough: "7f75d24ce000-7f75d24dd000 r--p 00000000 fe:00 5341982   /usr/lib/libcudnn.so.8.9.7" */
static void report_line(const char *line, size_t n)
{
    int first = 0;

    for (size_t i = 0; i + 5 <= n; i++) {
        first = first || (i + 10 <= n && starts_with(line + i, " 00000000 "));
        if (first && starts_with(line + i, "cudnn")) {
            write_line('M', line, n);
            return;
        }
    }
}

/* The kernel's own list of what is mapped. */
static void report_map(void)
{
    char buffer[READ_SIZE + 1];
    size_t have = 0;
    long file = call(CALL_OPENAT, AT_CWD, (long)"/proc/self/maps", O_RDONLY_ | O_CLOEXEC_, 0), n;

    if (file < 0)
        return;
    while ((n = call(CALL_READ, file, (long)(buffer + have), (long)(READ_SIZE - have), 0)) > 0) {
        size_t start = 0;
        have += (size_t)n;
        buffer[have] = 0;
        for (size_t i = 0; i < have; i++)
            if (buffer[i] == '\n') {
                report_line(buffer + start, i - start);
                start = i + 1;
            }
        if (start == 0 && have == READ_SIZE)
            start = have; /* no line is that long */
        for (size_t i = start; i < have; i++)
            buffer[i - start] = buffer[i];
        have -= start;
    }
    call(CALL_CLOSE, file, 0, 0, 0);
}

/* --- names --- */

static int is_there(const char *path)
{
    return call(CALL_FACCESSAT, AT_CWD, (long)path, EXISTS, 0) == 0;
}

/* A name of a library of cuDNN: its start up to the part's end, and the number behind ".so." (NULL for the bare name). A wheel's copy under a name
 * with a hash, libcudnn-1a2b3c4d.so.9, counts as libcudnn.so.9. */
static int split(const char *base, size_t *stem, const char **number)
{
    const char *so = starts_with(base, "libcudnn") ? find(base, ".so") : NULL, *dash;

    if (!so || (so[3] && so[3] != '.'))
        return 0;
    dash = find(base, "-");
    *stem = (size_t)((dash && dash < so ? dash : so) - base);
    *number = so[3] && so[4] >= '0' && so[4] <= '9' ? so + 4 : NULL;
    return *stem == 8 || base[8] == '_';
}

static int try_name(char *path, const char *base, size_t stem, const char *end, size_t end_length)
{
    size_t at = append(path, 0, directory, directory_length);

    at = append(path, at, "/", 1);
    at = at < PATH_SIZE ? append(path, at, base, stem) : at;
    at = at < PATH_SIZE ? append(path, at, end, end_length) : at;
    return at < PATH_SIZE && is_there(path);
}

/* The chosen library for a name, in path; 0 where there is none. */
static int choose(char *path, const char *base)
{
    static const char *const majors[] = { ".so.9", ".so.8" };
    const char *number, *end = base;
    size_t stem, length = length_of(base), digits = 0;

    if (!split(base, &stem, &number))
        return 0;
    end = find(base, ".so");
    if (try_name(path, base, stem, end, length - (size_t)(end - base)))
        return 1;
    while (number && number[digits] && number[digits] != '.')
        digits++;
    if (number)
        return try_name(path, base, stem, end, (size_t)(number - end) + digits);
    for (size_t i = 0; i < sizeof majors / sizeof *majors; i++)
        if (try_name(path, base, stem, majors[i], length_of(majors[i])))
            return 1;
    return 0;
}

/* --- what the loader calls --- */

unsigned la_version(unsigned version);
unsigned la_objopen(struct link_map *map, long space, uintptr_t *cookie);
void la_activity(uintptr_t *cookie, unsigned flag);
char *la_objsearch(const char *name, uintptr_t *cookie, unsigned flag);

/* The loader passes what main gets. */
__attribute__((constructor)) static void take_environment(int argc, char **argv, char **env)
{
    (void)argc;
    (void)argv;
    for (; env && *env; env++) {
        if (starts_with(*env, "ANYDNN_RUN_DIR="))
            directory = *env + 15;
        if (starts_with(*env, "ANYDNN_RUN_REPORT="))
            report = *env + 18;
    }
    directory_length = directory ? length_of(directory) : 0;
}

__attribute__((visibility("default"))) unsigned la_version(unsigned version)
{
    write_line('A', "", 0);
    return version; /* what is used here is the same in every version, and glibc 2.35 for aarch64 takes none but its own */
}

static const char *base_of(const char *name)
{
    const char *base = name;

    for (const char *c = name; *c; c++)
        if (*c == '/')
            base = c + 1;
    return base;
}

__attribute__((visibility("default"))) char *la_objsearch(const char *name, uintptr_t *cookie, unsigned flag)
{
    static char path[PATH_SIZE]; /* the loader holds its lock, and copies */
    const char *base = base_of(name), *number;
    size_t stem;

    (void)cookie;
    if (flag != ORIGINAL_NAME || !directory || !starts_with(base, "libcudnn"))
        return (char *)(uintptr_t)name;
    if (choose(path, base))
        return path;
    if (split(base, &stem, &number) && stem == 8)
        write_line('W', base, length_of(base));
    return (char *)(uintptr_t)name;
}

struct link_map { /* its public start, <link.h> */
    uintptr_t address;
    char *name;
};

__attribute__((visibility("default"))) unsigned la_objopen(struct link_map *map, long space, uintptr_t *cookie)
{
    (void)space;
    (void)cookie;
    if (map->name && starts_with(base_of(map->name), "libcudnn"))
        changed = 1;
    return 0; /* no news of this object's symbols is wanted */
}

__attribute__((visibility("default"))) void la_activity(uintptr_t *cookie, unsigned flag)
{
    (void)cookie;
    if (flag == CONSISTENT && changed) {
        changed = 0;
        report_map();
    }
}
