/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * anydnn advise: rows of known-issues.tsv that fit a version, a GPU and a framework. */
#include "discover.h"
#include "facts.h"
#include "file.h"
#include "tree.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct asked {
    int version;
    int sm;                /* 80 for 8.0; 0 where not given */
    char framework[64];    /* "torch"; "" where not given */
    char framework_version[32];
    const char *op;        /* --op: only rows about it */
    bool windows, linux_os;
    const char *where;     /* file that the version was read from, or NULL */
} asked;

static bool has_word(const char *text, const char *word)
{
    size_t n = strlen(word);
    for (const char *p = text; *p; p++) {
        size_t i = 0;
        while (i < n && p[i] && tolower((unsigned char)p[i]) == tolower((unsigned char)word[i]))
            i++;
        if (i == n && (p == text || !isalnum((unsigned char)p[-1])) && !isalnum((unsigned char)p[n]))
            return true;
    }
    return false;
}

/* Words in a row's condition that name GPUs, with the compute capabilities they stand for. */
static const struct {
    const char *word;
    int from, to;
} gpus[] = {
    { "Kepler", 30, 37 },        { "Maxwell", 50, 53 },      { "Pascal", 60, 62 },    { "Volta", 70, 72 },      { "Turing", 75, 75 },
    { "Ampere", 80, 87 },        { "Ada", 89, 89 },          { "Hopper", 90, 90 },    { "Blackwell", 100, 121 }, { "V100", 70, 70 },
    { "P100", 60, 60 },          { "T2000", 75, 75 },        { "A100", 80, 80 },      { "H100", 90, 90 },       { "H200", 90, 90 },
    { "RTX 3090", 86, 86 },      { "RTX 8000", 75, 75 },     { "GTX 16xx", 75, 75 },  { "CC 12.0", 120, 120 },  { "CC 10.0", 100, 100 },
    { "CC 10.3", 103, 103 },     { "CC 10.7", 107, 107 },    { "CC 8.9", 89, 89 },    { "SM 9.0", 90, 90 },     { "SM 7.5", 75, 75 },
    { "CC 3.x", 30, 37 },        { "CC 5.0 - 7.0", 50, 70 }, { "SM below 90", 1, 89 }, { "SM 12.0", 120, 120 },
};

/* Could the row concern this GPU? Yes where it names none; a row that names GPUs must name one of its kind. */
static bool fits_gpu(const char *condition, int sm)
{
    bool named = false;
    for (size_t i = 0; sm && i < sizeof gpus / sizeof *gpus; i++)
        if (has_word(condition, gpus[i].word)) {
            named = true;
            if (sm >= gpus[i].from && sm <= gpus[i].to)
                return true;
        }
    return !named;
}

static const struct {
    const char *name, *in_table, *words[4];
} frameworks[] = {
    { "torch", "PyTorch", { "PyTorch", "pytorch", "aten", NULL } },
    { "pytorch", "PyTorch", { "PyTorch", "pytorch", "aten", NULL } },
    { "tensorflow", "TensorFlow", { "TensorFlow", "openxla", "XLA", NULL } },
    { "jax", "JAX", { "JAX", "openxla", "XLA", NULL } },
    { "onnxruntime", "ONNX Runtime", { "ONNX Runtime", NULL, NULL, NULL } },
    { "paddle", "PaddlePaddle", { "PaddlePaddle", "PaddleDetection", NULL, NULL } },
    { "mxnet", "MXNet", { "MXNet", NULL, NULL, NULL } },
    { "cupy", "CuPy", { "CuPy", "chainer", NULL, NULL } },
};

