/* SPDX-License-Identifier: MIT */
/*
 * bench/client.c - what does a message cost? One technique at a time.
 *
 * -m rate keeps -q messages under way. -m latency has one: SEND and WRITE go to
 * and fro, and half of a round trip counts, as in perftest; a READ or atomic counts
 * whole. The last of each slot is compared after the timed part, or all inside it (-V 1). A line
 * "result ..." has the numbers for scripts; on soft-RoCE the times mean nothing,
 * but counts do, and ratios of runs side by side.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "post.h"

static const char *const ops[] = { "send", "write",     "write_imm",
				   "read", "fetch_add", "cmp_swap" };
static const char *const modes[] = { "rate", "latency" };

static uint64_t number(char letter, const char *text)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end)
		die("-%c takes a number, not \"%s\"", letter, text);
	return n;
}

static uint64_t choice(char letter, const char *text, const char *const *of,
		       size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(text, of[i]) == 0)
			return i;
	die("-%c does not know \"%s\": see -h", letter, text);
}

static struct settings parse(int argc, char **argv, struct options *opt)
{
	const char *op = "send", *mode = "rate", *size = "8", *count = "1000",
		   *depth = "1", *list = "1", *signal = "1", *inlined = "0",
		   *alignment = "64", *reregister = "0", *verify = "0",
		   *events = "0";
	struct own_option own[] = {
		{ 'o', "send, write, write_imm, read, fetch_add, cmp_swap",
		  &op },
		{ 'm', "rate or latency (rate)", &mode },
		{ 's', "bytes of a message (8)", &size },
		{ 'n', "messages (1000)", &count },
		{ 'q', "messages under way (1)", &depth },
		{ 'l', "requests in one list (1)", &list },
		{ 'S', "one completion for so many requests (1)", &signal },
		{ 'I', "1: INLINE (0)", &inlined },
		{ 'a', "alignment of a message: 1 to 64 (64)", &alignment },
		{ 'r', "1: register the buffer for each message (0)",
		  &reregister },
		{ 'V', "1: compare each message, inside the timed part (0)",
		  &verify },
		{ 'e', "1: the server sleeps, and does not poll (0)", &events },
		{ 0 },
	};

	*opt = parse_args_and(argc, argv, "client", LESSON, own);
	return (struct settings){
		.op = choice('o', op, ops, OPS),
		.mode = choice('m', mode, modes, 2),
		.size = number('s', size),
		.count = number('n', count),
		.depth = number('q', depth),
		.list = number('l', list),
		.signal = number('S', signal),
		.inlined = number('I', inlined),
		.alignment = number('a', alignment),
		.reregister = number('r', reregister),
		.verify = number('V', verify),
		.events = number('e', events),
	};
}

/* Keeps as many messages under way as it may: there is room in the send queue,
 * and, for each, a receive. */
static void stream(struct side *s)
{
	const struct settings *set = &s->set;
	struct wait w = { 0 };

	while (s->done < set->count) {
		uint64_t n = set->count - s->posted;
		uint64_t may = s->done + set->depth;

		if (n > set->list)
			n = set->list;
		if (two_sided(&s->set)) {
			uint64_t credit =
				s->receives + atomic_load(credit_word(s));
			if (may > credit)
				may = credit;
		}
		if (n > 0 && s->posted + n <= may)
			post_messages(s, n);
		else if (pump(s))
			w.since = 0;
		else
			waiting(s, &w, "a completion, or a credit");
	}
	forget_regions(s);
}

static int by_size(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Of n times, in order, the one that so many of 1000 are not above. */
static double of_1000(const double *times, uint64_t n, uint64_t k)
{
	uint64_t i = (n * k + 999) / 1000;

	return times[i ? i - 1 : 0];
}

/* Makes times of what one message took, in us, out of the moments of posting. */
static void latencies(double *at, const struct settings *set)
{
	double trips = set->op < READ ? 2 : 1;

	for (uint64_t i = 0; i < set->count; i++)
		at[i] = (at[i + 1] - at[i]) * 1e3 / trips;
	qsort(at, set->count, sizeof *at, by_size);
}

static void result(const struct side *s, double ms, const struct cost *client,
		   const struct cost *server, const double *times)
{
	const struct settings *set = &s->set;
	char lat[128] = "";
	uint64_t n = set->count;

	if (times)
		snprintf(lat, sizeof lat,
			 " min=%.2f p50=%.2f p99=%.2f p999=%.2f max=%.2f",
			 times[0], of_1000(times, n, 500),
			 of_1000(times, n, 990), of_1000(times, n, 999),
			 times[n - 1]);
#define N(x) ((unsigned long long)(x))
	note("result op=%s mode=%s size=%llu n=%llu q=%llu list=%llu "
	     "signal=%llu inline=%llu align=%llu register=%llu verify=%llu "
	     "events=%llu us=%.0f rate=%.2f mbytes=%.3f client_user=%llu "
	     "client_system=%llu client_completions=%llu server_user=%llu "
	     "server_system=%llu server_completions=%llu%s",
	     ops[set->op], modes[set->mode], N(set->size), N(n), N(set->depth),
	     N(set->list), N(set->signal), N(set->inlined), N(set->alignment),
	     N(set->reregister), N(set->verify), N(set->events), ms * 1e3,
	     (double)n / ms * 1e3, (double)(n * set->size) / ms / 1e3,
	     N(client->user_us), N(client->system_us), N(client->completions),
	     N(server->user_us), N(server->system_us), N(server->completions),
	     lat);
#undef N
}

int main(int argc, char **argv)
{
	struct options opt;
	struct settings set = parse(argc, argv, &opt);

	check_settings(&set, NULL); /* before anybody waits for us */
	struct ep base = ep_open_device(&opt, 1);
	check_settings(&set, &base);
	tcp_connect(&base);
	struct settings msg = set;
	big_endian((uint64_t *)&msg, NUMBERS);
	tcp_send(&base, &msg, sizeof msg, "sending the settings");
	struct side s = side_open(&base, &set, false);
	double *at = calloc(set.count + 1, sizeof *at);
	if (!at)
		die("no memory for %llu times", (unsigned long long)set.count);

	/* Both ends are ready, from the first barrier on; the second is the
	 * server's, when it has all. */
	barrier(&s.ep);
	struct cost before = cpu_time();
	double start = now_ms();
	if (set.mode == LATENCY)
		ping_pong(&s, at);
	else
		stream(&s);
	double ms = now_ms() - start;
	struct cost client = cost_since(&s, before), server;
	barrier(&s.ep);
	tcp_recv(&s.ep, &server, sizeof server, "waiting for its cost");
	big_endian((uint64_t *)&server, sizeof server / 8);

	if (set.mode == LATENCY)
		latencies(at, &set);
	result(&s, ms, &client, &server, set.mode == LATENCY ? at : NULL);

	if (s.posted != set.count || s.done != set.count)
		die("%llu posted, %llu done, not %llu",
		    (unsigned long long)s.posted, (unsigned long long)s.done,
		    (unsigned long long)set.count);
	if (set.op >= READ || set.mode == LATENCY)
		expect_all(&s);
	barrier(&s.ep); /* the server has compared the others */
	say("PASS %llu times %s, %llu bytes each",
	    (unsigned long long)set.count, ops[set.op],
	    (unsigned long long)set.size);
	free(at);
	side_close(&s);
	ep_close(&base);
	return 0;
}
