/* SPDX-License-Identifier: MIT */
/* The two calls of librdmacm that a judge must see: they stand before those of the library,
 * count, and go on to them. */
#include <stdatomic.h>

#include "ends.h"
#include "library.h"

static struct rdma_event_channel *watched; /* only its events are counted */
static atomic_int got, given_back;
static bool unreachable; /* what you get is UNREACHABLE, whatever it was */
static int changes;      /* so many ESTABLISHED are ADDR_CHANGE for you */

int rdma_get_cm_event(struct rdma_event_channel *channel,
		      struct rdma_cm_event **event)
{
	int (*call)(struct rdma_event_channel *, struct rdma_cm_event **);

	*(void **)&call = library("rdma_get_cm_event");
	int rc = call(channel, event);
	const bool yours = rc == 0 && channel == watched;
	got += yours;
	if (yours && (*event)->event == RDMA_CM_EVENT_ESTABLISHED &&
	    changes-- > 0)
		(*event)->event = RDMA_CM_EVENT_ADDR_CHANGE;
	if (unreachable && yours) {
		(*event)->event = RDMA_CM_EVENT_UNREACHABLE;
		(*event)->param.conn.private_data = NULL;
		(*event)->param.conn.private_data_len = 0;
	}
	return rc;
}

int rdma_ack_cm_event(struct rdma_cm_event *event)
{
	int (*call)(struct rdma_cm_event *);
	const struct rdma_cm_id *of =
		event->listen_id ? event->listen_id : event->id;
	struct rdma_conn_param *conn = &event->param.conn;

	given_back += of->channel == watched;
	/* From now on it may be something else. */
	if (conn->private_data)
		memset((void *)conn->private_data, 0xee,
		       conn->private_data_len);
	/* The library has its own copy of what it needs. */
	memset(event, 0xee, sizeof *event);
	*(void **)&call = library("rdma_ack_cm_event");
	return call(event);
}
