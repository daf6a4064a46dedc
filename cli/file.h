/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * What a file is, read from the file itself and never by loading it: a cuDNN library or sub-library (ELF, PE, static archive), another
 * library, a header, an archive, or something else under such a name. */
#ifndef DN_CLI_FILE_H
#define DN_CLI_FILE_H

#include "elf.h"
#include "pe.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum file_kind {
    FILE_MISSING,  /* nothing there, or not readable: see problem */
    FILE_ELF,
    FILE_PE,
    FILE_STATIC,   /* ar archive: static library, or import library of Windows */
    FILE_HEADER,   /* C header with, or near, the version macros */
    FILE_ARCHIVE,  /* tar, zip or wheel */
    FILE_HTML,     /* a web page saved under a library's name */
    FILE_LFS,      /* a Git LFS pointer */
    FILE_TEXT,     /* other text, linker scripts among them */
    FILE_OTHER,
    FILE_DIR
} file_kind;

/* How a version is known, the strongest last. */
typedef enum file_how {
    HOW_UNKNOWN,
    HOW_RESOURCE,  /* version resource of a PE file: a hint only, real ones are wrong at times */
    HOW_NEIGHBOUR, /* the library beside it that a thin loader opens */
    HOW_NAME,      /* libcudnn.so.8.9.7 */
    HOW_CODE,      /* constants in code that compare with a known version */
    HOW_MACRO,     /* CUDNN_MAJOR, CUDNN_MINOR, CUDNN_PATCHLEVEL in a header */
    HOW_CHECK,     /* constant in a cudnn...VersionCheck function */
    HOW_SYMBOL,    /* data symbol cudnn_..._version */
    HOW_FUNCTION   /* constant that cudnnGetVersion returns */
} file_how;

typedef struct cli_file {
    char *path;          /* as given */
    file_kind kind;
    const char *arch;    /* "x86-64", "aarch64", "x86", ...; NULL where not known */
    int bits;            /* 32, 64, or 0 */
    bool is_cudnn;       /* a cuDNN library by SONAME, export name or file name */
    bool is_ours;        /* carries our note */
    char part[32];       /* sub-library: "ops", "cnn_infer", ...; "" for libcudnn itself */
    int version;         /* as cudnnGetVersion answers: 8907, 90100; 0 where not known */
    file_how version_how;
    int hint_version;    /* of the version resource or the file name, where version is known better; 0 without */
    int abi;             /* 8, 9, ...; 0 where not known */
    int cuda;            /* CUDA major; 0 where not known */
    const char *cuda_how;/* "needed", "text", "imports", "name" or NULL */
    char *soname;        /* ELF SONAME, or the name in a PE export directory */
    char *links_to;      /* text of the symbolic link at path, NULL where it is none */
    char **needed;       /* NEEDED names or imported DLLs */
    size_t needed_count;
    char **named;        /* sub-libraries that the program text of a cuDNN library names: "ops", "engines_tensor_ir", ... */
    size_t named_count;
    char *rpath, *runpath;
    bool truncated, damaged;
    char problem[240];   /* why it could not be read to the end; "" where all is well */
    uint64_t size, device, inode;
    unsigned char build_id[32];
    size_t build_id_size;
} cli_file;

/* Looks at a path (following links). Always fills out; answers 0 where the file could be read as what it is, else -1 with out->problem. */
int cli_file_inspect(const char *path, cli_file *out);
/* The same for bytes in memory, such as a member of an archive; name is its path there. total is the real size where only the start is here. */
int cli_file_inspect_memory(const char *name, const void *data, size_t size, uint64_t total, cli_file *out);
void cli_file_free(cli_file *file);

const char *cli_kind_name(file_kind kind);
const char *cli_how_text(file_how how);

/* "8.9.7" or "9.1.0"; any number that is no cuDNN version gives "". out holds 32. Answers out. */
const char *cli_version_text(int version, char *out);
/* The other way: "8.9.7", "8.9.7.29", "9.1", "90100". 0 where the text is no version; versions that cannot exist (8.10) too. */
int cli_version_parse(const char *text);
int cli_version_major(int version);
/* Number that decodes to a version: 7.x and 8.x by thousands, 9.x and later by ten thousands. */
int cli_version_make(int major, int minor, int patch);

/* Splits "libcudnn_ops_infer.so.8.9.7", "cudnn_ops64_9.dll", "libcudnn_adv_static_v9.a", "cudnn64_9.lib". false for another name.
 * part gets "ops_infer"; version the numbers behind .so, as in "8.9.7", or "9"; is_dll where it is a Windows name. */
typedef struct cudnn_name {
    char part[32];
    int numbers[3], count; /* 0 numbers: the bare name */
    bool is_dll, is_static, is_import;
} cudnn_name;
bool cli_cudnn_name(const char *name, cudnn_name *out);

/* Sub-libraries that belong to a version, "" (libcudnn itself) first; ends with NULL. NULL where the version has no sub-libraries (7 and before). */
const char *const *cli_sublibraries(int version);
/* File name of a part: "libcudnn_ops.so.9" or "cudnn_ops64_9.dll". */
void cli_library_name(const char *part, int abi, bool is_dll, char *out, size_t size);

/* Numbers of CUDNN_MAJOR, CUDNN_MINOR and CUDNN_PATCHLEVEL in a header's text; the version, or 0. *includes_version is set where the text
 * includes cudnn_version.h (or cudnn_version_v8.h, ...) instead. */
int cli_header_version(const char *text, size_t size, bool *includes_version);

/* Reads the version from open files; the how goes to *how. 0 where it cannot be told. */
int cli_elf_version(const elf_file *elf, int abi, file_how *how);
int cli_pe_version(const pe_file *pe, int abi, file_how *how);

const char *cli_base_name(const char *path);

#endif
