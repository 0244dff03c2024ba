/* SPDX-License-Identifier: MIT */
/*
 * tests/unit.c - common/ without a device: the wire format, TCP, GID choice.
 *
 * Whatever ends the program is tested in a child, whose last words and exit
 * status are compared.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "conns.h"

/* What a child is asked to do. */
typedef void (*deed)(struct ep *ep);

static char said[4096];
static int status;

enum then { SILENCE, SLOWLY, NO_HURRY, HANG_UP, IN_PIECES };

/* Runs f in a child. Its peer has sent it the bytes `in` and then keeps silent
 * or hangs up, or it sends a byte every 100 ms, or 5. Only who meets SILENCE,
 * or SLOWLY, has but a second. */
static void in_child(deed f, const void *in, size_t len, enum then then)
{
	const bool bytewise = then == SLOWLY || then == IN_PIECES;
	int sv[2], out[2];
	size_t n = 0;
	ssize_t r;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sv), 0);
	assert_int_equal(pipe(out), 0);
	if (!bytewise && len)
		assert_int_equal(write(sv[1], in, len), len);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		char *argv[] = { "unit", NULL };
		struct options opt = parse_args(1, argv, "client", 3);
		struct ep ep = { .opt = &opt, .sock = sv[0] };

		opt.wait_s = then < NO_HURRY ? 1 : 60;
		rlim_t few = (rlim_t)dup(0) + 15; /* who leaks notices it */
		setrlimit(RLIMIT_NOFILE, &(struct rlimit){ few, few });
		/* who goes on for ever ends */
		setrlimit(RLIMIT_CPU, &(struct rlimit){ 60, 60 });
		dup2(out[1], STDOUT_FILENO);
		close(sv[1]);
		fcntl(sv[0], F_SETFL, O_NONBLOCK);
		f(&ep);
		_exit(0);
	}
	close(sv[0]);
	close(out[1]);
	for (size_t k = 0; bytewise && k < len; k++) {
		usleep(then == SLOWLY ? 100000 : 5000);
		if (send(sv[1], (const char *)in + k, 1, MSG_NOSIGNAL) != 1)
			break;
	}
	if (then == HANG_UP)
		close(sv[1]);
	while ((r = read(out[0], said + n, sizeof said - 1 - n)) > 0)
		n += (size_t)r;
	said[n] = 0;
	close(out[0]);
	if (then != HANG_UP)
		close(sv[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void dies(const char *message)
{
	assert_string_equal(said, message);
	assert_int_equal(status, 1);
}

static struct qp_info good(void)
{
	struct qp_info i = {
		.magic = 0x52444d41,
		.version = 1,
		.lesson = 3,
		.qpn = 0x123456,
		.psn = 0xabcdef,
		.lid = 0x0102,
		.mtu = IBV_MTU_1024,
		.addr = 0x1122334455667788,
		.len = 4096,
		.rkey = 0xdeadbeef,
	};

	for (int k = 0; k < 16; k++)
		i.gid.raw[k] = (uint8_t)(0xf0 + k);
	return i;
}

/* The documented layout, byte for byte: another program must understand it. */
static void wire_layout(void **state)
{
	static const uint8_t want[INFO_LEN] = {
		'R',  'D',  'M',  'A',  0,    1,    0,    3,    0x00, 0x12,
		0x34, 0x56, 0x00, 0xab, 0xcd, 0xef, 0x01, 0x02, 3,    0,
		0xde, 0xad, 0xbe, 0xef, 0xf0, 0xf1, 0xf2, 0xf3, 0xf4, 0xf5,
		0xf6, 0xf7, 0xf8, 0xf9, 0xfa, 0xfb, 0xfc, 0xfd, 0xfe, 0xff,
		0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0,    0,
		0,    0,    0,    0,    0x10, 0x00,
	};
	struct qp_info in = good(), out;
	uint8_t msg[INFO_LEN];
	char why[80] = "";

	struct ibv_mr mr = { .addr = (void *)in.addr,
			     .length = in.len,
			     .lkey = 1,
			     .rkey = in.rkey };
	struct ibv_qp qp = { .qp_num = in.qpn };
	struct options opt = { .lesson = 3 };
	struct ep ep = { .opt = &opt,
			 .qp = &qp,
			 .psn = in.psn,
			 .lid = in.lid,
			 .mtu = in.mtu,
			 .gid = in.gid };
	int sv[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sv), 0);
	ep.sock = sv[0];
	send_info(&ep, &mr);
	assert_int_equal(read(sv[1], msg, INFO_LEN), INFO_LEN);
	close(sv[0]);
	close(sv[1]);
	assert_memory_equal(msg, want, INFO_LEN);
	assert_true(info_unpack(msg, &out, 3, why));
	assert_memory_equal(&in, &out, sizeof in);
}

#define BYTES(s) s, sizeof(s) - 1
#define ALIEN "it is not one of these lessons"
#define BAD_REGION \
	"address, length and rkey of its memory region contradict each other"
static void wire_refusals(void **state)
{
	static const struct {
		int at; /* change these bytes of a good message ... */
		const char *to;
		size_t len;
		const char *why;
	} bad[] = {
		{ 0, BYTES("G"), ALIEN },
		{ 0, BYTES("\0\0\0\0"), ALIEN },
		{ 4, BYTES("\0\0"), "it speaks version 0, not 1" },
		{ 4, BYTES("\0\2"), "it speaks version 2, not 1" },
		{ 6, BYTES("\0\0"), "it runs lesson 0, not 3" },
		{ 6, BYTES("\0\10"), "it runs lesson 8, not 3" },
		{ 8, BYTES("\0\0\0\0"), "QP number 0x0 is out of range" },
		{ 8, BYTES("\0\0\0\1"), "QP number 0x1 is out of range" },
		{ 8, BYTES("\1\0\0\0"), "QP number 0x1000000 is out of range" },
		{ 8, BYTES("\377\377\377\377"),
		  "QP number 0xffffffff is out of range" },
		{ 12, BYTES("\1\0\0\0"),
		  "PSN 0x1000000 has more than 24 bits" },
		{ 18, BYTES("\0"), "MTU code 0 is out of range" },
		{ 18, BYTES("\6"), "MTU code 6 is out of range" },
		{ 19, BYTES("\1"), "byte 19 is 1, not 0" },
		{ 24, BYTES("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"),
		  "its GID is zero" },
		/* Address and length: the sum is 2^64 + 1, and 2^64; none, and yet an rkey. */
		{ 40, BYTES("\377\377\377\377\377\377\360\1\0\0\0\0\0\0\20\0"),
		  BAD_REGION },
		{ 40, BYTES("\0\0\0\0\0\0\0\1\377\377\377\377\377\377\377\377"),
		  BAD_REGION },
		{ 40, BYTES("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"), BAD_REGION },
	};
	struct qp_info i = good(), out;
	uint8_t msg[INFO_LEN];
	char why[80];

	(void)state;
	for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
		info_pack(msg, &i, 3);
		memcpy(msg + bad[k].at, bad[k].to, bad[k].len);
		assert_false(info_unpack(msg, &out, 3, why));
		assert_string_equal(why, bad[k].why);
	}

	i.len = i.rkey = 0; /* none, and yet an address */
	info_pack(msg, &i, 3);
	assert_false(info_unpack(msg, &out, 3, why));
	assert_string_equal(why, BAD_REGION);
	i.addr = 0;
	i.psn = i.qpn = 0xffffff;
	i.mtu = IBV_MTU_4096;
	info_pack(msg, &i, 3);
	assert_true(info_unpack(msg, &out, 3, why));
	i.psn = 0;
	i.qpn = 2;
	i.mtu = IBV_MTU_256;
	info_pack(msg, &i, 3);
	assert_true(info_unpack(msg, &out, 3, why));
}

