/* SPDX-License-Identifier: MIT */
/*
 * 06_atomics/client.c - two clients and one counter.
 *
 * An atomic request reads a word of 8 bytes in the server's memory, perhaps
 * changes it, and gives us the old value, all in one step. The completion's
 * status says that the request was executed. Only the old value says whether
 * the word has changed.
 */
#include <errno.h>
#include <pthread.h>

#include "common.h"
#include "lesson.h"
#include "post.h"

/* One of the two clients: a connection of its own, a thread of its own. */
static struct worker {
	struct ep ep;
	struct qp_info server;
	uint64_t id;   /* 1, 2: not 0, which means "free" in the lock */
	uint64_t *buf; /* what the NIC reads and writes */
} worker[CLIENTS] = { { .id = 1 }, { .id = 2 } };
static _Alignas(64) uint64_t buf[CLIENTS][8];
static struct ibv_mr *mr; /* of buf */

/* Posts one request for the first len bytes of buf, and waits for it. */
static void execute(struct worker *w, struct ibv_send_wr wr, uint32_t len,
		    const char *what)
{
	struct ibv_sge sge = { .addr = (uintptr_t)w->buf,
			       .length = len,
			       .lkey = mr->lkey };

	wr.send_flags = IBV_SEND_SIGNALED;
	wr.sg_list = &sge;
	wr.num_sge = 1;
	post(&w->ep, &wr);
	expect_completion(&w->ep, what);
}

static void copy(struct worker *w, enum ibv_wr_opcode opcode, size_t offset,
		 uint32_t len, const char *what)
{
	struct ibv_send_wr wr = {
		.opcode = opcode,
		.wr.rdma = { .remote_addr = w->server.addr + offset,
			     .rkey = w->server.rkey },
	};

	execute(w, wr, len, what);
}

/* DOC: cas. If the word equals `expected`, sets it to `new`; returns what it
 * was before. The swap took place if and only if that equals `expected`. The
 * NIC puts the old value into buf in our byte order: no ntohl here. */
static uint64_t compare_and_swap(struct worker *w, size_t offset,
				 uint64_t expected, uint64_t new)
{
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_ATOMIC_CMP_AND_SWP,
		.wr.atomic = { .remote_addr = w->server.addr + offset,
			       .rkey = w->server.rkey,
			       .compare_add = expected,
			       .swap = new },
	};

	w->buf[0] = NO_VALUE;
	execute(w, wr, 8, "COMPARE_AND_SWAP");
	return w->buf[0];
}

static pthread_barrier_t have_read; /* for the two threads, in act 1 */

/* Between our READ and our WRITE the other client may do the same. Here it
 * always does: neither WRITEs before both have READ. */
static void *read_then_write(void *arg)
{
	size_t counter = offsetof(struct shared, counter[0]);
	struct worker *w = arg;

	for (int i = 0; i < TIMES; i++) {
		copy(w, IBV_WR_RDMA_READ, counter, 8, "RDMA_READ");
		pthread_barrier_wait(&have_read);
		w->buf[0]++;
		copy(w, IBV_WR_RDMA_WRITE, counter, 8, "RDMA_WRITE");
	}
	return NULL;
}

/* DOC: faa. Adds to the word, modulo 2^64. The old value arrives in buf. */
static void *fetch_and_add(void *arg)
{
	size_t counter = offsetof(struct shared, counter[1]);
	struct worker *w = arg;

	for (int i = 0; i < TIMES; i++) {
		struct ibv_send_wr wr = {
			.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
			.wr.atomic = { .remote_addr = w->server.addr + counter,
				       .rkey = w->server.rkey,
				       .compare_add = 1 },
		};
		execute(w, wr, 8, "FETCH_AND_ADD");
	}
	return NULL;
}

static void *swap_until_right(void *arg)
{
	size_t counter = offsetof(struct shared, counter[2]);
	uint64_t expected = 0, old;
	struct worker *w = arg;
	int failed = 0;

	for (int i = 0; i < TIMES; i++, expected++)
		while ((old = compare_and_swap(w, counter, expected,
					       expected + 1)) != expected) {
			failed++; /* with status success */
			expected = old;
		}
	note("act 3: client %d: %d compares failed", (int)w->id, failed);
	return NULL;
}

/* DOC: the-lock. The client that changes 0 to its own number has the lock. */
static void *change_under_lock(void *arg)
{
	size_t lock = offsetof(struct shared, lock);
	size_t record = offsetof(struct shared, record);
	struct worker *w = arg;
	uint64_t old;

	for (int i = 0; i < LOCKS; i++) {
		do
			old = compare_and_swap(w, lock, 0, w->id);
		while (old != 0 && old != w->id); /* ours: an answer was lost */
		copy(w, IBV_WR_RDMA_READ, record, 16, "RDMA_READ");
		if (w->buf[0] != w->buf[1])
			die("act 4: a torn record, under the lock");
		w->buf[1] = ++w->buf[0];
		copy(w, IBV_WR_RDMA_WRITE, record, 16, "RDMA_WRITE");
		/* Behind the WRITE on one QP: the next one finds it. */
		old = compare_and_swap(w, lock, w->id, 0);
		if (old != w->id && old != NO_VALUE)
			die("act 4: another client has our lock");
	}
	return NULL;
}

/* Both clients at once, until both are done; the second in a thread. */
static void both(void *(*act)(void *))
{
	pthread_t second;
	int rc = pthread_create(&second, NULL, act, &worker[1]);

	if (rc)
		die_err(rc, "pthread_create");
	act(&worker[0]);
	rc = pthread_join(second, NULL);
	if (rc)
		die_err(rc, "pthread_join");
	barrier(&worker[0].ep);
}

int main(int argc, char **argv)
{
	struct options opt = parse_args(argc, argv, "client", LESSON);
	struct ibv_qp_cap cap = { 0 }; /* one request at a time */
	struct ep *ep = &worker[0].ep;

	*ep = ep_open(&opt, cap);
	tcp_connect(ep);
	worker[1].ep = ep_second(ep, cap);

	/* LOCAL_WRITE: the old values are written here. */
	mr = ibv_reg_mr(ep->pd, buf, sizeof buf, IBV_ACCESS_LOCAL_WRITE);
	if (!mr)
		die_err(errno, "ibv_reg_mr");
	for (struct worker *w = worker; w < worker + CLIENTS; w++) {
		w->buf = buf[w - worker];
		send_info(&w->ep, NULL);
		w->server = recv_info(&w->ep, sizeof(struct shared));
		qp_to_init(&w->ep, 0);
		qp_to_rtr(&w->ep, &w->server);
		qp_to_rts(&w->ep);
	}
	barrier(ep);
	int rc = pthread_barrier_init(&have_read, NULL, CLIENTS);
	if (rc)
		die_err(rc, "pthread_barrier_init");
	both(read_then_write);
	both(fetch_and_add);
	both(swap_until_right);
	both(change_under_lock);
	say("PASS every request completed with success, even the failed swaps");

	rc = ibv_dereg_mr(mr);
	if (rc)
		die_err(rc, "ibv_dereg_mr");
	ep_close(&worker[1].ep);
	ep_close(ep);
	return 0;
}
