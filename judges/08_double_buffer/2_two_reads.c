/* SPDX-License-Identifier: MIT */
/* drivers/08_double_buffer/2_two_reads.c - a stream of generations. */
#include "2_two_reads.h"

#include "buffers.h"

enum { CALLS = 10 };

static const char *const schedules[][2] = {
	{ "always a newer one", "1" },
	{ "now and then four generations at once", "080000000" },
	{ "now and then three and a half at once", "070000000" },
};

void judge(void)
{
	static uint64_t to[WORDS];

	buffers_up();
	for (int i = 0; i < 3; i++) {
		struct reader r = { 0 };
		uint64_t last = 0;

		about("%s", schedules[i][0]);
		start(BUFFERS, schedules[i][1]);
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
