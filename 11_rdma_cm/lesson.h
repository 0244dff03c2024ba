/* SPDX-License-Identifier: MIT */
/* 11_rdma_cm/lesson.h - what both sides must agree on. server.py and client.py have the
 * same in lesson.py. */
#ifndef LESSON_H
#define LESSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	LESSON = 11,
	COUNT_MAX = 1000,   /* requests */
	BYTES_MAX = 65536,  /* in each */
	DATA_MAX = 1 << 20, /* bytes in all */
};

enum operation { OP_WRITE = 1, OP_READ };

/* What the client wants. It is the private data of its connection request, so the server
 * knows it before there is a connection. At byte 0 is the word "CM11". */
struct wish {
	uint32_t operation; /* at byte 4 */
	uint32_t count;     /*  8: of requests */
	uint32_t bytes;     /* 12: in each */
};
enum { WISH_LEN = 16 };

/* What both SEND when the connection stands. */
enum kind {
	OFFER = 1, /* server: here is my memory */
	DONE,      /* client: that many bytes are written, or read */
	RIGHT, /* server: so many are what they must be; I need you no more */
};
struct message {
	uint32_t kind; /* at byte 0 */
	uint32_t rkey; /* 4 */
	uint64_t addr; /* 8 */
	uint64_t len;  /* 16 */
};
enum { MESSAGE_LEN = 24 };

void wish_pack(uint8_t msg[WISH_LEN], const struct wish *w);
/* Checks all of it, and anybody may have sent it. If it is wrong: false, with the reason. */
bool wish_unpack(const void *msg, size_t len, struct wish *w, char why[56]);
/* Is it the only one that is served? 0 in only: any. If not: false, with the reason. */
bool wish_fits(const struct wish *w, const struct wish *only, char why[56]);
void message_pack(uint8_t msg[MESSAGE_LEN], const struct message *m);
struct message message_unpack(const uint8_t msg[MESSAGE_LEN]);

/* Byte k of what is written, or read. */
static inline char byte_at(size_t k)
{
	return (char)(k * 7 + k / 256 * 3);
}

#endif
