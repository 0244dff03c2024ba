/* SPDX-License-Identifier: MIT */
/*
 * judges/judge.h - what the judges of the exercises share.
 *
 * An exercise is one file with one function, or a few constants. Its judge,
 * judges/NN_lesson/K_name.c, is the rest of the program: both ends of the
 * connection are here, on the lab's two devices, so that one program can look
 * at both. You need not read it to solve the exercise.
 *
 * The judge defines judge(). It returns if the answer is right; else it ends
 * the program with die("what is wrong, in terms of the task"). A crash, and a
 * function that does not return, are reported by judge.c.
 */
#ifndef JUDGE_H
#define JUDGE_H

#include <stdio.h>

#include "common.h"
#include "post.h"

/* What a prediction says until one of its choices is made. */
enum { UNANSWERED = -1 };

/* All that a peer can be allowed. */
enum {
	ALL_REMOTE = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
		     IBV_ACCESS_REMOTE_ATOMIC
};

/* The two ends: the exercise works with "you", the judge plays "peer". */
struct duo {
	struct options opt[2];
	struct ep you, peer;
};

/*
 * Opens both devices (DEV_CLIENT and DEV_SERVER, which the lab sets) with
 * queues of these sizes; the QPs are in state RESET, and their attributes may
 * still be changed. The kernel takes all of it back when the program ends.
 * d must stay where it is: the ends point into it.
 */
void duo_open(struct duo *d, struct ibv_qp_cap cap);
/* Through INIT and RTR to RTS, both. access: what may be done to each over the
 * connection, IBV_ACCESS_REMOTE_*. */
void duo_connect(struct duo *d, unsigned to_you, unsigned to_peer);
/* The same in one, with queues for 16 requests of up to 4 pieces of memory and
 * 64 bytes of inline data, and REMOTE_WRITE, _READ and _ATOMIC both ways. */
void duo_up(struct duo *d);

/* ibv_reg_mr(), or dies. */
struct ibv_mr *register_memory(struct ep *ep, void *p, size_t len, int access);

/* The same with every right, for the NIC here and for the other end. */
struct ibv_mr *open_memory(struct ep *ep, void *p, size_t len);

/* len bytes at p in region mr; NULL: in no region. */
struct ibv_sge piece(const void *p, size_t len, const struct ibv_mr *mr);
/* A request for what is there, in the other end's region theirs: no flags yet, and
 * for an atomic neither compare_add nor swap. */
struct ibv_send_wr request(enum ibv_wr_opcode opcode, struct ibv_sge *here,
			   const void *there, const struct ibv_mr *theirs);

/* Posts a receive with wr_id, for len bytes at p in region mr; 0 bytes: NULL. */
void add_receive(struct ep *ep, uint64_t wr_id, void *p, size_t len,
		 const struct ibv_mr *mr);
/* Posts wr, SIGNALED, of len bytes at p; mr NULL: with lkey 0. Returns the
 * status of its completion, or NOT_POSTED if ibv_post_send refused it. */
enum { NOT_POSTED = 100 };
int outcome(struct ep *ep, struct ibv_send_wr wr, const void *p, size_t len,
	    const struct ibv_mr *mr);

/* Posts wr, SIGNALED, and takes its completion; dies if that is no success. */
void execute(struct ep *ep, struct ibv_send_wr wr);

/* Takes a completion, if there is one. */
bool poll_one(struct ep *ep, struct ibv_wc *wc);
/* The next completion, if one comes within so many ms. */
bool completes_within(struct ep *ep, double ms, struct ibv_wc *wc);

/* All that the peer sends from now on is late by so many ms, until wire_free().
 * Dies if this is not to be had here. */
void late_answers(struct duo *d, unsigned ms);

/* A prediction. Before the experiment: dies if it is UNANSWERED, or none of the
 * choices, which follow. After it: dies with "not so: look at ..." if it is wrong. */
#define must_choose(answer, ...) must_choose_as(#answer, answer, __VA_ARGS__)
#define must_choose_as(name, answer, ...)                  \
	one_of(name, answer, (const int[]){ __VA_ARGS__ }, \
	       sizeof((const int[]){ __VA_ARGS__ }) / sizeof(int))
void one_of(const char *name, int answer, const int *choices, size_t n);
/* The same, where any status may be chosen, or NO_COMPLETION. */
enum { NO_COMPLETION = 100 };
#define must_choose_status(answer) one_of(#answer, answer, NULL, 0)
void check_answer(int answer, int measured, const char *look_at);

/* What is judged now, "round 2": stands before what wrong() says. */
extern char subject[128];
#define about(...) snprintf(subject, sizeof subject, __VA_ARGS__)
/* Both die with the verdict; blame() without the subject. */
#define blame(...) (seen.blamed = true, die(__VA_ARGS__))
#define wrong(fmt, ...) \
	blame("%s%s" fmt, subject, *subject ? ": " : "", ##__VA_ARGS__)

/*
 * What an exercise does with the verbs at ep, from now on; w NULL: no more. The
 * calls that are not NULL are made before the verb itself, found() after it. They
 * see everything, and what the peer does in them happens then, on every machine.
 */
struct watch {
	void (*posts)(const struct ibv_send_wr *wr); /* one of a list */
	void (*looks)(void);
	/* false: this look finds nothing. Each other look finds one at most. */
	bool (*lets_find)(void);
	void (*found)(const struct ibv_wc *wc);
	void (*arms)(bool solicited_only);
};
void watch(struct ep *ep, const struct watch *w);
bool second_look(void); /* for lets_find: one look is no wait */

/* Counted since then. found: completions; in_vain: looks since there was one. */
extern struct seen {
	int lists, posted, signaled, fences, receives, found, in_vain;
	bool last_signaled, armed, blamed; /* blamed: blame() was called */
	double since; /* when the first of the looks in vain was: now_ms() */
} seen;
extern double failed; /* when one was made an error: now_ms(), else 0 */
/* More looks in vain than this are a wait; one or two are not. */
enum { A_WAIT = 1000 };
/* Dies with "right, but ..." if there were more than that. */
void enough(int lists, int requests, int completions);

void judge(void);                    /* each judge's own */
extern const char *an_error_ends_it; /* "1u8": 1st, one unlike it, 8th */

#endif
