/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors */
#include "digest.h"

#include <errno.h>
#include <nettle/sha2.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct digest {
    struct sha256_ctx state;
};

digest *digest_begin(void)
{
    digest *d = malloc(sizeof *d);
    if (d)
        sha256_init(&d->state);
    return d;
}

void digest_add(digest *d, const void *data, size_t size)
{
    sha256_update(&d->state, size, data);
}

void digest_end(digest *d, char text[DIGEST_TEXT])
{
    static const char digits[] = "0123456789abcdef";
    uint8_t bytes[DIGEST_BYTES];
    sha256_digest(&d->state, sizeof bytes, bytes);
    for (size_t i = 0; i < sizeof bytes; i++) {
        text[2 * i] = digits[bytes[i] >> 4];
        text[2 * i + 1] = digits[bytes[i] & 15];
    }
    text[DIGEST_TEXT - 1] = 0;
    free(d);
}

bool digest_fd(int fd, char text[DIGEST_TEXT], uint64_t *size)
{
    enum { BLOCK = 1 << 18 };
    digest *d = digest_begin();
    unsigned char *block = malloc(BLOCK);
    uint64_t total = 0;
    ssize_t n = -1;
    while (d && block && ((n = read(fd, block, BLOCK)) > 0 || (n < 0 && errno == EINTR)))
        if (n > 0) {
            digest_add(d, block, (size_t)n);
            total += (uint64_t)n;
        }
    free(block);
    if (!d || n != 0) {
        if (!d || !block)
            errno = ENOMEM;
        free(d);
        return false;
    }
    digest_end(d, text);
    if (size)
        *size = total;
    return true;
}

bool digest_parse(const char *text, char out[DIGEST_TEXT])
{
    size_t n = strspn(text, "0123456789abcdefABCDEF");
    if (n != DIGEST_TEXT - 1 || (text[n] && !strchr(" \t\r\n*", text[n])))
        return false;
    for (size_t i = 0; i < n; i++)
        out[i] = (char)(text[i] >= 'A' && text[i] <= 'F' ? text[i] + 32 : text[i]);
    out[n] = 0;
    return true;
}