/* No message of 56 bytes makes it read or write where it should not; run
 * under the sanitizers too. */
static void wire_random(void **state)
{
	uint8_t msg[INFO_LEN];
	struct qp_info good_one = good(), out;
	char why[80];

	(void)state;
	uint32_t x = 1; /* the same "random" bytes on every run */
	for (int n = 0; n < 100000; n++) {
		info_pack(msg, &good_one, 3);
		for (int k = n % 4; k >= 0; k--) {
			x = x * 1664525 + 1013904223;
			msg[(x >> 16) % INFO_LEN] = (uint8_t)(x >> 8);
		}
		if (!info_unpack(msg, &out, 3, why))
			continue;
		assert_true(out.qpn >= 2 && out.qpn <= 0xffffff);
		assert_true(out.psn <= 0xffffff);
		assert_true(out.addr + out.len >= out.addr);
	}
}

static void do_recv(struct ep *ep)
{
	struct qp_info i = recv_info(ep, 64);

	say("qpn %u", i.qpn);
}

static void exchange(void **state)
{
	struct qp_info i = good();
	uint8_t msg[INFO_LEN];

	(void)state;
	info_pack(msg, &i, 3);
	in_child(do_recv, msg, INFO_LEN, NO_HURRY);
	assert_string_equal(said, "client: qpn 1193046\n");
	assert_int_equal(status, 0);
	in_child(do_recv, msg, INFO_LEN, IN_PIECES);
	assert_string_equal(said, "client: qpn 1193046\n");

	in_child(do_recv, msg, INFO_LEN - 1, HANG_UP);
	dies("client: FAIL waiting for QP info: the peer hung up\n");
	in_child(do_recv, msg, INFO_LEN - 1, SILENCE);
	dies("client: FAIL waiting for QP info: nothing within 1 s\n");
	in_child(do_recv, msg, INFO_LEN, SLOWLY);
	dies("client: FAIL waiting for QP info: nothing within 1 s\n");
	in_child(do_recv, msg, 0, HANG_UP);
	dies("client: FAIL waiting for QP info: the peer hung up\n");
	in_child(do_recv,
		 "GET / HTTP/1.1\r\nHost: localhost\r\nUser-Agent: curl/7\r\n"
		 "Accept: */*\r\n\r\n",
		 68, SILENCE);
	dies("client: FAIL QP info from the peer: "
	     "it is not one of these lessons\n");

	i.len = 63;
	info_pack(msg, &i, 3);
	in_child(do_recv, msg, INFO_LEN, NO_HURRY);
	dies("client: FAIL QP info from the peer: its memory region has 63 "
	     "bytes, this lesson needs 64\n");
}

