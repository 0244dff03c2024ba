/* SPDX-License-Identifier: MIT */
/* Solution of exercise 11.4 - clients come and go */
#include <errno.h>

#include "4_serve.h"

static void must(int rc, const char *call)
{
	if (rc)
		die_err(errno, "%s", call);
}

void serve(struct rdma_event_channel *channel, int goodbyes)
{
	while (goodbyes > 0) {
		struct rdma_cm_event *event;

		must(rdma_get_cm_event(channel, &event), "rdma_get_cm_event");
		struct rdma_cm_id *id = event->id;
		enum rdma_cm_event_type type = event->event;
		bool yes =
			type == RDMA_CM_EVENT_CONNECT_REQUEST && wanted(event);

		must(rdma_ack_cm_event(event), "rdma_ack_cm_event");
		if (yes) {
			prepare(id);
			must(rdma_accept(id, NULL), "rdma_accept");
		} else if (type == RDMA_CM_EVENT_CONNECT_REQUEST) {
			must(rdma_reject(id, NULL, 0), "rdma_reject");
			release(id);
		} else if (type == RDMA_CM_EVENT_DISCONNECTED) {
			must(rdma_disconnect(id), "rdma_disconnect");
			release(id);
			goodbyes--;
		}
	}
}
