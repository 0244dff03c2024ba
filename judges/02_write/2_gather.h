/* SPDX-License-Identifier: MIT */
#include "judge.h"

enum {
	PIECES = 8, /* of a list, at most */
	SGES = 4,   /* max_send_sge: pieces of memory in one request */
};

struct piece {
	const char *from; /* here, in the region with this lkey */
	uint32_t len;
	uint64_t to; /* over there */
};

/* The exercise's. */
void write_pieces(struct ep *ep, const struct piece *p, int n, uint32_t lkey,
		  uint32_t rkey);