static void do_barrier(struct ep *ep)
{
	barrier(ep);
	say("both here");
}

static void do_send(struct ep *ep)
{
	struct pollfd p = { .fd = ep->sock, .events = POLLIN };

	poll(&p, 1, -1); /* until the peer has gone */
	tcp_send(ep, "B", 1, "sending");
}

static void barriers(void **state)
{
	(void)state;
	in_child(do_send, "", 0, HANG_UP);
	dies("client: FAIL sending: the peer hung up\n");
	in_child(do_barrier, "B", 1, NO_HURRY);
	assert_string_equal(said, "client: both here\n");
	in_child(do_barrier, "X", 1, NO_HURRY);
	dies("client: FAIL barrier: the peer sent byte 88, not 'B'\n");
	in_child(do_barrier, "", 0, HANG_UP);
	dies("client: FAIL barrier: the peer hung up\n");
	in_child(do_barrier, "", 0, SILENCE);
	dies("client: FAIL barrier: nothing within 1 s\n");
}

static char port[8]; /* of the TCP tests: one that was free a moment ago */
static struct sockaddr_in addr; /* the same */

static void find_port(void)
{
	socklen_t len = sizeof addr;
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	addr = (struct sockaddr_in){ .sin_family = AF_INET };
	assert_int_equal(bind(fd, (void *)&addr, len), 0);
	assert_int_equal(getsockname(fd, (void *)&addr, &len), 0);
	snprintf(port, sizeof port, "%u", ntohs(addr.sin_port));
	close(fd);
}

