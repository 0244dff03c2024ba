/* SPDX-License-Identifier: MIT */
/*
 * lab/strict/strict.h - a preloaded library between a program and libibverbs, which
 * reports what the device forgives. docs/strict.md says what and why.
 *
 *   report.c   one line for each fault, and who posted
 *   objects.c  what the program has: PDs, regions, CQs, QPs
 *   requests.c what is under way: checksums, poison, what a post may not do
 *   batch.c    ibv_wr_*, collected and then treated like a list
 *   hooks.c    the functions that the program calls instead of those of libibverbs
 */
#ifndef STRICT_H
#define STRICT_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include <infiniband/verbs.h>

/* A program may have a report() of its own. */
#pragma GCC visibility push(hidden)

enum { DEPTH = 4, POISON = 0xee };

/* ---- report.c ---------------------------------------------------------- */

/* Who called: the return addresses, the innermost first. */
struct trace {
	void *at[DEPTH];
};
struct trace trace_now(void);

/* Once for each rule and trace: "strict: RULE: sentence (where, qp N, wr_id N)". Without
 * `from` it is where the request was posted, or without a request, where we are called.
 * With STRICT=stop it ends the program. */
struct req;
void report(const char *rule, struct req *r, const struct trace *from,
	    const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* ---- objects.c --------------------------------------------------------- */

enum kind { DEVICE, PD, REGION, WINDOW, CHANNEL, CQ, SRQ, QP, KINDS };

struct obj {
	LIST_ENTRY(obj) link;
	enum kind kind;
	union { /* what libibverbs calls it */
		void *key;
		struct ibv_mr *mr;
		struct ibv_cq *cq;
		struct ibv_qp *qp;
		struct ibv_srq *srq;
	};
	struct ibv_context *ctx;
	struct trace made;
};

struct device {
	struct obj o;
	struct verbs_context was; /* has its own functions */
	pid_t opener;             /* a child has a copy */
};

struct region {
	struct obj o;
	uint64_t iova; /* what an SGE calls its beginning */
	int access;
	struct ibv_mr *shadow; /* where the device writes; NULL: not yet */
	ptrdiff_t to_shadow;   /* from the program's bytes */
	bool opaque;           /* the CPU cannot read it: only counted */
	bool direct; /* no shadow: too large, or another one has bytes of it */
};

struct cq {
	struct obj o;
	unsigned due;      /* completions that may still come to the program */
	unsigned missed;   /* came before it was armed, and not given out yet */
	bool polled;       /* since then */
	bool woken;        /* by an event, and has given out nothing since */
	bool armed, begun; /* begun: some have been given out, ever */
	pthread_t by;
	unsigned events, n_held;
	struct ibv_wc *held; /* taken from the device, not yet from us */
	struct ibv_cq_ex ex; /* its own functions, if it has any */
};

/* Requests that were posted, the oldest first, and what was granted. */
struct queue {
	TAILQ_HEAD(reqs, req) reqs;
	unsigned n, max, max_sge;
	bool recv;
	struct cq *cq; /* NULL: of an SRQ */
	struct qp *qp;
};

/* Or an SRQ: that has only the rq. */
struct qp {
	struct obj o;
	struct queue sq, rq;
	uint32_t num;
	bool all_signaled;
	enum ibv_qp_state state;
	unsigned rd_atomic, max_inline;
	struct req *orphan;        /* a receive whose region is gone */
	struct ibv_send_wr *batch; /* ibv_wr_*: not yet complete */
	size_t n_batch;
	pthread_mutex_t batching; /* from its start to its end */
};

extern LIST_HEAD(objects, obj) objects[KINDS];
void *find(enum kind kind, const void *key);
/* The next one after `before`, or after NULL the first. */
void *next_of(enum kind kind, void *before);
/* libibverbs made it, or (with status rc) took it back; NULL: one that we do not know. */
void *have(enum kind kind, void *key);
void gone(void *obj, int rc);
/* A device is closed, and what is left of it with it. */
void drop_all(const struct ibv_context *ctx);

/* ---- requests.c -------------------------------------------------------- */

/* Bytes that a request names. */
struct use {
	LIST_ENTRY(use) link; /* of all under way */
	struct region *mr;    /* NULL: the program has them back */
	struct req *req;
	char *at;
	size_t len;
	bool dest;    /* the device writes them */
	char *shadow; /* there, until it is complete; NULL: to the place itself */
	bool check;   /* poison must be intact, or the sum the same */
	uint64_t sum;
};
extern LIST_HEAD(uses, use) uses;

struct req {
	TAILQ_ENTRY(req) link;
	struct queue *queue; /* NULL: it is not in one any more */
	struct cq *cq;       /* where its completion is counted, or NULL */
	uint64_t wr_id;      /* the program's */
	uint32_t qp_num;
	unsigned fences; /* up to it: it waits for READs that have fewer */
	bool told;       /* something was reported of it */
	struct trace from;
	unsigned n_uses;
	struct use use[];
};

/* One is about to be posted: the device gets a wr_id and SGEs of ours. For a receive w is
 * the SEND that it takes. */
struct req *have_request(struct queue *q, const struct ibv_send_wr *w,
			 uint64_t *wr_id, struct ibv_sge **sg_list,
			 int num_sge);
/* What is given up, or was not accepted, is kept for a long time: the device may have a
 * completion with its address, and rxe may do later what it refused. */
void bury(struct req *r);
/* A completion goes to the program. */
void finish(struct ibv_wc *wc);
/* The QP is given up: destroyed or reset. */
void give_up(struct qp *qp);
/* The oldest send whose completion was asked for. */
struct req *awaited(const struct qp *qp);
/* It was destroyed, or the program ends: was all polled that was asked for? */
void report_not_polled(const struct qp *qp, const struct trace *from);
/* INLINE: the CPU copies these bytes now. */
void copy_bytes(struct req *r, const void *at, size_t len);
/* The region goes: requests that name it do not any more. */
void forget_region(struct region *mr, const struct trace *from);
/* The CPU can read the first and the last byte, and there is no hole between them. */
bool readable(char *at, size_t len);

/* ---- batch.c ----------------------------------------------------------- */

void hook_batch(struct qp *qp, const struct ibv_qp_init_attr_ex *attr);

/* ---- hooks.c ----------------------------------------------------------- */

/* What libibverbs, or the next library, has under that name. */
void *next_function(const char *name);
#define NEXT(name) ((__typeof__(&(name)))next_function(#name))
#define real(of) (&((struct device *)find(DEVICE, of))->was.context.ops)

/* Until the end of the block no other thread is in this library. */
extern pthread_mutex_t mutex;
int lock(void);
void unlock(const int *was);
#define LOCKED __attribute__((cleanup(unlock), unused)) int locked = lock()

#pragma GCC visibility pop
#endif
