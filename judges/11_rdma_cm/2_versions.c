/* SPDX-License-Identifier: MIT */
/*
 * judges/11_rdma_cm/2_versions.c - private data from clients of all kinds.
 *
 * before: a client that speaks 1 to 3: version 3, and not 0
 * hint1: Which bytes may you look at if len is 4? And if the name is said to have
 * hint1: 50 bytes?
 * hint1.zh: 如果 len 是 4，你可以看哪些字节？如果名字自称有 50 字节呢？
 * hint2: First len, then the two letters, then the name's length against both
 * hint2: limits. Then the smaller of both highest versions, and the larger of both
 * hint2: lowest: is there one that both speak?
 * hint2.zh: 先看 len，再看两个字母，再用两个上限检查名字的长度。然后取
 * hint2.zh: 两个最高版本中较小的、两个最低版本中较大的：有没有双方都会
 * hint2.zh: 的版本？
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "2_versions.h"

static char *end; /* of the memory that may be read */

static void try(const char *what, const void *data, size_t len, int version,
		const char *wanted)
{
	/* Behind it is memory of somebody else. */
	char room[256], *name = room;
	uint8_t *at = (uint8_t *)end - len;

	memset(room, '?', sizeof room);
	memcpy(at, data, len);
	about("a client %s", what);
	int got = choose_version(at, len, name);
	if (got != version)
		wrong("version %d, and not %d", version, got);
	if (version &&
	    (!memchr(name, 0, NAME_LEN + 1) || strcmp(name, wanted) != 0))
		wrong("the name is \"%s\", and not \"%.*s\"", wanted,
		      NAME_LEN + 1, name);
	for (size_t i = NAME_LEN + 1; i < sizeof room; i++)
		if (room[i] != '?')
			wrong("you write beyond the %d bytes of name",
			      NAME_LEN + 1);
}

void judge(void)
{
	static const char all[] = "KV\1\3\5alice",
			  long_one[] = "KV\2\4\x14"
				       "01234567890123456789 and more";
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *memory = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED || mprotect(memory + page, page, PROT_NONE))
		die_err(errno, "the judge's mmap");
	end = memory + page;
	try("that speaks 1 to 3", all, 10, 3, "alice");
	try("that speaks 3 to 9", "KV\3\x09\3bob and more", 17, 4, "bob");
	try("that speaks 4 to 200", "KV\4\xc8\1x", 6, 4, "x");
	try("whose name has 20 letters", long_one, sizeof long_one - 1, 4,
	    "01234567890123456789");
	try("that speaks 1 to 2", "KV\1\2\3bob", 8, 2, "bob");
	try("that speaks 3 only", "KV\3\3\3bob", 8, 3, "bob");
	try("that speaks 1 only", "KV\1\1\3bob", 8, 0, "");
	try("that speaks 5 to 9", "KV\5\x09\3bob", 8, 0, "");
	try("that speaks 200 to 201", "KV\xc8\xc9\3bob", 8, 0, "");
	try("that speaks 4 to 2", "KV\4\2\3bob", 8, 0, "");
	try("of something else", "RD\2\4\3bob", 8, 0, "");
	try("of something else", "KD\2\4\3bob", 8, 0, "");
	try("of something else", "RV\2\4\3bob", 8, 0, "");
	try("without a name", "KV\2\4\0bob", 8, 0, "");
	try("whose name has 21 letters",
	    "KV\2\4\x15"
	    "0123456789012345678901",
	    27, 0, "");
	try("whose name has 51 letters",
	    "KV\2\4\x33"
	    "012345678901234567890123456789012345678901234567890",
	    56, 0, "");
	try("whose name has 255 letters",
	    "KV\2\4\xff"
	    "bob",
	    8, 0, "");
	try("whose name ends behind the data", "KV\2\4\4bob", 8, 0, "");
	for (size_t len = 0; len < 10; len++)
		try("that sends less", all, len, 0, "");
}