static void do_accept(struct ep *ep)
{
	static struct options opt;

	opt = *ep->opt;
	opt.tcp_port = port;
	ep->opt = &opt;
	tcp_accept(ep);
	barrier(ep);
}

static const char *host;

static void do_connect(struct ep *ep)
{
	static struct options opt;

	opt = *ep->opt;
	opt.tcp_port = port;
	opt.host = host;
	ep->opt = &opt;
	tcp_connect(ep);
	barrier(ep);
	say("connected");
}

/* Over IPv4 and IPv6, the client first, and twice on one port in a row. */
static void tcp_pair(void **state)
{
	static const char *const hosts[] = { "127.0.0.1", "::1", NULL };

	(void)state;
	find_port();
	for (int k = 0; k < 3; k++) {
		pid_t pid = fork();
		if (pid == 0) {
			usleep(100000);
			in_child(do_accept, "", 0, NO_HURRY);
			_exit(status);
		}
		host = hosts[k];
		in_child(do_connect, "", 0, NO_HURRY);
		assert_string_equal(said, "client: connected\n");
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
	}
}

/* A port scanner does not cost the server its client: five of them, one that
 * ends with a reset, then a client. */
static void scanners(void **state)
{
	struct linger reset = { .l_onoff = 1 };

	(void)state;
	find_port();
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		in_child(do_accept, "", 0, NO_HURRY);
		_exit(status);
	}
	for (int k = 0; k < 6; k++) {
		int fd = socket(AF_INET, SOCK_STREAM, 0);

		for (int n = 0; n < 100; n++) {
			if (connect(fd, (void *)&addr, sizeof addr) == 0)
				break;
			usleep(10000);
		}
		if (k == 3)
			setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset,
				   sizeof reset);
		if (k == 5)
			assert_int_equal(write(fd, "B", 1), 1);
		if (k < 5)
			close(fd);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);

	/* They do not make it wait longer, either: it ends while they come. */
	find_port();
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		in_child(do_accept, "", 0, SILENCE);
		_exit(status != 1 ||
		      !strstr(said, "waiting for a client: nothing within"));
	}
	int rc, gone = 0;
	while ((rc = waitpid(pid, &status, WNOHANG)) == 0 && gone < 1000) {
		int fd = socket(AF_INET, SOCK_STREAM, 0);

		if (connect(fd, (void *)&addr, sizeof addr) == 0)
			gone++;
		close(fd);
		usleep(100000);
	}
	assert_int_equal(rc, pid);
	assert_int_equal(status, 0);
	assert_true(gone > 1);
}

static int connected(void)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_int_equal(connect(fd, (void *)&addr, sizeof addr), 0);
	return fd;
}

static void tcp_refusals(void **state)
{
	char want[200];

	(void)state;
	find_port();
	in_child(do_accept, "", 0, SILENCE);
	dies("client: FAIL waiting for a client: nothing within 1 s\n");

	host = "no such host";
	in_child(do_connect, "", 0, SILENCE);
	assert_non_null(strstr(said, "client: FAIL host no such host: "));

	host = "127.0.0.1";
	in_child(do_connect, "", 0, SILENCE);
	snprintf(want, sizeof want,
		 "client: FAIL no server at 127.0.0.1 port %s (start it "
		 "first?): Connection refused (ECONNREFUSED)\n",
		 port);
	dies(want);

	/* a port that somebody else has */
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(bind(fd, (void *)&addr, sizeof addr), 0);
	assert_int_equal(listen(fd, 1), 0);
	in_child(do_accept, "", 0, SILENCE);
	snprintf(want, sizeof want,
		 "client: FAIL TCP port %s (-p chooses another): Address "
		 "already in use (EADDRINUSE)\n",
		 port);
	dies(want);

	host = NULL; /* has two addresses, of which this is the second */
	in_child(do_connect, "", 0, SILENCE);
	dies("client: FAIL barrier: nothing within 1 s\n");

	/* its queue is full: no answer, as of an address that nobody has */
	host = "127.0.0.1";
	int other = connected();
	in_child(do_connect, "", 0, SILENCE);
	snprintf(want, sizeof want,
		 "client: FAIL no server at 127.0.0.1 port %s (start it "
		 "first?): Connection timed out (ETIMEDOUT)\n",
		 port);
	dies(want);
	close(other);
	close(fd);
}

