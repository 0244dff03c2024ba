/* SPDX-License-Identifier: MIT */
#include "judge.h"

enum { PIECES = 4 };

/* A part of the client's buffer, as its command says. */
struct part {
	uint64_t addr;
	uint32_t rkey, len; /* len may be 0 */
};

/* What the server has for this command. */
struct work {
	char *data; /* as long as all parts together */
	struct ibv_sge reply;
	uint32_t lkey; /* of data */
};

/* The exercise's. */
void transfer(struct ep *ep, const struct work *w, const struct part *part,
	      int n, bool to_client);
