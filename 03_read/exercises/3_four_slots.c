/* SPDX-License-Identifier: MIT */
/*
 * Exercise 3.3 - extend: many records through four slots     ** 20 minutes
 *
 * The peer has n records, and you have room for SLOTS = 4 of them. All READs are
 * posted at once now, so they overwrite each other. Write fetch_all():
 *
 * - Post the READs in the order of the records: read_record(ep, r, i, slot) posts
 *   one of record i into that slot (0 to SLOTS - 1), SIGNALED.
 * - Call take(i) once for each record, in order: i = 0, 1, ... n - 1. take(i) looks
 *   at record i in the slot that you chose. When take(i) returns, it does not need
 *   the slot any more.
 * - A record may be taken when its READ is complete. Then, and not before, its slot
 *   is free for the READ of another record.
 * - Keep the slots busy: when you wait for a completion, no slot may be free while
 *   there is a record that is not posted yet.
 *
 * expect_completion(ep, "READ") takes the next completion. READs complete in the
 * order in which they were posted. r is only handed on to read_record().
 *
 * The judge has read_record() and take(). It calls fetch_all() with n = 8, then
 * with n = 3, fewer than SLOTS.
 */
#include "3_four_slots.h"

void fetch_all(struct ep *ep, const struct records *r, int n)
{
	for (int i = 0; i < n; i++) /* TODO 3.3 */
		read_record(ep, r, i, i % SLOTS);
	for (int i = 0; i < n; i++) {
		expect_completion(ep, "READ");
		take(i);
	}
}
