/* SPDX-License-Identifier: MIT */
/*
 * 09_block_store/ask.c - the client's side of the protocol: see ask.h.
 *
 * A command names our buffer: address and rkey. From the SEND to the reply the
 * buffer belongs to the server, whose NIC writes or reads it. The reply gives back
 * the buffer, the tag, and the right to send one more command: a credit.
 */
#include <errno.h>
#include <string.h>

#include "ask.h"
#include "post.h"

static void post_receive(struct client *c, uint64_t i)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)c->m.reply[i],
		.length = REPLY_LEN,
		.lkey = c->messages->lkey,
	};
	struct ibv_recv_wr *bad, wr = {
		.wr_id = i,
		.sg_list = &sge,
		.num_sge = 1,
	};
	int rc = ibv_post_recv(c->ep.qp, &wr, &bad);

	if (rc)
		die_err(rc, "ibv_post_recv");
}

static struct ibv_mr *reg(struct client *c, void *p, size_t len, int access)
{
	struct ibv_mr *mr = ibv_reg_mr(c->ep.pd, p, len, access);

	if (!mr)
		die_err(errno, "ibv_reg_mr");
	return mr;
}

/* DOC: credits. A receive for each command that can be under way is posted
 * before the first one: no reply meets RNR. */
void arrive(struct client *c, const struct options *opt)
{
	memset(c->seen, 0, sizeof c->seen);
	memset(c->status, 0, sizeof c->status);
	c->ep = ep_open(opt, (struct ibv_qp_cap){
				     .max_send_wr = TAGS,
				     .max_recv_wr = TAGS,
			     });
	c->ep.timeout = 17; /* 7 tries of 0.5 s: act 2, too */
	tcp_connect(&c->ep);
	c->messages = reg(c, &c->m, sizeof c->m, IBV_ACCESS_LOCAL_WRITE);
	c->buffers = reg(c, c->buffer, sizeof c->buffer,
			 IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
				 IBV_ACCESS_REMOTE_READ);
	c->rkey = c->buffers->rkey;
	send_info(&c->ep, NULL);
	struct qp_info server = recv_info(&c->ep, 0);
	qp_to_init(&c->ep, IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
	for (uint64_t i = 0; i < TAGS; i++)
		post_receive(c, i);
	qp_to_rtr(&c->ep, &server);
	qp_to_rts(&c->ep);
}

void depart(struct client *c)
{
	int rc = ibv_dereg_mr(c->messages);

	if (rc == 0 && c->buffers) /* else its key was revoked already */
		rc = ibv_dereg_mr(c->buffers);
	if (rc)
		die_err(rc, "ibv_dereg_mr");
	ep_close(&c->ep);
}

/* DOC: command. It has no data: it says where the data is, or where it goes. */
void start(struct client *c, uint32_t tag, uint32_t operation, uint64_t first,
	   uint32_t count)
{
	struct command command = {
		.operation = operation,
		.tag = tag,
		.first = first,
		.count = count,
		.rkey = c->rkey,
		.addr = (uintptr_t)c->buffer[tag],
	};
	struct ibv_sge sge = {
		.addr = (uintptr_t)c->m.command[tag],
		.length = COMMAND_LEN,
		.lkey = c->messages->lkey,
	};
	struct ibv_send_wr wr = {
		.wr_id = tag,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
		.sg_list = &sge,
		.num_sge = 1,
	};

	command_pack(c->m.command[tag], &command);
	post(&c->ep, &wr);
}

uint32_t take(struct client *c, bool *reply)
{
	struct ibv_wc wc = wait_wc(&c->ep);

	if (wc.status != IBV_WC_SUCCESS)
		die("a command: %s", ibv_wc_status_str(wc.status));
	*reply = wc.opcode & IBV_WC_RECV;
	if (!*reply)
		return (uint32_t)wc.wr_id;
	struct reply r = reply_unpack(c->m.reply[wc.wr_id]);
	if (wc.byte_len != REPLY_LEN || r.tag >= TAGS)
		die("a reply of %u bytes, with tag %u", wc.byte_len, r.tag);
	if (r.status > ST_IO_ERROR)
		die("a reply with status %u", r.status);
	c->status[r.tag] = r.status;
	post_receive(c, wc.wr_id); /* before the next command */
	return r.tag;
}

/* The reply may be here before the SEND has completed. The command is done with
 * both: then its memory is ours, and there is room in the send queue. */
uint32_t finish(struct client *c)
{
	bool reply;
	uint32_t tag;

	do
		tag = take(c, &reply);
	while (++c->seen[tag] < 2);
	c->seen[tag] = 0;
	return tag;
}

enum status call(struct client *c, uint32_t operation, uint64_t first,
		 uint32_t count)
{
	start(c, 0, operation, first, count);
	return c->status[finish(c)];
}

const char *const status_names[] = { "ok",        "no such block",
				     "bad count", "unknown operation",
				     "bad tag",   "I/O error" };

void call_ok(struct client *c, uint32_t operation, uint64_t first,
	     uint32_t count)
{
	enum status status = call(c, operation, first, count);

	if (status != ST_OK)
		die("operation %u on block %llu: %s", operation,
		    (unsigned long long)first, status_names[status]);
}

void fill(struct client *c, uint32_t tag, uint64_t word)
{
	for (int i = 0; i < MAX_COUNT; i++)
		for (int k = 0; k < WORDS; k++)
			c->buffer[tag][i][k] = word + (uint64_t)i;
}
