/* SPDX-License-Identifier: MIT */
/* Exercises 0.2, 0.4, 1.3 and 1.4 - a call fails: does the program end? */
#ifndef FAILS_H
#define FAILS_H

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* The call that fails: so many from now; 0: none. */
static int failing;
static inline bool fails_now(void)
{
	return failing && --failing == 0;
}

/* In a child, which says nothing: does f end it with an error? The child ends with the
 * judge, at the latest, as it does not inherit the judge's timer (man fork). */
static inline bool fails(void (*f)(void))
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		int null = open("/dev/null", O_WRONLY);

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		f();
		_exit(0);
	}
	return waitpid(pid, &status, 0) == pid &&
	       (WIFSIGNALED(status)
			? WTERMSIG(status) == SIGABRT /* assert() */
			: WEXITSTATUS(status) &&
				  WEXITSTATUS(status) != 99); /* a crash's */
}

#endif
