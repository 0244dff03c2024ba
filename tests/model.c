/* SPDX-License-Identifier: MIT */
/*
 * tests/model.c - the protocol of lesson 10 in small: three clients, two slots, and all
 * orders of their requests. For tests/model.
 *
 * usage: model WITHOUT PUTS_1 PUTS_2 PUTS_3 BACKS   BACKS: clients that come back
 *
 * A step is a request and what its client does then; a WRITE is two, one for each half.
 * A client may stop for ever after each step, and others may lose patience with it. In
 * each state that can be reached, a slot whose version is even holds what the last PUT
 * there wanted, and each client alone can bring both slots to rest.
 */
#include "search.h"
#include <stdio.h>
#include <stdlib.h>

enum { CLIENTS = 3, SLOTS = 2, COME_BACK = SLOTS, CHOICES, ODD = 4 };

enum { SLOT = 1, VERSION = 2, END = 4, TWO = 8, CUT = 16, CHECK = 32 };
static uint8_t without; /* these, which tests/model explains */

/* What a client does next, and where that is in the lesson. */
enum pc { LOOK, CUT_OFF, LOGS, HEAD, TAIL, SWAP, HALF_1, HALF_2, EVEN, BACK };
static const char *const steps[] = { "DOC: look",      "DOC: cut-off",
				     "DOC: which-log", "DOC: take",
				     "DOC: take",      "DOC: take",
				     "DOC: put",       "DOC: put",
				     "DOC: put",       "DOC: come-back" };

/* A version is a count, from bit 2 on; below it is the number of the writer. */
struct state {
	struct slot {
		uint8_t version, half[2], wanted; /* wanted: by the last PUT */
	} slot[SLOTS];
	struct client {
		uint8_t pc, slot, from, value, puts, wants, turn, is_off;
		struct log {
			uint8_t slot, version, value, whole;
		} log[2];
	} client[CLIENTS];
	uint8_t backs;
};

static void next(struct client *me, enum pc pc)
{
	me->pc = (uint8_t)pc;
	me->from = me->value = 0;
	me->slot = me->wants ? me->slot : 0;
}

static bool is_free(const struct client *me)
{
	return me->pc == LOOK && !me->wants;
}

/* A READ of a log that is just written finds a wrong checksum: it is not whole. */
static bool fits(const struct log *l, unsigned slot, uint8_t version)
{
	return l->version && (l->whole || (without & CHECK)) &&
	       (l->slot == slot || (without & SLOT)) &&
	       (l->version == version || (without & VERSION));
}

/* Client choice / CHOICES comes back, or does what is next; if it is free, at a slot. */
static bool step(void *state, int choice)
{
	struct state *s = state;
	int c = choice / CHOICES, i = 0;
	struct client *me = &s->client[c];
	struct client *writer = &s->client[((me->from & 3) + 2) % 3];
	uint8_t odd = (uint8_t)((((me->from + 4) | ODD) & ~3) + c + 1);

	if ((choice %= CHOICES) == COME_BACK) {
		if (s->backs == 0 || (is_free(me) && !me->is_off))
			return false;
		s->backs--;
		me->is_off = me->wants = 0;
		next(me, (without & END) ? LOOK : BACK);
		return true;
	}
	if (me->is_off || (choice && !is_free(me)) ||
	    (is_free(me) && !me->puts && !(s->slot[choice].version & ODD)))
		return false;
	if (is_free(me)) {
		me->slot = (uint8_t)choice;
		me->wants = me->puts ? (uint8_t)(4 * c + 4 + me->puts--) : 0;
	}
	struct slot *slot = &s->slot[me->slot];
	struct log *log = &me->log[me->turn];
	switch (me->pc++) {
	case LOOK:
		me->from = slot->version;
		me->value = me->wants;
		me->pc = (me->from & ODD) ? CUT_OFF : HEAD;
		break;
	case CUT_OFF:
		writer->is_off |= writer != me && !(without & CUT);
		break;
	case LOGS:
		while (i < 2 && !fits(&writer->log[i], me->slot, me->from))
			i++;
		me->value = i < 2 ? writer->log[i].value : 0;
		if (i == 2)
			next(me, LOOK);
		else if (writer == me && !(without & TWO))
			me->turn = !i;
		break;
	case HEAD:
		*log = (struct log){ .slot = me->slot, .version = odd };
		break;
	case TAIL:
		log->value = me->value;
		log->whole = true;
		break;
	case SWAP:
		if (slot->version != me->from) {
			next(me, LOOK);
			break;
		}
		slot->wanted = (me->from & ODD) ? slot->wanted : me->value;
		slot->version = odd;
		break;
	case HALF_1:
	case HALF_2:
		slot->half[me->pc - HALF_2] = me->value;
		break;
	case EVEN:
		if (slot->version == odd)
			slot->version = (uint8_t)((odd & ~3) + 4);
		me->turn ^= !(without & TWO);
		me->wants = me->value == me->wants ? 0 : me->wants;
		next(me, LOOK);
		break;
	case BACK:
		next(me, LOOK);
		for (log = me->log; log < me->log + 2; log++)
			if (log->whole &&
			    log->version == s->slot[log->slot].version) {
				me->slot = log->slot;
				me->from = log->version;
				me->pc = LOGS;
			}
	}
	return true;
}

static bool ends_alone(struct state s, int c)
{
	struct client *me = &s.client[c];
	int left = 99, slot = 0;

	s.backs = 1;
	if (me->is_off)
		step(&s, c * CHOICES + COME_BACK);
	for (me->puts = 0; slot < SLOTS && left > 0; left--)
		slot += !step(&s, c * CHOICES + (is_free(me) ? slot : 0));
	return slot == SLOTS;
}

static const char *wrong_with(const void *state)
{
	const struct state *s = state;

	for (const struct slot *t = s->slot; t < s->slot + SLOTS; t++)
		if (!(t->version & ODD) &&
		    (t->half[0] != t->wanted || t->half[1] != t->wanted))
			return "a slot at rest does not hold what was PUT";
	for (int c = 0; c < CLIENTS; c++)
		if (!ends_alone(*s, c))
			return "a slot stays odd for ever";
	return NULL;
}

static void show(const void *state, int choice)
{
	int c = choice / CHOICES,
	    pc = ((const struct state *)state)->client[c].pc;

	printf("    client %d: %s\n", c + 1,
	       choice % CHOICES == COME_BACK ? "comes back" : steps[pc]);
}

int main(int argc, char **argv)
{
	struct state s = { .backs = 0 };
	uint8_t *number[] = { &without, &s.client[0].puts, &s.client[1].puts,
			      &s.client[2].puts, &s.backs };
	const struct search x = { .size = sizeof s,
				  .choices = CLIENTS * CHOICES,
				  .step = step,
				  .wrong_with = wrong_with,
				  .show = show };
	uint32_t states;

	for (int i = 0; i < 5 && argc == 6; i++)
		*number[i] = (uint8_t)strtol(argv[1 + i], NULL, 10);
	const char *wrong = search(&x, &s, &states);
	printf("%u states: %s\n", states, wrong ? wrong : "nothing is wrong");
	return wrong != NULL;
}
