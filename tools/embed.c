/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Build-time program: writes files as C arrays.
 *
 *   embed OUT.c FILE...    defines cli_embedded[] (cli/facts.h); the name of each is its file name without the last extension */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *base(const char *path)
{
    const char *name = path;
    for (const char *p = path; *p; p++)
        if (*p == '/' || *p == '\\')
            name = p + 1;
    return name;
}

/* The array of file number i; answers its length, or -1. */
static long write_array(FILE *out, const char *path, int i)
{
    FILE *in = fopen(path, "rb");
    long count = 0;
    int byte;
    if (!in) {
        perror(path);
        return -1;
    }
    fprintf(out, "static const unsigned char file_%d[] = {", i);
    /* Carriage returns of a checkout with other line ends are left out. */
    while ((byte = getc(in)) != EOF)
        if (byte != '\r')
            fprintf(out, "%s%d,", count++ % 24 ? "" : "\n", byte);
    fprintf(out, "0\n};\n");
    if (ferror(in)) {
        perror(path);
        count = -1;
    }
    fclose(in);
    return count;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: embed OUT.c FILE...\n");
        return 2;
    }
    FILE *out = fopen(argv[1], "w");
    long *sizes = calloc((size_t)argc, sizeof *sizes);
    if (!out || !sizes) {
        perror(argv[1]);
        return 1;
    }
    fprintf(out, "/* Written by tools/embed.c. */\n#include \"facts.h\"\n");
    for (int i = 2; i < argc; i++)
        if ((sizes[i] = write_array(out, argv[i], i)) < 0)
            return 1;
    fprintf(out, "const embedded_file cli_embedded[] = {\n");
    for (int i = 2; i < argc; i++) {
        const char *name = base(argv[i]), *dot = strrchr(name, '.');
        fprintf(out, "    { \"%.*s\", file_%d, %ld },\n", dot ? (int)(dot - name) : (int)strlen(name), name, i, sizes[i]);
    }
    fprintf(out, "    { 0, 0, 0 }\n};\n");
    free(sizes);
    return fclose(out) == 0 ? 0 : 1;
}
