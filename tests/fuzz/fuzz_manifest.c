/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The records of the store: the first byte chooses the manifest of a build, the record of a state, or the rules for an archive member's name. What
 * is read well must be the same after it was written and read again. */
#include "manifest.h"
#include "state.h"
#include "unpack.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void again(char *first, char *second)
{
    if (!first || !second || strcmp(first, second) != 0)
        abort();
    free(first);
    free(second);
}

static void take_manifest(const char *text, size_t size)
{
    manifest m, n;
    char error[300];
    if (manifest_parse(&m, text, size, error, sizeof error) == 0) {
        char *written = manifest_text(&m);
        if (!written || manifest_parse(&n, written, strlen(written), error, sizeof error) != 0)
            abort();
        again(written, manifest_text(&n));
        manifest_free(&n);
    }
    manifest_free(&m);
}

static void take_state(const char *text, size_t size)
{
    state s, t;
    char error[300];
    if (state_parse(&s, text, size, error, sizeof error) == 0) {
        char *written = state_text(&s);
        if (!written || state_parse(&t, written, strlen(written), error, sizeof error) != 0)
            abort();
        again(written, state_text(&t));
        state_free(&t);
        if (s.builds.count && !state_forget(&s, s.builds.items[0]))
            abort();
        while (state_back(&s))
            ;
    }
    state_free(&s);
}

static void take_name(const char *text, size_t size)
{
    char *name = malloc(size + 1), place[UNPACK_NAME + 8], top[UNPACK_NAME + 1];
    if (!name)
        return;
    memcpy(name, text, size);
    name[size] = 0;
    /* A name that is taken leads to a place without a way out. */
    if (!unpack_bad_name(name) && unpack_place(name, place, sizeof place, top, sizeof top) && (place[0] == '/' || strncmp(place, "../", 3) == 0))
        abort();
    free(name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    const char *text = (const char *)data + 1;
    if (data[0] % 3 == 0)
        take_manifest(text, size - 1);
    else if (data[0] % 3 == 1)
        take_state(text, size - 1);
    else
        take_name(text, size - 1);
    return 0;
}
