/* SPDX-License-Identifier: MIT */
/*
 * 09_block_store/client.c - ask for blocks, and let the server fetch and bring.
 *
 * ask.c says what a command is and when it is done. Here are the acts of this
 * lesson: one command at a time; a reply that comes early; bad commands. two.c has
 * the last one: two clients at once, and one of them breaks the rules.
 */
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>

#include "ask.h"
#include "two.h"
#include "wire.h"

static struct client one;

/* Does the server have what fill() made? */
static void check_blocks(struct client *c, const char *act, uint64_t word)
{
	fill(c, 0, 0);
	call_ok(c, OP_READ, 0, MAX_COUNT);
	for (int i = 0; i < MAX_COUNT; i++)
		for (int k = 0; k < WORDS; k++)
			if (c->buffer[0][i][k] != word + (uint64_t)i)
				die("%s: the blocks are not what was written",
				    act);
}

static void write_and_read(struct client *c)
{
	for (uint64_t n = 1; n <= 10; n++) {
		fill(c, 0, n << 32);
		call_ok(c, OP_WRITE, 0, MAX_COUNT);
		check_blocks(c, "act 1", n << 32);
	}
	call_ok(c, OP_FLUSH, 0, 0);
	say("act 1: WRITE, READ, FLUSH: %d blocks are what was written",
	    MAX_COUNT);
}

static void *free_the_wire(void *cut)
{
	sem_wait(cut);
	poll(NULL, 0, 200);
	wire_free();
	return NULL;
}

/* DOC: early. For a while only our SENDs leave: the answer of our NIC to the
 * server's READ is lost. The reply says that the buffer is ours again. So we use
 * the buffer, at once. */
static void early_reply(struct client *c)
{
	uint64_t word = 100ULL << 32;
	pthread_t thread;
	sem_t cut;

	fill(c, 0, word);
	sem_init(&cut, 0, 0);
	/* First: a new thread may take longer than the READ is repeated. */
	int rc = pthread_create(&thread, NULL, free_the_wire, &cut);
	if (rc)
		die_err(rc, "pthread_create");
	wire_cut(&c->ep);
	start(c, 0, OP_WRITE_EARLY, 0, MAX_COUNT);
	sem_post(&cut);
	finish(c);
	fill(c, 0, 0);
	rc = pthread_join(thread, NULL);
	if (rc)
		die_err(rc, "pthread_join");
	check_blocks(c, "act 2", word);
}

/* DOC: refused. Each bad command gets its status, and the connection goes on. */
static void bad_commands(struct client *c)
{
	static const struct {
		const char *what;
		uint32_t operation, count;
		uint64_t first;
		enum status status;
	} bad[] = {
		{ .what = "past the end",
		  .operation = OP_READ,
		  .count = 2,
		  .first = BLOCKS - 1,
		  .status = ST_NO_SUCH_BLOCK },
		{ .what = "first + count is 0 again",
		  .operation = OP_READ,
		  .count = 1,
		  .first = UINT64_MAX,
		  .status = ST_NO_SUCH_BLOCK },
		{ .what = "count 0",
		  .operation = OP_WRITE,
		  .count = 0,
		  .status = ST_BAD_COUNT },
		{ .what = "count 9",
		  .operation = OP_WRITE,
		  .count = MAX_COUNT + 1,
		  .status = ST_BAD_COUNT },
		{ .what = "operation 77",
		  .operation = 77,
		  .count = 1,
		  .status = ST_UNKNOWN_OPERATION },
	};
	int refused = 0;

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		enum status status =
			call(c, bad[i].operation, bad[i].first, bad[i].count);
		if (status != bad[i].status)
			die("act 3: %s: %s", bad[i].what, status_names[status]);
		say("act 3: %s: %s", bad[i].what, status_names[status]);
	}
	/* The first must still be under way when the second is looked at. They are
	 * alike: the second is written over the first, which may not have left. */
	for (int tries = 0; refused == 0 && tries < 200; tries++) {
		start(c, 0, OP_WRITE, 0, MAX_COUNT);
		start(c, 0, OP_WRITE, 0, MAX_COUNT);
		for (int i = 0; i < 4; i++) { /* two SENDs, two replies */
			bool reply;
			uint32_t tag = take(c, &reply);
			refused += reply && c->status[tag] == ST_BAD_TAG;
		}
	}
	if (refused == 0)
		die("act 3: a tag may be used twice");
	say("act 3: a tag used twice: %s", status_names[ST_BAD_TAG]);
}

int main(int argc, char **argv)
{
	struct options opt = parse_args(argc, argv, "client", LESSON);

	arrive(&one, &opt);
	write_and_read(&one);
	early_reply(&one);
	say("act 2: an early reply, and the buffer used again: ok");
	bad_commands(&one);
	two_clients(&one, &opt);
	say("act 4: two clients, %d tags each: no block is torn", TAGS);
	say("act 4: a wrong key and a revoked one: not our connection");
	barrier(&one.ep); /* goodbye: the server answers */
	depart(&one);
	say("PASS every block was whole, and what was written");
	return 0;
}
