/* SPDX-License-Identifier: MIT */
/*
 * 09_block_store/store.c - the blocks, in a file: see store.h.
 *
 * What pwrite(2) has written is in the kernel's memory. fdatasync(2) returns when it is
 * on the disk, or says that it is not.
 */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common.h"
#include "lesson.h"
#include "store.h"

static int store;
static atomic_bool damaged;

/* A new file's name is in its directory: without this sync both may be gone after a
 * crash (man fsync). */
static void sync_directory(const char *file)
{
	char *path = strdup(file);
	int dir = path ? open(dirname(path), O_RDONLY | O_DIRECTORY) : -1;

	if (dir == -1 || fsync(dir) == -1)
		die_err(errno, "the directory of %s", file);
	close(dir);
	free(path);
}

void store_open(const char *file)
{
	store = file ? open(file, O_RDWR | O_CREAT, 0600)
		     : memfd_create("blocks", 0);
	if (store == -1)
		die_err(errno, "%s", file ? file : "memfd_create");
	if (lseek(store, 0, SEEK_END) > BLOCKS * BLOCK)
		die("%s has more than %d blocks", file, BLOCKS);
	/* A disk that is full says so now, and not at some WRITE. */
	int rc = posix_fallocate(store, 0, BLOCKS * BLOCK);
	if (rc)
		die_err(rc, "%d blocks for %s", BLOCKS, file ? file : "memory");
	if (!file)
		return;
	if (fsync(store) == -1)
		die_err(errno, "fsync %s", file);
	sync_directory(file);
}

bool store_get(void *to, uint64_t first, uint32_t count)
{
	ssize_t n = pread(store, to, count * BLOCK, (off_t)first * BLOCK);

	return n == (ssize_t)count * BLOCK;
}

bool store_put(const void *from, uint64_t first, uint32_t count)
{
	ssize_t n = pwrite(store, from, count * BLOCK, (off_t)first * BLOCK);

	return n == (ssize_t)count * BLOCK;
}

void store_is_damaged(void)
{
	damaged = true;
}

bool store_was_damaged(void)
{
	return damaged;
}

struct sync {
	pthread_t thread;
	bool started, ok;
	atomic_bool ended;
};

/*
 * DOC: sync. One at a time: the kernel reports a write that failed to one fdatasync()
 * of this file descriptor only (Linux mm/filemap.c, file_check_and_advance_wb_err).
 * If two were under way, the other one would say that all is well.
 */
static void *sync_thread(void *arg)
{
	static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
	struct sync *s = arg;

	pthread_mutex_lock(&one);
	if (fdatasync(store) == -1)
		damaged = true;
	s->ok = !damaged;
	pthread_mutex_unlock(&one);
	s->ended = true;
	return NULL;
}

struct sync *store_sync_begin(void)
{
	struct sync *s = calloc(1, sizeof *s);

	if (!s)
		die_err(errno, "calloc");
	int rc = pthread_create(&s->thread, NULL, sync_thread, s);
	s->started = rc == 0;
	if (rc) { /* then the sync has ended, and is not ok */
		note("no sync: pthread_create: %s", strerror(rc));
		s->ended = true; /* else the thread says so, perhaps already */
	}
	return s;
}

bool store_sync_ended(struct sync *s, bool *ok)
{
	if (!s->ended)
		return false;
	int rc = s->started ? pthread_join(s->thread, NULL) : 0;
	if (rc)
		die_err(rc, "pthread_join");
	*ok = s->ok;
	free(s);
	return true;
}
