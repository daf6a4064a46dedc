/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#include "case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const fills[BENCH_FILLS] = { "random", "int", "edge" };

static const struct number {
    const char *key;
    size_t offset;
    double standard;
} numbers[] = {
    { "alpha", offsetof(bench_case, alpha), 1 }, { "beta", offsetof(bench_case, beta), 0 },
    { "alpha2", offsetof(bench_case, alpha2), 1 }, { "beta2", offsetof(bench_case, beta2), 0 },
    { "eps", offsetof(bench_case, eps), 1e-5 }, { "factor", offsetof(bench_case, factor), 0.1 },
    { "value", offsetof(bench_case, value), 1.5 }, { "p", offsetof(bench_case, dropout), 0.5 },
    { "count", offsetof(bench_case, count), 50 }, { "step", offsetof(bench_case, step), -1 },
};
enum { NUMBERS = sizeof numbers / sizeof *numbers };

static double *number_at(bench_case *c, const struct number *n)
{
    return (double *)((char *)c + n->offset);
}

static dn_status refuse(const char *word, const char *rule)
{
    return dn_fail(DN_BAD_PARAM, "case: '%s' after the bar: %s", word, rule);
}

/* "5,3,1" or "50-10". */
static dn_status parse_lengths(const char *word, char *value, bench_lengths *l)
{
    char *end = value;
    for (l->n = 0; l->n < BENCH_LENGTHS; value = end + 1) {
        long v = strtol(value, &end, 10);
        if (end == value || v < 0 || v > INT32_MAX)
            break;
        l->length[l->n++] = (int32_t)v;
        if (!*end)
            return DN_SUCCESS;
        l->even = *end == '-' && l->n == 1;
        if (*end != ',' && !l->even)
            break;
    }
    return refuse(word, "lengths with commas between (16 at most), or the first and the last with - between");
}

int32_t bench_length_of(const bench_lengths *l, int64_t b, int64_t batch, int64_t time)
{
    if (!l->n)
        return (int32_t)time;
    if (!l->even || l->n < 2)
        return l->length[b % l->n];
    return (int32_t)(l->length[0] + (batch > 1 ? (l->length[1] - l->length[0]) * b / (batch - 1) : 0));
}

static dn_status parse_window(char *value, bench_case *c)
{
    char *end;
    long before = strtol(value, &end, 10), after = *end == ',' ? strtol(end + 1, &end, 10) : 0;
    if (*end || before < -INT16_MAX || before > INT16_MAX || after < -INT16_MAX || after > INT16_MAX)
        return refuse("win", "wants two whole numbers with a comma between");
    c->window = true;
    c->before = (int32_t)before;
    c->after = (int32_t)after;
    return DN_SUCCESS;
}

/* Lengths are within the tensor, and fall where the sequences are packed. */
static dn_status check_lengths(const bench_case *c)
{
    const dn_tensor *x = &c->p.t[c->p.t[DN_X].rank ? DN_X : DN_DX];
    if (c->len.n && c->p.op != DN_OP_RNN && c->p.op != DN_OP_ATTN)
        return refuse("len", "the operation has no sequences");
    if ((c->key_len.n || c->window || c->step != -1) && c->p.op != DN_OP_ATTN)
        return refuse("klen, win or step", "the operation has no keys");
    for (int64_t b = 0; c->p.op == DN_OP_RNN && c->len.n && b < x->dims[1]; b++) {
        int32_t n = bench_length_of(&c->len, b, x->dims[1], x->dims[0]);
        if (n > x->dims[0])
            return refuse("len", "a sequence is longer than the tensor");
        if (c->p.u.rnn.layout == 1 && b && n > bench_length_of(&c->len, b - 1, x->dims[1], x->dims[0]))
            return refuse("len", "packed sequences have lengths that fall");
    }
    return DN_SUCCESS;
}

static dn_status parse_word(char *word, bench_case *c)
{
    char *value = strchr(word, '='), *end;
    if (!value)
        return refuse(word, "wants key=value");
    *value++ = 0;
    for (int i = 0; i < NUMBERS; i++)
        if (strcmp(word, numbers[i].key) == 0) {
            *number_at(c, &numbers[i]) = strtod(value, &end);
            return *value && !*end ? DN_SUCCESS : refuse(word, "wants a number");
        }
    if (strcmp(word, "seed") == 0) {
        c->seed = strtoull(value, &end, 10);
        return *value && !*end ? DN_SUCCESS : refuse(word, "wants a whole number");
    }
    if (strcmp(word, "stats") == 0 && strcmp(value, "none") == 0) {
        c->no_stats = true;
        return DN_SUCCESS;
    }
    if (strcmp(word, "states") == 0 && strcmp(value, "none") == 0) {
        c->no_states = true;
        return DN_SUCCESS;
    }
    if (strcmp(word, "len") == 0 || strcmp(word, "klen") == 0)
        return parse_lengths(word, value, word[0] == 'k' ? &c->key_len : &c->len);
    if (strcmp(word, "win") == 0)
        return parse_window(value, c);
    if (strcmp(word, "fill") == 0)
        for (int i = 0; i < BENCH_FILLS; i++)
            if (strcmp(value, fills[i]) == 0) {
                c->fill = (bench_fill)i;
                return DN_SUCCESS;
            }
    return refuse(word, "no such word or value");
}

