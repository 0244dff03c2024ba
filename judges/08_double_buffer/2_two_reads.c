/* SPDX-License-Identifier: MIT */
/*
 * judges/08_double_buffer/2_two_reads.c - a stream of generations.
 *
 * before: always a newer one: 20 looks at the generation, 11 are enough
 * hint1: What does the second look at one buffer tell about the next
 * hint1: buffer?
 * hint1.zh: 读完一个缓冲区，再看一次世代号，这对下一个缓冲区说明什么？
 * hint2: Keep two generations: the one that you READ last, and the one
 * hint2: that you returned last. If they differ, you know of a newer one
 * hint2: already. Let at most BUFFERS - 2 pass.
 * hint2.zh: 记住两个世代号：最近 READ 的，和最近返回的。两者不同，就已经知道有
 * hint2.zh: 更新的。最多放过 BUFFERS - 2 代。
 */
#include "2_two_reads.h"

#include "buffers.h"

enum { CALLS = 10 };

static const char *const schedules[][2] = {
	{ "always a newer one", "1" },
	{ "now and then four generations at once", "080000000" },
	{ "now and then three and a half at once", "070000000" },
	{ "nothing is published yet", "1" },
};

void judge(void)
{
	static uint64_t to[WORDS];

	buffers_up();
	for (int i = 0; i < 4; i++) {
		struct reader r = { 0 };
		uint64_t last = 0;

		about("%s", schedules[i][0]);
		start(BUFFERS, schedules[i][1]);
		if (i == 3)
			memory.shared.generation = halves = 0;
		for (int call = 0; call < CALLS; call++) {
			uint64_t g = read_next(&r, to);

			if (g <= last)
				wrong("generation %d after generation %d",
				      (int)g, (int)last);
			must_be_whole(to, g);
			last = g;
		}
		if (i == 0 && looks > CALLS + 1)
			wrong("%d looks at the generation, %d are enough",
			      looks, CALLS + 1);
	}
}
