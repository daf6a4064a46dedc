/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Fuzzer of the reader of /proc/PID/maps. */
#include "maps.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    maps m;

    if (maps_parse(&m, (const char *)data, size) != 0)
        return 0;
    for (size_t i = 0; i < m.count; i++)
        if (m.files[i].path[0] != '/' || strlen(m.files[i].path) > size)
            abort();
    maps_free(&m);
    return 0;
}
