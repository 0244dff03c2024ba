/* SPDX-License-Identifier: MIT */
/*
 * Exercise 1.3 - extend: sleep until a message wakes you       ** 20 minutes
 *
 * Messages come in batches of four. Only the last message of a batch is
 * SOLICITED. You do not want to poll all day, and you do not want to be woken
 * four times for one batch.
 *
 * Write next_message(): it takes the next completion out of the CQ and puts it
 * into *wc. If there is none, it sleeps until one is there.
 * - poll_one(ep, wc) looks once: true if it took a completion.
 * - ibv_req_notify_cq(ep->cq, solicited_only) arms the CQ: with 0 the next
 *   completion makes one event, with 1 the next one of a SOLICITED message (or of
 *   an error). A completion that was there before makes none.
 * - sleep_until_event(ep) waits for that event, takes it and acknowledges it.
 * - Only SOLICITED messages may wake you.
 * - Do not sleep while a message is waiting. Do not poll again and again.
 * - After you wake up the CQ may be empty: an event may be older than your last
 *   look at it.
 * - If the CQ cannot be armed, end the program: die_err(rc, "ibv_req_notify_cq").
 *
 * The judge calls next_message() for 16 messages. It lets each batch come at
 * another moment: before you arm the CQ, after that, or when you sleep.
 */
#include "3_sleep.h"

void next_message(struct ep *ep, struct ibv_wc *wc)
{
	while (!poll_one(ep, wc)) /* TODO 1.3 */
		sleep_until_event(ep);
}
