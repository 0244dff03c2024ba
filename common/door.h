/* SPDX-License-Identifier: MIT */
/*
 * common/door.h - for a server whose clients come and go: a QP for each; device, PD
 * and CQ are shared. Nothing here waits for one client, and nothing that one does
 * ends the program. (plumbing/door.c)
 */
#ifndef DOOR_H
#define DOOR_H

#include "common.h"

enum { GUESTS = 4 }; /* at once; others wait in the listening queue */
struct guest {
	struct ep ep;   /* ep.qp is the server's to make; NULL: not yet */
	int number;     /* from 1; 0: this place is free */
	unsigned holds; /* while this is not 0, its QP stays */
	double heard;   /* when we last heard of it, now_ms() */
	bool known;     /* its QP info was here */
	bool goodbye;   /* it has called barrier() */
	bool gone;
};
struct door {
	struct ep base; /* from ep_open_device() */
	int fd;         /* listens */
	int came, here;
	double alone;     /* when the last one left */
	double alarm_set; /* when alarm() was called last, now_ms() */
	struct guest guest[GUESTS];
};
enum news { NO_NEWS, CAME, LOST, NOBODY };

void door_open(struct door *d, const struct ep *base);
/*
 * What is new of guest *who. CAME: its QP info is here; call door_answer() when
 * there is a QP. LOST: it broke the rules, hung up without barrier(), or kept
 * silent for wait_s, and why; call door_lose(). NOBODY: for wait_s there was none;
 * if there was none ever, that ends the program.
 */
enum news door_news(struct door *d, int *who, struct qp_info *info,
		    char why[128]);
/* The one with this QP; NULL: it is removed. A receive that it had taken may still
 * complete then. */
struct guest *door_guest(struct door *d, uint32_t qpn);
void door_answer(const struct guest *g);
/* Its QP goes to state ERROR, so that all it has to do completes at once, and
 * its TCP connection ends, so that it is told. */
void door_lose(struct guest *g);
/*
 * Takes completions and news, and calls these for each, until all have gone; with
 * `open`, when others may still come, until nobody came for wait_s.
 */
void door_serve(struct door *d, bool open,
		void (*completed)(const struct ibv_wc *wc),
		void (*welcome)(struct guest *g, const struct qp_info *peer),
		void (*lose)(struct guest *g, const char *what,
			     const char *why));
/* For when the CQ is empty: whoever was lost, and holds nothing, is removed. */
void door_sweep(struct door *d);

#endif
