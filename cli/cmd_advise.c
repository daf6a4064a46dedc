/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * anydnn advise: rows of known-issues.tsv that fit a version, a GPU and a framework. */
#include "check.h"
#include "facts.h"
#include "file.h"
#include "tree.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A framework that was named, or that is installed here. */
typedef struct program {
    const char *name;      /* as frameworks.tsv spells it */
    char version[32];      /* "" where not given */
    int gets;              /* the cuDNN that it loads here; 0 for the one that is asked about */
} program;

enum { MAX_PROGRAMS = 32 };

typedef struct asked {
    int version;
    int sm;                /* 80 for 8.0; 0 where not given */
    program programs[MAX_PROGRAMS];
    int program_count;
    const char *op;        /* --op: only rows about it */
    bool windows, linux_os;
    const char *where;     /* file that the version was read from, or NULL */
} asked;

/* What stands behind the word in text; NULL where the word is not in it. */
static const char *behind_word(const char *text, const char *word)
{
    size_t n = strlen(word);
    for (const char *p = text; *p; p++) {
        size_t i = 0;
        while (i < n && p[i] && tolower((unsigned char)p[i]) == tolower((unsigned char)word[i]))
            i++;
        if (i == n && (p == text || !isalnum((unsigned char)p[-1])) && !isalnum((unsigned char)p[n]))
            return p + n;
    }
    return NULL;
}

