/* SPDX-License-Identifier: MIT */
/*
 * Exercise 7.4 - extend: three READs, one list
 * side: client
 *
 * read_as_list() posts three times, and waits three times. Let it post one list, and
 * wait once. Each READ must still be executed after the one before. (The lesson does
 * not do this: if a packet is lost, rxe leaves such a list waiting for ever, see
 * docs/rxe.md. Here none is lost.)
 */
#include <errno.h>
#include <unistd.h>

#include "common.h"
#include "lesson.h"

/* Where the three READs put what they fetch. */
static struct {
	uint64_t before, after;
	uint64_t data[WORDS];
} own;
static struct ibv_mr *mr;
static struct qp_info server;
static int accepted, rejected, torn;
static int posts, requests;

/* Posts a list, in which each READ must wait for the one before. */
static void post(struct ep *ep, struct ibv_send_wr *list)
{
	struct ibv_send_wr *bad;

	posts++;
	requests++;
	for (struct ibv_send_wr *wr = list; wr->next; wr = wr->next) {
		requests++;
		if (wr->send_flags & IBV_SEND_SIGNALED)
			die("one completion for the whole list is enough");
		if (!(wr->next->send_flags & IBV_SEND_FENCE))
			die("a READ does not wait for the one before");
	}
	int rc = ibv_post_send(ep->qp, list, &bad);
	if (rc)
		die_err(rc, "ibv_post_send");
}

static void expect_completion(struct ep *ep)
{
	struct ibv_wc wc = wait_wc(ep);

	if (wc.status != IBV_WC_SUCCESS)
		die("RDMA_READ: %s", ibv_wc_status_str(wc.status));
}

/* The three READs, in this order. */
static void make_reads(struct ibv_send_wr wr[3], struct ibv_sge sge[3])
{
	static const struct {
		void *to;
		uint32_t len;
		size_t from;
	} read[3] = {
		{ &own.before, 8, offsetof(struct record, version) },
		{ own.data, sizeof own.data, offsetof(struct record, data) },
		{ &own.after, 8, offsetof(struct record, version) },
	};

	for (int i = 0; i < 3; i++) {
		sge[i] = (struct ibv_sge){
			.addr = (uintptr_t)read[i].to,
			.length = read[i].len,
			.lkey = mr->lkey,
		};
		wr[i] = (struct ibv_send_wr){
			.opcode = IBV_WR_RDMA_READ,
			.send_flags = IBV_SEND_SIGNALED,
			.sg_list = &sge[i],
			.num_sge = 1,
			.wr.rdma = { .remote_addr = server.addr + read[i].from,
				     .rkey = server.rkey },
		};
	}
}

static void read_one_by_one(struct ep *ep)
{
	struct ibv_send_wr wr[3];
	struct ibv_sge sge[3];

	make_reads(wr, sge);
	for (int i = 0; i < 3; i++) {
		post(ep, &wr[i]);
		expect_completion(ep);
	}
}

/* TODO 7.4 */
static void read_as_list(struct ep *ep)
{
	struct ibv_send_wr wr[3];
	struct ibv_sge sge[3];

	make_reads(wr, sge);
	for (int i = 0; i < 3; i++) {
		post(ep, &wr[i]);
		expect_completion(ep);
	}
}

/* By its content, whatever the versions say. */
static bool is_torn(void)
{
	for (int i = 1; i < WORDS; i++)
		if (own.data[i] != own.data[0])
			return true;
	return false;
}

static bool naive_accepts(void)
{
	return own.before == own.after;
}

static bool seqlock_accepts(void)
{
	return own.before == own.after && own.before % 2 == 0;
}

/* Reads until READS records were accepted; counts the torn ones among them. */
static void read_many(struct ep *ep, void (*read_it)(struct ep *),
		      bool (*accepts)(void))
{
	int in_a_row = 0;

	accepted = rejected = torn = 0;
	barrier(ep);
	while (accepted < READS) { /* the writer has a deadline */
		read_it(ep);
		if (accepts()) {
			accepted++;
			torn += is_torn();
			in_a_row = 0;
		} else { /* come back later, each time a little later */
			rejected++;
			usleep(100u << (in_a_row < 4 ? in_a_row : 4));
			in_a_row++;
		}
	}
	barrier(ep); /* the writer may stop */
	note("accepted %d, of these torn %d; rejected %d", accepted, torn,
	     rejected);
}

int main(int argc, char **argv)
{
	struct options opt = parse_args(argc, argv, "client", LESSON);
	struct ibv_qp_cap cap = {
		.max_send_wr = 3,
		.max_recv_wr = 1,
		.max_send_sge = 1,
		.max_recv_sge = 1,
	};
	struct ep ep = ep_open(&opt, cap);

	tcp_connect(&ep);
	mr = ibv_reg_mr(ep.pd, &own, sizeof own, IBV_ACCESS_LOCAL_WRITE);
	if (!mr)
		die_err(errno, "ibv_reg_mr");
	send_info(&ep, NULL);
	server = recv_info(&ep, sizeof(struct record));
	qp_to_init(&ep, 0);
	qp_to_rtr(&ep, &server);
	qp_to_rts(&ep);
	barrier(&ep);

	read_many(&ep, read_one_by_one, naive_accepts);
	if (torn == 0)
		die("act 1: nothing torn: nothing was shown");
	say("act 1: version unchanged, so accepted: torn records among them");

	posts = requests = 0;
	read_many(&ep, read_as_list, seqlock_accepts);
	if (torn != 0)
		die("act 2: a torn record was accepted");
	if (requests != 3 * (accepted + rejected))
		die("act 2: not three READs for each try");
	if (posts != accepted + rejected)
		die("act 2: %d posts for each try, 1 would do",
		    posts / (accepted + rejected));
	say("act 2: as one list: %d accepted, none torn", accepted);
	barrier(&ep);
	say("PASS a version helps if it is odd while the writer writes");

	int rc = ibv_dereg_mr(mr);
	if (rc)
		die_err(rc, "ibv_dereg_mr");
	ep_close(&ep);
	return 0;
}
