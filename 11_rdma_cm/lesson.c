/* SPDX-License-Identifier: MIT */
/* 11_rdma_cm/lesson.c - private data and messages as bytes, in big endian. */
#include <endian.h>
#include <stdio.h>
#include <string.h>

#include "lesson.h"

static const char magic[4] = { 'C', 'M', '1', '1' };

static void put32(uint8_t *to, uint32_t n)
{
	n = htobe32(n);
	memcpy(to, &n, sizeof n);
}

static uint32_t get32(const uint8_t *from)
{
	uint32_t n;

	memcpy(&n, from, sizeof n);
	return be32toh(n);
}

void wish_pack(uint8_t msg[WISH_LEN], const struct wish *w)
{
	memcpy(msg, magic, sizeof magic);
	put32(msg + 4, w->operation);
	put32(msg + 8, w->count);
	put32(msg + 12, w->bytes);
}

bool wish_unpack(const void *msg, size_t len, struct wish *w, char why[56])
{
	const uint8_t *at = msg;

	if (!msg || len < WISH_LEN || memcmp(at, magic, sizeof magic) != 0) {
		snprintf(why, 56, "this is lesson 11, and you are not");
		return false;
	}
	*w = (struct wish){ get32(at + 4), get32(at + 8), get32(at + 12) };
	if (w->operation != OP_WRITE && w->operation != OP_READ)
		snprintf(why, 56, "no such operation: %u", w->operation);
	else if (w->count < 1 || w->count > COUNT_MAX)
		snprintf(why, 56, "1 to %d requests, not %u", COUNT_MAX,
			 w->count);
	else if (w->bytes < 1 || w->bytes > BYTES_MAX)
		snprintf(why, 56, "1 to %d bytes, not %u", BYTES_MAX, w->bytes);
	else if (w->count * w->bytes > DATA_MAX)
		snprintf(why, 56, "%u bytes in all are more than %d",
			 w->count * w->bytes, DATA_MAX);
	else
		return true;
	return false;
}

bool wish_fits(const struct wish *w, const struct wish *only, char why[56])
{
	if (only->operation && w->operation != only->operation)
		snprintf(why, 56, "only %s here (-o)",
			 only->operation == OP_WRITE ? "write" : "read");
	else if (only->count && w->count != only->count)
		snprintf(why, 56, "only %u requests here (-n), not %u",
			 only->count, w->count);
	else if (only->bytes && w->bytes != only->bytes)
		snprintf(why, 56, "only %u bytes in each here (-b), not %u",
			 only->bytes, w->bytes);
	else
		return true;
	return false;
}

void message_pack(uint8_t msg[MESSAGE_LEN], const struct message *m)
{
	uint64_t big[2] = { htobe64(m->addr), htobe64(m->len) };

	put32(msg, m->kind);
	put32(msg + 4, m->rkey);
	memcpy(msg + 8, big, sizeof big);
}

struct message message_unpack(const uint8_t msg[MESSAGE_LEN])
{
	uint64_t big[2];

	memcpy(big, msg + 8, sizeof big);
	return (struct message){ get32(msg), get32(msg + 4), be64toh(big[0]),
				 be64toh(big[1]) };
}
