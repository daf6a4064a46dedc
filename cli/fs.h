/* SPDX-License-Identifier: Apache-2.0
 * Copyright the anydnn authors
 *
 * Changes of the file system that the store is made of. Paths are those of the host, with every link in their folders followed already. What
 * fails sets errno. */
#ifndef DN_CLI_FS_H
#define DN_CLI_FS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Frees what may be NULL, and keeps errno. */
void fs_free(char *a, char *b, char *c, char *d);
/* Text of the link; NULL where there is none. The caller frees. */
char *fs_link_text(const char *path);
/* Anything at all under this name, a link that leads nowhere too. */
bool fs_exists(const char *path);
bool fs_is_dir(const char *path);
/* Puts a link in place of whatever file or link is there, by rename. */
int fs_put_link(const char *path, const char *target);
/* Puts a file in place by rename, its bytes on the disk before. */
int fs_put_text(const char *path, const char *text, size_t size, unsigned mode);
/* Removes a file or a folder with all that is in it; never follows a link. Nothing there is good too. */
int fs_remove(const char *path);
int fs_remove_at(int dir, const char *name);
/* Copies a file's bytes, mode and times to a name that is not there yet. */
int fs_copy_file(const char *from, const char *to);
/* Gives a second name to a file, or copies it where that cannot be; then moves it, or copies and removes. to is replaced by rename. */
int fs_keep(const char *from, const char *to);
int fs_move(const char *from, const char *to);
/* Makes the folders of a relative path below top that are missing; the last part is a file's name. */
int fs_make_above(const char *top, const char *path);
/* Changes the places of two folders by one rename; ENOSYS or EINVAL where the system cannot. */
int fs_exchange(const char *a, const char *b);
/* Text of a link in folder from that leads to path, both absolute and without links; the caller frees. */
char *fs_relative(const char *from, const char *path);
/* May names be made and removed in this folder, or in the nearest one above it that is there? 0, or errno; at gets that folder (size bytes). */
int fs_may_write(const char *dir, char *at, size_t size);
/* path with its links followed in the tree as far as it is there, the rest as it stands; the caller frees. NULL where a link leads nowhere. */
char *fs_real_as_far(const char *root, const char *path);

#endif
