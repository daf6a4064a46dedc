/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * What the audit library reported, and what it means. */
#define _GNU_SOURCE
#include "run.h"
#include "process.h"
#include "search.h"
#include "verify.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { REPORT_MAX = 64 << 20, SCRIPT_DEPTH = 4 };

static char *read_all(int fd)
{
    struct stat st;
    char *text = NULL;

    if (fstat(fd, &st) == 0 && st.st_size < REPORT_MAX)
        text = calloc((size_t)st.st_size + 1, 1);
    for (off_t at = 0; text && at < st.st_size;) {
        ssize_t n = pread(fd, text + at, (size_t)(st.st_size - at), at);
        if (n <= 0)
            break;
        at += n;
    }
    return text;
}

static void add_refused(run_report *r, const char *name, size_t n)
{
    char **more;

    for (size_t i = 0; i < r->refused_count; i++)
        if (strncmp(r->refused[i], name, n) == 0 && r->refused[i][n] == 0)
            return;
    more = realloc(r->refused, (r->refused_count + 1) * sizeof *more);
    if (!more)
        return;
    r->refused = more;
    more[r->refused_count] = cli_format("%.*s", (int)n, name);
    r->refused_count += more[r->refused_count] != NULL;
}

/* "K PID REST": the map's lines are kept for their own reader. */
int run_report_read(run_report *r, int fd, pid_t first)
{
    char *text = read_all(fd), *map, *end;
    size_t kept = 0;

    memset(r, 0, sizeof *r);
    map = text ? malloc(strlen(text) + 1) : NULL;
    for (char *line = map ? text : NULL; line && *line; line = end + (*end != 0)) {
        char *rest;
        long pid;

        end = line + strcspn(line, "\n");
        pid = line[0] && line[1] == ' ' ? strtol(line + 2, &rest, 10) : 0;
        if (pid <= 0 || *rest != ' ')
            continue;
        rest++;
        if (line[0] == 'A') {
            r->processes++;
            r->in_first = r->in_first || pid == (long)first;
        } else if (line[0] == 'W') {
            add_refused(r, rest, (size_t)(end - rest));
        } else if (line[0] == 'M') {
            size_t n = (size_t)(end - rest);
            memcpy(map + kept, rest, n);
            map[kept + n] = '\n';
            kept += n + 1;
        }
    }
    int bad = !map || maps_parse(&r->files, map, kept) != 0;
    free(map);
    free(text);
    return bad ? -1 : 0;
}

void run_report_free(run_report *r)
{
    maps_free(&r->files);
    for (size_t i = 0; i < r->refused_count; i++)
        free(r->refused[i]);
    free(r->refused);
    memset(r, 0, sizeof *r);
}

/* The program file behind scripts: "#!" lines are followed. The caller frees. */
static char *program_file(const char *name)
{
    char *path = process_find(name);

    for (int i = 0; path && i < SCRIPT_DEPTH; i++) {
        char head[256] = "", *word, *end;
        FILE *f = fopen(path, "rb");
        size_t n = f ? fread(head, 1, sizeof head - 1, f) : 0;

        if (f)
            fclose(f);
        if (n < 3 || head[0] != '#' || head[1] != '!')
            break;
        word = head + 2 + strspn(head + 2, " \t");
        end = word + strcspn(word, " \t\r\n");
        *end = 0;
        free(path);
        path = process_find(word);
    }
    return path;
}

/* Why the loader of this program could not be asked: a sentence, or NULL. The caller frees. */
static char *why_not_asked(const char *name)
{
    char *path = program_file(name), *interpreter = NULL, *why = NULL;
    unsigned elf_class = 0, elf_machine = 0;
    struct stat st;

    if (!path || stat(path, &st) != 0) {
        free(path);
        return NULL;
    }
    if (ld_program_kind("", path, &elf_class, &elf_machine, &interpreter) != 0)
        why = NULL;
    else if (elf_class != (sizeof(void *) == 8 ? 2 : 1))
        why = cli_format("%s is a program of another class (%d bits) than this tool, and its loader does not take the audit library.", path,
                         elf_class == 2 ? 64 : 32);
    else if (!interpreter)
        why = cli_format("%s is linked statically: no loader runs in it, and what it opens cannot be redirected. Link it dynamically.", path);
    else if (strstr(interpreter, "ld-musl"))
        why = cli_format("%s uses the loader of musl, which has no audit interface (and the vendor's libraries need glibc). Use LD_LIBRARY_PATH.",
                         path);
    else if ((st.st_mode & (S_ISUID | S_ISGID)) || getxattr(path, "security.capability", NULL, 0) > 0)
        why = cli_format("%s is set-user-ID or has capabilities: its loader ignores LD_AUDIT and LD_LIBRARY_PATH. Run it as its owner from a copy "
                         "without them.", path);
    free(interpreter);
    free(path);
    return why;
}

static void judge_nothing(cli_report *out, const run_report *r, const char *program)
{
    char *why = r->in_first ? NULL : why_not_asked(program), *what;

    if (!why && r->processes)
        why = cli_format("The loader was asked in %zu process%s, and none opened a libcudnn: the program does not use it, or did not get that far.",
                         r->processes, r->processes == 1 ? "" : "es");
    if (!why)
        why = cli_format("The loader of the program did not take the audit library; the program may have removed LD_AUDIT from its environment.");
    what = cli_format("No process of %s loaded cuDNN.", program);
    cli_finding(out, CLI_WARNING, "not-loaded", what, why, NULL);
    free(what);
    free(why);
}

static void judge_refused(cli_report *out, const run_report *r, const store_place *place, bool loaded)
{
    for (size_t i = 0; i < r->refused_count; i++) {
        const char *so = strstr(r->refused[i], ".so.");
        char *what = cli_format("The program asks for %s; %s is the interface of cuDNN %d.", r->refused[i], place->file, place->abi),
             *why = cli_format("Another major version is another binary interface: it cannot stand in. %s was left to the loader's own search.",
                               r->refused[i]),
             *fix = so ? cli_format("anydnn list, and then: anydnn run --lib a copy of cuDNN %.2s", so + 4) : NULL;

        cli_finding(out, loaded ? CLI_NOTE : CLI_WARNING, "other-abi", what, why, fix);
        free(what);
        free(why);
        free(fix);
    }
}

bool run_judge(cli_report *out, const run_report *r, const store_place *place, const char *program)
{
    size_t ours = 0, others = 0;
    cJSON *list = cJSON_AddArrayToObject(out->json, "loaded"), *where = NULL;

    for (size_t i = 0; i < r->files.count; i++) {
        const maps_file *f = &r->files.files[i];

        if (!verify_is_library(f->path))
            continue;
        cJSON_AddItemToArray(list, cJSON_CreateString(f->path));
        if (verify_is_of(f, place->lib)) {
            ours++;
            continue;
        }
        if (!others++) {
            char *what = cli_format("The program loaded another cuDNN than that of %s.", place->lib);
            where = cli_finding(out, CLI_ERROR, "other-copy", what,
                                "A library that the chosen folder does not have, or one that was opened without the loader's search.", NULL);
            free(what);
        }
        cli_where(where, f->path);
    }
    if (!ours && !others)
        judge_nothing(out, r, program);
    judge_refused(out, r, place, ours > 0);
    return ours && !others;
}
