/* SPDX-License-Identifier: MIT */
/*
 * Exercise 3.3 - extend: many records through four slots     ** 25 minutes
 *
 * The peer has n records, and you have room for SLOTS of them. read_record()
 * (judges/03_read/3_four_slots.h) posts the READ of one record into one slot. All n are posted at once, so
 * they overwrite each other. Write fetch_all():
 *
 * - Call take(i) once for each record, in order: i = 0, 1, ... n - 1. take(i) looks
 *   at record i in the slot that you chose. When take(i) returns, it does not need
 *   the slot any more.
 * - Post the READs in the order of the records.
 * - A record may be taken when its READ is complete. Then, and not before, its slot
 *   is free for the READ of another record.
 * - Keep the slots busy: when you wait for a completion, no slot may be free while
 *   there is a record that is not posted yet.
 *
 * n may be smaller than SLOTS.
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
