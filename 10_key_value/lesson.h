/* SPDX-License-Identifier: MIT */
/* 10_key_value/lesson.h - what both sides must agree on. */
#ifndef LESSON_H
#define LESSON_H

#include <stdint.h>

#ifndef OPS
#define OPS 13 /* operations of each client in each part of act 2 */
#endif

enum {
	LESSON = 10,
	CLIENTS = 4, /* connections; client 4 is the one that stops */
	PARTS = 4,   /* of act 2: the server sleeps no longer than one part */
	SLOTS = 16,
	VALUE = 12, /* words of a value */
};

/* All that a PUT writes. The words of a value are equal here. */
struct record {
	uint64_t key;  /* 0: this slot was never used */
	uint64_t live; /* 0: deleted. The key keeps its slot. */
	uint64_t value[VALUE];
	uint64_t check; /* checksum() of all the rest */
};

/* version: counts up; even at rest; odd while a client writes, and then its top
 * byte says which one. It is changed by COMPARE_AND_SWAP only. */
struct slot {
	uint64_t version;
	struct record record;
};
_Static_assert(sizeof(struct slot) == 128, "two cache lines");

/* The server's memory. A client writes down in its log what it is going to
 * write into a slot, so that others can do it if it dies. */
struct shared {
	_Alignas(128) struct slot slot[SLOTS];
	_Alignas(128) struct record log[CLIENTS];
};

static inline uint64_t count_of(uint64_t version)
{
	return version << 8 >> 8;
}

static inline unsigned writer_of(uint64_t version)
{
	return (unsigned)(version >> 56);
}

/* Where the search for a key begins. A real one would mix the bits. */
static inline unsigned first_slot(uint64_t key)
{
	return (unsigned)(key % SLOTS);
}

/* FNV-1a, a word at a time. */
static inline uint64_t checksum(const struct record *r)
{
	const uint64_t *word = &r->key;
	uint64_t sum = 0xcbf29ce484222325;

	for (int i = 0; i < 2 + VALUE; i++)
		sum = (sum ^ word[i]) * 0x100000001b3;
	return sum;
}

/* value 0: deleted */
static inline struct record record_of(uint64_t key, uint64_t value)
{
	struct record r = { .key = key, .live = value != 0 };

	for (int i = 0; i < VALUE; i++)
		r.value[i] = value;
	r.check = checksum(&r);
	return r;
}

#define TORN (UINT64_MAX - 1) /* a value that nobody has PUT */

static inline uint64_t content(const struct record *r)
{
	if (r->key != 0 && r->check != checksum(r))
		return TORN;
	return r->live ? r->value[0] : 0;
}

#endif
