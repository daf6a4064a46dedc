/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Fuzzer of the tuning file's text. */
#include "core/tunefile.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    dn_tune_table *t = dn_tune_table_new();
    if (t && dn_tune_table_parse(t, (const char *)data, size))
        (void)dn_tune_table_find(t, "ref", "conv fwd x=n1c1h1w1:f32:nchw");
    dn_tune_table_free(t);
    return 0;
}
