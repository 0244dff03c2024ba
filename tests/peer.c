/* SPDX-License-Identifier: MIT */
/*
 * tests/peer.c - a peer that does not keep to the rules; for tests/hostile.
 *
 * usage: peer server|client LESSON CASE [options as in the lessons]
 *
 * CASE is a list of fields to falsify in an otherwise good QP info, like
 * "addr=0xffffffffffffff00,len=4096", or one of the words in main(). In the end
 * it says how much came back, and how large a memory region was offered to it.
 * PEER_GID is a GID that the program under test can reach, like "fe80::1".
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common.h"

/* The fields, once more from the table in common.h: not from the code that is
 * tested. */
static const struct field {
	const char *name;
	size_t at, size;
} fields[] = {
	{ "magic", 0, 4 }, { "version", 4, 2 }, { "lesson", 6, 2 },
	{ "qpn", 8, 4 },   { "psn", 12, 4 },    { "lid", 16, 2 },
	{ "mtu", 18, 1 },  { "zero", 19, 1 },   { "rkey", 20, 4 },
	{ "gid", 24, 16 }, { "addr", 40, 8 },   { "len", 48, 8 },
};

static uint64_t get(const uint8_t *msg, const char *name)
{
	const struct field *f = fields;
	uint64_t v = 0;

	while (strcmp(f->name, name) != 0)
		f++;
	for (size_t k = 0; k < f->size; k++)
		v = v << 8 | msg[f->at + k];
	return v;
}

static bool set(uint8_t *msg, const char *name, uint64_t v)
{
	for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
		const struct field *f = &fields[i];

		if (strcmp(f->name, name) != 0)
			continue;
		for (size_t k = f->size; k > 0; k--, v >>= 8)
			msg[f->at + k - 1] = (uint8_t)v;
		return true;
	}
	return false;
}

static void falsify(uint8_t *msg, char *list)
{
	for (char *f; (f = strsep(&list, ",")) != NULL;) {
		char *value = strchr(f, '=');

		if (value)
			*value++ = 0;
		if (!value || !set(msg, f, strtoull(value, NULL, 0)))
			die("no case and no field \"%s\"", f);
	}
}

static uint8_t got[4096];
static size_t n_got;

/* Receives until there are that many bytes, or the other side has hung up, or
 * nothing came for wait_s. */
static void receive(struct ep *ep, size_t until)
{
	struct pollfd p = { .fd = ep->sock, .events = POLLIN };

	while (n_got < until && poll(&p, 1, ep->opt->wait_s * 1000) > 0) {
		ssize_t n = recv(ep->sock, got + n_got, until - n_got, 0);

		if (n <= 0)
			break;
		n_got += (size_t)n;
	}
}

/* The other side may be gone, and that is all right. */
static void put(struct ep *ep, const void *bytes, size_t n)
{
	(void)!send(ep->sock, bytes, n, MSG_NOSIGNAL);
}

int main(int argc, char **argv)
{
	if (argc < 4)
		return 2;
	bool client = strcmp(argv[1], "client") == 0;
	unsigned lesson = (unsigned)strtoul(argv[2], NULL, 10);
	char *what = argv[3];
	struct options opt = parse_args(argc - 3, argv + 3, argv[1], lesson);
	struct ep ep = { .opt = &opt, .sock = -1 }; /* no device: a QP number
						       is only a number */
	/* Lessons 05, 06 and 10 connect several QPs, over one TCP connection. */
	size_t qps = lesson == 10 ? 4 : lesson == 5 || lesson == 6 ? 2 : 1;
	size_t all = qps * INFO_LEN;
	uint8_t msg[4 * INFO_LEN];
	struct qp_info info = {
		.qpn = 17,
		.psn = 0x123456,
		.mtu = IBV_MTU_256,
		.addr = client ? 0 : 0x10000,
		.len = client ? 0 : 1 << 20,
		.rkey = client ? 0 : 0x1234,
	};
	const char *gid = getenv("PEER_GID");

	if (!gid || inet_pton(AF_INET6, gid, info.gid.raw) != 1)
		die("PEER_GID is no GID");
	for (size_t i = 0; i < qps; i++)
		info_pack(msg + i * INFO_LEN, &info, lesson);
	if (client)
		tcp_connect(&ep);
	else
		tcp_accept(&ep);
	note("connected");

	if (strcmp(what, "scan") == 0) { /* connect, close, three times */
		for (int i = 0; client && i < 2; i++) {
			close(ep.sock);
			tcp_connect(&ep);
		}
		close(ep.sock);
		ep.sock = -1;
	} else if (strcmp(what, "silent") == 0) {
		/* nothing */
	} else if (strcmp(what, "late") == 0) { /* then as "hang-up" */
		poll(NULL, 0, 5000);
		put(&ep, msg, all);
		receive(&ep, all);
		shutdown(ep.sock, SHUT_WR);
	} else if (strcmp(what, "short") == 0) {
		put(&ep, msg, 20);
		shutdown(ep.sock, SHUT_WR);
	} else if (strcmp(what, "slow") == 0) { /* a byte a second */
		for (size_t i = 0; i < all && n_got == 0; i++) {
			struct pollfd p = { .fd = ep.sock,
					    .events = POLLRDHUP };
			put(&ep, msg + i, 1);
			if (poll(&p, 1, 1000) > 0)
				break;
		}
	} else if (strcmp(what, "random") == 0) {
		uint8_t noise[256];

		if (getrandom(noise, sizeof noise, 0) != sizeof noise)
			die_err(errno, "getrandom");
		put(&ep, noise, sizeof noise);
	} else if (strcmp(what, "http") == 0) {
		static const char text[] = "GET / HTTP/1.1\r\nHost: localhost"
					   "\r\nUser-Agent: curl/7.88.1\r\n"
					   "Accept: */*\r\n\r\n";
		put(&ep, text, sizeof text - 1);
	} else if (strcmp(what, "extra") == 0) { /* bytes behind the info */
		put(&ep, msg, all);
		put(&ep, "EXTRA", 5);
	} else if (strcmp(what, "stop") == 0) { /* before the barrier */
		put(&ep, msg, all);
		receive(&ep, all);
		note("exchanged");
	} else if (strcmp(what, "garbage") == 0) { /* at the barrier */
		put(&ep, msg, all);
		receive(&ep, all);
		put(&ep, "X", 1);
	} else if (strcmp(what, "hang-up") == 0) { /* at the barrier */
		put(&ep, msg, all);
		receive(&ep, all);
		shutdown(ep.sock, SHUT_WR);
	} else if (strcmp(what, "begin") == 0) { /* and stop behind it */
		put(&ep, msg, all);
		receive(&ep, all);
		put(&ep, "B", 1);
	} else {
		falsify(msg, what);
		put(&ep, msg, all);
	}
	if (ep.sock != -1)
		receive(&ep, sizeof got);

	uint64_t offered = 0;
	for (size_t i = 0; i < qps && (i + 1) * INFO_LEN <= n_got; i++)
		if (get(got + i * INFO_LEN, "rkey"))
			offered = get(got + i * INFO_LEN, "len");
	say("got %zu bytes, a region of %llu", n_got,
	    (unsigned long long)offered);
	return 0;
}
