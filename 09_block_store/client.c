/* SPDX-License-Identifier: MIT */
/*
 * 09_block_store/client.c - ask for blocks, and let the server fetch and bring.
 *
 * ask.c says what a command is and when it is done. Here are the acts of this
 * lesson: one command at a time; a reply that comes early; bad commands; two
 * clients at once, and one of them breaks the rules. With -o the program is a tool
 * instead: it copies blocks from standard input or to standard output.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ask.h"
#include "wire.h"

enum { ROUNDS = 45, SHARED = 16 };

static struct client one, two; /* as in two programs; two has a thread */

/* Each word of block i is word + i: half a block would show. */
static void fill(struct client *c, uint32_t tag, uint64_t word)
{
	for (int i = 0; i < MAX_COUNT; i++)
		for (int k = 0; k < WORDS; k++)
			c->buffer[tag][i][k] = word + (uint64_t)i;
}

/* Does the server have what fill() made? */
static void compare(struct client *c, const char *act, uint64_t word)
{
	fill(c, 0, 0);
	must(c, OP_READ, 0, MAX_COUNT);
	for (int i = 0; i < MAX_COUNT; i++)
		for (int k = 0; k < WORDS; k++)
			if (c->buffer[0][i][k] != word + (uint64_t)i)
				die("%s: the blocks are not what was written",
				    act);
}

static void act_1(struct client *c)
{
	for (uint64_t n = 1; n <= 10; n++) {
		fill(c, 0, n << 32);
		must(c, OP_WRITE, 0, MAX_COUNT);
		compare(c, "act 1", n << 32);
	}
	must(c, OP_FLUSH, 0, 0);
	say("act 1: WRITE, READ, FLUSH: %d blocks are what was written",
	    MAX_COUNT);
}

static void *free_the_wire(void *ms)
{
	poll(NULL, 0, *(int *)ms);
	wire_free();
	return NULL;
}

/* DOC: early. Our wire is slow: the command leaves after ms. Before that we cut the
 * wire for all that comes behind the command: the answer of our NIC to the server's
 * READ is lost, for a while. The reply says that the buffer is ours again. So we use
 * the buffer, at once. False: the cut came too late to prove anything. */
static bool act_2(struct client *c, int ms)
{
	uint64_t word = 100ULL << 32;
	bool ours = wire_slow(&c->ep, (unsigned)ms);
	double since = now_ms();
	pthread_t thread;

	fill(c, 0, word);
	start(c, 0, OP_WRITE_EARLY, 0, MAX_COUNT);
	if (ours && !wire_cut(&c->ep))
		die("act 2: the wire could not be cut");
	int late = (int)(now_ms() - since);
	/* Our NIC is asked at ms, and its answers are lost until 2 ms. */
	int rest = late < 2 * ms ? 2 * ms - late : 0;
	int rc = pthread_create(&thread, NULL, free_the_wire, &rest);
	if (rc)
		die_err(rc, "pthread_create");
	finish(c);
	fill(c, 0, 0);
	pthread_join(thread, NULL);
	compare(c, "act 2", word);
	return !ours || late < ms;
}

