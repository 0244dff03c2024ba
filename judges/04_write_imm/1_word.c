/* SPDX-License-Identifier: MIT */
/*
 * judges/04_write_imm/1_word.c - looks at immediates as they go on the wire.
 *
 * before: 10000005: pack() made 05000010
 * hint1: wr.imm_data is four bytes that are sent as they are in memory.
 * hint1: Which byte of an uint32_t is the first one in the memory of your
 * hint1: CPU?
 * hint1.zh: wr.imm_data 的 4 个字节，在内存里怎样，就怎样发出去。在你的 CPU
 * hint1.zh: 上，uint32_t 的哪个字节在内存里排第一？
 * hint2: Put the word together in the order of your CPU, then turn it
 * hint2: with htonl(). On the other side ntohl() comes first, before any
 * hint2: shift or mask.
 * hint2.zh: 先按 CPU 的字节序拼出这个字，再用 htonl() 转换。另一端先用
 * hint2.zh: ntohl()，然后才移位、取掩码。
 */
#include <arpa/inet.h>

#include "1_word.h"

static const struct {
	uint32_t wire;  /* its four bytes, the first one on the left */
	enum type type; /* 0: there is no such type */
	uint32_t value;
} words[] = {
	{ .wire = 0x10000005, .type = DATA, .value = 5 },
	{ .wire = 0x20000064, .type = PROGRESS, .value = 100 },
	{ .wire = 0x30000000, .type = STOP, .value = 0 },
	{ .wire = 0x1abcdef1, .type = DATA, .value = 0xabcdef1 },
	{ .wire = 0x00000005, .type = 0, .value = 5 },
	{ .wire = 0x40000005, .type = 0, .value = 5 },
	{ .wire = 0x70000005, .type = 0, .value = 5 },
	{ .wire = 0x90000005, .type = 0, .value = 5 },
};

void judge(void)
{
	uint32_t value;
	enum type type;

	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		bool known = words[i].type != 0;

		about("%08x", words[i].wire);
		if (known) {
			uint32_t is =
				ntohl(pack(words[i].type, words[i].value));
			if (is != words[i].wire)
				wrong("pack() made %08x", is);
		}
		if (unpack(htonl(words[i].wire), &type, &value) != known)
			wrong("unpack() %s it", known ? "refused" : "accepted");
		if (known && (type != words[i].type || value != words[i].value))
			wrong("unpack() made value %u of it", value);
	}
}
