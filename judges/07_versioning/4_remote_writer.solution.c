/* SPDX-License-Identifier: MIT */
/* Solution of exercise 7.4 - a writer on another machine */
#include "4_remote_writer.h"

void update(struct ep *ep, struct update *u)
{
	uint64_t even = 0;

	for (;;) {
		u->odd.wr.atomic.compare_add = even;
		u->odd.wr.atomic.swap = even + 1;
		post(ep, &u->odd);
		expect_completion(ep, "COMPARE_AND_SWAP");
		if (*u->found == even)
			break;
		even = *u->found + *u->found % 2; /* odd: the next one */
	}
	/* A WRITE and an atomic are executed in order, without a fence. */
	u->data.next = &u->even;
	u->even.wr.atomic.compare_add = 1;
	u->even.send_flags = IBV_SEND_SIGNALED;
	post(ep, &u->data);
	expect_completion(ep, "FETCH_AND_ADD");
}
