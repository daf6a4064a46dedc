/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * The file tree that stands for the machine. Every path here is absolute inside it; root is "" for this machine or the folder given by
 * --root. Links are followed as a process inside the tree would follow them, so that none leads out of it. */
#ifndef DN_CLI_TREE_H
#define DN_CLI_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum tree_kind { TREE_NONE, TREE_FILE, TREE_DIR, TREE_LINK, TREE_OTHER } tree_kind;

typedef struct tree_stat {
    tree_kind kind;
    uint64_t size, device, inode;
    int64_t mtime; /* seconds */
} tree_stat;

typedef struct tree_entry {
    char *name;
    tree_kind kind; /* TREE_NONE where the file system does not say */
} tree_entry;

typedef struct tree_list {
    tree_entry *entries; /* sorted by name */
    size_t count;
} tree_list;

/* a + "/" + b with one slash between; the caller frees. */
char *tree_join(const char *a, const char *b);
/* The path with every link followed, still inside the tree; NULL where a part is missing or the links run in a circle. */
char *tree_real(const char *root, const char *path);
/* The same, but the last part is not followed when it is a link. NULL where its folder is missing. */
char *tree_real_parent(const char *root, const char *path);
/* Path for open(): root + tree_real(path). NULL like tree_real. */
char *tree_host(const char *root, const char *path);
/* Follows links in the folders and, where follow is set, the last part. kind is TREE_NONE where there is nothing. */
tree_stat tree_look(const char *root, const char *path, bool follow);
/* Text of the link at path, or NULL. */
char *tree_link(const char *root, const char *path);
/* Whole file, at most max bytes, with a zero byte behind it; NULL where it cannot be read or is longer. */
char *tree_read(const char *root, const char *path, size_t max, size_t *size);
/* Names in a folder, at most limit, without "." and "..". Empty where it cannot be read. */
tree_list tree_entries(const char *root, const char *path, size_t limit);
void tree_list_free(tree_list *list);
/* Kind of an entry after following links: entry->kind where that settles it, else looked up. */
tree_kind tree_entry_kind(const char *root, const char *dir, const tree_entry *entry);

#endif
