/* SPDX-License-Identifier: MIT */
/*
 * Exercise 10.4 - extend: somebody else's PUT               *** 60 minutes
 *
 * Slot s had the same odd version each time that you looked. Its writer,
 * writer_of(odd), is dead, or slow, or has just ended its PUT. Before it took the
 * slot it wrote the new record into its log. Write rescue():
 *   - in the end the slot is at rest, with the record of the log: you end the
 *     PUT, as a writer of your own number, YOU;
 *   - or the version is another one by now. Then others were faster, and you
 *     change nothing;
 *   - whatever comes late from that writer, or from you, does no harm;
 *   - if you die between two requests, others can end it: at each moment at which
 *     the version says that the slot is yours, your log has the record.
 *
 * This rescue() is what most people would write first. For whom does it work?
 * What you need is in drivers/10_key_value/4_rescue.h.
 */
#include "4_rescue.h"

void rescue(unsigned s, uint64_t odd)
{
	struct record r;

	read_log(writer_of(odd), &r); /* TODO 10.4 */
	write_record(s, &r);
	swap_version(s, odd, count_of(odd) + 1);
}
