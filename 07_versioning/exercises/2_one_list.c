/* SPDX-License-Identifier: MIT */
/*
 * Exercise 7.2 - extend: three READs, one list                * 15 minutes
 *
 * read_record() READs the version, the data and the version again. reads[] has
 * these three requests, not linked and without flags. It posts three times and
 * waits three times. Change read_record():
 *   - it posts one list, and waits once;
 *   - each READ still begins only when the READ before has completed, whatever
 *     NIC executes them;
 *   - there is one completion, and the record is here when read_record()
 *     returns. It sets no flag that is not needed.
 *
 * (The lesson does not do this: if a packet is lost, such a list waits for
 * ever on rxe, see docs/rxe.md. Here no packet is lost.)
 * The names that are not yours are explained in
 * judges/07_versioning/2_one_list.h.
 */
#include "2_one_list.h"

void read_record(struct ep *ep, struct ibv_send_wr reads[3])
{
	for (int i = 0; i < 3; i++) { /* TODO 7.2 */
		reads[i].send_flags = IBV_SEND_SIGNALED;
		post(ep, &reads[i]);
		expect_completion(ep, "READ");
	}
}
