/* SPDX-License-Identifier: MIT */
/*
 * Exercise 4.3 - extend: offered by SEND, written, done by SEND   ** 30 minutes
 *
 * The older way to do it: the peer SENDs a message that offers memory, you WRITE
 * there, and SEND "done". This file SENDs "done" and has done nothing before it.
 *
 * Write fill(). When it is called, the receive for the offer is posted, and the
 * message comes while you wait. struct offer and struct work are in
 * judges/04_write_imm/3_hybrid.h.
 * - Take the completion of the receive. Then the offer is in w->offer. Its numbers
 *   are in big endian: be64toh() and be32toh() turn them into what your CPU uses.
 * - WRITE the first bytes of w->data to the memory that is offered: all w->n
 *   bytes, or as many as the offer has room for.
 * - Behind the WRITE an empty SEND_WITH_IMM: "done". Its immediate is the number
 *   of bytes that you wrote, in network order.
 * - Post both as one list, and take one completion for the two.
 *
 * post() posts a list; expect_completion(ep, "what") takes the next completion, of
 * whatever kind, and ends the program if it is an error.
 *
 * The judge is the peer. It makes three offers and calls fill() for each. When
 * "done" has come, it compares its memory and the immediate with what you had.
 *
 * How many requests, receives and round trips does a piece take this way, and how
 * many with WRITE_WITH_IMM to memory that is known already?
 */
#include <arpa/inet.h>
#include <endian.h>

#include "3_hybrid.h"

void fill(struct ep *ep, const struct work *w)
{
	struct ibv_send_wr done = {
		.opcode = IBV_WR_SEND_WITH_IMM,
		.send_flags = IBV_SEND_SIGNALED,
		.imm_data = htonl(w->n),
	};

	post(ep, &done); /* TODO 4.3 */
	expect_completion(ep, "done");
}
