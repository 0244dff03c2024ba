/* SPDX-License-Identifier: MIT */
/* Solution of exercise 8.4 - a lease that ends by itself */
#include "reads.h"

/* lease: the word with us in it. Returns false if its epoch has ended. */
static bool give_back(uint64_t number, uint64_t lease)
{
	for (;;) {
		uint64_t found = swap_lease(number, lease, lease - 1);

		if (found == lease)
			return true;
		if (found >> 32 != lease >> 32)
			return false;
		lease = found; /* others came or went */
	}
}

uint64_t read_leased(uint64_t to[WORDS])
{
	for (;;) {
		uint64_t g = fetch_generation();
		uint64_t lease = add_to_lease(g % 2, 1) + 1;
		bool ours = fetch_generation() == g;

		if (ours)
			fetch_buffer(to, g % 2);
		/* Still in our epoch: the writer was not in this buffer. */
		if (give_back(g % 2, lease) && ours)
			return g;
	}
}
