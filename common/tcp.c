/* SPDX-License-Identifier: MIT */
/*
 * common/tcp.c - how two QPs that know nothing of each other meet.
 *
 * A QP cannot be connected before each side knows the other's QP number,
 * first PSN and address, so these must travel by some other way: here, TCP.
 * The same connection then serves as barrier and as sign of life. Nothing on
 * it is encrypted or authenticated: anyone who reads it has the rkey.
 */
#include <endian.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "common.h"

_Static_assert(sizeof(struct qp_info) == INFO_LEN, "the message has no holes");

enum { MAGIC = 0x52444d41, VERSION = 1 };

/* From our byte order to big endian; to do it twice is to undo it. */
static struct qp_info big_endian(struct qp_info i)
{
	i.magic = htobe32(i.magic);
	i.version = htobe16(i.version);
	i.lesson = htobe16(i.lesson);
	i.qpn = htobe32(i.qpn);
	i.psn = htobe32(i.psn);
	i.lid = htobe16(i.lid);
	i.rkey = htobe32(i.rkey);
	i.addr = htobe64(i.addr);
	i.len = htobe64(i.len);
	return i;
}

void info_pack(uint8_t msg[INFO_LEN], const struct qp_info *info,
	       unsigned lesson)
{
	struct qp_info i = *info;

	i.magic = MAGIC;
	i.version = VERSION;
	i.lesson = (uint16_t)lesson;
	i = big_endian(i);
	memcpy(msg, &i, INFO_LEN);
}

bool info_unpack(const uint8_t msg[INFO_LEN], struct qp_info *info,
		 unsigned lesson, char why[80])
{
	struct qp_info i;

	memcpy(&i, msg, INFO_LEN);
	*info = i = big_endian(i);

	if (i.magic != MAGIC)
		snprintf(why, 80, "it is not one of these lessons");
	else if (i.version != VERSION)
		snprintf(why, 80, "it speaks version %u, not %u", i.version,
			 (unsigned)VERSION);
	else if (i.lesson != lesson)
		snprintf(why, 80, "it runs lesson %u, not %u", i.lesson,
			 lesson);
	else if (i.qpn < 2 || i.qpn > 0xffffff)
		snprintf(why, 80, "QP number 0x%x is out of range", i.qpn);
	else if (i.psn > 0xffffff)
		snprintf(why, 80, "PSN 0x%x has more than 24 bits", i.psn);
	else if (i.mtu < IBV_MTU_256 || i.mtu > IBV_MTU_4096)
		snprintf(why, 80, "MTU code %u is out of range", i.mtu);
	else if (i.zero)
		snprintf(why, 80, "byte 19 is %u, not 0", i.zero);
	else if (IN6_IS_ADDR_UNSPECIFIED(i.gid.raw))
		snprintf(why, 80, "its GID is zero");
	else if (i.len ? i.addr > UINT64_MAX - i.len : i.addr || i.rkey)
		snprintf(why, 80,
			 "address, length and rkey of its memory region "
			 "contradict each other");
	else
		return true;
	return false;
}

struct qp_info own_info(const struct ep *ep)
{
	return (struct qp_info){
		.qpn = ep->qp->qp_num,
		.psn = ep->psn,
		.lid = ep->lid,
		.mtu = (uint8_t)ep->mtu,
		.gid = ep->gid,
	};
}

void send_info(struct ep *ep, const struct ibv_mr *mr)
{
	uint8_t msg[INFO_LEN];
	struct qp_info info = own_info(ep);

	if (mr) {
		info.addr = (uintptr_t)mr->addr;
		info.len = mr->length;
		info.rkey = mr->rkey; /* never the lkey: that one is ours */
	}
	info_pack(msg, &info, ep->opt->lesson);
	tcp_send(ep, msg, sizeof msg, "sending QP info");
}

struct qp_info recv_info(struct ep *ep, size_t min_len)
{
	uint8_t msg[INFO_LEN];
	struct qp_info info;
	char why[80];

	tcp_recv(ep, msg, sizeof msg, "waiting for QP info");
	if (!info_unpack(msg, &info, ep->opt->lesson, why))
		die("QP info from the peer: %s", why);
	if (info.len < min_len)
		die("QP info from the peer: its memory region has %llu bytes, "
		    "this lesson needs %zu",
		    (unsigned long long)info.len, min_len);
	return info;
}

void barrier(struct ep *ep)
{
	char byte = 0;

	tcp_send(ep, "B", 1, "barrier");
	tcp_recv(ep, &byte, 1, "barrier");
	if (byte != 'B')
		die("barrier: the peer sent byte %d, not 'B'", byte);
}

bool peer_waits(struct ep *ep)
{
	struct pollfd p = { .fd = ep->sock, .events = POLLIN };

	return poll(&p, 1, 0) > 0;
}
