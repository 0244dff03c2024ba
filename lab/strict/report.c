/* SPDX-License-Identifier: MIT */
/*
 * lab/strict/report.c - one line for each fault, with the function that posted.
 */
#include <dlfcn.h>
#include <elf.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "strict.h"

struct trace trace_from(void *caller)
{
	struct trace t = { .at = { caller } };
	void *all[DEPTH + 8];
	int n = backtrace(all, DEPTH + 8), i = 0;

	while (i < n && all[i] != caller)
		i++;
	for (int k = 0; k < DEPTH && i < n; k++)
		t.at[k] = all[i++];
	return t;
}

/* What is in that file, read once: a program that waits for its reports is another program. */
static const char *bytes_of(const char *file)
{
	static struct {
		char name[256];
		char *bytes;
	} known[8];
	struct stat st;
	int i = 0;

	while (i < 8 && known[i].bytes && strcmp(known[i].name, file) != 0)
		i++;
	if (i == 8 || known[i].bytes)
		return i == 8 ? NULL : known[i].bytes;
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	char *bytes = fstat(fd, &st) == 0 ? malloc((size_t)st.st_size) : NULL;
	ssize_t all = 0, got;
	while (bytes &&
	       (got = read(fd, bytes + all, (size_t)(st.st_size - all))) > 0)
		all += got;
	close(fd);
	if (!bytes || all != st.st_size) {
		free(bytes);
		return NULL;
	}
	snprintf(known[i].name, sizeof known[i].name, "%s", file);
	return known[i].bytes = bytes;
}

/* The function of the symbol table of FILE that has the byte at `at`. dladdr() knows only
 * those that other libraries may call. */
static bool symbol_of(const char *file, uintptr_t at, char *to, size_t len)
{
	const char *p = bytes_of(file);

	if (!p)
		return false;
	const ElfW(Ehdr) *e = (const void *)p;
	const ElfW(Shdr) *s = (const void *)(p + e->e_shoff);
	for (int i = 0; i < e->e_shnum; i++) {
		if (s[i].sh_type != SHT_SYMTAB && s[i].sh_type != SHT_DYNSYM)
			continue;
		const ElfW(Sym) *sym = (const void *)(p + s[i].sh_offset);
		const char *names = p + s[s[i].sh_link].sh_offset;
		for (size_t k = 0; k < s[i].sh_size / sizeof *sym; k++) {
			if ((sym[k].st_info & 0xf) != STT_FUNC ||
			    at - sym[k].st_value >= sym[k].st_size)
				continue;
			snprintf(to, len, "%s+0x%lx", names + sym[k].st_name,
				 (unsigned long)(at - sym[k].st_value));
			return true;
		}
	}
	return false;
}

/* "post+0x2a", or "libc.so.6+0x1234"; is it the program's own? */
static bool name_of(void *at, char *to, size_t len)
{
	Dl_info info;
	struct link_map *map;

	if (!dladdr1(at, &info, (void **)&map, RTLD_DL_LINKMAP)) {
		snprintf(to, len, "%p", at);
		return false;
	}
	bool main_program = !*map->l_name;
	const char *file = main_program ? "/proc/self/exe" : map->l_name;
	uintptr_t offset = (uintptr_t)at - map->l_addr;
	if (!symbol_of(file, offset, to, len))
		snprintf(to, len, "%s+0x%lx",
			 main_program ? program_invocation_short_name
				      : basename(info.dli_fname),
			 (unsigned long)offset);
	return main_program;
}

void report(const char *rule, const struct trace *from, struct req *r,
	    const char *fmt, ...)
{
	static struct {
		const char *rule;
		struct trace from;
	} said[512];
	static unsigned n;
	char line[1024], name[128];
	size_t len;
	va_list args;

	if (r)
		r->told = true;
	for (unsigned i = 0; i < n; i++)
		if (strcmp(said[i].rule, rule) == 0 &&
		    memcmp(&said[i].from, from, sizeof *from) == 0)
			return;
	if (n == 512)
		return;
	said[n].rule = rule;
	said[n++].from = *from;

	len = (size_t)snprintf(line, sizeof line, "strict: %s: ", rule);
	va_start(args, fmt);
	vsnprintf(line + len, 400, fmt, args);
	va_end(args);
	len = strlen(line);
	for (int i = 0; i < DEPTH && from->at[i]; i++) {
		bool own = name_of(from->at[i], name, sizeof name);
		if (i > 0 && !own)
			break; /* what started main() */
		len += (size_t)snprintf(line + len, sizeof line - len, "%s%s",
					i   ? " < "
					: r ? " (posted by "
					    : " (",
					name);
		if (i == 0)
			len += (size_t)snprintf(line + len, sizeof line - len,
						" [%p]", from->at[0]);
	}
	if (r && from != &r->from && r->from.at[0]) {
		name_of(r->from.at[0], name, sizeof name);
		len += (size_t)snprintf(line + len, sizeof line - len,
					"; posted by %s", name);
	}
	if (r)
		len += (size_t)snprintf(line + len, sizeof line - len,
					", qp %u, wr_id %lu", r->qp_num,
					(unsigned long)r->wr_id);
	len += (size_t)snprintf(line + len, sizeof line - len, ")\n");
	if (write(2, line, len) < 0)
		return;
	const char *mode = getenv("STRICT");
	if (mode && strcmp(mode, "stop") == 0) {
		fflush(stdout);
		_exit(86);
	}
}

void say_seed(uint64_t seed)
{
	char line[80];
	int len = snprintf(line, sizeof line, "strict: # %s: STRICT_SEED=%lu\n",
			   program_invocation_short_name, (unsigned long)seed);

	if (write(2, line, (size_t)len) < 0)
		return;
}
