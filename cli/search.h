/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * What glibc's loader would do: which file a name leads to, asked by which object, by which rule. Nothing is loaded or started; the files
 * are read. Rules: ld.so(8) and what glibc does (hwcaps subdirectories by its version); tests/cli/loader_random.c holds them against the loader of the
 * machine that the tests run on. */
#ifndef DN_CLI_SEARCH_H
#define DN_CLI_SEARCH_H

#include "ldcache.h"
#include "map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum ld_rule {
    LD_MISSING, LD_PROGRAM, LD_PRELOAD, LD_ALREADY, LD_RPATH, LD_ENVIRONMENT, LD_RUNPATH, LD_CACHE, LD_DEFAULT, LD_BY_PATH
} ld_rule;

/* A list of strings that it owns. */
typedef struct ld_strings {
    char **at;
    size_t count;
} ld_strings;

typedef struct ld_cpu {
    int level;             /* x86-64 micro-architecture level, 1 to 4; 0 on other processors */
    const char *platform;  /* AT_PLATFORM as the loader of glibc before 2.37 corrects it: "x86_64", "haswell", "xeon_phi", "aarch64" */
    bool avx512_1;         /* old name of a subdirectory, Intel only */
} ld_cpu;

typedef struct ld_settings {
    const char *root;          /* "" or the tree that stands for the machine */
    const char *library_path;  /* LD_LIBRARY_PATH, NULL where it is not set */
    const char *preload;       /* LD_PRELOAD, NULL where it is not set */
    const char *cwd;           /* absolute inside the tree */
    bool secure;               /* set-user-ID and the like */
    const ld_cpu *cpu;         /* NULL: this processor */
} ld_settings;

/* The loader of the tree and what is compiled into it. */
typedef struct ld_machine {
    char *interpreter;         /* path inside the tree, NULL where none was found */
    ld_strings system_dirs;    /* "/lib/x86_64-linux-gnu" ... */
    const char *lib;           /* value of $LIB */
    int glibc;                 /* minor number of the version, 0 where it is not known */
    bool musl;
    ld_strings subdirs;        /* "glibc-hwcaps/x86-64-v3/" ..., and "" at the end */
    char *cache_path;
    cli_map cache_file;
    ldcache cache;
    char *cache_fault;         /* why there is no cache; NULL where there is one */
    ldcache_cpu cache_cpu;
} ld_machine;

typedef struct ld_object {
    char *path;                /* as the loader spells it; links are not followed */
    char *real;                /* the file behind it, inside the tree */
    char *soname, *rpath, *runpath;
    ld_strings needed;
    ld_strings names;          /* by which it was asked for and found */
    char *origin;              /* $ORIGIN */
    uint64_t flags_1, device, inode;
    struct ld_object *loader;  /* the object that asked first; NULL for the program and for a path given to dlopen */
    ld_rule rule;
    bool is_program, is_interpreter, soname_known;
} ld_object;

typedef struct ld_try {
    char *path;
    ld_rule rule;
    const ld_object *of;       /* the object whose RPATH or RUNPATH it is */
    bool found;
    char *why_not;             /* NULL where found */
} ld_try;

typedef struct ld_result {
    char *needs;
    ld_object *by;             /* who asked; NULL where a program without a file was assumed */
    ld_object *object;         /* NULL where nothing was found */
    ld_rule rule;
    ld_try *tries;
    size_t try_count;
    ld_strings shadowed;       /* other files of that name, later in the search */
    char *error;               /* the loader stops with this text; NULL else */
    bool stops;                /* not for a missing file, but for one that is no library */
    bool from_dlopen, is_preload;
} ld_result;

typedef struct ld_process {
    ld_settings set;
    ld_machine machine;
    unsigned elf_class, elf_machine;  /* 1 or 2, and e_machine: of the program, else of this machine */
    ld_object **objects;              /* in load order; [0] is the program */
    size_t object_count;
    ld_result **results;              /* every request in order */
    size_t result_count;
    ld_object **all;                  /* owns every object, also those of a dlopen that failed */
    size_t all_count;
} ld_process;

/* program: path inside the tree, or NULL for a program without needs and search paths of its own. NULL where memory is short or the program
 * cannot be read; then error says why. Everything that it needs is loaded too, first the preloaded, then breadth first. */
ld_process *ld_process_start(const ld_settings *set, const char *program, char *error, size_t error_size);
/* dlopen(name) called from inside an object (NULL: the program), with all that it needs. Where something needed is missing the object is not
 * kept, as in a real process; the result's error says so. */
ld_result *ld_process_open(ld_process *p, const char *name, ld_object *by);
/* The first request for that name, or NULL. */
ld_result *ld_process_result(const ld_process *p, const char *name);
/* A loaded object by a name that the loader would accept for it, or NULL. */
ld_object *ld_process_object(const ld_process *p, const char *name);
void ld_process_free(ld_process *p);

/* The word of the JSON: "preload", "already-loaded", "rpath", "LD_LIBRARY_PATH", "runpath", "cache", "default", "path"; "program" for the
 * program itself; NULL for missing. */
const char *ld_rule_name(ld_rule rule);

/* search_path.c */
int ld_strings_add(ld_strings *s, const char *text);
int ld_strings_take(ld_strings *s, char *text);  /* owns text from now on; NULL is "memory is short" */
bool ld_strings_have(const ld_strings *s, const char *text);
void ld_strings_free(ld_strings *s);
void ld_cpu_detect(ld_cpu *cpu);
/* Reads the loader of the tree: its directories, version and cache. */
void ld_machine_read(ld_machine *m, const ld_settings *set, const char *interpreter, unsigned elf_class, unsigned elf_machine);
void ld_machine_free(ld_machine *m);
/* Replaces $ORIGIN, $LIB and $PLATFORM, with and without braces. NULL where the element cannot be used (why is then set to a fixed sentence). */
char *ld_expand(const ld_process *p, const ld_object *of, const char *text, const char **why);
/* Elements of a path list as the loader keeps them: expanded, without trailing slashes, each once; "" is the current directory. */
void ld_split(const ld_process *p, const ld_object *of, const char *list, const char *separators, ld_strings *dirs);
/* Absolute path inside the tree; relative ones start at the working directory. */
char *ld_absolute(const ld_process *p, const char *path);

/* search_file.c: what the loader thinks of one file. */
typedef enum ld_verdict { LD_TAKES, LD_NOT_THERE, LD_SKIPS, LD_ENDS_LIST, LD_STOPS } ld_verdict;
/* LD_SKIPS: goes on with the next directory; LD_ENDS_LIST: goes on with the next rule; LD_STOPS: the load fails. why: what to say; the
 * caller frees. */
ld_verdict ld_file_judge(const ld_process *p, const char *path, char **why);
/* Reads an object that was judged LD_TAKES; NULL where it cannot be loaded (error: the loader's reason). */
ld_object *ld_object_read(const ld_process *p, const char *path, const char **error);
void ld_object_free(ld_object *o);
/* Class and machine of an ELF file and its interpreter (NULL where it has none; the caller frees); -1 where it is no ELF file. */
int ld_program_kind(const char *root, const char *path, unsigned *elf_class, unsigned *elf_machine, char **interpreter);

#endif
