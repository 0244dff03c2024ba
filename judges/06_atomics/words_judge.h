/* SPDX-License-Identifier: MIT */
/* words.h, for the judge that includes this. What watch() shows is the only
 * request under way: the judge may change the words as it likes. */
#include "words.h"

static uint64_t words[4], word; /* the peer's; ours, for the NIC */
static struct duo duo;
static bool at_once; /* without the wire */
static struct ibv_mr *mine, *theirs;

static void open_words(void)
{
	duo_up(&duo);
	mine = open_memory(&duo.you, &word, sizeof word);
	theirs = open_memory(&duo.peer, words, sizeof words);
}

/* What the request would do. */
static uint64_t executed(uint64_t *at, enum ibv_wr_opcode opcode,
			 uint64_t operand, uint64_t swap)
{
	uint64_t old = *at;

	if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
		*at += operand;
	else if (opcode == IBV_WR_RDMA_WRITE)
		*at = operand;
	else if (opcode == IBV_WR_ATOMIC_CMP_AND_SWP && old == operand)
		*at = swap;
	return old;
}

static uint64_t ask(enum ibv_wr_opcode opcode, int n, uint64_t operand,
		    uint64_t swap)
{
	if (at_once)
		return executed(&words[n], opcode, operand, swap);
	struct ibv_sge sge = piece(&word, sizeof word, mine);
	struct ibv_send_wr wr = request(opcode, &sge, &words[n], theirs);

	word = operand;
	if (opcode != IBV_WR_RDMA_READ && opcode != IBV_WR_RDMA_WRITE) {
		wr.wr.atomic.compare_add = operand;
		wr.wr.atomic.swap = swap;
	}
	execute(&duo.you, wr);
	return word;
}

uint64_t read_word(int n)
{
	return ask(IBV_WR_RDMA_READ, n, 0, 0);
}

void write_word(int n, uint64_t value)
{
	ask(IBV_WR_RDMA_WRITE, n, value, 0);
}

uint64_t fetch_and_add(int n, uint64_t add)
{
	return ask(IBV_WR_ATOMIC_FETCH_AND_ADD, n, add, 0);
}

uint64_t compare_and_swap(int n, uint64_t expected, uint64_t new)
{
	return ask(IBV_WR_ATOMIC_CMP_AND_SWP, n, expected, new);
}
