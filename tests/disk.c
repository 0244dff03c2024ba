/* SPDX-License-Identifier: MIT */
/*
 * tests/disk.c - a bad disk for lesson 09's server: preloaded, for tests/block-store.
 *
 * DISK names a directory. A call of pread, pwrite, fdatasync, fsync, or fsync of a
 * directory (fsyncdir) adds a byte to the file of its name there. If there is also a file
 * NAME.do, the call fails ("fail"), does half of its work ("short"), comes late by so many
 * milliseconds ("late 200"), or waits until that file is gone ("hold"). pthread_create only
 * comes late: when the thread runs already.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Counts the call. True: it has to fail; *len may be halved. */
static bool bad(const char *name, size_t *len)
{
	char path[256], what[32] = "";
	const char *dir = getenv("DISK");

	if (!dir)
		return false;
	snprintf(path, sizeof path, "%s/%s", dir, name);
	FILE *f = fopen(path, "a");
	if (!f || fputc('.', f) == EOF || fclose(f) == EOF)
		abort();
	snprintf(path, sizeof path, "%s/%s.do", dir, name);
	f = fopen(path, "r");
	if (!f)
		return false;
	if (!fgets(what, sizeof what, f) || fclose(f) == EOF)
		abort();
	if (strncmp(what, "late ", 5) == 0)
		poll(NULL, 0, (int)strtol(what + 5, NULL, 10));
	while (strcmp(what, "hold\n") == 0 && access(path, F_OK) == 0)
		poll(NULL, 0, 10);
	if (strcmp(what, "short\n") == 0)
		*len /= 2;
	errno = EIO;
	return strcmp(what, "fail\n") == 0;
}

#define REAL(name) ((typeof(&(name)))dlsym(RTLD_NEXT, #name))

ssize_t pread(int fd, void *buf, size_t len, off_t at)
{
	return bad("pread", &len) ? -1 : REAL(pread)(fd, buf, len, at);
}

ssize_t pwrite(int fd, const void *buf, size_t len, off_t at)
{
	return bad("pwrite", &len) ? -1 : REAL(pwrite)(fd, buf, len, at);
}

int fdatasync(int fd)
{
	return bad("fdatasync", &(size_t){ 0 }) ? -1 : REAL(fdatasync)(fd);
}

int fsync(int fd)
{
	struct stat st;
	bool dir = fstat(fd, &st) == 0 && S_ISDIR(st.st_mode);

	return bad(dir ? "fsyncdir" : "fsync", &(size_t){ 0 })
		       ? -1
		       : REAL(fsync)(fd);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attr,
		   void *(*start)(void *), void *arg)
{
	int rc = REAL(pthread_create)(thread, attr, start, arg);

	bad("pthread_create", &(size_t){ 0 });
	return rc;
}
