/* SPDX-License-Identifier: MIT */
/*
 * bench/bench.h - what both sides of the pair that measures must agree on.
 */
#ifndef BENCH_H
#define BENCH_H

#include "common.h"

enum { LESSON = 101 }; /* not one of them */
enum { CACHE_LINE = 64, LONGEST_LIST = 512 };
#define CREDIT UINT64_MAX /* the wr_id of one; of a message: its number */

enum op { SEND, WRITE, WRITE_IMM, READ, FETCH_ADD, CMP_SWAP, OPS };
enum mode { RATE, LATENCY };

/* What is measured. The client has the options, and tells the server: these
 * are the bytes, each number in big endian. */
struct settings {
	uint64_t op, mode;
	uint64_t size;       /* bytes of a message */
	uint64_t count;      /* messages */
	uint64_t depth;      /* so many are under way, at most */
	uint64_t list;       /* requests in one ibv_post_send */
	uint64_t signal;     /* one completion for so many requests */
	uint64_t inlined;    /* INLINE, or not */
	uint64_t alignment;  /* where a message begins: at multiples of this */
	uint64_t reregister; /* the buffer is registered for each message */
	uint64_t verify;     /* each message, inside the timed part */
	uint64_t events;     /* the server sleeps, and does not poll */
};
enum { NUMBERS = sizeof(struct settings) / 8 };

/* The server's, at the end of the timed part; big endian, too. */
struct cost {
	uint64_t user_us, system_us; /* CPU time */
	uint64_t completions;
};

/*
 * One side. Its memory is two rows of slots, one message in each: row "out" is
 * sent, or read by the peer; row "in" is where messages arrive. Message i has
 * slot i modulo the length of the row. Behind them stands the word for credits.
 */
struct side {
	struct ep ep;
	struct settings set;
	bool server;
	char *mem;
	size_t stride, bytes;
	uint64_t receives; /* so many are posted */
	uint64_t in_slots; /* of two-sided messages: one for each receive */
	struct ibv_mr *mr;
	struct ibv_mr **own_mr; /* of each slot, if registered each time */
	struct qp_info peer;
	uint64_t posted, done; /* requests that were posted, completed */
	uint64_t received;     /* messages, told by a completion */
	uint64_t completions;  /* of any kind */
	uint64_t telling;      /* credits under way, see server.c */
};

/* ---- settings.c -------------------------------------------------------- */

/* From our byte order to big endian, and back. */
void big_endian(uint64_t *number, size_t n);

/* Dies, with the reason, if these settings make no sense, or if the device
 * (NULL: not known yet) cannot do them. */
void check_settings(const struct settings *set, struct ep *base);

bool two_sided(const struct settings *set); /* a message takes a receive */
bool atomic(const struct settings *set);

/* ---- side.c ------------------------------------------------------------ */

/* The QP, the memory and its rights; the other side's address; all receives. */
struct side side_open(struct ep *base, const struct settings *set, bool server);
void side_close(struct side *s);

size_t out_slot(const struct side *s, uint64_t i); /* where in mem */
size_t in_slot(const struct side *s, uint64_t i);
_Atomic uint64_t *credit_word(const struct side *s);

/* The last byte of a message, by its number. */
char mark(const struct side *s, uint64_t number);
/* Dies if message i is not in its slot, or atomic i did not return i. */
void expect_message(const struct side *s, uint64_t i);
/* The same for all that the timed part has left. */
void expect_all(const struct side *s);

struct ibv_mr *must_register(const struct side *s, void *at, size_t len,
			     int rights);
void must_deregister(struct ibv_mr *mr);
/* Those that were registered for one message: they belong to its cost. */
void forget_regions(struct side *s);
/* CPU time of this process, until now; and what was spent since then, with what s
 * has counted. */
struct cost cpu_time(void);
struct cost cost_since(const struct side *s, struct cost before);

/* ---- move.c ------------------------------------------------------------ */

/* Receives into these slots, as one list of at most 16. */
void post_receives(struct side *s, const uint64_t *slot, int n);
/* The next n requests, as one list. */
void post_messages(struct side *s, uint64_t n);
/* Takes what is in the CQ, and posts each receive again. False: it was empty. */
bool pump(struct side *s);
/* One message at a time: to and fro, or, of READs and atomics, each to its end.
 * The client's times go to at[], one for each post and one for the end. */
void ping_pong(struct side *s, double *at);

/* For a loop that waits, once a turn: dies when it takes too long, or the peer
 * hung up. */
struct wait {
	double since;
	unsigned turns;
};
void waiting(struct side *s, struct wait *w, const char *what);

#endif