/* DOC: refused. Each bad command gets its status, and the connection goes on. */
static void act_3(struct client *c)
{
	static const struct {
		const char *what;
		uint32_t operation, count;
		uint64_t first;
		enum status status;
	} bad[] = {
		{ "past the end", OP_READ, 2, BLOCKS - 1, ST_NO_SUCH_BLOCK },
		{ "first + count is 0 again", OP_READ, 1, UINT64_MAX,
		  ST_NO_SUCH_BLOCK },
		{ "count 0", OP_WRITE, 0, 0, ST_BAD_COUNT },
		{ "count 9", OP_WRITE, MAX_COUNT + 1, 0, ST_BAD_COUNT },
		{ "operation 77", 77, 1, 0, ST_UNKNOWN_OPERATION },
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

static atomic_bool alone; /* two is done */

/* The last byte of each word is the block's number, if it was ever written. */
static void look(uint64_t block[][WORDS], uint64_t first, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		for (int k = 0; k < WORDS; k++)
			if (block[i][k] != block[i][0] ||
			    (block[i][0] && block[i][0] % 256 != first + i))
				die("act 4: a block is not as it was written");
}

/* DOC: many-tags. All tags are under way, all the time. Whichever is done first
 * is looked at, and used again. Both clients use the same blocks. */
static void act_4(struct client *c, uint64_t number)
{
	uint64_t began[TAGS] = { 0 }, first[TAGS] = { 0 };
	uint32_t came[TAGS] = { 0 }; /* blocks, with a READ */
	unsigned seed = (unsigned)number;
	int overtook = 0;

	for (uint64_t n = 1; n <= ROUNDS || (c == &one && !alone); n++) {
		uint32_t tag = n <= TAGS ? (uint32_t)n - 1 : finish(c);

		for (int t = 0; t < TAGS; t++)
			overtook += began[t] < began[tag];
		if (n > TAGS && c->status[tag] != ST_OK)
			die("act 4: %s", status_names[c->status[tag]]);
		look(c->buffer[tag], first[tag], came[tag]);
		uint32_t operation = OP_READ + (uint32_t)rand_r(&seed) % 3;
		uint32_t count = 1 + (uint32_t)rand_r(&seed) % MAX_COUNT;
		began[tag] = n;
		first[tag] = (uint64_t)rand_r(&seed) % (SHARED + 1 - count);
		came[tag] = operation == OP_READ ? count : 0;
		fill(c, tag, number << 48 | n << 8 | first[tag]);
		start(c, tag, operation, first[tag], count);
	}
	for (int t = 0; t < TAGS; t++)
		finish(c);
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
		act_4(&two, 2);
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

static unsigned number(const char *what, const char *text, unsigned min,
		       unsigned max)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || n < min || n > max)
		die("%s: a number from %u to %u, not \"%s\"", what, min, max,
		    text);
	return (unsigned)n;
}

/* Whole blocks: the last one is filled up with zeroes. `out` is for data: say()
 * prints to standard output. */
static void tool(struct client *c, const char *what, unsigned first,
		 unsigned count, unsigned size, FILE *out)
{
	static char text[MAX_COUNT * BLOCK];
	bool write = strcmp(what, "write") == 0;
	bool read = strcmp(what, "read") == 0;

	if (!write && !read && strcmp(what, "verify") != 0)
		die("-o: read, write or verify, not \"%s\"", what);
	for (unsigned n; first < BLOCKS && count > 0; first += n, count -= n) {
		n = size < count ? size : count;
		n = n < BLOCKS - first ? n : BLOCKS - first;
		size_t got =
			read ? n * BLOCK : fread(text, 1, n * BLOCK, stdin);
		if (got == 0)
			break;
		n = (unsigned)(got + BLOCK - 1) / BLOCK;
		memset(text + got, 0, sizeof text - got);
		memcpy(c->buffer[0], text, sizeof text);
		must(c, write ? OP_WRITE : OP_READ, first, n);
		if (read && fwrite(c->buffer[0], BLOCK, n, out) != n)
			die_err(errno, "standard output");
		if (!read && memcmp(c->buffer[0], text, got) != 0)
			die("verify: block %u or one of the next %u differs",
			    first, n - 1);
	}
	if (!read && getchar() != EOF)
		die("%s: standard input is longer", what);
	must(c, OP_FLUSH, 0, 0);
	if (fclose(out) == EOF)
		die_err(errno, "standard output");
}

int main(int argc, char **argv)
{
	const char *what = NULL, *first = "0", *count = "256", *size = "8";
	struct own_option own[] = {
		{ 'o', "read, write or verify: be a tool", &what },
		{ 'b', "first block (0)", &first },
		{ 'n', "blocks at most (all)", &count },
		{ 's', "blocks in a command (8)", &size },
		{ 0 },
	};
	struct options opt = parse_args_and(argc, argv, "client", LESSON, own);

	arrive(&one, &opt);
	if (what) {
		/* Standard output is for data, so say() gets standard error. */
		FILE *out = fdopen(dup(STDOUT_FILENO), "w");
		if (!out || dup2(STDERR_FILENO, STDOUT_FILENO) == -1)
			die_err(errno, "dup");
		tool(&one, what, number("-b", first, 0, BLOCKS - 1),
		     number("-n", count, 1, BLOCKS),
		     number("-s", size, 1, MAX_COUNT), out);
	} else {
		act_1(&one);
		for (int ms = 60; !act_2(&one, ms) && ms < 600; ms *= 2)
			note("act 2: the wire was cut too late: again");
		say("act 2: an early reply, and the buffer used again: ok");
		act_3(&one);
		pthread_t thread;
		int rc = pthread_create(&thread, NULL, second_client, &opt);
		if (rc)
			die_err(rc, "pthread_create");
		act_4(&one, 1);
		pthread_join(thread, NULL);
		say("act 4: two clients, %d tags each: no block is torn", TAGS);
		say("act 4: a wrong key and a revoked one: one client lost");
	}
	barrier(&one.ep); /* goodbye: the server answers */
	depart(&one);
	say("PASS %s",
	    what ? what : "every block was whole, and what was written");
	return 0;
}
