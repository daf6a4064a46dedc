/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Fuzzer of the problem line: no text may crash the parser, and what it accepts must print to a line that parses to the same. */
#include "ops/problem.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *line = malloc(size + 1), text[4096];
    if (!line)
        return 0;
    memcpy(line, data, size);
    line[size] = 0;
    dn_problem p, q;
    if (dn_problem_parse(line, &p) == DN_SUCCESS && dn_problem_print(&p, text, sizeof text) < (int)sizeof text)
        if (dn_problem_parse(text, &q) != DN_SUCCESS || !dn_problem_equal(&p, &q))
            abort();
    free(line);
    return 0;
}
