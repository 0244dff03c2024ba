/* SPDX-License-Identifier: MIT */
/*
 * judges/projects/copy.solution.c - a solution of project 2.
 *
 * The copier SENDs the file in chunks, each into a receive of the server. The server
 * writes a chunk to a part file, posts the receive again, and gives a credit: an empty
 * SEND, whose immediate is 0, or why the file cannot be stored. One more, the last
 * word, says that the file is stored. Under its name the file appears by rename(2).
 * The server has a process for each copier, so what ends one connection ends nothing
 * else.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
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

/* What the copier says first, after QP info. */
struct request {
	uint64_t size; /* big endian */
	char name[NAME_LEN];
};

/* A connection, and what has completed on it. */
struct conn {
	struct ep ep;
	struct ibv_mr *mr;
	char *slots;
	uint32_t len[SLOTS]; /* of the messages that came last */
	uint64_t posted, sent, got;
};

static char part[NAME_LEN + 32]; /* the file that is not complete */

static void forget_part(void)
{
	if (part[0])
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
		.addr = (uintptr_t)c->slots + k % SLOTS * CHUNK,
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

	while (c->posted - c->sent >= SLOTS)
		take(c);
	post(&c->ep, &wr);
	c->posted++;
}

/* sock: -1, or a copier that is connected. */
static struct conn begin(const struct options *opt, int sock)
{
	struct ibv_qp_cap cap = { .max_send_wr = SLOTS,
				  .max_recv_wr = SLOTS + 1 };
	size_t len = SLOTS * CHUNK;
	struct conn c = { .ep = ep_open(opt, cap) };

	c.ep.sock = sock;
	/* 0.5 s: between busy machines an ACK takes long, and rxe must not repeat
	 * what was not lost (docs/rxe.md, Queues). But what was lost waits for it. */
	c.ep.timeout = 17;
	c.slots = aligned_alloc(4096, len);
	c.mr = c.slots ? ibv_reg_mr(c.ep.pd, c.slots, len,
				    opt->host ? 0 : IBV_ACCESS_LOCAL_WRITE)
		       : NULL;
	if (!c.mr)
		die_err(errno, "memory, or ibv_reg_mr");
	qp_to_init(&c.ep, 0);
	return c;
}

static uint64_t chunks_of(uint64_t size)
{
	return (size + CHUNK - 1) / CHUNK;
}

/* The server's last word: 0, or why it cannot store the file. */
static void answer(struct conn *c, int err)
{
	if (err)
		unlink(part);
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
	const char *from = c->slots + k % SLOTS * CHUNK;
	size_t len = c->len[k % SLOTS];

	for (size_t done = 0; done < len;) {
		ssize_t n = pwrite(fd, from + done, len - done,
				   (off_t)(k * CHUNK + done));

		if (n <= 0)
			answer(c, n ? errno : EIO);
		done += (size_t)n;
	}
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
	snprintf(part, sizeof part, ".%d.%s", (int)getpid(), want.name);
	int fd = open(part, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	if (fd == -1)
		die_err(errno, "%s", part);
	atexit(forget_part);

	struct conn c = begin(opt, sock);
	qp_to_rtr(&c.ep, &peer);
	qp_to_rts(&c.ep);
	for (uint64_t k = 0; k < SLOTS; k++)
		receive(&c, k, CHUNK);
	send_info(&c.ep, NULL);
	barrier(&c.ep); /* before that the copier's QP may not be in RTR */
	for (uint64_t k = 0; k < chunks_of(size); k++) {
		while (c.got <= k)
			take(&c);
		put(&c, k, fd);
		receive(&c, k, CHUNK);
		transmit(&c, k, 0, 0);
	}
	/* On the disk before it has its name: a crash must not leave less. */
	bool failed = fsync(fd) == -1 || rename(part, want.name) == -1;
	answer(&c, failed ? errno : 0);
}

static void serve(const struct options *opt)
{
	int listener = tcp_listen(opt), sock;

	signal(SIGCHLD, SIG_IGN); /* nobody waits for these processes */
	while ((sock = accept(listener, NULL, NULL)) != -1) {
		if (fork() == 0) {
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
	snprintf(want.name, NAME_LEN, "%s", name);
	want.size = htobe64(size);

	struct conn c = begin(opt, -1);
	receive(&c, 0, 0); /* for the last word */
	tcp_connect(&c.ep);
	send_info(&c.ep, NULL);
	tcp_send(&c.ep, &want, sizeof want, "sending the name");
	struct qp_info peer = recv_info(&c.ep, 0);
	qp_to_rtr(&c.ep, &peer);
	qp_to_rts(&c.ep);
	barrier(&c.ep);

	uint64_t chunks = chunks_of(size);
	for (uint64_t k = 0; k < chunks; k++) {
		size_t left = size - k * CHUNK;
		size_t len = left < CHUNK ? left : CHUNK;

		/* A slot is ours again when its SEND is complete, and the
		 * server has a receive when it has given a credit. */
		while (k >= c.sent + SLOTS || k >= c.got + SLOTS)
			take(&c);
		if (pread(fd, c.slots + k % SLOTS * CHUNK, len,
			  (off_t)(k * CHUNK)) != (ssize_t)len)
			die("%s: it has changed", file);
		receive(&c, k, 0); /* for the credit */
		transmit(&c, k, len, 0);
	}
	while (c.got <= chunks || c.sent < c.posted)
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
