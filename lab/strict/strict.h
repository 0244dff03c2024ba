/* SPDX-License-Identifier: MIT */
/*
 * lab/strict/strict.h - a preloaded library between a program and libibverbs, which
 * reports what the device forgives. docs/strict.md says what and why.
 *
 *   report.c   one line for each fault, and who posted
 *   requests.c what is under way: checksums, poison, what a post may not do
 *   batch.c    ibv_wr_*, collected and then treated like a list
 *   hooks.c    the functions that the program calls instead of those of libibverbs
 */
#ifndef STRICT_H
#define STRICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <infiniband/verbs.h>

#pragma GCC visibility push( \
	hidden) /* a program may have a report() of its own */

enum { DEPTH = 4, POISON = 0xee };

/* ---- report.c ---------------------------------------------------------- */

/* Who called: the return addresses, the innermost first. */
struct trace {
	void *at[DEPTH];
};
struct trace trace_from(void *caller);

struct req;
/* Once for each rule and trace: "strict: RULE: sentence (where, qp N, wr_id N)".
 * With STRICT=stop it ends the program. */
void report(const char *rule, const struct trace *from, struct req *r,
	    const char *fmt, ...) __attribute__((format(printf, 4, 5)));
void say_seed(uint64_t seed);

/* ---- what the program has ----------------------------------------------- */

enum kind { DEVICE, PD, REGION, WINDOW, CHANNEL, CQ, SRQ, QP, KINDS };

struct obj {
	struct obj *next;
	const void *key; /* what libibverbs calls it */
	enum kind kind;
	struct ibv_context *ctx;
	struct trace made;
};

struct device {
	struct obj o;
	struct ibv_context_ops ops; /* its own functions */
	struct verbs_context ex;
	struct ibv_device_attr can;
};

struct region {
	struct obj o;
	struct ibv_mr *v;
	char *addr;
	size_t length;
	uint64_t iova; /* what an SGE calls addr */
	unsigned access;
	char *shadow; /* where the device writes; NULL: not yet */
	struct ibv_mr *shadow_mr;
	bool opaque; /* the CPU cannot read it, or it is too large: only counted */
	struct use *uses;
};

struct cq {
	struct obj o;
	struct ibv_cq *v;
	unsigned due;    /* completions that may still come to the program */
	unsigned missed; /* came before it was armed, and not given out yet */
	bool polled;     /* since then */
	bool armed;
	unsigned events, acks, spurious;
	bool idle;           /* the device had nothing when it was last asked */
	unsigned late;       /* polls until what is held is given out */
	struct ibv_wc *held; /* taken from the device, not yet from us */
	unsigned n_held, room;
	struct ibv_cq_ex ex; /* its own functions, if it has any */
};

/* Requests that were posted, the oldest first. */
struct queue {
	struct req *first, *last;
	unsigned n, max;
};

struct srq {
	struct obj o;
	struct ibv_srq *v;
	struct queue rq;
};

struct qp {
	struct obj o;
	struct ibv_qp *v;
	struct queue sq, own_rq, *rq; /* rq: its own, or the SRQ's */
	struct cq *send_cq, *recv_cq;
	struct ibv_qp_cap cap;
	bool all_signaled;
	enum ibv_qp_state state;
	unsigned rd_atomic, access;
	struct req *orphan;       /* a receive whose region is gone */
	struct ibv_send_wr *list; /* ibv_wr_*: not yet complete */
};

/* Bytes that a request names. */
struct use {
	struct use *next; /* of the same region */
	struct region *mr;
	struct req *req;
	char *at;
	uint32_t len;
	bool dest; /* the device writes them: into the shadow, if there is one */
	bool shadowed; /* they are to be copied when it is complete */
	bool check;    /* poison must be intact, or the sum the same */
	uint64_t sum;
};

struct req {
	struct req *next, *prev;
	struct queue *queue; /* NULL: it is not in one any more */
	struct qp *qp;       /* of a receive of an SRQ: NULL */
	struct cq *cq;       /* where its completion is counted, or NULL */
	uint64_t wr_id;      /* the program's */
	uint32_t qp_num;
	enum ibv_wr_opcode opcode;
	unsigned flags;
	bool recv;
	bool told; /* something was reported of it */
	struct trace from;
	unsigned n_uses;
	struct use use[];
};

extern bool behaves;   /* late completions, short polls, spurious wake-ups */
extern bool shadowing; /* a region that is being registered is ours */
unsigned dice(unsigned n);

void *find(enum kind kind, const void *key);
void *add(enum kind kind, const void *key, struct ibv_context *ctx, size_t size,
	  void *caller);
void drop(void *obj);
/* Calls f for each object of that kind until it returns true. */
void *any(enum kind kind, bool (*f)(void *obj, void *arg), void *arg);
const struct ibv_context_ops *real(struct ibv_context *ctx);
/* What libibverbs, or the next library, has under that name. */
void *next_function(const char *name);

/* ---- requests.c -------------------------------------------------------- */

/* Post a list, one by one: the device gets copies, in which addresses and wr_ids are
 * ours. */
int send_list(struct qp *qp, struct ibv_send_wr *list, struct ibv_send_wr **bad,
	      void *caller);
int recv_list(struct qp *qp, struct srq *srq, struct ibv_recv_wr *list,
	      struct ibv_recv_wr **bad, void *caller);
/* A completion goes to the program. */
void finish(struct ibv_wc *wc);
/* The queue is given up: QP destroyed or reset. */
void give_up(struct queue *q);
/* The program ends: have bytes changed that the device may still send? */
void look_at_left(const struct queue *q);
/* The region goes. */
void forget_region(struct region *mr, const struct trace *from);

/* ---- batch.c ----------------------------------------------------------- */

void hook_batch(struct qp *qp, uint64_t ops);

/* ---- hooks.c ----------------------------------------------------------- */

void lock(void);
void unlock(void);
#pragma GCC visibility pop
#endif
