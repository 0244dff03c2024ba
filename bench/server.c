/* SPDX-License-Identifier: MIT */
/*
 * bench/server.c - the other end of what is measured: the client tells what to do.
 *
 * With WRITE, READ and atomics it does nothing, and its CPU time shows it. A SEND
 * or WRITE_IMM takes a receive; the server posts each again, and gives credit.
 */
#include <errno.h>
#include <poll.h>

#include "bench.h"
#include "post.h"

/* DOC: credits. The client may have as many messages under way as we have
 * receives. Each time that half of them were used, and are posted again, we WRITE
 * into its memory how many messages we have had. So there is never an RNR. */
static void give_credit(struct side *s, uint64_t *told)
{
	uint64_t half = s->receives / 2;
	if (s->received < *told + half)
		return;
	uint64_t have = s->received - s->received % half;
	/* Four words, so that none changes while it may still be sent. */
	_Atomic uint64_t *word = credit_word(s) + have / half % 4;

	if (*told + s->receives >= s->set.count || s->telling == 4)
		return;
	*word = have;
	struct ibv_sge sge = {
		.addr = (uintptr_t)word,
		.length = sizeof *word,
		.lkey = s->mr->lkey,
	};
	struct ibv_send_wr wr = {
		.wr_id = CREDIT,
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.sg_list = &sge,
		.num_sge = 1,
		.wr.rdma = {
			.remote_addr = s->peer.addr +
				       (uintptr_t)credit_word(s) -
				       (uintptr_t)s->mem,
			.rkey = s->peer.rkey,
		},
	};
	post(&s->ep, &wr);
	s->telling++;
	*told = have;
}

/* DOC: sleep. Ask to be woken, look once more, since a completion may have come
 * before we asked, and sleep. True: it has come. */
static bool sleep_for_completion(struct side *s)
{
	struct pollfd p = { .fd = s->ep.channel->fd, .events = POLLIN };
	struct ibv_cq *cq;
	void *context;
	int rc = ibv_req_notify_cq(s->ep.cq, 0);

	if (rc)
		die_err(rc, "ibv_req_notify_cq");
	if (pump(s))
		return true;
	if (poll(&p, 1, s->ep.opt->wait_s * 1000) != 1)
		die("no message within %d s", s->ep.opt->wait_s);
	if (ibv_get_cq_event(s->ep.channel, &cq, &context))
		die_err(errno, "ibv_get_cq_event");
	ibv_ack_cq_events(cq, 1);
	return false;
}

static void receive_all(struct side *s)
{
	uint64_t told = 0;
	struct wait w = { 0 };

	while (s->received < s->set.count || s->telling) {
		if (pump(s) || (s->set.events && sleep_for_completion(s)))
			w.since = 0;
		else if (!s->set.events)
			waiting(s, &w, "a message");
		give_credit(s, &told);
	}
}

int main(int argc, char **argv)
{
	struct options opt = parse_args(argc, argv, "server", LESSON);
	struct ep base = ep_open_device(&opt, 1);
	struct settings set;

	tcp_accept(&base);
	tcp_recv(&base, &set, sizeof set, "waiting for the settings");
	big_endian((uint64_t *)&set, NUMBERS);
	check_settings(&set, &base);
	struct side s = side_open(&base, &set, true);

	/* The timed part: from the first barrier to the second. */
	barrier(&s.ep);
	struct cost before = cpu_time();
	if (set.mode == LATENCY && set.op < READ)
		ping_pong(&s, NULL);
	else if (two_sided(&s.set))
		receive_all(&s);
	barrier(&s.ep);
	struct cost cost = cost_since(&s, before);

	big_endian((uint64_t *)&cost, sizeof cost / 8);
	tcp_send(&s.ep, &cost, sizeof cost, "sending what it cost");

	const uint64_t *word = (void *)(s.mem + out_slot(&s, 0));
	if (atomic(&set) && *word != set.count)
		die("the word is %llu after %llu atomics",
		    (unsigned long long)*word, (unsigned long long)set.count);
	if (two_sided(&s.set) && s.received != set.count)
		die("%llu messages, not %llu", (unsigned long long)s.received,
		    (unsigned long long)set.count);
	if (set.op < READ)
		expect_all(&s);
	barrier(&s.ep); /* so that the client's PASS comes after this, too */
	say("PASS %s", set.op < READ    ? "what came is what was sent"
		       : set.op == READ ? "the client compares what it read"
					: "each atomic changed the word once");
	side_close(&s);
	ep_close(&base);
	return 0;
}
