/* SPDX-License-Identifier: MIT */
/* 09_block_store/lesson.c - a command and a reply as bytes, in big endian. */
#include <endian.h>
#include <string.h>

#include "lesson.h"

_Static_assert(sizeof(struct command) == 32, "the message has no holes");
_Static_assert(sizeof(struct reply) == REPLY_LEN, "nor has this one");

/* From our byte order to big endian; to do it twice is to undo it. */
static struct command swapped(struct command c)
{
	c.operation = htobe32(c.operation);
	c.tag = htobe32(c.tag);
	c.first = htobe64(c.first);
	c.count = htobe32(c.count);
	c.rkey = htobe32(c.rkey);
	c.addr = htobe64(c.addr);
	return c;
}

void command_pack(uint8_t msg[COMMAND_LEN], const struct command *c)
{
	struct command big = swapped(*c);

	/* The same command once more changes no byte, at no moment. */
	memcpy(msg, &big, sizeof big);
	memset(msg + sizeof big, 0, COMMAND_LEN - sizeof big);
}

struct command command_unpack(const uint8_t msg[COMMAND_LEN])
{
	struct command big;

	memcpy(&big, msg, sizeof big);
	return swapped(big);
}

void reply_pack(uint8_t msg[REPLY_LEN], const struct reply *r)
{
	struct reply big = { .tag = htobe32(r->tag),
			     .status = htobe32(r->status) };

	memcpy(msg, &big, sizeof big);
}

struct reply reply_unpack(const uint8_t msg[REPLY_LEN])
{
	struct reply big;

	memcpy(&big, msg, sizeof big);
	return (struct reply){ .tag = be32toh(big.tag),
			       .status = be32toh(big.status) };
}
