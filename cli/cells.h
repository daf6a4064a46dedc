/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Lines of tab-separated cells, as the manifest and the records of the store have them: reading with bounds, and a text that grows. */
#ifndef DN_CLI_CELLS_H
#define DN_CLI_CELLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CELLS_AT_MOST = 8, CELLS_LINE = 9000 };

typedef struct cells {
    char line[CELLS_LINE];       /* of the last cells_next, cut at the tabs */
    char *at[CELLS_AT_MOST];
    size_t count;
} cells;

/* Takes the next line off [*text, *text + *size); 1, 0 at the end, -1 for a line that is too long, has too many cells, a zero byte or no end. */
int cells_next(cells *c, const char **text, size_t *size);
/* The cell as a number of at most 19 digits; false for other text. */
bool cells_number(const char *cell, int base, uint64_t *out);
/* A relative path without "", "." and ".." as parts, without control characters and backslashes, of at most 1024 bytes. */
bool cells_path(const char *path);

typedef struct grow {
    char *text;                  /* NULL where memory was short */
    size_t length, room;
    bool failed;
} grow;

void grow_add(grow *g, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The text, which the caller frees; NULL where memory was short. */
char *grow_take(grow *g);

#endif
