/* SPDX-License-Identifier: MIT */
/*
 * tests/fuzz.c - any bytes at all as what a peer sends, for libFuzzer.
 *
 * The first byte of an input is the lesson that we run, the second says how
 * much memory it needs; the rest comes over a socket. It is given to
 * info_unpack(), and to recv_info() and barrier() as in a lesson; and, as private
 * data of the CM, to the wish_unpack() of lesson 11. The die()
 * of this file does not exit: it goes back to where the reading began.
 *
 * Built of this file, 11_rdma_cm/lesson.c, common/tcp.c and common/plumbing/sockets.c, without a
 * device and without libibverbs:
 *
 *   make build/fuzz
 *   build/fuzz -runs=1000000 -max_len=96 build/corpus
 *
 * An empty directory build/corpus gets a good message for each lesson to start
 * from.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../11_rdma_cm/lesson.h"
#include "common.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LESSONS = 8 + 1, HEAD = 2 /* bytes that do not come from the peer */ };

/* Not assert: it must hold in every build. */
#define MUST(x)                                                            \
	do {                                                               \
		if (!(x)) {                                                \
			fprintf(stderr, "line %d: not so: %s\n", __LINE__, \
				#x);                                       \
			abort();                                           \
		}                                                          \
	} while (0)

/* ---- in place of say.c ---- */

static jmp_buf dead;
static char message[512];

void die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(message, sizeof message, fmt, ap);
	va_end(ap);
	longjmp(dead, 1);
}

/* No error of the system can be a peer's doing: it must not come to this. */
void die_err(int err, const char *fmt, ...)
{
	fprintf(stderr, "die_err %d: %s\n", err, fmt);
	abort();
}

void note(const char *fmt, ...)
{
	(void)fmt;
}

double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* ---- the properties ---- */

/* What common.h promises of a message that is accepted. */
static void check_limits(const struct qp_info *i)
{
	static const uint8_t zero[16];

	MUST(i->qpn >= 2 && i->qpn <= 0xffffff);
	MUST(i->psn <= 0xffffff);
	MUST(i->mtu >= IBV_MTU_256 && i->mtu <= IBV_MTU_4096);
	MUST(memcmp(i->gid.raw, zero, sizeof zero) != 0);
	MUST(i->addr + i->len >= i->addr);
	MUST(i->len || (!i->addr && !i->rkey));
}

/* Is the message accepted? Nothing beyond its end, and beyond why's, is
 * touched: both are just as long as they have to be. */
static bool check_unpack(const uint8_t *bytes, unsigned lesson, char why[80])
{
	uint8_t *msg = malloc(INFO_LEN), again[INFO_LEN];
	struct qp_info info;

	MUST(msg);
	memcpy(msg, bytes, INFO_LEN);
	memset(why, 'x', 80);
	bool good = info_unpack(msg, &info, lesson, why);
	MUST(memcmp(msg, bytes, INFO_LEN) == 0);
	if (good) {
		check_limits(&info);
		info_pack(again, &info, lesson);
		MUST(memcmp(msg, again, INFO_LEN) == 0);
	} else {
		MUST(memchr(why, 0, 80) && why[0]);
	}
	free(msg);
	return good;
}

/* The same bytes over a socket, as a lesson takes them. wait_s is 0: what is
 * not there yet does not come. */
