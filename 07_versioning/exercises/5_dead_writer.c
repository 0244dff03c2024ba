/* SPDX-License-Identifier: MIT */
/*
 * Exercise 7.5 - extend: a writer that died                 *** 40 minutes
 *
 * A client updates the server's record as in exercise 7.4: odd version, data,
 * even version. It died in the middle, and the version stays odd for ever. Or
 * is the client only slow? Nobody can tell by looking.
 *
 * Write rescue(), which the server's CPU calls when it has seen an odd version:
 *   - a writer is taken for dead if PATIENCE of your looks in a row return the
 *     same odd version. A writer that changes the version lives: do not cut it
 *     off;
 *   - if the update ends while you look, all is well: return;
 *   - no WRITE of a dead writer may arrive later: it may be only slow;
 *   - at the end the version is even, the data is the data of the last whole
 *     update, and no reader accepts torn data. A reader may have READ its first
 *     version before the writer began, and the data in the middle. It READs
 *     its second version when you have returned.
 *
 * What you need is in judges/07_versioning/5_dead_writer.h: look(), cut_off(),
 * restore(), set_version(). Use nothing else. No other client updates
 * meanwhile. (Others would use atomics, and the CPU's store is not atomic with
 * respect to these: lesson 06.)
 */
#include "5_dead_writer.h"

void rescue(void)
{
	uint64_t version = look(); /* TODO 7.5 */

	restore();
	set_version(version - 1);
}
