/* SPDX-License-Identifier: MIT */
/* Solution of exercise 5.3 - several pieces, two round trips */
#include "3_pieces.h"

void copy_pieces(struct ep *ep, struct ibv_send_wr *read,
		 struct ibv_send_wr *write, int n)
{
	for (int i = 0; i < n - 1; i++) {
		read[i].next = &read[i + 1];
		write[i].next = &write[i + 1];
	}
	read[n - 1].next = write;
	/* It waits for all the READs, and the other WRITEs wait behind it. */
	write[0].send_flags = IBV_SEND_FENCE;
	write[n - 1].send_flags |= IBV_SEND_SIGNALED;
	post(ep, read);
}
