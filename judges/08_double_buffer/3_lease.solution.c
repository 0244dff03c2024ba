/* SPDX-License-Identifier: MIT */
/* Solution of exercise 8.3 - a lease that never ends */
#include "reads.h"

uint64_t read_leased(uint64_t to[WORDS])
{
	for (;;) {
		uint64_t g = fetch_generation();

		/* If g is still the last one, the writer has not yet looked at
		 * this lease: it will, before it begins with g + 2. */
		add_to_lease(g % 2, 1);
		bool ours = fetch_generation() == g;
		if (ours)
			fetch_buffer(to, g % 2);
		add_to_lease(g % 2, -1);
		if (ours)
			return g;
	}
}
