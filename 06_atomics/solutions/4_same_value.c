/* SPDX-License-Identifier: MIT */
/* Solution of exercise 6.4 - repair (hard): the same value is not the same word
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "common.h"
#include "lesson.h"

/* One of the two clients: a connection of its own, a thread of its own. */
struct worker {
	struct ep ep;
	struct qp_info server;
	uint64_t id; /* 1, 2: not 0, which means "free" in the lock */
	uint64_t failed;
	uint64_t *buf;           /* what the NIC reads and writes */
	void (*meanwhile)(void); /* what others do before our next swap */
};
static struct worker worker[CLIENTS];
static _Alignas(64) uint64_t buf[CLIENTS][8];
static struct ibv_mr *mr; /* of buf */

/* Posts one request of len bytes between buf and the server's memory at this
 * offset, and waits for it. */
static void execute(struct worker *w, struct ibv_send_wr wr, size_t offset,
		    uint32_t len, const char *what)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)w->buf,
		.length = len,
		.lkey = mr->lkey,
	};
	struct ibv_send_wr *bad;

	wr.send_flags = IBV_SEND_SIGNALED;
	wr.sg_list = &sge;
	wr.num_sge = 1;
	if (wr.opcode == IBV_WR_RDMA_READ || wr.opcode == IBV_WR_RDMA_WRITE) {
		wr.wr.rdma.remote_addr = w->server.addr + offset;
		wr.wr.rdma.rkey = w->server.rkey;
	} else {
		w->buf[0] = NO_VALUE;
		wr.wr.atomic.remote_addr = w->server.addr + offset;
		wr.wr.atomic.rkey = w->server.rkey;
	}
	int rc = ibv_post_send(w->ep.qp, &wr, &bad);
	if (rc)
		die_err(rc, "ibv_post_send");
	struct ibv_wc wc = wait_wc(&w->ep);
	if (wc.status != IBV_WC_SUCCESS)
		die("%s: %s", what, ibv_wc_status_str(wc.status));
}

static void read_words(struct worker *w, size_t offset, uint32_t len)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_RDMA_READ };

	execute(w, wr, offset, len, "RDMA_READ");
}

static void write_words(struct worker *w, size_t offset, uint32_t len)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_RDMA_WRITE };

	execute(w, wr, offset, len, "RDMA_WRITE");
}

/* DOC: faa. Adds to the word, modulo 2^64, and returns what it was before. The
 * NIC puts that into buf in our byte order: no ntohl here. */
static uint64_t fetch_and_add(struct worker *w, size_t offset, uint64_t add)
{
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
		.wr.atomic = { .compare_add = add },
	};

	execute(w, wr, offset, 8, "FETCH_AND_ADD");
	return w->buf[0];
}

/* DOC: cas. If the word equals `expected`, sets it to `new`; returns what it
 * was before. The swap took place if and only if that equals `expected`. */
static uint64_t compare_and_swap(struct worker *w, size_t offset,
				 uint64_t expected, uint64_t new)
{
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_ATOMIC_CMP_AND_SWP,
		.wr.atomic = { .compare_add = expected, .swap = new },
	};
	void (*meanwhile)(void) = w->meanwhile;

	w->meanwhile = NULL;
	if (meanwhile)
		meanwhile();
	execute(w, wr, offset, 8, "COMPARE_AND_SWAP");
	return w->buf[0];
}

static pthread_barrier_t have_read; /* for the two threads, in act 1 */

/* Between our READ and our WRITE the other client may do the same. Here it always
 * does: neither WRITEs before both have READ. */
static void *act_1(void *arg)
{
	struct worker *w = arg;

	for (int i = 0; i < TIMES; i++) {
		read_words(w, offsetof(struct shared, counter[0]), 8);
		pthread_barrier_wait(&have_read);
		w->buf[0]++;
		write_words(w, offsetof(struct shared, counter[0]), 8);
	}
	return NULL;
}

