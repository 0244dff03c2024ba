/* SPDX-License-Identifier: MIT */
/*
 * bench/contended/server.c - write a record while others read it, as lessons 07 and 08 do.
 */
#include <endian.h>
#include <errno.h>
#include <stdatomic.h>

#include "contended.h"

static struct shared shared;

static void store(uint64_t value)
{
	atomic_store_explicit(&shared.word, value, memory_order_release);
	atomic_thread_fence(memory_order_release);
}

static void fill(uint64_t *buffer, uint64_t n, long rest_us)
{
	for (int i = 0; i < WORDS; i++) {
		if (i == WORDS / 2)
			usleep((useconds_t)rest_us);
		buffer[i] = n;
	}
}

/* Until the client calls. */
static struct times write_records(struct ep *ep, const struct settings *set)
{
	struct clockwork clock = { 0 };

	while (!peer_waits(ep)) {
		uint64_t n = begin_update(&clock, set);

		if (set->buffers == 1)
			store(2 * n - 1);
		fill(shared.buffer[n % set->buffers], n, set->update_us);
		store(set->buffers == 1 ? 2 * n : n);
		clock.updating += now_ms() - clock.begun;
		if (now_ms() - clock.first > ep->opt->wait_s * 8e3)
			die("the client does not finish");
	}
	return average(&clock);
}

int main(int argc, char **argv)
{
	struct options opt;
	struct settings set = parse(argc, argv, "server", &opt);
	struct ibv_qp_cap cap = { 1, 1, 1, 1, 0 };
	struct ep ep = ep_open(&opt, cap), writer = { 0 };
	unsigned access = IBV_ACCESS_REMOTE_READ;
	struct times times = { 0 };

	tcp_accept(&ep);
	struct qp_info client = recv_info(&ep, 0);
	if (set.remote)
		access |= IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
			  IBV_ACCESS_REMOTE_ATOMIC;
	struct ibv_mr *mr =
		ibv_reg_mr(ep.pd, &shared, sizeof shared, (int)access);
	if (!mr)
		die_err(errno, "ibv_reg_mr");
	qp_to_init(&ep, access);
	send_info(&ep, mr);
	qp_to_rtr(&ep, &client);
	qp_to_rts(&ep);
	if (set.remote) { /* the writer's connection */
		writer = ep_second(&ep, cap);
		client = recv_info(&writer, 0);
		qp_to_init(&writer, access);
		send_info(&writer, mr);
		qp_to_rtr(&writer, &client);
		qp_to_rts(&writer);
	}
	barrier(&ep);
	if (!set.remote)
		times = write_records(&ep, &set);
	barrier(&ep);
	times.period = htobe64(times.period);
	times.update = htobe64(times.update);
	tcp_send(&ep, &times, sizeof times, "sending the times");
	barrier(&ep);
	say("PASS the writer never waited for the reader");

	if (set.remote)
		ep_close(&writer);
	int rc = ibv_dereg_mr(mr);
	if (rc)
		die_err(rc, "ibv_dereg_mr");
	ep_close(&ep);
	return 0;
}