static void gid_choice(void **state)
{
	struct ibv_gid_entry t[4] = {
		{ .port_num = 1, .gid_type = IBV_GID_TYPE_ROCE_V1 },
		{ .port_num = 1, .gid_type = IBV_GID_TYPE_ROCE_V2 },
		{ .port_num = 1, .gid_type = IBV_GID_TYPE_ROCE_V2 },
		{ .port_num = 2, .gid_type = IBV_GID_TYPE_ROCE_V2 },
	};

	(void)state;
	for (int k = 0; k < 4; k++)
		inet_pton(AF_INET6, "fe80::1", t[k].gid.raw);
	assert_int_equal(choose_gid(t, 4, 1), 1);
	inet_pton(AF_INET6, "::ffff:10.0.0.1", t[2].gid.raw);
	assert_int_equal(choose_gid(t, 4, 1), 2);
	assert_int_equal(choose_gid(t, 4, 2), 3);
	assert_int_equal(choose_gid(t, 1, 1), -1); /* RoCE v1 only */
	memset(t[1].gid.raw, 0, 16);
	assert_int_equal(choose_gid(t, 2, 1), -1); /* zero: unused entry */
	t[0].gid_type = IBV_GID_TYPE_IB;
	assert_int_equal(choose_gid(t, 1, 1), 0);
	assert_int_equal(choose_gid(t, 0, 1), -1);
}

static char *args[4];

static void do_parse(struct ep *ep)
{
	char *argv[] = { "x", args[0], args[1], args[2], NULL };
	int argc = 1;

	(void)ep;
	while (argv[argc])
		argc++;
	optind = 1;
	dup2(STDOUT_FILENO, STDERR_FILENO);
	struct options o = parse_args(argc, argv, "client", 3);
	say("%s %d", o.host, o.gid_index);
}

static void arguments(void **state)
{
	static char *const bad[][2] = {
		{ "-g", "x" },         { "-g", "-1" },    { "-g", "256" },
		{ "-p", "0" },         { "-p", "65536" }, { "-p", "" },
		{ "-i", "0" },         { "-t", "1s" },    { "-z", NULL },
		{ "host", "another" },
	};

	(void)state;
	for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
		args[0] = bad[k][0];
		args[1] = bad[k][1];
		in_child(do_parse, "", 0, SILENCE);
		assert_int_equal(status, 2);
		assert_non_null(strstr(said, "usage: client"));
	}
	args[0] = "-h";
	args[1] = NULL;
	in_child(do_parse, "", 0, SILENCE);
	assert_int_equal(status, 0);
	args[0] = "-g";
	args[1] = "0";
	args[2] = "there";
	in_child(do_parse, "", 0, SILENCE);
	assert_string_equal(said, "client: there 0\n");
	args[1] = "255";
	in_child(do_parse, "", 0, SILENCE);
	assert_string_equal(said, "client: there 255\n");
}

static void do_parse_own(struct ep *ep)
{
	const char *file = "none", *count = "none";
	struct own_option own[] = { { 'f', "a file", &file },
				    { 'n', "a number", &count },
				    { 0 } };
	char *argv[] = { "x", args[0], args[1], "there", NULL };

	(void)ep;
	optind = 1;
	dup2(STDOUT_FILENO, STDERR_FILENO);
	struct options o = parse_args_and(4, argv, "client", 3, own);
	say("%s %s %s", o.host, file, count);
}