/* Rows that a framework's own guard or workaround speaks of are for its users; others are for everybody. */
static bool fits_framework(const char *affected, const char *condition, const asked *a)
{
    for (size_t i = 0; a->framework[0] && i < sizeof frameworks / sizeof *frameworks; i++) {
        bool mine = strcmp(frameworks[i].name, a->framework) == 0;
        if (!mine && strncmp(frameworks[i].in_table, "PyTorch", 7) == 0 && (strcmp(a->framework, "torch") == 0 || strcmp(a->framework, "pytorch") == 0))
            continue;
        if (!mine && (has_word(affected, frameworks[i].in_table) || has_word(condition, frameworks[i].in_table)))
            return false;
    }
    return true;
}

static bool fits_system(const char *affected, const asked *a)
{
    if (a->linux_os && has_word(affected, "Windows"))
        return false;
    return !(a->windows && has_word(affected, "Linux"));
}

/* Version of a cell, taken as a release: 8.9 means 8.9.0. 0 for an empty one. */
static int cell_version(const facts_table *t, size_t row, const char *column)
{
    return cli_version_parse(cli_facts_cell(t, row, column));
}

/* Compares across the change of the formula: 8907 < 90000. */
static bool fits_version(const facts_table *t, size_t row, int version)
{
    int min = cell_version(t, row, "min"), max = cell_version(t, row, "max");
    return (!min || version >= min) && (!max || version <= max);
}

static cli_severity severity_of(const char *kind, const char *evidence)
{
    static const char *const harmful[] = { "wrong-result", "wrong-size", "memory-error", "race", "crash", "error", "blocked", "leak" };
    if (strcmp(evidence, "user-report") == 0)
        return CLI_NOTE;
    for (size_t i = 0; i < sizeof harmful / sizeof *harmful; i++)
        if (strcmp(kind, harmful[i]) == 0)
            return CLI_WARNING;
    return CLI_NOTE;
}

static void add_row(const facts_table *t, size_t row, const asked *a, cli_report *r)
{
    char v[32];
    const char *affected = cli_facts_cell(t, row, "affected"), *kind = cli_facts_cell(t, row, "kind");
    const char *evidence = cli_facts_cell(t, row, "evidence"), *fixed = cli_facts_cell(t, row, "fixed_in");
    const char *workaround = cli_facts_cell(t, row, "workaround"), *condition = cli_facts_cell(t, row, "condition");
    bool seen = strstr(affected, "seen)") || strstr(affected, "all seen") || strcmp(evidence, "user-report") == 0;
    bool no_condition = !*condition || strcmp(condition, "-") == 0, no_workaround = !*workaround || strcmp(workaround, "-") == 0;
    char *what = cli_format("%s: %s, %s: %s", cli_facts_cell(t, row, "id"), cli_facts_cell(t, row, "op"), kind,
                            cli_facts_cell(t, row, "symptom"));
    char *why = cli_format("%s: %s. %s%s%sFixed in: %s. Evidence: %s (%s).", seen ? "Seen with" : "Affected", affected,
                           no_condition ? "" : "When: ", no_condition ? "" : condition, no_condition ? "" : ". ",
                           *fixed && strcmp(fixed, "-") != 0 ? fixed : "not known", evidence, cli_facts_cell(t, row, "source"));
    cJSON *where = cli_finding(r, severity_of(kind, evidence), cli_facts_cell(t, row, "id"), what, why, no_workaround ? NULL : workaround);
    if (a->where)
        cli_where(where, a->where);
    cJSON *list = cJSON_GetObjectItem(r->json, "findings"), *f = cJSON_GetArrayItem(list, cJSON_GetArraySize(list) - 1);
    static const char *const columns[] = { "affected", "kind", "op", "dtype", "condition", "symptom", "workaround", "fixed_in", "evidence", "source" };
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        cJSON_AddStringToObject(f, columns[i], cli_facts_cell(t, row, columns[i]));
    cJSON_AddStringToObject(f, "version", cli_version_text(a->version, v));
    free(what);
    free(why);
}

