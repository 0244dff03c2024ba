/* SPDX-License-Identifier: MIT */
/*
 * common/plumbing/qdisc.c - the wires of the lab as it made them: see wire.h.
 *
 * Nothing else of common/ is used here: course/pair.c does not need the rest. And
 * netlink(7), not tc(8): in an emulated guest another program would take longer than
 * most of the lessons.
 */
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "wire.h"

bool wire_of(char net[IF_NAMESIZE], const char *device, unsigned port,
	     unsigned gid_index)
{
	const char *lab = getenv("LAB_KIND");
	char path[384];

	if (!device || !lab ||
	    (strcmp(lab, "vm") != 0 && strcmp(lab, "host") != 0))
		return false;
	snprintf(path, sizeof path,
		 "/sys/class/infiniband/%s/ports/%u/gid_attrs/ndevs/%u", device,
		 port, gid_index);
	FILE *f = fopen(path, "re");
	bool found = f && fscanf(f, "%15s", net) == 1;
	if (f)
		fclose(f);
	return found;
}

/* Is it done? type: RTM_NEWQDISC, with netem's loss of everything, or RTM_DELQDISC. */
static bool ask(const char *net, uint16_t type, uint16_t flags)
{
	struct {
		struct nlmsghdr head;
		struct tcmsg tc;
		struct rtattr kind_is;
		char kind[8]; /* attributes are aligned to 4 bytes */
		struct rtattr options_are;
		struct tc_netem_qopt options;
	} request = {
		.head = { .nlmsg_len = sizeof request,
			  .nlmsg_type = type,
			  .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | flags },
		.tc = { .tcm_ifindex = (int)if_nametoindex(net),
			.tcm_parent = TC_H_ROOT },
		.kind_is = { RTA_LENGTH(sizeof request.kind), TCA_KIND },
		.kind = "netem",
		.options_are = { RTA_LENGTH(sizeof request.options),
				 TCA_OPTIONS },
		.options = { .limit = 1000, .loss = UINT32_MAX },
	};
	struct {
		struct nlmsghdr head;
		struct nlmsgerr result;
	} answer;
	int sock = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

	if (type == RTM_DELQDISC) /* of any kind */
		request.head.nlmsg_len = offsetof(typeof(request), kind_is);
	bool done = send(sock, &request, request.head.nlmsg_len, 0) > 0 &&
		    recv(sock, &answer, sizeof answer, 0) > 0 &&
		    answer.result.error == 0;
	close(sock);
	return done;
}

bool qdisc_delete(const char *net)
{
	return ask(net, RTM_DELQDISC, 0);
}

bool qdisc_lose(const char *net)
{
	return ask(net, RTM_NEWQDISC, NLM_F_CREATE | NLM_F_REPLACE);
}

void wires_free(void)
{
	const char *devices[] = { getenv("DEV_SERVER"), getenv("DEV_CLIENT") };
	char net[IF_NAMESIZE];

	for (int i = 0; i < 2; i++)
		if (wire_of(net, devices[i], 1, 0))
			qdisc_delete(net); /* or there is none */
}
