/* SPDX-License-Identifier: MIT */
/*
 * tests/dies.c - lesson 10: a client is killed with SIGKILL while it PUTs. Another one
 * uses the same key all the time, must not wait for ever, and all that both found
 * must be in one order.
 *
 * usage: dies ROUNDS   in the lab; the devices are DEV_SERVER and DEV_CLIENT
 *
 * Three processes: the first kills; the second is the server and the client that goes
 * on; the third is the client that is killed. Each opens the devices for itself.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "../10_key_value/history.h"
#include "../10_key_value/table.h"

enum { MOST = 4096, KEY = 1, VICTIM = 1, OTHER = 2, CUT_OFF = 3 };

/* Shared by the processes. */
static struct common {
	_Atomic uint64_t clock;
	_Atomic int n[2];
	_Atomic bool dead;
	struct op op[2][MOST];
} * both;

static struct shared table;
static struct own own;
static struct ep served[2]; /* the server's ends */

static struct options options_of(const char *dev)
{
	char *argv[] = { "dies", NULL };
	struct options o = parse_args(1, argv, "dies", LESSON);

	o.dev = getenv(dev);
	o.wait_s = 2;
	return o;
}

/* A PUT, or a GET, written down where the others see it. */
static void operate(struct worker *w, bool puts)
{
	int me = (int)w->id - 1, n = both->n[me];
	struct op *op = &both->op[me][n];
	uint64_t value = (uint64_t)w->id << 32 | (unsigned)(n + 1);

	if (n == MOST)
		die("too many operations");
	*op = (struct op){ KEY, ANY, value, ++both->clock, NEVER };
	both->n[me]++;
	for (;;) {
		unsigned s = find(w, KEY);
		uint64_t found = content(&w->own->seen);

		if (!puts) {
			op->found = op->after = found;
			break;
		}
		w->own->mine = record_of(KEY, value);
		if (change(w, s, w->own->before)) {
			op->found = found;
			break;
		}
	}
	op->end = ++both->clock;
}

static void connect_to(struct ep *ep, unsigned access,
		       const struct qp_info *peer)
{
	qp_to_init(ep, access);
	qp_to_rtr(ep, peer);
	qp_to_rts(ep);
}

static void be_worker(struct worker *w, unsigned id, struct ep ep,
		      struct qp_info server)
{
	w->id = w->seed = id;
	w->seed += (unsigned)getppid() + (unsigned)getpid();
	w->rests = true;
	w->ep = ep;
	w->server = server;
	w->own = &own;
	w->mr = ibv_reg_mr(ep.pd, &own, sizeof own, IBV_ACCESS_LOCAL_WRITE);
	if (!w->mr)
		die_err(errno, "ibv_reg_mr");
	connect_to(&w->ep, 0, &server);
}

static const struct ibv_qp_cap cap = { 3, 1, 1, 1, 0 };

/* The client that is killed. */
static _Noreturn void victim(int sock)
{
	static struct worker w;
	struct options opt = options_of("DEV_CLIENT");
	struct ep ep = ep_open(&opt, cap);
	struct qp_info mine = own_info(&ep), server;

	ep.sock = sock;
	tcp_send(&ep, &mine, sizeof mine, "to the server");
	tcp_recv(&ep, &server, sizeof server, "from the server");
	be_worker(&w, VICTIM, ep, server);
	for (;;)
		operate(&w, true);
}

/* The server's program: asleep, unless it is asked to cut somebody off. */
static void *serve(void *arg)
{
	int sock = *(int *)arg;
	char byte;

	while (read(sock, &byte, 1) == 1) {
		struct ep *ep = &served[byte - '1'];
		int rc = ep->qp ? ibv_destroy_qp(ep->qp) : 0;

		if (rc)
			die_err(rc, "ibv_destroy_qp");
		ep->qp = NULL;
		if (write(sock, &byte, 1) != 1)
			die_err(errno, "write");
	}
	return NULL;
}

/* The server, and the client that goes on. Ends with status 0, or CUT_OFF if
 * somebody was, or 1 after a FAIL line. */
