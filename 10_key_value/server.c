/* SPDX-License-Identifier: MIT */
/*
 * 10_key_value/server.c - a table that others read and change.
 *
 * The server lends a hash table and sleeps. It answers no GET and no PUT. Only
 * one thing cannot be done from outside: to stop a client that has a right to
 * WRITE. Clients wake the server for that.
 */
#include <errno.h>

#include "common.h"
#include "lesson.h"

static struct shared shared;
static struct ibv_mr *mr; /* of shared */
static struct ep conn[CLIENTS];

static const struct ibv_qp_cap cap = { 0 };

/* All three rights, at both gates, for everybody: whoever is let in can destroy the
 * table. */
static const int rights = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE |
			  IBV_ACCESS_REMOTE_ATOMIC;

static void let_in(struct ep *ep)
{
	struct qp_info client = recv_info(ep, 0);

	if (!mr) /* nothing is open before the first client has spoken */
		mr = ibv_reg_mr(ep->pd, &shared, sizeof shared,
				rights | IBV_ACCESS_LOCAL_WRITE);
	if (!mr)
		die_err(errno, "ibv_reg_mr");
	qp_to_init(ep, (unsigned)rights);
	send_info(ep, mr);
	qp_to_rtr(ep, &client);
	qp_to_rts(ep);
}

/*
 * DOC: cut-off. What this client sends is dropped from now on. A lease or a version
 * cannot do that: a WRITE does not look at them when it arrives. When
 * ibv_destroy_qp has returned, nothing of the QP is executed any more, and what comes
 * later finds no QP. ERR or RESET would be too early (docs/rxe.md).
 */
static void cut_off(struct ep *ep)
{
	int rc = ep->qp ? ibv_destroy_qp(ep->qp) : 0;

	if (rc)
		die_err(rc, "ibv_destroy_qp");
	ep->qp = NULL; /* ep_close() looks */
}

/* Sleeps in poll(2) until an act is over. Returns how many were cut off. */
static int sleep_until_done(void)
{
	bool is_off[CLIENTS] = { false };
	int off = 0;
	char byte;

	for (;;) {
		tcp_recv(&conn[0], &byte, 1, "asleep");
		if (byte == 'B') /* barrier() of the client */
			break;
		if (byte == 'N') { /* the last client connects again */
			struct ep *last = &conn[CLIENTS - 1];

			ep_close(last); /* its old QP is gone first */
			*last = ep_second(&conn[0], cap);
			let_in(last);
			continue;
		}
		int i = byte - '1';
		if (i < 0 || i >= CLIENTS)
			die("asleep: the peer sent byte %d", byte);
		cut_off(&conn[i]);
		off += !is_off[i];
		is_off[i] = true;
		tcp_send(&conn[0], &byte, 1, "asleep");
	}
	tcp_send(&conn[0], "B", 1, "asleep");
	return off;
}

/* Is each slot at rest and whole, and each key in one slot only? (The clients have
 * said over TCP that their requests have completed. That is enough on soft-RoCE. A
 * NIC promises to show us only what came before a receive completion: lesson 04.) */
static void look_over(void)
{
	for (int i = 0; i < SLOTS; i++) {
		const struct slot *s = &shared.slot[i];

		if (s->version % 2 != 0)
			die("slot %d: version %#llx: somebody still writes", i,
			    (unsigned long long)s->version);
		if (s->version == 0)
			continue;
		if (s->record.check != checksum(&s->record))
			die("slot %d: its record is torn", i);
		for (int k = 0; k < i; k++)
			if (shared.slot[k].record.key == s->record.key)
				die("slots %d and %d have the same key", k, i);
	}
}

int main(int argc, char **argv)
{
	struct options opt = parse_args(argc, argv, "server", LESSON);

	conn[0] = ep_open(&opt, cap);
	tcp_accept(&conn[0]);
	for (int i = 0; i < CLIENTS; i++) {
		if (i > 0)
			conn[i] = ep_second(&conn[0], cap);
		let_in(&conn[i]);
	}
	barrier(&conn[0]);
	say("%d slots of %zu bytes are open; going to sleep", SLOTS,
	    sizeof(struct slot));

	for (int i = 0; i < 4; i++) /* acts 1 to 4 */
		if (sleep_until_done() != 0)
			die("asked to cut off a client before act 5");
	if (sleep_until_done() != 1)
		die("act 5: not asked to cut off one client");
	say("act 5: woken up, to cut off one client");
	if (sleep_until_done() != 0)
		die("act 6: asked to cut off a client");
	look_over();
	say("PASS each key is in one slot, and each record is whole");

	int rc = ibv_dereg_mr(mr);
	if (rc)
		die_err(rc, "ibv_dereg_mr");
	for (int i = CLIENTS - 1; i >= 0; i--)
		ep_close(&conn[i]);
	return 0;
}