static void check_receive(const uint8_t *bytes, size_t n, unsigned lesson,
			  size_t min_len, const char *why, bool good)
{
	static int sv[2] = { -1, -1 };
	static struct options opt;
	static struct ep ep;
	static struct qp_info info; /* static: longjmp must not lose them */
	static volatile int passed;
	char rest[128];

	if (sv[0] == -1) {
		MUST(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, sv) ==
		     0);
		ep = (struct ep){ .opt = &opt, .sock = sv[0] };
	}
	opt.lesson = lesson;
	MUST(write(sv[1], bytes, n) == (ssize_t)n);
	passed = 0;
	message[0] = 0;
	if (setjmp(dead) == 0) {
		info = recv_info(&ep, min_len);
		passed = 1;
		check_limits(&info);
		MUST(info.len >= min_len);
		barrier(&ep);
		passed = 2;
	}
	if (n < INFO_LEN) {
		MUST(passed == 0);
		MUST(strcmp(message, "waiting for QP info: nothing within "
				     "0 s") == 0);
	} else if (!good) {
		char want[120];

		snprintf(want, sizeof want, "QP info from the peer: %s", why);
		MUST(passed == 0 && strcmp(message, want) == 0);
	} else if (passed == 0) {
		MUST(strstr(message, "its memory region has "));
	} else {
		MUST((passed == 2) == (n > INFO_LEN && bytes[INFO_LEN] == 'B'));
		MUST(passed == 2 || strncmp(message, "barrier: ", 9) == 0);
	}

	/* Leave both ends empty. To a peer that was refused nothing was said;
	 * to others, our 'B' of the barrier. */
	ssize_t said = read(sv[1], rest, sizeof rest);
	MUST(passed ? said == 1 && rest[0] == 'B' : said == -1);
	while (read(sv[0], rest, sizeof rest) > 0)
		;
}

/* The private data of lesson 11, with nothing behind it. What is accepted is as lesson.h
 * says, and is packed into the same bytes. */
static void check_wish(const uint8_t *bytes, size_t n)
{
	uint8_t *data = malloc(n ? n : 1), again[WISH_LEN];
	struct wish w;
	char why[56];

	MUST(data);
	memcpy(data, bytes, n);
	memset(why, 'x', sizeof why);
	if (wish_unpack(data, n, &w, why)) {
		MUST(w.operation == OP_WRITE || w.operation == OP_READ);
		MUST(w.count >= 1 && w.count <= COUNT_MAX);
		MUST(w.bytes >= 1 && w.bytes <= BYTES_MAX);
		MUST((uint64_t)w.count * w.bytes <= DATA_MAX);
		wish_pack(again, &w);
		MUST(memcmp(again, bytes, WISH_LEN) == 0);
	} else {
		MUST(memchr(why, 0, sizeof why) && why[0]);
	}
	free(data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char why[80] = "";
	bool good = false;

	if (size < HEAD)
		return 0;
	unsigned lesson = data[0];
	size_t min_len = (size_t)data[1] * data[1] * data[1];
	data += HEAD;
	size -= HEAD;
	if (size >= INFO_LEN)
		good = check_unpack(data, lesson, why);
	check_receive(data, size, lesson, min_len, why, good);
	check_wish(data, size);
	return 0;
}

/* A good message for each lesson, if the last argument is an empty directory. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *dir = (*argv)[*argc - 1];
	struct qp_info info = {
		.qpn = 17,
		.psn = 0x123456,
		.mtu = IBV_MTU_1024,
		.gid.raw = { 0xfe, 0x80, [15] = 1 },
		.addr = 0x7f0000001000,
		.len = 4160,
		.rkey = 0x1234,
	};
	struct stat st;

	if (*argc < 2 || stat(dir, &st) != 0 || !S_ISDIR(st.st_mode))
		return 0;
	struct wish wish = { .operation = OP_READ, .count = 3, .bytes = 5000 };
	for (unsigned lesson = 1; lesson <= LESSONS; lesson++) {
		uint8_t seed[HEAD + INFO_LEN + 1] = { (uint8_t)lesson, 16 };
		char path[512];

		info_pack(seed + HEAD, &info, lesson);
		seed[HEAD + INFO_LEN] = 'B';
		if (lesson == LESSONS) /* not of QP info, but private data */
			wish_pack(seed + HEAD, &wish);
		snprintf(path, sizeof path, "%s/lesson-%u", dir, lesson);
		int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
		MUST(fd != -1);
		MUST(write(fd, seed, sizeof seed) == sizeof seed);
		close(fd);
	}
	return 0;
}
