/* SPDX-License-Identifier: MIT */
/*
 * 11_rdma_cm/cm.h - addresses, and waiting with a deadline.
 *
 * What the lesson is about, the calls of librdmacm and their events, is in server.c and
 * client.c.
 */
#ifndef CM_H
#define CM_H

#include <sys/socket.h>

#include <rdma/rdma_cma.h>

#include "common.h"
#include "lesson.h"

enum { RECEIVES = 3 };

struct cm {
	const struct options *opt;
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id; /* of the connection */
	struct ibv_pd *pd;
	struct ibv_cq *cq; /* completions of both queues */
	struct ibv_mr *mr; /* of inbox and outbox */
	struct {
		uint8_t inbox[RECEIVES][MESSAGE_LEN], outbox[MESSAGE_LEN];
	} memory;
	int came;  /* messages */
	bool gone; /* the peer has disconnected */
};

/* For calls that return 0, or -1 and set errno, as all of librdmacm do. */
void must(int rc, const char *call);

/* The values of -n and -b, and of -o. */
unsigned number(const char *text, char letter, unsigned max);
enum operation operation(const char *text);

/* The address of the device that -d names (of its GID, see -g), with the port of -p. */
void device_address(const struct options *opt, struct sockaddr_storage *to);
/* Any address of ours, with that port. */
void any_address(const struct options *opt, struct sockaddr_storage *to);
/* The server's: a name or a number; NULL: the device DEV_SERVER of this machine, or our
 * own. from: ours; a link-local address is taken to be on the same network. */
void server_address(const struct options *opt, const char *host,
		    const struct sockaddr_storage *from,
		    struct sockaddr_storage *to);

/* The next event; dies after the wait_s of -t. The caller must acknowledge it. */
struct rdma_cm_event *next_event(struct cm *cm, const char *waiting_for);
/* Dies, with what happened instead, if it is not the wanted one. */
void must_be(const struct rdma_cm_event *event, enum rdma_cm_event_type wanted);

/* PD, CQ and QP on cm->id, and receives for the messages of the peer. */
void make_queues(struct cm *cm);
/* SENDs a message; the second waits for its completion, too. */
void post_message(struct cm *cm, const struct message *m);
void send_message(struct cm *cm, const struct message *m);
/* The next that came. */
struct message take_message(struct cm *cm, enum kind wanted);
/* Waits for one completion; dies, with "what: status", if it is not a success. */
struct ibv_wc completion(struct cm *cm, const char *what);
/* The QP is in ERROR. Takes what it still owes us, of receives and of so many SENDs:
 * returns how many receives were flushed. */
int drain(struct cm *cm, int sends);

/* The QP, its CQ and the id; and with them all that make_queues() made. */
void undo_queues(struct cm *cm);
void undo(struct cm *cm);

#endif
