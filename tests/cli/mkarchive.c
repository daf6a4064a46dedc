/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Test program: writes a tar file with any members, also such as no tar program would write.
 *
 *   mkarchive OUT.tar ENTRY...
 *     file NAME MODE TEXT | from NAME FILE | link NAME TARGET | hard NAME TARGET | dir NAME | char NAME | block NAME | fifo NAME | many COUNT PREFIX
 *     size NAME BYTES (a header that promises so much and brings nothing)
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static FILE *out;

static void block(const void *data, size_t size)
{
    static const char zero[512];
    fwrite(data, 1, size, out);
    if (size % 512)
        fwrite(zero, 1, 512 - size % 512, out);
}

/* One header of the ustar format; a long name comes before it as GNU tar has it. */
static void header(const char *name, char type, unsigned mode, uint64_t size, const char *target)
{
    char h[512] = "";
    unsigned sum = 0;
    if (strlen(name) > 100 && type != 'L') {
        header("././@LongLink", 'L', 0644, strlen(name) + 1, "");
        block(name, strlen(name) + 1);
    }
    strncpy(h, name, 100);
    snprintf(h + 100, 8, "%07o", mode);
    snprintf(h + 108, 8, "%07o", 0u);
    snprintf(h + 116, 8, "%07o", 0u);
    snprintf(h + 124, 12, "%011llo", (unsigned long long)size);
    snprintf(h + 136, 12, "%011o", 1700000000u);
    memset(h + 148, ' ', 8);
    h[156] = type;
    strncpy(h + 157, target, 100);
    memcpy(h + 257, "ustar", 6);
    memcpy(h + 263, "00", 2);
    for (int i = 0; i < 512; i++)
        sum += (unsigned char)h[i];
    snprintf(h + 148, 8, "%06o", sum);
    fwrite(h, 1, 512, out);
}

static void from(const char *name, const char *path)
{
    static char data[1 << 20];
    FILE *in = fopen(path, "rb");
    size_t n = in ? fread(data, 1, sizeof data, in) : 0;
    if (!in) {
        perror(path);
        exit(2);
    }
    fclose(in);
    header(name, '0', 0644, n, "");
    block(data, n);
}

int main(int argc, char **argv)
{
    static const char zero[1024];
    if (argc < 2 || !(out = fopen(argv[1], "wb")))
        return fprintf(stderr, "usage: mkarchive OUT.tar ENTRY...\n"), 2;
    for (int i = 2; i + 1 < argc;) {
        const char *kind = argv[i], *name = argv[i + 1], *more = i + 2 < argc ? argv[i + 2] : "";
        int used = 3;
        if (strcmp(kind, "file") == 0 && i + 3 < argc) {
            header(name, '0', (unsigned)strtoul(more, NULL, 8), strlen(argv[i + 3]), "");
            block(argv[i + 3], strlen(argv[i + 3]));
            used = 4;
        } else if (strcmp(kind, "from") == 0) {
            from(name, more);
        } else if (strcmp(kind, "link") == 0) {
            header(name, '2', 0777, 0, more);
        } else if (strcmp(kind, "hard") == 0) {
            header(name, '1', 0644, 0, more);
        } else if (strcmp(kind, "size") == 0) {
            header(name, '0', 0644, strtoull(more, NULL, 10), "");
        } else if (strcmp(kind, "many") == 0) {
            for (long k = 0; k < atol(name); k++) {
                char text[300];
                snprintf(text, sizeof text, "%s%ld", more, k);
                header(text, '0', 0644, 0, "");
            }
        } else {
            header(name, strcmp(kind, "dir") == 0 ? '5' : strcmp(kind, "char") == 0 ? '3' : strcmp(kind, "block") == 0 ? '4' : '6', 0755, 0, "");
            used = 2;
        }
        i += used;
    }
    fwrite(zero, 1, sizeof zero, out);
    return fclose(out) == 0 ? 0 : 2;
}
