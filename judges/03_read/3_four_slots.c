/* SPDX-License-Identifier: MIT */
/*
 * judges/03_read/3_four_slots.c - more records than places for them.
 *
 * before: 8 records: record 4: its slot still has record 0 in it
 * hint1: At which moment does a slot become free? What can you do at that
 * hint1: moment, and what must be done before the first such moment?
 * hint1.zh: 槽位在哪一刻空出来？这一刻你能做什么？第一次到这一刻之前，必须先
 * hint1.zh: 做什么？
 * hint2: First fill the slots, as many as there are records for. Then
 * hint2: each completion frees one slot: take the record, then post one
 * hint2: READ into the same slot.
 * hint2.zh: 先填槽位，有几条记录就填几个，填满为止。此后每条 CQE 空出一个槽位：
 * hint2.zh: 取走记录，再向同一个槽位投递一个 READ。
 */
#include "3_four_slots.h"
#include "looks.h"

const char *an_error_ends_it = "18";

static char data[DATA], buf[SLOTS * RECORD];
static int n, taken;         /* records: there are, were taken */
static int slot_of[RECORDS]; /* of those that are posted */

static void posts(const struct ibv_send_wr *wr)
{
	int record =
		(int)((wr->wr.rdma.remote_addr - (uintptr_t)data) / RECORD);
	uint64_t slot = (wr->sg_list->addr - (uintptr_t)buf) / RECORD;

	if (record >= n)
		wrong("record %d was posted, and there is none", record);
	if (record != seen.posted)
		wrong("record %d was posted, and not %d", record, seen.posted);
	slot_of[record] = (int)slot;
	for (int i = taken; i < record; i++)
		if (slot_of[i] == slot_of[record])
			wrong("record %d: its slot still has record %d in it",
			      record, i);
}

static void looks(void)
{
	/* A second look is a wait: what is complete could be taken. One is not, but
	 * for who has armed the CQ. */
	int busy = seen.posted - (seen.in_vain ? seen.found : taken);

	if (second_look() && seen.posted < n && busy < SLOTS && !failed)
		wrong("you wait with %d of %d slots busy, %d of %d posted",
		      busy, SLOTS, seen.posted, n);
}

void read_record(struct ep *ep, const struct records *r, int i, int slot)
{
	if (slot < 0 || slot >= SLOTS)
		wrong("record %d: there is no slot %d", i, slot);
	struct ibv_sge into = { .addr = (uintptr_t)r->slots[slot],
				.length = RECORD,
				.lkey = r->lkey };
	struct ibv_send_wr read = { .opcode = IBV_WR_RDMA_READ,
				    .send_flags = IBV_SEND_SIGNALED };

	read.sg_list = &into;
	read.num_sge = 1;
	read.wr.rdma.remote_addr = r->addr + (uint64_t)i * RECORD;
	read.wr.rdma.rkey = r->rkey;
	post(ep, &read);
}

void take(int i)
{
	if (i != taken)
		wrong("take(%d) was called, take(%d) is next", i, taken);
	if (i >= seen.found) /* they complete in order */
		wrong("record %d was taken before its READ was complete", i);
	taken++;
}

void judge(void)
{
	static const struct watch eyes = { .posts = posts,
					   .looks = looks,
					   .lets_find = patient_look };
	struct duo d;

	duo_up(&d);
	struct records r = {
		.lkey = open_memory(&d.you, buf, sizeof buf)->lkey,
		.rkey = open_memory(&d.peer, data, DATA)->rkey,
		.addr = (uintptr_t)data,
	};

	for (int s = 0; s < SLOTS; s++)
		r.slots[s] = buf + s * RECORD;
	for (n = RECORDS; n > 0; n -= 5) { /* 8, 3 */
		about("%d records", n);
		taken = 0;
		watch(&d.you, &eyes);
		fetch_all(&d.you, &r, n);
		if (taken < n)
			wrong("record %d was never taken", taken);
	}
}
