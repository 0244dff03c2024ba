/* SPDX-License-Identifier: MIT */
/* 11_rdma_cm/cm.c - see cm.h. */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "cm.h"

void must(int rc, const char *call)
{
	if (rc)
		die_err(errno, "%s", call);
}

/* ---- options of our own ---------------------------------------------- */

unsigned number(const char *text, char letter, unsigned max)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (end == text || *end || n < 1 || n > max)
		die("-%c takes a number from 1 to %u, not \"%s\"", letter, max,
		    text);
	return (unsigned)n;
}

enum operation operation(const char *text)
{
	if (strcmp(text, "write") != 0 && strcmp(text, "read") != 0)
		die("-o is write or read, not \"%s\"", text);
	return strcmp(text, "write") == 0 ? OP_WRITE : OP_READ;
}

/* ---- addresses --------------------------------------------------------- */

/* In network order; parse_args() has checked it. */
static uint16_t port_of(const struct options *opt)
{
	return htons((uint16_t)strtoul(opt->tcp_port, NULL, 10));
}

void any_address(const struct options *opt, struct sockaddr_storage *to)
{
	*(struct sockaddr_in6 *)to = (struct sockaddr_in6){
		.sin6_family = AF_INET6,
		.sin6_port = port_of(opt),
	};
}

void device_address(const struct options *opt, struct sockaddr_storage *to)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)to;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)to;
	uint16_t port = port_of(opt);
	struct ibv_device **list = ibv_get_device_list(NULL), **d = list;

	while (d && *d && opt->dev &&
	       strcmp(ibv_get_device_name(*d), opt->dev) != 0)
		d++;
	if (!d || !*d)
		die("no RDMA device %s (-d), see ibv_devices",
		    opt->dev ? opt->dev : "");
	struct ibv_context *ctx = ibv_open_device(*d);
	if (!ctx)
		die_err(errno, "ibv_open_device");
	ibv_free_device_list(list);
	struct ibv_gid_entry g = pick_gid(ctx, opt);
	must(ibv_close_device(ctx), "ibv_close_device");

	/* A GID of RoCE is an IP address; one of IPv4 is 10 zeroes, 0xffff, the address. */
	memset(to, 0, sizeof *to);
	if (IN6_IS_ADDR_V4MAPPED((struct in6_addr *)g.gid.raw)) {
		v4->sin_family = AF_INET;
		v4->sin_port = port;
		memcpy(&v4->sin_addr, g.gid.raw + 12, 4);
		return;
	}
	v6->sin6_family = AF_INET6;
	v6->sin6_port = port;
	memcpy(&v6->sin6_addr, g.gid.raw, 16);
	/* A link-local address is one only together with its network interface. */
	if (IN6_IS_ADDR_LINKLOCAL(&v6->sin6_addr))
		v6->sin6_scope_id = g.ndev_ifindex;
}

void server_address(const struct options *opt, const char *host,
		    const struct sockaddr_storage *from,
		    struct sockaddr_storage *to)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *found;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)to;
	const struct sockaddr_in6 *ours = (const struct sockaddr_in6 *)from;

	if (!host) {
		struct options there = *opt;

		const char *dev = getenv("DEV_SERVER");

		if (dev && *dev)
			there.dev = dev;
		there.gid_index = -1;
		device_address(&there, to);
		if (ours->sin6_family == AF_INET6)
			v6->sin6_scope_id = ours->sin6_scope_id;
		return;
	}
	int rc = getaddrinfo(host, opt->tcp_port, &hints, &found);
	if (rc)
		die("the server's address \"%s\" (-s): %s", host,
		    gai_strerror(rc));
	memcpy(to, found->ai_addr, found->ai_addrlen);
	freeaddrinfo(found);
	if (from->ss_family && from->ss_family != to->ss_family)
		die("the server's address \"%s\" (-s) is IPv%d, and ours (-d, "
		    "-g) is not",
		    host, to->ss_family == AF_INET ? 4 : 6);
	if (to->ss_family == AF_INET6 &&
	    IN6_IS_ADDR_LINKLOCAL(&v6->sin6_addr) && !v6->sin6_scope_id) {
		if (ours->sin6_family != AF_INET6)
			die("the server's address \"%s\" (-s) is link-local: "
			    "give -d, or its interface behind a percent sign",
			    host);
		v6->sin6_scope_id = ours->sin6_scope_id;
	}
}

