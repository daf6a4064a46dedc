/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * What every API test shares: the library under test, opened by path (first argument, else CUDNN_LIB), a table of its real
 * functions, rows that compare a status, and guarded memory. Nothing here is linked with the library, so the same program tests
 * ours and the vendor's. */
#ifndef API_LIB_H
#define API_LIB_H

#include <cudnn.h>
#include <anydnn.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

/* Members of struct api: every function of this ABI that functions.def calls real. */
#define API_MEMBER_1_REAL(n) __typeof__(&n) n;
#define API_MEMBER_1_STUB(n)
#define API_MEMBER_0_REAL(n)
#define API_MEMBER_0_STUB(n)
#if DN_ABI == 8
#define API_SELECT(what, n, in8, in9, kind) API_##what##_##in8##_##kind(n)
#define API_VERSION 8907
#else
#define API_SELECT(what, n, in8, in9, kind) API_##what##_##in9##_##kind(n)
#define API_VERSION 91900
#endif
/* anydnn's own functions; absent in other libraries. */
#define API_OWN(X) X(anydnnGetVersionString) X(anydnnGetEngineName) X(anydnnGetLastSolver) X(anydnnMalloc) X(anydnnFree) \
    X(anydnnCopyIn) X(anydnnCopyOut) X(anydnnSynchronize) X(anydnnGetLastErrorString)

struct api {
#define DN_FN(n, in8, in9, l8, l9, kind) API_SELECT(MEMBER, n, in8, in9, kind)
#include "api/functions.def"
#undef DN_FN
    API_OWN(API_MEMBER_1_REAL)
};
extern struct api api;

#define OK CUDNN_STATUS_SUCCESS
#define BAD CUDNN_STATUS_BAD_PARAM
#define NOSUP CUDNN_STATUS_NOT_SUPPORTED
#define NOINIT CUDNN_STATUS_NOT_INITIALIZED

/* Opens the library; answers false (and says why) where it cannot. Sets api, api_ours. */
bool api_open(int argc, char **argv);
void *api_symbol(const char *name);     /* NULL where the library lacks it */
extern bool api_ours;                   /* it exports anydnnGetVersionString */
const char *api_engine(void);           /* engine name of a fresh handle, "vendor", or NULL where no handle can be made */

/* A handle shared by the tests of a program, or skip() where none can be made. */
cudnnHandle_t api_handle(void);
/* Text of the last failure, "" where there is none to be had. */
const char *api_error(void);
/* The status without its detail: 9 has codes such as BAD_PARAM_NULL_POINTER inside BAD_PARAM's thousand. */
int api_class(cudnnStatus_t st);
const char *api_status(cudnnStatus_t st);

/* --- rows: function, arguments, wanted status, substrings that the text must have (ours only; "" = no wish) ---
 * A failing row is printed with file and line, and counted; api_rows_done() fails the test if any row of it failed. */
typedef struct api_row_info {
    const char *file;
    int line;
    const char *fn, *args;
    cudnnStatus_t ours, vendors;
    const char *reason;              /* why the vendor's answer differs on purpose, or NULL */
    const char *const *texts;        /* ended by NULL */
} api_row_info;
void api_row_begin(const char *fn);  /* makes the last-error text another function's, so that a stale one is seen */
void api_row_check(const api_row_info *r, cudnnStatus_t got);
/* Another library may crash in a row: that is printed and counted, and the next row runs. Ours may not. */
void api_row_crashed(const api_row_info *r);
extern sigjmp_buf api_row_jump;
void api_row_absent(const char *fn);
void api_rows_done(void);
void api_row_skipped(const char *fn);
bool api_row_seen(const char *fn);   /* some row called it, or would have */
extern int api_row_count;

#define API_ROW(f, arguments, want, vendor_want, why, ...)                                                       \
    do {                                                                                                         \
        if (!api.f) {                                                                                            \
            api_row_absent(#f);                                                                                  \
            break;                                                                                               \
        }                                                                                                        \
        const api_row_info row_ = {__FILE__, __LINE__, #f, #arguments, want, vendor_want, why,                   \
                                   (const char *const[]){__VA_ARGS__, NULL}};                                    \
        api_row_begin(#f);                                                                                       \
        if (api_ours || !sigsetjmp(api_row_jump, 1))                                                             \
            api_row_check(&row_, api.f arguments);                                                               \
        else                                                                                                     \
            api_row_crashed(&row_);                                                                              \
    } while (0)
#define ROW(f, arguments, want, ...) API_ROW(f, arguments, want, want, NULL, __VA_ARGS__)
/* A row that makes another library crash: there it does not run, and its function counts as called all the same. */
#define ROW_OURS(f, arguments, want, ...)              \
    do {                                               \
        if (api_ours)                                  \
            ROW(f, arguments, want, __VA_ARGS__);      \
        else                                           \
            api_row_skipped(#f);                       \
    } while (0)
/* A deliberate difference: what the vendor answers, and why we do not. */
#define ROW_V(f, arguments, want, vendor_want, why, ...) API_ROW(f, arguments, want, vendor_want, why, __VA_ARGS__)

/* A call that must succeed; prints the call, the status and the text where it does not. */
#define CALL(f, arguments) api_must(__FILE__, __LINE__, #f #arguments, api.f arguments)
void api_must(const char *file, int line, const char *call, cudnnStatus_t st);
#define NEED(f) do { if (!api.f) skip(); } while (0)

/* --- memory that the library can work in: host memory between unmapped pages, or managed memory on a GPU ---
 * What lies round the block is filled with a pattern that api_mem_check looks at. */
void *api_alloc(size_t size);                            /* 64-byte aligned start, filled with 0xcd */
void *api_alloc_end(size_t size, size_t align);          /* ends within align bytes of the unmapped page */
void api_mem_check(const char *file, int line);          /* fails the test where a byte round any block changed */
void api_mem_free(void);                                 /* checks and frees every block */
void api_sync(void);                                     /* waits for the device, where there is one */
#define MEM_CHECK() (api_sync(), api_mem_check(__FILE__, __LINE__))

/* cmocka teardown of every test: memory given back and checked. */
int api_teardown(void **state);
/* main() of a test program. */
#define API_MAIN(tests)                                                          \
    int main(int argc, char **argv)                                              \
    {                                                                            \
        if (!api_open(argc, argv))                                               \
            return 2;                                                            \
        return cmocka_run_group_tests_name(argv[0], tests, NULL, NULL);          \
    }
#define API_TEST(f) cmocka_unit_test_teardown(f, api_teardown)

#endif
