/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * anydnn inspect [--api] [--devel] PATH... */
#include "facts.h"
#include "inspect.h"
#include "tree.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add_text(cJSON *o, const char *name, const char *text)
{
    if (text && *text)
        cJSON_AddStringToObject(o, name, text);
    else
        cJSON_AddNullToObject(o, name);
}

static void add_number(cJSON *o, const char *name, double value)
{
    if (value != 0)
        cJSON_AddNumberToObject(o, name, value);
    else
        cJSON_AddNullToObject(o, name);
}

cJSON *inspect_file_json(const cli_file *f)
{
    cJSON *o = cJSON_CreateObject();
    char v[32];
    cJSON_AddStringToObject(o, "path", f->path);
    cJSON_AddStringToObject(o, "kind", cli_kind_name(f->kind));
    add_text(o, "version", cli_version_text(f->version, v));
    add_number(o, "version_number", f->version);
    add_text(o, "version_how", f->version ? cli_how_text(f->version_how) : NULL);
    add_text(o, "version_hint", f->hint_version ? cli_version_text(f->hint_version, v) : NULL);
    add_number(o, "abi", f->abi);
    add_number(o, "cuda", f->cuda);
    add_text(o, "cuda_how", f->cuda_how);
    add_text(o, "arch", f->arch);
    add_number(o, "bits", f->bits);
    add_text(o, "soname", f->soname);
    add_text(o, "links_to", f->links_to);
    cJSON_AddStringToObject(o, "part", f->part);
    cJSON_AddBoolToObject(o, "anydnn", f->is_ours);
    cJSON_AddNumberToObject(o, "size", (double)f->size);
    cJSON *needed = cJSON_AddArrayToObject(o, "needed");
    for (size_t i = 0; i < f->needed_count; i++)
        cJSON_AddItemToArray(needed, cJSON_CreateString(f->needed[i]));
    add_text(o, "rpath", f->rpath);
    add_text(o, "runpath", f->runpath);
    return o;
}

static void say_api(const cli *c, const cJSON *o)
{
    static const char *const lists[] = { "not_real", "missing", "extra" };
    const cJSON *name;
    int real = cJSON_GetArraySize(cJSON_GetObjectItem(o, "real"));
    if (!cJSON_HasObjectItem(o, "real"))
        return;
    cli_say(c, "    functions: %d real", real);
    for (int i = 0; i < 3; i++)
        cli_say(c, ", %d %s", cJSON_GetArraySize(cJSON_GetObjectItem(o, lists[i])), i == 0 ? "not real" : lists[i]);
    cli_say(c, "\n");
    for (int i = 0; i < 3; i++)
        cJSON_ArrayForEach(name, cJSON_GetObjectItem(o, lists[i]))
            cli_say(c, "    %-9s %s\n", i == 0 ? "not real" : lists[i], name->valuestring);
}

/* One line for people: name, version and how it is known, then what else is known. */
static void say_file(const cli *c, const cli_file *f)
{
    char v[32], *path = cli_clean(f->path, true), *link = f->links_to ? cli_clean(f->links_to, true) : NULL;
    cli_say(c, "%s\n    %s", path ? path : "", cli_kind_name(f->kind));
    if (f->arch)
        cli_say(c, " %s", f->arch);
    if (f->is_ours)
        cli_say(c, ", anydnn");
    if (f->version)
        cli_say(c, ", version %s (%s)", cli_version_text(f->version, v), cli_how_text(f->version_how));
    else if (f->is_cudnn && f->kind != FILE_STATIC)
        cli_say(c, ", version not known");
    if (f->cuda)
        cli_say(c, ", CUDA %d (%s)", f->cuda, f->cuda_how);
    if (f->soname) {
        char *soname = cli_clean(f->soname, true);
        cli_say(c, ", %s %s", f->kind == FILE_PE ? "export name" : "SONAME", soname ? soname : "");
        free(soname);
    }
    if (link)
        cli_say(c, ", link to %s", link);
    cli_say(c, "\n");
    free(path);
    free(link);
}

/* Digits are compared as numbers, so that v9.10 comes behind v9.9. */
static int by_version(const void *a, const void *b)
{
    const char *p = ((const inspect_entry *)a)->file.path, *q = ((const inspect_entry *)b)->file.path;
    while (*p && *q) {
        if (isdigit((unsigned char)*p) && isdigit((unsigned char)*q)) {
            char *pe, *qe;
            unsigned long long x = strtoull(p, &pe, 10), y = strtoull(q, &qe, 10);
            if (x != y)
                return x < y ? -1 : 1;
            p = pe;
            q = qe;
        } else if (*p != *q) {
            break;
        } else {
            p++;
            q++;
        }
    }
    return (unsigned char)*p - (unsigned char)*q;
}