/* ---- events ------------------------------------------------------------ */

struct rdma_cm_event *next_event(struct cm *cm, const char *waiting_for)
{
	struct pollfd fd = { .fd = cm->channel->fd, .events = POLLIN };
	struct rdma_cm_event *event;

	if (poll(&fd, 1, cm->opt->wait_s * 1000) == 0)
		die("waiting for %s: it takes too long", waiting_for);
	must(rdma_get_cm_event(cm->channel, &event), "rdma_get_cm_event");
	return event;
}

/* What a rejection says, as text that may go to a terminal: anybody may have sent it. */
static const char *said(const struct rdma_conn_param *conn)
{
	static char text[149];
	size_t n = 0;
	const char *from = conn->private_data;

	while (from && n < conn->private_data_len && n < 148 && from[n]) {
		text[n] = from[n] < ' ' || from[n] > '~' ? '?' : from[n];
		n++;
	}
	text[n] = 0;
	return n ? text : "nothing";
}

void must_be(const struct rdma_cm_event *event, enum rdma_cm_event_type wanted)
{
	const char *name = rdma_event_str(event->event);
	int status = event->status;

	if (event->event == wanted)
		return;
	/* A negative status is an errno; that of REJECTED says who rejected, and why. */
	if (event->event == RDMA_CM_EVENT_REJECTED && status == 28)
		die("%s, status 28: the server says: %s", name,
		    said(&event->param.conn));
	if (event->event == RDMA_CM_EVENT_REJECTED && status == 8)
		die("%s, status 8: nobody listens on this port", name);
	if (status < 0)
		die_err(-status, "%s", name);
	die("%s, status %d", name, status);
}

/* ---- the queues -------------------------------------------------------- */

static void post_receive(struct cm *cm, int i)
{
	struct ibv_sge place = { .addr = (uintptr_t)cm->memory.inbox[i],
				 .length = MESSAGE_LEN,
				 .lkey = cm->mr->lkey };
	struct ibv_recv_wr receive = { .wr_id = (uint64_t)i,
				       .sg_list = &place,
				       .num_sge = 1 };
	struct ibv_recv_wr *bad;
	int rc = ibv_post_recv(cm->id->qp, &receive, &bad);

	if (rc)
		die_err(rc, "ibv_post_recv");
}

/* Once, also if the client has to try again: a PD, and in it the memory of the messages. */
static void make_memory(struct cm *cm)
{
	cm->pd = ibv_alloc_pd(cm->id->verbs);
	if (!cm->pd)
		die_err(errno, "ibv_alloc_pd");
	cm->mr = ibv_reg_mr(cm->pd, &cm->memory, sizeof cm->memory,
			    IBV_ACCESS_LOCAL_WRITE);
	if (!cm->mr)
		die_err(errno, "ibv_reg_mr");
}

void make_queues(struct cm *cm)
{
	if (!cm->pd)
		make_memory(cm);
	cm->cq = ibv_create_cq(cm->id->verbs, RECEIVES + 2, NULL, NULL, 0);
	if (!cm->cq)
		die_err(errno, "ibv_create_cq");
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.send_cq = cm->cq,
		.recv_cq = cm->cq,
	};
	init.cap.max_send_wr = 2;
	init.cap.max_recv_wr = RECEIVES;
	init.cap.max_send_sge = init.cap.max_recv_sge = 1;
	/* DOC: create-qp. The QP is in INIT then, so receives may be posted. */
	must(rdma_create_qp(cm->id, cm->pd, &init), "rdma_create_qp");
	for (int i = 0; i < RECEIVES; i++)
		post_receive(cm, i);
}

