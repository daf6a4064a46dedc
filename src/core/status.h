/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Status values inside the library, and the text that goes with every failure.
 * The numbers are ours: cuDNN 8 and 9 number the same meanings differently, and src/api/status.c translates. */
#ifndef DN_CORE_STATUS_H
#define DN_CORE_STATUS_H

#include <stddef.h>

typedef enum dn_status {
    DN_SUCCESS,
    DN_NOT_INITIALIZED,   /* no engine answers, or the handle is not made */
    DN_ALLOC_FAILED,      /* host or device memory could not be had */
    DN_BAD_PARAM,         /* an argument breaks a documented rule */
    DN_INTERNAL_ERROR,    /* our own mistake, or a helper library's */
    DN_ARCH_MISMATCH,     /* the device is not one this build has code for */
    DN_MAPPING_ERROR,
    DN_EXECUTION_FAILED,  /* work was started and failed */
    DN_NOT_SUPPORTED,     /* legal, but no row of the engine takes it */
    DN_VERSION_MISMATCH,
    DN_INVALID_VALUE,     /* cuDNN 8 alone: a dropout states buffer that is too small */
    DN_STATUS_COUNT
} dn_status;

#if defined(__GNUC__)
#define DN_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define DN_PRINTF(fmt, args)
#endif

/* Name of the exported function that this thread is in; the prefix of every text set by dn_fail. */
void dn_call_begin(const char *function);

/* Sets this thread's last-error text to "function: text" and answers st, so a check is one line:
 *     if (pad < 0) return dn_fail(DN_BAD_PARAM, "pad_h is %d; it must be 0 or more", pad);
 * The text is cut at DN_ERROR_MAX - 1 bytes. It goes to the log where the API answers (dn_answer in api/status.c). */
#define DN_ERROR_MAX 4096
dn_status dn_fail(dn_status st, const char *fmt, ...) DN_PRINTF(2, 3);

/* Appends a line to the last-error text (the rows' sentences under a NOT_SUPPORTED). */
void dn_fail_append(const char *fmt, ...) DN_PRINTF(1, 2);

/* This thread's last-error text; "" where nothing failed since the last dn_error_clear. Never NULL. */
const char *dn_error_text(void);
void dn_error_clear(void);

const char *dn_status_name(dn_status st);  /* "BAD_PARAM" */

#endif
