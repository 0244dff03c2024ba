/* SPDX-License-Identifier: MIT */
/*
 * common/common.h - what every lesson needs and no lesson is about.
 *
 *   tcp.c     the TCP side channel: QP info exchange and barriers
 *   qp.c      the device, the QP and its state transitions, one completion
 *   plumbing/ say.c: the command line, one-line output, dying;
 *             sockets.c: bytes over TCP, each wait with a deadline
 *
 * Unless it says otherwise, a function here succeeds or ends the program with
 * one FAIL line and a non-zero status, so no lesson checks its result. What a
 * lesson calls from libibverbs itself, it checks itself.
 */
#ifndef COMMON_H
#define COMMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <infiniband/verbs.h>

/* ---- plumbing/say.c ---------------------------------------------------- */

struct options {
	const char *role; /* "server" or "client" */
	unsigned lesson;  /* both sides must run the same one */
	const char *host; /* client: where the server is; NULL: here */
	const char *tcp_port;
	const char *dev; /* NULL: the first device with an active port */
	uint8_t ib_port; /* counted from 1 */
	int gid_index;   /* -1: choose */
	int wait_s;      /* no single wait lasts longer, in seconds */
};

/* Reads argv. -h prints the usage and exits 0, a bad value exits 2. */
struct options parse_args(int argc, char **argv, const char *role,
			  unsigned lesson);

/* An option of a lesson's own: its text goes to *value. */
struct own_option {
	char letter; /* 0 in the last one */
	const char *help;
	const char **value;
};
struct options parse_args_and(int argc, char **argv, const char *role,
			      unsigned lesson, const struct own_option *own);

/* One line, one write(2), so that two processes on one terminal do not mix.
 * say(): stdout, "role: ...", the same on every run; tests compare it.
 * note(): stderr, "role: # ...", for what changes: numbers, times, addresses.
 */
void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* say("FAIL ...") and exit 1. die_err() adds the text and name of err. Pass
 * errno, or the result of a verb that returns the error number itself.
 */
void die(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));
void die_err(int err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3), noreturn));

double now_ms(void); /* a clock that only goes forward, in milliseconds */

/* ---- the end point: all that one side holds ---------------------------- */

struct ep {
	const struct options *opt;
	int sock;       /* TCP, to the peer */
	bool hung_up;   /* the peer has closed it */
	bool second;    /* made by ep_second(): the first owns the rest */
	uint16_t turns; /* of keep_waiting() */
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel; /* for those who sleep, not poll */
	struct ibv_cq *cq; /* completions of both queues of the QP */
	struct ibv_qp *qp;
	struct ibv_qp_cap cap; /* what was granted: at least what was asked */

	uint16_t lid;      /* our address on InfiniBand; 0 on RoCE */
	union ibv_gid gid; /* our address on RoCE */
	uint8_t gid_index; /* where that GID stands in our own table */
	enum ibv_mtu mtu;  /* active MTU of our port */
	uint32_t psn;      /* number of our first packet, 24 bits */

	/* ep_open() sets these. A lesson may change them until the QP is given
	 * them, where qp.c explains them: at RTR how we answer the peer's
	 * requests, at RTS how we send our own. */
	uint8_t min_rnr_timer, max_dest_rd_atomic;            /* RTR */
	uint8_t timeout, retry_cnt, rnr_retry, max_rd_atomic; /* RTS */
};

/* ---- plumbing/sockets.c ------------------------------------------------ */

/* Server: wait for one client, on IPv4 and IPv6. One that hangs up without a
 * word was a port scanner: the server goes on waiting. */
void tcp_accept(struct ep *ep);
/* A socket that clients can connect to. */
int tcp_listen(const struct options *opt);
/* Client: connect, trying again for wait_s, so start order is free. */
void tcp_connect(struct ep *ep);

/* All len bytes, or "what: ..." says why not: the peer hung up, or wait_s are
 * over. */
void tcp_send(struct ep *ep, const void *buf, size_t len, const char *what);
void tcp_recv(struct ep *ep, void *buf, size_t len, const char *what);

/* ---- tcp.c ------------------------------------------------------------- */

/*
 * QP info: the one message of the exchange, the same in both directions. These
 * are its bytes, without holes, each number in big endian. The client sends its
 * own first; the server checks it before it answers. After it, either side
 * sends one byte 'B' at each barrier.
 */
