/* SPDX-License-Identifier: MIT */
/*
 * common/post.h - what lesson 01 spells out and the later ones know.
 */
#ifndef POST_H
#define POST_H

#include "common.h"

/* Posts a list of requests, and dies if one of them was not accepted. The
 * memory of the requests is the caller's again at once, that of the buffers
 * only after the completion (man ibv_post_send). */
void post(struct ep *ep, struct ibv_send_wr *list);

/* Waits for one completion and dies, with "what: status", if it is not a
 * success. Returns its wr_id. */
uint64_t expect_completion(struct ep *ep, const char *what);

#endif