/* Those of a lesson beside those of all. */
static void own_arguments(void **state)
{
	(void)state;
	args[0] = "-n";
	args[1] = "7";
	in_child(do_parse_own, "", 0, SILENCE);
	assert_string_equal(said, "client: there none 7\n");
	args[0] = "-t";
	in_child(do_parse_own, "", 0, SILENCE);
	assert_string_equal(said, "client: there none none\n");
	args[0] = "-h";
	in_child(do_parse_own, "", 0, SILENCE);
	assert_int_equal(status, 0);
	assert_non_null(strstr(said, "\n  -f  a file\n  -n  a number\n"));
	args[0] = "-z";
	in_child(do_parse_own, "", 0, SILENCE);
	assert_int_equal(status, 2);
}

/* ---- clients that connect and leave ------------------------------------------- */

static struct conns conns;
static bool busy;  /* the CQ is never empty */
static int behind; /* completions; the last is of client 6 */
static struct ibv_qp qp = { .qp_num = 6 };

static int fake_poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc)
{
	(void)cq;
	*wc = (struct ibv_wc){ .qp_num = behind == 1 ? qp.qp_num : 999 };
	return busy || (behind > 0 && behind--) ? n : 0;
}

static void welcome(struct conn *c, const struct qp_info *peer)
{
	say("client %d is here: QP %u", c->number, peer->qpn);
}

static void completed(struct conn *c, const struct ibv_wc *wc)
{
	(void)wc;
	if (!c)
		return;
	say("a completion of client %d", c->number);
	c->ep.qp = NULL; /* conn_lose() needs a real one */
}

static struct conn *client(int number)
{
	struct conn *c = conns.conn;

	while (c->number != number)
		assert_true(++c < conns.conn + MAX_CONNS);
	return c;
}

/* The clients of this test: after each step there are 20 looks at the sockets */
static void clients_turn(void)
{
	static int fd[6], turns, step;
	static double half; /* came until then */
	static clock_t cpu;
	static uint8_t msg[INFO_LEN];
	struct qp_info info = good();
	char back[INFO_LEN + 1];

	if (++turns % 1280 != 0 || (step == 10 && conns.lost < 5) ||
	    now_ms() < half)
		return;
	switch (step++) {
	case 0: /* a port scanner, one that is slow, one that is no client */
		info_pack(msg, &info, 3);
		close(connected());
		fd[0] = connected();
		fd[1] = connected();
		(void)!write(fd[0], msg, 20);
		half = now_ms() + 100;
		cpu = clock();
		(void)!write(fd[1],
			     "GET / HTTP/1.1\r\nHost: of fifty-six bytes"
			     " and more....\r\n\r\n",
			     58);
		break;
	case 1:
		if (clock() - cpu > CLOCKS_PER_SEC / 20)
			say("it spins until the QP info is whole");
		(void)!write(fd[0], msg + 20, INFO_LEN - 20);
		break;
	case 2: /* while the server has something of it, its place is not free */
		client(2)->holds = 1;
		(void)!write(fd[0], "B", 1);
		break;
	case 3:
		say("%zd byte back", recv(fd[0], back, sizeof back, 0));
		close(fd[0]);
		break;
	case 4:
		say("%d here", conns.here);
		client(2)->holds = 0;
		break;
	case 5: /* five come, and there are four places */
		say("%d here", conns.here);
		for (int k = 0; k < 5; k++)
			fd[k] = connected();
		break;
	case 6:
		say("%d here", conns.here);
		busy = true; /* one hangs up while others keep us busy */
		(void)!write(fd[0], msg, INFO_LEN);
		(void)!write(fd[1], msg, INFO_LEN);
		break;
	case 7:
		close(fd[0]);
		(void)!write(fd[1], "X", 1);
		break;
	case 8: /* who waits for us is not silent */
		(void)!write(fd[2], msg, INFO_LEN);
		(void)!write(fd[3], msg, INFO_LEN);
		break;
	case 9:
		client(6)->holds = 1;
		(void)!write(fd[3], "B", 1);
		close(fd[3]);
		fd[0] = connected(); /* half a QP info, and it hangs up */
		(void)!write(fd[0], msg, 20);
		close(fd[0]);
		break;
	case 10:
		say("the server has something of client 6");
		client(6)->holds = 0;
		client(6)->heard = now_ms();
		client(6)->ep.qp = &qp;
		usleep(3100000); /* a slow disk, and it sends a command */
		behind = 100;
		busy = false;
		break;
	}
}

