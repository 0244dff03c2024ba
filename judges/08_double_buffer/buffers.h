/* SPDX-License-Identifier: MIT */
/*
 * The server's memory, its writer, and the requests of the client. All is in
 * one thread, so each schedule is the same on every run.
 */
#include <string.h>

#include "reads.h"

enum { HALF = WORDS / 2 };

static struct {
	struct shared shared;
	uint64_t lease[BUFFERS]; /* above bit 32: epoch; below: readers */
} memory;
static struct {
	uint64_t word, buffer[WORDS];
} own;
static struct duo d;
static struct ibv_mr *theirs, *ours;

static uint64_t buffers; /* that the writer uses */
static int halves;       /* that it has written */
static int buffer_reads; /* of yours */
static int ends;         /* of leases */
static int in_a_read;    /* that it writes in the middle of each READ */
static bool waited;      /* for a lease */
static bool met;         /* a READ of yours, and the writer */
static bool only_leased; /* no READ of a buffer without its lease */
static struct {
	int all; /* ended ones, too */
	uint64_t epoch;
	int in_epoch;
} held[2]; /* leases */

/* What happens before each request, again and again; a READ of a buffer is two.
 * A digit: the writer's half generations. R: another reader takes both leases.
 * L: that one leaves. E: both end, and the writer writes four halves. H: or two.
 * W: 2^32 generations, if nobody has a lease. Z: the last epoch before 0 begins. */
static const char *moves, *move;
static int requests, looks, others; /* at the generation; in each lease */

static inline void buffers_up(void)
{
	duo_up(&d);
	theirs = open_memory(&d.peer, &memory, sizeof memory);
	ours = open_memory(&d.you, &own, sizeof own);
}

/* A generation is published after its second half. The writer does not begin
 * in a buffer with a lease. */
static inline void write_halves(int n)
{
	for (; n > 0; n--, halves++) {
		uint64_t g = memory.shared.generation + 1, b = g % buffers;
		int half = halves % 2;

		if (half == 0 && (uint32_t)memory.lease[b] != 0) {
			waited = true;
			return;
		}
		for (int i = half * HALF; i < (half + 1) * HALF; i++)
			memory.shared.buffer[b][i] = g << 16 | (unsigned)i;
		if (half == 1)
			memory.shared.generation = g;
	}
}

/* n generations, of which the last four are in the buffers. */
static inline void write_many(uint64_t n)
{
	memory.shared.generation += n - BUFFERS;
	write_halves(2 * BUFFERS);
}

static inline void start(uint64_t number, const char *its_moves)
{
	memset(&memory, 0, sizeof memory);
	buffers = number;
	halves = buffer_reads = in_a_read = requests = looks = others = 0;
	ends = 0;
	memset(held, 0, sizeof held);
	waited = met = false;
	write_halves(8);
	moves = move = its_moves;
}

static inline void before_request(void)
{
	char what = *move++;

	if (*move == '\0')
		move = moves;
	if (++requests > 200)
		wrong("200 requests, and no end");
	if (only_leased && requests > 100)
		what = '0'; /* whoever tries again finds a writer that rests */
	if (what == 'R') {
		memory.lease[0]++;
		memory.lease[1]++;
		others++;
	} else if (what == 'L') {
		memory.lease[0]--;
		memory.lease[1]--;
		others--;
	} else if (what == 'E' || what == 'H') {
		for (int b = 0; b < 2; b++)
			memory.lease[b] = ((memory.lease[b] >> 32) + 1) << 32;
		others = 0;
		ends++;
		write_halves(what == 'E' ? 4 : 2);
	} else if (what == 'Z') {
		memory.lease[0] = memory.lease[1] = UINT64_MAX << 32;
	} else if (what == 'W') {
		if ((uint32_t)(memory.lease[0] | memory.lease[1]) == 0)
			write_many(UINT64_C(1) << 32);
	} else {
		write_halves(what - '0');
	}
}

static inline void fetch(void *to, const void *from, size_t len)
{
	struct ibv_sge here = piece(to, len, ours);

	before_request();
	execute(&d.you, request(IBV_WR_RDMA_READ, &here, from, theirs));
}

uint64_t fetch_generation(void)
{
	looks++;
	fetch(&own.word, &memory.shared.generation, 8);
	return own.word;
}

void fetch_buffer(uint64_t to[WORDS], uint64_t number)
{
	if (number >= buffers)
		wrong("there is no buffer %d", (int)number);
	if (only_leased && held[number].all < 1)
		wrong("you READ buffer %d without its lease", (int)number);
	const uint64_t *from = memory.shared.buffer[number];
	buffer_reads++;
	fetch(own.buffer, from, HALF * 8);
	met |= halves % 2 && (memory.shared.generation + 1) % buffers == number;
	write_halves(in_a_read);
	fetch(&own.buffer[HALF], &from[HALF], HALF * 8);
	memcpy(to, own.buffer, sizeof own.buffer);
}

/* n leases; -1 in another epoch gives back one of another reader. */
static inline void takes(uint64_t number, int n)
{
	if (held[number].epoch != own.word >> 32)
		held[number].in_epoch = 0;
	held[number].epoch = own.word >> 32;
	held[number].in_epoch += n;
	held[number].all += n;
	if (held[number].in_epoch < 0)
		wrong("you gave back what was not yours");
}

static inline uint64_t atomic(enum ibv_wr_opcode opcode, uint64_t number,
			      uint64_t compare_add, uint64_t swap)
{
	if (number > 1)
		wrong("there is no lease %d", (int)number);
	struct ibv_sge here = piece(&own.word, 8, ours);
	struct ibv_send_wr wr =
		request(opcode, &here, &memory.lease[number], theirs);

	wr.wr.atomic.compare_add = compare_add;
	wr.wr.atomic.swap = swap;
	before_request();
	execute(&d.you, wr);
	if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
		takes(number, (int)compare_add);
	else if (own.word == compare_add)
		takes(number, (int)(swap - compare_add));
	return own.word;
}

uint64_t add_to_lease(uint64_t number, int n)
{
	return atomic(IBV_WR_ATOMIC_FETCH_AND_ADD, number, (uint64_t)n, 0);
}

uint64_t swap_lease(uint64_t number, uint64_t from, uint64_t to)
{
	return atomic(IBV_WR_ATOMIC_CMP_AND_SWP, number, from, to);
}

static inline bool is_torn(const uint64_t *buffer)
{
	return buffer[0] >> 16 != buffer[WORDS - 1] >> 16;
}

/* What an exercise returns. */
static inline void must_be_whole(const uint64_t *to, uint64_t g)
{
	if (is_torn(to))
		wrong("you returned a torn buffer");
	if (to[0] >> 16 != g)
		wrong("you returned generation %lld, and the buffer has %lld",
		      (long long)g, (long long)(to[0] >> 16));
}
