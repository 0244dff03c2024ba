/* SPDX-License-Identifier: MIT */
/* 10_key_value/lesson.h - what both sides must agree on. */
#ifndef LESSON_H
#define LESSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef OPS
#define OPS 20 /* operations of each client, in no order, in act 2 */
#endif

enum {
	LESSON = 10,
	CLIENTS = 4, /* connections; client 4 is the one that stops */
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

/* What a client is going to write, and where: so others can do it if the client
 * dies. A log is for one slot and one odd version, and for no other. */
struct log {
	uint64_t slot, version;
	struct record record;
	uint64_t check; /* log_check() of all the rest */
};

/* The server's memory. A client has two logs and writes them in turn. */
struct shared {
	_Alignas(128) struct slot slot[SLOTS];
	_Alignas(128) struct log log[CLIENTS][2];
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

/*
 * CRC-64, as NVMe uses it for blocks. It sees each mixture of two live records whose
 * words are equal, as here. Of other mixtures it misses one in 2^64 (tests/torn.c). The
 * polynomial is 0xad93d23594c93659; here its lowest bit is first. (NVM Command Set
 * Specification; Linux 6.1 lib/crc64.c, crc64_rocksoft_generic; newer: crc64_nvme)
 */
static inline uint64_t crc64(const void *p, size_t len)
{
	const uint64_t *word = p;
	uint64_t crc = UINT64_MAX;

	for (size_t i = 0; i < len / 8; i++) {
		crc ^= word[i];
		for (int bit = 0; bit < 64; bit++)
			crc = crc >> 1 ^ (crc & 1) * 0x9a6c9329ac4bc9b5;
	}
	return ~crc;
}

static inline uint64_t checksum(const struct record *r)
{
	return crc64(r, offsetof(struct record, check));
}

static inline uint64_t log_check(const struct log *l)
{
	return crc64(l, offsetof(struct log, check));
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
