/* SPDX-License-Identifier: MIT */
/* common/wire.c - a bad wire, where a lesson needs one to show something. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wire.h"

static char net[32]; /* the interface that is not free, or nothing */

/* Sets net to our interface, if the lab made it. */
static bool find_net(const struct ep *ep)
{
	const char *lab = getenv("LAB_KIND");
	char path[384];

	if (net[0])
		return true;
	if (!lab || (strcmp(lab, "vm") != 0 && strcmp(lab, "host") != 0))
		return false; /* perhaps a real one, that others use */
	snprintf(path, sizeof path,
		 "/sys/class/infiniband/%s/ports/%u/gid_attrs/ndevs/%u",
		 ep->ctx->device->name, ep->opt->ib_port, ep->gid_index);
	FILE *f = fopen(path, "r");
	if (!f || fscanf(f, "%31s", net) != 1)
		net[0] = '\0';
	if (f)
		fclose(f);
	if (net[0])
		atexit(wire_free);
	return net[0];
}

/* The RoCE packets that leave our interface (UDP, port 4791) have a queue of their
 * own, 1:4. TCP may use the interface, too. */
static bool netem(const struct ep *ep, const char *how)
{
	char text[512];

	if (!find_net(ep))
		return false;
	snprintf(text, sizeof text,
		 "tc -batch - <<'end'\n"
		 "qdisc replace dev %s root handle 1: prio bands 4\n"
		 "filter replace dev %s protocol ip pref 1 handle 800::1 u32 "
		 "match ip dport 4791 0xffff flowid 1:4\n"
		 "filter replace dev %s protocol ipv6 pref 2 handle 801::1 u32 "
		 "match ip6 dport 4791 0xffff flowid 1:4\n"
		 "qdisc replace dev %s parent 1:4 netem %s\n"
		 "end",
		 net, net, net, net, how);
	if (system(text) != 0)
		die("the lab's wire: tc failed, see above (has this kernel "
		    "sch_netem, sch_prio and cls_u32?)");
	return true;
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
