/* SPDX-License-Identifier: MIT */
/*
 * 09_block_store/server.c - blocks for several clients; the server transfers.
 *
 * A client SENDs commands. The server moves the data, by RDMA WRITE into the
 * client's buffer or RDMA READ out of it, and SENDs a reply. No client can touch
 * the server's memory. A client that dies or breaks the rules is lost, and no
 * other client.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "door.h"
#include "lesson.h"
#include "post.h"

/* Works of a client: TAGS to be answered, and TAGS whose reply must complete. */
enum { SHARE = 2 * TAGS, WORKS = GUESTS * SHARE };

/* What a command needs, from its receive to the completion of its reply. */
static struct work {
	struct command command; /* received here */
	struct reply reply;     /* sent from here */
	struct guest *guest;    /* whose command it is */
	_Alignas(BLOCK) char data[MAX_COUNT * BLOCK];
} works[WORKS];

/* What a completion is of; the wr_id has the work's number, too. */
enum kind { COMMAND, RDMA_READ, RDMA_WRITE, REPLY, KINDS };
static const char *const kinds[] = { "command: ", "RDMA_READ: ", "RDMA_WRITE: ",
				     "reply: " };

static struct door door; /* the clients, and a QP for each */
static struct account {
	unsigned tags;   /* not answered yet: a bit each */
	int busy, early; /* works that are served; early WRITEs among them */
	unsigned in, out;
	struct work *line[2 * SHARE]; /* commands that wait, from out to in */
} of[GUESTS];
static bool damaged; /* something that was answered OK is lost, for good */
static struct ibv_srq *srq;
static struct ibv_mr *mr; /* of works[] */
static const char *file;
static int store, refused_keys;

static uint64_t id(const struct work *w, enum kind kind)
{
	return (uint64_t)((w - works) * KINDS + kind);
}

/* DOC: one-queue. The receive belongs to nobody: the next SEND takes it. */
static void offer(struct work *w)
{
	struct ibv_sge sge = { (uintptr_t)&w->command, sizeof w->command,
			       mr->lkey };
	struct ibv_recv_wr *bad,
		wr = { .wr_id = id(w, COMMAND), .sg_list = &sge, .num_sge = 1 };
	int rc = ibv_post_srq_recv(srq, &wr, &bad);

	if (rc)
		die_err(rc, "ibv_post_srq_recv");
}

/* The work is done, and free for the next command, of any client. */
static void release(struct work *w)
{
	of[w->guest - door.guest].busy--;
	of[w->guest - door.guest].early -=
		w->command.operation == OP_WRITE_EARLY;
	w->guest->holds--;
	offer(w);
}

/* DOC: lose. This client, no other. (Without -f only keys may be wrong: act 4.) */
static void lose(struct guest *g, const char *what, const char *why)
{
	bool key = strcmp(why, ibv_wc_status_str(IBV_WC_REM_ACCESS_ERR)) == 0;

	if (g->gone)
		return;
	refused_keys += key;
	if (!file && !key)
		die("%s%s", what, why);
	say("client %d loses its connection: %s%s", g->number, what, why);
	door_lose(g);
}

/* SENDs the reply, behind `first` if there is one, in the same list. */
static void reply(struct work *w, enum status status,
		  const struct ibv_send_wr *first, unsigned fence)
{
	struct ibv_sge sge = { (uintptr_t)&w->reply, sizeof w->reply,
			       mr->lkey };
	struct ibv_send_wr send = {
		.wr_id = id(w, REPLY),
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED | fence,
		.sg_list = &sge,
		.num_sge = 1,
	};
	struct ibv_send_wr list = first ? *first : send;

	list.next = first ? &send : NULL;
	w->reply = (struct reply){ htobe32(w->command.tag), htobe32(status) };
	if (status != ST_BAD_TAG) /* else another command has it */
		of[w->guest - door.guest].tags &= ~(1u << w->command.tag);
	post(&w->guest->ep, &list);
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

static void serve(struct work *w)
{
	struct command *m = &w->command;
	struct account *a = &of[w->guest - door.guest];

	*m = big_endian(*m);
	a->early += m->operation == OP_WRITE_EARLY;
	enum status bad = check(m, a->tags);
	if (bad) {
		reply(w, bad, NULL, 0);
		return;
	}
	a->tags |= 1u << m->tag;

	off_t at = (off_t)m->first * BLOCK;
	struct ibv_sge sge = { (uintptr_t)w->data, m->count * BLOCK, mr->lkey };
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
		data.wr_id = id(w, RDMA_WRITE);
		data.opcode = IBV_WR_RDMA_WRITE;
		bool ok = pread(store, w->data, sge.length, at) == sge.length;
		reply(w, ok ? ST_OK : ST_IO_ERROR, ok ? &data : NULL, 0);
	} else if (m->operation == OP_FLUSH) {
		damaged |= fdatasync(store) != 0;
		reply(w, damaged ? ST_IO_ERROR : ST_OK, NULL, 0);
	} else {
		data.wr_id = id(w, RDMA_READ);
		data.opcode = IBV_WR_RDMA_READ;
		data.send_flags = IBV_SEND_SIGNALED;
		/* DOC: fetch. Nothing is here before the READ has completed.
		 * Either we wait for that, and fetched() replies, or our NIC
		 * does: the fence holds the reply back. */
		if (m->operation == OP_WRITE)
			post(&w->guest->ep, &data);
		else
			reply(w, ST_OK, &data, IBV_SEND_FENCE);
	}
}

