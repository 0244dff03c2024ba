/* SPDX-License-Identifier: MIT */
/*
 * common/plumbing/sockets.c - bytes over TCP, each wait with a deadline.
 *
 * Sockets as in any other program: no lesson is about what stands here. A peer
 * that keeps silent, hangs up, or is no peer at all ends in one FAIL line.
 */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "common.h"

static double deadline(const struct ep *ep)
{
	return now_ms() + ep->opt->wait_s * 1e3;
}

/* Waits until there is something to read or accept, or dies at end (now_ms). */
static void wait_for(struct ep *ep, int fd, double end, const char *what)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	double left = end - now_ms();
	int n = poll(&p, 1, left > 0 ? (int)left + 1 : 0);

	if (n < 0)
		die_err(errno, "poll");
	if (n == 0)
		die("%s: nothing within %d s", what, ep->opt->wait_s);
}

/*
 * n is what send() or recv() returned, and not what it should be. A peer that
 * went away shows as EOF, as a reset or as a broken pipe, depending on what was
 * still under way; to us it is the same.
 */
static void tcp_failed(ssize_t n, const char *what)
{
	if (n == 0 || errno == ECONNRESET || errno == EPIPE)
		die("%s: the peer hung up", what);
	die_err(errno, "%s", what);
}

/* Need not wait: all that we ever send fits into the socket's buffer. */
void tcp_send(struct ep *ep, const void *buf, size_t len, const char *what)
{
	ssize_t n = send(ep->sock, buf, len, MSG_NOSIGNAL | MSG_DONTWAIT);

	if (n != (ssize_t)len)
		tcp_failed(n, what);
}

/* Receives all len bytes; they may arrive in pieces. */
void tcp_recv(struct ep *ep, void *buf, size_t len, const char *what)
{
	double end = deadline(ep);

	for (size_t done = 0; done < len;) {
		wait_for(ep, ep->sock, end, what);
		ssize_t n = recv(ep->sock, (char *)buf + done, len - done, 0);
		if (n <= 0)
			tcp_failed(n, what);
		done += (size_t)n;
	}
}

int tcp_listen(const struct options *opt)
{
	const char *port = opt->tcp_port;
	uint16_t number = (uint16_t)strtoul(port, NULL, 10);
	/* Any address is all zeroes. An IPv6 socket takes IPv4 clients too,
	 * unless it is V6ONLY. */
	struct sockaddr_in6 any = { .sin6_family = AF_INET6,
				    .sin6_port = htons(number) };
	int on = 1, off = 0;

	int fd = socket(AF_INET6, SOCK_STREAM, 0);
	if (fd == -1) { /* no IPv6 here; the port has the same place in IPv4 */
		any.sin6_family = AF_INET;
		fd = socket(AF_INET, SOCK_STREAM, 0);
	}
	setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (bind(fd, (void *)&any, sizeof any) == -1 || listen(fd, 8) == -1)
		die_err(errno, "TCP port %s (-p chooses another)", port);
	note("waiting for a client on TCP port %s", port);
	return fd;
}

void tcp_accept(struct ep *ep)
{
	int fd = tcp_listen(ep->opt);
	char byte;

	/* A client that has gone since poll() must not make accept() wait (man 2
	 * accept). */
	fcntl(fd, F_SETFL, O_NONBLOCK);
	/* Whoever hangs up without a word is a port scanner, not our client. */
	double end = deadline(ep);
	for (;;) {
		wait_for(ep, fd, end, "waiting for a client");
		ep->sock = accept(fd, NULL, NULL);
		if (ep->sock == -1 &&
		    (errno == EAGAIN || errno == ECONNABORTED))
			continue;
		if (ep->sock == -1)
			die_err(errno, "accept");
		wait_for(ep, ep->sock, deadline(ep), "waiting for QP info");
		if (recv(ep->sock, &byte, 1, MSG_PEEK) > 0)
			break;
		note("a connection ended before it sent anything: still "
		     "waiting");
		close(ep->sock);
	}
	close(fd); /* one client: a second one is refused, not left waiting */
}

void tcp_connect(struct ep *ep)
{
	const struct options *o = ep->opt;
	const char *host = o->host ? o->host : "this machine";
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *list;
	struct timeval limit = { .tv_sec = o->wait_s };
	double end = deadline(ep);
	int err = 0;

	int rc = getaddrinfo(o->host, o->tcp_port, &hints, &list);
	if (rc)
		die("host %s: %s", host, gai_strerror(rc));
	do {
		for (struct addrinfo *a = list; a; a = a->ai_next) {
			int fd = socket(a->ai_family, SOCK_STREAM, 0);

			/* Limits connect(), too (man 7 socket). */
			if (fd != -1 &&
			    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit,
				       sizeof limit) == 0 &&
			    connect(fd, a->ai_addr, a->ai_addrlen) == 0) {
				ep->sock = fd;
				freeaddrinfo(list);
				return;
			}
			err = errno == EINPROGRESS ? ETIMEDOUT : errno;
			close(fd);
		}
		poll(NULL, 0, 20); /* the server may not be listening yet */
	} while (now_ms() < end);
	die_err(err, "no server at %s port %s (start it first?)", host,
		o->tcp_port);
}
