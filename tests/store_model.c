/* SPDX-License-Identifier: MIT */
/*
 * tests/store_model.c - lesson 09 against a model, while the client or the server is
 * killed at random moments; for tests/block-store.
 *
 * usage: store_model COMMANDS KILLS FILE SERVER [options of the lessons]
 *
 * Each block that is written is filled with one word, which is larger than all
 * before it and has the block's number in its low bits. The model knows for each
 * block the last word that was sent, and the least that may be there: what was
 * answered, or read; after the server was killed, what was flushed. Writers do not
 * overlap here (act 4 of the lesson is for that), so every READ can be judged. The
 * model is in memory that outlives a killed client.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../09_block_store/ask.h"

enum { BITS = 16 }; /* of a word, for the number of its block */

static struct model {
	uint64_t words; /* that were ever used */
	long done;      /* commands */
	long unflushed; /* answered, then lost with the server: it is allowed */
	struct {
		uint64_t sent, least, answered, flushed;
		uint64_t told; /* answered, before the server was killed */
	} block[BLOCKS];
	char violation[128];
} * model;

/* What the client has under way, by tag. */
static struct under_way {
	uint32_t operation, first, count;
	uint64_t word;
	uint64_t answered[BLOCKS]; /* FLUSH: when it was sent */
} under_way[TAGS];
static int readers[BLOCKS]; /* of each block; -1: a writer */
static struct client client;
static bool is_parent;

static _Noreturn void violated(const char *what, uint32_t block, uint64_t word)
{
	snprintf(model->violation, sizeof model->violation,
		 "block %u: %s: 0x%llx, least 0x%llx, last 0x%llx", block, what,
		 (unsigned long long)word,
		 (unsigned long long)model->block[block].least,
		 (unsigned long long)model->block[block].sent);
	if (is_parent)
		die("%s", model->violation);
	_exit(3);
}

/* Is that content possible? */
static void judge(uint32_t b, const uint64_t *words)
{
	for (int k = 1; k < WORDS; k++)
		if (words[k] != words[0])
			violated("torn", b, words[k]);
	if (words[0] != 0 && (words[0] & ((1 << BITS) - 1)) != b)
		violated("another block's", b, words[0]);
	if (words[0] < model->block[b].least)
		violated("lost", b, words[0]);
	if (words[0] > model->block[b].sent)
		violated("never sent", b, words[0]);
	model->unflushed += words[0] < model->block[b].told;
	model->block[b].told = 0;
	model->block[b].least = words[0];
}

static bool is_free(uint32_t first, uint32_t count, bool write)
{
	for (uint32_t b = first; b < first + count; b++)
		if (readers[b] < 0 || (write && readers[b] > 0))
			return false;
	return true;
}

/* Sends a random command; false: what it would have used is in use. */
static bool begin(uint32_t tag, unsigned *seed)
{
	struct under_way *u = &under_way[tag];
	int dice = rand_r(seed) % 100;
	/* Few blocks, and often the same, so that commands meet. */
	uint32_t span = rand_r(seed) % 2 ? 16 : BLOCKS;

	u->operation = dice < 45   ? OP_READ
		       : dice < 70 ? OP_WRITE
		       : dice < 95 ? OP_WRITE_EARLY
				   : OP_FLUSH;
	u->count = u->operation == OP_FLUSH
			   ? 0
			   : 1 + (uint32_t)rand_r(seed) % MAX_COUNT;
	u->first = (uint32_t)rand_r(seed) % (span - u->count + 1);
	bool write = u->operation == OP_WRITE || u->operation == OP_WRITE_EARLY;
	if (!is_free(u->first, u->count, write))
		return false;

	u->word = write ? ++model->words << BITS : 0;
	for (uint32_t i = 0; i < u->count; i++) {
		uint32_t b = u->first + i;

		readers[b] = write ? -1 : readers[b] + 1;
		if (write)
			model->block[b].sent = u->word | b;
		for (int k = 0; k < WORDS; k++)
			client.buffer[tag][i][k] = u->word | b;
	}
	if (u->operation == OP_FLUSH)
		for (int b = 0; b < BLOCKS; b++)
			u->answered[b] = model->block[b].answered;
	start(&client, tag, u->operation, u->first, u->count);
	return true;
}

static void end(uint32_t tag)
{
	struct under_way *u = &under_way[tag];

	if (client.status[tag] != ST_OK)
		violated(status_names[client.status[tag]], u->first, u->word);
	if (u->operation == OP_FLUSH)
		for (int b = 0; b < BLOCKS; b++)
			if (model->block[b].flushed < u->answered[b])
				model->block[b].flushed = u->answered[b];
	for (uint32_t i = 0; i < u->count; i++) {
		uint32_t b = u->first + i;

		if (u->operation == OP_READ) {
			readers[b]--;
			judge(b, client.buffer[tag][i]);
		} else {
			readers[b] = 0;
			model->block[b].least = u->word | b;
			model->block[b].answered = u->word | b;
			/* Now the buffer is ours: what is left of it must not
			 * get there any more. */
			for (int k = 0; k < WORDS; k++)
				client.buffer[tag][i][k] = UINT64_MAX;
		}
	}
	model->done++;
}

