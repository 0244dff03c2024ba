/* SPDX-License-Identifier: MIT */
/*
 * tests/recipes.c - runs the recipes of docs/recipes.md, and looks at both ends.
 *
 * The rest of this program is code of the page, and comes behind this:
 * tests/recipes.py makes a function of each recipe as it stands, which must do
 * what it says, and of some with a fault, which must be seen.
 */
#include <arpa/inet.h>
#include <string.h>

#include "../judges/judge.h"

/* What a recipe uses, and what it leaves: the first bytes of its buffer. */
static struct ibv_pd *pd;
static struct ibv_qp *qp;
static struct ibv_cq *cq;
static uint64_t remote_addr;
static uint32_t rkey;
static char here[8];
static struct ibv_wc done;

extern const struct variant {
	const char *heading; /* NULL: that was the last one */
	const char *fault;   /* what the code has instead, or NULL */
	void (*recipe)(void);
} variants[];

/* Numbers are little endian, as on x86 and arm64: "*" is 42. */
static const struct effect {
	const char *heading;
	char before[8], after[8], here[8]; /* the first two at the peer */
	uint32_t length, immediate;        /* of a message, or 0 */
} effects[] = {
	{ "SEND", "", "hello", "hello", 64, 0 },
	{ "RECV", "hello", "hello", "hello", 32, 8 },
	{ "WRITE", "", "hello", "hello", 0, 0 },
	{ "READ", "hello", "hello", "hello", 0, 0 },
	{ "WRITE with immediate", "", "hello", "hello", 64, 7 },
	{ "FETCH_AND_ADD", ")", "*", ")", 0, 0 },
	{ "COMPARE_AND_SWAP", "", "\1", "", 0, 0 },
	{ "COMPARE_AND_SWAP", "\5", "\5", "\5", 0, 0 },
};

static bool has_effect(void (*recipe)(void), const struct effect *e,
		       struct duo *d)
{
	bool receives = strcmp(e->heading, "RECV") == 0;
	static _Alignas(8) char there[192];
	bool is_send = strcmp(e->heading, "SEND") == 0;
	static struct ibv_mr *mr;
	struct ibv_wc wc;

	if (!mr)
		mr = open_memory(&d->peer, there, sizeof there);
	remote_addr = (uintptr_t)there;
	rkey = mr->rkey;
	memset(there, 0, sizeof there);
	memcpy(there, e->before, 8);
	struct ibv_sge sge = piece(there, e->length, mr);
	struct ibv_send_wr message = { .opcode = IBV_WR_SEND_WITH_IMM,
				       .send_flags = IBV_SEND_SIGNALED,
				       .sg_list = &sge,
				       .num_sge = 1,
				       .imm_data = htonl(e->immediate) };

	/* Where a receive is posted nothing else may write, nor be sent from. */
	add_receive(&d->peer, 1, is_send ? there : there + 128, 64, mr);
	if (receives)
		post(&d->peer, &message);
	recipe();
	/* What was written is seen after a message, this one or a later one. */
	if (receives || e->length == 0)
		execute(&d->you, (struct ibv_send_wr){ .opcode = IBV_WR_SEND });
	if (receives)
		expect_completion(&d->peer, "the peer's message");
	wc = wait_wc(&d->peer);
	if (receives)
		wc = done;
	return wc.byte_len == e->length && memcmp(there, e->after, 8) == 0 &&
	       memcmp(here, e->here, 8) == 0 &&
	       (e->immediate == 0 || wc.imm_data == htonl(e->immediate));
}

void judge(void)
{
	struct ibv_qp_cap cap = { .max_send_wr = 4, .max_recv_wr = 4 };
	static struct duo d;

	duo_open(&d, cap);
	d.peer.rnr_retry = 7; /* until RECV has posted its receive */
	d.you.min_rnr_timer = 1;
	duo_connect(&d, 0, ALL_REMOTE);
	pd = d.you.pd;
	qp = d.you.qp;
	cq = d.you.cq;
	for (const struct variant *v = variants; v->heading; v++) {
		bool judged = false;

		for (size_t i = 0; i < sizeof effects / sizeof *effects; i++) {
			if (strcmp(effects[i].heading, v->heading) != 0)
				continue;
			judged = true;
			if (has_effect(v->recipe, &effects[i], &d) == !v->fault)
				continue;
			die("%s: %s%s", v->heading,
			    v->fault ? "nobody sees " : "not as it says",
			    v->fault ? v->fault : "");
		}
		if (!judged)
			die("%s: not judged", v->heading);
	}
}
