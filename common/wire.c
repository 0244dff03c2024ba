/* SPDX-License-Identifier: MIT */
/* common/wire.c - a slow wire, where a lesson needs one to show something. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wire.h"

static char net[32]; /* the interface that is slow, or nothing */

bool wire_slow(const struct ep *ep, unsigned ms)
{
	const char *lab = getenv("LAB_KIND");
	char text[128];

	if (!lab || (strcmp(lab, "vm") != 0 && strcmp(lab, "host") != 0))
		return false; /* perhaps a real one, that others use */
	snprintf(text, sizeof text,
		 "/sys/class/infiniband/%s/ports/%u/gid_attrs/ndevs/%u",
		 ep->ctx->device->name, ep->opt->ib_port, ep->gid_index);
	FILE *f = fopen(text, "r");
	bool found = f && fscanf(f, "%31s", net) == 1;
	if (f)
		fclose(f);
	snprintf(text, sizeof text,
		 "tc qdisc replace dev %s root netem delay %ums", net, ms);
	if (!found || system(text) != 0)
		net[0] = '\0';
	else
		atexit(wire_free);
	return net[0] != '\0';
}

void wire_free(void)
{
	char text[64];

	snprintf(text, sizeof text, "tc qdisc del dev %s root", net);
	if (net[0] && system(text) == 0)
		net[0] = '\0';
}