/* In a child: what it says goes to a file, and it dies with us. */
static void be_quiet(int log)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	dup2(log, STDOUT_FILENO);
	dup2(log, STDERR_FILENO);
}

/* A client, in a process of its own, until so many commands are done. */
static _Noreturn void run_client(const struct options *opt, long commands,
				 unsigned seed, int log)
{
	int n = 0;

	be_quiet(log);
	alarm(600);
	arrive(&client, opt);
	for (bool free[TAGS] = { true, true, true, true };;) {
		for (uint32_t t = 0; t < TAGS && model->done < commands; t++)
			for (int tries = 0; free[t] && tries < 20; tries++)
				if (begin(t, &seed)) {
					free[t] = false;
					n++;
				}
		if (n == 0)
			break;
		uint32_t tag = finish(&client);
		end(tag);
		free[tag] = true;
		n--;
	}
	barrier(&client.ep);
	depart(&client);
	_exit(0);
}

static pid_t run_server(const char *server, const char *file,
			const struct options *opt, int log)
{
	const char *dev = getenv("DEV_SERVER");
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	be_quiet(log);
	execl(server, server, "-f", file, "-p", opt->tcp_port, "-t", "20",
	      dev ? "-d" : NULL, dev, (char *)NULL);
	_exit(127);
}

static void pause_ms(unsigned ms)
{
	poll(NULL, 0, (int)ms);
}

int main(int argc, char **argv)
{
	if (argc < 5)
		return 2;
	long commands = strtol(argv[1], NULL, 10);
	long kills = strtol(argv[2], NULL, 10);
	const char *file = argv[3], *server = argv[4];
	struct options opt = parse_args(argc - 4, argv + 4, "client", LESSON);
	unsigned seed = (unsigned)getpid();
	int killed[2] = { 0 }, status = 0;
	char name[256];

	alarm(0); /* each client has its own */
	snprintf(name, sizeof name, "%s.log", file);
	int log = open(name, O_WRONLY | O_CREAT | O_APPEND, 0600);
	if (log == -1)
		die_err(errno, "%s", name);
	note("seed %u", seed);
	model = mmap(NULL, sizeof *model, PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (model == MAP_FAILED)
		die_err(errno, "mmap");
	pid_t s = run_server(server, file, &opt, log);
	/* With each client a part of the commands, and then somebody dies. */
	for (long n = 1; n <= kills + 1; n++) {
		long until = commands * n / (kills + 1);
		bool last = n == kills + 1, kill_server = rand_r(&seed) % 2;
		unsigned extra = (unsigned)rand_r(&seed) % 30;
		pid_t c = fork();

		if (c == 0)
			run_client(&opt, last ? until : LONG_MAX,
				   (unsigned)rand_r(&seed), log);
		while (!last && model->done < until &&
		       waitpid(c, &status, WNOHANG) == 0)
			pause_ms(1);
		if (!last) {
			pause_ms(extra);
			kill(kill_server ? s : c, SIGKILL);
			killed[kill_server]++;
		}
		waitpid(c, &status, 0);
		if (model->violation[0])
			die("%s", model->violation);
		if (last ? status != 0 : !kill_server && !WIFSIGNALED(status))
			die("a client ended with 0x%x", status);
		if (waitpid(s, &status, last || !kill_server ? WNOHANG : 0) !=
		    (last || !kill_server ? 0 : s))
			die("the server ended with 0x%x", status);
		if (last || !kill_server)
			continue;
		s = run_server(server, file, &opt, log);
		/* What was answered and not flushed may be gone: a FLUSH
		 * later says nothing of it. */
		for (int b = 0; b < BLOCKS; b++) {
			model->block[b].told = model->block[b].answered;
			model->block[b].least = model->block[b].flushed;
			model->block[b].answered = model->block[b].flushed;
		}
	}
	kill(s, SIGKILL); /* and what does the file say? */
	waitpid(s, &status, 0);
	is_parent = true;
	int fd = open(file, O_RDONLY);
	for (int b = 0; b < BLOCKS; b++) {
		if (pread(fd, client.buffer, BLOCK, (off_t)b * BLOCK) != BLOCK)
			die_err(errno, "%s", file);
		judge((uint32_t)b, client.buffer[0][0]);
	}
	note("%ld words answered and not flushed were lost", model->unflushed);
	say("PASS %ld commands, %d clients and %d servers killed", model->done,
	    killed[0], killed[1]);
	return 0;
}