static _Noreturn void survivor(int sock)
{
	static struct worker w;
	struct options to_serve = options_of("DEV_SERVER"),
		       opt = options_of("DEV_CLIENT");
	unsigned access = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE |
			  IBV_ACCESS_REMOTE_ATOMIC;
	struct ibv_mr *mr;
	struct qp_info peer;
	int pair[2];
	pthread_t t;

	served[0] = ep_open(&to_serve, cap);
	served[1] = ep_second(&served[0], cap);
	mr = ibv_reg_mr(served[0].pd, &table, sizeof table,
			(int)access | IBV_ACCESS_LOCAL_WRITE);
	if (!mr || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == -1)
		die_err(errno, "the table");
	struct ep ep = ep_open(&opt, cap);
	struct qp_info info[2] = { own_info(&served[0]), own_info(&served[1]) };
	for (int i = 0; i < 2; i++) {
		info[i].addr = (uintptr_t)&table;
		info[i].rkey = mr->rkey;
	}
	served[0].sock = sock;
	tcp_recv(&served[0], &peer, sizeof peer, "from the victim");
	connect_to(&served[0], access, &peer);
	tcp_send(&served[0], &info[0], sizeof info[0], "to the victim");
	peer = own_info(&ep);
	connect_to(&served[1], access, &peer);
	ep.sock = pair[0];
	if (pthread_create(&t, NULL, serve, &pair[1]) != 0)
		die("pthread_create");
	be_worker(&w, OTHER, ep, info[1]);

	for (int left = 10; left > 0; left -= both->dead) {
		operate(&w, both->n[1] % 2);
		usleep(500);
	}
	struct history h[2] = { { both->op[0], both->n[0] },
				{ both->op[1], both->n[1] } };
	uint64_t value = 0;
	const struct op *o = misfit_of_any(h, 2, &value);
	if (o)
		die("no order: the key holds %#llx, and %#llx was found",
		    (unsigned long long)value, (unsigned long long)o->found);
	if (table.slot[first_slot(KEY)].version % 2 != 0)
		die("the slot is still odd");
	_exit(served[0].qp ? 0 : CUT_OFF);
}

int main(int argc, char **argv)
{
	int rounds = argc == 2 ? (int)strtol(argv[1], NULL, 10) : 1;
	int cut_off = 0, ops = 0;
	unsigned seed = (unsigned)getpid();

	options_of("DEV_CLIENT"); /* who we are, for each line we say */
	alarm(0);
	both = mmap(NULL, sizeof *both, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (both == MAP_FAILED)
		die_err(errno, "mmap");
	for (int i = 0; i < rounds; i++) {
		int sock[2], status;

		memset(both, 0, sizeof *both);
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, sock) == -1)
			die_err(errno, "socketpair");
		pid_t a = fork();
		if (a == 0)
			survivor(sock[0]);
		pid_t b = fork();
		if (b == 0)
			victim(sock[1]);
		if (a == -1 || b == -1)
			die_err(errno, "fork");
		for (int ms = 0; both->n[0] < 3 && ms < 5000; ms++)
			usleep(1000);
		usleep((unsigned)(rand_r(&seed) % 20000));
		kill(b, SIGKILL);
		waitpid(b, &status, 0);
		if (!WIFSIGNALED(status))
			die("round %d: the victim ended by itself", i + 1);
		both->dead = true;
		waitpid(a, &status, 0);
		close(sock[0]);
		close(sock[1]);
		if (!WIFEXITED(status) || (WEXITSTATUS(status) != 0 &&
					   WEXITSTATUS(status) != CUT_OFF))
			die("round %d: the other client did not go on", i + 1);
		cut_off += WEXITSTATUS(status) == CUT_OFF;
		ops += both->n[0] + both->n[1];
	}
	if (cut_off == 0)
		die("%d rounds, and no client died in the middle of a PUT",
		    rounds);
	note("%d rounds, %d operations, in the middle of a PUT %d times",
	     rounds, ops, cut_off);
	say("PASS a client that is killed stops nobody");
	return 0;
}
