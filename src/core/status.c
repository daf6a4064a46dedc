/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The last-error text belongs to the thread, not to a handle: many failing calls (every Set of a descriptor) have no handle. */
#include "core/status.h"

#include "core/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local const char *call_name = "";
static _Thread_local char text[DN_ERROR_MAX];

void dn_call_begin(const char *function)
{
    call_name = function;
    if (dn_log_on(DN_LOG_INFO))
        dn_log(DN_LOG_INFO, DN_TOPIC_API, "%s", function);
}

const char *dn_error_text(void)
{
    return text;
}

void dn_error_clear(void)
{
    text[0] = 0;
}

dn_status dn_fail(dn_status st, const char *fmt, ...)
{
    int n = snprintf(text, sizeof text, "%s%s", call_name, *call_name ? ": " : "");
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text + n, sizeof text - (size_t)n, fmt, ap);
    va_end(ap);
    return st;
}

void dn_fail_append(const char *fmt, ...)
{
    size_t n = strlen(text);
    if (n + 2 >= sizeof text)
        return;
    if (n)
        text[n++] = '\n';
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text + n, sizeof text - n, fmt, ap);
    va_end(ap);
}

const char *dn_status_name(dn_status st)
{
    static const char *const names[DN_STATUS_COUNT] = {
        [DN_SUCCESS] = "SUCCESS",
        [DN_NOT_INITIALIZED] = "NOT_INITIALIZED",
        [DN_ALLOC_FAILED] = "ALLOC_FAILED",
        [DN_BAD_PARAM] = "BAD_PARAM",
        [DN_INTERNAL_ERROR] = "INTERNAL_ERROR",
        [DN_ARCH_MISMATCH] = "ARCH_MISMATCH",
        [DN_MAPPING_ERROR] = "MAPPING_ERROR",
        [DN_EXECUTION_FAILED] = "EXECUTION_FAILED",
        [DN_NOT_SUPPORTED] = "NOT_SUPPORTED",
        [DN_VERSION_MISMATCH] = "VERSION_MISMATCH",
        [DN_INVALID_VALUE] = "INVALID_VALUE",
    };
    return (unsigned)st < DN_STATUS_COUNT ? names[st] : "unknown";
}
