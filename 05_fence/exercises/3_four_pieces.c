/* SPDX-License-Identifier: MIT */
/*
 * Exercise 5.3 - extend: four pieces in two round trips
 * side: client
 *
 * Copy the server's source to its copy in four pieces: four READs, four WRITEs.
 * As it stands each WRITE is fenced and stands behind its READ. The result is
 * right, and takes five round trips. Two would do, with one fence.
 */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "common.h"
#include "lesson.h"

static struct {
	char buf[LEN], data[LEN];
	uint64_t flag, old;
} own;
static struct ibv_mr *mr;
static struct qp_info server;

static struct ibv_sge sge(const void *p, size_t len)
{
	return (struct ibv_sge){
		.addr = (uintptr_t)p,
		.length = (uint32_t)len,
		.lkey = mr->lkey,
	};
}

static void post(struct ep *ep, struct ibv_send_wr *list)
{
	struct ibv_send_wr *bad;
	int rc = ibv_post_send(ep->qp, list, &bad);

	if (rc)
		die_err(rc, "ibv_post_send");
}

static void expect_completion(struct ep *ep, const char *what)
{
	struct ibv_wc wc = wait_wc(ep);

	if (wc.status != IBV_WC_SUCCESS)
		die("%s: %s", what, ibv_wc_status_str(wc.status));
}

/* A request between local bytes and the server's at this offset. */
static struct ibv_send_wr request(enum ibv_wr_opcode opcode,
				  struct ibv_sge *local, size_t offset)
{
	return (struct ibv_send_wr){
		.opcode = opcode,
		.sg_list = local,
		.num_sge = 1,
		.wr.rdma = { .remote_addr = server.addr + offset,
			     .rkey = server.rkey },
	};
}

/* DOC: read-then-write. Fetch the server's source, write it to its copy, in
 * one list. Without the fence the NIC may take the WRITE's bytes from buf while
 * the READ's answer is still on its way. */
static void copy_over_there(struct ep *ep, unsigned fence)
{
	struct ibv_sge buf = sge(own.buf, LEN);
	struct ibv_send_wr write =
		request(IBV_WR_RDMA_WRITE, &buf, offsetof(struct shared, copy));
	struct ibv_send_wr read = request(IBV_WR_RDMA_READ, &buf,
					  offsetof(struct shared, source));

	write.send_flags = IBV_SEND_SIGNALED | fence;
	read.next = &write;
	for (int i = 0; i < ROUNDS; i++) {
		barrier(ep);
		memset(own.buf, '~', LEN);
		post(ep, &read);
		expect_completion(ep, "act 1");
		barrier(ep);
	}
}

/* In ms: what takes less is one round trip, what takes more is two. The server's
 * answers are DELAY late, so two, one after the other, cannot take less than twice
 * that. Set anew when WRITE, WRITE has been timed. */
static double limit = 1.5 * DELAY;

/* How long two requests take, posted as one list, until the last completes: the
 * best of so many tries, for a busy machine may add to it, and so may a wire that
 * swaps packets. (The server has receives for exactly TRIES SENDs.) */
static double time_pair(struct ep *ep, enum ibv_wr_opcode first,
			enum ibv_wr_opcode second, unsigned fence, int tries)
{
	enum ibv_wr_opcode opcode[2] = { first, second };
	struct ibv_sge word[2] = { sge(&own.old, 8), sge(&own.flag, 8) };
	struct ibv_send_wr wr[2];
	double best = 1e9;

	for (int i = 0; i < 2; i++) {
		wr[i] = request(opcode[i], &word[i],
				offsetof(struct shared, counter));
		if (opcode[i] == IBV_WR_SEND)
			wr[i].num_sge = 0;
		if (opcode[i] == IBV_WR_ATOMIC_FETCH_AND_ADD) {
			wr[i].wr.atomic.remote_addr =
				server.addr + offsetof(struct shared, counter);
			wr[i].wr.atomic.compare_add = 1;
			wr[i].wr.atomic.rkey = server.rkey;
		}
	}
	wr[0].next = &wr[1];
	wr[1].send_flags = IBV_SEND_SIGNALED | fence;
	for (int i = 0; i < tries; i++) {
		if (best < limit && second != IBV_WR_SEND)
			break;
		double start = now_ms();

		post(ep, wr);
		expect_completion(ep, "act 2");
		double took = now_ms() - start;
		if (took < best)
			best = took;
	}
	return best;
}