/* "sm_80", "8.0", "80"; 0 where it is no compute capability. */
static int parse_gpu(const char *text)
{
    if (strncmp(text, "sm_", 3) == 0 || strncmp(text, "sm", 2) == 0)
        text += text[2] == '_' ? 3 : 2;
    char *end;
    unsigned long major = strtoul(text, &end, 10);
    if (end == text || major > 999)
        return 0;
    if (*end == '.') {
        char *last;
        unsigned long minor = strtoul(end + 1, &last, 10);
        return last == end + 1 || *last || minor > 9 || major > 99 ? 0 : (int)(major * 10 + minor);
    }
    return *end == 0 || (end[0] == 'a' && !end[1]) || (end[0] == 'f' && !end[1]) ? (major < 20 ? (int)major * 10 : (int)major) : 0;
}

/* "torch-1.13", "torch==2.1", "tensorflow 2.10". */
static bool parse_framework(const char *text, asked *a)
{
    size_t n = strcspn(text, "-= @");
    if (!n || n >= sizeof a->framework)
        return false;
    for (size_t i = 0; i < n; i++)
        a->framework[i] = (char)tolower((unsigned char)text[i]);
    text += n;
    text += strspn(text, "-= @");
    if (strlen(text) >= sizeof a->framework_version)
        return false;
    strcpy(a->framework_version, text);
    for (size_t i = 0; i < sizeof frameworks / sizeof *frameworks; i++)
        if (strcmp(frameworks[i].name, a->framework) == 0)
            return true;
    return false;
}

/* Is the row about the asked version: the same, its line (1.13 for 1.13.1), or a release of the asked line? */
static bool is_release(const char *row, const char *wanted)
{
    size_t n = strlen(row) < strlen(wanted) ? strlen(row) : strlen(wanted);
    return n && strncmp(row, wanted, n) == 0 && (row[n] == 0 || strchr(".+ ", row[n])) && (wanted[n] == 0 || wanted[n] == '.');
}

/* What the framework release ships or requires: a note for each row, and the version where all that ship it agree. */
static void add_framework(cli *c, asked *a, cli_report *r)
{
    const facts_table *t = cli_facts_table(c, "frameworks");
    const char *name = NULL;
    int shipped = 0;
    bool one = true;
    for (size_t i = 0; i < sizeof frameworks / sizeof *frameworks; i++)
        if (strcmp(frameworks[i].name, a->framework) == 0)
            name = frameworks[i].in_table;
    for (size_t i = 0; t && name && i < t->rows; i++) {
        if (!has_word(cli_facts_cell(t, i, "framework"), name) || !is_release(cli_facts_cell(t, i, "version"), a->framework_version))
            continue;
        const char *relation = cli_facts_cell(t, i, "relation"), *cudnn = cli_facts_cell(t, i, "cudnn");
        char *what = cli_format("%s %s for CUDA %s (%s) %s cuDNN %s", name, cli_facts_cell(t, i, "version"), cli_facts_cell(t, i, "cuda"),
                                cli_facts_cell(t, i, "platform"), relation, *cudnn ? cudnn : "(not known)");
        char *why = cli_format("Source: %s.", cli_facts_cell(t, i, "source"));
        cli_finding(r, CLI_NOTE, "framework", what, why, NULL);
        int v = cli_version_parse(cudnn);
        one &= !shipped || !v || v == shipped;
        shipped = strncmp(relation, "ships", 5) == 0 && v ? v : shipped;
        free(what);
        free(why);
    }
    if (!a->version && shipped && one)
        a->version = shipped;
}

/* Names of products that carry one compute capability each; others are left alone rather than guessed. */
static const struct {
    const char *word;
    int sm;
} products[] = {
    { "P100", 60 },      { "V100", 70 },      { "T4", 75 },        { "A100", 80 },      { "A30", 80 },       { "A10", 86 },       { "A40", 86 },
    { "RTX A6000", 86 }, { "RTX 3090", 86 },  { "RTX 3080", 86 },  { "L4", 89 },        { "L40", 89 },       { "L40S", 89 },      { "RTX 4090", 89 },
    { "RTX 4080", 89 },  { "H100", 90 },      { "H200", 90 },      { "B200", 100 },     { "RTX 5090", 120 }, { "RTX 5080", 120 }, { "RTX 2080", 75 },
};

