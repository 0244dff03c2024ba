/* SPDX-License-Identifier: MIT */
/*
 * course/pair.c - run a server and a client side by side, where the device is.
 *
 * usage: pair [-o DIR] SERVER CLIENT
 *          -o DIR  keep what they print in DIR/server.out, .err and .rc (and
 *                  client.*) instead of showing it
 *
 * DEV_SERVER and DEV_CLIENT name the devices, SERVER_ARGS and CLIENT_ARGS are
 * passed on, PAIR_LIMIT is the longest run in seconds (90; the programs' own
 * deadlines are shorter). PAIR_WIRE, kept or bad: the wires stay as they are, and
 * are not made free first.
 * Exit status: 0 if both succeeded, else that of one that did not; 126 or 127, of
 * us and of a program: it could not be started; 124: the limit, or a signal.
 *
 * In a lab of two hosts each runs in its own, as in the README, "On two machines".
 *
 * (A program, not a script: in an emulated guest bash would take longer than most
 * of the pairs.)
 */
#include <err.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "wire.h"

static struct side {
	const char *role, *device, *args; /* device, args: in the environment */
	char *program;
	pid_t pid;
	int status; /* -1: it has not ended */
} sides[] = {
	{ "server", "DEV_SERVER", "SERVER_ARGS", .status = -1 },
	{ "client", "DEV_CLIENT", "CLIENT_ARGS", .status = -1 },
};
static struct side *const server = &sides[0], *const client = &sides[1];
static const char *dir;             /* of -o */
static sigset_t signals, unblocked; /* which we wait for; which programs get */

/* DIR/role.what; the text is valid until the next call. */
static const char *path_of(const struct side *s, const char *what)
{
	static char path[4096];

	snprintf(path, sizeof path, "%s/%s.%s", dir, s->role, what);
	return path;
}

static void keep_status(struct side *s, int status)
{
	s->status = status;
	if (!dir)
		return;
	FILE *f = fopen(path_of(s, "rc"), "we");
	if (!f || fprintf(f, "%d\n", status) < 0 || fclose(f))
		err(125, "%s", path_of(s, "rc"));
}

/* Kills both; they have that status then, whatever theirs would have been. */
static void end_both(int status)
{
	for (struct side *s = server; s <= client; s++) {
		/* SIGKILL: it may have been stopped with SIGSTOP. */
		if (s->pid > 0 && s->status < 0) {
			kill(s->pid, SIGKILL);
			waitpid(s->pid, NULL, 0);
		}
		keep_status(s, status);
	}
	if (!getenv("PAIR_WIRE"))
		wires_free();
	exit(status);
}

static void run(struct side *s, int port)
{
	const char *device = getenv(s->device) ?: "";
	const char *args = getenv(s->args) ?: "";
	bool apart = getenv("LAB_HOSTS"); /* each on a machine of its own */
	char *words;
	int done;

	if (apart)
		done = asprintf(&words, "%s %s",
				s == client ? "10.9.0.1" : "-t 60", args);
	else
		done = asprintf(&words, "%s %s -p %d %s", *device ? "-d" : "",
				device, port, args);
	if (done < 0)
		err(125, "asprintf");
	char *argv[strlen(words) + 7], **next = argv;
	if (apart) {
		setenv("LAB_HOST", s == client ? "2" : "1", 1);
		*next++ = "lab/lab";
		*next++ = "run";
		*next++ = "sh";
		*next++ = "-c";
		*next++ = "tc qdisc del dev eth0 root 2>/dev/null; "
			  "exec \"$0\" \"$@\"";
	}
	*next++ = s->program;
	for (char *word = strtok(words, " \t\n"); word;
	     word = strtok(NULL, " \t\n"))
		*next++ = word;
	*next = NULL;

	s->pid = fork();
	if (s->pid < 0)
		err(125, "fork");
	if (s->pid == 0) {
		sigprocmask(SIG_SETMASK, &unblocked, NULL);
		if (!freopen("/dev/null", "r", stdin) ||
		    (dir && (!freopen(path_of(s, "out"), "w", stdout) ||
			     !freopen(path_of(s, "err"), "w", stderr))))
			_exit(126);
		execvp(argv[0], argv);
		_exit(errno == ENOENT ? 127 : 126); /* as bash does */
	}
	free(words);
}

/* Until both have ended. What we wait for is blocked, so none of it is lost. */
static void wait_for_both(long limit)
{
	int status, sig;

	alarm((unsigned int)limit);
	while (server->status < 0 || client->status < 0) {
		sigwait(&signals, &sig);
		if (sig == SIGALRM)
			fprintf(stderr, "pair: stopped after %ld s\n", limit);
		if (sig != SIGCHLD)
			end_both(124);
		for (struct side *s = server; s <= client; s++) {
			if (s->status >= 0 ||
			    waitpid(s->pid, &status, WNOHANG) <= 0)
				continue;
			keep_status(s, WIFSIGNALED(status)
					       ? 128 + WTERMSIG(status)
					       : WEXITSTATUS(status));
			if (s->status != 126 && s->status != 127)
				continue;
			fprintf(stderr,
				"pair: could not start %s (status %d): type "
				"make, then make doctor\n",
				s->program, s->status);
			end_both(s->status);
		}
	}
	alarm(0);
}

int main(int argc, char **argv)
{
	static const int waited_for[] = { SIGCHLD, SIGINT, SIGTERM, SIGHUP,
					  SIGALRM };
	long limit = strtol(getenv("PAIR_LIMIT") ?: "90", NULL, 10);
	int port = 20000 + getpid() % 12000; /* several pairs must not meet */

	sigemptyset(&signals);
	for (int i = 0; i < 5; i++)
		sigaddset(&signals, waited_for[i]);
	sigprocmask(SIG_BLOCK, &signals, &unblocked);
	signal(SIGCHLD, SIG_DFL); /* were it ignored, nobody had a status */
	if (argc == 5 && strcmp(argv[1], "-o") == 0) {
		dir = argv[2];
		argv += 2;
		argc -= 2;
	}
	if (argc != 3 || limit < 1) {
		fprintf(stderr, "usage: [PAIR_LIMIT=seconds] pair [-o DIR] "
				"SERVER CLIENT\n");
		return 2;
	}
	server->program = argv[1];
	client->program = argv[2];

	if (!getenv("PAIR_WIRE"))
		wires_free();
	run(server, port);
	run(client, port);
	wait_for_both(limit);

	for (struct side *s = server; s <= client; s++)
		if (!dir && s->status != 0)
			fprintf(stderr, "pair: %s exited with %d\n", s->role,
				s->status);
	/* What was killed has left its wire as it was. */
	if (!getenv("PAIR_WIRE") &&
	    (server->status >= 128 || client->status >= 128))
		wires_free();
	return client->status ? client->status : server->status;
}
