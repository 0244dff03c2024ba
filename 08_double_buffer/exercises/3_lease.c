/* SPDX-License-Identifier: MIT */
/*
 * Exercise 8.3 - extend: a lease that never ends             ** 40 minutes
 *
 * A reader as slow as the reader of act 4 shall be served. So each of the two
 * buffers has a word, its lease: how many readers are in the buffer. (A lease
 * that never ends is a reader count.) The writer looks at the lease before it
 * begins to write into a buffer, and waits until the lease is 0. It does not look
 * again while it writes. So far nobody tells the writer that a buffer is being
 * read. Write read_leased():
 *   - it puts a whole generation into to[], and returns its number, which was
 *     READ from the server;
 *   - while it READs a buffer, the writer cannot be in it;
 *   - when it returns, each lease is what it was before.
 *
 * The writer may do much between two of your requests, and in the middle of
 * fetch_buffer(). What you need is in judges/08_double_buffer/reads.h:
 * fetch_generation(), fetch_buffer(), add_to_lease(number, 1 or -1). Generation
 * g is in buffer g % 2.
 */
#include "reads.h"

uint64_t read_leased(uint64_t to[WORDS])
{
	uint64_t g = fetch_generation(); /* TODO 8.3 */

	fetch_buffer(to, g % 2);
	return g;
}