static void *act_2(void *arg)
{
	struct worker *w = arg;

	for (int i = 0; i < TIMES; i++)
		fetch_and_add(w, offsetof(struct shared, counter[1]), 1);
	return NULL;
}

static void *act_3(void *arg)
{
	struct worker *w = arg;
	size_t counter = offsetof(struct shared, counter[2]);
	uint64_t expected = 0;

	for (int i = 0; i < TIMES; i++) {
		for (;;) {
			uint64_t old = compare_and_swap(w, counter, expected,
							expected + 1);
			if (old == expected)
				break;
			w->failed++; /* with status success */
			expected = old;
		}
		expected++;
	}
	return NULL;
}

/* DOC: the-lock. Whoever swaps 0 for its own number has the lock. */
static void *act_4(void *arg)
{
	struct worker *w = arg;
	size_t lock = offsetof(struct shared, lock);
	size_t record = offsetof(struct shared, record);

	for (int i = 0; i < LOCKS; i++) {
		uint64_t old;

		do
			old = compare_and_swap(w, lock, 0, w->id);
		while (old != 0 && old != w->id);
		read_words(w, record, 16);
		if (w->buf[0] != w->buf[1])
			die("act 4: half a record, under the lock");
		w->buf[0]++;
		w->buf[1]++;
		write_words(w, record, 16);
		/* The WRITE has completed: now the other one may come. */
		old = compare_and_swap(w, lock, w->id, 0);
		if (old != w->id && old != NO_VALUE)
			die("act 4: somebody else has our lock");
	}
	return NULL;
}

/* Both clients at once, until both are done. */
static void both(void *(*act)(void *))
{
	pthread_t thread[CLIENTS];

	pthread_barrier_init(&have_read, NULL, CLIENTS);
	for (int i = 0; i < CLIENTS; i++) {
		int rc = pthread_create(&thread[i], NULL, act, &worker[i]);
		if (rc)
			die_err(rc, "pthread_create");
	}
	for (int i = 0; i < CLIENTS; i++)
		pthread_join(thread[i], NULL);
	pthread_barrier_destroy(&have_read);
	barrier(&worker[0].ep);
}

/* The list is where act 4 will have its lock and its record: the first word,
 * and behind it one for each slot, which are numbered from 1. */
enum { SLOTS = 3, ROUNDS = 8 };

_Static_assert(offsetof(struct shared, word) ==
		       offsetof(struct shared, lock) + 8 * SLOTS,
	       "they are in a row");

static size_t link_of(uint64_t slot)
{
	if (slot > SLOTS)
		die("list: there is no slot %d", (int)slot);
	return offsetof(struct shared, lock) + 8 * slot;
}

/* The first word: a slot, and above it how often the word has changed. */
static uint64_t first_word(uint64_t slot, uint64_t old)
{
	return ((old >> 32) + 1) << 32 | slot;
}

/* Takes the first slot from the list; 0: there is none. */
static uint64_t pop(struct worker *w)
{
	size_t first = link_of(0);

	for (;;) {
		read_words(w, first, 8);
		uint64_t old = w->buf[0], slot = (uint32_t)old;
		if (slot == 0)
			return 0;
		read_words(w, link_of(slot), 8);
		uint64_t new = first_word(w->buf[0], old);
		if (compare_and_swap(w, first, old, new) == old)
			return slot;
	}
}

/* Puts the slot in front of the list. */
static void push(struct worker *w, uint64_t slot)
{
	size_t first = link_of(0);

	for (;;) {
		read_words(w, first, 8);
		uint64_t old = w->buf[0], new = first_word(slot, old);
		w->buf[0] = (uint32_t)old; /* goes behind our slot */
		write_words(w, link_of(slot), 8);
		if (compare_and_swap(w, first, old, new) == old)
			return;
	}
}

static uint64_t owner[SLOTS + 1]; /* of each slot; 0: it is free */

