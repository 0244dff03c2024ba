/* SPDX-License-Identifier: MIT */
/* 09_block_store/lesson.h - what both sides must agree on. */
#ifndef LESSON_H
#define LESSON_H

#include <stdint.h>

enum {
	LESSON = 9,
	BLOCK = 4096, /* bytes; stored whole or not at all */
	BLOCKS = 256,
	MAX_COUNT = 8, /* blocks in one command */
	TAGS = 4, /* commands that a client may have under way: its credits */
};

enum operation {
	OP_READ = 1,    /* from the store, into the client's buffer */
	OP_WRITE,       /* into the store; the reply says that it is there */
	OP_WRITE_EARLY, /* the reply says only that the buffer was copied */
	OP_FLUSH,       /* what was answered before survives a crash */
};

enum status {
	ST_OK,
	ST_NO_SUCH_BLOCK, /* beyond the end of the store */
	ST_BAD_COUNT,     /* none, or more than MAX_COUNT */
	ST_UNKNOWN_OPERATION,
	ST_BAD_TAG,  /* not answered yet, or not a tag */
	ST_IO_ERROR, /* the file: no space, perhaps */
};

/* What the client SENDs, and the server SENDs back. A program has them in its own
 * byte order; lesson.c makes the bytes of the message, and reads them. */
struct command {
	uint32_t operation; /* at byte 0 of the message */
	uint32_t tag;       /*  4: 0 to TAGS - 1; comes back in the reply */
	uint64_t first;     /*  8: block */
	uint32_t count;     /* 16: blocks */
	uint32_t rkey;      /* 20: of the client's buffer */
	uint64_t addr;      /* 24: and where it begins */
};                          /* 32: zeroes, for later; not looked at */
struct reply {
	uint32_t tag;    /* at byte 0 */
	uint32_t status; /* 4 */
};
enum { COMMAND_LEN = 64, REPLY_LEN = 8 };

void command_pack(uint8_t msg[COMMAND_LEN], const struct command *c);
struct command command_unpack(const uint8_t msg[COMMAND_LEN]);
void reply_pack(uint8_t msg[REPLY_LEN], const struct reply *r);
struct reply reply_unpack(const uint8_t msg[REPLY_LEN]);

#endif