/* The flags that the API would set for these factors. */
static void set_flags(bench_case *c)
{
    dn_problem *p = &c->p;
    bool zero = c->beta == 0 && (p->op != DN_OP_BN || p->dir != DN_DIR_BWD || c->beta2 == 0);
    if (p->op == DN_OP_CONV_BIAS_ACT || p->op == DN_OP_DROPOUT || p->op == DN_OP_SET)
        zero = true;
    if ((p->op == DN_OP_RNN || p->op == DN_OP_ATTN) && p->dir != DN_DIR_BWD_FILTER)
        zero = true;
    if (p->op == DN_OP_SCALE)
        zero = false;
    p->flags = (uint16_t)((p->flags & ~DN_F_BETA_ZERO) | (zero ? DN_F_BETA_ZERO : 0));
}

void bench_case_update(bench_case *c)
{
    set_flags(c);
    dn_problem shown = c->p;
    shown.flags &= (uint16_t)~DN_F_BETA_ZERO;
    int n = dn_problem_print(&shown, c->text, sizeof c->text), start = n;
    for (int i = 0; i < NUMBERS && n < (int)sizeof c->text; i++)
        if (*number_at(c, &numbers[i]) != numbers[i].standard)
            n += snprintf(c->text + n, sizeof c->text - (size_t)n, "%s %s=%.17g", n == start ? " |" : "", numbers[i].key,
                          *number_at(c, &numbers[i]));
    if (c->fill && n < (int)sizeof c->text)
        n += snprintf(c->text + n, sizeof c->text - (size_t)n, "%s fill=%s", n == start ? " |" : "", fills[c->fill]);
    if (c->seed != 1 && n < (int)sizeof c->text)
        n += snprintf(c->text + n, sizeof c->text - (size_t)n, "%s seed=%llu", n == start ? " |" : "", (unsigned long long)c->seed);
    for (int k = 0; k < 2; k++) {
        const bench_lengths *l = k ? &c->key_len : &c->len;
        for (int i = 0; i < l->n && n < (int)sizeof c->text; i++)
            n += snprintf(c->text + n, sizeof c->text - (size_t)n, "%s%s%d", i == 0 && n == start ? " |" : "",
                          i ? l->even ? "-" : "," : k ? " klen=" : " len=", l->length[i]);
    }
    if (c->window && n < (int)sizeof c->text)
        n += snprintf(c->text + n, sizeof c->text - (size_t)n, "%s win=%d,%d", n == start ? " |" : "", c->before, c->after);
    if (c->no_states && n < (int)sizeof c->text)
        n += snprintf(c->text + n, sizeof c->text - (size_t)n, "%s states=none", n == start ? " |" : "");
    if (c->no_stats && n < (int)sizeof c->text)
        snprintf(c->text + n, sizeof c->text - (size_t)n, "%s stats=none", n == start ? " |" : "");
}

dn_status bench_case_parse(const char *line, bench_case *c)
{
    char text[sizeof c->text];
    memset(c, 0, sizeof *c);
    if (strlen(line) >= sizeof text)
        return dn_fail(DN_BAD_PARAM, "case: the line is longer than %zu bytes", sizeof text - 1);
    strcpy(text, line);
    for (int i = 0; i < NUMBERS; i++)
        *number_at(c, &numbers[i]) = numbers[i].standard;
    c->seed = 1;
    char *bar = strchr(text, '|');
    if (bar) {
        *bar++ = 0;
        for (char *w = strtok(bar, " \t\r\n"); w; w = strtok(NULL, " \t\r\n"))
            if (parse_word(w, c) != DN_SUCCESS)
                return DN_BAD_PARAM;
    }
    dn_status st = dn_problem_parse(text, &c->p);
    if (st != DN_SUCCESS && c->p.t[DN_X].rank + c->p.t[DN_Y].rank + c->p.t[DN_DX].rank + c->p.t[DN_DY].rank) {
        /* Words in error are told by a second reading: what the first one left out is all that is new in it. */
        dn_problem full = c->p;
        char again[2 * sizeof text];
        bench_complete(&full);
        int n = snprintf(again, sizeof again, "%s", text);
        static const char *const keys[DN_ROLE_COUNT] = { "x", "y", "w", "z", "b", "dx", "dy", "dz" };
        for (int r = 0; r < DN_ROLE_COUNT; r++)
            if (full.t[r].rank && !c->p.t[r].rank) {
                char tensor[512];
                dn_tensor_print(&full.t[r], (dn_role)r, tensor, sizeof tensor);
                n += snprintf(again + n, sizeof again - (size_t)n, " %s=%s", keys[r], tensor);
            }
        if (full.compute != c->p.compute)
            snprintf(again + n, sizeof again - (size_t)n, " comp=%s", dn_dtype_name((dn_dtype)full.compute));
        st = dn_problem_parse(again, &c->p);
    }
    if (st != DN_SUCCESS)
        return st;
    bench_complete(&c->p);
    bench_case_update(c);
    return check_lengths(c);
}

