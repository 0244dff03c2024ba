/* SPDX-License-Identifier: MIT */
/*
 * Exercise 7.3 - repair: two writers                         ** 25 minutes
 *
 * Two threads of the server's CPU update one record, and a client READs it as
 * in act 2 of the lesson. This update() is right for one writer only. Repair
 * update():
 *   - it calls write_data(n) exactly once;
 *   - while write_data() works, the version is odd, and the other writer does
 *     not write. The other writer begins only at an even version;
 *   - while the other writer writes, update() does not change the version, not
 *     even for a moment: a reader may look at any time;
 *   - if the other writer writes, update() waits until it has finished;
 *   - each update adds 2 to the version. The version never goes back.
 *
 * look() returns the version. Call look() in each turn of a loop that waits:
 * the other writer moves on then, and just before each access of yours. Load and
 * change *version only by look() and the functions atomic_...() of stdatomic.h,
 * with _explicit or without: the judge sees nothing else. (NICs only READ this word,
 * so the CPU's atomics are enough. The fence of the lesson is in write_data().)
 * The names that are not yours are explained in
 * judges/07_versioning/3_two_writers.h.
 */
#include "3_two_writers.h"

void update(_Atomic uint64_t *version, uint64_t n)
{
	uint64_t v = look(); /* TODO 7.3 */

	atomic_store(version, v + 1);
	write_data(n);
	atomic_store(version, v + 2);
}
