/* SPDX-License-Identifier: MIT */
/*
 * 11_rdma_cm/client.c - connect by the CM, and write to a server or read from it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cm.h"

/* An event that has nothing for us but its name. */
static void await(struct cm *cm, enum rdma_cm_event_type wanted)
{
	struct rdma_cm_event *event = next_event(cm, rdma_event_str(wanted));

	must_be(event, wanted);
	must(rdma_ack_cm_event(event), "rdma_ack_cm_event");
}

/* Tries to connect. False: nobody listens there, or not yet. */
static bool connect_once(struct cm *cm, struct sockaddr *from,
			 struct sockaddr *to, const struct wish *wish)
{
	uint8_t private_data[WISH_LEN];
	int ms = cm->opt->wait_s *
		 500; /* so that its event comes before our deadline */

	/* DOC: resolve. Which device leads to that address? And by which route? */
	must(rdma_create_id(cm->channel, &cm->id, NULL, RDMA_PS_TCP),
	     "rdma_create_id");
	must(rdma_resolve_addr(cm->id, from->sa_family ? from : NULL, to, ms),
	     "rdma_resolve_addr");
	await(cm, RDMA_CM_EVENT_ADDR_RESOLVED);
	must(rdma_resolve_route(cm->id, ms), "rdma_resolve_route");
	await(cm, RDMA_CM_EVENT_ROUTE_RESOLVED);

	/* Receives before connect: what the server SENDs may come at once. */
	make_queues(cm);

	/* DOC: connect. The request has our QP number, the PSN we want first, and the wish.
	 * Then a call of librdmacm, not one of ours, takes the QP to RTR and RTS. */
	wish_pack(private_data, wish);
	struct rdma_conn_param param = {
		.private_data = private_data,
		.private_data_len = sizeof private_data,
		.responder_resources = 1,
		.initiator_depth = 1, /* READs under way: we ask for 1 */
		.retry_count = 6,     /* 7 is for ever on rxe */
		.rnr_retry_count = 7,
	};
	must(rdma_connect(cm->id, &param), "rdma_connect");
	struct rdma_cm_event *event = next_event(cm, "an answer");
	bool nobody = event->event == RDMA_CM_EVENT_REJECTED &&
		      event->status == 8; /* "invalid service ID" */
	if (!nobody) {
		must_be(event, RDMA_CM_EVENT_ESTABLISHED);
		const struct rdma_conn_param *answer = &event->param.conn;
		if (answer->private_data_len < WISH_LEN ||
		    memcmp(answer->private_data, private_data, WISH_LEN) != 0)
			die("connected, but not to a server of lesson 11");
	}
	must(rdma_ack_cm_event(event), "rdma_ack_cm_event");
	return !nobody;
}

int main(int argc, char **argv)
{
	const char *op = "write", *count = "4", *bytes = "1024", *host = NULL;
	const struct own_option own[] = {
		{ 'o', "write or read (write)", &op },
		{ 'n', "how many requests (4)", &count },
		{ 'b', "bytes in each (1024)", &bytes },
		{ 's', "server's address (device $DEV_SERVER here)", &host },
		{ 0, NULL, NULL },
	};
	struct options opt = parse_args_and(argc, argv, "client", LESSON, own);
	struct cm cm = { .opt = &opt };
	struct sockaddr_storage from = { 0 }, to = { 0 };

	struct wish wish = { .operation = operation(op),
			     .count = number(count, 'n', COUNT_MAX),
			     .bytes = number(bytes, 'b', BYTES_MAX) };
	bool is_write = wish.operation == OP_WRITE;
	size_t len = (size_t)wish.count * wish.bytes;
	if (len > DATA_MAX)
		die("-n times -b is %zu, more than %d bytes", len, DATA_MAX);
	if (opt.dev) {
		device_address(&opt, &from);
		((struct sockaddr_in6 *)&from)->sin6_port = 0; /* any */
	}
	server_address(&opt, host ? host : opt.host, &from, &to);
	cm.channel = rdma_create_event_channel();
	if (!cm.channel)
		die_err(errno, "rdma_create_event_channel");

	/* The server may start later than we. An id that was rejected is of no more use. */
	double end = now_ms() + opt.wait_s * 1e3;
	while (!connect_once(&cm, (struct sockaddr *)&from,
			     (struct sockaddr *)&to, &wish)) {
		if (now_ms() > end)
			die("RDMA_CM_EVENT_REJECTED, status 8: "
			    "nobody listens on this port");
		undo_queues(&cm);
		nanosleep(&(struct timespec){ .tv_nsec = 100000000 }, NULL);
	}

	/* DOC: session */
	struct message offer = take_message(&cm, OFFER);
	if (offer.len != len)
		die("the server offers %llu bytes, and not %zu",
		    (unsigned long long)offer.len, len);
	say("established: the server offers %zu bytes", len);
	char *data = calloc(1, len);
	if (!data)
		die_err(ENOMEM, "calloc");
	for (size_t k = 0; is_write && k < len; k++)
		data[k] = byte_at(k);
	struct ibv_mr *mr = ibv_reg_mr(cm.pd, data, len,
				       is_write ? 0 : IBV_ACCESS_LOCAL_WRITE);
	if (!mr)
		die_err(errno, "ibv_reg_mr");
	for (uint32_t i = 0; i < wish.count; i++) {
		size_t at = (size_t)i * wish.bytes;
		struct ibv_sge piece = { .addr = (uintptr_t)data + at,
					 .length = wish.bytes,
					 .lkey = mr->lkey };
		struct ibv_send_wr request = {
			.opcode =
				is_write ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ,
			.send_flags = IBV_SEND_SIGNALED,
			.sg_list = &piece,
			.num_sge = 1,
			.wr.rdma = { offer.addr + at, offer.rkey },
		};
		struct ibv_send_wr *bad;
		int rc = ibv_post_send(cm.id->qp, &request, &bad);

		if (rc)
			die_err(rc, "ibv_post_send");
		completion(&cm, is_write ? "RDMA_WRITE" : "RDMA_READ");
	}
	for (size_t k = 0; k < len; k++)
		if (data[k] != byte_at(k))
			die("byte %zu is 0x%02x, not 0x%02x", k, data[k] & 0xff,
			    byte_at(k) & 0xff);
	say("%u times %s of %u bytes", wish.count, is_write ? "WRITE" : "READ",
	    wish.bytes);
	send_message(&cm, &(struct message){ .kind = DONE, .len = len });
	struct message right = take_message(&cm, RIGHT);
	if (right.len != len)
		die("the server says that %llu bytes are right, of %zu",
		    (unsigned long long)right.len, len);

	/* DOC: end. Our QP goes to ERROR, and the receives that are left come back. */
	must(rdma_disconnect(cm.id), "rdma_disconnect");
	if (!cm.gone)
		await(&cm, RDMA_CM_EVENT_DISCONNECTED);
	int flushed = drain(&cm, 0);

	int rc = ibv_dereg_mr(mr);
	if (rc)
		die_err(rc, "ibv_dereg_mr");
	undo(&cm);
	free(data);
	rdma_destroy_event_channel(cm.channel);
	say("PASS %zu bytes %s, all right; %d receive%s flushed", len,
	    is_write ? "written" : "read", flushed, flushed == 1 ? "" : "s");
	return 0;
}
