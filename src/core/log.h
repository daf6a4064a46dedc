/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Log lines go to the file of the environment and to the caller's callback (cudnnSetCallback). dn_log_on is one load, so a
 * caller asks it before it formats anything. Never to stdout unless CUDNN_LOGDEST_DBG says stdout. */
#ifndef DN_CORE_LOG_H
#define DN_CORE_LOG_H

#include "core/config.h"
#include "core/status.h"

#include <stdbool.h>

/* The caller's hook: level is DN_LOG_*, text one or more lines. Installed by src/api, which alone knows cudnnDebug_t. */
typedef void (*dn_log_hook)(int level, dn_status st, const char *text);
void dn_log_set_hook(dn_log_hook hook, int level);  /* level: most verbose that the hook wants */

bool dn_log_on(int level);
void dn_log(int level, int topic, const char *fmt, ...) DN_PRINTF(3, 4);
void dn_log_status(int level, dn_status st, const char *text);

#endif
