/* tests/trace/dat_build — trace.dat files by hand for fixtures, in both byte orders; shares nothing with src/trace. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#define DAT_PAGE 4096U

struct dat_build {
	size_t len;
	bool is_big;        /* byte order */
	uint32_t nr_long;   /* bytes of a long of the kernel */
	const char *packed; /* "zstd", "zlib"; NULL = not */
	uint8_t buf[1 << 18];
};

static inline void dat_raw(struct dat_build *b, const void *bytes, size_t len)
{
	if (len > sizeof(b->buf) - b->len)
		abort();
	memcpy(b->buf + b->len, bytes, len);
	b->len += len;
}

static inline void dat_put(struct dat_build *b, size_t at, uint64_t value, size_t size)
{
	for (size_t i = 0; i < size; i++)
		b->buf[at + i] = (uint8_t)(value >> 8 * (b->is_big ? size - 1 - i : i));
}

static inline void dat_num(struct dat_build *b, uint64_t value, size_t size)
{
	static const uint8_t zeroes[8];

	dat_raw(b, zeroes, size);
	dat_put(b, b->len - size, value, size);
}

static inline void dat_str(struct dat_build *b, const char *s)
{
	dat_raw(b, s, strlen(s) + 1);
}

static inline void dat_align(struct dat_build *b, size_t to)
{
	while (b->len % to)
		dat_raw(b, "", 1);
}

/* A text with its size before it. */
static inline void dat_sized(struct dat_build *b, const char *s, size_t size)
{
	dat_num(b, strlen(s), size);
	dat_raw(b, s, strlen(s));
}

static inline void dat_start(struct dat_build *b, const char *version)
{
	b->len = 0;
	dat_raw(b, "\027\010\104tracing", 10);
	dat_str(b, version);
	dat_num(b, b->is_big, 1);
	dat_num(b, b->nr_long, 1);
	dat_num(b, DAT_PAGE, 4);
}

static inline void dat_header_info(struct dat_build *b)
{
	char text[256];

	(void)snprintf(text, sizeof(text),
	               "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
	               "\tfield: local_t commit;\toffset:8;\tsize:%u;\tsigned:1;\n"
	               "\tfield: char data;\toffset:%u;\tsize:%u;\tsigned:1;\n",
	               b->nr_long, 8 + b->nr_long, DAT_PAGE - 8 - b->nr_long);
	dat_str(b, "header_page");
	dat_sized(b, text, 8);
	dat_str(b, "header_event");
	dat_sized(b, "# compressed entry header\n\ttype_len    :    5 bits\n", 8);
}

#define DAT_COMMON                                                                      \
	"format:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n" \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"          \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

enum { DAT_WAKING = 301, DAT_WORK = 302, DAT_OTHER = 303, DAT_RAISE = 304, DAT_PROBE = 305 };

static inline void dat_formats(struct dat_build *b)
{
	dat_num(b, 1, 4);
	dat_str(b, "sched");
	dat_num(b, 5, 4);
	dat_sized(b,
	          "name: sched_waking\nID: 301\n" DAT_COMMON
	          "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	          "\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	          "\tfield:int prio;\toffset:28;\tsize:4;\tsigned:1;\n"
	          "\tfield:int target_cpu;\toffset:32;\tsize:4;\tsigned:1;\n\nprint fmt: \"\"\n",
	          8);
	dat_sized(b,
	          "name: workqueue_execute_start\nID: 302\n" DAT_COMMON
	          "\tfield:void * work;\toffset:8;\tsize:8;\tsigned:0;\n"
	          "\tfield:void * function;\toffset:16;\tsize:8;\tsigned:0;\n\nprint fmt: \"\"\n",
	          8);
	dat_sized(b, "name: something_else\nID: 303\n" DAT_COMMON "print fmt: \"\"\n", 8);
	dat_sized(b,
	          "name: softirq_raise\nID: 304\n" DAT_COMMON
	          "\tfield:unsigned int vec;\toffset:8;\tsize:4;\tsigned:0;\nprint fmt: \"\"\n",
	          8);
	dat_sized(b, "name: sleep\nID: 305\n" DAT_COMMON "print fmt: \"\"\n",
	          8); /* a name of ours */
}