/* DOC: act-2. With a slow round trip, does the second wait for the first? */
static void measure(struct ep *ep)
{
	const enum ibv_wr_opcode W = IBV_WR_RDMA_WRITE, R = IBV_WR_RDMA_READ,
				 A = IBV_WR_ATOMIC_FETCH_AND_ADD,
				 S = IBV_WR_SEND;
	const unsigned F = IBV_SEND_FENCE;
	const struct {
		const char *name;
		enum ibv_wr_opcode first, second;
		unsigned fence;
		int trips;
	} pair[PAIRS] = {
		{ "WRITE, WRITE|F ", W, W, F, 1 },
		{ "READ, WRITE    ", R, W, 0, 1 },
		{ "READ, WRITE|F  ", R, W, F, 2 },
		{ "READ, SEND|F   ", R, S, F, 2 },
		{ "ATOMIC, WRITE|F", A, W, F, 2 },
	};
	double trip = time_pair(ep, W, W, 0, MAX_TRIES);

	note("act 2: WRITE, WRITE takes %.1f ms: one round trip", trip);
	/* The rest of the wire may be slow, too. */
	limit = 1.25 * trip > 1.9 * DELAY ? 1.25 * trip : 1.9 * DELAY;
	if (trip < 0.9 * DELAY)
		say("act 2: not measured here, the wire cannot be slowed down");
	for (int i = 0; i < PAIRS; i++) {
		double took = time_pair(ep, pair[i].first, pair[i].second,
					pair[i].fence,
					pair[i].trips == 2 ? TRIES : MAX_TRIES);
		int trips = took < limit ? 1 : 2;

		note("act 2: %s %5.1f ms", pair[i].name, took);
		if (trip < 0.9 * DELAY)
			continue;
		if (trips != pair[i].trips)
			die("act 2: %s takes %d round trips, not %d",
			    pair[i].name, trips, pair[i].trips);
		say("act 2: %s %s", pair[i].name,
		    trips == 1 ? "one round trip" : "two: it waited");
	}
}

/* Act 4: the data over ep, the flag over the other QP, fenced, or posted after
 * the data's completion. What holds the data back is that it comes with an
 * immediate, for which the server has no receive yet. */
static void flag_elsewhere(struct ep *ep, struct ep *other, bool wait_first,
			   int first_round)
{
	struct ibv_sge data = sge(own.data, LEN), flag = sge(&own.flag, 8);
	struct ibv_send_wr write = request(IBV_WR_RDMA_WRITE_WITH_IMM, &data,
					   offsetof(struct shared, data));
	struct ibv_send_wr tell = request(IBV_WR_RDMA_WRITE, &flag,
					  offsetof(struct shared, flag));

	write.send_flags = IBV_SEND_SIGNALED;
	tell.send_flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE;
	for (int round = first_round; round < first_round + ROUNDS; round++) {
		pattern(own.data, round);
		own.flag = htobe64((uint64_t)round);
		barrier(ep);
		post(ep, &write);
		if (wait_first)
			expect_completion(ep, "act 4, data");
		post(other, &tell);
		expect_completion(other, "act 4, flag");
		if (!wait_first)
			expect_completion(ep, "act 4, data");
		barrier(ep);
	}
}

enum { N = 4, PIECE = LEN / N };

/* Links the requests in an order of your choice and gives the first of them. */
static struct ibv_send_wr *in_order(struct ibv_send_wr read[N],
				    struct ibv_send_wr write[N])
{
	for (int i = 0; i < N; i++) { /* TODO 5.3 */
		write[i].send_flags |= IBV_SEND_FENCE;
		read[i].next = &write[i];
		write[i].next = i + 1 < N ? &read[i + 1] : NULL;
	}
	return &read[0];
}

