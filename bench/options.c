/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#include "options.h"

#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const bench_short_lists[] = {
    "conv", "pool", "act", "softmax", "bn", "dropout", "tensor", "reduce", "lrn", "spatial", "rnn", "fused", "attn", "ctc", NULL
};

static const char shared_help[] =
    "lines:\n"
    "  'LINE'             a problem line, words for dnbench after a bar: 'pool fwd x=n2c4h9w9:f32 win=3 | beta=1'\n"
    "  FILE...            files of lines, or logs with our plan lines (ANYDNN_LOG=plan); -l NAME a list by name\n"
    "                     (bench/lists/NAME.txt), -l all the short ones\n"
    "  --lists DIR        where lists are looked for first\n"
    "what runs them:\n"
    "  --engine NAME      rows of cuda, cpu or ref; without it the first engine that works here\n"
    "  --lib PATH         a library with cuDNN's interface instead, ours or another\n"
    "  --filter A,-B      rows whose names have A and not B\n"
    "output:\n"
    "  --quiet            findings and the summary alone\n"
    "  --csv FILE, --junit FILE   the same results for machines (- is standard output)\n"
    "exit codes: 0 good, 1 findings, 2 usage, 3 could not read\n";

static const char *lists_dir;

static bool readable(char *path, size_t size, const char *dir, const char *name)
{
    snprintf(path, size, "%s/%s.txt", dir, name);
    return access(path, R_OK) == 0;
}

const char *bench_list_path(const char *name)
{
    static char path[4600];
    char dir[4096];
    if (lists_dir && readable(path, sizeof path, lists_dir, name))
        return path;
    ssize_t n = readlink("/proc/self/exe", dir, sizeof dir - 64);
    dir[n > 0 ? n : 0] = 0;
    char *slash = strrchr(dir, '/');
    static const char *const places[] = { "/../share/anydnn/lists", "/../../share/anydnn/lists" };
    for (int i = 0; slash && i < 2; i++) {
        snprintf(slash, 64, "%s", places[i]);
        if (readable(path, sizeof path, dir, name))
            return path;
    }
    return NULL;
}

bool bench_filter_passes(const char *filter, const char *name)
{
    bool wanted = false, any = false;
    while (filter && *filter) {
        size_t len = strcspn(filter, ",");
        char part[128];
        bool minus = *filter == '-';
        snprintf(part, sizeof part, "%.*s", (int)(len - minus), filter + minus);
        bool found = strstr(name, part) != NULL;
        if (minus && found)
            return false;
        any = any || !minus;
        wanted = wanted || (!minus && found);
        filter += len + (filter[len] == ',');
    }
    return wanted || !any;
}

static int add_list(bench_options *o, const char *name)
{
    if (o->list_count == (int)(sizeof o->lists / sizeof *o->lists)) {
        fprintf(stderr, "dnbench: too many lists\n");
        return BENCH_USAGE;
    }
    o->lists[o->list_count++] = name;
    return BENCH_GOOD;
}

/* Options with a value. */
static const char **value_of(bench_options *o, const char *arg)
{
    const struct { const char *name; const char **at; } table[] = {
        { "--engine", &o->engine }, { "--filter", &o->filter }, { "--csv", &o->csv }, { "--junit", &o->junit },
        { "--vs", &o->vs }, { "--golden", &o->golden }, { "--out", &o->out }, { "--lists", &lists_dir },
        { "--differences", &o->differences }, { "--tune", &o->tune }, { "--batch", &o->batch }, { "--dtype", &o->dtype },
        { "--layout", &o->layout },
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(arg, table[i].name) == 0)
            return table[i].at;
    return NULL;
}

static bool *flag_of(bench_options *o, const char *arg)
{
    if (strcmp(arg, "--all") == 0)
        return &o->all;
    if (strcmp(arg, "--coverage") == 0)
        return &o->coverage;
    if (strcmp(arg, "--graph") == 0)
        return &o->graph;
    if (strcmp(arg, "--direct") == 0)
        return &o->direct;
    if (strcmp(arg, "--forward") == 0)
        return &o->forward;
    return strcmp(arg, "--quiet") == 0 ? &o->quiet : NULL;
}

static int usage_error(const char *what, const char *arg)
{
    fprintf(stderr, "dnbench: %s: %s\n", arg, what);
    return BENCH_USAGE;
}

static int read_one(bench_options *o, int argc, char **argv, int *i)
{
    const char *arg = argv[*i];
    const char **value = value_of(o, arg);
    bool *flag = flag_of(o, arg);
    bool wants_value = value || !strcmp(arg, "--repeat") || !strcmp(arg, "--seconds") || !strcmp(arg, "-l");
    if (flag) {
        *flag = true;
        return BENCH_GOOD;
    }
    if (wants_value) {
        if (++*i == argc)
            return usage_error("wants a value", arg);
        if (value)
            *value = argv[*i];
        else if (strcmp(arg, "--repeat") == 0)
            o->repeat = atoi(argv[*i]);
        else if (strcmp(arg, "--seconds") == 0)
            o->seconds = atof(argv[*i]);
        else
            return add_list(o, argv[*i]);
        return BENCH_GOOD;
    }
    if (*arg == '-')
        return usage_error("no such option", arg);
    if (strchr(arg, '=') && strchr(arg, ' '))
        return bench_list_add(&o->list, arg, "command line") ? BENCH_GOOD : BENCH_USAGE;
    return add_list(o, arg);
}

static int read_lists(bench_options *o)
{
    for (int i = 0; i < o->list_count; i++) {
        const char *name = o->lists[i];
        if (strcmp(name, "all") == 0) {
            for (int k = 0; bench_short_lists[k]; k++) {
                const char *path = bench_list_path(bench_short_lists[k]);
                if (!path || !bench_list_read(&o->list, path)) {
                    fprintf(stderr, "dnbench: list %s cannot be read\n", bench_short_lists[k]);
                    return BENCH_CANNOT_READ;
                }
            }
            continue;
        }
        const char *path = access(name, R_OK) == 0 ? name : bench_list_path(name);
        if (!path) {
            fprintf(stderr, "dnbench: no file and no list %s\n", name);
            return BENCH_CANNOT_READ;
        }
        if (!bench_list_read(&o->list, path))
            return BENCH_CANNOT_READ;
    }
    return BENCH_GOOD;
}

int bench_options_read(bench_options *o, int argc, char **argv, const char *help, bool need_lines, bool *done)
{
    memset(o, 0, sizeof *o);
    *done = false;
    o->library = bench_library_given();
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            printf("%s%s", help, shared_help);
            *done = true;
            return BENCH_GOOD;
        }
        int code = read_one(o, argc, argv, &i);
        if (code != BENCH_GOOD)
            return code;
    }
    if (need_lines && !o->list.n && !o->list_count) {
        fprintf(stderr, "%s%s", help, shared_help);
        return BENCH_USAGE;
    }
    return read_lists(o);
}

void bench_options_free(bench_options *o)
{
    bench_list_free(&o->list);
}
