/* SPDX-License-Identifier: MIT */
/* common/say.c - the command line, one-line output, dying. */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common.h"

static const char *role = "?";

static void line(int fd, const char *mark, int err, const char *fmt, va_list ap)
{
	char buf[512];
	int n = snprintf(buf, sizeof buf, "%s: %s", role, mark);

	n += vsnprintf(buf + n, sizeof buf - (size_t)n, fmt, ap);
	if (err && n < (int)sizeof buf) {
		const char *name = strerrorname_np(err);
		bool pinned = err == ENOMEM && strcmp(fmt, "ibv_reg_mr") == 0;

		n += snprintf(
			buf + n, sizeof buf - (size_t)n, ": %s (%s)%s",
			strerror(err), name ? name : "?",
			pinned ? "; \"ulimit -l\" limits what may be pinned"
			       : "");
	}
	if (n > (int)sizeof buf - 1)
		n = sizeof buf - 1;
	buf[n++] = '\n';
	if (write(fd, buf, (size_t)n) != n)
		_exit(1); /* a lost line must not look like success */
}

void say(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	line(STDOUT_FILENO, "", 0, fmt, ap);
	va_end(ap);
}

void note(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	line(STDERR_FILENO, "# ", 0, fmt, ap);
	va_end(ap);
}

/* One FAIL line: if two threads fail, the second one waits for the exit. */
static void only_once(void)
{
	static atomic_flag dying = ATOMIC_FLAG_INIT;

	while (atomic_flag_test_and_set(&dying))
		pause();
}

void die(const char *fmt, ...)
{
	va_list ap;

	only_once();

	va_start(ap, fmt);
	line(STDOUT_FILENO, "FAIL ", 0, fmt, ap);
	va_end(ap);
	exit(1);
}

void die_err(int err, const char *fmt, ...)
{
	va_list ap;

	only_once();

	va_start(ap, fmt);
	line(STDOUT_FILENO, "FAIL ", err, fmt, ap);
	va_end(ap);
	exit(1);
}

double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void usage(FILE *to, bool is_client)
{
	fprintf(to,
		"usage: %s [-d device] [-i ib-port] [-g gid-index] "
		"[-p tcp-port] [-t seconds]%s\n"
		"  -d  RDMA device (the first with an active port)\n"
		"  -i  port of the device (1)\n"
		"  -g  index into the port's GID table (chosen, and printed)\n"
		"  -p  TCP port of the QP info exchange (18515)\n"
		"  -t  longest single wait (6)\n",
		role, is_client ? " [host]" : "");
}

static int number(const char *s, int min, int max, bool is_client, char opt)
{
	char *end;
	long n = strtol(s, &end, 10);

	if (end != s && !*end && n >= min && n <= max)
		return (int)n;
	fprintf(stderr, "%s: -%c takes a number from %d to %d, not \"%s\"\n",
		role, opt, min, max, s);
	usage(stderr, is_client);
	exit(2);
}

/* The last resort, should a call into the driver itself not return. */
static char last_words[80];

static void too_long(int sig)
{
	(void)sig;
	(void)!write(STDOUT_FILENO, last_words, strlen(last_words));
	_exit(1);
}

struct options parse_args(int argc, char **argv, const char *r, unsigned lesson)
{
	struct options o = {
		.role = r,
		.lesson = lesson,
		.tcp_port = "18515",
		.ib_port = 1,
		.gid_index = -1,
		.wait_s = 6,
	};
	bool client = strcmp(r, "client") == 0;
	int c;

	role = r;
	while ((c = getopt(argc, argv, "d:i:g:p:t:h")) != -1) {
		switch (c) {
		case 'd':
			o.dev = optarg;
			break;
		case 'i':
			o.ib_port =
				(uint8_t)number(optarg, 1, 254, client, 'i');
			break;
		case 'g':
			o.gid_index = number(optarg, 0, 255, client, 'g');
			break;
		case 'p':
			number(optarg, 1, 65535, client, 'p');
			o.tcp_port = optarg;
			break;
		case 't':
			o.wait_s = number(optarg, 1, 3600, client, 't');
			break;
		case 'h':
			usage(stdout, client);
			exit(0);
		default:
			usage(stderr, client);
			exit(2);
		}
	}
	if (client && optind < argc)
		o.host = argv[optind++];
	if (optind < argc) {
		usage(stderr, client);
		exit(2);
	}
	snprintf(last_words, sizeof last_words,
		 "%s: FAIL the whole program took too long\n", role);
	signal(SIGALRM, too_long);
	alarm(10 * (unsigned)o.wait_s);
	return o;
}
