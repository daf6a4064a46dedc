/* SPDX-License-Identifier: Apache-2.0 */
/* Copyright the anydnn authors */
/*
 * Build-time program: writes from src/api/functions.def what the linker must know about exports.
 *
 *   exports map ABI FILE          version script of libcudnn.so.ABI
 *   exports map ABI SUB FILE      version script of the forwarder libcudnn_SUB.so.ABI
 *   exports forward ABI SUB FILE  assembly of that forwarder
 *   exports notes ABI FILE        assembly of the notes in libcudnn.so.ABI
 *   exports list ABI [SUB] FILE   names, one a line
 *
 * Version nodes. The vendor gives each library one node named as its SONAME, and a program records
 * that node with every symbol. So libcudnn.so.8 defines cudnnCreate@@libcudnn.so.8 and
 * libcudnn_ops_infer.so.8 must define cudnnCreate@@libcudnn_ops_infer.so.8.
 *
 * Forwarders. ELF has no export forwarding: a versioned symbol that a program asks of a library
 * needs a definition there, and a filter library (DT_FILTER) is searched by version as well, so it
 * would not match the other node. Each forwarded function is therefore one indirect jump through
 * the GOT, to a reference that carries the other node by name:
 *     .symver dn_to_cudnnCreate, cudnnCreate@libcudnn.so.8
 * The dynamic linker compares version names, so the reference cannot meet the forwarder's own
 * definition. No argument is touched, so one shape serves all functions, and both ways into the
 * library reach the same handles, last error and callback. (A C library that ignores versions, such
 * as musl, would bind the reference to the forwarder itself: there only libcudnn.so.N is usable.)
 *
 * Notes of libcudnn.so.N, both ELF notes (SHT_NOTE, allocated, so that strip keeps them):
 *   section .anydnn: owner "anydnn", type 1. The descriptor is text, '\n' after each line, padded
 *       with zero bytes to 4: first "anydnn 1 <abi>" (1 is the version of this format), then one
 *       line "<name> R" (real) or "<name> S" (stub) per exported function in functions.def's order.
 *   section .note.dlopen: owner "FDO", type 0x407c0c0a, JSON: the libraries opened at run time, as
 *       systemd's ELF dlopen metadata defines.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct function {
    const char *name;
    int in8, in9;
    const char *sub8, *sub9;
    const char *kind;
} function;

static const function functions[] = {
#define DN_FN(name, in8, in9, sub8, sub9, kind) { #name, in8, in9, #sub8, #sub9, #kind },
#include "api/functions.def"
#undef DN_FN
};

#define FUNCTION_COUNT (sizeof functions / sizeof functions[0])

/* Is f exported by libcudnn.so.<abi>, or by its sub-library where one is named? */
static int is_exported(const function *f, int abi, const char *sub)
{
    if (!(abi == 8 ? f->in8 : f->in9))
        return 0;
    return !sub || strcmp(abi == 8 ? f->sub8 : f->sub9, sub) == 0;
}

static void write_list(FILE *out, int abi, const char *sub, const char *before, const char *after)
{
    for (size_t i = 0; i < FUNCTION_COUNT; i++)
        if (is_exported(&functions[i], abi, sub))
            fprintf(out, "%s%s%s\n", before, functions[i].name, after);
}

static int write_map(FILE *out, int abi, const char *sub)
{
    int any = 0;

    for (size_t i = 0; i < FUNCTION_COUNT; i++)
        any |= is_exported(&functions[i], abi, sub);
    if (sub)
        fprintf(out, "libcudnn_%s.so.%d {\n", sub, abi);
    else
        fprintf(out, "libcudnn.so.%d {\n", abi);
    if (any) {
        fprintf(out, "global:\n");
        write_list(out, abi, sub, "    ", ";");
    }
    if (sub)
        fprintf(out, "local:\n    *;\n};\n");
    else
        fprintf(out, "};\nanydnn_1 {\nglobal:\n    anydnn[A-Z]*;\nlocal:\n    *;\n};\n");
    return 0;
}

