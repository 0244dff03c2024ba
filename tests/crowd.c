/* SPDX-License-Identifier: MIT */
/*
 * tests/crowd.c - many clients of lesson 09 at once; for tests/block-store.
 *
 * usage: crowd visitors [options]  three clients keep the server busy. A fourth hangs up
 *                with commands under way, a fifth comes, a sixth is stopped, a
 *                seventh comes. The three go on until the last one was answered.
 *        crowd sync MS [options]  one client waits for a FLUSH, whose fdatasync tests/disk.c
 *                holds until we remove its file, after MS or more: two others have answers meanwhile,
 *                each within a third of MS: who waits for the sync, too, waits for all of it
 *        crowd slow MS [options]  the disk is slow: three clients READ and WRITE, and wait
 *                for longer than MS; one comes meanwhile; all are answered
 *        crowd early [options]    an early WRITE, then a FLUSH, whose status is the
 *                exit status
 *
 * Each client is a process. Times are printed; PASS depends on who was answered when.
 */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../09_block_store/ask.h"

static struct client client;
static const struct options *opt;
static struct board { /* shared by all processes */
	atomic_bool over;
	atomic_int at_work;        /* clients that have had an answer */
	atomic_long answers;       /* of those that keep the server busy */
	_Atomic double slowest_ms; /* of their answers */
} * board;

