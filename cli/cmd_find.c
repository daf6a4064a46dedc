/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * anydnn find: the face of `dnbench find`, whose answers (bench/find.c says what they are) become a progress bar, a list and JSON. */
#if !defined(_WIN32) && !defined(_DEFAULT_SOURCE)
#define _DEFAULT_SOURCE
#endif
#include "cli.h"
#include "worker.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef _WIN32
#include <io.h>
#define isatty _isatty
#else
#include <unistd.h>
#endif

enum { ARGUMENTS_MAX = 256, FIELDS_MAX = 9, BAR = 30 };

typedef struct choice {
    const char *out;                /* --out */
    char *argv[ARGUMENTS_MAX + 4];  /* of dnbench */
    int argc;
    bool lines;                     /* there is something to time */
} choice;

typedef struct search {
    cli *c;
    cli_report report;
    cJSON *problems;         /* finished ones */
    cJSON *now;              /* the one at hand, or NULL */
    char *file;              /* the tuning file; NULL where nothing is kept */
    int all, done, changed;  /* changed: another row wins than the one that runs without the file */
    double first_ms, best_ms;
    bool bar, drawn, ended;
} search;

/* --- progress: on stderr, a bar on a terminal and lines elsewhere --- */

static void clear_bar(search *s)
{
    if (s->drawn)
        fprintf(stderr, "\r\033[K");
    s->drawn = false;
}

static void show_progress(search *s, const char *problem)
{
    if (s->c->quiet)
        return;
    if (!s->bar) {
        fprintf(stderr, "find: %d of %d: %s\n", s->done + 1, s->all, problem);
        return;
    }
    int full = s->all ? s->done * BAR / s->all : BAR;
    fprintf(stderr, "\r[%.*s%*s] %d of %d  %.30s\033[K", full, "##############################", BAR - full, "", s->done, s->all, problem);
    fflush(stderr);
    s->drawn = true;
}

/* --- the worker's lines --- */

static void add_text(cJSON *object, const char *name, const char *text)
{
    char *clean = cli_clean(text, false);
    cJSON_AddStringToObject(object, name, clean ? clean : "");
    free(clean);
}

static void on_start(search *s, char **f)
{
    s->all = atoi(f[1]);
    cJSON_AddStringToObject(s->report.json, "engines_version", f[2]);
    if (strcmp(f[3], "-") == 0) {
        cJSON_AddNullToObject(s->report.json, "tuning_file");
    } else {
        s->file = cli_format("%s", f[3]);
        add_text(s->report.json, "tuning_file", f[3]);
    }
}

static void on_line(search *s, char **f)
{
    cJSON_Delete(s->now);
    s->now = cJSON_CreateObject();
    add_text(s->now, "problem", f[2]);
    char *op = cli_format("%.*s", (int)strcspn(f[2], " "), f[2]);
    const char *direction = f[2] + strcspn(f[2], " ");
    direction += *direction == ' ';
    char *dir = cli_format("%.*s", (int)strcspn(direction, " "), direction);
    cJSON_AddStringToObject(s->now, "operation", op ? op : "");
    cJSON_AddStringToObject(s->now, "direction", dir ? dir : "");
    free(op);
    free(dir);
    cJSON_AddObjectToObject(s->now, "tensors");
    cJSON_AddArrayToObject(s->now, "algorithms");
    show_progress(s, f[2]);
}

/* "1x64x56x56" as a list. */
static cJSON *numbers(const char *text)
{
    cJSON *list = cJSON_CreateArray();
    while (*text) {
        char *end;
        double n = strtod(text, &end);
        if (end == text)
            break;
        cJSON_AddItemToArray(list, cJSON_CreateNumber(n));
        text = end + (*end == 'x');
    }
    return list;
}

static void on_tensor(search *s, char **f)
{
    cJSON *t = cJSON_AddObjectToObject(cJSON_GetObjectItem(s->now, "tensors"), f[2]);
    cJSON_AddStringToObject(t, "type", f[3]);
    cJSON_AddItemToObject(t, "dims", numbers(f[4]));
    cJSON_AddItemToObject(t, "strides", numbers(f[5]));
}

static void add_number(cJSON *object, const char *name, const char *text)
{
    if (*text == '-')
        cJSON_AddNullToObject(object, name);
    else
        cJSON_AddNumberToObject(object, name, atof(text));
}

