/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Where Windows looks for a DLL. Source: Microsoft Learn, "Dynamic-link library search order" and LoadLibraryExW; the list of system DLLs
 * that are never searched for is short and stands in the registry (KnownDLLs). The machine is a tree of files: see pe_host. */
#ifndef DN_CLI_PESEARCH_H
#define DN_CLI_PESEARCH_H

#include "search.h"

/* Flags of LoadLibraryEx. */
#define PE_ALTERED_SEARCH 0x8u
#define PE_DLL_LOAD_DIR 0x100u
#define PE_APPLICATION_DIR 0x200u
#define PE_USER_DIRS 0x400u
#define PE_SYSTEM32 0x800u
#define PE_DEFAULT_DIRS 0x1000u /* application, user and system32 */

typedef struct pe_machine {
    const char *root;
    const char *exe;            /* path of the program, as Windows spells it; NULL: no application directory */
    const char *by;             /* the DLL that is being loaded by path and whose imports are looked for, or NULL */
    const char *path;           /* the variable PATH */
    const char *cwd;            /* current directory, or NULL */
    const char *const *user_dirs;
    int user_dir_count;
    unsigned long flags;
    bool has_flags;             /* LoadLibraryEx with flags, or a process with SetDefaultDllDirectories */
    bool unsafe_search;         /* SafeDllSearchMode is off */
    int machine;                /* PE machine of the program, 0 where it is not known */
} pe_machine;

typedef struct pe_try {
    char *path, *why_not;       /* why_not: NULL where found */
    const char *rule;           /* known-dll, application, dll-load-dir, add-dll-directory, system32, system16, windows, cwd, path */
    bool found;
} pe_try;

typedef struct pe_result {
    char *loaded;
    const char *rule;
    pe_try *tries;
    size_t try_count;
    ld_strings shadowed;
    const char *note;           /* a fixed sentence about the search, or NULL */
} pe_result;

/* The file behind "C:\dir\name.dll": case does not matter; the drive is a folder of the root (C, c, "C:" or drive_c) or the root itself.
 * A path with / at its start is taken as it is. NULL where there is none; the caller frees. */
char *pe_host(const char *root, const char *path);
void pe_search(const pe_machine *m, const char *name, pe_result *r);
void pe_result_free(pe_result *r);

#endif
