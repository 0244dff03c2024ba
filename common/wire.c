/* SPDX-License-Identifier: MIT */
/* common/wire.c - a bad wire, where a lesson needs one to show something. */
#include <stdio.h>
#include <stdlib.h>

#include "wire.h"

static char net[IF_NAMESIZE]; /* the interface that is not free, or nothing */

/* Sets net to our interface, if the lab made it. */
static bool find_net(const struct ep *ep)
{
	if (net[0])
		return true;
	if (!wire_of(net, ep->ctx->device->name, ep->opt->ib_port,
		     ep->gid_index))
		return false;
	atexit(wire_free);
	return true;
}

/* The RoCE packets that leave our interface (UDP, port 4791) have a queue of their
 * own, 1:4. SENDs of one packet go to `sends`: 4 is the first byte of their BTH,
 * behind 20 or 40 bytes of IP and 8 of UDP. TCP may use the interface, too. */
static bool netem(const struct ep *ep, const char *how, const char *sends)
{
	char text[640];

	if (!find_net(ep))
		return false;
	snprintf(text, sizeof text,
		 "net=%s how='%s' sends=%s\n"
		 "tc -batch - <<end\n"
		 "qdisc replace dev $net root handle 1: prio bands 4\n"
		 "filter replace dev $net protocol ip pref 1 handle 800::1 "
		 "u32 match ip dport 4791 0xffff "
		 "match u8 4 0xff at 28 flowid $sends\n"
		 "filter replace dev $net protocol ip pref 1 handle 800::2 "
		 "u32 match ip dport 4791 0xffff flowid 1:4\n"
		 "filter replace dev $net protocol ipv6 pref 2 handle 801::1 "
		 "u32 match ip6 dport 4791 0xffff "
		 "match u8 4 0xff at 48 flowid $sends\n"
		 "filter replace dev $net protocol ipv6 pref 2 handle 801::2 "
		 "u32 match ip6 dport 4791 0xffff flowid 1:4\n"
		 "qdisc replace dev $net parent 1:4 netem $how\n"
		 "end",
		 net, how, sends);
	if (system(text) != 0)
		die("the lab's wire: tc failed, see above (has this kernel "
		    "sch_netem, sch_prio and cls_u32?)");
	return true;
}

bool wire_slow(const struct ep *ep, unsigned ms)
{
	char how[32];

	snprintf(how, sizeof how, "delay %ums", ms);
	return netem(ep, how, "1:4");
}

bool wire_cut(const struct ep *ep)
{
	return netem(ep, "loss 100%", "1:1");
}

void wire_free(void)
{
	if (net[0] && qdisc_delete(net))
		net[0] = '\0';
}