static void on_row(search *s, char **f)
{
    cJSON *row = cJSON_CreateObject();
    cJSON_AddStringToObject(row, "name", f[2]);
    add_number(row, "algorithm", f[3]);
    add_number(row, "ms", f[4]);
    if (*f[4] == '-')
        cJSON_AddNullToObject(row, "workspace");
    else
        add_number(row, "workspace", f[5]);
    if (*f[6] == '-')
        cJSON_AddNullToObject(row, "deterministic");
    else
        cJSON_AddBoolToObject(row, "deterministic", *f[6] == '1');
    cJSON_AddBoolToObject(row, "first_choice", *f[7] == '1');
    if (*f[8])
        add_text(row, "why_not", f[8]);
    else
        cJSON_AddNullToObject(row, "why_not");
    cJSON_AddItemToArray(cJSON_GetObjectItem(s->now, "algorithms"), row);
}

static const cJSON *row_where(const search *s, const char *member, const char *name)
{
    const cJSON *row;
    cJSON_ArrayForEach(row, cJSON_GetObjectItem(s->now, "algorithms")) {
        const cJSON *m = cJSON_GetObjectItem(row, member);
        if (cJSON_IsNumber(cJSON_GetObjectItem(row, "ms")) && (name ? strcmp(m->valuestring, name) == 0 : cJSON_IsTrue(m)))
            return row;
    }
    return NULL;
}

static double number_of(const cJSON *row, const char *name)
{
    const cJSON *n = cJSON_GetObjectItem(row, name);
    return cJSON_IsNumber(n) ? n->valuedouble : -1;
}

static void say_best(search *s, const cJSON *best, const cJSON *first)
{
    char number[32] = "";
    if (number_of(best, "algorithm") >= 0)
        snprintf(number, sizeof number, "algorithm %d, ", (int)number_of(best, "algorithm"));
    const cJSON *sure = cJSON_GetObjectItem(best, "deterministic");
    cli_say(s->c, "%s\n  %10.4f ms  %s (%sworkspace %.0f%s)\n", cJSON_GetObjectItem(s->now, "problem")->valuestring, number_of(best, "ms"),
            cJSON_GetObjectItem(best, "name")->valuestring, number, number_of(best, "workspace"),
            cJSON_IsFalse(sure) ? ", not deterministic" : "");
    if (first && first != best)
        cli_say(s->c, "  %10.4f ms  %s without the tuning file\n", number_of(first, "ms"), cJSON_GetObjectItem(first, "name")->valuestring);
}

static void finish_problem(search *s)
{
    cJSON_AddItemToArray(s->problems, s->now);
    s->now = NULL;
    s->done++;
}

static void on_best(search *s, char **f)
{
    const cJSON *best = row_where(s, "name", f[2]), *first = row_where(s, "first_choice", NULL);
    clear_bar(s);
    if (best) {
        cJSON_AddStringToObject(s->now, "best", f[2]);
        say_best(s, best, first);
        if (first) {
            s->changed += first != best;
            s->first_ms += number_of(first, "ms");
            s->best_ms += number_of(best, "ms");
        }
    } else {
        cJSON_AddNullToObject(s->now, "best");
        cJSON *where = cli_finding(&s->report, CLI_WARNING, "no-algorithm", "no algorithm runs this problem",
                                   "the list of algorithms has the reason of each", NULL);
        cli_where(where, cJSON_GetObjectItem(s->now, "problem")->valuestring);
    }
    finish_problem(s);
}

static void on_fail(search *s, char **f)
{
    const cJSON *problem = s->now ? cJSON_GetObjectItem(s->now, "problem") : NULL;
    bool file = strstr(f[2], "tuning file") != NULL;
    clear_bar(s);
    cJSON *where = cli_finding(&s->report, file ? CLI_ERROR : CLI_WARNING, file ? "not-kept" : "problem-failed", f[2],
                               file ? "the winner is known and lost with this process" : "the other problems are not touched by it", NULL);
    if (problem)
        cli_where(where, problem->valuestring);
    if (file && s->file)
        cli_where(where, s->file);
    if (!file && s->now) {
        add_text(s->now, "failed", f[2]);
        cJSON_AddNullToObject(s->now, "best");
        finish_problem(s);
    }
}

static void on_engine(search *s, char **f)
{
    if (!cJSON_GetObjectItem(s->report.json, "engine"))
        cJSON_AddStringToObject(s->report.json, "engine", f[1]);
}

