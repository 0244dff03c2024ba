/* SPDX-License-Identifier: MIT */
/*
 * 10_key_value/table.h - a slot of the table, as a client reads and changes it.
 * (table.c)
 */
#ifndef TABLE_H
#define TABLE_H

#include "common.h"
#include "lesson.h"

enum {
	PATIENCE = 100, /* looks at an odd version that does not change */
};
/* Who has a lease of so many looks. The other clients of this program never stop, however
 * slow the machine is: they are waited for until -t. */
#ifndef MAY_STOP
#define MAY_STOP(id) ((id) == CLIENTS)
#endif
#define NO_VALUE \
	UINT64_MAX /* what a COMPARE_AND_SWAP did not tell (lesson 06) */

/* What the NIC reads and writes here, for one client. */
struct own {
	uint64_t before, after; /* two looks at a version */
	uint64_t old;           /* what a COMPARE_AND_SWAP found */
	struct record seen;
	struct log mine;    /* with the record that we write */
	struct log logs[2]; /* of a client whose PUT we end */
};

/* Where others may come in between. */
enum moment {
	ONE_LOOK, /* the version was even, and the record is not here yet */
	SEES_ODD, /* the version was odd */
	TO_SWAP,  /* the record is known, and its version is to be swapped */
	HALF,     /* half of the record is written */
};

struct worker {
	struct ep ep;
	struct qp_info server;
	unsigned id; /* from 1 */
	struct own *own;
	struct ibv_mr *mr; /* of own */
	unsigned turn;     /* which of its two logs is next */
	unsigned seed;
	void (*pause)(struct worker *w, enum moment m); /* NULL: goes on */
	int trips;                                      /* round trips */
	int rejected, lost;
};

/* The slot that has the key; without one, the first that was never
 * used; SLOTS: there is neither. w->own has what was found: the version in `before`, the
 * record in `seen`. A slot that is not at rest is waited for; if its client has stopped,
 * we end its PUT. */
unsigned find(struct worker *w, uint64_t key);

/* own->mine.record goes into slot s, if the version there is still `from`. */
bool change(struct worker *w, unsigned s, uint64_t from);
/* Its two halves, of two round trips: the version that we make of `from`; false: another
 * client was faster; the record, and the even version. */
uint64_t odd_version(const struct worker *w, uint64_t from);
bool take(struct worker *w, unsigned s, uint64_t from, uint64_t odd);
struct ibv_wc put(struct worker *w, unsigned s, uint64_t odd);

/* A client that was cut off, on a new connection, before it does anything else. */
void come_back(struct worker *w);

#endif
