/* SPDX-License-Identifier: MIT */
/*
 * 05_fence/server.c - what a fence holds back, and what it does not.
 *
 * The server's part is to lend its memory, to slow its own wire down where the
 * network has to be slow to show something, and to look, each time, whether
 * the bytes are there that should be.
 */
#include <endian.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "lesson.h"

static struct shared shared;
static char wire[32]; /* our network interface, if we may slow it down */
static bool slow;     /* is it slow now? */

/* Delays all that leaves our interface. */
static void delay_wire(void)
{
	char cmd[128];

	snprintf(cmd, sizeof cmd,
		 "tc qdisc replace dev %s root netem delay %dms", wire, DELAY);
	slow = wire[0] && system(cmd) == 0;
}

static void free_wire(void)
{
	char cmd[128];

	snprintf(cmd, sizeof cmd, "tc qdisc del dev %s root", wire);
	if (slow && system(cmd) == 0)
		slow = false;
}

/* Only on an interface that the lab made for us, never on a real one. */
static void find_wire(const struct ep *ep)
{
	const char *lab = getenv("LAB_KIND");
	char path[256];

	snprintf(path, sizeof path,
		 "/sys/class/infiniband/%s/ports/%u/gid_attrs/ndevs/%u",
		 ep->ctx->device->name, ep->opt->ib_port, ep->gid_index);
	FILE *f = fopen(path, "r");
	if (lab && (strcmp(lab, "vm") == 0 || strcmp(lab, "host") == 0) && f &&
	    fscanf(f, "%31s", wire) == 1)
		atexit(free_wire);
	if (f)
		fclose(f);
}

static void wait_for_flag(struct ep *ep, int round)
{
	double since = now_ms();

	/* acquire: the data is looked at after the flag, not before. */
	while (be64toh(atomic_load_explicit(
		       &shared.flag, memory_order_acquire)) != (uint64_t)round)
		keep_waiting(ep, since, "the flag");
}

static void post_receive(struct ep *ep)
{
	struct ibv_recv_wr wr = { .num_sge = 0 }, *bad;
	int rc = ibv_post_recv(ep->qp, &wr, &bad);

	if (rc)
		die_err(rc, "ibv_post_recv");
}

/* Every completion must be fetched, or the CQ overruns and the QP dies. */
static void fetch_completion(struct ep *ep)
{
	struct ibv_wc wc = wait_wc(ep);

	if (wc.status != IBV_WC_SUCCESS)
		die("receive: %s", ibv_wc_status_str(wc.status));
}

/* Act 1: the client READs source and WRITEs what it read to copy. */
static int stale_copies(struct ep *ep, int first_round)
{
	int stale = 0;

	for (int round = first_round; round < first_round + ROUNDS; round++) {
		pattern(shared.source, round);
		memset(shared.copy, '?', LEN);
		barrier(ep);
		barrier(ep); /* the client's two requests have completed */
		stale += !is_pattern(shared.copy, round);
	}
	return stale;
}

/* Act 4: data comes over one QP, with an immediate, and so needs a receive; the
 * flag comes over another. */
static int missing_data(struct ep *ep, bool early, int first_round)
{
	int missing = 0;

	for (int round = first_round; round < first_round + ROUNDS; round++) {
		memset(shared.data, '?', LEN);
		if (early)
			post_receive(ep);
		barrier(ep);
		wait_for_flag(ep, round);
		missing += !is_pattern(shared.data, round);
		if (!early)
			post_receive(ep); /* now the data can come, too */
		fetch_completion(ep);
		barrier(ep);
	}
	return missing;
}

int main(int argc, char **argv)
{
	struct options opt = parse_args(argc, argv, "server", LESSON);
	struct ibv_qp_cap cap = {
		.max_send_wr = 1,
		.max_recv_wr = TRIES,
		.max_send_sge = 1,
		.max_recv_sge = 1,
	};
	struct ep ep = ep_open(&opt, cap);
	struct ep other = ep_second(&ep, cap); /* act 4 */

	tcp_accept(&ep);
	other.sock = ep.sock;
	struct qp_info client = recv_info(&ep, 0);
	struct qp_info client_other = recv_info(&other, 0);

	int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
		     IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
	struct ibv_mr *mr = ibv_reg_mr(ep.pd, &shared, sizeof shared, access);
	if (!mr)
		die_err(errno, "ibv_reg_mr");
	qp_to_init(&ep, (unsigned)access & ~IBV_ACCESS_LOCAL_WRITE);
	qp_to_init(&other, IBV_ACCESS_REMOTE_WRITE);
	send_info(&ep, mr);
	send_info(&other, mr);
	ep.min_rnr_timer = 14; /* 1.28 ms: act 4 holds data back for as long */
	qp_to_rtr(&ep, &client);
	qp_to_rts(&ep);
	qp_to_rtr(&other, &client_other);
	qp_to_rts(&other);
	for (int i = 0; i < TRIES; i++)
		post_receive(&ep); /* for the SENDs of act 2 */
	find_wire(&ep);
	barrier(&ep);

	/* DOC: act-1. The answer to the READ is late: what does the WRITE
	 * behind it carry? */
	delay_wire();
	int stale = stale_copies(&ep, 1);
	note("act 1: %d of %d stale without a fence", stale, ROUNDS);
	if (stale)
		say("act 1: READ, WRITE: the WRITE took stale bytes along");
	else
		say("act 1: READ, WRITE: not reproduced here%s: luck is not a "
		    "guarantee",
		    slow ? "" : ", the wire cannot be slowed down");
	stale = stale_copies(&ep, 1 + ROUNDS);
	note("act 1: %d of %d stale with a fence", stale, ROUNDS);
	if (stale)
		die("act 1: READ, WRITE|F: stale bytes in spite of the fence");
	say("act 1: READ, WRITE|F: it waited for the READ, every time");

	/* Act 2 is the client's: it measures. */
	barrier(&ep);
	barrier(&ep);
	free_wire();
	for (int i = 0; i < TRIES; i++)
		fetch_completion(&ep);

	/* DOC: act-3. No fence at all: the flag never overtakes the data. */
	for (int round = 1; round <= FLAGS; round++) {
		wait_for_flag(&ep, round);
		if (!is_pattern(shared.data, round))
			die("act 3: a flag came before its data");
		barrier(&ep);
	}
	say("act 3: WRITE data, WRITE flag: %d flags, each behind its data",
	    FLAGS);

	/* DOC: act-4. Two QPs. */
	int missing = missing_data(&ep, false, FLAGS + 1);
	note("act 4: %d of %d flags came before their data", missing, ROUNDS);
	if (!missing)
		die("act 4: the data was never late: nothing was shown");
	say("act 4: data on one QP, flag|F on another: the flag came first");
	missing = missing_data(&ep, true, FLAGS + 1 + ROUNDS);
	note("act 4: %d of %d after its completion", missing, ROUNDS);
	if (missing)
		die("act 4: a flag came before data that had completed");
	say("act 4: flag posted after the data's completion: never");
	barrier(&ep);
	say("PASS the fence held where it reaches, and nowhere else");

	int rc = ibv_dereg_mr(mr);
	if (rc)
		die_err(rc, "ibv_dereg_mr");
	ep_close(&other);
	ep_close(&ep);
	return 0;
}
