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
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common.h"

/* The layout in common.h. Every member is aligned, so there is no padding. */
struct wire {
	uint32_t magic;
	uint16_t version, lesson;
	uint32_t qpn, psn;
	uint16_t lid;
	uint8_t mtu, zero;
	uint32_t rkey;
	uint8_t gid[16];
	uint64_t addr, len;
};
_Static_assert(sizeof(struct wire) == INFO_LEN, "the wire format has no holes");

enum { MAGIC = 0x52444d41, VERSION = 1 };

void info_pack(uint8_t msg[INFO_LEN], const struct qp_info *info,
	       unsigned lesson)
{
	struct wire w = {
		.magic = htobe32(MAGIC),
		.version = htobe16(VERSION),
		.lesson = htobe16((uint16_t)lesson),
		.qpn = htobe32(info->qpn),
		.psn = htobe32(info->psn),
		.lid = htobe16(info->lid),
		.mtu = (uint8_t)info->mtu,
		.rkey = htobe32(info->rkey),
		.addr = htobe64(info->addr),
		.len = htobe64(info->len),
	};

	memcpy(w.gid, info->gid.raw, sizeof w.gid);
	memcpy(msg, &w, sizeof w);
}

bool info_unpack(const uint8_t msg[INFO_LEN], struct qp_info *info,
		 unsigned lesson, char why[80])
{
	static const uint8_t no_gid[16];
	struct wire w;

	memcpy(&w, msg, sizeof w);
	*info = (struct qp_info){
		.qpn = be32toh(w.qpn),
		.psn = be32toh(w.psn),
		.lid = be16toh(w.lid),
		.mtu = w.mtu,
		.rkey = be32toh(w.rkey),
		.addr = be64toh(w.addr),
		.len = be64toh(w.len),
	};
	memcpy(info->gid.raw, w.gid, sizeof w.gid);

	if (be32toh(w.magic) != MAGIC)
		snprintf(why, 80, "it is not one of these lessons");
	else if (be16toh(w.version) != VERSION)
		snprintf(why, 80, "it speaks version %u, not %u",
			 be16toh(w.version), (unsigned)VERSION);
	else if (be16toh(w.lesson) != lesson)
		snprintf(why, 80, "it runs lesson %u, not %u",
			 be16toh(w.lesson), lesson);
	else if (info->qpn < 2 || info->qpn > 0xffffff)
		snprintf(why, 80, "QP number 0x%x is out of range", info->qpn);
	else if (info->psn > 0xffffff)
		snprintf(why, 80, "PSN 0x%x has more than 24 bits", info->psn);
	else if (w.mtu < IBV_MTU_256 || w.mtu > IBV_MTU_4096)
		snprintf(why, 80, "MTU code %u is out of range", w.mtu);
	else if (w.zero)
		snprintf(why, 80, "byte 19 is %u, not 0", w.zero);
	else if (memcmp(w.gid, no_gid, sizeof no_gid) == 0)
		snprintf(why, 80, "its GID is zero");
	else if (info->len ? info->addr > UINT64_MAX - info->len
			   : info->addr || info->rkey)
		snprintf(why, 80, "its memory region makes no sense");
	else
		return true;
	return false;
}

/* Waits for events on the socket until end (now_ms), then dies. */
static void wait_for(struct ep *ep, int fd, short events, double end,
		     const char *what)
{
	for (;;) {
		double left = end - now_ms();
		struct pollfd p = { .fd = fd, .events = events };
		int n = poll(&p, 1, left > 0 ? (int)left + 1 : 0);

		if (n > 0)
			return;
		if (n < 0 && errno != EINTR)
			die_err(errno, "poll");
		if (n == 0 && left <= 0)
			die("%s: nothing within %d s", what, ep->opt->wait_s);
	}
}

/*
 * Sends or receives all len bytes. A peer that went away shows as EOF or as
 * a reset, depending on what was still under way; to us it is the same.
 */
static void tcp_full(struct ep *ep, void *buf, size_t len, bool out,
		     const char *what)
{
	double end = now_ms() + ep->opt->wait_s * 1e3;
	size_t done = 0;

	while (done < len) {
		char *p = (char *)buf + done;
		ssize_t n;

		wait_for(ep, ep->sock, out ? POLLOUT : POLLIN, end, what);
		n = out ? send(ep->sock, p, len - done, MSG_NOSIGNAL)
			: recv(ep->sock, p, len - done, 0);
		if (n > 0)
			done += (size_t)n;
		else if (n == 0 || errno == ECONNRESET || errno == EPIPE)
			die("%s: the peer hung up", what);
		else if (errno != EINTR && errno != EAGAIN)
			die_err(errno, "%s", what);
	}
}

static void set_nonblocking(int fd)
{
	if (fcntl(fd, F_SETFL, O_NONBLOCK) == -1)
		die_err(errno, "fcntl");
}

