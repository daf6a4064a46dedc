/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The loader of a tree: its compiled-in directories, its cache, the subdirectories for processors, and the tokens of path lists. */
#include "search.h"
#include "cli.h"
#include "elf.h"
#include "tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

int ld_strings_take(ld_strings *s, char *text)
{
    if (!text)
        return -1;
    if ((s->count & (s->count + 1)) == 0) { /* grows where the count is one less than a power of two */
        char **more = realloc(s->at, (s->count + 1) * 2 * sizeof *more);

        if (!more) {
            free(text);
            return -1;
        }
        s->at = more;
    }
    s->at[s->count++] = text;
    return 0;
}

int ld_strings_add(ld_strings *s, const char *text)
{
    return ld_strings_take(s, strdup(text));
}

bool ld_strings_have(const ld_strings *s, const char *text)
{
    for (size_t i = 0; i < s->count; i++)
        if (strcmp(s->at[i], text) == 0)
            return true;
    return false;
}

void ld_strings_free(ld_strings *s)
{
    for (size_t i = 0; i < s->count; i++)
        free(s->at[i]);
    free(s->at);
    memset(s, 0, sizeof *s);
}

#if defined(__x86_64__) || defined(__i386__)
typedef struct cpu_words {
    unsigned c1, b7, c7, c81; /* registers of leaves 1, 7 and 80000001h */
    bool avx, avx512;         /* the system saves these registers */
    bool intel;
} cpu_words;

static void read_cpu(cpu_words *w)
{
    unsigned a, b, c, d, low, high;

    memset(w, 0, sizeof *w);
    if (__get_cpuid(0, &a, &b, &c, &d))
        w->intel = b == signature_INTEL_ebx && d == signature_INTEL_edx && c == signature_INTEL_ecx;
    if (__get_cpuid(1, &a, &b, &c, &d))
        w->c1 = c;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) {
        w->b7 = b;
        w->c7 = c;
    }
    if (__get_cpuid(0x80000001, &a, &b, &c, &d))
        w->c81 = c;
    if (w->c1 & 1u << 27) { /* OSXSAVE */
        __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
        w->avx = (low & 6) == 6;
        w->avx512 = (low & 0xe6) == 0xe6;
    }
}

/* Levels: the x86-64 psABI, table "Micro-Architecture Levels". */
void ld_cpu_detect(ld_cpu *cpu)
{
    const unsigned v2 = 1u << 0 | 1u << 9 | 1u << 13 | 1u << 19 | 1u << 20 | 1u << 23; /* SSE3 SSSE3 CX16 SSE4.1 SSE4.2 POPCNT */
    const unsigned v3 = 1u << 12 | 1u << 22 | 1u << 28 | 1u << 29;                     /* FMA MOVBE AVX F16C */
    const unsigned v3_leaf7 = 1u << 3 | 1u << 5 | 1u << 8;                             /* BMI1 AVX2 BMI2 */
    const unsigned v4 = 1u << 16 | 1u << 17 | 1u << 28 | 1u << 30 | 1u << 31;          /* AVX512 F DQ CD BW VL */
    const unsigned er = 1u << 27, pf = 1u << 26;
    cpu_words w;

    read_cpu(&w);
    memset(cpu, 0, sizeof *cpu);
    cpu->level = 1;
    cpu->platform = "x86_64";
    if ((w.c1 & v2) == v2 && (w.c81 & 1))
        cpu->level = 2;
    if (cpu->level == 2 && w.avx && (w.c1 & v3) == v3 && (w.b7 & v3_leaf7) == v3_leaf7 && (w.c81 & 1u << 5))
        cpu->level = 3;
    if (cpu->level == 3)
        cpu->platform = w.intel ? "haswell" : "x86_64";
    if (cpu->level == 3 && w.avx512 && (w.b7 & v4) == v4) {
        cpu->level = 4;
        cpu->avx512_1 = w.intel && !(w.b7 & er);
    }
    if (w.intel && w.avx512 && (w.b7 & 1u << 28) && (w.b7 & er) && (w.b7 & pf))
        cpu->platform = "xeon_phi";
}
#else
void ld_cpu_detect(ld_cpu *cpu)
{
    memset(cpu, 0, sizeof *cpu);
#ifdef __aarch64__
    cpu->platform = "aarch64";
#else
    cpu->platform = "";
#endif
}
#endif

