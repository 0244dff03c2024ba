/* SPDX-License-Identifier: MIT */
/*
 * judges/01_send_recv/4_bad_wr.c - four messages a list, some refused at first.
 *
 * before: list 2: message 3 never came
 * hint1: Which requests of the list are posted when ibv_post_send returns
 * hint1: an error? Which variable tells you?
 * hint1.zh: ibv_post_send 返回错误时，链表中哪些请求已经投递？哪个变量告诉你？
 * hint2: bad points to the first request that was not posted. Continue
 * hint2: there, not at the beginning, until ibv_post_send returns 0.
 * hint2.zh: bad 指向第一个没有投递的请求。从它继续，不要从头再来，直到
 * hint2.zh: ibv_post_send 返回 0。
 */
#include <errno.h>

#include "4_bad_wr.h"
#include "fails.h"

enum { N = 4, LISTS = 3, RECEIVES = 16, CLAIMED = 99 };

/* Which of a list claim to have 99 buffers: a bit each. */
static const int refused[LISTS] = { 0, 1 << 2, 0xb };
static int list, calls, had; /* which list; seen.lists; of it refused so far */
static int sent;             /* of it, and those that came twice count twice */
static bool cut;             /* the rest of this call is not posted */
static struct duo d;

/* Nothing may be changed that ibv_post_send has not refused yet. */
static void posts(const struct ibv_send_wr *wr)
{
	int bit = 1 << ((int)wr->imm_data - 1);

	if (seen.posted > 100)
		wrong("posted again and again: if 0 is returned, bad says "
		      "nothing");
	if (calls != seen.lists) {
		calls = seen.lists;
		cut = false;
	}
	sent += !cut && wr->num_sge != CLAIMED;
	if (cut || !(refused[list] & bit))
		return;
	if (wr->num_sge == CLAIMED) {
		had |= bit;
		cut = true;
	} else if (!(had & bit)) {
		wrong("message %d was changed before it was refused",
		      (int)wr->imm_data);
	}
}

static bool same(const struct ibv_send_wr *a, const struct ibv_send_wr *b)
{
	return a->next == b->next && a->wr_id == b->wr_id &&
	       a->sg_list == b->sg_list && a->num_sge == b->num_sge &&
	       a->opcode == b->opcode && a->send_flags == b->send_flags &&
	       a->imm_data == b->imm_data;
}

static int (*real_post)(struct ibv_qp *, struct ibv_send_wr *,
			struct ibv_send_wr **);

/* Why it is refused differs: rxe says EINVAL, mlx5 ENOMEM (docs/attributes.md). */
static int refuses_as_mlx5(struct ibv_qp *qp, struct ibv_send_wr *wr,
			   struct ibv_send_wr **bad)
{
	return real_post(qp, wr, bad) ? ENOMEM : 0;
}

/* For another reason than 99 buffers. */
static int refuses_all(struct ibv_qp *qp, struct ibv_send_wr *wr,
		       struct ibv_send_wr **bad)
{
	static int times;

	(void)qp;
	if (++times > 2)
		_exit(0);
	*bad = wr;
	return ENOMEM;
}

/* In a child. */
static void post_in_vain(void)
{
	struct ibv_send_wr wr = { .num_sge = CLAIMED };

	d.you.ctx->ops.post_send = refuses_all;
	post_all(&d.you, &wr);
}

void judge(void)
{
	char out = 'x', in;
	struct ibv_send_wr wr[N], was[N];
	struct ibv_wc wc;

	duo_up(&d);
	struct ibv_mr *from = open_memory(&d.you, &out, 1);
	struct ibv_mr *to = open_memory(&d.peer, &in, 1);
	struct ibv_sge sge = piece(&out, 1, from);

	/* More than needed: a message too many finds one. */
	for (int i = 0; i < RECEIVES; i++)
		add_receive(&d.peer, 0, &in, 1, to);
	for (list = 0; list < LISTS; list++) {
		about("list %d", list + 1);
		if (list == LISTS - 1) {
			watch(&d.you, NULL);
			real_post = d.you.ctx->ops.post_send;
			d.you.ctx->ops.post_send = refuses_as_mlx5;
		}
		watch(&d.you, &(struct watch){ .posts = posts });
		calls = had = sent = 0;
		for (int i = 0; i < N; i++) {
			wr[i] = request(IBV_WR_SEND_WITH_IMM, &sge, NULL, from);
			wr[i].imm_data = (uint32_t)i + 1; /* its number */
			wr[i].send_flags = IBV_SEND_SIGNALED;
			bool refuse = refused[list] >> i & 1;
			/* 0 or 1, so that a change of another one is seen. */
			int num_sge = list == 0 || i % 2;
			wr[i].num_sge = refuse ? CLAIMED : num_sge;
			wr[i].next = i + 1 < N ? &wr[i + 1] : NULL;
			was[i] = wr[i];
			was[i].num_sge = refuse ? 1 : num_sge;
		}
		post_all(&d.you, wr);

		for (int i = 1; i <= N; i++) {
			if (!completes_within(&d.peer, 1000, &wc))
				wrong("message %d never came", i);
			int came = (int)wc.imm_data;
			if (came < i)
				wrong("message %d came twice", came);
			if (came > i)
				wrong("message %d was left out", i);
		}
		for (int i = 0; i < sent; i++)
			expect_completion(&d.you, "SEND");
		if (poll_one(&d.peer, &wc))
			wrong("message %d came twice", (int)wc.imm_data);
		for (int i = 0; i < N; i++) {
			if (wr[i].num_sge != was[i].num_sge)
				wrong("num_sge of message %d is %d, and should "
				      "be %d",
				      i + 1, wr[i].num_sge, was[i].num_sge);
			if (!same(&wr[i], &was[i]))
				wrong("more was changed of message %d than "
				      "num_sge",
				      i + 1);
		}
	}
	about("%s", "");
	if (!fails(post_in_vain))
		wrong("a request with one buffer is refused, too, and you did "
		      "not end the program");
}
