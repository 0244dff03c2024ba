/* SPDX-License-Identifier: MIT */
/*
 * 09_block_store/store.h - the blocks, in a file. (store.c)
 *
 * store_sync_begin() returns at once: a disk may take seconds. When
 * store_sync_ended() says so, the sync is over.
 */
#ifndef STORE_H
#define STORE_H

#include <stdbool.h>
#include <stdint.h>

/* file: NULL: blocks in memory, which end with the program. Dies if the file cannot
 * be made, or has more blocks; if it has fewer they are added. */
void store_open(const char *file);

/* count blocks, from block first on. False: the file could not. Of blocks that were
 * to be put, some may then be new, and one may be half new. */
bool store_get(void *to, uint64_t first, uint32_t count);
bool store_put(const void *from, uint64_t first, uint32_t count);

/* Something that was answered OK is lost, for good: from now on each sync says so. */
void store_is_damaged(void);
bool store_was_damaged(void);

/* A sync, in a thread of its own. ok: all that was put before store_sync_begin()
 * survives a crash. */
struct sync;
struct sync *store_sync_begin(void);
bool store_sync_ended(struct sync *s, bool *ok); /* true: s is gone */

#endif
