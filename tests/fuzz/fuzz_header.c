/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Fuzzer of the small texts: version macros, versions and file names. A version that is accepted prints and parses to itself. */
#include "file.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bool elsewhere;
    char text[32];
    cudnn_name name;
    char *copy = malloc(size + 1);
    if (!copy)
        return 0;
    memcpy(copy, data, size);
    copy[size] = 0;
    cli_header_version((const char *)data, size, &elsewhere);
    int version = cli_version_parse(copy);
    if (version && cli_version_text(version, text)[0] && cli_version_parse(text) != version)
        abort();
    if (cli_cudnn_name(copy, &name) && strlen(name.part) >= sizeof name.part)
        abort();
    free(copy);
    return 0;
}