static void add_files(const cli *c, const inspect_list *list, cJSON *files)
{
    for (size_t i = 0; i < list->count; i++) {
        const inspect_entry *e = &list->entries[i];
        if (!e->shown)
            continue;
        cJSON *o = inspect_file_json(&e->file), *name;
        if (list->api && inspect_is_library(e)) {
            char *host = e->from_archive ? NULL : tree_host(c->root, e->file.path);
            if (host)
                inspect_api(host, NULL, 0, &e->file, o);
            free(host);
            while (e->api && (name = cJSON_DetachItemFromArray(e->api, 0)) != NULL) {
                char *key = cli_format("%s", name->string);
                cJSON_AddItemToObject(o, key ? key : "", name);
                free(key);
            }
        }
        if (e->file.kind != FILE_HEADER || e->file.version) /* a package has a dozen headers without a number */
            say_file(c, &e->file);
        say_api(c, o);
        cJSON_AddItemToArray(files, o);
    }
}

void inspect_check(const cli *c, const inspect_list *list, cli_report *r)
{
    inspect_check_files(list, r);
    inspect_check_names(list, r);
    inspect_check_links(list, r);
    inspect_check_copies(c, list, r);
    inspect_check_sets(c, list, r);
    inspect_check_windows(list, r);
    inspect_check_headers(list, r);
    inspect_check_static(list, r);
}

/* Gathers and judges one argument; false where there is nothing to read. */
static bool inspect_one(cli *c, const char *argument, bool api, bool devel, cli_report *r, cJSON *files)
{
    inspect_list list = { .api = api, .devel = devel };
    char *path = cli_tree_path(c, argument), *host = path ? tree_host(c->root, path) : NULL;
    tree_kind kind = path ? tree_look(c->root, path, true).kind : TREE_NONE;
    int code = -1;
    if (kind == TREE_DIR) {
        code = inspect_gather_dir(c, path, &list);
    } else if (host) {
        cli_file f;
        int read = cli_file_inspect(host, &f);
        bool archive = f.kind == FILE_ARCHIVE && !strstr(cli_base_name(path), ".so");
        if (archive)
            say_file(c, &f);
        if (archive)
            cJSON_AddItemToArray(files, inspect_file_json(&f));
        if (read != 0 && f.kind == FILE_MISSING)
            cli_problem("anydnn: %s", f.problem);
        cli_file_free(&f);
        code = archive ? inspect_gather_archive(c, r, host, path, &list) : inspect_gather_file(c, path, &list);
    } else if (path && tree_link(c->root, path)) {
        code = inspect_gather_file(c, path, &list);
    }
    if (code == 0) {
        if (list.count)
            qsort(list.entries, list.count, sizeof *list.entries, by_version);
        add_files(c, &list, files);
        inspect_check(c, &list, r);
    } else if (!host) {
        cli_problem("anydnn: %s: there is no such file or folder", argument);
    }
    inspect_free(&list);
    free(path);
    free(host);
    return code == 0;
}

static int run(cli *c, int argc, char **argv)
{
    bool api = false, devel = false, all = true;
    int paths = 0;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--api") == 0)
            api = true;
        else if (strcmp(argv[i], "--devel") == 0)
            devel = true;
        else if (argv[i][0] == '-' && strcmp(argv[i], "--") != 0)
            return cli_usage("inspect", "there is no option \"%s\"", argv[i]);
        else if (strcmp(argv[i], "--") != 0)
            argv[++paths] = argv[i];
    }
    if (!paths)
        return cli_usage("inspect", "which file, folder, archive or wheel?");
    if (!cli_facts_ready(c))
        return CLI_CANNOT_READ;
    cli_report r;
    cli_report_begin(&r, "inspect");
    cJSON *files = cJSON_AddArrayToObject(r.json, "files");
    for (int i = 1; i <= paths; i++)
        all &= inspect_one(c, argv[i], api, devel, &r, files);
    int code = cli_report_end(c, &r);
    return all ? code : CLI_CANNOT_READ;
}

const cli_command cli_inspect = {
    .name = "inspect",
    .run = run,
    .summary = "what a file, folder, archive or wheel is, and what is wrong with it",
    .usage = "usage: anydnn inspect [--api] [--devel] FILE|DIR|ARCHIVE|WHEEL...\n\n"
             "Reads the files and loads nothing: version and how it is known, interface (8, 9), CUDA, machine, SONAME and\n"
             "links, missing sub-libraries, mixed versions, copies in the place of links, headers that do not fit.\n"
             "  --api     list functions that are real, only stubs, missing or extra against the list of the version\n"
             "  --devel   a missing development link or header is an error\n",
};
