/* SPDX-License-Identifier: MIT */
/* Solution of exercise 9.4 - a queue that is shared fairly */
#include "4_credits.h"

int credits(const struct queue *q, int who)
{
	int here = 0, held = 0;

	for (int i = 0; i < PLACES; i++) {
		here += q->here[i];
		held += q->held[i];
	}
	int receives = q->receives - (PLACES - here); /* for those here */
	int missing = receives / here - q->held[who];
	int left = receives - held;

	if (missing > left)
		missing = left;
	return missing > 0 ? missing : 0; /* it gives some back by using them */
}
