/* SPDX-License-Identifier: MIT */
/*
 * 07_versioning/client.c - read what somebody is writing.
 *
 * A READ is not a snapshot: it may find the first half of the new record and
 * the second half of the old record. So read the version, the data, and the
 * version again, in this order. Throw the data away unless both versions are
 * the same *and* say that nobody was writing.
 */
#include <errno.h>
#include <unistd.h>

#include "common.h"
#include "lesson.h"
#include "post.h"

/* Where the three READs put what they fetch. */
static struct {
	uint64_t before, after;
	uint64_t data[WORDS];
} own;
static struct ibv_mr *mr;
static struct qp_info server;
static int accepted, rejected, torn;

/*
 * DOC: one-by-one. Version, data, version: each READ is posted when the READ
 * before it has completed. A memory barrier orders nothing here: NICs do the
 * work. One READ of all three is not enough either: nothing says in which order
 * a READ fetches its bytes.
 */
static void read_record(struct ep *ep)
{
	static const struct {
		void *to;
		uint32_t len;
		size_t from;
	} read[3] = {
		{ .to = &own.before,
		  .len = 8,
		  .from = offsetof(struct record, version) },
		{ .to = own.data,
		  .len = sizeof own.data,
		  .from = offsetof(struct record, data) },
		{ .to = &own.after,
		  .len = 8,
		  .from = offsetof(struct record, version) },
	};

	for (int i = 0; i < 3; i++) {
		struct ibv_sge sge = {
			.addr = (uintptr_t)read[i].to,
			.length = read[i].len,
			.lkey = mr->lkey,
		};
		struct ibv_send_wr wr = {
			.opcode = IBV_WR_RDMA_READ,
			.send_flags = IBV_SEND_SIGNALED,
			.sg_list = &sge,
			.num_sge = 1,
			.wr.rdma = { .remote_addr = server.addr + read[i].from,
				     .rkey = server.rkey },
		};

		post(ep, &wr);
		expect_completion(ep, "RDMA_READ");
	}
}

/* Judged by the content, whatever the versions say. */
static bool is_torn(void)
{
	for (int i = 1; i < WORDS; i++)
		if (own.data[i] != own.data[0])
			return true;
	return false;
}

static bool naive_accepts(void)
{
	return own.before == own.after;
}

/* DOC: accept */
static bool seqlock_accepts(void)
{
	return own.before == own.after && own.before % 2 == 0;
}

/* Reads until READS records were accepted, and the version was found changed CHANGES
 * times; counts the torn ones among those accepted. The writer has a deadline. */
static void read_many(struct ep *ep, bool (*accepts)(void))
{
	int in_a_row = 0, changes = 0;

	accepted = rejected = torn = 0;
	barrier(ep);
	uint64_t last = own.after;
	while (accepted < READS || changes < CHANGES) {
		read_record(ep);
		changes += own.after != last;
		last = own.after;
		if (accepts()) {
			accepted++;
			torn += is_torn();
			in_a_row = 0;
		} else { /* come back later, each time a little later */
			rejected++;
			usleep(100u << (in_a_row < 4 ? in_a_row : 4));
			in_a_row++;
		}
	}
	barrier(ep); /* the writer may stop */
	note("accepted %d, of these torn %d; rejected %d", accepted, torn,
	     rejected);
}

int main(int argc, char **argv)
{
	struct options opt = parse_args(argc, argv, "client", LESSON);
	struct ibv_qp_cap cap = { 0 };
	struct ep ep = ep_open(&opt, cap);

	tcp_connect(&ep);
	mr = ibv_reg_mr(ep.pd, &own, sizeof own, IBV_ACCESS_LOCAL_WRITE);
	if (!mr)
		die_err(errno, "ibv_reg_mr");
	send_info(&ep, NULL);
	server = recv_info(&ep, sizeof(struct record));
	qp_to_init(&ep, 0);
	qp_to_rtr(&ep, &server);
	qp_to_rts(&ep);
	barrier(&ep);

	read_many(&ep, naive_accepts);
	if (torn == 0)
		die("act 1: nothing was torn, so nothing was shown");
	say("act 1: version unchanged, so accepted: some are torn");

	read_many(&ep, seqlock_accepts);
	if (torn != 0)
		die("act 2: a torn record was accepted");
	say("act 2: even and unchanged: %d or more accepted, none torn", READS);
	barrier(&ep);
	say("PASS a version helps if it is odd while the writer writes");

	int rc = ibv_dereg_mr(mr);
	if (rc)
		die_err(rc, "ibv_dereg_mr");
	ep_close(&ep);
	return 0;
}
