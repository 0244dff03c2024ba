/* SPDX-License-Identifier: MIT */
/*
 * tests/dies.c - lesson 10: clients die in the middle of a PUT, or of a rescue, or come
 * back from there. The others must not wait for ever, and all that was found must be in
 * one order.
 *
 * usage: dies kill ROUNDS     a client is killed at random moments, while another one
 *                             uses the same key
 *        dies rescue ROUNDS   a client dies in its PUT; the one that ends this PUT dies
 *                             at each moment of that, in turn; a third goes on
 *        dies back            a client is cut off in its PUT, and is back at each moment
 *                             of the rescue
 *
 * In the lab; the devices are DEV_SERVER and DEV_CLIENT. A client that dies is a process
 * of its own, which opens the device for itself.
 */
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "common.h"
#include "post.h"

/* A moment is between two requests of a client; a READ of the logs is two. When none is
 * left, it is here. */
static int left = -1; /* requests before the moment; -1: it is not waited for */
static void (*at_moment)(void);

static void one_less(void)
{
	if (left >= 0 && left-- == 0)
		at_moment();
}

static void send_one(struct ep *ep, struct ibv_send_wr wr)
{
	wr.next = NULL;
	wr.send_flags = IBV_SEND_SIGNALED;
	post(ep, &wr);
	expect_completion(ep, "one of a list");
}

static void post_until(struct ep *ep, struct ibv_send_wr *list)
{
	for (; left >= 0; list = list->next) {
		if (list->opcode == IBV_WR_RDMA_READ &&
		    list->sg_list->length > 128) {
			struct ibv_sge *sge = list->sg_list, half = *sge;
			struct ibv_send_wr first = *list;

			one_less();
			half.length -= 100; /* in the second log */
			first.sg_list = &half;
			send_one(ep, first);
			sge->addr += half.length;
			sge->length -= half.length;
			list->wr.rdma.remote_addr += half.length;
		}
		one_less();
		if (!list->next)
			break;
		send_one(ep, *list);
	}
	post(ep, list);
}

static void send_until(struct ep *ep, const void *p, size_t n, const char *what)
{
	one_less();
	tcp_send(ep, p, n, what);
}

static void recv_until(struct ep *ep, void *p, size_t n, const char *what)
{
	struct pollfd here = { .fd = ep->sock, .events = POLLIN };

	poll(&here, 1, 2000); /* so the server has done it */
	one_less();
	tcp_recv(ep, p, n, what);
}

/* So table.c uses these. Two clients are killed; the third goes on. */
#define MAY_STOP(id) ((id) <= 2)
#define post post_until
#define tcp_send send_until
#define tcp_recv recv_until
#include "../10_key_value/history.h"
#include "../10_key_value/table.c" // NOLINT: its functions call ours
#undef post
#undef tcp_send
#undef tcp_recv

enum { VICTIM = 1, RESCUER, THIRD, ALL = THIRD }; /* numbers of clients */
enum {
	MOST = 4096,
	KEY = 1,
	OTHER_KEY = 2,
	IN_RESCUE = 10, /* moments, before and after each of 9 requests */
	CUT_OFF = 3,    /* a status */
};

/* Shared by the processes. */
static struct common {
	_Atomic uint64_t clock;
	_Atomic int n[ALL + 1];
	_Atomic int dead;
	struct op op[ALL + 1][MOST]; /* the last: of a second life */
} * all;

static struct shared table;
static struct ep server_device, served[ALL]; /* and its ends */
static struct ibv_mr *table_mr;
static const unsigned rights = IBV_ACCESS_REMOTE_READ |
			       IBV_ACCESS_REMOTE_WRITE |
			       IBV_ACCESS_REMOTE_ATOMIC;
static const struct ibv_qp_cap cap = {
	.max_send_wr = 3, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1
};

static struct options options_of(const char *dev)
{
	char *argv[] = { "dies", NULL };
	struct options o = parse_args(1, argv, "dies", LESSON);

	o.dev = getenv(dev);
	o.wait_s = 2;
	return o;
}

/* ---- operations -------------------------------------------------------- */

static struct op *begin(int life, uint64_t key)
{
	struct op *op = &all->op[life][all->n[life]];

	if (all->n[life] == MOST)
		die("too many operations");
	*op = (struct op){ .key = key,
			   .found = ANY,
			   .after = (uint64_t)(life + 1) << 32 |
				    (unsigned)(all->n[life] + 1),
			   .start = ++all->clock,
			   .end = NEVER };
	all->n[life]++;
	return op;
}

/* A PUT, or a GET, written down where the others see it. moments: of the change, after
 * which the client stops; -1: it does not. */
