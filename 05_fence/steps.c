/* SPDX-License-Identifier: MIT */
/* 05_fence/steps.c - the requests of this lesson: see steps.h. */
#include "steps.h"
#include "post.h"

struct own own;
struct ibv_mr *mr;
struct qp_info server;

const struct step read_source = {
	.opcode = IBV_WR_RDMA_READ,
	.at = own.buf,
	.len = LEN,
	.offset = AT(source),
};
const struct step write_copy = {
	.opcode = IBV_WR_RDMA_WRITE,
	.at = own.buf,
	.len = LEN,
	.offset = AT(copy),
};
const struct step write_word = {
	.opcode = IBV_WR_RDMA_WRITE,
	.at = &own.word,
	.len = 8,
	.offset = AT(counter),
};
const struct step add_one = {
	.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
	.at = &own.old,
	.len = 8,
	.offset = AT(counter),
};
const struct step send_nothing = { .opcode = IBV_WR_SEND };
const struct step read_x = {
	.opcode = IBV_WR_RDMA_READ,
	.at = &own.x,
	.len = 8,
	.offset = AT(x),
};
const struct step write_x = {
	.opcode = IBV_WR_RDMA_WRITE,
	.at = &own.new,
	.len = 8,
	.offset = AT(x),
};
const struct step read_y = {
	.opcode = IBV_WR_RDMA_READ,
	.at = &own.y,
	.len = 8,
	.offset = AT(y),
};
const struct step write_y = {
	.opcode = IBV_WR_RDMA_WRITE,
	.at = &own.new,
	.len = 8,
	.offset = AT(y),
};

struct step fenced(struct step s)
{
	s.flags = IBV_SEND_FENCE;
	return s;
}

void post_list(struct ep *ep, const struct step *s, int n)
{
	struct ibv_sge sge[4];
	struct ibv_send_wr wr[4];

	for (int i = 0; i < n; i++) {
		uint64_t there = server.addr + s[i].offset;

		sge[i] = (struct ibv_sge){
			.addr = (uintptr_t)s[i].at,
			.length = s[i].len,
			.lkey = mr->lkey,
		};
		wr[i] = (struct ibv_send_wr){
			.opcode = s[i].opcode,
			.send_flags = s[i].flags,
			.sg_list = &sge[i],
			.num_sge = s[i].len > 0, /* the SEND is empty */
			.next = i + 1 < n ? &wr[i + 1] : NULL,
		};
		/* Two members of one union: an atomic has its own. */
		if (s[i].opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
			wr[i].wr.atomic.remote_addr = there;
			wr[i].wr.atomic.rkey = server.rkey;
			wr[i].wr.atomic.compare_add = 1;
		} else {
			wr[i].wr.rdma.remote_addr = there;
			wr[i].wr.rdma.rkey = server.rkey;
		}
	}
	wr[n - 1].send_flags |= IBV_SEND_SIGNALED;
	post(ep, wr);
}
