/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#include "core/tunefile.h"

#include "core/config.h"
#include "core/log.h"
#include "core/os.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD "anydnn tune 1 " ANYDNN_VERSION
#define ENTRIES_MAX 65536       /* a file is not believed beyond this */
#define FILE_MAX (64 << 20)
#define LINE_MAX_ 4096

/* One malloc of "<engine> <problem line>" and, after its end, the row's name. */
typedef struct entry {
    char *key, *row;
} entry;

struct dn_tune_table {
    entry *e;
    int count, room;
};

dn_tune_table *dn_tune_table_new(void)
{
    return calloc(1, sizeof(dn_tune_table));
}

static void clear(dn_tune_table *t)
{
    for (int i = 0; i < t->count; i++)
        free(t->e[i].key);
    free(t->e);
    *t = (dn_tune_table){ 0 };
}

void dn_tune_table_free(dn_tune_table *t)
{
    if (t)
        clear(t);
    free(t);
}

int dn_tune_table_count(const dn_tune_table *t)
{
    return t->count;
}

/* Entries stay sorted by key; *at is where key stands or would. */
static bool look_up(const dn_tune_table *t, const char *key, int *at)
{
    int lo = 0, hi = t->count;
    while (lo < hi) {
        int mid = lo + (hi - lo) / 2, order = strcmp(t->e[mid].key, key);
        if (order == 0) {
            *at = mid;
            return true;
        }
        if (order < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    *at = lo;
    return false;
}

static bool grow(dn_tune_table *t)
{
    if (t->count < t->room)
        return true;
    int room = t->room ? t->room * 2 : 64;
    entry *e = realloc(t->e, (size_t)room * sizeof *e);
    if (!e)
        return false;
    t->e = e;
    t->room = room;
    return true;
}

static bool put(dn_tune_table *t, const char *key, const char *row)
{
    size_t k = strlen(key) + 1, r = strlen(row) + 1;
    char *text = malloc(k + r);
    int at;
    if (!text)
        return false;
    memcpy(text, key, k);
    memcpy(text + k, row, r);
    entry e = { text, text + k };
    if (look_up(t, key, &at)) {
        free(t->e[at].key);
        t->e[at] = e;
        return true;
    }
    if (t->count >= ENTRIES_MAX || !grow(t)) {
        free(text);
        return false;
    }
    memmove(t->e + at + 1, t->e + at, (size_t)(t->count - at) * sizeof e);
    t->e[at] = e;
    t->count++;
    return true;
}

/* "<engine> <row> <problem line>" as the key "<engine> <problem line>" and the row. Lines that are not so are passed over. */
static void take_line(dn_tune_table *t, const char *line, size_t len)
{
    char key[LINE_MAX_], row[256];
    const char *a = memchr(line, ' ', len);
    const char *b = a ? memchr(a + 1, ' ', len - (size_t)(a + 1 - line)) : NULL;
    if (!b || len >= sizeof key || memchr(line, 0, len) || (size_t)(b - a - 1) >= sizeof row || b == a + 1 || a == line)
        return;
    size_t engine = (size_t)(a - line), rest = len - (size_t)(b - line);
    memcpy(key, line, engine);
    memcpy(key + engine, b, rest);
    key[engine + rest] = 0;
    memcpy(row, a + 1, (size_t)(b - a - 1));
    row[b - a - 1] = 0;
    put(t, key, row);
}

bool dn_tune_table_parse(dn_tune_table *t, const char *text, size_t size)
{
    bool head = true;
    for (const char *p = text, *end = text + size; p < end;) {
        const char *nl = memchr(p, '\n', (size_t)(end - p));
        size_t len = (size_t)((nl ? nl : end) - p);
        if (head && (len != strlen(HEAD) || memcmp(p, HEAD, len) != 0))
            return false;
        if (!head)
            take_line(t, p, len);
        head = false;
        p += len + 1;
    }
    return !head;
}

const char *dn_tune_table_find(const dn_tune_table *t, const char *engine, const char *problem)
{
    char key[LINE_MAX_];
    int at;
    if (snprintf(key, sizeof key, "%s %s", engine, problem) >= (int)sizeof key || !look_up(t, key, &at))
        return NULL;
    return t->e[at].row;
}

/* --- the file --- */

static dn_lock lock = DN_LOCK_INIT;
static dn_tune_table table;
static bool loaded;

static bool default_path(char *out, size_t size)
{
    const dn_config *c = dn_config_get();
    const char *base = c->cache_home ? c->cache_home : c->home, *below = c->cache_home ? "" : "/.cache";
    return base && snprintf(out, size, "%s%s/anydnn/tune.txt", base, below) < (int)size;
}

bool dn_tune_file_path(char *out, size_t size)
{
    const char *named = dn_config_get()->tune_file;
    return named ? snprintf(out, size, "%s", named) < (int)size : default_path(out, size);
}

/* Whole file in memory, NULL where it cannot be had. */
static char *slurp(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    char *text = NULL;
    long n = f && fseek(f, 0, SEEK_END) == 0 ? ftell(f) : -1;
    if (n > 0 && n <= FILE_MAX && fseek(f, 0, SEEK_SET) == 0 && (text = malloc((size_t)n)))
        *size = fread(text, 1, (size_t)n, f);
    if (f)
        fclose(f);
    return text;
}

/* With the lock held. What the file says now wins over nothing, and nothing else: entries of this process stay. */
static void load(dn_tune_table *t)
{
    char path[2048];
    size_t size = 0;
    char *text = dn_tune_file_path(path, sizeof path) ? slurp(path, &size) : NULL;
    if (text && !dn_tune_table_parse(t, text, size) && dn_log_on(DN_LOG_INFO))
        dn_log(DN_LOG_INFO, DN_TOPIC_DISPATCH, "tuning file %s is of another version or damaged, ignored", path);
    free(text);
}

static bool write_all(FILE *f, const dn_tune_table *t)
{
    bool good = fprintf(f, "%s\n", HEAD) > 0;
    for (int i = 0; i < t->count && good; i++) {
        const char *space = strchr(t->e[i].key, ' ');
        good = fprintf(f, "%.*s %s%s\n", (int)(space - t->e[i].key), t->e[i].key, t->e[i].row, space) > 0;
    }
    return (fclose(f) == 0) && good;
}

/* Beside the file and renamed over it, so that a reader sees the old or the new one. Entries that another process added since are
 * read first; of two that write at the same moment the later one's file stays. */
static bool save(const char *key, const char *row)
{
    char path[2048], beside[2100];
    dn_tune_table now = { 0 };
    if (!dn_tune_file_path(path, sizeof path))
        return false;
    dn_make_parents(path);
    load(&now);
    put(&now, key, row);
    snprintf(beside, sizeof beside, "%s.%llu", path, dn_process_id());
    FILE *f = fopen(beside, "wb");
    bool good = f && write_all(f, &now) && dn_rename_over(beside, path) == 0;
    if (!good) {
        remove(beside);
        dn_log(DN_LOG_WARN, 0, "tuning file %s cannot be written", path);
    }
    clear(&now);
    return good;
}

/* --- what the core asks --- */

static void problem_key(const dn_problem *p, char *out, size_t size)
{
    dn_problem q = *p;
    q.algo = -1;
    q.flags &= (uint16_t)~(DN_F_BETA_ZERO | DN_F_IN_PLACE);
    for (int r = 0; r < DN_ROLE_COUNT; r++)
        q.align[r] = q.t[r].rank ? 16 : 0;
    dn_problem_print(&q, out, size);
}

static bool known_row(const char *name, char *copy, size_t size)
{
    return name && snprintf(copy, size, "%s", name) < (int)size;
}

const dn_solver *dn_tuned_row(const dn_engine *e, const dn_problem *p)
{
    char line[LINE_MAX_], row[256];
    if (!dn_config_get()->tune_read)
        return NULL;
    problem_key(p, line, sizeof line);
    dn_lock_take(&lock);
    if (!loaded)
        load(&table);
    loaded = true;
    bool known = known_row(dn_tune_table_find(&table, e->name, line), row, sizeof row);
    dn_lock_give(&lock);
    const dn_solver *s;
    for (int i = 0; known && (s = dn_solver_at(e, (dn_op)p->op, (dn_dir)p->dir, i)); i++) {
        dn_problem q = *p;
        if (q.algo < 0)
            q.algo = s->algo;  /* some rows step back unless asked for by number: the file asks */
        if (strcmp(s->name, row) == 0 && !dn_solver_refuses(s, &q))
            return s;
    }
    return NULL;
}

bool dn_tuned_keep(const dn_engine *e, const dn_problem *p, const dn_solver *s)
{
    char line[LINE_MAX_], key[LINE_MAX_ + 64];
    if (!dn_config_get()->tune_write)
        return true;
    problem_key(p, line, sizeof line);
    snprintf(key, sizeof key, "%s %s", e->name, line);
    dn_lock_take(&lock);
    put(&table, key, s->name);
    bool saved = save(key, s->name);
    dn_lock_give(&lock);
    return saved;
}