static void operate(struct worker *w, int life, uint64_t key, bool puts,
		    int moments)
{
	struct op *op = begin(life, key);
	uint64_t value = op->after;

	for (;;) {
		unsigned s = find(w, key);
		uint64_t found = content(&w->own->seen);

		if (!puts) {
			op->found = op->after = found;
			break;
		}
		w->own->mine.record = record_of(key, value);
		left = moments;
		if (change(w, s, w->own->before)) {
			op->found = found;
			break;
		}
	}
	op->end = ++all->clock;
}

static void judge(void)
{
	struct history h[ALL + 1];
	uint64_t value = 0;

	for (int i = 0; i <= ALL; i++)
		h[i] = (struct history){ all->op[i], all->n[i] };
	const struct op *o = misfit_of_any(h, ALL + 1, &value);
	if (o)
		die("no order: key %d holds %#llx, and %#llx was found",
		    (int)o->key, (unsigned long long)value,
		    (unsigned long long)o->found);
	for (int i = 0; i < SLOTS; i++)
		if (table.slot[i].version % 2 != 0)
			die("slot %d is still odd", i);
}

/* ---- connections ------------------------------------------------------- */

static void connect_to(struct ep *ep, unsigned access,
		       const struct qp_info *peer)
{
	qp_to_init(ep, access);
	qp_to_rtr(ep, peer);
	qp_to_rts(ep);
}

static void be_worker(struct worker *w, unsigned id, struct ep ep,
		      const struct qp_info *server)
{
	w->id = w->seed = id;
	w->seed += (unsigned)getppid() + (unsigned)getpid();
	w->ep = ep;
	w->server = *server;
	if (!w->own)
		w->own = calloc(1, sizeof *w->own);
	if (w->own && !w->mr)
		w->mr = ibv_reg_mr(ep.pd, w->own, sizeof *w->own,
				   IBV_ACCESS_LOCAL_WRITE);
	if (!w->mr)
		die_err(errno, "ibv_reg_mr");
	connect_to(&w->ep, 0, server);
}

static void cut_off_here(struct ep *ep)
{
	int rc = ep->qp ? ibv_destroy_qp(ep->qp) : 0;

	if (rc)
		die_err(rc, "ibv_destroy_qp");
	ep->qp = NULL;
}

/* The server's program: asleep, unless it is asked to cut somebody off. */
static void *serve(void *arg)
{
	int sock = *(int *)arg;
	char byte;

	while (read(sock, &byte, 1) == 1) {
		cut_off_here(&served[byte - '1']);
		if (write(sock, &byte, 1) != 1)
			die_err(errno, "write");
	}
	return NULL;
}

static void start_to_serve(int *sock)
{
	pthread_t t;

	if (pthread_create(&t, NULL, serve, sock) != 0)
		die("pthread_create");
}

/* The server's ends, and its table. */
static void open_table(const struct options *opt)
{
	server_device = ep_open_device(opt, 1);
	for (int i = 0; i < ALL; i++)
		served[i] = ep_second(&server_device, cap);
	table_mr = ibv_reg_mr(server_device.pd, &table, sizeof table,
			      (int)rights | IBV_ACCESS_LOCAL_WRITE);
	if (!table_mr)
		die_err(errno, "ibv_reg_mr");
}

/* What the client of this end needs to know. */
static struct qp_info info_of(const struct ep *ep)
{
	struct qp_info info = own_info(ep);

	info.addr = (uintptr_t)&table;
	info.rkey = table_mr->rkey;
	return info;
}

/* A client in the same process as the server. */
static void join(struct worker *w, unsigned id, struct ep ep)
{
	struct qp_info info = info_of(&served[id - 1]), peer = own_info(&ep);

	connect_to(&served[id - 1], rights, &peer);
	be_worker(w, id, ep, &info);
}

/* ---- processes that are killed ----------------------------------------- */

static void die_here(void)
{
	kill(getpid(), SIGKILL);
}

static void rest(struct worker *w, enum moment m)
{
	if (m != SEES_ODD && rand_r(&w->seed) % 4 != 0)
		usleep(500);
}

/* A client that is killed. moments: of its third PUT, or of its first rescue, when it
 * kills itself; -1: somebody else does that. */
static _Noreturn void mortal(unsigned id, int sock, int moments)
{
	static struct worker w;
	struct options opt = options_of("DEV_CLIENT");
	struct ep ep = ep_open(&opt, cap);
	struct qp_info mine = own_info(&ep), server;

	ep.sock = sock;
	at_moment = die_here;
	tcp_send(&ep, &mine, sizeof mine, "to the server");
	tcp_recv(&ep, &server, sizeof server, "from the server");
	be_worker(&w, id, ep, &server);
	if (id == RESCUER) {
		double since = now_ms();
		while (all->dead == 0)
			keep_waiting(&w.ep, since, "the victim's death");
		unsigned s = first_slot(KEY);
		begin(RESCUER - 1, KEY);
		fetch(&w, &w.own->before, 8, slot_at(s));
		left = moments;
		recover(&w, s, w.own->before);
		die_here();
	}
	w.pause = moments < 0 ? rest : NULL;
	for (int i = 0;; i++)
		operate(&w, VICTIM - 1, KEY, true, i == 2 ? moments : -1);
}