static uint64_t take(struct worker *w)
{
	uint64_t slot = pop(w);

	if (slot > SLOTS)
		die("list: there is no slot %d", (int)slot);
	if (slot && owner[slot])
		die("list: slot %d is taken by client %d, and client %d has it",
		    (int)slot, (int)w->id, (int)owner[slot]);
	owner[slot] = slot ? w->id : 0;
	return slot;
}

static void give(struct worker *w, uint64_t slot)
{
	if (slot == 0 || owner[slot] != w->id)
		die("list: client %d gives slot %d, and has not got it",
		    (int)w->id, (int)slot);
	owner[slot] = 0;
	push(w, slot);
}

static int round_no;

/* Client 2 takes two slots or three, exchanges the last of them a few times,
 * and gives back the first. */
static void meanwhile(void)
{
	struct worker *w = &worker[1];
	uint64_t first = take(w), last = take(w);

	if (round_no % 2)
		last = take(w);
	for (int i = 0; i < round_no / 2; i++) {
		give(w, last);
		last = take(w);
	}
	give(w, first);
}

static void give_all(struct worker *w)
{
	for (uint64_t slot = 1; slot <= SLOTS; slot++)
		if (owner[slot] == w->id)
			give(w, slot);
}

/* One thread is both clients here, so that it is the same on each run. */
static void keep_list(void)
{
	int got = 0;

	for (uint64_t slot = SLOTS; slot >= 1; slot--) {
		owner[slot] = worker[0].id;
		give(&worker[0], slot);
	}
	for (round_no = 0; round_no < ROUNDS; round_no++) {
		worker[0].meanwhile = meanwhile;
		while (take(&worker[0]))
			got++;
		if (worker[0].meanwhile)
			die("list: no swap was tried");
		for (int slot = 1; slot <= SLOTS; slot++)
			if (!owner[slot])
				die("list: slot %d is lost", slot);
		give_all(&worker[0]);
		give_all(&worker[1]);
	}
	say("list: %d slots taken in %d rounds, none by two", got, ROUNDS);

	/* As it was before, for act 4. */
	memset(worker[0].buf, 0, 8 * (1 + SLOTS));
	write_words(&worker[0], link_of(0), 8 * (1 + SLOTS));
}

int main(int argc, char **argv)
{
	struct options opt = parse_args(argc, argv, "client", LESSON);
	struct ibv_qp_cap cap = {
		.max_send_wr = 1,
		.max_recv_wr = 1,
		.max_send_sge = 1,
		.max_recv_sge = 1,
	};
	struct ep *ep = &worker[0].ep;

	*ep = ep_open(&opt, cap);
	tcp_connect(ep);
	worker[1].ep = ep_second(ep, cap);

	/* LOCAL_WRITE: the old values are written here. */
	mr = ibv_reg_mr(ep->pd, buf, sizeof buf, IBV_ACCESS_LOCAL_WRITE);
	if (!mr)
		die_err(errno, "ibv_reg_mr");
	for (int i = 0; i < CLIENTS; i++) {
		struct worker *w = &worker[i];

		w->id = (uint64_t)i + 1;
		w->buf = buf[i];
		send_info(&w->ep, NULL);
		w->server = recv_info(&w->ep, sizeof(struct shared));
		qp_to_init(&w->ep, 0);
		qp_to_rtr(&w->ep, &w->server);
		qp_to_rts(&w->ep);
	}
	barrier(ep);

	both(act_1);
	both(act_2);
	both(act_3);
	note("act 3: %d compares failed, all with status success",
	     (int)(worker[0].failed + worker[1].failed));
	keep_list();
	both(act_4);
	say("PASS every request completed with success, even the failed swaps");

	int rc = ibv_dereg_mr(mr);
	if (rc)
		die_err(rc, "ibv_dereg_mr");
	ep_close(&worker[1].ep);
	ep_close(ep);
	return 0;
}
