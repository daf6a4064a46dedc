/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The environment, read once. The table in config.c is the complete list; docs/environment.md explains it. */
#ifndef DN_CORE_CONFIG_H
#define DN_CORE_CONFIG_H

#include <stdbool.h>

enum { DN_LOG_OFF, DN_LOG_ERROR, DN_LOG_WARN, DN_LOG_INFO };
enum { DN_TOPIC_DISPATCH = 1, DN_TOPIC_PLAN = 2, DN_TOPIC_EXEC = 4, DN_TOPIC_API = 8 };
enum { DN_CHECK_NAN = 1, DN_CHECK_REF = 2 };

typedef struct dn_config {
    const char *engine;    /* ANYDNN_ENGINE or NULL */
    const char *solver;    /* ANYDNN_SOLVER: names, -name to exclude, separated by commas */
    int log_level;         /* ANYDNN_LOG, CUDNN_LOGLEVEL_DBG, CUDNN_LOG{INFO,WARN,ERR}_DBG */
    int log_topics;
    const char *log_file;  /* ANYDNN_LOG_FILE, CUDNN_LOGDEST_DBG; NULL = stderr */
    int check;             /* ANYDNN_CHECK */
    bool tune_read, tune_write;
    const char *tune_file; /* ANYDNN_TUNE_FILE or NULL for the default */
    const char *cache_home, *home;  /* XDG_CACHE_HOME (LOCALAPPDATA on Windows) and HOME or NULL: where the default is */
    int threads;           /* ANYDNN_THREADS, OMP_NUM_THREADS; 0 = the affinity mask */
    bool tf32_off;         /* NVIDIA_TF32_OVERRIDE=0 */
} dn_config;

const dn_config *dn_config_get(void);
/* Whether the row's name passes ANYDNN_SOLVER. */
bool dn_config_allows(const char *solver_name);

#endif
