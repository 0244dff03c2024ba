/* SPDX-License-Identifier: MIT */
/*
 * judges/11_rdma_cm/4_serve.c - three clients that are wanted, and two that are not.
 *
 * before: it returned, and 0 of 3 clients have been served
 * hint1: What must be copied out of an event before it is acknowledged, and what may
 * hint1: be done only afterwards?
 * hint1.zh: 确认一个事件之前，必须从中抄出什么？什么事只能在确认之后做？
 * hint2: A loop: get an event, keep its type and id; for a request, ask wanted();
 * hint2: acknowledge; then accept, reject or disconnect, and release.
 * hint2.zh: 一个循环：取一个事件，记下类型和 id；若是连接请求，就问
 * hint2.zh: wanted()；确认；然后接受、拒绝或断开，再 release。
 */
#include <pthread.h>

#include "4_serve.h"
#include "events.h"

enum { CLIENTS = 3 };

/* wrong() says what the clients are about. What the server did wrong goes by die(). */
static atomic_int accepted, released, disconnected, rejected;
static atomic_int gone; /* clients that have begun to disconnect */
static const struct rdma_cm_id *unwanted; /* asked for last */
static struct side late; /* comes while the second is accepted */

bool wanted(const struct rdma_cm_event *event)
{
	if ((unsigned)event->event == 0xeeeeeeee)
		die("wanted() is asked of an event that was acknowledged");
	if (event->event != RDMA_CM_EVENT_CONNECT_REQUEST)
		die("wanted() is asked of %s", rdma_event_str(event->event));
	const char *data = event->param.conn.private_data;
	bool yes = data && data[0] == 'y';

	if (!yes && event->id->qp)
		die("prepare() is called for a client that is not wanted");
	unwanted = yes ? NULL : event->id;
	return yes;
}

void prepare(struct rdma_cm_id *id)
{
	struct side s = { .id = id };

	if (id == listener)
		die("prepare() is called for the listener");
	if (id == unwanted)
		die("prepare() is called for a client that is not wanted");
	make_qp(&s);
	accepted++;
}

void release(struct rdma_cm_id *id)
{
	if (id == listener)
		die("the listener is released");
	if (got > given_back)
		die("an id is released, and an event is not acknowledged");
	if (id->qp)
		rdma_destroy_qp(id);
	must(rdma_destroy_id(id), "rdma_destroy_id");
	released++;
}

static void request_as(struct side *s, const char *letter)
{
	struct rdma_conn_param param = { .private_data = letter,
					 .private_data_len = 1 };

	s->channel = new_channel();
	resolve(s);
	must(rdma_connect(s->id, &param), "rdma_connect");
}

static void connect_as(struct side *s, const char *letter,
		       enum rdma_cm_event_type answer)
{
	request_as(s, letter);
	await(s->channel, answer);
}

/* As in events.h. */
int rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	int (*call)(struct rdma_cm_id *, struct rdma_conn_param *);

	if (id->channel == watched && id != listener && !id->qp)
		die("rdma_accept is called before prepare()");
	if (id->channel == watched && param)
		die("a client was accepted with parameters that are not NULL");
	if (accepted == 2 && !late.id) {
		request_as(&late, "n");
		if (!event_within(watched, MS))
			die("the judge's request does not come");
	}
	*(void **)&call = library("rdma_accept");
	return call(id, param);
}

int rdma_reject(struct rdma_cm_id *id, const void *reason, uint8_t len)
{
	int (*call)(struct rdma_cm_id *, const void *, uint8_t);

	if (len > 0)
		die("a client was rejected with a reason");
	rejected += id->channel == watched && id != listener;
	*(void **)&call = library("rdma_reject");
	return call(id, reason, len);
}

int rdma_disconnect(struct rdma_cm_id *id)
{
	int (*call)(struct rdma_cm_id *);

	*(void **)&call = library("rdma_disconnect");
	disconnected += id->channel == watched && id != listener;
	if (disconnected > gone)
		die("it disconnects from a client that has not disconnected");
	return call(id);
}

static void hang_up(struct side *s)
{
	gone++;
	must(rdma_disconnect(s->id), "rdma_disconnect");
	await(s->channel, RDMA_CM_EVENT_DISCONNECTED);
}

/* The second comes when the first is there; the third when both have gone. */
static void *clients(void *unused)
{
	struct side c[CLIENTS], no;

	(void)unused;
	about("the first client");
	connect_as(&c[0], "y", RDMA_CM_EVENT_ESTABLISHED);
	about("a client that is not wanted");
	connect_as(&no, "n", RDMA_CM_EVENT_REJECTED);
	about("a second client, while the first is connected");
	connect_as(&c[1], "y", RDMA_CM_EVENT_ESTABLISHED);
	about("a client that comes while you accept another");
	await(late.channel, RDMA_CM_EVENT_REJECTED);
	about("the first client disconnects");
	hang_up(&c[0]);
	hang_up(&c[1]);
	about("a third client, when the others have gone");
	connect_as(&c[2], "y", RDMA_CM_EVENT_ESTABLISHED);
	about("the last client disconnects");
	hang_up(&c[2]);
	return NULL;
}

void judge(void)
{
	pthread_t thread;

	ends_open();
	watched = peer.channel;
	changes = 1;
	if (pthread_create(&thread, NULL, clients, NULL))
		die("the judge's pthread_create");
	serve(peer.channel, CLIENTS);
	if (accepted < CLIENTS)
		die("it returned, and %d of %d clients have been served",
		    accepted, CLIENTS);
	if (disconnected < CLIENTS)
		die("it returned, and did not disconnect from %d of %d clients",
		    CLIENTS - disconnected, CLIENTS);
	if (rejected < 2)
		die("it returned, and did not reject %d of 2 clients",
		    2 - rejected);
	if (got > given_back)
		die("it returned, and has not acknowledged an event");
	if (released != CLIENTS + 2)
		die("it returned, and %d ids are left", CLIENTS + 2 - released);
	(void)pthread_join(thread, NULL);
}