static bool has_word(const char *text, const char *word)
{
    return behind_word(text, word) != NULL;
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

/* Names of --framework, and how frameworks.tsv spells them. */
static const struct {
    const char *name, *in_table;
} frameworks[] = {
    { "torch", "PyTorch" },           { "tensorflow", "TensorFlow" }, { "jax", "JAX" },   { "onnxruntime", "ONNX Runtime" },
    { "paddle", "PaddlePaddle" },     { "mxnet", "MXNet" },           { "cupy", "CuPy" }, { "pytorch", "PyTorch" },
};

/* Is the row about the asked version: the same, its line (1.13 for 1.13.1), or a release of the asked line? */
static bool is_release(const char *row, const char *wanted)
{
    size_t n = strlen(row) < strlen(wanted) ? strlen(row) : strlen(wanted);
    return n && strncmp(row, wanted, n) == 0 && (row[n] == 0 || strchr(".+ ", row[n])) && (wanted[n] == 0 || strchr(".+", wanted[n]));
}

/* Text behind a framework's name may go on with a release, as in "with PyTorch 2.9": is it the program's? */
static bool names_release(const char *text, const program *p)
{
    char release[32];
    size_t n;
    text += strspn(text, " ");
    n = strspn(text, "0123456789.");
    if (!n || n >= sizeof release || !p->version[0])
        return true;
    memcpy(release, text, n);
    release[n] = 0;
    return is_release(release, p->version);
}

/* Rows that name frameworks are for their users, others for everybody. Where no program is known that gets this version, anyone may use it. */
static bool fits_framework(const char *affected, const char *condition, const asked *a)
{
    bool named = false, known = false;
    for (size_t i = 0; i < sizeof frameworks / sizeof *frameworks; i++) {
        const char *name = frameworks[i].in_table, *first = behind_word(affected, name), *text = first ? first : behind_word(condition, name);
        named |= text != NULL;
        for (int k = 0; k < a->program_count; k++) {
            const program *p = &a->programs[k];
            bool uses = !p->gets || p->gets == a->version;
            known |= uses;
            if (uses && text && strcmp(p->name, name) == 0 && names_release(text, p))
                return true;
        }
    }
    return !named || !known;
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
    program *p = &a->programs[0];
    char name[32];
    if (!n || n >= sizeof name)
        return false;
    for (size_t i = 0; i <= n; i++)
        name[i] = i < n ? (char)tolower((unsigned char)text[i]) : 0;
    text += n;
    text += strspn(text, "-= @");
    if (strlen(text) >= sizeof p->version)
        return false;
    strcpy(p->version, text);
    a->program_count = 0;
    for (size_t i = 0; !a->program_count && i < sizeof frameworks / sizeof *frameworks; i++)
        if (strcmp(frameworks[i].name, name) == 0) {
            p->name = frameworks[i].in_table;
            a->program_count = 1;
        }
    return a->program_count == 1;
}

/* What the framework release ships or requires: a note for each row, and the version where all that ship it agree. */
static void add_framework(cli *c, asked *a, cli_report *r)
{
    const facts_table *t = cli_facts_table(c, "frameworks");
    const char *name = a->programs[0].name;
    int shipped = 0;
    bool one = true;
    for (size_t i = 0; t && i < t->rows; i++) {
        if (!has_word(cli_facts_cell(t, i, "framework"), name) || !is_release(cli_facts_cell(t, i, "version"), a->programs[0].version))
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
    char *path;  /* NULL where the version was named */
    bool is_dll;
} copy;

enum { MAX_COPIES = 32 };

/* The version of one file of the tree; 0 copies where it cannot be told. */
static int look_at(const cli *c, const char *path, copy *out)
{
    char *host = tree_host(c->root, path);
    cli_file f = { 0 };
    if (host)
        cli_file_inspect(host, &f);
    int version = f.version;
    if (version)
        *out = (copy){ version, cli_format("%s", path), f.kind == FILE_PE };
    cli_file_free(&f);
    free(host);
    return version != 0;
}

/* The library itself of a copy, else its folder. */
static const char *path_of(const check_copy *found)
{
    for (size_t i = 0; i < found->count; i++)
        if (found->files[i].name->real && !found->files[i].name->parts.part[0])
            return found->files[i].name->real;
    return found->dir->path;
}

static const char *member(const cJSON *object, const char *name)
{
    const cJSON *value = cJSON_GetObjectItem(object, name);
    return cJSON_IsString(value) ? value->valuestring : NULL;
}

/* A framework that is installed here: rows that name others are left out for the cuDNN that it gets. */
static void add_program(const cJSON *found, asked *a, cli_report *r)
{
    const char *name = member(found, "name"), *version = member(found, "version"), *needs = member(found, "needs"), *gets = member(found, "gets_version");
    program *p = &a->programs[a->program_count];
    char *what = cli_format("%s %s is installed here; it was built for cuDNN %s and gets %s", name, version, needs ? needs : "(not known)", gets ? gets : "none");
    cJSON *where = cli_finding(r, CLI_NOTE, "framework", what, "Rows that name only other frameworks are left out for the cuDNN that it gets.", NULL);
    cli_where(where, member(found, "path"));
    if (member(found, "gets"))
        cli_where(where, member(found, "gets"));
    free(what);
    if (!gets || a->program_count == MAX_PROGRAMS)
        return;
    *p = (program){ .name = name, .gets = cli_version_parse(gets) };
    snprintf(p->version, sizeof p->version, "%s", version);
    a->program_count++;
}

/* Every version that is on the machine, once for each system; and the frameworks, unless one was named. They go into the report, where their names live on. */
static int find_copies(cli *c, asked *a, copy *copies, cli_report *r)
{
    check k;
    cJSON *list, *found;
    int count = 0;
    check_look(&k, c);
    for (size_t i = 0; i < k.copy_count && count < MAX_COPIES; i++) {
        bool known = k.copies[i].version == 0;
        for (int j = 0; j < count; j++)
            known |= copies[j].version == k.copies[i].version && copies[j].is_dll == k.copies[i].is_dll;
        if (!known)
            copies[count++] = (copy){ k.copies[i].version, cli_format("%s", path_of(&k.copies[i])), k.copies[i].is_dll };
    }
    list = cJSON_DetachItemFromObject(k.report.json, "frameworks");
    cJSON_AddItemToObject(r->json, "frameworks", list);
    if (!a->program_count)
        cJSON_ArrayForEach(found, list)
            add_program(found, a, r);
    cJSON_Delete(k.report.json);
    check_end(&k);
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
static int gather(cli *c, asked *a, const char *path, copy *copies, cli_report *r)
{
    int count = 0;
    char *full = path ? cli_tree_path(c, path) : NULL;
    if (a->version)
        copies[count++] = (copy){ a->version, NULL, false };
    else if (full)
        count = look_at(c, full, copies);
    else
        count = find_copies(c, a, copies, r);
    free(full);
    return count;
}

static void advise(cli *c, asked *a, const facts_table *t, const copy *copies, int count, cli_report *r)
{
    char v[32];
    cJSON_AddStringToObject(r->json, "version", cli_version_text(copies[0].version, v));
    cJSON *versions = cJSON_AddArrayToObject(r->json, "versions");
    bool any_system = !a->windows && !a->linux_os;
    if (a->sm)
        cJSON_AddNumberToObject(r->json, "sm", a->sm);
    for (int i = 0; i < count; i++) {
        a->version = copies[i].version;
        a->where = copies[i].path;
        a->windows = any_system ? a->where && copies[i].is_dll : a->windows;
        a->linux_os = any_system ? a->where && !copies[i].is_dll : a->linux_os;
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
    if (a.program_count)
        add_framework(c, &a, &r);
    if (!a.version && !a.sm && !path)
        a.sm = find_gpu(c);
    int count = gather(c, &a, path, copies, &r);
    if (count > 0)
        advise(c, &a, t, copies, count, &r);
    else
        cli_problem("anydnn advise: no cuDNN with a known version was found%s%s; name one with --version", path ? " at " : "",
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
             "Without any option: the copies, the frameworks and the GPU of this machine, as `anydnn check` finds them. Without --version: the version of FILE,\n"
             "of what the named framework ships, or of every copy that is found. Rows that name frameworks are shown to their users only: with --framework those\n"
             "of that one, else, for each version, those of the frameworks found here that get it.\n"
             "\"Affected\" is what the vendor or a maintainer says; \"seen with\" is a report. A report alone is a note.\n",
};