static void four_pieces(struct ep *ep)
{
	struct ibv_send_wr read[N], write[N];
	struct ibv_sge piece[N], back = sge(own.data, LEN);
	struct ibv_send_wr copy = request(IBV_WR_RDMA_WRITE, &back,
					  offsetof(struct shared, copy));
	int trips = 99, fences = 0, requests = 0;

	/* Nothing is left of act 1. */
	memset(own.data, '?', LEN);
	copy.send_flags = IBV_SEND_SIGNALED;
	post(ep, &copy);
	expect_completion(ep, "four pieces");

	for (int try = 0; try < 8 && trips > 2; try++) {
		for (int i = 0; i < N; i++) {
			size_t at = (size_t)i * PIECE;

			piece[i] = sge(own.buf + at, PIECE);
			read[i] = request(IBV_WR_RDMA_READ, &piece[i],
					  offsetof(struct shared, source) + at);
			write[i] = request(IBV_WR_RDMA_WRITE, &piece[i],
					   offsetof(struct shared, copy) + at);
		}
		write[N - 1].send_flags = IBV_SEND_SIGNALED;
		memset(own.buf, '~', LEN);

		struct ibv_send_wr *list = in_order(read, write);
		fences = requests = 0;
		for (struct ibv_send_wr *wr = list; wr; wr = wr->next) {
			fences += (wr->send_flags & IBV_SEND_FENCE) != 0;
			requests++;
		}
		double start = now_ms();
		post(ep, list);
		expect_completion(ep, "four pieces");
		int t = (int)((now_ms() - start) / DELAY);
		if (t < trips)
			trips = t;
	}

	/* What is in the server's copy now? */
	copy.opcode = IBV_WR_RDMA_READ;
	post(ep, &copy);
	expect_completion(ep, "four pieces");
	if (!is_pattern(own.data, 2 * ROUNDS))
		die("four pieces: the copy is not like the source");
	if (requests != 2 * N)
		die("four pieces with %d requests, not %d", requests, 2 * N);
	if (trips > 2)
		die("four pieces take more round trips than 2: %d", trips);
	if (fences > 1)
		die("four pieces with %d fences, one would do", fences);
	say("four pieces copied in %d round trips", trips);
}

int main(int argc, char **argv)
{
	struct options opt = parse_args(argc, argv, "client", LESSON);
	struct ibv_qp_cap cap = {
		.max_send_wr = 8,
		.max_recv_wr = 1,
		.max_send_sge = 1,
		.max_recv_sge = 1,
	};
	struct ep ep = ep_open(&opt, cap);
	struct ep other = ep_second(&ep, cap); /* act 4 */

	tcp_connect(&ep);
	other.sock = ep.sock;
	mr = ibv_reg_mr(ep.pd, &own, sizeof own, IBV_ACCESS_LOCAL_WRITE);
	if (!mr)
		die_err(errno, "ibv_reg_mr");

	send_info(&ep, NULL);
	send_info(&other, NULL);
	server = recv_info(&ep, sizeof(struct shared));
	struct qp_info server_other = recv_info(&other, sizeof(struct shared));
	qp_to_init(&ep, 0);
	qp_to_init(&other, 0);
	qp_to_rtr(&ep, &server);
	qp_to_rtr(&other, &server_other);
	ep.rnr_retry = 7; /* for ever: in act 4 our own deadline is enough */
	qp_to_rts(&ep);
	qp_to_rts(&other);
	barrier(&ep);

	copy_over_there(&ep, 0);
	copy_over_there(&ep, IBV_SEND_FENCE);

	barrier(&ep);
	measure(&ep);
	four_pieces(&ep);
	barrier(&ep);

	/* Act 3: data, flag, one QP, no fence. */
	struct ibv_sge data = sge(own.data, LEN), flag = sge(&own.flag, 8);
	struct ibv_send_wr tell = request(IBV_WR_RDMA_WRITE, &flag,
					  offsetof(struct shared, flag));
	struct ibv_send_wr write = request(IBV_WR_RDMA_WRITE, &data,
					   offsetof(struct shared, data));

	tell.send_flags = IBV_SEND_SIGNALED;
	write.next = &tell;
	for (int round = 1; round <= FLAGS; round++) {
		pattern(own.data, round);
		own.flag = htobe64((uint64_t)round);
		post(&ep, &write);
		expect_completion(&ep, "act 3");
		barrier(&ep);
	}

	flag_elsewhere(&ep, &other, false, FLAGS + 1);
	flag_elsewhere(&ep, &other, true, FLAGS + 1 + ROUNDS);
	barrier(&ep);
	say("PASS every request completed, and the clock agrees");

	int rc = ibv_dereg_mr(mr);
	if (rc)
		die_err(rc, "ibv_dereg_mr");
	ep_close(&other);
	ep_close(&ep);
	return 0;
}