static bool is_system_dir(const char *s, size_t length)
{
    return length > 4 && length < 200 && s[0] == '/' && s[length - 1] == '/' && strstr(s, "lib") && strspn(s, "/abcdefghijklmnopqrstuvwxyz"
        "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.+-") == length;
}

/* The compiled-in list is a run of strings, each with a slash at both ends: the longest such run in the loader is taken. */
static void find_system_dirs(ld_machine *m, const char *data, size_t size)
{
    size_t best = 0, best_count = 0;

    for (size_t at = 0; at + 6 < size; at++) {
        size_t count = 0, end = at;

        if (data[at] != '/' || (at > 0 && data[at - 1] != 0))
            continue;
        while (end < size) {
            const char *zero = memchr(data + end, 0, size - end);

            if (!zero || !is_system_dir(data + end, (size_t)(zero - (data + end))))
                break;
            count++;
            end = (size_t)(zero - data) + 1;
        }
        if (count > best_count) {
            best = at;
            best_count = count;
        }
        at = end > at ? end - 1 : at;
    }
    for (size_t i = 0; i < best_count; i++, best += strlen(data + best) + 1) {
        char *dir = strdup(data + best);

        if (dir)
            dir[strlen(dir) - 1] = 0;
        ld_strings_take(&m->system_dirs, dir);
    }
}

/* Directories of a loader that is not there to be read: those of Debian where the tree has them, else those of the others. */
static void guess_system_dirs(ld_machine *m, const char *root, unsigned elf_class, unsigned machine)
{
    const char *triplet = machine == ELF_MACHINE_AARCH64 ? "aarch64-linux-gnu" : elf_class == 1 ? "i386-linux-gnu" : "x86_64-linux-gnu";
    char *multiarch = cli_format("/usr/lib/%s", triplet);

    if (multiarch && tree_look(root, multiarch, true).kind == TREE_DIR) {
        ld_strings_add(&m->system_dirs, multiarch + 4);
        ld_strings_add(&m->system_dirs, multiarch);
    } else if (elf_class == 2) {
        ld_strings_add(&m->system_dirs, "/lib64");
        ld_strings_add(&m->system_dirs, "/usr/lib64");
        free(multiarch);
        return;
    }
    free(multiarch);
    ld_strings_add(&m->system_dirs, "/lib");
    ld_strings_add(&m->system_dirs, "/usr/lib");
}

static void read_interpreter(ld_machine *m, const char *root)
{
    static const char release[] = "release version 2.";
    char *host = tree_host(root, m->interpreter), error[200];
    cli_map map;

    if (host && cli_map_open(&map, host, error, sizeof error) == 0) {
        const char *data = (const char *)map.data, *at = cli_find_bytes(data, map.size, release, sizeof release - 1);

        m->musl = strstr(m->interpreter, "ld-musl") != NULL;
        if (at && at + sizeof release + 1 < data + map.size)
            for (at += sizeof release - 1; at < data + map.size && *at >= '0' && *at <= '9' && m->glibc < 1000; at++)
                m->glibc = m->glibc * 10 + (*at - '0');
        if (!m->musl)
            find_system_dirs(m, data, map.size);
        cli_map_close(&map);
    }
    free(host);
}

