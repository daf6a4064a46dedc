/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#include "core/log.h"

#include "core/os.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static _Atomic(dn_log_hook) hook;
static _Atomic int hook_level;
static _Atomic int level = -1;  /* most verbose of file and hook; -1: the environment was not read yet */
static FILE *file;
static dn_lock lock = DN_LOCK_INIT;

static int file_level(void)
{
    return dn_config_get()->log_level;
}

static void refresh(void)
{
    int h = atomic_load(&hook) ? atomic_load(&hook_level) : DN_LOG_OFF;
    int f = file_level();
    atomic_store(&level, h > f ? h : f);
}

void dn_log_set_hook(dn_log_hook fn, int wanted)
{
    atomic_store(&hook_level, wanted);
    atomic_store(&hook, fn);
    refresh();
}

bool dn_log_on(int at)
{
    int l = atomic_load_explicit(&level, memory_order_relaxed);
    if (l < 0) {
        refresh();
        l = atomic_load(&level);
    }
    return at <= l;
}

/* %i in the name stands for the process, as with the vendor's variable. */
static void file_name(const char *pattern, char *out, size_t size)
{
    size_t n = 0;
    for (const char *p = pattern; *p && n + 24 < size;) {
        if (p[0] == '%' && p[1] == 'i') {
            n += (size_t)snprintf(out + n, size - n, "%llu", dn_process_id());
            p += 2;
        } else {
            out[n++] = *p++;
        }
    }
    out[n] = 0;
}

/* With the lock held. A file that cannot be opened falls to stderr: losing the log in silence helps nobody. */
static FILE *destination(void)
{
    if (file)
        return file;
    const char *name = dn_config_get()->log_file;
    file = stderr;
    if (name && strcmp(name, "stdout") == 0) {
        file = stdout;
    } else if (name && strcmp(name, "stderr") != 0) {
        char path[1024];
        file_name(name, path, sizeof path);
        FILE *f = fopen(path, "a");
        if (f)
            file = f;
        else
            fprintf(stderr, "anydnn: cannot open the log file %s\n", path);
    }
    return file;
}

void dn_log_status(int at, dn_status st, const char *text)
{
    static const char *const names[] = { "", "error", "warning", "info" };
    if (at <= file_level()) {
        dn_lock_take(&lock);
        FILE *f = destination();
        fprintf(f, "anydnn %s: %s%s%s\n", names[at], st == DN_SUCCESS ? "" : dn_status_name(st), st == DN_SUCCESS ? "" : ": ",
                text);
        fflush(f);
        dn_lock_give(&lock);
    }
    dn_log_hook h = atomic_load(&hook);
    if (h && at <= atomic_load(&hook_level))
        h(at, st, text);
}

void dn_log(int at, int topic, const char *fmt, ...)
{
    if (!dn_log_on(at) || (topic && !(topic & dn_config_get()->log_topics)))
        return;
    char text[2048];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    dn_log_status(at, DN_SUCCESS, text);
}
