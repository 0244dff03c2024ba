/* SPDX-License-Identifier: MIT */
/*
 * lab/strict/report.c - one line for each fault, with the function that posted.
 */
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "strict.h"

/* Who called the outermost function of this library: libibverbs calls us, too. */
struct trace trace_now(void)
{
	extern const char __ehdr_start[], etext[]; /* of this library */
	struct trace t = { 0 };
	void *all[DEPTH + 12];
	int n = backtrace(all, DEPTH + 12), i = n;

	while (i > 0 && !((const char *)all[i - 1] > __ehdr_start &&
			  (const char *)all[i - 1] < etext))
		i--;
	for (int k = 0; k < DEPTH && i < n; k++)
		t.at[k] = all[i++];
	return t;
}

/* The function of the symbol table in these bytes of a file that has the byte at *offset,
 * which is then counted from there. dladdr() knows only those that others may call. */
static const char *symbol_of(const char *p, uintptr_t *offset)
{
	const ElfW(Ehdr) *e = (const void *)p;
	const ElfW(Shdr) *s = (const void *)(p + e->e_shoff);

	for (int i = 0; i < e->e_shnum; i++) {
		if (s[i].sh_type != SHT_SYMTAB && s[i].sh_type != SHT_DYNSYM)
			continue;
		const ElfW(Sym) *sym = (const void *)(p + s[i].sh_offset);
		for (size_t k = 0; k < s[i].sh_size / sizeof *sym; k++) {
			if ((sym[k].st_info & 0xf) != STT_FUNC ||
			    *offset - sym[k].st_value >= sym[k].st_size)
				continue;
			*offset -= sym[k].st_value;
			return p + s[s[i].sh_link].sh_offset + sym[k].st_name;
		}
	}
	return NULL;
}

static const struct link_map *map_of(void *at)
{
	Dl_info info;
	void *map;

	return at && dladdr1(at, &info, &map, RTLD_DL_LINKMAP) ? map : NULL;
}

/* "post+0x2a", or "libc.so.6+0x1234". */
static void write_name(FILE *to, const char *before, void *at)
{
	const struct link_map *map = map_of(at);

	fputs(before, to);
	if (!map)
		return;
	bool own = !*map->l_name;
	uintptr_t offset = (uintptr_t)at - map->l_addr;
	int fd = open(own ? "/proc/self/exe" : map->l_name,
		      O_RDONLY | O_CLOEXEC);
	const size_t size = (size_t)lseek(fd, 0, SEEK_END);
	char *file = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	const char *name = file == MAP_FAILED ? NULL : symbol_of(file, &offset);
	if (!name)
		name = basename(own ? program_invocation_name : map->l_name);
	fprintf(to, "%.600s+0x%lx", name, (unsigned long)offset);
	munmap(file, size);
	close(fd);
}

void report(const char *rule, struct req *r, const struct trace *from,
	    const char *fmt, ...)
{
	static struct {
		const char *rule;
		struct trace from;
	} said[512];
	static unsigned n;
	struct trace now;
	char line[4096] = "";
	const char *mode = getenv("STRICT");
	const struct link_map *map;
	va_list args;

	if (r)
		r->told = true;
	if (!from)
		from = r ? &r->from : (now = trace_now(), &now);
	for (unsigned i = 0; i < n; i++)
		if (strcmp(said[i].rule, rule) == 0 &&
		    memcmp(&said[i].from, from, sizeof *from) == 0)
			return;
	FILE *to = n < 512 ? fmemopen(line, sizeof line, "w") : NULL;
	if (!to)
		return;
	said[n++] = (__typeof__(*said)){ .rule = rule, .from = *from };

	fprintf(to, "strict: %s: ", rule);
	va_start(args, fmt);
	vfprintf(to, fmt, args);
	va_end(args);
	write_name(to, r && from == &r->from ? " (posted by " : " (",
		   from->at[0]);
	fprintf(to, " [%p]", from->at[0]);
	/* Until what started main(). */
	for (int i = 1; i < DEPTH && (map = map_of(from->at[i])) &&
			!strstr(map->l_name, "/libc.so");
	     i++)
		write_name(to, " < ", from->at[i]);
	for (int i = 0; i < 2 && r && from != &r->from; i++)
		write_name(to, i ? " < " : "; posted by ", r->from.at[i]);
	if (r)
		fprintf(to, ", qp %u, wr_id %lu", r->qp_num,
			(unsigned long)r->wr_id);
	fputs(")\n", to);
	fclose(to);
	if (write(2, line, strlen(line)) && mode && strcmp(mode, "stop") == 0) {
		fflush(stdout); /* even if write() said -1: nobody heard it */
		_exit(86);
	}
}