struct qp_info {          /* at byte */
	uint32_t magic;   /*  0: 0x52444d41, "RDMA" */
	uint16_t version; /*  4: 1 */
	uint16_t lesson;  /*  6: 100 and more: none */
	uint32_t qpn;     /*  8: QP number, 24 bits, not 0 or 1 (special QPs) */
	uint32_t psn;     /* 12: number of the sender's first packet, 24 bits */
	uint16_t lid;     /* 16: InfiniBand address; 0 on RoCE */
	uint8_t mtu;      /* 18: enum ibv_mtu: 1 = 256, 2 = 512 ... 5 = 4096 */
	uint8_t zero;     /* 19: 0 */
	uint32_t rkey;    /* 20: of the memory region that is offered */
	union ibv_gid gid; /* 24: RoCE address, in network order; not zero */
	uint64_t addr;     /* 40: where that region begins */
	uint64_t len;      /* 48: its length in bytes; 0: none is offered */
};
enum { INFO_LEN = 56 };

/* To the bytes of the message; magic, version and lesson are filled in. */
void info_pack(uint8_t msg[INFO_LEN], const struct qp_info *info,
	       unsigned lesson);
/* And back. Checks every field: if one is wrong, false, with the reason. */
bool info_unpack(const uint8_t msg[INFO_LEN], struct qp_info *info,
		 unsigned lesson, char why[80]);

/* Our QP info, with no region offered: for a peer that is in this program. */
struct qp_info own_info(const struct ep *ep);
/* Send our QP info; mr is the region offered to the peer, or NULL. */
void send_info(struct ep *ep, const struct ibv_mr *mr);
/* Receive the peer's and check it; min_len: bytes its region must have. */
struct qp_info recv_info(struct ep *ep, size_t min_len);

/* Returns once both sides have called it. */
void barrier(struct ep *ep);
/* Has the peer called it already, or hung up? */
bool peer_waits(struct ep *ep);

/* ---- qp.c -------------------------------------------------------------- */

/*
 * Opens device, PD, one CQ and one RC QP with queues of at least the sizes in
 * cap, where 0 is 1 (but for max_inline_data); the QP is in state RESET. The lesson owns all of it until ep_close().
 * No usable device ends the program with status 77. The CQ has room for all
 * that cap asks for: it cannot overrun while no more than that is posted and
 * not yet polled.
 */
struct ep ep_open(const struct options *opt, struct ibv_qp_cap cap);
/* The same without a QP, and a CQ of cqe entries: for a server whose clients
 * come and go, with a QP each. */
struct ep ep_open_device(const struct options *opt, int cqe);
/* A second QP, with a CQ of its own; device, PD and TCP connection are those
 * of the first. Close it before the first. */
struct ep ep_second(const struct ep *first, struct ibv_qp_cap cap);
/* Undoes either; for the first also closes the TCP connection. */
void ep_close(struct ep *ep);

/* The states a QP goes through, in this order (man ibv_modify_qp).
 * access: what the peer may do to us over this connection, IBV_ACCESS_REMOTE_*
 */
void qp_to_init(struct ep *ep, unsigned access);
void qp_to_rtr(struct ep *ep, const struct qp_info *peer);
void qp_to_rts(struct ep *ep);
/* All three, with a new PSN, where a peer that cannot be reached must not end the
 * program: 0, or the error. */
int qp_connect(struct ep *ep, unsigned access, const struct qp_info *peer);

/*
 * For loops that wait for something: call it once a turn. It ends the program
 * after wait_s seconds (since: now_ms() when the wait began), and when the
 * peer has hung up, though not before the caller has had one more look. Most
 * turns return at once: a look costs the caller nothing, a system call does.
 */
void keep_waiting(struct ep *ep, double since, const char *what);

/*
 * Waits for one completion and returns it; the caller looks at wc.status. If
 * it is not IBV_WC_SUCCESS, only wr_id, status, qp_num and vendor_err mean
 * anything (man ibv_poll_cq).
 */
struct ibv_wc wait_wc(struct ep *ep);

/* Index into t of the GID to use, or -1. Not the first: see qp.c. */
int choose_gid(const struct ibv_gid_entry *t, int n, unsigned ib_port);
/* The GID of -g, or the one that choose_gid() takes from the port's table. */
struct ibv_gid_entry pick_gid(struct ibv_context *ctx, const struct options *o);

#endif
