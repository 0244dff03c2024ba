/* SPDX-License-Identifier: MIT */
/* Solution of exercise 7.2 - three READs, one list */
#include "2_one_list.h"

void read_record(struct ep *ep, struct ibv_send_wr reads[3])
{
	reads[0].next = &reads[1];
	reads[1].next = &reads[2];
	reads[1].send_flags = IBV_SEND_FENCE;
	reads[2].send_flags = IBV_SEND_FENCE | IBV_SEND_SIGNALED;
	post(ep, &reads[0]);
	expect_completion(ep, "READ");
}