static void read_cache(ld_machine *m, const char *root)
{
    char error[300], *host;

    m->cache_path = strdup("/etc/ld.so.cache");
    host = m->cache_path ? tree_host(root, m->cache_path) : NULL;
    if (!host)
        m->cache_fault = cli_format("%s is not there: `ldconfig%s%s` writes it", "/etc/ld.so.cache", *root ? " -r " : "", root);
    else if (cli_map_open(&m->cache_file, host, error, sizeof error) != 0)
        m->cache_fault = strdup(error);
    else if (ldcache_parse(&m->cache, m->cache_file.data, m->cache_file.size) != 0)
        m->cache_fault = cli_format("/etc/ld.so.cache %s", m->cache.fault);
    free(host);
}

/* The old subdirectories are all combinations of these words, from all of them to none, the first word being the highest bit. */
static void add_legacy_subdirs(ld_machine *m, const ld_cpu *cpu)
{
    const char *words[4] = { "tls", cpu->platform, "x86_64", NULL };
    unsigned count = 3;

    if (cpu->avx512_1) {
        words[2] = "avx512_1";
        words[3] = "x86_64";
        count = 4;
    }
    for (unsigned mask = (1u << count) - 1; mask > 0; mask--) {
        char dir[80] = "";

        for (unsigned i = 0; i < count; i++)
            if (mask >> (count - 1 - i) & 1)
                snprintf(dir + strlen(dir), sizeof dir - strlen(dir), "%s/", words[i]);
        if (!ld_strings_have(&m->subdirs, dir))
            ld_strings_add(&m->subdirs, dir);
    }
}

static void set_subdirs(ld_machine *m, const ld_cpu *cpu, unsigned elf_machine)
{
    bool x86_64 = elf_machine == ELF_MACHINE_X86_64;

    for (int level = cpu->level; x86_64 && level >= 2 && (m->glibc == 0 || m->glibc >= 33); level--) {
        char dir[40];

        snprintf(dir, sizeof dir, "glibc-hwcaps/x86-64-v%d/", level);
        ld_strings_add(&m->subdirs, dir);
    }
    if (x86_64 && m->glibc != 0 && m->glibc < 37) {
        add_legacy_subdirs(m, cpu);
        m->cache_cpu.legacy = UINT64_C(1) << 63 | 1 << 1 | (cpu->avx512_1 ? 1 << 2 : 0); /* tls, x86_64, avx512_1 */
        if (cpu->platform[0] == 'h')
            m->cache_cpu.legacy |= UINT64_C(1) << 50;
        if (cpu->platform[0] == 'x' && cpu->platform[1] == 'e')
            m->cache_cpu.legacy |= UINT64_C(1) << 51;
    }
    m->cache_cpu.level = cpu->level;
    ld_strings_add(&m->subdirs, "");
}

void ld_machine_read(ld_machine *m, const ld_settings *set, const char *interpreter, unsigned elf_class, unsigned elf_machine)
{
    static const char *const usual[] = { "/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1", "/lib/ld-linux.so.2" };

    if (interpreter)
        m->interpreter = strdup(interpreter);
    else
        m->interpreter = strdup(usual[elf_machine == ELF_MACHINE_AARCH64 ? 1 : elf_class == 1 ? 2 : 0]);
    if (m->interpreter)
        read_interpreter(m, set->root);
    if (m->system_dirs.count == 0)
        guess_system_dirs(m, set->root, elf_class, elf_machine);
    /* $LIB is the first of these directories without its slash, below /usr or not. */
    m->lib = m->system_dirs.count ? m->system_dirs.at[0] + 1 : "lib";
    if (strncmp(m->lib, "usr/", 4) == 0)
        m->lib += 4;
    read_cache(m, set->root);
    set_subdirs(m, set->cpu, elf_machine);
}

void ld_machine_free(ld_machine *m)
{
    free(m->interpreter);
    ld_strings_free(&m->system_dirs);
    ld_strings_free(&m->subdirs);
    free(m->cache_path);
    free(m->cache_fault);
    if (m->cache_file.data)
        cli_map_close(&m->cache_file);
}

