/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Fuzzer of the ELF reader: everything that can be asked of a file is asked. */
#include "file.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile size_t read_bytes;  /* so that what is read is really read */

static void ask_strings(const elf_file *elf)
{
    static const int64_t tags[] = { ELF_TAG_NEEDED, ELF_TAG_SONAME, ELF_TAG_RPATH, ELF_TAG_RUNPATH };
    for (size_t t = 0; t < sizeof tags / sizeof *tags; t++) {
        const char *s;
        for (size_t i = 0; i < 100 && (s = elf_dynamic_string(elf, tags[t], i)) != NULL; i++)
            read_bytes += strlen(s);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    elf_file elf;
    elf_symbol s;
    cli_file f;
    size_t n = 0, at = 0;
    const char *limit;
    volatile size_t total = 0;
    elf_open_memory(&elf, data, size, "fuzz");
    if (elf.bits) {
        ask_strings(&elf);
        for (size_t i = 0; i < elf_symbol_count(&elf) && i < 20000; i++)
            if (elf_symbol_at(&elf, i, &s) == 0)
                total += strlen(s.name) + strlen(s.version);
        const unsigned char *note = elf_note(&elf, NULL, "GNU", 3, &n);
        for (size_t i = 0; note && i < n; i++)
            total += note[i];
        while (elf_find_text(&elf, "lib", &at, &limit))
            total++;
    }
    elf_close(&elf);
    cli_file_inspect_memory("libcudnn_graph.so.9", data, size, size, &f);
    cli_file_free(&f);
    return 0;
}
