/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Rules about what belongs together: the sub-libraries of one folder. */
#include "inspect.h"
#include "facts.h"

#include <stdlib.h>
#include <string.h>

/* The libraries of one ABI and one system in one folder. */
typedef struct lib_set {
    const inspect_list *list;
    const char *dir;
    int abi;
    file_kind kind;
} lib_set;

static bool in_set(const lib_set *s, const inspect_entry *e)
{
    return inspect_is_library(e) && e->file.abi == s->abi && e->file.kind == s->kind && strcmp(e->dir, s->dir) == 0;
}

static const inspect_entry *part_of(const lib_set *s, const char *part)
{
    for (size_t i = 0; i < s->list->count; i++)
        if (in_set(s, &s->list->entries[i]) && strcmp(s->list->entries[i].file.part, part) == 0)
            return &s->list->entries[i];
    return NULL;
}

/* Known well enough to compare with others; a neighbour's version is the neighbour's. */
static bool has_own_version(const inspect_entry *e)
{
    return e->file.version && e->file.version_how >= HOW_NAME;
}

/* Version that the set stands for: of libcudnn_graph or _ops_infer, which answers for all, else the highest. */
static int set_version(const lib_set *s)
{
    const inspect_entry *lead = part_of(s, s->abi == 8 ? "ops_infer" : "graph");
    int best = 0;
    if (lead && lead->file.version)
        return lead->file.version;
    for (size_t i = 0; i < s->list->count; i++) {
        const inspect_entry *e = &s->list->entries[i];
        if (in_set(s, e) && e->file.version > best)
            best = e->file.version;
    }
    return best;
}

static void each_path(const lib_set *s, cJSON *where, bool (*wanted)(const inspect_entry *, int), int value)
{
    for (size_t i = 0; i < s->list->count; i++) {
        const inspect_entry *e = &s->list->entries[i];
        if (in_set(s, e) && !e->file.links_to && wanted(e, value))
            cli_where(where, e->file.path);
    }
}

static bool of_other_version(const inspect_entry *e, int version)
{
    return has_own_version(e) && e->file.version != version;
}

static bool of_other_cuda(const inspect_entry *e, int cuda)
{
    return e->file.cuda && e->file.cuda != cuda;
}

/* "libcudnn_cnn.so.9 9.5.0 (how), ..." for the first files of the set. */
static void say_versions(const lib_set *s, inspect_words *w)
{
    char v[32];
    for (size_t i = 0; i < s->list->count; i++) {
        const inspect_entry *e = &s->list->entries[i];
        if (!in_set(s, e) || e->file.links_to || !has_own_version(e))
            continue;
        char *text = cli_format("%s %s (%s)", e->name, cli_version_text(e->file.version, v), cli_how_text(e->file.version_how));
        if (text)
            inspect_word(w, text);
        free(text);
    }
}

static void check_mixed(const lib_set *s, int version, cli_report *r)
{
    int cuda = 0;
    bool versions = false, cudas = false;
    for (size_t i = 0; i < s->list->count; i++) {
        const inspect_entry *e = &s->list->entries[i];
        if (!in_set(s, e))
            continue;
        versions |= of_other_version(e, version);
        cudas |= cuda && of_other_cuda(e, cuda);
        cuda = e->file.cuda ? e->file.cuda : cuda;
    }
    if (versions) {
        inspect_words w = { .text = "" };
        say_versions(s, &w);
        char *what = cli_format("Sub-libraries of different versions in one folder: %s", w.text);
        cJSON *where = cli_finding(r, CLI_ERROR, "mixed-versions", what,
                                   s->abi >= 9 ? "cuDNN refuses the mix with SUBLIBRARY_VERSION_MISMATCH (1002); cudnnGetVersion alone does not show it."
                                               : "cuDNN 8 fails with \"undefined symbol ... version libcudnn_ops_infer.so.8\" or "
                                                 "VERSION_MISMATCH (14); cudnnGetVersion alone does not show it.",
                                   "put all files of one version here: remove the folder's libcudnn* and install one package again");
        each_path(s, where, of_other_version, version);
        free(what);
    }
    if (cudas) {
        cJSON *where = cli_finding(r, CLI_ERROR, "mixed-cuda", "Sub-libraries for different CUDA majors in one folder",
                                   "Builds for two CUDA majors have the same file names; each opens its own cuBLAS and runtime.",
                                   "remove the folder's libcudnn* and install one package again");
        each_path(s, where, of_other_cuda, cuda);
    }
}

static bool all_ours(const lib_set *s)
{
    for (size_t i = 0; i < s->list->count; i++)
        if (in_set(s, &s->list->entries[i]) && s->list->entries[i].file.is_ours)
            return true;
    return false;
}

