/* SPDX-License-Identifier: MIT */
/*
 * Exercise 11.1 - predict: who moves the queue pair, and when?  * 10 minutes
 *
 * You connect to the peer. The QP was made by rdma_create_qp, on the id. Nobody
 * calls ibv_modify_qp. In which state is the QP? Replace each UNANSWERED by
 * IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS or IBV_QPS_ERR. Then run
 * it: the program asks ibv_query_qp.
 *
 * accepted: the peer's QP, when its rdma_accept has just returned.
 *
 * unread: your QP, when the peer's answer has reached your machine, so that your
 * event channel can be read; and you have not yet called rdma_get_cm_event.
 *
 * hung_up: the peer's QP, when you have called rdma_disconnect, and the peer has
 * read and acknowledged its event DISCONNECTED, and has done no more.
 *
 * refused: your QP of a second attempt, when the peer has called rdma_reject, and
 * you have read the event REJECTED.
 */
#include "1_states.h"

const int accepted = UNANSWERED; /* TODO 11.1 */
const int unread = UNANSWERED;
const int hung_up = UNANSWERED;
const int refused = UNANSWERED;
