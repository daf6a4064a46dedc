/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Records of packages, METADATA fields, requirements and versions as `anydnn check` reads them: the first byte chooses. */
#include "check_wants.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void take_record(const char *kind, char *text)
{
    owners o;

    owners_begin(&o, "/nonexistent");
    owners_take(&o, kind, "/site", text);
    owners_end(&o);
}

static void read_fields(const char *text)
{
    static const char *const fields[] = {"Name", "Version", "Requires-Dist"};

    for (size_t i = 0; i < 3; i++)
        for (size_t index = 0; index < 4; index++)
            free(owner_metadata_field(text, fields[i], index));
}

static void read_versions(const char *text)
{
    cudnn_name name;
    bool mangled;

    check_require_parses(text);
    check_wants_version(text);
    check_wants_major(text);
    discover_is_cudnn(text, &name, &mangled);
    if (check_compare(text, text) != 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const kinds[] = {"dpkg", "wheel", "conda"};
    char *text;

    if (size < 1 || !(text = malloc(size)))
        return 0;
    memcpy(text, data + 1, size - 1);
    text[size - 1] = 0;
    if (data[0] % 6 < 3)
        take_record(kinds[data[0] % 6], text);
    else if (data[0] % 6 == 3)
        read_fields(text);
    else if (data[0] % 6 == 4)
        read_versions(text);
    else
        take_record("rpm", text);
    free(text);
    return 0;
}
