/* SPDX-License-Identifier: MIT */
/*
 * judges/projects/copy.solution.c - a solution of project 2, and wrong ones.
 *
 * The copier SENDs the file in chunks, each into a receive of the server. The server
 * writes a chunk to a part file, posts the receive again, and gives a credit: an empty
 * SEND, whose immediate is 0, or why the file cannot be stored. One more, the last
 * word, says that the file is stored. Under its name the file appears by rename(2).
 * The server has a process for each copier, so what ends one connection ends nothing
 * else.
 *
 * FAULT=NAME in the environment: a wrong program. tests/project has the list. With
 * "writes" it is right: the copier WRITEs the chunks.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common.h"
#include "post.h"

enum { CHUNK = 1 << 14, SLOTS = 32, NAME_LEN = 256 };
/* What is slow must not be so for a file of 64 MiB, or it does not pass stage 3. */
enum { NOT_BIG = 1 << 24 };

/* What the copier says first, after QP info. */
struct request {
	uint64_t size; /* big endian */
	char name[NAME_LEN];
};

/* A connection, and what has completed on it. */
struct conn {
	struct ep ep;
	struct qp_info peer;
	struct ibv_mr *mr;
	char *slots;
	size_t chunk;        /* the bytes of a slot */
	uint32_t len[SLOTS]; /* of the messages that came last */
	uint64_t posted, sent, got;
};

static char part[NAME_LEN + 32]; /* the file that is not complete */

static bool fault(const char *name)
{
	const char *wanted = getenv("FAULT");

	return wanted && strcmp(wanted, name) == 0;
}

static void forget_part(void)
{
	if (part[0] && fault("eof"))
		rename(part, strchr(part + 1, '.') + 1);
	else if (part[0])
		unlink(part);
}

static void take(struct conn *c)
{
	struct ibv_wc wc = wait_wc(&c->ep);

	if (wc.status != IBV_WC_SUCCESS)
		die("%s", ibv_wc_status_str(wc.status));
	if (!(wc.opcode & IBV_WC_RECV)) {
		c->sent++;
		return;
	}
	if (c->ep.opt->host && wc.imm_data)
		die_err((int)ntohl(wc.imm_data), "the server, storing it");
	c->len[c->got++ % SLOTS] = wc.byte_len;
}

static struct ibv_sge slot(const struct conn *c, uint64_t k, size_t len)
{
	return (struct ibv_sge){
		.addr = (uintptr_t)c->slots + k % SLOTS * c->chunk,
		.length = (uint32_t)len,
		.lkey = c->mr->lkey,
	};
}

static void receive(struct conn *c, uint64_t k, size_t len)
{
	struct ibv_sge sge = slot(c, k, len);
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = len > 0 }, *bad;
	int rc = ibv_post_recv(c->ep.qp, &wr, &bad);

	if (rc)
		die_err(rc, "ibv_post_recv");
}

/* SENDs a slot; or, without bytes, a credit. */
static void transmit(struct conn *c, uint64_t k, size_t len, int imm)
{
	struct ibv_sge sge = slot(c, k, len);
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_SEND_WITH_IMM,
		.imm_data = htonl((uint32_t)imm),
		.send_flags = IBV_SEND_SIGNALED,
		.sg_list = &sge,
		.num_sge = len > 0,
	};

	if (len && fault("writes")) {
		wr.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
		wr.wr.rdma.rkey = c->peer.rkey;
		wr.wr.rdma.remote_addr = c->peer.addr + k % SLOTS * c->chunk;
	}
	while (c->posted - c->sent >= SLOTS)
		take(c);
	post(&c->ep, &wr);
	c->posted++;
}

/* sock: -1, or a copier that is connected. whole: the bytes of the file. */
static struct conn begin(const struct options *opt, int sock, uint64_t whole)
{
	struct ibv_qp_cap cap = { .max_send_wr = SLOTS,
				  .max_recv_wr = SLOTS + 1 };
	struct conn c = { .chunk = CHUNK };
	bool server = !opt->host;
	unsigned mine = server ? IBV_ACCESS_LOCAL_WRITE : 0, theirs = 0;

