/* SPDX-License-Identifier: MIT */
/* Solution of exercise 8.2 - two READs for a buffer */
#include "2_two_reads.h"

/* a: the generation that was READ last; b: the one that was returned last. */
uint64_t read_next(struct reader *r, uint64_t to[WORDS])
{
	for (;;) {
		while (r->a == r->b)
			r->a = fetch_generation();
		uint64_t g = r->a;

		/* The second look at g is the first one at what is next. */
		fetch_buffer(to, g % BUFFERS);
		r->a = fetch_generation();
		if (r->a - g <= BUFFERS - 2) {
			r->b = g;
			return g;
		}
	}
}
