/* SPDX-License-Identifier: MIT */
/*
 * 11_rdma_cm/server.c - be connected to by the CM, and be written to or read from.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cm.h"

/* No TCP here, and no ibv_modify_qp: compare with lesson 00. */
int main(int argc, char **argv)
{
	const char *host = NULL, *op = NULL, *count = NULL, *bytes = NULL;
	const struct own_option own[] = {
		{ 's', "address to listen on (that of -d, or any)", &host },
		{ 'o', "write or read: only such a client (any)", &op },
		{ 'n', "how many requests it must want (any)", &count },
		{ 'b', "how many bytes in each (any)", &bytes },
		{ 0, NULL, NULL },
	};
	struct options opt = parse_args_and(argc, argv, "server", LESSON, own);
	const struct wish only = {
		.operation = op ? operation(op) : 0,
		.count = count ? number(count, 'n', COUNT_MAX) : 0,
		.bytes = bytes ? number(bytes, 'b', BYTES_MAX) : 0,
	};
	struct cm cm = { .opt = &opt };
	struct rdma_cm_id *listener;
	struct rdma_cm_event *event;
	struct sockaddr_storage here = { 0 }, ours = { 0 };

	/* DOC: listen. With an address of a device, or with any: then each request says to
	 * which device it came. */
	if (opt.dev)
		device_address(&opt, &ours);
	if (host)
		server_address(&opt, host, &ours, &here);
	else if (opt.dev)
		here = ours;
	else
		any_address(&opt, &here);
	cm.channel = rdma_create_event_channel();
	if (!cm.channel)
		die_err(errno, "rdma_create_event_channel");
	must(rdma_create_id(cm.channel, &listener, NULL, RDMA_PS_TCP),
	     "rdma_create_id");
	must(rdma_bind_addr(listener, (struct sockaddr *)&here),
	     "rdma_bind_addr");
	must(rdma_listen(listener, 4), "rdma_listen");
	note("listening on port %s", opt.tcp_port);

	/* DOC: request. The event brings an id of its own. Its private data is as long as
	 * the packet's field, whatever the client gave. */
	struct wish wish;
	char why[56] = "";
	event = next_event(&cm, "a client");
	must_be(event, RDMA_CM_EVENT_CONNECT_REQUEST);
	cm.id = event->id;
	bool ok = wish_unpack(event->param.conn.private_data,
			      event->param.conn.private_data_len, &wish, why);
	must(rdma_ack_cm_event(event), "rdma_ack_cm_event");
	/* This server serves one client. For all others nobody listens from now on. */
	must(rdma_destroy_id(listener), "rdma_destroy_id");
	ok = ok && wish_fits(&wish, &only, why);
	if (!ok) {
		/* DOC: reject. No QP has been made, and the client learns why. */
		must(rdma_reject(cm.id, why, (uint8_t)strlen(why)),
		     "rdma_reject");
		die("rejected a client: %s", why);
	}
	const char *name = wish.operation == OP_WRITE ? "WRITE" : "READ";
	size_t len = (size_t)wish.count * wish.bytes;
	say("a request: %u times %s of %u bytes", wish.count, name, wish.bytes);

	/* Receives before accept: what the client SENDs may come at once. */
	make_queues(&cm);
	char *data = calloc(1, len);
	if (!data)
		die_err(ENOMEM, "calloc");
	for (size_t k = 0; wish.operation == OP_READ && k < len; k++)
		data[k] = byte_at(k);
	struct ibv_mr *mr = ibv_reg_mr(
		cm.pd, data, len,
		wish.operation == OP_READ
			? IBV_ACCESS_REMOTE_READ
			: IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	if (!mr)
		die_err(errno, "ibv_reg_mr");

	/* The answer has private data, too: ours says that this is lesson 11, and what it
	 * has understood. */
	uint8_t answer[WISH_LEN];
	wish_pack(answer, &wish);

	/* DOC: accept. INIT -> RTR -> RTS happens in here. ESTABLISHED: the client has
	 * our answer, and has said so. */
	struct rdma_conn_param param = {
		.private_data = answer,
		.private_data_len = sizeof answer,
		.responder_resources = 1, /* READs that we answer at once */
		.initiator_depth = 1,
		.rnr_retry_count = 7,
	};
	must(rdma_accept(cm.id, &param), "rdma_accept");
	event = next_event(&cm, "ESTABLISHED");
	must_be(event, RDMA_CM_EVENT_ESTABLISHED);
	must(rdma_ack_cm_event(event), "rdma_ack_cm_event");
	say("established: %zu bytes are open to the client", len);

	/* DOC: session */
	send_message(&cm, &(struct message){ .kind = OFFER,
					     .rkey = mr->rkey,
					     .addr = (uintptr_t)data,
					     .len = len });
	struct message done = take_message(&cm, DONE);
	for (size_t k = 0; k < len; k++)
		if (data[k] != byte_at(k))
			die("byte %zu is 0x%02x, not 0x%02x", k, data[k] & 0xff,
			    byte_at(k) & 0xff);
	if (done.len != len)
		die("the client says it is done with %llu bytes of %zu",
		    (unsigned long long)done.len, len);
	/* The client may disconnect before its NIC's ACK leaves. So nobody waits for the
	 * completion: that the client disconnects says that it has this message. */
	post_message(&cm, &(struct message){ .kind = RIGHT, .len = len });

	/* DOC: end. The client disconnects when it has our answer. To disconnect as well
	 * is to confirm it; our QP goes to ERROR. */
	if (!cm.gone) {
		event = next_event(&cm, "DISCONNECTED");
		must_be(event, RDMA_CM_EVENT_DISCONNECTED);
		must(rdma_ack_cm_event(event), "rdma_ack_cm_event");
	}
	must(rdma_disconnect(cm.id), "rdma_disconnect");
	int flushed = drain(&cm, 1);

	int rc = ibv_dereg_mr(mr);
	if (rc)
		die_err(rc, "ibv_dereg_mr");
	free(data);
	undo(&cm);
	rdma_destroy_event_channel(cm.channel);
	say("PASS %zu bytes %s, all right; %d receives flushed", len,
	    wish.operation == OP_WRITE ? "came" : "were offered", flushed);
	return 0;
}
