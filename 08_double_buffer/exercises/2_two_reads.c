/* SPDX-License-Identifier: MIT */
/*
 * Exercise 8.2 - extend: two READs for a buffer              ** 30 minutes
 *
 * A reader follows the writer of four buffers: each call of read_next() returns
 * a newer generation. This read_next() READs three times for each buffer. It is
 * not safe, and it does not wait for a newer generation. Write read_next():
 *   - it puts a whole buffer into to[], and returns its generation. The
 *     generation is newer than all that were returned before. (Take the
 *     newest that you know of. Some are left out then.)
 *   - if there is no newer one, it READs the generation until there is one;
 *   - if there is always a newer one, and nothing must be thrown away, it
 *     READs twice for a buffer, and once more for the very first buffer.
 *
 * Generations begin with 1; generation g is in buffer g % BUFFERS. r is the
 * same struct reader in each call: two words, r->a and r->b, 0 at first, for
 * what you want to keep. READ with fetch_generation() and fetch_buffer(to,
 * number), see judges/08_double_buffer/reads.h.
 */
#include "2_two_reads.h"

uint64_t read_next(struct reader *r, uint64_t to[WORDS])
{
	uint64_t g = fetch_generation(); /* TODO 8.2 */

	fetch_buffer(to, g % BUFFERS);
	r->a = fetch_generation();
	return g;
}
