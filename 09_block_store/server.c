/* SPDX-License-Identifier: MIT */
/*
 * 09_block_store/server.c - blocks for several clients; the server transfers.
 *
 * A client SENDs commands. The server moves the data, by RDMA WRITE into the
 * client's buffer or RDMA READ out of it, and SENDs a reply. No client can touch
 * the server's memory. A client that dies or breaks the rules is lost, and no
 * other client. This file is about clients, receives and credits; serve.c is about
 * one command.
 */
#include <errno.h>
#include <string.h>

#include "serve.h"
#include "store.h"

enum { RECEIVES = MAX_CONNS * TAGS }; /* one for each credit */
static struct {
	_Alignas(COMMAND_LEN) uint8_t receive[RECEIVES][COMMAND_LEN];
	struct account account[MAX_CONNS];
} memory;
static struct conns conns; /* the clients, and a QP for each */
static struct ibv_srq *srq;
static struct ibv_mr *mr; /* of memory */

/* DOC: one-queue. The receive belongs to no client: the next SEND takes it. */
static void post_receive(uint8_t *to)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)to,
		.length = COMMAND_LEN,
		.lkey = mr->lkey,
	};
	struct ibv_recv_wr *bad, wr = {
		.wr_id = request_id(to, COMMAND),
		.sg_list = &sge,
		.num_sge = 1,
	};
	int rc = ibv_post_srq_recv(srq, &wr, &bad);

	if (rc)
		die_err(rc, "ibv_post_srq_recv");
}

/* DOC: behind. A client that has its reply may ask again before we have the
 * completions: a fence waits for the data, not for our CQ. So commands behind an
 * early WRITE wait until it is done; and no client has more than TAGS works served. */
static void serve_next(struct account *a)
{
	while (a->waiting > 0 && a->early == 0 && a->served < TAGS) {
		struct command next = a->line[0];

		memmove(a->line, a->line + 1, sizeof a->line - sizeof next);
		a->waiting--;
		serve(a, &next);
	}
}

/*
 * DOC: credit. The command is copied, and its receive is posted again before any
 * reply. So when a client has a reply, there is a receive for its next command: a
 * reply is a credit.
 */
static void received(struct account *a, uint8_t *msg, const struct ibv_wc *wc)
{
	struct command command = command_unpack(msg);

	post_receive(msg);
	if (!a || a->conn->closed)
		return;
	if (wc->byte_len != COMMAND_LEN) {
		conn_lose(&conns, a->conn, "a command of another length");
	} else if (a->unanswered == TAGS) {
		conn_lose(&conns, a->conn, "more commands than credits");
	} else {
		a->line[a->waiting++] = command;
		a->unanswered++;
		a->conn->holds++;
	}
}

/* Of a completion that is no success only wr_id, status and qp_num are set. */
static void completed(struct conn *c, const struct ibv_wc *wc)
{
	struct account *a = c ? &memory.account[c->place] : NULL;
	enum kind kind = kind_of(wc->wr_id);
	bool ok = wc->status == IBV_WC_SUCCESS;

	if (c && !ok)
		conn_lose(&conns, c, "%s: %s", kind_names[kind],
			  ibv_wc_status_str(wc->status));
	if (kind == COMMAND)
		received(a, address_of(wc->wr_id), wc);
	else
		served(address_of(wc->wr_id), kind, ok);
	if (a && c->closed) /* its line is of no use any more */
		c->holds -= (unsigned)a->waiting, a->waiting = 0;
	if (a)
		serve_next(a);
}

/* A FLUSH ends without a completion. */
static void turn(void)
{
	for (int i = 0; i < MAX_CONNS; i++)
		if (memory.account[i].syncs > 0 &&
		    look_at_syncs(&memory.account[i]))
			serve_next(&memory.account[i]);
}

/* DOC: welcome. All QPs take their receives from the shared queue, and all share
 * one PD: a PD says which rkeys a peer may use, and here are none. */
static void welcome(struct conn *c, const struct qp_info *peer)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.send_cq = c->ep.cq,
		.recv_cq = c->ep.cq,
		.srq = srq,
		.cap = { .max_send_wr = 2 * TAGS, .max_send_sge = 1 },
	};

	account_open(&memory.account[c->place], c, mr->lkey);
	c->ep.qp = ibv_create_qp(c->ep.pd, &init);
	if (!c->ep.qp)
		die_err(errno, "ibv_create_qp");
	say("client %d is here", c->number);
	int rc = qp_connect(&c->ep, 0, peer); /* 0: it is granted nothing */
	if (rc)
		conn_lose(&conns, c,
			  "ibv_modify_qp to RTR (no way to its GID?): %s",
			  strerror(rc));
	else
		conn_answer(c);
}

int main(int argc, char **argv)
{
	const char *file = NULL;
	struct own_option own[] = {
		{ .letter = 'f', .help = "file of the blocks", .value = &file },
		{ 0 }
	};
	struct options opt = parse_args_and(argc, argv, "server", LESSON, own);
	/* Each work has two requests at most, and each receive may be taken. */
	enum { REQUESTS = MAX_CONNS * 2 * TAGS };
	struct ep base = ep_open_device(&opt, REQUESTS + RECEIVES);
	static const struct service service = { .welcome = welcome,
						.completed = completed,
						.turn = turn };

	store_open(file);
	/* DOC: own-memory. For our own NIC only: no client gets a key. */
	mr = ibv_reg_mr(base.pd, &memory, sizeof memory,
			IBV_ACCESS_LOCAL_WRITE);
	if (!mr)
		die_err(errno, "ibv_reg_mr");
	struct ibv_srq_init_attr init = {
		.attr = { .max_wr = RECEIVES, .max_sge = 1 },
	};
	srq = ibv_create_srq(base.pd, &init);
	if (!srq)
		die_err(errno, "ibv_create_srq");
	for (int i = 0; i < RECEIVES; i++)
		post_receive(memory.receive[i]);
	say("%d blocks, %s; %d receives for all clients", BLOCKS,
	    file ? "in a file" : "in memory: FLUSH keeps nothing", RECEIVES);
	conns_open(&conns, &base);
	conns_serve(&conns, file != NULL, &service);
	if (conns.goodbyes == 0)
		die("no client said goodbye");
	if (store_was_damaged())
		die("blocks that were answered OK are lost");
	say("PASS %d clients: %d said goodbye, %d were lost",
	    conns.goodbyes + conns.lost, conns.goodbyes, conns.lost);
	int rc = ibv_destroy_srq(srq);
	if (rc || (rc = ibv_dereg_mr(mr)))
		die_err(rc, "ibv_destroy_srq, ibv_dereg_mr");
	ep_close(&base);
	return 0;
}
