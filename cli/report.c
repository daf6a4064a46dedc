/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Findings: kept as JSON while a command runs, printed as JSON or as text at its end. */
#include "cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const severity_names[] = { "note", "warning", "error" };
static const char *const severity_colors[] = { "\033[36m", "\033[33m", "\033[31m" };

char *cli_format(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int length = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    char *text = length < 0 ? NULL : malloc((size_t)length + 1);
    if (!text)
        return NULL;
    va_start(args, fmt);
    vsnprintf(text, (size_t)length + 1, fmt, args);
    va_end(args);
    return text;
}

void cli_report_begin(cli_report *r, const char *command)
{
    memset(r, 0, sizeof *r);
    r->json = cJSON_CreateObject();
    cJSON_AddNumberToObject(r->json, "schema", CLI_SCHEMA);
    cJSON_AddStringToObject(r->json, "anydnn", ANYDNN_VERSION);
    cJSON_AddStringToObject(r->json, "command", command);
    cJSON_AddArrayToObject(r->json, "findings");
}

cJSON *cli_finding(cli_report *r, cli_severity severity, const char *id, const char *what, const char *why, const char *fix)
{
    cJSON *f = cJSON_CreateObject();
    cJSON_AddStringToObject(f, "id", id);
    cJSON_AddStringToObject(f, "severity", severity_names[severity]);
    cJSON_AddStringToObject(f, "what", what ? what : "");
    cJSON *where = cJSON_AddArrayToObject(f, "where");
    cJSON_AddStringToObject(f, "why", why ? why : "");
    if (fix)
        cJSON_AddStringToObject(f, "fix", fix);
    else
        cJSON_AddNullToObject(f, "fix");
    cJSON_AddItemToArray(cJSON_GetObjectItem(r->json, "findings"), f);
    *(severity == CLI_ERROR ? &r->errors : severity == CLI_WARNING ? &r->warnings : &r->notes) += 1;
    return where;
}

void cli_where(cJSON *where, const char *path)
{
    cJSON_AddItemToArray(where, cJSON_CreateString(path ? path : ""));
}

/* Length of the UTF-8 sequence at p, 0 where it is not one (overlong forms and surrogates included). */
static size_t utf8_length(const unsigned char *p)
{
    if (p[0] < 0x80)
        return 1;
    size_t n = p[0] >= 0xc2 && p[0] < 0xe0 ? 2 : (p[0] & 0xf0) == 0xe0 ? 3 : p[0] >= 0xf0 && p[0] < 0xf5 ? 4 : 0;
    for (size_t i = 1; i < n; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    if (n == 3 && ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] >= 0xa0)))
        return 0;
    if (n == 4 && ((p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] >= 0x90)))
        return 0;
    return n;
}

char *cli_clean(const char *text, bool controls)
{
    char *out = malloc(strlen(text) * 3 + 1), *o = out;
    if (!out)
        return NULL;
    for (const unsigned char *p = (const unsigned char *)text; *p;) {
        size_t n = utf8_length(p);
        if (n == 0 || (controls && (*p < 0x20 || *p == 0x7f || (*p == 0xc2 && p[1] < 0xa0)))) {
            memcpy(o, n == 0 ? "\xef\xbf\xbd" : "?", n == 0 ? 3 : 1);
            o += n == 0 ? 3 : 1;
            p += n == 0 ? 1 : n;
            continue;
        }
        memcpy(o, p, n);
        o += n;
        p += n;
    }
    *o = 0;
    return out;
}

/* File names are bytes; JSON is UTF-8. Names of members come from our own code or from embedded tables, so values are enough. */
static void clean_strings(cJSON *item)
{
    for (; item; item = item->next) {
        if (cJSON_IsString(item) && item->valuestring) {
            char *clean = cli_clean(item->valuestring, false);
            if (clean && strcmp(clean, item->valuestring) != 0)
                cJSON_SetValuestring(item, clean);
            free(clean);
        }
        clean_strings(item->child);
    }
}

/* One label and text; the text's own control characters must not reach a terminal. */
static void print_line(const char *label, const char *text)
{
    char *clean = cli_clean(text, true);
    printf("%s%s\n", label, clean ? clean : "");
    free(clean);
}

static const char *text_of(const cJSON *f, const char *name)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(f, name);
    return cJSON_IsString(item) && item->valuestring[0] ? item->valuestring : NULL;
}

static void print_finding(const cli *c, const cJSON *f, int severity)
{
    const cJSON *path;
    bool first = true;
    printf("%s%s%s: ", c->color ? severity_colors[severity] : "", severity_names[severity], c->color ? "\033[0m" : "");
    char *what = cli_clean(text_of(f, "what") ? text_of(f, "what") : "", true);
    printf("%s [%s]\n", what ? what : "", text_of(f, "id"));
    free(what);
    cJSON_ArrayForEach(path, cJSON_GetObjectItemCaseSensitive(f, "where")) {
        print_line(first ? "  where: " : "         ", path->valuestring);
        first = false;
    }
    if (text_of(f, "why"))
        print_line("  why:   ", text_of(f, "why"));
    if (text_of(f, "fix"))
        print_line("  fix:   ", text_of(f, "fix"));
}

static void print_text(const cli *c, const cli_report *r)
{
    const cJSON *f;
    for (int severity = CLI_ERROR; severity >= (c->quiet ? CLI_WARNING : CLI_NOTE); severity--)
        cJSON_ArrayForEach(f, cJSON_GetObjectItemCaseSensitive(r->json, "findings")) {
            if (strcmp(text_of(f, "severity"), severity_names[severity]) == 0)
                print_finding(c, f, severity);
        }
    cli_say(c, "%d error%s, %d warning%s, %d note%s\n", r->errors, r->errors == 1 ? "" : "s", r->warnings, r->warnings == 1 ? "" : "s",
            r->notes, r->notes == 1 ? "" : "s");
}

static bool json_printed;
static char *first_problem;

void cli_problem(const char *fmt, ...)
{
    char text[4000];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    char *clean = cli_clean(text, true);
    fprintf(stderr, "%s\n", clean ? clean : "");
    if (first_problem)
        free(clean);
    else
        first_problem = clean;
}

void cli_end(const cli *c, const char *command)
{
    const char *text = first_problem ? strstr(first_problem, ": ") : NULL;
    if (c->json && !json_printed) {
        cli_report r;
        cli_report_begin(&r, command ? command : "");
        cJSON_AddItemToObject(r.json, "error", text ? cJSON_CreateString(text + 2) : cJSON_CreateNull());
        cli_print_json(r.json);
        cJSON_Delete(r.json);
    }
    free(first_problem);
    first_problem = NULL;
}

void cli_print_json(cJSON *json)
{
    json_printed = true;
    clean_strings(json);
    char *text = cJSON_Print(json);
    if (text)
        puts(text);
    free(text);
}

int cli_report_end(cli *c, cli_report *r)
{
    int code = r->errors || r->warnings ? CLI_FINDINGS : CLI_GOOD;
    if (c->json)
        cli_print_json(r->json);
    else
        print_text(c, r);
    cJSON_Delete(r->json);
    memset(r, 0, sizeof *r);
    return code;
}

void cli_say(const cli *c, const char *fmt, ...)
{
    va_list args;
    if (c->json || c->quiet)
        return;
    va_start(args, fmt);
    vprintf(fmt, args);
    va_end(args);
}
