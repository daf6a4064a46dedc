/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The parts of `anydnn check`: what was found on the machine, and the judges that turn it into findings. */
#ifndef DN_CLI_CHECK_H
#define DN_CLI_CHECK_H

#include "cli.h"
#include "discover.h"
#include "inspect.h"
#include "owner.h"

/* One file of a copy: a name in its folder and what lies behind it. */
typedef struct check_file {
    const discover_file *name;
    const cli_file *file;  /* what lies behind the name; NULL where the link leads nowhere */
} check_file;

/* One copy: the libraries of one ABI and one system in one folder. */
typedef struct check_copy {
    const discover_dir *dir;
    int abi;
    bool is_dll;
    check_file *files;
    size_t count;
    int version;        /* of libcudnn itself, else of most sub-libraries; 0 where it cannot be told */
    int cuda;           /* CUDA major, 0 where it cannot be told */
    const char *arch;   /* of most files; NULL where it cannot be told */
    bool is_ours;       /* anydnn's own library, which has everything in libcudnn */
    bool is_complete;   /* every sub-library of the version is there, readable and of that version */
    bool is_used;       /* a plain program or a framework found here would load it */
    const owner *owner; /* of libcudnn's file; NULL where nobody owns it */
    cJSON *json;        /* its object in the report */
} check_copy;

typedef struct check_toolkit {
    char *path, *version; /* "12.1.1"; version NULL where it cannot be told */
    bool has_nvcc;
} check_toolkit;

typedef struct check_framework {
    const char *name;       /* as frameworks.tsv spells it */
    char *version;          /* with its local part: 2.1.0+cu121 */
    const char *site;       /* its site-packages folder */
    const char *distribution; /* as pip spells it */
    int cuda;               /* major, 0 where not known */
    char *wants;            /* "==8.9.2.26", ">=9.1,<10", "8.6"; NULL where nothing says so */
    char *wants_how;        /* where wants comes from */
    char *asks;             /* name that it asks the loader for: "libcudnn.so.8" */
    bool links, is_dll, is_cpu; /* links: its library has asks as NEEDED or import */
    char *gets;             /* path of the file; NULL where nothing was found */
    int version_gets;
    const char *rule;
} check_framework;

typedef struct check {
    cli *c;
    cli_report report;
    discover found;
    owners owners;
    inspect_list *lists;    /* one for each folder of found, for inspect's rules */
    check_copy *copies;
    size_t copy_count;
    char *driver;           /* "535.54.03"; NULL where none was found */
    char *driver_how;       /* the file that says so */
    check_toolkit *toolkits;
    size_t toolkit_count;
    size_t framework_count;
    discover_names headers_told; /* header files that a finding names already */
    const char *const *env; /* of --env, ends with NULL */
    const char *const *requires;
    size_t require_count;
    int gpu;                /* compute capability times 10: 86; 0 where not given */
    bool fix, dry_run;
} check;

/* cmd_check.c: only what is on the machine, for other commands: copies and frameworks. The report is the caller's to delete. */
void check_look(check *k, cli *c);
void check_end(check *k);
/* check_copies.c: groups the files, looks into each, judges each copy by itself. */
void check_copies(check *k);
check_copy *check_copy_of(check *k, const char *path); /* the copy that a real path belongs to, or NULL */
/* check_files.c: whether a copy can be used, on this machine. */
void check_files(check *k);
bool check_shows_version(const cli_file *file); /* a version that the file itself shows */
/* Another file of the copy that this name should be a link to, since its bytes are the same; NULL where there is none. */
const check_file *check_twin(const check_copy *copy, size_t i);
/* check_pairs.c: copies beside each other, headers beside libraries. */
void check_pairs(check *k);
void check_headers(check *k);
/* check_load.c: what a plain program would load, the variable, the cache. */
void check_load(check *k);
/* LD_LIBRARY_PATH as it stands for the tree: elements that start with the root lose it. NULL where it is not set. The caller frees. */
char *check_library_path(const check *k);
/* Asks for the sub-libraries as the loaded libcudnn would, and judges where they come from. who: for texts, "a plain program". */
struct ld_process;
struct ld_object;
void check_loaded_parts(check *k, struct ld_process *p, struct ld_object *library, const char *who);
/* check_machine.c: driver, toolkits, GPU. */
void check_machine(check *k);
/* check_frameworks.c */
void check_frameworks(check *k);
/* check_require.c: false (after a message) where a requirement makes no sense. */
bool check_require_parses(const char *text);
void check_require(check *k);
/* check_fix.c: shows and carries out what may be mended, each with an object in list; answers the number of changes. */
int check_mend(check *k, cJSON *list);
void check_mend_failures(check *k, const cJSON *list); /* findings for those that failed */

/* Compares dotted versions number by number: "9.10" > "9.9", "12" == "12.0". */
int check_compare(const char *a, const char *b);
/* A finding with texts made by cli_format, which it frees; where: one path or NULL. */
cJSON *check_finding(check *k, cli_severity severity, const char *id, char *what, const char *why, char *fix, const char *where);
/* root + path, for people and for commands that they run. The caller frees. */
char *check_host(const check *k, const char *path);

#endif
