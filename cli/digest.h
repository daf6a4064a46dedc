/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * SHA-256 (FIPS 180-4), by nettle. */
#ifndef DN_CLI_DIGEST_H
#define DN_CLI_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DIGEST_BYTES = 32, DIGEST_TEXT = 65 };

typedef struct digest digest;

/* NULL where memory is short. */
digest *digest_begin(void);
void digest_add(digest *d, const void *data, size_t size);
/* 64 hexadecimal digits and a zero byte go to text; frees. */
void digest_end(digest *d, char text[DIGEST_TEXT]);
/* From where the open file stands to its end; false with errno where it cannot be read. */
bool digest_fd(int fd, char text[DIGEST_TEXT], uint64_t *size);
/* Exactly 64 hexadecimal digits at text, with nothing but space, an end of line or the end behind them; they go to out in small letters. */
bool digest_parse(const char *text, char out[DIGEST_TEXT]);

#endif