/* Did an event come? Then it is the end of the connection. 1 ms: others need the CPU. */
static bool hung_up(struct cm *cm)
{
	struct pollfd fd = { .fd = cm->channel->fd, .events = POLLIN };
	struct rdma_cm_event *event;

	if (cm->gone || poll(&fd, 1, 1) == 0)
		return cm->gone;
	must(rdma_get_cm_event(cm->channel, &event), "rdma_get_cm_event");
	cm->gone = event->event == RDMA_CM_EVENT_DISCONNECTED;
	if (event->event != RDMA_CM_EVENT_DISCONNECTED &&
	    event->event != RDMA_CM_EVENT_TIMEWAIT_EXIT)
		must_be(event, RDMA_CM_EVENT_DISCONNECTED);
	must(rdma_ack_cm_event(event), "rdma_ack_cm_event");
	return false; /* one more look: the completion may be there */
}

static struct ibv_wc next_completion(struct cm *cm, const char *what)
{
	double end = now_ms() + cm->opt->wait_s * 1e3;
	struct ibv_wc wc;
	int n;

	while ((n = ibv_poll_cq(cm->cq, 1, &wc)) == 0) {
		if (hung_up(cm))
			die("waiting for %s: the peer hung up", what);
		if (now_ms() > end)
			die("waiting for %s: it takes too long", what);
	}
	if (n < 0)
		die("ibv_poll_cq returned %d", n);
	return wc;
}

struct ibv_wc completion(struct cm *cm, const char *what)
{
	struct ibv_wc wc = next_completion(cm, what);

	if (wc.status != IBV_WC_SUCCESS)
		die("%s: %s", what, ibv_wc_status_str(wc.status));
	if (wc.opcode == IBV_WC_RECV)
		cm->came++;
	return wc;
}

void post_message(struct cm *cm, const struct message *m)
{
	struct ibv_sge text = { .addr = (uintptr_t)cm->memory.outbox,
				.length = MESSAGE_LEN,
				.lkey = cm->mr->lkey };
	struct ibv_send_wr send = { .wr_id = RECEIVES,
				    .opcode = IBV_WR_SEND,
				    .send_flags = IBV_SEND_SIGNALED,
				    .sg_list = &text,
				    .num_sge = 1 };
	struct ibv_send_wr *bad;

	message_pack(cm->memory.outbox, m);
	int rc = ibv_post_send(cm->id->qp, &send, &bad);
	if (rc)
		die_err(rc, "ibv_post_send");
}

void send_message(struct cm *cm, const struct message *m)
{
	post_message(cm, m);
	/* The peer's answer may be there before the completion of what it answers. */
	while (completion(cm, "SEND").opcode == IBV_WC_RECV)
		;
}

struct message take_message(struct cm *cm, enum kind wanted)
{
	static const char *const names[] = { "?", "an offer", "\"done\"",
					     "\"right\"" };
	static int taken;
	struct message m;

	while (cm->came == taken)
		completion(cm, names[wanted]);
	m = message_unpack(cm->memory.inbox[taken++]);
	if (m.kind != wanted)
		die("a message of kind %u came, and not %s", m.kind,
		    names[wanted]);
	return m;
}

int drain(struct cm *cm, int sends)
{
	int flushed = 0;

	for (int owed = RECEIVES - cm->came + sends; owed > 0; owed--) {
		cm->gone = false; /* it is, and that ends no wait now */
		struct ibv_wc wc = next_completion(cm, "a flushed request");

		if (wc.wr_id ==
		    RECEIVES) /* the SEND; all the same if flushed */
			continue;
		if (wc.status != IBV_WC_WR_FLUSH_ERR)
			die("a receive after the end: %s",
			    ibv_wc_status_str(wc.status));
		flushed++;
	}
	return flushed;
}

void undo_queues(struct cm *cm)
{
	rdma_destroy_qp(cm->id);
	int rc = ibv_destroy_cq(cm->cq);
	if (rc)
		die_err(rc, "ibv_destroy_cq");
	must(rdma_destroy_id(cm->id), "rdma_destroy_id");
}

void undo(struct cm *cm)
{
	undo_queues(cm);
	int rc = ibv_dereg_mr(cm->mr);
	if (rc)
		die_err(rc, "ibv_dereg_mr");
	rc = ibv_dealloc_pd(cm->pd);
	if (rc)
		die_err(rc, "ibv_dealloc_pd");
}
