/* SPDX-License-Identifier: MIT */
/* Solution of exercise 11.1 - who moves the queue pair, and when? */
#include "1_states.h"

/* rdma_accept takes both steps before the answer leaves. For the client's messages
 * RTR would do. */
const int accepted = IBV_QPS_RTS;

/* Only a call of your program can move it: rdma_get_cm_event, before it returns. */
const int unread = IBV_QPS_INIT;

/* An event moves nothing here. rdma_disconnect does. */
const int hung_up = IBV_QPS_RTS;

/* Receives that were posted must come back, so here the event moves it. */
const int refused = IBV_QPS_ERR;
