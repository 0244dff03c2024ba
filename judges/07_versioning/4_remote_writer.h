/* SPDX-License-Identifier: MIT */
#include "judge.h"

/* The three requests of an update: all is filled in but what the exercise
 * asks for. */
struct update {
	struct ibv_send_wr odd;  /* COMPARE_AND_SWAP of the version, signaled */
	struct ibv_send_wr data; /* WRITE of the data, not signaled */
	struct ibv_send_wr even; /* FETCH_AND_ADD to it, not signaled */
	const uint64_t *found;   /* where COMPARE_AND_SWAP puts what it found */
};

/* The exercise's. */
void update(struct ep *ep, struct update *u);
