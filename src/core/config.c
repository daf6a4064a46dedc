/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Every environment variable that the library reads, in one table, read once at the first use. */
#include "core/config.h"

#include "core/os.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static dn_config config;

/* Whether the comma-separated list has the word. */
static bool has_word(const char *list, const char *word)
{
    size_t len = strlen(word);
    for (const char *p = list; *p;) {
        size_t n = strcspn(p, ", ");
        if (n == len && strncmp(p, word, n) == 0)
            return true;
        p += n;
        p += strspn(p, ", ");
    }
    return false;
}

static void raise_level(int level)
{
    if (config.log_level < level)
        config.log_level = level;
}

static void read_engine(const char *v) { config.engine = v; }
static void read_solver(const char *v) { config.solver = v; }
static void read_log_file(const char *v) { config.log_file = v; }
static void read_tune_file(const char *v) { config.tune_file = v; }

static void read_cache_home(const char *v) { config.cache_home = v; }
#if !defined(_WIN32)
static void read_home(const char *v) { config.home = v; }
#endif

static void read_log(const char *v)
{
    static const struct { const char *word; int level; } levels[] = {
        { "error", DN_LOG_ERROR }, { "warn", DN_LOG_WARN }, { "info", DN_LOG_INFO },
    };
    static const struct { const char *word; int topic; } topics[] = {
        { "dispatch", DN_TOPIC_DISPATCH }, { "plan", DN_TOPIC_PLAN }, { "exec", DN_TOPIC_EXEC }, { "api", DN_TOPIC_API },
    };
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
        if (has_word(v, levels[i].word))
            raise_level(levels[i].level);
    int mask = 0;
    for (size_t i = 0; i < sizeof topics / sizeof *topics; i++)
        if (has_word(v, topics[i].word))
            mask |= topics[i].topic;
    if (mask) {
        config.log_topics = mask;
        raise_level(DN_LOG_INFO);
    }
}

/* cuDNN 9: 0 off, 1 errors, 2 and warnings, 3 and information. */
static void read_vendor_level(const char *v) { raise_level(atoi(v)); }
static void read_vendor_info(const char *v) { if (atoi(v)) raise_level(DN_LOG_INFO); }
static void read_vendor_warn(const char *v) { if (atoi(v)) raise_level(DN_LOG_WARN); }
static void read_vendor_error(const char *v) { if (atoi(v)) raise_level(DN_LOG_ERROR); }

static void read_vendor_dest(const char *v)
{
    if (!config.log_file)
        config.log_file = v;
}

static void read_check(const char *v)
{
    config.check = (has_word(v, "nan") ? DN_CHECK_NAN : 0) | (has_word(v, "ref") ? DN_CHECK_REF : 0);
}

static void read_tune(const char *v)
{
    config.tune_write = has_word(v, "write");
    config.tune_read = has_word(v, "read");
}

static void read_threads(const char *v) { config.threads = atoi(v); }

static void read_omp_threads(const char *v)
{
    if (config.threads <= 0)
        config.threads = atoi(v);  /* "4,2" gives the outer level */
}

static void read_tf32(const char *v) { config.tf32_off = strcmp(v, "0") == 0; }

static const struct { const char *name; void (*read)(const char *value); } table[] = {
    { "ANYDNN_ENGINE", read_engine },
    { "ANYDNN_SOLVER", read_solver },
    { "ANYDNN_LOG", read_log },
    { "ANYDNN_LOG_FILE", read_log_file },
    { "ANYDNN_CHECK", read_check },
    { "ANYDNN_TUNE", read_tune },
    { "ANYDNN_TUNE_FILE", read_tune_file },
    { "ANYDNN_THREADS", read_threads },
    { "OMP_NUM_THREADS", read_omp_threads },
    { "NVIDIA_TF32_OVERRIDE", read_tf32 },
    { "CUDNN_LOGLEVEL_DBG", read_vendor_level },
    { "CUDNN_LOGINFO_DBG", read_vendor_info },
    { "CUDNN_LOGWARN_DBG", read_vendor_warn },
    { "CUDNN_LOGERR_DBG", read_vendor_error },
    { "CUDNN_LOGDEST_DBG", read_vendor_dest },
#if defined(_WIN32)
    { "LOCALAPPDATA", read_cache_home },
#else
    { "XDG_CACHE_HOME", read_cache_home },
    { "HOME", read_home },
#endif
};

/* Values are copied, and kept for good: a program may change its environment later. */
static char *copies[sizeof table / sizeof *table];

static void read_all(void)
{
    config.log_topics = DN_TOPIC_DISPATCH | DN_TOPIC_PLAN | DN_TOPIC_EXEC | DN_TOPIC_API;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const char *v = getenv(table[i].name);
        size_t n = v ? strlen(v) + 1 : 0;
        if (n > 1 && (copies[i] = malloc(n)))
            table[i].read(memcpy(copies[i], v, n));
    }
}

const dn_config *dn_config_get(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_all);
    return &config;
}

bool dn_config_allows(const char *name)
{
    const char *list = dn_config_get()->solver;
    if (!list)
        return true;
    bool wanted = false, any = false;
    size_t len = strlen(name);
    for (const char *p = list; *p;) {
        size_t n = strcspn(p, ", ");
        bool minus = *p == '-';
        any = any || (!minus && n);
        if (n - minus == len && strncmp(p + minus, name, len) == 0) {
            if (minus)
                return false;
            wanted = true;
        }
        p += n;
        p += strspn(p, ", ");
    }
    return wanted || !any;
}
