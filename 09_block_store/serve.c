/* SPDX-License-Identifier: MIT */
/*
 * 09_block_store/serve.c - one command: check it, move its data, reply.
 */
#include "serve.h"
#include "post.h"
#include "store.h"

const char *const kind_names[] = { "command", "RDMA_READ", "RDMA_WRITE",
				   "reply" };

void account_open(struct account *a, struct conn *c, uint32_t lkey)
{
	a->conn = c;
	a->lkey = lkey;
	a->tags = 0;
	a->unanswered = a->waiting = a->served = a->early = a->syncs = 0;
	for (int i = 0; i < TAGS; i++)
		a->work[i].account = NULL;
}

/* The work is done, and free for the next command of this client. */
static void release(struct work *w)
{
	struct account *a = w->account;

	a->early -= w->command.operation == OP_WRITE_EARLY;
	a->served--;
	a->conn->holds--;
	w->account = NULL;
}

/* SENDs the reply, behind `first` if there is one, in the same list. */
static void reply(struct work *w, enum status status,
		  const struct ibv_send_wr *first, unsigned fence)
{
	struct account *a = w->account;
	struct reply message = { .tag = w->command.tag, .status = status };
	struct ibv_sge sge = {
		.addr = (uintptr_t)w->reply,
		.length = REPLY_LEN,
		.lkey = a->lkey,
	};
	struct ibv_send_wr send = {
		.wr_id = request_id(w, REPLY),
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED | fence,
		.sg_list = &sge,
		.num_sge = 1,
	};
	struct ibv_send_wr list = first ? *first : send;

	list.next = first ? &send : NULL;
	reply_pack(w->reply, &message);
	a->unanswered--;
	if (status != ST_BAD_TAG) /* else another command has the tag */
		a->tags &= ~(1u << w->command.tag);
	post(&a->conn->ep, &list);
}

/* DOC: check. No number from the client is used before it was checked. */
static enum status check(const struct command *m, unsigned under_way)
{
	if (m->tag >= TAGS || under_way & 1u << m->tag)
		return ST_BAD_TAG;
	if (m->operation == OP_FLUSH)
		return ST_OK;
	if (m->operation < OP_READ || m->operation > OP_FLUSH)
		return ST_UNKNOWN_OPERATION;
	if (m->count == 0 || m->count > MAX_COUNT)
		return ST_BAD_COUNT;
	/* Not first + count > BLOCKS: that sum may begin again at 0. */
	if (m->first >= BLOCKS || m->count > BLOCKS - m->first)
		return ST_NO_SUCH_BLOCK;
	return ST_OK;
}

static struct work *free_work(struct account *a)
{
	struct work *w = a->work;

	while (w->account)
		w++;
	return w;
}

void serve(struct account *a, const struct command *m)
{
	struct work *w = free_work(a);
	enum status bad = check(m, a->tags);

	w->account = a;
	w->command = *m;
	a->served++;
	a->early += m->operation == OP_WRITE_EARLY;
	if (bad) {
		reply(w, bad, NULL, 0);
		return;
	}
	a->tags |= 1u << m->tag;

	struct ibv_sge sge = {
		.addr = (uintptr_t)w->data,
		.length = m->count * BLOCK,
		.lkey = a->lkey,
	};
	struct ibv_send_wr data = {
		.sg_list = &sge,
		.num_sge = 1,
		.wr.rdma = { .remote_addr = m->addr, .rkey = m->rkey },
	};
	if (m->operation == OP_READ) {
		/* DOC: data-then-status. WRITE, then SEND, on one QP: when the
		 * client receives the status, the data is there. No fence: it
		 * would not wait for a WRITE. Not signaled: if the WRITE
		 * fails, it completes anyway, and so does the SEND. */
		data.wr_id = request_id(w, RDMA_WRITE);
		data.opcode = IBV_WR_RDMA_WRITE;
		bool ok = store_get(w->data, m->first, m->count);
		reply(w, ok ? ST_OK : ST_IO_ERROR, ok ? &data : NULL, 0);
	} else if (m->operation == OP_FLUSH) {
		w->sync = store_sync_begin();
		a->syncs++;
	} else {
		data.wr_id = request_id(w, RDMA_READ);
		data.opcode = IBV_WR_RDMA_READ;
		data.send_flags = IBV_SEND_SIGNALED;
		/* DOC: fetch. Nothing is here before the READ has completed.
		 * Either we wait for that, and fetched() replies, or our NIC
		 * does: the fence holds the reply back. */
		if (m->operation == OP_WRITE)
			post(&a->conn->ep, &data);
		else
			reply(w, ST_OK, &data, IBV_SEND_FENCE);
	}
}

/* DOC: store. All of the data is here. Only now blocks change, in one pwrite. */
static void fetched(struct work *w)
{
	bool ok = store_put(w->data, w->command.first, w->command.count);

	if (w->command.operation == OP_WRITE) {
		if (w->account->conn->closed)
			release(w);
		else
			reply(w, ok ? ST_OK : ST_IO_ERROR, NULL, 0);
	} else if (!ok) {
		store_is_damaged(); /* it was told OK */
	}
}

void served(struct work *w, enum kind kind, bool ok)
{
	if (kind == RDMA_READ && ok)
		fetched(w);
	else if (kind == REPLY ||
		 (kind == RDMA_READ && w->command.operation == OP_WRITE))
		release(w); /* nothing of it is under way any more */
}

bool look_at_syncs(struct account *a)
{
	bool ok, any = false;

	for (struct work *w = a->work; w < a->work + TAGS; w++) {
		if (!w->account || !w->sync || !store_sync_ended(w->sync, &ok))
			continue;
		w->sync = NULL;
		a->syncs--;
		any = true;
		if (a->conn->closed)
			release(w);
		else
			reply(w, ok ? ST_OK : ST_IO_ERROR, NULL, 0);
	}
	return any;
}
