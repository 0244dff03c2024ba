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

bool qdisc_delete(const char *net)
{
	struct {
		struct nlmsghdr head;
		struct tcmsg tc;
	} request = {
		.head = { .nlmsg_len = sizeof request,
			  .nlmsg_type = RTM_DELQDISC,
			  .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK },
		.tc = { .tcm_ifindex = (int)if_nametoindex(net),
			.tcm_parent = TC_H_ROOT },
	};
	struct {
		struct nlmsghdr head;
		struct nlmsgerr result;
	} answer;
	int sock = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	bool deleted = send(sock, &request, sizeof request, 0) > 0 &&
		       recv(sock, &answer, sizeof answer, 0) > 0 &&
		       answer.result.error == 0;

	close(sock);
	return deleted;
}

void wires_free(void)
{
	const char *devices[] = { getenv("DEV_SERVER"), getenv("DEV_CLIENT") };
	char net[IF_NAMESIZE];

	for (int i = 0; i < 2; i++)
		if (wire_of(net, devices[i], 1, 0))
			qdisc_delete(net); /* or there is none */
}
