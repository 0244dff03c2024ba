/* SPDX-License-Identifier: MIT */
/*
 * Exercise 11.4 - extend: clients come and go                *** 30 minutes
 *
 * Write serve(): it reads the events of the channel and serves all clients, several
 * at the same time, until `goodbyes` of them have disconnected. Then it returns.
 *
 * The listener has been made, and listens. The judge has three functions for you:
 * - wanted(event) looks at a CONNECT_REQUEST: is that client wanted?
 * - prepare(id) makes the queue pair of a client that is
 * - release(id) destroys queue pair, if there is one, and id. This waits until
 *   all events have been acknowledged
 *
 * A client that is not wanted is rejected, with no reason, and its id released. The
 * others are accepted, with NULL for the parameters. To a client that disconnects
 * you disconnect as well, and its id is released. All other events, ESTABLISHED
 * too, need only to be acknowledged: here no client goes before it is connected.
 * (A real server goes on if rdma_accept() fails, and releases on CONNECT_ERROR.)
 *
 * In an event, id is the client's; of a request it is the new one, and listen_id
 * is the listener. You may wait for events without a deadline: the judge has one.
 */
#include "4_serve.h"

void serve(struct rdma_event_channel *channel, int goodbyes)
{
	(void)channel, (void)goodbyes; /* TODO 11.4 */
}
