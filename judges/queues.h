/* SPDX-License-Identifier: MIT */
/*
 * judges/queues.h - completions of a QP's two queues, in another order. None between
 * them is promised (docs/recovery.md); the one that rxe has is one of several.
 */
#ifndef QUEUES_H
#define QUEUES_H

#include <string.h>

#include "judge.h"

static int (*take_real)(struct ibv_cq *, int, struct ibv_wc *);
static bool (*holds_sends)(void);

/* One at most: the first that is not held back. */
static inline int take_unheld(struct ibv_cq *cq, int max, struct ibv_wc *wc)
{
	static struct ibv_wc waiting[64];
	static int n;

	n += take_real(cq, 64 - n, waiting + n);
	for (int i = 0; i < n && max > 0; i++) {
		if (waiting[i].status == IBV_WC_SUCCESS &&
		    !(waiting[i].opcode & IBV_WC_RECV) && holds_sends())
			continue;
		*wc = waiting[i];
		n--;
		memmove(&waiting[i], &waiting[i + 1],
			(size_t)(n - i) * sizeof *wc);
		return 1;
	}
	return 0;
}

/* Before watch(). While holds() is true, no completion of what you have posted to the
 * send queue is found. */
static inline void hold_sends(struct ep *ep, bool (*holds)(void))
{
	take_real = ep->ctx->ops.poll_cq;
	holds_sends = holds;
	ep->ctx->ops.poll_cq = take_unheld;
}

#endif