/* Waits for the first byte; hangs up too if the other side did before that. */
static bool has_word(struct ep *ep)
{
	char byte;

	wait_for(ep, ep->sock, POLLIN, now_ms() + ep->opt->wait_s * 1e3,
		 "waiting for QP info");
	if (recv(ep->sock, &byte, 1, MSG_PEEK) > 0)
		return true;
	note("somebody connected and hung up without a word: still waiting");
	close(ep->sock);
	return false;
}

void tcp_accept(struct ep *ep)
{
	struct addrinfo hints = { .ai_flags = AI_PASSIVE,
				  .ai_socktype = SOCK_STREAM };
	struct addrinfo *list;
	int fd = -1, err = 0, on = 1, off = 0;

	int rc = getaddrinfo(NULL, ep->opt->tcp_port, &hints, &list);
	if (rc)
		die("TCP port %s: %s", ep->opt->tcp_port, gai_strerror(rc));

	/* IPv6 first: such a socket takes IPv4 clients too, unless V6ONLY. */
	for (int v6 = 1; v6 >= 0 && fd == -1; v6--) {
		for (struct addrinfo *a = list; a && fd == -1; a = a->ai_next) {
			if ((a->ai_family == AF_INET6) != v6)
				continue;
			fd = socket(a->ai_family, SOCK_STREAM, 0);
			if (fd == -1) {
				err = errno;
				continue;
			}
			setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on,
				   sizeof on);
			if (v6)
				setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off,
					   sizeof off);
			if (bind(fd, a->ai_addr, a->ai_addrlen) == -1 ||
			    listen(fd, 8) == -1) {
				err = errno;
				close(fd);
				fd = -1;
			}
		}
	}
	freeaddrinfo(list);
	if (fd == -1)
		die_err(err, "TCP port %s (-p chooses another)",
			ep->opt->tcp_port);
	note("waiting for a client on TCP port %s", ep->opt->tcp_port);

	/* Whoever hangs up without a word is a port scanner, not our client. */
	double end = now_ms() + ep->opt->wait_s * 1e3;
	do {
		wait_for(ep, fd, POLLIN, end, "waiting for a client");
		ep->sock = accept(fd, NULL, NULL);
		if (ep->sock == -1)
			die_err(errno, "accept");
		set_nonblocking(ep->sock);
	} while (!has_word(ep));
	close(fd); /* one client: a second one is refused, not left waiting */
}

static int try_connect(struct ep *ep, const struct addrinfo *a, double end)
{
	int err = 0;
	socklen_t len = sizeof err;
	int fd = socket(a->ai_family, a->ai_socktype, 0);

	if (fd == -1)
		return errno;
	set_nonblocking(fd);
	if (connect(fd, a->ai_addr, a->ai_addrlen) == -1)
		err = errno;
	if (err == EINPROGRESS) {
		wait_for(ep, fd, POLLOUT, end, "TCP connect");
		getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len);
	}
	if (err)
		close(fd);
	else
		ep->sock = fd;
	return err;
}

void tcp_connect(struct ep *ep)
{
	const struct options *o = ep->opt;
	const char *host = o->host ? o->host : "this machine";
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	struct addrinfo *list;
	double start = now_ms();
	int err = 0;

	int rc = getaddrinfo(o->host, o->tcp_port, &hints, &list);
	if (rc)
		die("host %s: %s", host, gai_strerror(rc));
	do {
		for (struct addrinfo *a = list; a; a = a->ai_next) {
			err = try_connect(ep, a, now_ms() + o->wait_s * 1e3);
			if (!err) {
				freeaddrinfo(list);
				return;
			}
		}
		poll(NULL, 0, 20); /* the server may not be listening yet */
	} while (now_ms() - start < o->wait_s * 1e3);
	die_err(err, "no server at %s port %s (start it first?)", host,
		o->tcp_port);
}

void send_info(struct ep *ep, const struct ibv_mr *mr)
{
	uint8_t msg[INFO_LEN];
	struct qp_info info = {
		.qpn = ep->qp->qp_num,
		.psn = ep->psn,
		.lid = ep->lid,
		.mtu = ep->mtu,
		.gid = ep->gid,
	};

	if (mr) {
		info.addr = (uintptr_t)mr->addr;
		info.len = mr->length;
		info.rkey = mr->rkey; /* never the lkey: that one is ours */
	}
	info_pack(msg, &info, ep->opt->lesson);
	tcp_full(ep, msg, sizeof msg, true, "sending QP info");
}

struct qp_info recv_info(struct ep *ep, size_t min_len)
{
	uint8_t msg[INFO_LEN];
	struct qp_info info;
	char why[80];

	tcp_full(ep, msg, sizeof msg, false, "waiting for QP info");
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
	char byte = 'B';

	tcp_full(ep, &byte, 1, true, "barrier");
	byte = 0;
	tcp_full(ep, &byte, 1, false, "barrier");
	if (byte != 'B')
		die("barrier: the peer sent byte %d, not 'B'", byte);
}

bool peer_waits(struct ep *ep)
{
	struct pollfd p = { .fd = ep->sock, .events = POLLIN };

	return poll(&p, 1, 0) > 0;
}