static void on_end(search *s, char **f)
{
    (void)f;
    s->ended = true;
}

static void take_line(search *s, char *line)
{
    static const struct { const char *word; int fields; bool within; void (*take)(search *, char **); } table[] = {
        { "start", 4, false, on_start }, { "engine", 2, false, on_engine }, { "line", 3, false, on_line },
        { "tensor", 6, true, on_tensor }, { "row", 9, true, on_row },       { "best", 3, true, on_best },
        { "fail", 3, false, on_fail },   { "end", 3, false, on_end },
    };
    char *f[FIELDS_MAX];
    int n = 0;
    for (char *at = line; at && n < FIELDS_MAX;) {
        f[n++] = at;
        at = strchr(at, '\t');
        if (at)
            *at++ = 0;
    }
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(f[0], table[i].word) == 0 && n >= table[i].fields && (!table[i].within || s->now))
            table[i].take(s, f);
}

/* --- the end --- */

static void say_totals(search *s)
{
    if (s->file && s->done)
        cli_say(s->c, "%d problem%s; the winners are in %s, and ANYDNN_TUNE=read makes a program use them.\n", s->done,
                s->done == 1 ? "" : "s", s->file);
    if (s->best_ms > 0 && s->file)
        cli_say(s->c, "Another row than without the file in %d; all once: %.3f ms instead of %.3f ms.\n", s->changed, s->best_ms, s->first_ms);
}

static bool write_out(search *s, const char *path)
{
    char *text = cJSON_Print(s->report.json), *beside = cli_format("%s.part", path);
    FILE *f = text && beside ? fopen(beside, "wb") : NULL;
    bool good = f && fprintf(f, "%s\n", text) > 0;
    good = f && fclose(f) == 0 && good;
#ifdef _WIN32
    remove(path);
#endif
    good = good && rename(beside, path) == 0;
    if (!good) {
        cli_problem("anydnn find: %s cannot be written", path);
        if (f)
            remove(beside);
    }
    free(text);
    free(beside);
    return good;
}

static int finish(search *s, const choice *o, int code)
{
    int signal_number = worker_signal();
    clear_bar(s);
    cJSON_Delete(s->now);
    cJSON_AddBoolToObject(s->report.json, "interrupted", signal_number != 0);
    if (signal_number) {
        char *what = cli_format("stopped after %d of %d problems", s->done, s->all);
        cli_finding(&s->report, CLI_WARNING, "interrupted", what, s->file ? "the winners of the finished ones are kept in the tuning file"
                                                                           : "nothing is kept of it", NULL);
        free(what);
    } else if (!s->ended && code != CLI_USAGE && code != CLI_CANNOT_READ) {
        cli_finding(&s->report, CLI_ERROR, "worker-ended", "dnbench ended before it was done", "what it had said until then is here", NULL);
    }
    say_totals(s);
    bool written = !o->out || write_out(s, o->out);
    /* What dnbench refuses it has said itself. */
    int answer = code == CLI_USAGE || code == CLI_CANNOT_READ ? code : CLI_GOOD;
    if (answer == CLI_GOOD)
        answer = cli_report_end(s->c, &s->report);
    else
        cJSON_Delete(s->report.json);
    free(s->file);
    if (signal_number) {
        /* As a program that the signal ends: a loop in a shell ends too. */
        fflush(stdout);
        signal(signal_number, SIG_DFL);
        raise(signal_number);
    }
    return written ? answer : CLI_CANNOT_READ;
}

static int start_search(cli *c, choice *o)
{
    search s = { .c = c, .bar = isatty(2) != 0 };
    worker w;
    char *path = worker_path();
    if (!path) {
        cli_problem("anydnn find: dnbench was not found beside this program nor in ../libexec/anydnn: it does the timing");
        return CLI_CANNOT_READ;
    }
    o->argv[0] = path;
    o->argv[o->argc] = NULL;
    fflush(stdout);
    cli_report_begin(&s.report, "find");
    s.problems = cJSON_AddArrayToObject(s.report.json, "problems");
    int code = CLI_CANNOT_READ;
    if (worker_start(&w, o->argv)) {
        for (char *line; (line = worker_line(&w)) != NULL;)
            take_line(&s, line);
        code = worker_end(&w);
    }
    free(path);
    return finish(&s, o, code);
}

