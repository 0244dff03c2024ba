/* SPDX-License-Identifier: MIT */
/*
 * judges/08_double_buffer/2_two_reads.c - a stream of generations.
 *
 * before: always a newer one: 20 looks at the generation, 11 are enough
 * hint1: What does the second look at one buffer tell about the next
 * hint1: buffer?
 * hint1.zh: 读完一块缓冲区，再看一次世代号，这对下一块缓冲区说明什么？
 * hint2: Keep two generations: the one that you READ last, and the one
 * hint2: that you returned last. If they differ, you know of a newer one
 * hint2: already. Let at most BUFFERS - 2 pass.
 * hint2.zh: 记住两个世代号：最近 READ 的，和最近返回的。两者不同，就已经知道有
 * hint2.zh: 更新的。最多放过 BUFFERS - 2 个世代。
 */
#include "2_two_reads.h"

#include "buffers.h"

enum { CALLS = 10 };

/* begin: the last generation that is there at first. */
static const struct {
	const char *what, *moves;
	uint64_t begin;
} schedules[] = {
	{ "always a newer one", "1", BUFFERS },
	{ "now and then four generations at once", "080000000", BUFFERS },
	{ "now and then three and a half at once", "070000000", BUFFERS },
	{ "five times in a row four generations at once",
	  "0080080080080080000000", BUFFERS },
	{ "nothing is published yet", "1", 0 },
	{ "generations above 2^31 - 1", "1", INT32_MAX },
	{ "generations above 2^32 - 1", "1", UINT32_MAX },
	{ "now and then 2^32 generations at once", "0W0000000", BUFFERS },
	{ "the writer rests for long",
	  "80000000000000000000000000000000000000000000000000000000000000",
	  BUFFERS },
};

void judge(void)
{
	static uint64_t to[WORDS];

	buffers_up();
	for (size_t i = 0; i < sizeof schedules / sizeof schedules[0]; i++) {
		struct reader r = { 0 };
		uint64_t last = 0;

		about("%s", schedules[i].what);
		start(BUFFERS, schedules[i].moves);
		memory.shared.generation = 0;
		if (schedules[i].begin > 0)
			write_many(schedules[i].begin);
		for (int call = 0; call < CALLS; call++) {
			requests = 0;
			uint64_t g = read_next(&r, to);

			if (g <= last)
				wrong("generation %lld after generation %lld",
				      (long long)g, (long long)last);
			must_be_whole(to, g);
			last = g;
		}
		if (buffer_reads > 6 * CALLS)
			wrong("you READ %d buffers, and return %d",
			      buffer_reads, CALLS);
		if (i == 0 && looks > CALLS + 1)
			wrong("%d looks at the generation, %d are enough",
			      looks, CALLS + 1);
	}
}
