/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Fuzzer of the archive listing, with small limits. What is called safe must stay below the target folder. */
#include "file.h"
#include "members.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool wanted(void *user, const archive_member *m)
{
    (void)user;
    return m->size < 100000;
}

static void take(void *user, const archive_member *m)
{
    cli_file f;
    (void)user;
    if (!m->unsafe && (m->name[0] == '/' || strncmp(m->name, "../", 3) == 0))
        abort();
    if (!m->unsafe && m->kind == MEMBER_LINK && m->target && m->target[0] == '/')
        abort();
    if (m->data) {
        cli_file_inspect_memory(m->name, m->data, m->data_size, m->data_size, &f);
        cli_file_free(&f);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    archive_limits limits = { 100, 1 << 20, 4 << 20 };
    archive_reader reader = { wanted, take, NULL };
    char error[200];
    archive_read(NULL, data, size, &limits, &reader, error, sizeof error);
    return 0;
}
