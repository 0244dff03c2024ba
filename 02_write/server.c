/* SPDX-License-Identifier: MIT */
/*
 * 02_write/server.c - be written to, and sleep.
 *
 * The server opens some memory, says where it is, and goes to sleep in
 * poll(2). Its NIC does the rest. Nothing tells the program that its memory was
 * written to. Act 2 shows how the program can find out by itself.
 */
#include <endian.h>
#include <errno.h>
#include <poll.h>
#include <stdatomic.h>

#include "common.h"
#include "lesson.h"

static struct shared shared;

static void compare(const char *got, const char *want, int len)
{
	for (int k = 0; k < len; k++)
		if (got[k] != want[k])
			die("byte %d is 0x%02x, not 0x%02x", k, got[k] & 0xff,
			    want[k] & 0xff);
}

/*
 * DOC: events. Some news belongs to none of our requests. The device reports it
 * as an asynchronous event. An example is a WRITE that our NIC refused: it took
 * no receive, so no completion names it (InfiniBand rule C9-222.1.1, man
 * ibv_get_async_event). rxe of Linux 6.1 and 6.12 does not raise the event.
 */
static void look_for_events(struct ep *ep)
{
	struct pollfd device = { .fd = ep->ctx->async_fd, .events = POLLIN };
	struct ibv_async_event e;

	/* ibv_get_async_event sleeps if there is no event, so ask first. */
	while (poll(&device, 1, 0) > 0) {
		if (ibv_get_async_event(ep->ctx, &e))
			die_err(errno, "ibv_get_async_event");
		ibv_ack_async_event(&e); /* or ibv_destroy_qp waits for it */
		const char *what = ibv_event_type_str(e.event_type);

		switch (e.event_type) {
		case IBV_EVENT_QP_FATAL:
		case IBV_EVENT_QP_REQ_ERR:
		case IBV_EVENT_QP_ACCESS_ERR:
		case IBV_EVENT_CQ_ERR:
		case IBV_EVENT_DEVICE_FATAL:
			die("asynchronous event: %s", what);
		default: /* a port, a GID: all that we use has no error */
			note("asynchronous event: %s", what);
		}
	}
}

/* Sleeps in poll(2), until the client or the device has something to say. */
static void sleep_until_woken(struct ep *ep)
{
	struct pollfd either[2] = {
		{ .fd = ep->sock, .events = POLLIN },
		{ .fd = ep->ctx->async_fd, .events = POLLIN },
	};

	if (poll(either, 2, ep->opt->wait_s * 1000) == 0)
		die("barrier: nothing within %d s", ep->opt->wait_s);
	look_for_events(ep);
}

int main(int argc, char **argv)
{
	struct options opt = parse_args(argc, argv, "server", LESSON);
	struct ibv_qp_cap cap = { 0 };
	struct ep ep = ep_open(&opt, cap);

	tcp_accept(&ep);
	struct qp_info client = recv_info(&ep, 0);

	/* DOC: first-gate. What may be done to this memory. REMOTE_WRITE needs
	 * LOCAL_WRITE beside it (man ibv_reg_mr): it is our NIC that writes. */
	memset(shared.page, '.', PAGE);
	struct ibv_mr *mr =
		ibv_reg_mr(ep.pd, &shared, sizeof shared,
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	if (!mr)
		die_err(errno, "ibv_reg_mr");

	/* DOC: second-gate. What may be done over this connection. */
	qp_to_init(&ep, IBV_ACCESS_REMOTE_WRITE);
	send_info(&ep, mr); /* address and rkey: the key to the first gate */
	qp_to_rtr(&ep, &client);
	qp_to_rts(&ep);
	/* Do the bytes of one WRITE land in order? We ask the QP that is written
	 * to. 0: nobody promises it, so the last byte of a WRITE is no flag. */
	note("ibv_query_qp_data_in_order of RDMA_WRITE: %d",
	     ibv_query_qp_data_in_order(ep.qp, IBV_WR_RDMA_WRITE, 0));
	/* A receive without room: a SEND would take it, or a WRITE with immediate
	 * (lesson 04), and leave a completion. A WRITE does not. */
	struct ibv_recv_wr unused = { .num_sge = 0 }, *bad;
	int err = ibv_post_recv(ep.qp, &unused, &bad);
	if (err)
		die_err(err, "ibv_post_recv");
	say("%zu bytes open to REMOTE_WRITE; going to sleep", sizeof shared);
	barrier(&ep);

	/* Act 1: asleep in poll(2), until the client says over TCP that its
	 * WRITEs have completed. (Enough on soft-RoCE. A NIC promises to show
	 * us only what came before a receive completion: lesson 04.) */
	sleep_until_woken(&ep);
	barrier(&ep);
	static char want[PAGE];
	struct ibv_wc wc;

	page_as_written(want);
	compare(shared.page, want, PAGE);
	if (ibv_poll_cq(ep.cq, 1, &wc) != 0)
		die("unexpected completion in the server's CQ");
	say("woke up: all bytes are in place, and the server's CQ is "
	    "empty");
	barrier(&ep);

	/* DOC: the-flag. Act 2: nobody wakes us. The client writes data, then
	 * the flag, on one QP: WRITEs take effect in order. With the acquire
	 * load our CPU does not read the data before it has seen the flag. */
	for (uint64_t round = 1; round <= ROUNDS; round++) {
		double since = now_ms();
		while (be64toh(atomic_load_explicit(
			       &shared.flag, memory_order_acquire)) < round)
			keep_waiting(&ep, since, "the flag");
		pattern(want, BODY, (int)round);
		compare(shared.page, want, BODY);
		barrier(&ep); /* now the client may overwrite the data */
	}
	look_for_events(&ep);
	say("no asynchronous event reports an error");
	say("PASS %d rounds: each time the flag showed, its data was there",
	    ROUNDS);

	int rc = ibv_dereg_mr(mr); /* from here on the rkey opens nothing */
	if (rc)
		die_err(rc, "ibv_dereg_mr");
	ep_close(&ep);
	return 0;
}
