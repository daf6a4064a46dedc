/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Fuzzer of the reader of /etc/ld.so.cache. */
#include "ldcache.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const ldcache_cpu cpu = { 3, 2 };
    ldcache_lib lib;
    ldcache c;
    size_t sum = 0;

    if (ldcache_parse(&c, data, size) != 0)
        return 0;
    for (uint32_t i = 0; i < c.count; i++)
        if (ldcache_entry(&c, i, &lib))
            sum += strlen(lib.name) + strlen(lib.path) + (lib.subdirectory ? strlen(lib.subdirectory) : 0);
    if (c.count && ldcache_entry(&c, 0, &lib))
        (void)ldcache_find(&c, lib.name, lib.flags, &cpu);
    (void)ldcache_find(&c, "libcudnn.so.9", ldcache_flags(2, 62), &cpu);
    return sum == (size_t)-1;
}