/* --- the command line --- */

static bool give(choice *o, const char *word)
{
    if (o->argc >= ARGUMENTS_MAX)
        return false;
    o->argv[o->argc++] = (char *)word;
    return true;
}

/* An option that dnbench has under the same name. NULL where the word is none of them. */
static const char *passed_on(choice *o, int argc, char **argv, int *i)
{
    static const char *const names[] = { "--batch", "--dtype", "--layout", "--tune", "--engine", "--lib", "--filter" };
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        const char *value = cli_option_value(argc, argv, i, names[k]);
        if (value && *value && !(give(o, names[k]) && give(o, value)))
            return "";
        if (value)
            return value;
    }
    return NULL;
}

static int take_word(cli *c, choice *o, int argc, char **argv, int *i)
{
    static const char *const models[] = { "resnet50", "vgg16", "mobilenet_v2" };
    const char *value;
    if ((value = cli_option_value(argc, argv, i, "--model")) != NULL) {
        for (int k = 0; k < 3; k++)
            if (strcmp(value, models[k]) == 0) {
                o->lines = true;
                return give(o, "-l") && give(o, models[k]) ? CLI_GOOD : cli_usage("find", "too many words");
            }
        return cli_usage("find", "--model has resnet50, vgg16 and mobilenet_v2");
    }
    if ((value = cli_option_value(argc, argv, i, "--export")) != NULL) {
        c->json = true;
        return strcmp(value, "json") == 0 ? CLI_GOOD : cli_usage("find", "--export has json");
    }
    if ((value = cli_option_value(argc, argv, i, "--out")) != NULL) {
        o->out = value;
        return *value ? CLI_GOOD : cli_usage("find", "--out needs a file");
    }
    if ((value = passed_on(o, argc, argv, i)) != NULL)
        return *value ? CLI_GOOD : cli_usage("find", "%s needs a value, or there are too many words", argv[*i]);
    if (argv[*i][0] == '-' && strcmp(argv[*i], "--forward") != 0)
        return cli_usage("find", "\"%s\" is no option of it", argv[*i]);
    o->lines = o->lines || argv[*i][0] != '-';
    return give(o, argv[*i]) ? CLI_GOOD : cli_usage("find", "too many words");
}

static int run(cli *c, int argc, char **argv)
{
    choice o = { .argv = { NULL, "find" }, .argc = 2 };
    bool json = c->json;
    for (int i = 1; i < argc; i++) {
        int code = take_word(c, &o, argc, argv, &i);
        if (code != CLI_GOOD)
            return code;
    }
    if (!o.lines)
        return cli_usage("find", "give a file of problem lines, a log, or --model");
    if (o.out)
        c->json = json;  /* the export goes to the file */
    return start_search(c, &o);
}

const cli_command cli_find = {
    .name = "find",
    .run = run,
    .summary = "time every algorithm for a network's or a log's problems; keep the winners",
    .usage =
        "usage: anydnn find [--model resnet50|vgg16|mobilenet_v2] [--batch N] [--dtype f32|f16|bf16|f64] [--layout nchw|nhwc]\n"
        "                   [--forward] [--tune FILE] [--engine NAME] [--filter A,-B] [--export json [--out FILE]] [FILE|LOG|LINE]...\n"
        "       anydnn find --lib FILE [...]\n\n"
        "Times every algorithm of our library for the problems of a file of problem lines, of a log that ANYDNN_LOG=plan wrote,\n"
        "or of a network's list, and keeps the winners in the tuning file (that of ANYDNN_TUNE_FILE, else the default one),\n"
        "which programs use with ANYDNN_TUNE=read. Ctrl-C keeps what was found until then.\n"
        "  --model NAME       every convolution of the network, forward and both gradients\n"
        "  --batch, --dtype, --layout   the same convolutions with these; batch 1, f32 and nchw in the lists\n"
        "  --forward          forward problems alone\n"
        "  --tune FILE        another tuning file\n"
        "  --engine NAME      ref, cpu or cuda; without it that of ANYDNN_ENGINE, else the first that works here\n"
        "  --filter A,-B      algorithms whose names have A and not B\n"
        "  --export json      shapes, algorithms, times, workspaces, determinism as JSON: on the standard output, or in --out FILE\n"
        "  --lib FILE         the algorithms of that library with cuDNN's interface instead; nothing is kept\n",
};
