/* SPDX-License-Identifier: MIT */
/* common/wire.c - a bad wire, where a lesson needs one to show something. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wire.h"

static char net[32]; /* the interface that is not free, or nothing */

/* Sets net to our interface, if the lab made it, and gives the RoCE packets that
 * leave it (UDP, port 4791) a queue of their own, 1:4. TCP may use it, too. */
static bool queue_for_roce(const struct ep *ep)
{
	const char *lab = getenv("LAB_KIND");
	char text[384];

	if (net[0])
		return true;
	if (!lab || (strcmp(lab, "vm") != 0 && strcmp(lab, "host") != 0))
		return false; /* perhaps a real one, that others use */
	snprintf(text, sizeof text,
		 "/sys/class/infiniband/%s/ports/%u/gid_attrs/ndevs/%u",
		 ep->ctx->device->name, ep->opt->ib_port, ep->gid_index);
	FILE *f = fopen(text, "r");
	if (!f || fscanf(f, "%31s", net) != 1)
		net[0] = '\0';
	if (f)
		fclose(f);
	if (!net[0])
		return false;
	atexit(wire_free);
	snprintf(text, sizeof text,
		 "i=%s; tc qdisc replace dev $i root handle 1: prio bands 4 && "
		 "tc filter add dev $i protocol ip u32 "
		 "match ip dport 4791 0xffff flowid 1:4 && "
		 "tc filter add dev $i protocol ipv6 u32 "
		 "match ip6 dport 4791 0xffff flowid 1:4",
		 net);
	if (system(text) == 0)
		return true;
	wire_free();
	return false;
}

static bool netem(const struct ep *ep, const char *how)
{
	char text[128];

	if (!queue_for_roce(ep))
		return false;
	snprintf(text, sizeof text,
		 "tc qdisc replace dev %s parent 1:4 netem %s", net, how);
	return system(text) == 0;
}

bool wire_slow(const struct ep *ep, unsigned ms)
{
	char how[32];

	snprintf(how, sizeof how, "delay %ums", ms);
	return netem(ep, how);
}

bool wire_cut(const struct ep *ep)
{
	return netem(ep, "loss 100%");
}

void wire_free(void)
{
	char text[64];

	snprintf(text, sizeof text, "tc qdisc del dev %s root", net);
	if (net[0] && system(text) == 0)
		net[0] = '\0';
}