static int descriptors(void)
{
	int n = 0;

	for (int fd = 0; fd < 64; fd++)
		n += fcntl(fd, F_GETFD) != -1;
	return n;
}

static void do_serve(struct ep *ep)
{
	const int before = descriptors();
	static const struct service service = { welcome, completed,
						clients_turn };
	struct ibv_context ctx = { .ops.poll_cq = fake_poll_cq };
	struct ibv_cq cq = { .context = &ctx, .cqe = 100 };
	struct options opt = *ep->opt;
	struct ep base = { .opt = &opt, .cq = &cq };

	opt.tcp_port = port;
	opt.wait_s = 3; /* and nobody else stands still for so long */
	conns_open(&conns, &base);
	conns_serve(&conns, true, &service);
	say("%d said goodbye, %d lost", conns.goodbyes, conns.lost);
	/* the listener, and four of the test's own clients */
	say("%d descriptors more", descriptors() - before);
}

/* Clients that come in pieces, break the rules, say goodbye, or say nothing, and a CQ
 * that is never empty. */
static void clients_connect_and_leave(void **state)
{
	(void)state;
	find_port();
	in_child(do_serve, "", 0, SILENCE);
	assert_string_equal(
		said,
		"client: client 3 loses its connection: QP info from the peer: "
		"it is not one of these lessons\n"
		"client: client 2 is here: QP 1193046\n"
		"client: 1 byte back\n"
		"client: 1 here\n"
		"client: 0 here\n"
		"client: 4 here\n"
		"client: client 5 is here: QP 1193046\n"
		"client: client 4 is here: QP 1193046\n"
		"client: client 5 loses its connection: barrier: the peer sent "
		"byte 88, not 'B'\n"
		"client: client 4 loses its connection: barrier: the peer hung "
		"up\n"
		"client: client 7 is here: QP 1193046\n"
		"client: client 6 is here: QP 1193046\n"
		"client: client 9 loses its connection: waiting for QP info: "
		"the peer hung up\n"
		"client: client 8 loses its connection: waiting for QP info: "
		"nothing within 3 s\n"
		"client: the server has something of client 6\n"
		"client: a completion of client 6\n"
		"client: client 6 loses its connection: waiting for a command: "
		"nothing within 3 s\n"
		"client: 2 said goodbye, 6 lost\n"
		"client: 5 descriptors more\n");
}

static void do_die(struct ep *ep)
{
	(void)ep;
	die_err(ENOMEM, "%s", "ibv_x");
}

static void do_long_line(struct ep *ep)
{
	char text[2000];

	(void)ep;
	memset(text, 'x', sizeof text);
	text[sizeof text - 1] = 0;
	die_err(EINVAL, "%s", text);
}

static void do_say_to_full(struct ep *ep)
{
	(void)ep;
	dup2(open("/dev/full", O_WRONLY), STDOUT_FILENO);
	say("x");
}

static void fail_lines(void **state)
{
	(void)state;
	in_child(do_say_to_full, "", 0, SILENCE);
	dies("");
	in_child(do_die, "", 0, SILENCE);
	dies("client: FAIL ibv_x: Cannot allocate memory (ENOMEM)\n");
	in_child(do_long_line, "", 0, SILENCE);
	assert_int_equal(strlen(said), 512);
	assert_int_equal(said[511], '\n');
	assert_int_equal(status, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wire_layout),
		cmocka_unit_test(wire_refusals),
		cmocka_unit_test(wire_random),
		cmocka_unit_test(exchange),
		cmocka_unit_test(barriers),
		cmocka_unit_test(tcp_pair),
		cmocka_unit_test(tcp_refusals),
		cmocka_unit_test(gid_choice),
		cmocka_unit_test(scanners),
		cmocka_unit_test(arguments),
		cmocka_unit_test(fail_lines),
		cmocka_unit_test(own_arguments),
		cmocka_unit_test(clients_connect_and_leave),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
