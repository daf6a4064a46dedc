/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Fuzzer of the PE reader. */
#include "file.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pe_file pe;
    cli_file f;
    const char *name, *forward, *limit;
    int version[4], delayed;
    uint32_t address;
    size_t at = 0;
    volatile size_t total = 0;
    pe_open_memory(&pe, data, size, "fuzz");
    if (pe.machine) {
        for (size_t i = 0; i < 1000 && (name = pe_import(&pe, i, &delayed)) != NULL; i++)
            total += strlen(name);
        for (size_t i = 0; i < pe_export_count(&pe) && i < 20000; i++)
            if ((name = pe_export_at(&pe, i, &address, &forward)) != NULL)
                total += strlen(name) + (forward ? strlen(forward) : 0);
        if ((name = pe_export_name(&pe)) != NULL)
            total += strlen(name);
        pe_version(&pe, version);
        while (pe_find_text(&pe, "64_", &at, &limit))
            total++;
    }
    pe_close(&pe);
    cli_file_inspect_memory("cudnn64_8.dll", data, size, size, &f);
    cli_file_free(&f);
    return 0;
}
