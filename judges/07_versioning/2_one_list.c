/* SPDX-License-Identifier: MIT */
/*
 * judges/07_versioning/2_one_list.c - the flags: rxe keeps the order anyway.
 *
 * before: right, but 3 lists: 1 would do
 * hint1: Which flag makes a request wait for the READs before it? Which
 * hint1: of the three has READs before it?
 * hint1.zh: 哪个标志让请求等前面的 READ？三个请求中，哪些前面有 READ？
 * hint2: Lesson 05 has the flag. Link the requests by next. One
 * hint2: completion says that all before it is done, too: which one must
 * hint2: that be?
 * hint2.zh: 这个标志在第 5 课里。用 next 连起请求。一条 CQE 也说明它前面的都完
 * hint2.zh: 成了：应该是哪个请求的 CQE？
 */
#include "2_one_list.h"

#include "looks.h"
#include "records.h"

const char *an_error_ends_it = "1";

static void on_post(const struct ibv_send_wr *wr)
{
	bool fenced = wr->send_flags & IBV_SEND_FENCE;
	bool waited = seen.last_signaled && seen.found == seen.signaled;

	if (wr->send_flags & ~(unsigned)(IBV_SEND_FENCE | IBV_SEND_SIGNALED))
		wrong("a flag that a READ does not need");
	if (seen.posted < 3 && wr->sg_list != &pieces[seen.posted])
		wrong("request %d is not READ %d of reads[]", seen.posted + 1,
		      seen.posted + 1);
	if (seen.posted == 0 && fenced)
		wrong("READ 1 has a fence, and nothing to wait for");
	if (seen.posted > 0 && !fenced && !waited)
		wrong("READ %d does not wait for READ %d", seen.posted + 1,
		      seen.posted);
}

void judge(void)
{
	static const struct watch w = { .posts = on_post,
					.lets_find = patient_look };
	const void *const from[3] = { &record.version, record.data,
				      &record.version };
	struct ibv_send_wr reads[3];

	record_up();
	for (int i = 0; i < 3; i++)
		reads[i] =
			request(IBV_WR_RDMA_READ, &pieces[i], from[i], theirs);
	watch(&d.you, &w);
	read_record(&d.you, reads);
	if (seen.posted < 3)
		wrong("not all three READs were posted");
	if (!seen.last_signaled)
		wrong("the last READ has no completion");
	if (seen.found < 1)
		wrong("read_record() returned before the record was here");
	enough(1, 3, 1);
}
