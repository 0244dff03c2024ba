/* SPDX-License-Identifier: MIT */
/*
 * 10_key_value/table.c - a slot of the table, as a client reads and changes it.
 *
 * The table is in the memory of a server that sleeps. So all that keeps it in order
 * is here: a reader looks at the version before and after (lesson 07). A writer makes
 * the version odd before it writes and even when it is done (exercise 7.4). A client
 * that waits too long for a writer has the writer cut off, and does its work.
 */
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "post.h"
#include "table.h"

/* ---- requests ---------------------------------------------------------- */

static size_t slot_at(unsigned s)
{
	return offsetof(struct shared, slot) + s * sizeof(struct slot);
}

static struct ibv_sge piece(const struct worker *w, void *p, uint32_t len)
{
	return (struct ibv_sge){ .addr = (uintptr_t)p,
				 .length = len,
				 .lkey = w->mr->lkey };
}

/* A READ or a WRITE of what is `there` in the server's region. */
static struct ibv_send_wr copy(const struct worker *w, enum ibv_wr_opcode op,
			       struct ibv_sge *here, size_t there)
{
	return (struct ibv_send_wr){
		.opcode = op,
		.sg_list = here,
		.num_sge = 1,
		.wr.rdma = { .remote_addr = w->server.addr + there,
			     .rkey = w->server.rkey },
	};
}

static struct ibv_send_wr swap(const struct worker *w, struct ibv_sge *old,
			       size_t there, uint64_t from, uint64_t to)
{
	return (struct ibv_send_wr){
		.opcode = IBV_WR_ATOMIC_CMP_AND_SWP,
		.sg_list = old,
		.num_sge = 1,
		.wr.atomic = { .remote_addr = w->server.addr + there,
			       .rkey = w->server.rkey,
			       .compare_add = from,
			       .swap = to },
	};
}

/* Posts the requests from first to last as one list, and waits for the last. */
static struct ibv_wc round_trip(struct worker *w, struct ibv_send_wr *first,
				struct ibv_send_wr *last)
{
	last->next = NULL;
	last->send_flags = IBV_SEND_SIGNALED;
	post(&w->ep, first);
	w->trips++;
	return wait_wc(&w->ep);
}

static void succeed(struct ibv_wc wc, const char *what)
{
	if (wc.status != IBV_WC_SUCCESS)
		die("%s: %s", what, ibv_wc_status_str(wc.status));
}

static void fetch(struct worker *w, void *to, uint32_t len, size_t from)
{
	struct ibv_sge here = piece(w, to, len);
	struct ibv_send_wr read = copy(w, IBV_WR_RDMA_READ, &here, from);

	succeed(round_trip(w, &read, &read), "RDMA_READ");
}

static void pause_at(struct worker *w, enum moment m)
{
	if (w->pause)
		w->pause(w, m);
}

/* ---- a change ---------------------------------------------------------- */

static size_t log_at(unsigned id, unsigned turn)
{
	return offsetof(struct shared, log) +
	       ((id - 1) * 2 + turn) * sizeof(struct log);
}

/*
 * DOC: take. Makes the version odd, if it is still what we know, and so takes the
 * slot. In the same list, and before it, goes what we are going to write: whoever
 * sees our number in the version finds it in our log.
 */
bool take(struct worker *w, unsigned s, uint64_t from, uint64_t odd)
{
	struct own *o = w->own;
	struct ibv_sge mine = piece(w, &o->mine, sizeof o->mine),
		       old = piece(w, &o->old, 8);
	struct ibv_send_wr log = copy(w, IBV_WR_RDMA_WRITE, &mine,
				      log_at(w->id, w->turn)),
			   cas = swap(w, &old, slot_at(s), from, odd);

	o->mine.slot = s;
	o->mine.version = odd;
	o->mine.check = log_check(&o->mine);
	log.next = &cas;
	o->old = NO_VALUE;
	succeed(round_trip(w, &log, &cas), "COMPARE_AND_SWAP");
	if (o->old == NO_VALUE) { /* nobody else ever writes this odd one */
		fetch(w, &o->after, 8, slot_at(s));
		return o->after == odd;
	}
	return o->old == from; /* the status does not say that */
}

/*
 * DOC: put. The slot is ours. Its record, and then the even version: a WRITE and an
 * atomic behind it are executed in order. What the atomic finds need not be
 * looked at: nobody changes our odd version before we are cut off. (One WRITE
 * would do for the record. Two leave room for a pause in the middle.)
 */
struct ibv_wc put(struct worker *w, unsigned s, uint64_t odd)
{
	struct own *o = w->own;
	struct record *r = &o->mine.record;
	const uint32_t head = offsetof(struct record, value[VALUE / 2]);
	size_t to = slot_at(s) + offsetof(struct slot, record);
	struct ibv_sge a = piece(w, r, head),
		       b = piece(w, (char *)r + head, sizeof *r - head),
		       old = piece(w, &o->old, 8);
	struct ibv_send_wr one = copy(w, IBV_WR_RDMA_WRITE, &a, to),
			   two = copy(w, IBV_WR_RDMA_WRITE, &b, to + head),
			   even = swap(w, &old, slot_at(s), odd,
				       count_of(odd) + 1);

	two.next = &even;
	if (w->pause) {
		succeed(round_trip(w, &one, &one), "RDMA_WRITE");
		w->pause(w, HALF);
		return round_trip(w, &two, &even);
	}
	one.next = &two; /* as it should be: one list */
	return round_trip(w, &one, &even);
}

