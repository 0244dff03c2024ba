/* SPDX-License-Identifier: MIT */
/*
 * Exercise 7.4 - extend: a writer on another machine         ** 40 minutes
 *
 * Several clients update one record of the server. Its CPU does nothing, and
 * readers READ as in act 2 of the lesson. Write update(); u has its requests,
 * complete but for what is asked here (judges/07_versioning/4_remote_writer.h):
 *   - u->odd makes the version odd. Set compare_add and swap. It changes an
 *     even version v to v + 1, and no odd one. Try until it succeeds: *u->found
 *     says what it found. At first you do not know the version; begin with 0;
 *   - u->data and u->even are posted only when you know that u->odd has
 *     succeeded: as one list, in this order, with one completion;
 *   - u->even adds 1 (compare_add) to the version;
 *   - update() returns when all is done, and has consumed all completions.
 *
 * (On rxe the old value may be missing if packets are lost: lesson 06. Here no
 * packet is lost.) common/post.h has post() and expect_completion().
 */
#include "4_remote_writer.h"

void update(struct ep *ep, struct update *u)
{
	u->odd.wr.atomic.compare_add = 0; /* TODO 7.4 */
	u->odd.wr.atomic.swap = 1;
	post(ep, &u->odd);
	expect_completion(ep, "COMPARE_AND_SWAP");
}
