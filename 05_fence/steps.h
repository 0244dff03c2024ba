/* SPDX-License-Identifier: MIT */
/*
 * 05_fence/steps.h - the requests of this lesson, each with a name, and lists of them.
 * (steps.c)
 */
#ifndef STEPS_H
#define STEPS_H

#include "common.h"
#include "lesson.h"

/* Our memory, its region, and the server's. */
extern struct own {
	char buf[LEN];
	uint64_t word, old, x, y, new;
} own;
extern struct ibv_mr *mr;
extern struct qp_info server;

/* One request: it moves bytes between our memory and the server's. */
struct step {
	enum ibv_wr_opcode opcode;
	unsigned flags;
	const void *at; /* our bytes */
	uint32_t len;
	size_t offset; /* the server's bytes */
};
extern const struct step read_source, write_copy, write_word, add_one,
	send_nothing, read_x, write_x, read_y, write_y;

/* The same with IBV_SEND_FENCE. */
struct step fenced(struct step s);
/* Posts up to four of them as one list. The last one is signaled. */
void post_list(struct ep *ep, const struct step *s, int n);

#endif
