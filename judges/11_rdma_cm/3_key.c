/* SPDX-License-Identifier: MIT */
/*
 * judges/11_rdma_cm/3_key.c - a server that says in its answer where its memory is.
 *
 * before: the server says yes, and ask() says no
 * hint1: Which call sends the request, and in which field of its parameters do the
 * hint1: READs stand? Until when may you read what belongs to an event?
 * hint1.zh: 哪个调用发出连接请求？READ 的个数在它的哪个参数里？属于事
 * hint1.zh: 件的内容，可以看到什么时候为止？
 * hint2: rdma_connect with initiator_depth 1; rdma_get_cm_event; look at the
 * hint2: event, copy the three numbers, and then rdma_ack_cm_event.
 * hint2.zh: rdma_connect，initiator_depth 为 1；rdma_get_cm_event；查
 * hint2.zh: 看事件，抄下三个数，然后 rdma_ack_cm_event。
 */
#include <endian.h>
#include <pthread.h>

#include "3_key.h"
#include "events.h"

static char text[456] = "from the server's memory", copy[456];
/* What the answer says: more than 32 bits, and the lowest byte is no positive char. */
static const uint64_t length = UINT64_C(1) << 40 | sizeof text;

static void *server(void *unused)
{
	uint8_t answer[20];

	(void)unused;
	next_request(&peer);
	make_qp(&peer);
	struct ibv_mr *mr = ibv_reg_mr(peer.id->pd, text, sizeof text,
				       IBV_ACCESS_REMOTE_READ);
	if (!mr)
		die_err(errno, "the judge's ibv_reg_mr");
	uint64_t big[2] = { htobe64((uintptr_t)text), htobe64(length) };
	uint32_t rkey = htobe32(mr->rkey);
	memcpy(answer, big, 16);
	memcpy(answer + 16, &rkey, 4);
	struct rdma_conn_param param = { .private_data = answer,
					 .private_data_len = sizeof answer,
					 .responder_resources = 1 };
	must(rdma_accept(peer.id, &param), "rdma_accept");

	for (int refused = 0; refused < 2;) {
		/* The client may be gone before the first is ESTABLISHED here. */
		struct rdma_cm_event *event;
		must(rdma_get_cm_event(peer.channel, &event),
		     "rdma_get_cm_event");
		if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST) {
			must(rdma_reject(event->id, "no", 2), "rdma_reject");
			refused++;
		}
		must(rdma_ack_cm_event(event), "rdma_ack_cm_event");
	}
	return NULL;
}

static void read_it(const struct memory *m)
{
	struct ibv_mr *mr = ibv_reg_mr(you.id->pd, copy, sizeof copy,
				       IBV_ACCESS_LOCAL_WRITE);
	struct ibv_sge into = piece(copy, sizeof copy, mr);
	struct ibv_send_wr *bad, read = { .opcode = IBV_WR_RDMA_READ,
					  .send_flags = IBV_SEND_SIGNALED,
					  .sg_list = &into,
					  .num_sge = 1 };
	struct ibv_wc wc;

	if (m->addr != (uintptr_t)text || m->len != length)
		wrong("the memory is not what the answer says");
	read.wr.rdma.remote_addr = m->addr;
	read.wr.rdma.rkey = m->rkey;
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr qp;
	must(ibv_query_qp(you.id->qp, &qp, IBV_QP_RETRY_CNT, &init),
	     "ibv_query_qp");
	if (qp.retry_cnt == 0)
		wrong("retry_count 0: a packet that was lost is not sent "
		      "again");
	if (qp.retry_cnt == 7)
		wrong("retry_count 7, which NULL means, too: rxe tries for "
		      "ever");
	int rc = ibv_post_send(you.id->qp, &read, &bad);
	if (rc)
		die_err(rc, "the judge's ibv_post_send");
	double since = now_ms();
	while (ibv_poll_cq(you.cq, 1, &wc) == 0)
		if (now_ms() - since > MS)
			die("the judge's READ does not complete");
	if (wc.status != IBV_WC_SUCCESS)
		wrong("a READ of that memory: %s",
		      ibv_wc_status_str(wc.status));
	must(ibv_dereg_mr(mr), "ibv_dereg_mr");
}

static bool ask_once(struct memory *m)
{
	resolve(&you);
	got = given_back = 0;
	watched = you.channel;
	bool yes = ask(you.channel, you.id, m);
	if (got > given_back)
		wrong("it returned, and has not acknowledged an event");
	watched = NULL;
	return yes;
}

void judge(void)
{
	struct memory memory = { 0 };
	pthread_t thread;

	ends_open();
	if (pthread_create(&thread, NULL, server, NULL))
		die("the judge's pthread_create");
	about("the server says yes");
	if (!ask_once(&memory)) {
		about("%s", "");
		wrong("the server says yes, and ask() says no");
	}
	read_it(&memory);
	must(rdma_disconnect(you.id), "rdma_disconnect");
	rdma_destroy_qp(you.id);
	must(rdma_destroy_id(you.id), "rdma_destroy_id");
	you.channel = new_channel(); /* nothing of the first is in it */
	about("the server says no");
	if (ask_once(&memory))
		wrong("ask() says yes");
	you.channel = new_channel();
	about("the server does not answer");
	unreachable = true;
	if (ask_once(&memory))
		wrong("ask() says yes");
}