/* DOC: store. All of the data is here. Only now blocks change, in one pwrite. */
static void fetched(struct work *w)
{
	uint32_t len = w->command.count * BLOCK;
	off_t at = (off_t)w->command.first * BLOCK;
	bool ok = pwrite(store, w->data, len, at) == len;

	if (w->command.operation == OP_WRITE_EARLY)
		damaged |= !ok; /* it was told OK */
	else if (w->guest->gone)
		release(w);
	else
		reply(w, ok ? ST_OK : ST_IO_ERROR, NULL, 0);
}

/* DOC: behind. A client that has its reply may ask again before we have the
 * completions: a fence waits for the data, not for our CQ. So commands behind an
 * early WRITE wait until it is done; and no client has more than TAGS works served. */
static void serve_next(struct guest *g)
{
	struct account *a = &of[g - door.guest];

	while (a->out != a->in &&
	       (g->gone || (a->early == 0 && a->busy < TAGS))) {
		struct work *w = a->line[a->out++ % (2 * SHARE)];
		a->busy++;
		if (g->gone)
			release(w);
		else
			serve(w);
	}
}

/* Of a completion that is no success only wr_id, status and qp_num are set. */
static void completed(const struct ibv_wc *wc)
{
	struct work *w = &works[wc->wr_id / KINDS];
	enum kind kind = wc->wr_id % KINDS;
	bool ok = wc->status == IBV_WC_SUCCESS;
	struct guest *g = door_guest(&door, wc->qp_num);

	if (!g) { /* a command, too late for us: its QP is gone */
		offer(w);
		return;
	}
	struct account *a = &of[g - door.guest];
	g->heard = now_ms();
	if (!ok)
		lose(g, kinds[kind], ibv_wc_status_str(wc->status));
	if (kind == COMMAND) {
		w->guest = g;
		if (++g->holds > SHARE)
			lose(g, "more commands than credits", "");
		if (ok && wc->byte_len != sizeof w->command)
			lose(g, "a command of another length", "");
		a->line[a->in++ % (2 * SHARE)] = w;
	} else if (kind == RDMA_READ && ok)
		fetched(w);
	else if (kind == REPLY ||
		 (kind == RDMA_READ && w->command.operation == OP_WRITE))
		release(w); /* nothing of it is under way any more */
	serve_next(g);
}

/* DOC: welcome. All QPs take their receives from the shared queue, and all share
 * one PD: a PD says which rkeys a peer may use, and here are none. */
static void welcome(struct guest *g, const struct qp_info *peer)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.send_cq = g->ep.cq,
		.recv_cq = g->ep.cq,
		.srq = srq,
		.cap = { .max_send_wr = 2 * TAGS, .max_send_sge = 1 },
	};

	of[g - door.guest] = (struct account){ 0 };
	g->ep.qp = ibv_create_qp(g->ep.pd, &init);
	if (!g->ep.qp)
		die_err(errno, "ibv_create_qp");
	say("client %d is here", g->number);
	int rc = qp_connect(&g->ep, 0, peer); /* 0: it is granted nothing */
	if (rc)
		lose(g, "no way to its GID: ", strerror(rc));
	else
		door_answer(g);
}

int main(int argc, char **argv)
{
	struct own_option own[] = { { 'f', "file of the blocks", &file },
				    { 0 } };
	struct options opt = parse_args_and(argc, argv, "server", LESSON, own);

	store = file ? open(file, O_RDWR | O_CREAT, 0600)
		     : memfd_create("blocks", 0);
	if (store != -1 && lseek(store, 0, SEEK_END) > BLOCKS * BLOCK)
		die("%s has more than %d blocks", file, BLOCKS);
	if (store == -1 || ftruncate(store, BLOCKS * BLOCK) == -1)
		die_err(errno, "%s", file ? file : "memfd_create");
	struct ep base = ep_open_device(&opt, 3 * WORKS); /* its requests */
	/* DOC: own-memory. For our own NIC only: no client gets a key. */
	mr = ibv_reg_mr(base.pd, works, sizeof works, IBV_ACCESS_LOCAL_WRITE);
	if (!mr)
		die_err(errno, "ibv_reg_mr");
	struct ibv_srq_init_attr init = { .attr = { WORKS, .max_sge = 1 } };
	srq = ibv_create_srq(base.pd, &init);
	if (!srq)
		die_err(errno, "ibv_create_srq");
	for (int i = 0; i < WORKS; i++)
		offer(&works[i]);
	say("%d blocks, %d receives for all clients", BLOCKS, WORKS);
	door_open(&door, &base);
	door_serve(&door, file != NULL, completed, welcome, lose);
	if (!file && refused_keys != 2)
		die("%d keys were refused, not 2", refused_keys);
	if (!file && door.came != 3)
		die("%d clients came, not 3", door.came);
	say("PASS %d clients served%s", door.came,
	    file ? "" : ", 2 of them lost by a key, the third was not");
	int rc = ibv_destroy_srq(srq);
	if (rc || (rc = ibv_dereg_mr(mr)))
		die_err(rc, "ibv_destroy_srq, ibv_dereg_mr");
	ep_close(&base);
	return 0;
}
