/* SPDX-License-Identifier: MIT */
/* 09_block_store/lesson.h - what both sides must agree on. */
#ifndef LESSON_H
#define LESSON_H

#include <endian.h>
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
	OP_FLUSH,       /* what we were answered before survives a crash */
};

/* What the client SENDs. Numbers are in big endian, there are no holes. */
struct command {
	uint32_t operation; /* at byte 0 */
	uint32_t tag;       /*  4: 0 to TAGS - 1; comes back in the reply */
	uint64_t first;     /*  8: block */
	uint32_t count;     /* 16: blocks */
	uint32_t rkey;      /* 20: of the client's buffer */
	uint64_t addr;      /* 24: and where it begins */
	uint8_t zero[32];   /* 32: for later: 0, and not looked at */
};
_Static_assert(sizeof(struct command) == 64, "the message has no holes");

enum status {
	ST_OK,
	ST_NO_SUCH_BLOCK, /* beyond the end of the store */
	ST_BAD_COUNT,     /* none, or more than MAX_COUNT */
	ST_UNKNOWN_OPERATION,
	ST_BAD_TAG,  /* not answered yet, or not a tag */
	ST_IO_ERROR, /* the file: no space, perhaps */
};

/* From our byte order to big endian; to do it twice is to undo it. */
static inline struct command big_endian(struct command c)
{
	c.operation = htobe32(c.operation);
	c.tag = htobe32(c.tag);
	c.first = htobe64(c.first);
	c.count = htobe32(c.count);
	c.rkey = htobe32(c.rkey);
	c.addr = htobe64(c.addr);
	return c;
}

/* And what the server SENDs back, in big endian, too. */
struct reply {
	uint32_t tag;
	uint32_t status;
};

#endif