/* The server, and the client that goes on. Ends with status 0, or CUT_OFF if
 * somebody was, or 1 after a FAIL line. */
static _Noreturn void survivor(int sock[ALL - 1], int mortals)
{
	static struct worker w;
	struct options to_serve = options_of("DEV_SERVER"),
		       opt = options_of("DEV_CLIENT");
	int pair[2];

	open_table(&to_serve);
	struct ep ep = ep_open(&opt, cap);
	for (int i = 0; i < mortals; i++) {
		struct ep *mine = &served[i];
		struct qp_info peer, info = info_of(mine);

		mine->sock = sock[i];
		tcp_recv(mine, &peer, sizeof peer, "from a client");
		connect_to(mine, rights, &peer);
		tcp_send(mine, &info, sizeof info, "to a client");
		start_to_serve(&sock[i]);
	}
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == -1)
		die_err(errno, "socketpair");
	start_to_serve(&pair[1]);
	ep.sock = pair[0];
	join(&w, THIRD, ep);

	double since = now_ms();
	while (mortals == 2 && all->dead < 2)
		keep_waiting(&w.ep, since, "the rescuer's death");
	w.pause = rest;
	for (int more = 10; more > 0; more -= all->dead == mortals) {
		operate(&w, THIRD - 1, KEY, all->n[THIRD - 1] % 2, -1);
		usleep(500);
	}
	judge();
	_exit(served[mortals - 1].qp ? 0 : CUT_OFF);
}

static void one_dies(pid_t pid, int round)
{
	int status;

	waitpid(pid, &status, 0);
	if (!WIFSIGNALED(status))
		die("round %d: the victim ended by itself", round);
	all->dead++;
}

/* One round: a victim, perhaps a rescuer, and who goes on. Was somebody cut off? */
static bool round_of(int i, bool rescue, unsigned *seed)
{
	int sock[ALL - 1][2], mine[ALL - 1], status, mortals = rescue ? 2 : 1;
	pid_t pid[ALL];

	memset(all, 0, sizeof *all);
	for (int m = 0; m < mortals; m++) {
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, sock[m]) == -1)
			die_err(errno, "socketpair");
		mine[m] = sock[m][0];
	}
	for (int p = 0; p <= mortals; p++) {
		pid[p] = fork();
		if (pid[p] == -1)
			die_err(errno, "fork");
		if (pid[p] == 0 && p == mortals)
			survivor(mine, mortals);
		if (pid[p] == 0) /* the slot is odd from moment 2 to 4 */
			mortal((unsigned)p + 1, sock[p][1],
			       !rescue  ? -1
			       : p == 0 ? 2 + i % 3
					: i % IN_RESCUE);
	}
	if (!rescue) {
		for (int ms = 0; all->n[0] < 3 && ms < 5000; ms++)
			usleep(1000);
		usleep((unsigned)(rand_r(seed) % 20000));
		kill(pid[0], SIGKILL);
	}
	for (int p = 0; p < mortals; p++)
		one_dies(pid[p], i + 1);
	waitpid(pid[mortals], &status, 0);
	for (int m = 0; m < mortals; m++) {
		close(sock[m][0]);
		close(sock[m][1]);
	}
	if (!WIFEXITED(status) ||
	    (WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != CUT_OFF))
		die("round %d: the other client did not go on", i + 1);
	return WEXITSTATUS(status) == CUT_OFF;
}

/* ---- a client that comes back ------------------------------------------- */

enum { NOTHING, ONE_PUT, TWO_PUTS, STOPS_AGAIN, STOPS_BACK, OLD_LOGS, DEEDS };
static struct worker victim, rescuer, third;
static int deed; /* what the victim does when it is back */

/* A PUT of which so many halves of the record are written. */
static void stop_in_put(int life, uint64_t key, int halves)
{
	struct worker *w = &victim;
	unsigned s = find(w, key);
	uint64_t odd = odd_version(w, w->own->before);
	struct ibv_sge half =
		piece(w, &w->own->mine.record, sizeof(struct record) / 2);
	struct ibv_send_wr wr =
		copy(w, IBV_WR_RDMA_WRITE, &half,
		     slot_at(s) + offsetof(struct slot, record));

	w->own->mine.record = record_of(key, begin(life, key)->after);
	if (!take(w, s, w->own->before, odd))
		die("the victim does not get the slot");
	for (; halves > 0; halves--) {
		succeed(round_trip(w, &wr, &wr), "RDMA_WRITE");
		half.addr += half.length;
		wr.wr.rdma.remote_addr += half.length;
	}
}