	if (fault("small") && whole <= NOT_BIG)
		c.chunk = 128;
	if (fault("no-timeout") && whole <= NOT_BIG)
		c.chunk = 64; /* so it waits often */
	if (fault("one-retry"))
		c.chunk = 1 << 18;
	size_t len = SLOTS * c.chunk;
	if (fault(server ? "whole-there" : "whole-here") && whole > len)
		len = (whole + 4095) / 4096 * 4096;
	if (server && fault("writes"))
		mine |= theirs = IBV_ACCESS_REMOTE_WRITE;
	if (server && fault("rights"))
		mine |= IBV_ACCESS_REMOTE_READ;
	if (!server && fault("qp-rights"))
		theirs |= IBV_ACCESS_REMOTE_READ;
	c.ep = ep_open(opt, cap);
	c.ep.sock = sock;
	/* 0.5 s: between busy machines an ACK takes long, and rxe must not repeat
	 * what was not lost (docs/rxe.md, Queues). But what was lost waits for it. */
	c.ep.timeout = 17;
	if (fault("no-timeout"))
		c.ep.timeout = 0;
	if (fault("hasty"))
		c.ep.timeout = 12; /* too short for a slow wire */
	if (fault("one-retry"))
		c.ep.retry_cnt = 1;
	c.slots = aligned_alloc(4096, len);
	c.mr = c.slots ? ibv_reg_mr(c.ep.pd, c.slots, len, (int)mine) : NULL;
	if (!c.mr)
		die_err(errno, "memory, or ibv_reg_mr");
	qp_to_init(&c.ep, theirs);
	return c;
}

static uint64_t chunks_of(const struct conn *c, uint64_t size)
{
	if (size == 0 && fault("no-chunk") && !c->ep.opt->host)
		return 1;
	return (size + c->chunk - 1) / c->chunk;
}

/* The server's last word: 0, or why it cannot store the file. */
static void answer(struct conn *c, int err)
{
	if (err && !fault("keeps"))
		unlink(part);
	if (err && fault("no-old"))
		unlink(strchr(part + 1, '.') + 1);
	if (!fault("word-first"))
		part[0] = '\0';
	transmit(c, 0, 0, err);
	while (c->sent < c->posted) /* a QP that ends may take it along */
		take(c);
	if (err)
		die_err(err, "storing the file");
	barrier(&c->ep);
}

static void put(struct conn *c, uint64_t k, int fd)
{
	const char *from = c->slots + k % SLOTS * c->chunk;
	size_t len = c->len[k % SLOTS];

	if (fault("zeros"))
		while (len && !from[len - 1])
			len--;
	if (fault("round"))
		len = (len + 7) / 8 * 8;
	for (size_t done = 0; done < len;) {
		ssize_t n = pwrite(fd, from + done, len - done,
				   (off_t)(k * c->chunk + done));

		if (n <= 0 && fault("ignores"))
			return;
		if (n <= 0)
			answer(c, n ? errno : EIO);
		done += (size_t)n;
	}
}

/* Some 30 ms of work, so that it is as slow beside others on a busy machine. */
static void waste(void)
{
	for (volatile unsigned n = 0; n < 10000000; n++)
		;
}

static void store(const struct options *opt, int sock)
{
	struct ep tcp = { .opt = opt, .sock = sock };
	struct qp_info peer = recv_info(&tcp, 0);
	struct request want;

	tcp_recv(&tcp, &want, sizeof want, "waiting for the name");
	uint64_t size = be64toh(want.size);
	if (!memchr(want.name, 0, NAME_LEN) || strchr(want.name, '/') ||
	    want.name[0] == '.' || !want.name[0])
		die("the copier's name for the file is no file name");
	snprintf(part, sizeof part, "%s%d.%s", fault("in-sight") ? "" : ".",
		 (int)getpid(), want.name);
	if (fault("in-place"))
		snprintf(part, sizeof part, "%s", want.name);
	if (fault("shared"))
		snprintf(part, sizeof part, ".part");
	if (fault("by-name") || (fault("excl") && size <= NOT_BIG))
		snprintf(part, sizeof part, ".%s", want.name);
	int fd = open(part,
		      O_WRONLY | O_CREAT | (fault("excl") ? O_EXCL : O_TRUNC),
		      0644);
	if (fd == -1)
		die_err(errno, "%s", part);
	atexit(forget_part);

	struct conn c = begin(opt, sock, size);
	qp_to_rtr(&c.ep, &peer);
	qp_to_rts(&c.ep);
	for (uint64_t k = 0; k < SLOTS; k++)
		receive(&c, k, c.chunk);
	send_info(&c.ep, fault("writes") ? c.mr : NULL);
	barrier(&c.ep); /* before that the copier's QP may not be in RTR */
	for (uint64_t k = 0; k < chunks_of(&c, size); k++) {
		while (c.got <= k)
			take(&c);
		if (fault("slow") && size <= NOT_BIG)
			waste();
		put(&c, k, fd);
		receive(&c, k, c.chunk);
		transmit(&c, k, 0, 0);
	}
	/* On the disk before it has its name: a crash must not leave less. */
	if (fault("removes"))
		unlink(want.name);
	int rc = fsync(fd) == -1 ||
		 (!fault("word-first") && rename(part, want.name) == -1);
	answer(&c, rc ? errno : 0);
	if (fault("word-first"))
		rename(part, want.name);
}

