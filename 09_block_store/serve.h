/* SPDX-License-Identifier: MIT */
/* 09_block_store/serve.h - one command at the server, from serve() to the completion
 * of its reply. (serve.c) */
#ifndef SERVE_H
#define SERVE_H

#include "conns.h"
#include "lesson.h"

/* What a completion is of. A wr_id is an address, with the kind in its low bits. */
enum kind { COMMAND, RDMA_READ, RDMA_WRITE, REPLY, KINDS };
extern const char *const kind_names[KINDS];

static inline uint64_t request_id(const void *of, enum kind kind)
{
	return (uintptr_t)of | kind;
}

static inline enum kind kind_of(uint64_t wr_id)
{
	return wr_id % KINDS;
}

static inline void *address_of(uint64_t wr_id)
{
	return (void *)(uintptr_t)(wr_id - wr_id % KINDS);
}

/* What a command needs while it is served. */
struct work {
	_Alignas(BLOCK) char data[MAX_COUNT * BLOCK];
	uint8_t reply[REPLY_LEN]; /* sent from here */
	struct command command;
	struct account *account; /* whose command it is; NULL: free */
	struct sync *sync;       /* of a FLUSH that is under way */
};

/* What the server keeps of a client. */
struct account {
	struct conn *conn;
	uint32_t lkey;  /* of all works */
	unsigned tags;  /* not answered yet: a bit each */
	int unanswered; /* commands: its credits that are used */
	int waiting;    /* of these, in line; the oldest first */
	struct command line[TAGS];
	int served;       /* works in use */
	int early, syncs; /* early WRITEs and FLUSHes among them */
	struct work work[TAGS];
};

void account_open(struct account *a, struct conn *c, uint32_t lkey);

/* There must be a free work: a->served < TAGS. */
void serve(struct account *a, const struct command *command);
/* One of its requests has completed. */
void served(struct work *w, enum kind kind, bool ok);
/* Did a FLUSH end? Then it was answered. */
bool look_at_syncs(struct account *a);

#endif