/* In a process of its own: f, and then status 0. */
static pid_t in_child(void (*f)(void))
{
	pid_t pid = fork();

	if (pid < 0)
		die_err(errno, "fork");
	if (pid > 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	arrive(&client, opt);
	f();
	barrier(&client.ep);
	depart(&client);
	_exit(0);
}

static void ended(pid_t pid, const char *who)
{
	int status;

	if (waitpid(pid, &status, 0) != pid || status != 0)
		die("%s ended with 0x%x", who, (unsigned)status);
}

/* All tags under way; `operations` take turns. */
static void keep_busy(uint32_t last_operation)
{
	double began[TAGS] = { 0 }, slowest = 0;
	uint32_t n = 0;

	for (; n < TAGS || !board->over; n++) {
		uint32_t tag = n < TAGS ? n : finish(&client);
		double took = n < TAGS ? 0 : now_ms() - began[tag];

		if (n >= TAGS && client.status[tag] != ST_OK)
			die("%s", status_names[client.status[tag]]);
		if (n == TAGS)
			board->at_work++;
		board->answers += n >= TAGS;
		slowest = took > slowest ? took : slowest;
		began[tag] = now_ms();
		start(&client, tag, OP_READ + n % last_operation, n % 200,
		      1 + n % MAX_COUNT);
	}
	for (int t = 0; t < TAGS; t++)
		finish(&client);
	for (double old = board->slowest_ms; slowest > old;)
		if (atomic_compare_exchange_weak(&board->slowest_ms, &old,
						 slowest))
			break;
}

static void read_and_write(void)
{
	keep_busy(3); /* READ, WRITE, early WRITE */
}

static void only_read(void)
{
	keep_busy(1);
}

static void until_at_work(int n)
{
	double end = now_ms() + opt->wait_s * 1e3;

	while (board->at_work < n && now_ms() < end)
		usleep(1000);
	if (board->at_work < n)
		die("%d of %d clients were answered", board->at_work, n);
}

static void hang_up(void)
{
	for (uint32_t t = 0; t < TAGS; t++)
		start(&client, t, OP_WRITE, 0, MAX_COUNT);
	_exit(0);
}

static void be_stopped(void)
{
	call_ok(&client, OP_READ, 0, 1);
	raise(SIGSTOP);
}

static void ask_once(void)
{
	call_ok(&client, OP_READ, 0, 1);
}

/* How long until a client that comes now has its answer? */
static double answered_after(const char *who)
{
	double since = now_ms();

	ended(in_child(ask_once), who);
	return now_ms() - since;
}

static void visitors(void)
{
	pid_t busy[3];
	int status;

	for (int i = 0; i < 3; i++)
		busy[i] = in_child(read_and_write);
	until_at_work(3);
	ended(in_child(hang_up), "the fourth client");
	double fifth = answered_after("the fifth client");
	pid_t sixth = in_child(be_stopped);
	if (waitpid(sixth, &status, WUNTRACED) != sixth || !WIFSTOPPED(status))
		die("the sixth client ended with 0x%x", (unsigned)status);
	double seventh = answered_after("the seventh client");
	board->over = true;
	for (int i = 0; i < 3; i++)
		ended(busy[i], "a busy client");
	kill(sixth, SIGKILL);
	note("%ld answers, the slowest took %.0f ms; one client hung up: the "
	     "next had its answer after %.0f ms; one was stopped: the next "
	     "after %.0f ms",
	     board->answers, board->slowest_ms, fifth, seventh);
	say("PASS visitors");
}

static void flush(void)
{
	call_ok(&client, OP_FLUSH, 0, 0);
}

static void during_sync(double ms)
{
	char begun[256], held[264];
	double since = now_ms();
	pid_t waits = in_child(flush), busy[2];

	for (int i = 0; i < 2; i++)
		busy[i] = in_child(only_read);
	snprintf(begun, sizeof begun, "%s/fdatasync", getenv("DISK"));
	snprintf(held, sizeof held, "%s.do", begun);
	for (long n = -1; n < 0 || board->answers < n + 200; usleep(1000)) {
		if (n < 0 && access(begun, F_OK) == 0)
			n = board->answers;
		if (waitpid(-1, NULL, WNOHANG) != 0 ||
		    now_ms() - since > opt->wait_s * 1e3)
			die("%s", n < 0 ? "no fdatasync was called"
					: "a FLUSH waits, and nobody else is "
					  "answered");
	}
	until_at_work(2);
	while (now_ms() - since < ms)
		usleep(1000);
	if (waitpid(waits, NULL, WNOHANG) != 0)
		die("the FLUSH did not wait for fdatasync");
	if (unlink(held) != 0)
		die_err(errno, "%s", held);
	ended(waits, "the client that waits for its FLUSH");
	double took = now_ms() - since;
	board->over = true;
	for (int i = 0; i < 2; i++)
		ended(busy[i], "a client that READs");
	note("a FLUSH of %.0f ms, and meanwhile %ld answers, the slowest after "
	     "%.0f ms",
	     took, board->answers, board->slowest_ms);
	if (board->slowest_ms > ms / 3)
		die("a READ took %.0f ms", board->slowest_ms);
	say("PASS sync");
}

static void slow(double ms)
{
	pid_t busy[3];

	for (int i = 0; i < 3; i++)
		busy[i] = in_child(read_and_write);
	until_at_work(3);
	double fourth = answered_after("a client that comes then");
	board->over = true;
	for (int i = 0; i < 3; i++)
		ended(busy[i], "a client that waits");
	note("one more client had its answer after %.0f ms; %ld answers, "
	     "%.0f ms the slowest",
	     fourth, board->answers, board->slowest_ms);
	if (board->slowest_ms < ms)
		die("no answer took %.0f ms", ms);
	say("PASS slow");
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	bool sync = strcmp(what, "sync") == 0;
	bool takes_ms = sync || strcmp(what, "slow") == 0;

	if (argc < 2 + takes_ms)
		return 2;
	static struct options o;

	o = parse_args(argc - 1 - takes_ms, argv + 1 + takes_ms, "client",
		       LESSON);
	opt = &o;
	board = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (board == MAP_FAILED)
		die_err(errno, "mmap");
	if (strcmp(what, "visitors") == 0) {
		visitors();
	} else if (sync) {
		during_sync(strtod(argv[2], NULL));
	} else if (takes_ms) {
		slow(strtod(argv[2], NULL));
	} else if (strcmp(what, "early") == 0) {
		arrive(&client, opt);
		call_ok(&client, OP_WRITE_EARLY, 0, 1);
		enum status status = call(&client, OP_FLUSH, 0, 0);
		note("%s", status_names[status]);
		return (int)status;
	} else {
		return 2;
	}
	return 0;
}
