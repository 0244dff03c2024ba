/* SPDX-License-Identifier: MIT */
/*
 * judges/02_write/5_window.c - two keys: one is given back, one taken back. What a
 * window opens is read from the bind: rxe does not look at its bounds.
 *
 * before: key 1: lend() posts no BIND_MW
 * hint1: Which key does the window have now, and which will it have when
 * hint1: the bind has completed? Who must know both?
 * hint1.zh: 内存窗口现在的 rkey 是哪个，绑定完成后又是哪个？谁必须知道这两
 * hint1.zh: 个 rkey？
 * hint2: lend: a request with opcode IBV_WR_BIND_MW, and bind_mw.mw,
 * hint2: bind_mw.rkey (the new key) and bind_mw.bind_info. Post, wait,
 * hint2: then mw->rkey = the new key. take_back: IBV_WR_LOCAL_INV with
 * hint2: invalidate_rkey. Post, wait.
 * hint2.zh: lend：请求的 opcode 是 IBV_WR_BIND_MW，填 bind_mw.mw、bind_mw.rkey
 * hint2.zh: （新的 rkey）和 bind_mw.bind_info。投递，等待，然后 mw->rkey = 新的
 * hint2.zh: rkey。take_back：IBV_WR_LOCAL_INV，填 invalidate_rkey。投递，等待。
 */
#include "5_window.h"
#include "writes.h"

const char *an_error_ends_it = "1u"; /* of the bind, of the invalidation */

enum { WINDOW = 64 };

static struct ibv_mw *mw;
static struct ibv_mr *mr;
static uint32_t key; /* that mw has now */
static size_t len;   /* of what is lent */
static bool bound;   /* rxe crashes if a void key is made void (rxe_mw.c) */

static void posts(const struct ibv_send_wr *wr)
{
	const struct ibv_mw_bind_info *part = &wr->bind_mw.bind_info;

	if (wr->opcode == IBV_WR_LOCAL_INV && wr->invalidate_rkey != key)
		wrong("take_back() names another key than the present one");
	if (wr->opcode == IBV_WR_LOCAL_INV && !bound)
		wrong("a LOCAL_INV of a key that is void already");
	if (wr->opcode == IBV_WR_LOCAL_INV)
		bound = false;
	if (wr->opcode != IBV_WR_BIND_MW)
		return;
	if (bound)
		wrong("a BIND_MW, and the present key is not void yet");
	if (mw->rkey != key)
		wrong("mw->rkey is not the key that the window has now");
	if (wr->bind_mw.rkey == key)
		wrong("the bind does not change the key");
	if (wr->bind_mw.rkey >> 8 != key >> 8)
		wrong("the bind changes more than the key's lowest byte");
	if (part->addr != (uintptr_t)own + WINDOW || part->length != len)
		wrong("the window opens other bytes");
	if (part->mw_access_flags & IBV_ACCESS_LOCAL_WRITE)
		wrong("LOCAL_WRITE is a right of the region, not of a window");
	if (!(part->mw_access_flags & IBV_ACCESS_REMOTE_WRITE))
		wrong("the window gives no right to WRITE");
	if (part->mw_access_flags != IBV_ACCESS_REMOTE_WRITE)
		wrong("the window gives other rights than to WRITE");
	key = wr->bind_mw.rkey;
	bound = true;
}

static const struct watch all = { .posts = posts,
				  .looks = looks,
				  .lets_find = patient_look };

/* rxe of 6.1 is done in ibv_post_send() already; a NIC is not. */
static void completed(const char *what)
{
	returned();
	if (!seen.last_signaled)
		wrong("nothing says that the %s is done", what);
}

static int peer_writes(uint32_t rkey)
{
	struct ibv_mr window = { .rkey = rkey };

	return outcome(&d.peer,
		       request(IBV_WR_RDMA_WRITE, NULL, own + WINDOW, &window),
		       theirs, len, to);
}

static void borrow(int n)
{
	about("key %d", n);
	watch(&d.you, &all);
	const uint32_t before = key;
	len = WINDOW - (size_t)n;
	uint32_t rkey = lend(&d.you, mw, mr, own + WINDOW, len);
	if (key == before)
		wrong("lend() posts no BIND_MW");
	completed("bind");
	if (peer_writes(rkey) != IBV_WC_SUCCESS)
		wrong("the peer's WRITE to the window is refused");
}

/* The next key begins again at 0 in its lowest byte. */
static void last_of_256(void)
{
	struct ibv_send_wr bind = {
		.opcode = IBV_WR_BIND_MW,
		.bind_mw = { .mw = mw,
			     .rkey = key | 0xff,
			     .bind_info = { .mr = mr,
					    .addr = (uintptr_t)own,
					    .length = WINDOW } },
	};
	struct ibv_send_wr inv = { .opcode = IBV_WR_LOCAL_INV,
				   .invalidate_rkey = key | 0xff };

	if ((key & 0xff) == 0xff)
		return;
	execute(&d.you, bind);
	mw->rkey = key |= 0xff;
	execute(&d.you, inv);
}

void judge(void)
{
	struct ibv_send_wr send = { .opcode = IBV_WR_SEND_WITH_INV };

	open_both();
	mr = register_memory(&d.you, own, MEMORY,
			     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
	mw = ibv_alloc_mw(d.you.pd, IBV_MW_TYPE_2);
	if (!mw)
		die("ibv_alloc_mw");
	key = mw->rkey;
	last_of_256();

	borrow(1);
	watch(&d.you, NULL);
	add_receive(&d.you, 0, NULL, 0, NULL);
	send.invalidate_rkey = key;
	execute(&d.peer, send);
	expect_completion(&d.you, "a key is given back");
	bound = false;

	borrow(2);
	watch(&d.you, &all);
	take_back(&d.you, mw);
	if (bound)
		wrong("take_back() posts no LOCAL_INV");
	completed("invalidation");

	borrow(3);
}