#define DAT_KALLSYMS                                                                     \
	"ffffffff81000000 T first\nffffffff81000100 t second\nffffffff81000180 d data\n" \
	"ffffffffc0000000 t other\t[module]\n"
#define DAT_CMDLINES "7 seven\n8 has a name\n17 \nx\n4294967296 large\n"

/* What comes before the options of version 6. */
static inline void dat_v6(struct dat_build *b, uint32_t nr_cpus)
{
	dat_start(b, "6");
	dat_header_info(b);
	dat_num(b, 0, 4);
	dat_formats(b);
	dat_sized(b, DAT_KALLSYMS, 4);
	dat_sized(b, "", 4);
	dat_sized(b, DAT_CMDLINES, 8);
	dat_num(b, nr_cpus, 4);
}

static inline void dat_opt(struct dat_build *b, uint32_t id, const void *bytes, size_t len)
{
	dat_num(b, id, 2);
	dat_num(b, len, 4);
	dat_raw(b, bytes, len);
}

static inline void dat_opt_text(struct dat_build *b, uint32_t id, const char *s)
{
	dat_opt(b, id, s, strlen(s) + 1);
}

/* Pages: where the one at hand begins, and whether events of it are lost. */
struct dat_page {
	size_t at;
};

static inline struct dat_page page_begin(struct dat_build *b, uint64_t ts)
{
	struct dat_page p = { b->len };

	dat_num(b, ts, 8);
	dat_num(b, 0, b->nr_long);
	return p;
}

static inline void page_head(struct dat_build *b, uint32_t type, uint32_t delta)
{
	dat_num(b, b->is_big ? type << 27 | delta : delta << 5 | type, 4);
}

/* flags: of commit; stored: how many were lost, if flags say that it stands there. */
static inline void page_end(struct dat_build *b, struct dat_page p, uint32_t flags, uint64_t stored)
{
	dat_put(b, p.at + 8, (b->len - p.at - 8 - b->nr_long) | flags, b->nr_long);
	if (flags & 1U << 30)
		dat_num(b, stored, b->nr_long);
	while ((b->len - p.at) % DAT_PAGE)
		dat_raw(b, "", 1);
}

static inline void body_common(struct dat_build *b, uint32_t id, uint32_t pid)
{
	dat_num(b, id, 2);
	dat_num(b, 0, 2);
	dat_num(b, pid, 4);
}

static inline void body_waking(struct dat_build *b, uint32_t pid, const char *comm, uint32_t tid)
{
	char name[16] = { 0 };

	(void)snprintf(name, sizeof(name), "%s", comm);
	body_common(b, DAT_WAKING, pid);
	dat_raw(b, name, sizeof(name));
	dat_num(b, tid, 4);
	dat_num(b, 120, 4);
	dat_num(b, 1, 4);
}

/* Of 36 bytes, with its length in the head. */
static inline void page_waking(struct dat_build *b, uint32_t delta, const char *comm, uint32_t tid)
{
	page_head(b, 9, delta);
	body_waking(b, 5, comm, tid);
}

static inline void page_other(struct dat_build *b, uint32_t delta, uint32_t id)
{
	page_head(b, 3, delta);
	body_common(b, id, 5);
	dat_num(b, 1, 4);
}

static inline size_t dat_pack(const struct dat_build *b, const void *from, size_t len, uint8_t *to,
                              size_t size)
{
	uLongf room = size;

	if (strcmp(b->packed, "zstd") == 0)
		return ZSTD_compress(to, size, from, len, 1);
	if (compress(to, &room, from, len) != Z_OK)
		abort();
	return room;
}

/* A section of version 7, of what was built elsewhere; where it is. */
static inline size_t dat_section(struct dat_build *b, uint32_t id, const struct dat_build *body)
{
	static uint8_t packed[1 << 17];
	size_t at = b->len, len;

	dat_num(b, id, 2);
	dat_num(b, b->packed != NULL, 2);
	dat_num(b, 0, 4);
	if (!b->packed) {
		dat_num(b, body->len, 8);
		dat_raw(b, body->buf, body->len);
		return at;
	}
	len = dat_pack(b, body->buf, body->len, packed, sizeof(packed));
	dat_num(b, len + 8, 8);
	dat_num(b, len, 4);
	dat_num(b, body->len, 4);
	dat_raw(b, packed, len);
	return at;
}
