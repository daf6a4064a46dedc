/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * dnbench: is it right, and how fast, for this problem line, on this engine or library? */
#include "bench.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct mode {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *help;
} modes[] = {
    { "list", bench_list, "the rows for a problem, each with the sentence why it does not take it" },
    { "plan", bench_plan, "the row that a call would run, and its workspace" },
    { "check", bench_check, "run every row that takes a problem and compare with the truth" },
    { "bitwise", bench_bitwise, "20 runs of every row that calls itself deterministic: equal bits?" },
    { "time", bench_time, "how fast, and against what (--vs)" },
    { "find", bench_find, "time every row for problems and keep the winners in the tuning file" },
    { "golden", bench_golden, "write what a library answers as small files, to check against later" },
    { "support", bench_support, "docs/support.md from the tables" },
    { "api", bench_api, "list exported functions: real, not real, missing, extra" },
    { "overhead", bench_overhead, "time loading, cudnnCreate, and one call around the least work" },
};

#define MODE_COUNT (sizeof modes / sizeof *modes)

static char library[4096];
static int library_given;

const char *bench_library_given(void)
{
    return library_given ? library : NULL;
}

const char *bench_library(void)
{
    if (*library)
        return library;
    ssize_t n = readlink("/proc/self/exe", library, sizeof library - 64);
    library[n > 0 ? n : 0] = 0;
    char *slash = strrchr(library, '/');
    snprintf(slash ? slash : library, 64, "%s", slash ? "/../lib/libcudnn.so.8" : "libcudnn.so.8");
    return library;
}

int bench_take_library(int *argc, char **argv)
{
    int kept = 1;
    for (int i = 1; i < *argc; i++) {
        if (strcmp(argv[i], "--lib") != 0) {
            argv[kept++] = argv[i];
            continue;
        }
        if (++i == *argc || strlen(argv[i]) >= sizeof library) {
            fprintf(stderr, "dnbench: --lib wants the path of a library\n");
            return 0;
        }
        strcpy(library, argv[i]);
        library_given = 1;
    }
    *argc = kept;
    return 1;
}

static int usage(FILE *out, int code)
{
    fprintf(out, "usage: dnbench MODE [--lib PATH] [options]\n\nmodes:\n");
    for (size_t i = 0; i < MODE_COUNT; i++)
        fprintf(out, "  %-10s %s\n", modes[i].name, modes[i].help);
    fprintf(out, "\n  dnbench MODE --help says more\n"
                 "  --lib PATH   the library to look at; without it api and overhead take the libcudnn.so.8 built beside\n"
                 "               this program, the others its engines\n"
                 "  --version    version of anydnn\n\n"
                 "exit codes: 0 good, 1 findings, 2 usage, 3 could not read\n");
    return code;
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return usage(stderr, BENCH_USAGE);
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return usage(stdout, BENCH_GOOD);
    if (strcmp(argv[1], "--version") == 0) {
        printf("dnbench %s\n", ANYDNN_VERSION);
        return BENCH_GOOD;
    }
    argc--;
    argv++;
    if (!bench_take_library(&argc, argv))
        return BENCH_USAGE;
    for (size_t i = 0; i < MODE_COUNT; i++)
        if (strcmp(argv[0], modes[i].name) == 0)
            return modes[i].run(argc, argv);
    fprintf(stderr, "dnbench: no mode %s\n", argv[0]);
    return usage(stderr, BENCH_USAGE);
}