static const char forward_head[] =
    "#if defined(__x86_64__)\n"
    "# if defined(__CET__) && (__CET__ & 1)\n"
    "#  define LANDING endbr64\n"
    "# else\n"
    "#  define LANDING\n"
    "# endif\n"
    "# define JUMP(to) LANDING; jmp *to@GOTPCREL(%rip)\n"
    "#elif defined(__aarch64__)\n"
    "# define JUMP(to) hint 34; adrp x16, :got:to; ldr x16, [x16, :got_lo12:to]; br x16\n"
    "#else\n"
    "# error \"forwarders are written for x86-64 and aarch64\"\n"
    "#endif\n"
    "#define FORWARD(name, to, target) \\\n"
    "    .symver to, target; \\\n"
    "    .globl name; .type name, %function; .balign 16; \\\n"
    "name: .cfi_startproc; JUMP(to); .cfi_endproc; .size name, .-name\n"
    "    .section .note.GNU-stack,\"\",%progbits\n"
    "    .text\n";

static int write_forward(FILE *out, int abi, const char *sub)
{
    fputs(forward_head, out);
    for (size_t i = 0; i < FUNCTION_COUNT; i++) {
        const char *name = functions[i].name;

        if (is_exported(&functions[i], abi, sub))
            fprintf(out, "FORWARD(%s, dn_to_%s, %s@libcudnn.so.%d)\n", name, name, name, abi);
    }
    return 0;
}

static void write_note_head(FILE *out, const char *section, const char *owner, unsigned type)
{
    fprintf(out, "    .section %s,\"a\",%%note\n    .balign 4\n", section);
    fprintf(out, "    .4byte 1f-0f, 3f-2f, 0x%x\n", type);
    fprintf(out, "0:  .asciz \"%s\"\n1:  .balign 4\n2:\n", owner);
}

static const char dlopen_json[] =
    "[{\\\"feature\\\":\\\"cpu\\\",\\\"description\\\":\\\"oneDNN for the cpu engine\\\","
    "\\\"priority\\\":\\\"suggested\\\",\\\"soname\\\":[\\\"libdnnl.so.3\\\",\\\"libdnnl.so.2\\\"]},"
    "{\\\"feature\\\":\\\"cuda\\\",\\\"description\\\":\\\"GPU driver for the cuda engine\\\","
    "\\\"priority\\\":\\\"suggested\\\",\\\"soname\\\":[\\\"libcuda.so.1\\\"]}]";

static int write_notes(FILE *out, int abi)
{
    fprintf(out, "    .section .note.GNU-stack,\"\",%%progbits\n");
    write_note_head(out, ".anydnn", "anydnn", 1);
    fprintf(out, "    .ascii \"anydnn 1 %d\\n\"\n", abi);
    for (size_t i = 0; i < FUNCTION_COUNT; i++) {
        const function *f = &functions[i];

        if (is_exported(f, abi, NULL))
            fprintf(out, "    .ascii \"%s %c\\n\"\n", f->name, strcmp(f->kind, "REAL") == 0 ? 'R' : 'S');
    }
    fprintf(out, "3:  .balign 4\n");
    write_note_head(out, ".note.dlopen", "FDO", 0x407c0c0aU);
    fprintf(out, "    .asciz \"%s\"\n3:  .balign 4\n", dlopen_json);
    return 0;
}

static int write_output(FILE *out, const char *what, int abi, const char *sub)
{
    if (strcmp(what, "map") == 0)
        return write_map(out, abi, sub);
    if (strcmp(what, "forward") == 0 && sub)
        return write_forward(out, abi, sub);
    if (strcmp(what, "notes") == 0 && !sub)
        return write_notes(out, abi);
    if (strcmp(what, "list") == 0) {
        write_list(out, abi, sub, "", "");
        return 0;
    }
    return 2;
}

int main(int argc, char **argv)
{
    FILE *out;
    const char *path;
    int abi, rc;

    if (argc < 4 || argc > 5 || (strcmp(argv[2], "8") != 0 && strcmp(argv[2], "9") != 0)) {
        fprintf(stderr, "usage: exports map|forward|notes|list 8|9 [SUB] FILE\n");
        return 2;
    }
    abi = argv[2][0] - '0';
    path = argv[argc - 1];
    out = fopen(path, "wb");
    if (!out) {
        fprintf(stderr, "exports: cannot write %s: %s\n", path, strerror(errno));
        return 3;
    }
    rc = write_output(out, argv[1], abi, argc == 5 ? argv[3] : NULL);
    if (rc == 2)
        fprintf(stderr, "exports: %s does not go with these arguments\n", argv[1]);
    if (fclose(out) != 0 && rc == 0) {
        fprintf(stderr, "exports: cannot write %s: %s\n", path, strerror(errno));
        rc = 3;
    }
    if (rc != 0)
        remove(path);
    return rc;
}