/* Ours, after `from`, which is even, or odd and of another client. It always counts
 * up: a version that was there once never comes back. */
uint64_t odd_version(const struct worker *w, uint64_t from)
{
	return ((count_of(from) + 1) | 1) | (uint64_t)w->id << 56;
}

/* Own->mine.record goes into slot s, if the version there is still `from`. */
bool change(struct worker *w, unsigned s, uint64_t from)
{
	uint64_t odd = odd_version(w, from);

	pause_at(w, TO_SWAP);
	if (!take(w, s, from, odd)) {
		w->lost++;
		return false;
	}
	succeed(put(w, s, odd), "RDMA_WRITE and COMPARE_AND_SWAP");
	w->turn = !w->turn;
	return true;
}

/* ---- a client that stopped --------------------------------------------- */

/* The server does it (server.c), and says when it is done. */
static void cut_off(struct worker *w, unsigned id)
{
	static pthread_mutex_t tcp = PTHREAD_MUTEX_INITIALIZER;
	char byte = (char)('0' + id);

	pthread_mutex_lock(&tcp);
	tcp_send(&w->ep, &byte, 1, "cutting off a client");
	tcp_recv(&w->ep, &byte, 1, "cutting off a client");
	pthread_mutex_unlock(&tcp);
}

/* DOC: which-log. Fetches both logs of a client. Returns which of them is for this slot
 * and this version; 2: none. */
static unsigned fetch_logs(struct worker *w, unsigned id, unsigned s,
			   uint64_t odd)
{
	const struct log *l = w->own->logs;
	unsigned i = 0;

	fetch(w, w->own->logs, sizeof w->own->logs, log_at(id, 0));
	while (i < 2 && (l[i].slot != s || l[i].version != odd ||
			 l[i].check != log_check(&l[i])))
		i++;
	return i;
}

/*
 * DOC: recover. The slot has been taken for too long. Is its client dead, or only
 * slow? We need not know: once it is cut off, it can write no more. Then we do
 * what its log says, as a change of our own. If we are late, the version is another
 * one. If we die, somebody finds the same in our log.
 */
static void recover(struct worker *w, unsigned s, uint64_t odd)
{
	unsigned id = writer_of(odd), i;

	if (id != w->id)
		cut_off(w, id);
	i = fetch_logs(w, id, s, odd);
	if (i == 2)
		return; /* its client is back, and has ended this PUT */
	if (id == w->id)
		w->turn = !i; /* not over the log that is needed */
	w->own->mine.record = w->own->logs[i].record;
	if (change(w, s, odd))
		note("client %u did what client %u had begun", w->id, id);
}

/*
 * DOC: come-back. The server has destroyed our old QP, and this is a new one. Was a PUT
 * of ours in the middle? Then its slot is odd, and its log must stay until somebody has
 * ended this PUT. We do that ourselves, before anything else.
 */
void come_back(struct worker *w)
{
	struct log mine[2];

	fetch(w, w->own->logs, sizeof mine, log_at(w->id, 0));
	memcpy(mine, w->own->logs, sizeof mine);
	for (int i = 0; i < 2; i++) {
		if (mine[i].check != log_check(&mine[i]))
			continue; /* never written, or not to its end */
		fetch(w, &w->own->before, 8, slot_at((unsigned)mine[i].slot));
		if (w->own->before == mine[i].version)
			recover(w, (unsigned)mine[i].slot, mine[i].version);
	}
}

/* ---- a look ------------------------------------------------------------ */

/* DOC: look. Slot s as it is at rest: even, and the same before and after. */
static void look(struct worker *w, unsigned s)
{
	struct own *o = w->own;
	double since = now_ms();
	uint64_t odd = 0;
	int looks = 0;

	for (;;) {
		fetch(w, &o->before, 8, slot_at(s));
		if (o->before % 2 == 0) {
			pause_at(w, ONE_LOOK);
			fetch(w, &o->seen, sizeof o->seen,
			      slot_at(s) + offsetof(struct slot, record));
			fetch(w, &o->after, 8, slot_at(s));
			if (o->after == o->before)
				return;
			w->rejected++;
		} else { /* DOC: lease. Looks are counted, not time: if this
			  * machine stands still, that is one look. */
			pause_at(w, SEES_ODD);
			looks = o->before == odd ? looks + 1 : 0;
			odd = o->before;
			usleep(looks < 10 ? 100
					  : 200u * (unsigned)w->ep.opt->wait_s);
			if (looks >= PATIENCE && MAY_STOP(writer_of(odd))) {
				recover(w, s, odd);
				looks = 0;
			}
		}
		if (now_ms() - since > w->ep.opt->wait_s * 1e3)
			die("slot %u is never at rest", s);
	}
}

/* DOC: find. The slot that has the key; without one, the first that was never
 * used; SLOTS: there is neither. A deleted key keeps its slot, so each search for
 * this key, by any client, ends in the same place. */
unsigned find(struct worker *w, uint64_t key)
{
	for (unsigned i = 0; i < SLOTS; i++) {
		unsigned s = (first_slot(key) + i) % SLOTS;

		look(w, s);
		if (w->own->seen.key == key || w->own->seen.key == 0)
			return s;
	}
	return SLOTS;
}
