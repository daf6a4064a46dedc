/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Build-time program: the table of kernel images (src/cuda/cuda.h).
 *
 *   images LIST OUT.c OUT.S    LIST has a line MODULE:SM:EXACT:PTX:TOOLKIT:FILE for each image
 *
 * The files go in through the assembler's .incbin: as C arrays they would take minutes to compile. Text of PTX ends with a zero. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS = 5 };

/* name:sm:exact:ptx:toolkit:file; the file may have colons. Answers the file, NULL where the line is empty or wrong. */
static char *split(char *line, char *field[FIELDS])
{
    line[strcspn(line, "\r\n")] = 0;
    for (int i = 0; i < FIELDS; i++) {
        char *colon = strchr(line, ':');
        if (!colon)
            return NULL;
        *colon = 0;
        field[i] = line;
        line = colon + 1;
    }
    return line;
}

static void write_image(FILE *c, FILE *s, int n, char *const field[FIELDS], const char *file)
{
    fprintf(s, "\t.balign 64\ndn_image_%d:\n\t.incbin \"%s\"\ndn_image_%d_end:\n\t.byte 0\n\t.global dn_image_%d\n\t.global dn_image_%d_end\n", n, file,
            n, n, n);
    fprintf(s, "#if defined(__ELF__)\n\t.hidden dn_image_%d\n\t.hidden dn_image_%d_end\n#endif\n", n, n);
    fprintf(c, "    IMAGE(%d, \"%s\", %s, %s, %s, %s)\n", n, field[0], field[1], field[2], field[3], field[4]);
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: images LIST OUT.c OUT.S\n");
        return 2;
    }
    FILE *list = fopen(argv[1], "r"), *c = fopen(argv[2], "w"), *s = fopen(argv[3], "w");
    if (!list || !c || !s) {
        perror("images");
        return 1;
    }
    fprintf(c, "/* Generated. */\n#include \"cuda/cuda.h\"\n\n");
    fprintf(s, "/* Generated. */\n#if defined(__ELF__)\n\t.section .rodata\n#else\n\t.section .rdata,\"dr\"\n#endif\n");
    char line[4096], *field[FIELDS], *file;
    int n = 0, newest = 0;
    while (fgets(line, sizeof line, list))
        if ((file = split(line, field))) {
            fprintf(c, "extern const unsigned char dn_image_%d[], dn_image_%d_end[];\n", n, n);
            newest = atoi(field[4]) > newest ? atoi(field[4]) : newest;
            n++;
        }
    fprintf(c, "\nconst int dn_cuda_toolkit = %d;\n\nconst dn_cuda_image dn_cuda_images[] = {\n"
               "#define IMAGE(n, module, sm, exact, ptx, toolkit) { module, sm, exact, ptx, toolkit, dn_image_##n, dn_image_##n##_end },\n", newest);
    rewind(list);
    n = 0;
    while (fgets(line, sizeof line, list))
        if ((file = split(line, field)))
            write_image(c, s, n++, field, file);
    fprintf(c, "    { NULL, 0, 0, 0, 0, NULL, NULL },\n};\n");
    fprintf(s, "#if defined(__linux__) && defined(__ELF__)\n\t.section .note.GNU-stack,\"\",%%progbits\n#endif\n");
    fclose(list);
    return fclose(c) | fclose(s) ? 1 : 0;
}