/* Length of a token behind a dollar sign, 0 where it is another word. */
static size_t token(const char *text, const char *name)
{
    bool braces = *text == '{';
    size_t length = strlen(name);

    text += braces;
    if (strncmp(text, name, length) != 0)
        return 0;
    char next = text[length];
    if (braces)
        return next == '}' ? length + 2 : 0;
    return (next >= '0' && next <= '9') || (next >= 'A' && next <= 'Z') || (next >= 'a' && next <= 'z') || next == '_' ? 0 : length;
}

/* In secure mode the program's own $ORIGIN must lead below a system directory. */
static bool is_trusted(const ld_process *p, const char *path)
{
    char *clean = strdup(path), *to = clean;

    if (!clean)
        return false;
    for (const char *from = path; *from;) {
        size_t n = strcspn(from + 1, "/") + 1;

        if (*from != '/')
            break;
        if (n == 3 && from[1] == '.' && from[2] == '.') {
            while (to > clean && *--to != '/')
                ;
        } else if (!(n == 1 || (n == 2 && from[1] == '.'))) {
            memcpy(to, from, n);
            to += n;
        }
        from += n;
    }
    *to++ = 0;
    bool trusted = false;
    for (size_t i = 0; i < p->machine.system_dirs.count && !trusted; i++) {
        const char *dir = p->machine.system_dirs.at[i];
        size_t n = strlen(dir);

        trusted = strncmp(clean, dir, n) == 0 && (clean[n] == '/' || clean[n] == 0);
    }
    free(clean);
    return trusted;
}

char *ld_expand(const ld_process *p, const ld_object *of, const char *text, const char **why)
{
    char *out = strdup(""), *more;
    bool check = false;

    *why = NULL;
    for (const char *at = text; *at && out;) {
        size_t plain = strcspn(at, "$"), n;
        const char *value = "$";

        if (at[plain] == 0) {
            value = "";
            n = 0;
        } else if ((n = token(at + plain + 1, "ORIGIN")) != 0) {
            char next = at[plain + 1 + n];

            value = of ? of->origin : NULL;
            if (p->set.secure && (at + plain != text || (next && next != '/')))
                value = NULL;
            check = p->set.secure && of && of->is_program;
        } else if ((n = token(at + plain + 1, "PLATFORM")) != 0) {
            value = p->set.cpu->platform;
        } else if ((n = token(at + plain + 1, "LIB")) != 0) {
            value = p->machine.lib;
        }
        if (!value) {
            *why = "$ORIGIN is not allowed here in secure mode";
            free(out);
            return NULL;
        }
        more = cli_format("%s%.*s%s", out, (int)plain, at, value);
        free(out);
        out = more;
        at += plain + (at[plain] ? 1 + n : 0);
    }
    if (out && check && !is_trusted(p, out)) {
        *why = "in secure mode $ORIGIN must lead to a system directory";
        free(out);
        return NULL;
    }
    return out;
}

void ld_split(const ld_process *p, const ld_object *of, const char *list, const char *separators, ld_strings *dirs)
{
    for (const char *at = list;; at++) {
        size_t n = strcspn(at, separators);
        char *element = cli_format("%.*s", (int)n, at), *dir = NULL;
        const char *why;

        if (element)
            dir = *element ? ld_expand(p, of, element, &why) : strdup("");
        if (dir && (*dir || n == 0)) {
            for (size_t end = strlen(dir); end > 1 && dir[end - 1] == '/'; end--)
                dir[end - 1] = 0;
            if (!ld_strings_have(dirs, dir)) {
                ld_strings_take(dirs, dir);
                dir = NULL;
            }
        }
        free(dir);
        free(element);
        at += n;
        if (!*at)
            break;
    }
}

char *ld_absolute(const ld_process *p, const char *path)
{
    return *path == '/' ? strdup(path) : tree_join(p->set.cwd && *p->set.cwd ? p->set.cwd : "/", path);
}
