/* SPDX-License-Identifier: MIT */
/* Judges read_leased() in the schedules of the judge that includes this. */
#include "buffers.h"

extern const bool lease_ends; /* so the writer may meet a READ of yours */
extern const char *const schedules[][2]; /* what they are, and the moves */

void judge(void)
{
	static uint64_t to[WORDS];
	bool thrown = false;

	buffers_up();
	only_leased = true;
	for (int i = 0; schedules[i][0]; i++) {
		about("%s", schedules[i][0]);
		start(2, schedules[i][1]);
		uint64_t g = read_leased(to);

		for (int b = 0; b < 2; b++) {
			int left = (int32_t)memory.lease[b];

			if (left < others)
				wrong("you gave back what was not yours");
			if (left > others)
				wrong("your lease is left when you return");
		}
		must_be_whole(to, g);
		thrown |= buffer_reads > 1 + ends;
		if (met && !lease_ends)
			wrong("the writer was in a buffer while you READ it");
	}
	about("%s", "");
	if (thrown)
		wrong("you throw away a buffer that you have the lease of: "
		      "a slow reader starves");
}
