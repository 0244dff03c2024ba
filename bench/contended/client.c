/* SPDX-License-Identifier: MIT */
/*
 * bench/contended/client.c - read a record while somebody writes it: how many reads are
 * accepted? Each begins at a random moment of the period. What is accepted must be
 * whole. With -D remote a second thread of this program is the writer.
 */
#include <endian.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

#include "contended.h"
#include "post.h"

static struct {
	uint64_t before, after;
	uint64_t data[WORDS];
	/* The writer's. */
	uint64_t old, even, update[WORDS];
} own;
static struct ibv_mr *mr;
static struct qp_info server;
static struct settings set;
static atomic_bool enough;

static void execute(struct ep *ep, struct ibv_send_wr wr, void *here,
		    size_t len)
{
	struct ibv_sge sge = { .addr = (uintptr_t)here,
			       .length = (uint32_t)len,
			       .lkey = mr->lkey };

	wr.send_flags = IBV_SEND_SIGNALED;
	wr.sg_list = &sge;
	wr.num_sge = 1;
	post(ep, &wr);
	expect_completion(ep, "a request");
}

/* One request, to its end. from: a place in the server's record. */
static void transfer(struct ep *ep, enum ibv_wr_opcode opcode, void *here,
		     size_t len, size_t from)
{
	struct ibv_send_wr wr = {
		.opcode = opcode,
		.wr.rdma = { .remote_addr = server.addr + from,
			     .rkey = server.rkey },
	};

	execute(ep, wr, here, len);
}

/* Makes the version odd, if it is still what we left. */
static void take(struct ep *ep, uint64_t even)
{
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_ATOMIC_CMP_AND_SWP,
		.wr.atomic = { .remote_addr = server.addr,
			       .rkey = server.rkey,
			       .compare_add = even,
			       .swap = even + 1 },
	};

	execute(ep, wr, &own.old, 8);
	if (own.old != even)
		die("the version was %llu, not %llu",
		    (unsigned long long)own.old, (unsigned long long)even);
}

static struct times times; /* the writer's */

static void *write_records(void *arg)
{
	struct ep *ep = arg;
	struct clockwork clock = { 0 };
	size_t data = offsetof(struct shared, buffer),
	       half = sizeof own.update / 2;

	while (!atomic_load(&enough)) {
		uint64_t n = begin_update(&clock, &set);

		for (int i = 0; i < WORDS; i++)
			own.update[i] = n;
		own.even = 2 * n;
		take(ep, own.even - 2);
		double taken = now_ms();
		transfer(ep, IBV_WR_RDMA_WRITE, own.update, half, data);
		usleep((useconds_t)set.update_us);
		transfer(ep, IBV_WR_RDMA_WRITE, own.update, half, data + half);
		transfer(ep, IBV_WR_RDMA_WRITE, &own.even, 8, 0);
		clock.updating += now_ms() - taken;
	}
	times = average(&clock);
	return NULL;
}

/* May what was read be used? If so, it must be whole. */
static bool accepts(void)
{
	if (set.buffers == 1 ? own.after != own.before || own.before % 2
			     : own.after - own.before > set.buffers - 2)
		return false;
	for (int i = 0; i < WORDS; i++)
		if (own.data[i] !=
		    (set.buffers == 1 ? own.before / 2 : own.before))
			die("a torn record was accepted");
	return true;
}

/* From the first look at the word to the second. */
static double read_record(struct ep *ep)
{
	size_t data = offsetof(struct shared, buffer);

	transfer(ep, IBV_WR_RDMA_READ, &own.before, 8, 0);
	double start = now_ms();
	usleep((useconds_t)set.read_us / 2);
	if (set.buffers > 1)
		data += own.before % set.buffers * sizeof own.data;
	transfer(ep, IBV_WR_RDMA_READ, own.data, sizeof own.data, data);
	usleep((useconds_t)set.read_us / 2);
	transfer(ep, IBV_WR_RDMA_READ, &own.after, 8, 0);
	return now_ms() - start;
}

int main(int argc, char **argv)
{
	struct options opt;
	set = parse(argc, argv, "client", &opt);
	struct ibv_qp_cap cap = { 1, 1, 1, 1, 0 };
	struct ep ep = ep_open(&opt, cap), writer = { 0 };
	int accepted = 0;
	double reading = 0, all = 0;
	pthread_t thread;

	tcp_connect(&ep);
	mr = ibv_reg_mr(ep.pd, &own, sizeof own, IBV_ACCESS_LOCAL_WRITE);
	if (!mr)
		die_err(errno, "ibv_reg_mr");
	send_info(&ep, NULL);
	server = recv_info(&ep, sizeof(struct shared));
	qp_to_init(&ep, 0);
	qp_to_rtr(&ep, &server);
	qp_to_rts(&ep);
	if (set.remote) {
		writer = ep_second(&ep, cap);
		send_info(&writer, NULL);
		struct qp_info peer = recv_info(&writer, 0);
		qp_to_init(&writer, 0);
		qp_to_rtr(&writer, &peer);
		qp_to_rts(&writer);
	}
	barrier(&ep);
	if (set.remote) {
		int rc = pthread_create(&thread, NULL, write_records, &writer);
		if (rc)
			die_err(rc, "pthread_create");
	}
	for (int i = 0; i < set.tries; i++) {
		usleep((useconds_t)(random() % set.period_us));
		double start = now_ms();
		reading += read_record(&ep);
		all += now_ms() - start;
		accepted += accepts();
	}
	atomic_store(&enough, true);
	if (set.remote) {
		int rc = pthread_join(thread, NULL);
		if (rc)
			die_err(rc, "pthread_join");
	}
	barrier(&ep);
	struct times theirs;
	tcp_recv(&ep, &theirs, sizeof theirs, "waiting for its times");
	if (!set.remote)
		times = (struct times){ .period = be64toh(theirs.period),
					.update = be64toh(theirs.update) };
	/* In us, and of a second. */
	note("result period=%.0f update=%.0f read=%.0f tries=%d accepted=%d "
	     "rate=%.1f",
	     (double)times.period / 1e3, (double)times.update / 1e3,
	     reading / set.tries * 1e3, set.tries, accepted,
	     accepted / all * 1e3);
	if (times.period == 0)
		die("there were no two updates");
	barrier(&ep);
	say("PASS %d reads, and what was accepted was whole", set.tries);

	if (set.remote)
		ep_close(&writer);
	int rc = ibv_dereg_mr(mr);
	if (rc)
		die_err(rc, "ibv_dereg_mr");
	ep_close(&ep);
	return 0;
}
