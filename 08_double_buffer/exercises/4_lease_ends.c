/* SPDX-License-Identifier: MIT */
/*
 * Exercise 8.4 - extend: a lease that ends by itself        *** 60 minutes
 *
 * With the lease of exercise 8.3 a reader that dies stops the writer for ever.
 * So here a lease is two numbers in one word: the upper 32 bits are an epoch,
 * the lower 32 bits say how many readers are in the buffer. A writer that has
 * waited too long ends all leases of the buffer by one COMPARE_AND_SWAP: the
 * epoch grows by 1, the readers become 0. Then it writes. But the reader was
 * perhaps not dead, only slow. No clocks of two machines are compared.
 *
 * Write read_leased():
 *   - it puts a whole generation into to[], and returns its number, which was
 *     READ from the server. If your lease ends before it is given back, throw
 *     the buffer away, and begin again;
 *   - when it returns, you are in no lease, and no other reader's lease was
 *     given back. Other readers come and go between your requests. They count
 *     themselves in and out, in the same word.
 *
 * read_leased() here is the solution of exercise 8.3. It is wrong now: what does
 * its -1 do in another epoch? Besides what 8.3 had there is swap_lease(number,
 * from, to), see judges/08_double_buffer/reads.h.
 */
#include "reads.h"

uint64_t read_leased(uint64_t to[WORDS])
{
	for (;;) {
		uint64_t g = fetch_generation();

		add_to_lease(g % 2, 1);
		bool ours = fetch_generation() == g;
		if (ours)
			fetch_buffer(to, g % 2);
		add_to_lease(g % 2, -1); /* TODO 8.4 */
		if (ours)
			return g;
	}
}
