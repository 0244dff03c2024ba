/* SPDX-License-Identifier: MIT */
/* What the judges of this lesson share: a listener on the peer's device, and ids with queue
 * pairs on both. Each side has an event channel of its own. */
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>

#include <rdma/rdma_cma.h>

#include "judge.h"

enum { MS = 2500 };

struct side {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
	struct ibv_cq *cq;
};
static struct duo d; /* only for its devices and their addresses */
static struct side you, peer;
static struct rdma_cm_id *listener;
static struct sockaddr_storage from, to;

static inline void must(int rc, const char *call)
{
	if (rc)
		die_err(errno, "the judge's %s", call);
}

/* The GID of a device is its IP address. */
static inline void address_of(const struct ep *ep, struct sockaddr_storage *a)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)a;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)a;
	struct ibv_gid_entry g;

	must(ibv_query_gid_ex(ep->ctx, ep->opt->ib_port, ep->gid_index, &g, 0),
	     "ibv_query_gid_ex");
	memset(a, 0, sizeof *a);
	if (IN6_IS_ADDR_V4MAPPED((struct in6_addr *)g.gid.raw)) {
		v4->sin_family = AF_INET;
		memcpy(&v4->sin_addr, g.gid.raw + 12, 4);
		return;
	}
	v6->sin6_family = AF_INET6;
	memcpy(&v6->sin6_addr, g.gid.raw, 16);
	if (IN6_IS_ADDR_LINKLOCAL(&v6->sin6_addr))
		v6->sin6_scope_id = g.ndev_ifindex;
}

static inline struct rdma_event_channel *new_channel(void)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();

	if (!channel)
		die_err(errno, "the judge's rdma_create_event_channel");
	return channel;
}

/* Is there an event within so many ms? */
static inline bool event_within(struct rdma_event_channel *channel, int ms)
{
	struct pollfd fd = { .fd = channel->fd, .events = POLLIN };

	return poll(&fd, 1, ms) == 1;
}

/* The next event, which must be this one. The caller acknowledges it. */
static inline struct rdma_cm_event *event_of(struct rdma_event_channel *channel,
					     enum rdma_cm_event_type wanted)
{
	struct rdma_cm_event *event;

	if (!event_within(channel, MS))
		wrong("%s does not come", rdma_event_str(wanted));
	must(rdma_get_cm_event(channel, &event), "rdma_get_cm_event");
	if (event->event != wanted)
		wrong("%s comes, and not %s", rdma_event_str(event->event),
		      rdma_event_str(wanted));
	return event;
}

static inline void await(struct rdma_event_channel *channel,
			 enum rdma_cm_event_type wanted)
{
	must(rdma_ack_cm_event(event_of(channel, wanted)), "rdma_ack_cm_event");
}

static inline void make_qp(struct side *s)
{
	s->cq = ibv_create_cq(s->id->verbs, 8, NULL, NULL, 0);
	if (!s->cq)
		die_err(errno, "the judge's ibv_create_cq");
	struct ibv_qp_init_attr init = { .qp_type = IBV_QPT_RC,
					 .send_cq = s->cq,
					 .recv_cq = s->cq,
					 .cap = { .max_send_wr = 4,
						  .max_recv_wr = 4,
						  .max_send_sge = 1,
						  .max_recv_sge = 1 } };
	must(rdma_create_qp(s->id, NULL, &init), "rdma_create_qp");
}

/* Channels, and the listener on the peer's device. */
static inline void ends_open(void)
{
	duo_open(&d, (struct ibv_qp_cap){ 0 });
	address_of(&d.you, &from);
	address_of(&d.peer, &to);
	you.channel = new_channel();
	peer.channel = new_channel();
	must(rdma_create_id(peer.channel, &listener, NULL, RDMA_PS_TCP),
	     "rdma_create_id");
	must(rdma_bind_addr(listener, (struct sockaddr *)&to),
	     "rdma_bind_addr");
	must(rdma_listen(listener, 8), "rdma_listen");
	((struct sockaddr_in6 *)&to)->sin6_port = rdma_get_src_port(listener);
}

/* An id of yours that knows its way to the listener, with a QP. */
static inline void resolve(struct side *s)
{
	must(rdma_create_id(s->channel, &s->id, NULL, RDMA_PS_TCP),
	     "rdma_create_id");
	must(rdma_resolve_addr(s->id, (struct sockaddr *)&from,
			       (struct sockaddr *)&to, MS),
	     "rdma_resolve_addr");
	await(s->channel, RDMA_CM_EVENT_ADDR_RESOLVED);
	must(rdma_resolve_route(s->id, MS), "rdma_resolve_route");
	await(s->channel, RDMA_CM_EVENT_ROUTE_RESOLVED);
	make_qp(s);
}

/* What the peer says to the next request: no, or yes with this private data. */
static inline void next_request(struct side *s)
{
	struct rdma_cm_event *event =
		event_of(s->channel, RDMA_CM_EVENT_CONNECT_REQUEST);

	s->id = event->id;
	must(rdma_ack_cm_event(event), "rdma_ack_cm_event");
}

static inline void accept_it(struct side *s, const void *data, uint8_t len)
{
	struct rdma_conn_param param = { .private_data = data,
					 .private_data_len = len,
					 .responder_resources = 1,
					 .initiator_depth = 1,
					 .rnr_retry_count = 7 };

	make_qp(s);
	must(rdma_accept(s->id, &param), "rdma_accept");
}
