/* SPDX-License-Identifier: MIT */
/*
 * Exercise 3.2 - predict: nobody at home                     * 10 minutes
 *
 * The peer is a process of its own here. It opens its memory to REMOTE_READ,
 * connects, and then something happens to it. After that you post one READ of
 * that memory. What does the completion say?
 *
 *   stopped    SIGSTOP: the process gets no CPU any more
 *   withdrawn  the process called ibv_dereg_mr() for the memory
 *   killed     SIGKILL: the process is gone
 *
 * Choose for each: IBV_WC_SUCCESS, IBV_WC_REM_ACCESS_ERR, IBV_WC_REM_OP_ERR,
 * IBV_WC_RETRY_EXC_ERR, IBV_WC_WR_FLUSH_ERR or NO_COMPLETION.
 */
#include "2_freeze.h"

const int stopped = UNANSWERED; /* TODO 3.2 */
const int withdrawn = UNANSWERED;
const int killed = UNANSWERED;