/* Compute capability of this machine's GPUs by what the driver says of them; 0 where there is none, one is unknown, or they differ. */
static int find_gpu(const cli *c)
{
    static const char *const folder = "/proc/driver/nvidia/gpus";
    tree_list gpus_here = tree_entries(c->root, folder, 64);
    int sm = 0;
    bool clear = gpus_here.count > 0;
    for (size_t i = 0; i < gpus_here.count; i++) {
        char *path = cli_format("%s/%s/information", folder, gpus_here.entries[i].name);
        size_t size = 0;
        char *text = path ? tree_read(c->root, path, 1 << 16, &size) : NULL, *model = text ? strstr(text, "Model:") : NULL;
        int this_sm = 0;
        if (model)
            model[strcspn(model, "\n")] = 0;
        for (size_t k = 0; model && k < sizeof products / sizeof *products; k++)
            if (has_word(model, products[k].word))
                this_sm = products[k].sm;
        clear &= this_sm && (!sm || sm == this_sm);
        sm = this_sm;
        free(text);
        free(path);
    }
    tree_list_free(&gpus_here);
    return clear ? sm : 0;
}

/* One copy of cuDNN found on the machine. */
typedef struct copy {
    int version;
    char *path;
} copy;

enum { MAX_COPIES = 32 };

/* Adds a library's version unless it is among the copies; path is inside the tree. */
static void add_copy(const cli *c, const char *path, copy *copies, int *count)
{
    char *host = tree_host(c->root, path);
    cli_file f = { 0 };
    bool known = !host || *count == MAX_COPIES;
    if (!known)
        cli_file_inspect(host, &f);
    for (int i = 0; i < *count; i++)
        known |= copies[i].version == f.version;
    if (!known && f.version)
        copies[(*count)++] = (copy){ f.version, cli_format("%s", path) };
    cli_file_free(&f);
    free(host);
}

/* Every version that is on the machine, once. */
static int find_copies(const cli *c, copy *copies)
{
    discover d;
    int count = 0;
    discover_run(&d, c->root, NULL);
    for (size_t i = 0; i < d.count; i++)
        for (size_t k = 0; k < d.dirs[i].count; k++)
            if (d.dirs[i].files[k].real && !d.dirs[i].files[k].parts.part[0] && !d.dirs[i].files[k].parts.is_static)
                add_copy(c, d.dirs[i].files[k].real, copies, &count);
    discover_free(&d);
    return count;
}

static int parse(int argc, char **argv, asked *a, const char **path)
{
    for (int i = 1; i < argc; i++) {
        const char *value;
        if ((value = cli_option_value(argc, argv, &i, "--version")) != NULL) {
            if ((a->version = cli_version_parse(value)) == 0)
                return cli_usage("advise", "\"%s\" is no version of cuDNN (8.9.7 is the last of 8.x)", value);
        } else if ((value = cli_option_value(argc, argv, &i, "--gpu")) != NULL) {
            if ((a->sm = parse_gpu(value)) == 0)
                return cli_usage("advise", "--gpu must be a compute capability such as sm_80 or 8.0, not \"%s\"", value);
        } else if ((value = cli_option_value(argc, argv, &i, "--framework")) != NULL) {
            if (!parse_framework(value, a))
                return cli_usage("advise", "--framework must be such as torch-1.13, not \"%s\"", value);
        } else if ((value = cli_option_value(argc, argv, &i, "--op")) != NULL) {
            a->op = value;
        } else if ((value = cli_option_value(argc, argv, &i, "--os")) != NULL) {
            a->windows = strcmp(value, "windows") == 0;
            a->linux_os = strcmp(value, "linux") == 0;
            if (!a->windows && !a->linux_os)
                return cli_usage("advise", "--os must be linux or windows");
        } else if (argv[i][0] == '-' || *path) {
            return cli_usage("advise", "\"%s\" is not understood", argv[i]);
        } else {
            *path = argv[i];
        }
    }
    return CLI_GOOD;
}

