/* SPDX-License-Identifier: MIT */
/* 09_block_store/ask.h - a client of the store: its connection, its commands. */
#ifndef ASK_H
#define ASK_H

#include "common.h"
#include "lesson.h"

enum { WORDS = BLOCK / 8 };

struct client {
	/* Open to the server's NIC. */
	_Alignas(64) uint64_t buffer[TAGS][MAX_COUNT][WORDS];
	struct ep ep;
	struct ibv_mr *messages, *buffers;
	uint32_t rkey; /* of buffers */
	struct {
		uint8_t command[TAGS][COMMAND_LEN];
		uint8_t reply[TAGS][REPLY_LEN];
	} m;                      /* the messages: for our own NIC only */
	enum status status[TAGS]; /* of the last reply */
	int seen[TAGS];           /* of a command: SEND completed, reply here */
};

/* Connects; and frees all that is left (after barrier(), which is the goodbye). */
void arrive(struct client *c, const struct options *opt);
void depart(struct client *c);

/* Sends a command, whose buffer is that of its tag. There may be TAGS under way,
 * each with a tag of its own. */
void start(struct client *c, uint32_t tag, uint32_t operation, uint64_t first,
	   uint32_t count);
/* One completion, of a SEND or a reply: sets *reply. Returns its tag. */
uint32_t take(struct client *c, bool *reply);
/* Waits until a command is done, whichever is first. Returns its tag. */
uint32_t finish(struct client *c);
/* One command with tag 0, and its status. */
enum status call(struct client *c, uint32_t operation, uint64_t first,
		 uint32_t count);
/* The same, and dies if the status is not ST_OK. */
void call_ok(struct client *c, uint32_t operation, uint64_t first,
	     uint32_t count);

/* Each word of block i of its buffer is word + i: half a block would show. */
void fill(struct client *c, uint32_t tag, uint64_t word);

extern const char *const status_names[];

#endif
