/* SPDX-License-Identifier: MIT */
#include "judge.h"

/* Sleeps until the CQ has an event, takes it and acknowledges it. */
void sleep_until_event(struct ep *ep);

/* The exercise's. */
void next_message(struct ep *ep, struct ibv_wc *wc);