static void add_rows(const facts_table *t, const asked *a, cli_report *r)
{
    for (size_t i = 0; i < t->rows; i++) {
        const char *affected = cli_facts_cell(t, i, "affected"), *condition = cli_facts_cell(t, i, "condition");
        char *all = cli_format("%s %s %s", affected, condition, cli_facts_cell(t, i, "op"));
        bool fits = all && fits_version(t, i, a->version) && fits_gpu(all, a->sm) && fits_framework(affected, condition, a) &&
                    fits_system(affected, a) && (!a->op || has_word(cli_facts_cell(t, i, "op"), a->op));
        free(all);
        if (fits)
            add_row(t, i, a, r);
    }
}

/* The copies to speak of: the version that was named, else FILE's, else what the framework ships, else all that are found. */
static int gather(cli *c, const asked *a, const char *path, copy *copies)
{
    int count = 0;
    char *full = path ? cli_tree_path(c, path) : NULL;
    if (a->version)
        copies[count++] = (copy){ a->version, NULL };
    else if (full)
        add_copy(c, full, copies, &count);
    else
        count = find_copies(c, copies);
    free(full);
    return count;
}

static void advise(cli *c, asked *a, const facts_table *t, const copy *copies, int count, cli_report *r)
{
    char v[32];
    cJSON_AddStringToObject(r->json, "version", cli_version_text(copies[0].version, v));
    cJSON *versions = cJSON_AddArrayToObject(r->json, "versions");
    if (a->sm)
        cJSON_AddNumberToObject(r->json, "sm", a->sm);
    for (int i = 0; i < count; i++) {
        a->version = copies[i].version;
        a->where = copies[i].path;
        cJSON_AddItemToArray(versions, cJSON_CreateString(cli_version_text(a->version, v)));
        cli_say(c, "cuDNN %s%s%s\n", v, a->where ? " at " : "", a->where ? a->where : "");
        add_rows(t, a, r);
    }
}

static int run(cli *c, int argc, char **argv)
{
    asked a = { 0 };
    const char *path = NULL;
    copy copies[MAX_COPIES];
    int code = parse(argc, argv, &a, &path);
    const facts_table *t = code == CLI_GOOD ? cli_facts_table(c, "known-issues") : NULL;
    if (code != CLI_GOOD)
        return code;
    if (!t)
        return CLI_CANNOT_READ;
    cli_report r;
    cli_report_begin(&r, "advise");
    if (a.framework[0])
        add_framework(c, &a, &r);
    if (!a.version && !a.sm && !path)
        a.sm = find_gpu(c);
    int count = gather(c, &a, path, copies);
    if (count > 0)
        advise(c, &a, t, copies, count, &r);
    else
        fprintf(stderr, "anydnn advise: no cuDNN with a known version was found%s%s; name one with --version\n", path ? " at " : "",
                path ? path : "");
    code = count > 0 ? cli_report_end(c, &r) : CLI_CANNOT_READ;
    if (count == 0)
        cJSON_Delete(r.json);
    for (int i = 0; i < count; i++)
        free(copies[i].path);
    return code;
}

const cli_command cli_advise = {
    .name = "advise",
    .run = run,
    .summary = "known defects that fit a version, a GPU and a framework",
    .usage = "usage: anydnn advise [FILE] [--version V] [--gpu sm_NN] [--framework NAME-VERSION] [--os linux|windows] [--op WORD]\n\n"
             "Without any option: the copies and the GPU of this machine. Without --version: the version of FILE, of what the framework ships, or of every copy that `anydnn check` would find.\n"
             "\"Affected\" is what the vendor or a maintainer says; \"seen with\" is a report. A report alone is a note.\n",
};