/* Its connection is gone, if it was not yet; this is a new one. */
static void connect_again(void)
{
	cut_off_here(&served[VICTIM - 1]);
	ep_close(&served[VICTIM - 1]);
	ep_close(&victim.ep);
	served[VICTIM - 1] = ep_second(&server_device, cap);
	join(&victim, VICTIM, ep_second(&rescuer.ep, cap));
	victim.turn = 0;
}

static jmp_buf stopped;
static int stops_at;

static void stop(void)
{
	longjmp(stopped, 1);
}

static void victim_is_back(void)
{
	connect_again();
	switch (deed) {
	case STOPS_BACK: /* while it ends its PUT itself */
		at_moment = stop;
		left = stops_at;
		if (setjmp(stopped) == 0)
			come_back(&victim);
		left = -1;
		return;
	case OLD_LOGS: /* breaks the rule, and does its worst */
		operate(&victim, ALL, OTHER_KEY, true, -1);
		operate(&victim, ALL, OTHER_KEY, true, -1);
		return;
	}
	come_back(&victim);
	if (deed == STOPS_AGAIN)
		stop_in_put(ALL, OTHER_KEY, 1);
	for (int i = NOTHING; i < deed && deed <= TWO_PUTS; i++)
		operate(&victim, ALL, OTHER_KEY, true, -1);
}

/* The victim stops in its PUT; the rescue begins, and then the victim is back. */
static void one_return(int n, int moments)
{
	const struct slot *slot = &table.slot[first_slot(KEY)];

	memset(all, 0, sizeof *all);
	memset(&table, 0, sizeof table);
	if (!served[VICTIM - 1].qp)
		connect_again();
	victim.turn = (unsigned)n % 2; /* for the PUT in which it stops */
	operate(&victim, VICTIM - 1, OTHER_KEY, true, -1);
	operate(&victim, VICTIM - 1, KEY, true, -1);
	operate(&rescuer, RESCUER - 1, KEY, true, -1);
	stop_in_put(VICTIM - 1, KEY, n % 3);

	struct slot before = *slot;
	at_moment = victim_is_back;
	left = moments;
	recover(&rescuer, first_slot(KEY), before.version);
	left = -1;
	if (slot->record.key != KEY)
		die("the log of another slot was used");
	if (deed == OLD_LOGS && slot->version == before.version) {
		if (memcmp(&before, slot, sizeof before) != 0)
			die("the slot was not taken, and has changed");
		return; /* nobody knows any more what was to be written */
	}
	for (int i = 0; i < 2; i++) {
		operate(&rescuer, RESCUER - 1, KEY, true, -1);
		operate(&third, THIRD - 1, KEY, false, -1);
		operate(&third, THIRD - 1, OTHER_KEY, false, -1);
	}
	judge();
}

static int returns(void)
{
	static struct options to_serve, opt;
	int pair[2], n = 0;

	to_serve = options_of("DEV_SERVER");
	opt = options_of("DEV_CLIENT");
	open_table(&to_serve);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == -1)
		die_err(errno, "socketpair");
	start_to_serve(&pair[1]);
	struct ep ep = ep_open(&opt, cap);
	ep.sock = pair[0];
	join(&rescuer, RESCUER, ep);
	join(&third, THIRD, ep_second(&ep, cap));
	join(&victim, VICTIM, ep_second(&ep, cap));
	for (deed = 0; deed < DEEDS; deed++)
		for (int m = 0; m < IN_RESCUE; m++, n++) {
			stops_at = m;
			one_return(n, deed == STOPS_BACK ? n % 4 : m);
		}
	return n;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int rounds = argc == 3 ? (int)strtol(argv[2], NULL, 10) : 1;
	bool rescue = strcmp(what, "rescue") == 0;
	int cut_off = 0, ops = 0;
	unsigned seed = (unsigned)getpid();

	options_of("DEV_CLIENT"); /* who we are, for each line we say */
	alarm(0);
	all = mmap(NULL, sizeof *all, PROT_READ | PROT_WRITE,
		   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (all == MAP_FAILED)
		die_err(errno, "mmap");
	if (strcmp(what, "back") == 0) {
		say("PASS a client came back in %d rescues", returns());
		return 0;
	}
	for (int i = 0; i < rounds; i++) {
		cut_off += round_of(i, rescue, &seed);
		for (int c = 0; c < ALL; c++)
			ops += all->n[c];
	}
	if (cut_off == 0)
		die("%d rounds, and no client died in the middle of a PUT",
		    rounds);
	note("%d rounds, %d operations, in the middle of a PUT %d times",
	     rounds, ops, cut_off);
	say("PASS a client that is killed stops nobody");
	return 0;
}