/* Answers whether nothing is missing. */
static bool check_complete(const lib_set *s, int version, cli_report *r)
{
    char name[64], v[32];
    inspect_words missing = { .text = "" };
    const char *const *parts = cli_sublibraries(version ? version : s->abi == 8 ? 8000 : s->abi == 9 ? 90000 : 0);
    for (; parts && *parts; parts++)
        if (!part_of(s, *parts)) {
            cli_library_name(*parts, s->abi, s->kind == FILE_PE, name, sizeof name);
            inspect_word(&missing, name);
        }
    if (!missing.count)
        return true;
    cli_version_text(version, v);
    char *what = cli_format("The set is incomplete for cuDNN %s%s: missing %s", version ? v : s->abi == 8 ? "8" : "9",
                            version ? "" : " (its version is not known)", missing.text);
    char *fix = cli_format("install the whole package of version %s%s, not single files", version ? v : "", version ? "" : "in use");
    bool ours = all_ours(s) && part_of(s, "");
    cJSON *where = cli_finding(r, ours ? CLI_NOTE : CLI_ERROR, "incomplete", what,
                               ours ? "anydnn has everything in libcudnn itself; the others only forward, for programs linked with them by name."
                                    : "cuDNN opens these by name at the first call that needs them, so cudnnGetVersion and cudnnCreate work and a "
                                      "later call fails or ends the program.", fix);
    cli_where(where, s->dir);
    free(what);
    free(fix);
    return false;
}

static bool is_released(const cli *c, int version)
{
    const facts_table *t = cli_facts_table(c, "cudnn_releases");

    for (size_t i = 0; t && i < t->rows; i++)
        if (atoi(cli_facts_cell(t, i, "cudnnGetVersion")) == version)
            return true;
    return false;
}

/* A library that the program text of libcudnn_graph names and that is neither here nor expected: the loader takes it from elsewhere. The
 * vendor publishes 9.20.0 so, hence only a note where all that the release consists of is here. */
static void check_named(const lib_set *s, int version, bool whole, cli_report *r)
{
    const inspect_entry *graph = part_of(s, "graph");
    inspect_words w = { .text = "" };
    char name[64];
    for (size_t i = 0; graph && i < graph->file.named_count; i++) {
        const char *part = graph->file.named[i];
        const char *const *parts = cli_sublibraries(version);
        bool expected = false;
        for (; parts && *parts; parts++)
            expected |= strcmp(*parts, part) == 0;
        if (expected || part_of(s, part))
            continue;
        cli_library_name(part, s->abi, s->kind == FILE_PE, name, sizeof name);
        inspect_word(&w, name);
    }
    if (!w.count)
        return;
    char *what = cli_format("%s names a library that is not here: %s", graph->name, w.text);
    cJSON *where = cli_finding(r, whole ? CLI_NOTE : CLI_WARNING, "named-not-here", what,
                               whole ? "The release does not have it and works without. At run time the loader looks for it elsewhere; a copy of "
                                       "another version in the loader cache gives SUBLIBRARY_VERSION_MISMATCH (1002)."
                                     : "At run time the loader looks for it elsewhere; a copy of another version in the loader cache gives "
                                       "SUBLIBRARY_VERSION_MISMATCH (1002).",
                               whole ? "take any other cuDNN 9 off the search path, or install a later release, which has it"
                                     : "install a package that has it, or take the other cuDNN off the search path");
    cli_where(where, graph->file.path);
    free(what);
}

static void check_set(const cli *c, const lib_set *s, cli_report *r)
{
    int version = set_version(s);
    bool whole;

    if (s->abi < 8)
        return;
    check_mixed(s, version, r);
    whole = check_complete(s, version, r);
    check_named(s, version, whole && is_released(c, version), r);
}

/* Files of different machines in one folder: the minority is named. */
static void check_machines(const inspect_list *list, size_t first, cli_report *r)
{
    const char *dir = list->entries[first].dir, *arch = NULL;
    size_t best = 0;
    for (size_t i = first; i < list->count; i++) {
        const inspect_entry *e = &list->entries[i];
        size_t n = 0;
        if (!e->file.arch || strcmp(e->dir, dir) != 0)
            continue;
        for (size_t j = first; j < list->count; j++)
            n += strcmp(list->entries[j].dir, dir) == 0 && list->entries[j].file.arch && strcmp(list->entries[j].file.arch, e->file.arch) == 0;
        if (n > best || (n == best && strcmp(e->file.arch, "x86-64") == 0)) {
            best = n;
            arch = e->file.arch;
        }
    }
    for (size_t i = first; arch && i < list->count; i++) {
        const inspect_entry *e = &list->entries[i];
        if (strcmp(e->dir, dir) != 0 || !e->file.arch || strcmp(e->file.arch, arch) == 0 || e->file.links_to)
            continue;
        char *what = cli_format("%s is for %s (%d-bit) among files for %s", e->name, e->file.arch, e->file.bits, arch);
        cJSON *where = cli_finding(r, CLI_ERROR, "machine-mismatch", what,
                                   e->file.kind == FILE_PE ? "Windows refuses to load it: error 193, \"not a valid Win32 application\"."
                                                           : "The linker says \"file in wrong format\", the loader \"wrong ELF class\" or "
                                                             "\"cannot open shared object file\". The file itself may be whole.",
                                   "replace it by the file of the right package");
        cli_where(where, e->file.path);
        free(what);
    }
}

void inspect_check_sets(const cli *c, const inspect_list *list, cli_report *r)
{
    for (size_t i = 0; i < list->count; i++) {
        const inspect_entry *e = &list->entries[i];
        lib_set s = { list, e->dir, e->file.abi, e->file.kind };
        bool new_dir = true, new_set = inspect_is_library(e) && e->file.abi > 0 && inspect_concerns(list, e);
        for (size_t j = 0; j < i; j++) {
            new_dir &= strcmp(list->entries[j].dir, e->dir) != 0;
            new_set &= !in_set(&s, &list->entries[j]);
        }
        if (new_dir)
            check_machines(list, i, r);
        if (new_set)
            check_set(c, &s, r);
    }
}