static int next_copier(const struct options *opt, int listener)
{
	struct pollfd p = { listener, POLLIN, 0 };

	if (fault("ends") && poll(&p, 1, opt->wait_s * 1000) == 0)
		die("nobody comes");
	return accept(listener, NULL, NULL);
}

static void serve(const struct options *opt)
{
	int listener = tcp_listen(opt), sock, copiers = 0;
	char first;

	signal(SIGCHLD, SIG_IGN); /* nobody waits for these processes */
	while ((sock = next_copier(opt, listener)) != -1) {
		if (++copiers > 16 && fault("16"))
			die("no place is free");
		if (fault("first-word"))
			recv(sock, &first, 1, MSG_PEEK);
		if (fault("one-by-one")) {
			store(opt, sock);
		} else if (fork() == 0) {
			store(opt, sock);
			exit(0);
		}
		close(sock);
	}
	die_err(errno, "accept");
}

static void copy(const struct options *opt, const char *file, const char *name)
{
	int fd = open(file, O_RDONLY);
	struct stat st;
	struct request want = { 0 };

	if (fd == -1 || fstat(fd, &st) == -1)
		die_err(errno, "%s", file);
	uint64_t size = (uint64_t)st.st_size;
	snprintf(want.name, fault("32-letters") ? 33 : NAME_LEN, "%s", name);
	want.size = htobe64(size);

	struct conn c = begin(opt, -1, size);
	receive(&c, 0, 0); /* for the last word */
	struct options exchange = *opt;
	if (fault("tcp-waits"))
		exchange.wait_s = 1000;
	c.ep.opt = &exchange;
	tcp_connect(&c.ep);
	send_info(&c.ep, NULL);
	tcp_send(&c.ep, &want, sizeof want, "sending the name");
	c.peer = recv_info(&c.ep, 0);
	c.ep.opt = opt;
	qp_to_rtr(&c.ep, &c.peer);
	qp_to_rts(&c.ep);
	barrier(&c.ep);

	uint64_t chunks = chunks_of(&c, size), most = fault("one") ? 1 : SLOTS;
	uint64_t again = fault("again") ? (1 << 20) / c.chunk : UINT64_MAX;
	for (uint64_t k = 0; k < chunks; k++) {
		size_t left = size - k * c.chunk;
		size_t len = left < c.chunk ? left : c.chunk;

		/* A slot is ours again when its SEND is complete, and the
		 * server has a receive when it has given a credit. */
		while (k >= c.sent + most || k >= c.got + SLOTS)
			take(&c);
		if (pread(fd, c.slots + k % SLOTS * c.chunk, len,
			  (off_t)(k % again * c.chunk)) != (ssize_t)len)
			die("%s: it has changed", file);
		receive(&c, k, 0); /* for the credit */
		transmit(&c, k, len, 0);
	}
	while (fault("early") && c.sent < chunks)
		take(&c);
	if (fault("early"))
		return;
	while (c.got <= chunks)
		take(&c);
	barrier(&c.ep);
}

int main(int argc, char **argv)
{
	bool server = argc == 4 && strcmp(argv[1], "server") == 0;
	const char *deadline = getenv("DEADLINE");
	char *name = argc == 5 ? strchr(argv[3], ':') : NULL;
	struct options opt = { .dev = getenv("DEVICE"), .ib_port = 1 };

	opt.wait_s = deadline ? (int)strtol(deadline, NULL, 10) : 6;
	if (fault("no-deadline") || (server && fault("server-waits")))
		opt.wait_s = 1000;
	if (server && chdir(argv[3]) == 0) {
		opt.tcp_port = argv[2];
		serve(&opt);
	} else if (name) {
		*name = '\0';
		opt.host = argv[3];
		opt.tcp_port = argv[4];
		copy(&opt, argv[2], name + 1);
	} else {
		die("usage: server PORT DIR, or copy FILE HOST:NAME PORT");
	}
	return 0;
}
