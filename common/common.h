/* SPDX-License-Identifier: MIT */
/*
 * common/common.h - what every lesson needs and no lesson is about.
 *
 *   say.c  the command line, one-line output, dying
 *   tcp.c  the TCP side channel: QP info exchange and barriers
 *   qp.c   the device, the QP and its state transitions, one completion
 *
 * Every function here either succeeds or ends the program with one FAIL line
 * and a non-zero status, so no lesson checks their results. What a lesson
 * calls from libibverbs itself, it checks itself.
 */
#ifndef COMMON_H
#define COMMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <infiniband/verbs.h>

/* ---- say.c ------------------------------------------------------------- */

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

	/* Set by ep_open(); explained in qp.c where the QP is given them. */
	uint8_t timeout, retry_cnt, rnr_retry, min_rnr_timer;
	uint8_t max_rd_atomic, max_dest_rd_atomic;
};

/* ---- tcp.c ------------------------------------------------------------- */

/*
 * QP info: the one message of the exchange, the same in both directions. The
 * client sends its own first; the server checks it before it answers. Big
 * endian, 56 bytes:
 *
 *   offset size field
 *        0    4 magic    0x52444d41, "RDMA"
 *        4    2 version  1
 *        6    2 lesson   1 to 8
 *        8    4 qpn      QP number, 24 bits, not 0 or 1 (the special QPs)
 *       12    4 psn      number of the sender's first packet, 24 bits
 *       16    2 lid      InfiniBand address; 0 on RoCE
 *       18    1 mtu      enum ibv_mtu: 1 = 256, 2 = 512 ... 5 = 4096 bytes
 *       19    1 zero     0
 *       20    4 rkey     of the memory region that is offered
 *       24   16 gid      RoCE address, in network order; not zero
 *       40    8 addr     where that region begins
 *       48    8 len      its length in bytes; 0: none is offered
 *
 * After it, either side sends one byte 'B' at each barrier.
 */
enum { INFO_LEN = 56 };

struct qp_info {
	uint32_t qpn, psn;
	uint16_t lid;
	enum ibv_mtu mtu;
	union ibv_gid gid;
	uint64_t addr, len; /* the peer's memory region, if it offers one */
	uint32_t rkey;
};

void info_pack(uint8_t msg[INFO_LEN], const struct qp_info *info,
	       unsigned lesson);
/* Checks every field. Returns false, with the reason in why, or fills info. */
bool info_unpack(const uint8_t msg[INFO_LEN], struct qp_info *info,
		 unsigned lesson, char why[80]);

/* Server: wait for one client, on IPv4 and IPv6. One that hangs up without a
 * word was a port scanner: the server goes on waiting. */
void tcp_accept(struct ep *ep);
/* Client: connect, trying again for wait_s, so start order is free. */
void tcp_connect(struct ep *ep);

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
 * cap; the QP is in state RESET. The lesson owns all of it until ep_close().
 * No usable device ends the program with status 77. The CQ has room for all
 * that cap asks for, so it cannot overrun while no more than that is posted.
 */
struct ep ep_open(const struct options *opt, struct ibv_qp_cap cap);
/*
 * A second QP, with a CQ of its own; device, PD and TCP connection are those
 * of the first. Close it before the first.
 */
struct ep ep_second(const struct ep *first, struct ibv_qp_cap cap);
/* Undoes either; for the first also closes the TCP connection. */
void ep_close(struct ep *ep);

/* The states a QP goes through, in this order (man ibv_modify_qp).
 * access: what the peer may do to us over this connection, IBV_ACCESS_REMOTE_*
 */
void qp_to_init(struct ep *ep, unsigned access);
void qp_to_rtr(struct ep *ep, const struct qp_info *peer);
void qp_to_rts(struct ep *ep);

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

#endif