bool bench_list_add(bench_cases *l, const char *line, const char *where)
{
    if (l->n == l->room) {
        l->room = l->room ? 2 * l->room : 64;
        bench_case *more = realloc(l->c, (size_t)l->room * sizeof *l->c);
        if (!more) {
            fprintf(stderr, "dnbench: no memory for the list\n");
            return false;
        }
        l->c = more;
    }
    dn_error_clear();
    if (bench_case_parse(line, &l->c[l->n]) != DN_SUCCESS) {
        fprintf(stderr, "dnbench: %s: %s\n  %s\n", where, dn_error_text(), line);
        return false;
    }
    l->n++;
    return true;
}

/* Our log has plan lines: "anydnn info: plan ROW, workspace N: PROBLEM", with anything before them, among anything else. Answers
 * where the problem begins; NULL in another line. */
static char *planned(char *line)
{
    char *plan = strstr(line, "anydnn info: plan ");
    plan = plan ? strstr(plan, ", workspace ") : NULL;
    plan = plan ? strstr(plan, ": ") : NULL;
    return plan ? plan + 2 : NULL;
}

/* Whether the file is a log; the reading starts anew afterwards. */
static bool is_log(FILE *f, const char *path, bool *good)
{
    char line[4096];
    bool log = false, plans = false;
    while (!plans && fgets(line, sizeof line, f)) {
        log = log || strstr(line, "anydnn info: ") || strstr(line, "anydnn warning: ") || strstr(line, "anydnn error: ");
        plans = log && planned(line);
        if (!log && strstr(line, "CuDNN (v")) {
            fprintf(stderr, "dnbench: %s is another library's log, which does not name its problems in our form\n", path);
            *good = false;
            break;
        }
    }
    if (log && !plans) {
        fprintf(stderr, "dnbench: %s is a log without plan lines: ANYDNN_LOG=plan writes them\n", path);
        *good = false;
    }
    rewind(f);
    return log;
}

/* A line that was cut off by a full disk or another writer is passed over: it is no list that somebody wrote. */
static bool read_log(bench_cases *l, FILE *f, const char *path)
{
    char line[4096];
    int first = l->n;
    while (fgets(line, sizeof line, f)) {
        char *problem = planned(line);
        bench_case c;
        if (!problem || !strchr(problem, '\n') || bench_case_parse(problem, &c) != DN_SUCCESS)
            continue;
        int i = first;
        while (i < l->n && strcmp(l->c[i].text, c.text) != 0)
            i++;
        if (i == l->n && !bench_list_add(l, c.text, path))
            return false;
    }
    return true;
}

bool bench_list_read(bench_cases *l, const char *path)
{
    FILE *f = fopen(path, "r");
    char line[2048], where[1200];
    bool good = true;
    if (!f) {
        fprintf(stderr, "dnbench: %s cannot be read\n", path);
        return false;
    }
    if (is_log(f, path, &good) || !good) {
        good = good && read_log(l, f, path);
        fclose(f);
        return good;
    }
    for (int n = 1; fgets(line, sizeof line, f); n++) {
        char *comment = line;
        while ((comment = strchr(comment, '#')) != NULL && comment > line && comment[-1] == 'o')
            comment++;  /* the word algo#= */
        if (comment)
            *comment = 0;
        line[strcspn(line, "\r\n")] = 0;
        if (!line[strspn(line, " \t")])
            continue;
        snprintf(where, sizeof where, "%s:%d", path, n);
        good = bench_list_add(l, line, where) && good;
    }
    fclose(f);
    return good;
}

void bench_list_free(bench_cases *l)
{
    free(l->c);
    memset(l, 0, sizeof *l);
}
