/* SPDX-License-Identifier: MIT */
/*
 * 09_block_store/two.c - act 4: two clients at once, as in two programs.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "two.h"

enum { ROUNDS = 50, SHARED = 16 };

static struct client two; /* has a thread */
static atomic_bool alone; /* two is done */

/* The lowest byte of each word is the block's number, if it was ever written. */
static void look(uint64_t block[][WORDS], uint64_t first, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		for (int k = 0; k < WORDS; k++)
			if (block[i][k] != block[i][0] ||
			    (block[i][0] && block[i][0] % 256 != first + i))
				die("act 4: a block is not as it was written");
}

static void done(struct client *c, uint32_t tag, uint64_t first, uint32_t came)
{
	if (c->status[tag] != ST_OK)
		die("act 4: %s", status_names[c->status[tag]]);
	look(c->buffer[tag], first, came);
}

/* DOC: many-tags. All tags are under way, all the time. Whichever is done first
 * is looked at, and used again. Both clients use the same blocks. */
static void work_with_all_tags(struct client *c, uint64_t number)
{
	uint64_t began[TAGS] = { 0 }, first[TAGS] = { 0 };
	uint32_t came[TAGS] = { 0 }; /* blocks, with a READ */
	unsigned seed = (unsigned)number;
	int overtook = 0;

	for (uint64_t n = 1; n <= ROUNDS || (number == 1 && !alone); n++) {
		uint32_t tag = n <= TAGS ? (uint32_t)n - 1 : finish(c);

		for (int t = 0; t < TAGS; t++)
			overtook += began[t] < began[tag];
		if (n > TAGS)
			done(c, tag, first[tag], came[tag]);
		uint32_t operation = OP_READ + (uint32_t)rand_r(&seed) % 3;
		uint32_t count = 1 + (uint32_t)rand_r(&seed) % MAX_COUNT;
		began[tag] = n;
		first[tag] = (uint64_t)rand_r(&seed) % (SHARED + 1 - count);
		came[tag] = operation == OP_READ ? count : 0;
		fill(c, tag, number << 48 | n << 8 | first[tag]);
		start(c, tag, operation, first[tag], count);
	}
	for (int t = 0; t < TAGS; t++) {
		uint32_t tag = finish(c);
		done(c, tag, first[tag], came[tag]);
	}
	if (overtook == 0)
		die("act 4: no reply overtook another");
	note("client %d: %d times overtaken", (int)number, overtook);
}

/* The server hangs up on us, and only on us. */
static void be_lost(struct client *c, uint32_t operation)
{
	struct pollfd p = { .fd = c->ep.sock, .events = POLLIN };
	char byte;

	start(c, 0, operation, 0, 1);
	if (poll(&p, 1, c->ep.opt->wait_s * 1000) <= 0 ||
	    recv(c->ep.sock, &byte, 1, 0) > 0)
		die("act 4: a wrong key, and the server does not hang up");
	depart(c);
}

/* DOC: wrong-keys. Only our own NIC knows whether a key is right. When it says no,
 * the connection is over. */
static void *second_client(void *opt)
{
	for (int revoked = 0; revoked < 2; revoked++) {
		arrive(&two, opt);
		work_with_all_tags(&two, 2);
		if (!revoked) {
			two.rkey++;
		} else {
			int rc = ibv_dereg_mr(two.buffers);
			if (rc)
				die_err(rc, "ibv_dereg_mr");
			two.buffers = NULL;
		}
		be_lost(&two, revoked ? OP_READ : OP_WRITE);
	}
	alone = true;
	return NULL;
}

void two_clients(struct client *one, const struct options *opt)
{
	pthread_t thread;
	int rc = pthread_create(&thread, NULL, second_client, (void *)opt);

	if (rc)
		die_err(rc, "pthread_create");
	work_with_all_tags(one, 1);
	rc = pthread_join(thread, NULL);
	if (rc)
		die_err(rc, "pthread_join");
}
