/* tests/trace/perf_build — perf.data by hand, of either byte order; shares nothing with src/trace. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "enc.h"

enum {
	T_IP = 1,
	T_TID = 2,
	T_TIME = 4,
	T_ADDR = 8,
	T_READ = 0x10,
	T_CALLCHAIN = 0x20,
	T_ID = 0x40,
	T_CPU = 0x80,
	T_PERIOD = 0x100,
	T_STREAM = 0x200,
	T_RAW = 0x400,
	T_BRANCH = 0x800,
	T_REGS_USER = 0x1000,
	T_STACK_USER = 0x2000,
	T_WEIGHT = 0x4000,
	T_DATA_SRC = 0x8000,
	T_IDENTIFIER = 0x10000,
	T_TRANSACTION = 0x20000,
	T_REGS_INTR = 0x40000,
	T_PHYS = 0x80000,
	T_CGROUP = 0x200000,
	T_USUAL = T_IDENTIFIER | T_IP | T_TID | T_TIME | T_CPU | T_PERIOD | T_RAW,
};

enum { ID_SWITCH = 11, ID_WAKING = 12, ID_FORK = 13, ID_ENTER = 14, ID_EXIT = 15, ID_WORK = 16 };

#define FLAG(bit)       (1ULL << (bit))
#define F_FREQ          FLAG(10)
#define F_ON_EXEC       FLAG(12)
#define F_SAMPLE_ID_ALL FLAG(18)
#define F_CLOCKID       FLAG(25)

struct perf_attr {
	uint32_t type;
	uint64_t config, period, sample_type, read_format, flags, branch, regs_user, regs_intr;
	uint32_t clockid;
	uint64_t id;
};

struct perf_feature {
	uint32_t nr;
	struct enc body;
};

struct perf_file {
	bool is_big;
	struct perf_attr attrs[8];
	size_t nr_attrs;
	struct enc data;
	struct perf_feature features[16]; /* by number */
	size_t nr_features;
	struct enc out;
};

static inline void put(const struct perf_file *f, struct enc *e, unsigned int size, uint64_t value)
{
	for (unsigned int i = 0; i < size; i++) {
		uint8_t byte = (uint8_t)(value >> 8 * (f->is_big ? size - 1 - i : i));

		enc_raw(e, &byte, 1);
	}
}

static inline void put32(const struct perf_file *f, struct enc *e, uint64_t value)
{
	put(f, e, 4, value);
}

static inline void put64(const struct perf_file *f, struct enc *e, uint64_t value)
{
	put(f, e, 8, value);
}

/* A text in so many bytes. */
static inline void put_text(struct enc *e, const char *s, size_t room)
{
	for (size_t i = 0; i < room; i++)
		enc_raw(e, i < strlen(s) ? s + i : "", 1);
}

/* As features have it: its room, then the text. */
static inline void put_string(const struct perf_file *f, struct enc *e, const char *s)
{
	size_t room = (strlen(s) + 8) / 8 * 8;

	put32(f, e, room);
	put_text(e, s, room);
}

/* Bit fields begin at the other end of a byte on big-endian machines. */
static inline void put_flags(const struct perf_file *f, struct enc *e, uint64_t flags)
{
	for (unsigned int i = 0; i < 8; i++) {
		uint8_t byte = 0;

		for (unsigned int bit = 0; bit < 8; bit++)
			if (flags >> (8 * i + bit) & 1)
				byte = (uint8_t)(byte | 1U << (f->is_big ? 7 - bit : bit));
		enc_raw(e, &byte, 1);
	}
}

#define ATTR_BYTES 112U

static inline void put_attr(const struct perf_file *f, struct enc *e, const struct perf_attr *a)
{
	put32(f, e, a->type);
	put32(f, e, ATTR_BYTES);
	put64(f, e, a->config);
	put64(f, e, a->period);
	put64(f, e, a->sample_type);
	put64(f, e, a->read_format);
	put_flags(f, e, a->flags);
	put_text(e, "", 24); /* wakeup, breakpoint, config1, config2 */
	put64(f, e, a->branch);
	put64(f, e, a->regs_user);
	put32(f, e, 0);
	put32(f, e, a->clockid);
	put64(f, e, a->regs_intr);
	put64(f, e, 0);
}

static inline size_t begin(struct perf_file *f, uint32_t type, uint32_t misc)
{
	put32(f, &f->data, type);
	put(f, &f->data, 2, misc);
	put(f, &f->data, 2, 0);
	return f->data.len;
}

static inline void end(struct perf_file *f, size_t mark)
{
	size_t at = f->data.len;

	f->data.len = mark - 2;
	put(f, &f->data, 2, at - mark + 8);
	f->data.len = at;
}

/* Of T_USUAL. */
static inline void trailer(struct perf_file *f, uint32_t pid, uint32_t tid, uint64_t ts,
                           uint32_t cpu, uint64_t id)
{
	put32(f, &f->data, pid);
	put32(f, &f->data, tid);
	put64(f, &f->data, ts);
	put32(f, &f->data, cpu);
	put32(f, &f->data, 0);
	put64(f, &f->data, id);
}

static inline struct enc *feature(struct perf_file *f, uint32_t nr)
{
	f->features[f->nr_features].nr = nr;
	f->features[f->nr_features].body.len = 0;
	return &f->features[f->nr_features++].body;
}

static inline void text_feature(struct perf_file *f, uint32_t nr, const char *s)
{
	put_string(f, feature(f, nr), s);
}

static inline void put_section(const struct perf_file *f, struct enc *e, size_t offset, size_t len)
{
	put64(f, e, offset);
	put64(f, e, len);
}

/* The whole file; a perf that was killed has not written how much data there is, nor what comes behind. */
static inline void finish_as(struct perf_file *f, bool is_killed)
{
	const size_t header = 104, attr = ATTR_BYTES + 16, ids = header + f->nr_attrs * attr;
	const size_t data = ids + f->nr_attrs * 8;
	size_t at = data + f->data.len + f->nr_features * 16;
	uint64_t bits = 0;
	struct enc *e = &f->out;

	e->len = 0;
	for (size_t i = 0; i < f->nr_features; i++)
		bits |= 1ULL << f->features[i].nr;
	enc_raw(e, f->is_big ? "2ELIFREP" : "PERFILE2", 8);
	put64(f, e, header);
	put64(f, e, attr);
	put_section(f, e, header, f->nr_attrs * attr);
	put_section(f, e, data, is_killed ? 0 : f->data.len);
	put_section(f, e, 0, 0);
	put64(f, e, bits);
	put_text(e, "", 24);
	for (size_t i = 0; i < f->nr_attrs; i++) {
		put_attr(f, e, &f->attrs[i]);
		put_section(f, e, ids + 8 * i, 8);
	}
	for (size_t i = 0; i < f->nr_attrs; i++)
		put64(f, e, f->attrs[i].id);
	enc_raw(e, f->data.buf, f->data.len);
	for (size_t i = 0; i < f->nr_features && !is_killed; i++) {
		put_section(f, e, at, f->features[i].body.len);
		at += f->features[i].body.len;
	}
	for (size_t i = 0; i < f->nr_features && !is_killed; i++)
		enc_raw(e, f->features[i].body.buf, f->features[i].body.len);
}

#define FORMAT_COMMON                                                                  \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"         \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"         \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

static inline void put_format(const struct perf_file *f, struct enc *e, const char *name,
                              unsigned int id, const char *fields)
{
	char text[2048];
	int len = snprintf(text, sizeof(text),
	                   "name: %s\nID: %u\nformat:\n" FORMAT_COMMON "%s\nprint fmt: \"\"\n",
	                   name, id, fields);

	put64(f, e, (uint64_t)len);
	enc_raw(e, text, (size_t)len);
}

static inline void put_tracing_data(const struct perf_file *f, struct enc *e, const char *kallsyms)
{
	enc_raw(e, "\027\010\104tracing0.6", 14);
	enc_raw(e, f->is_big ? "\1\10" : "\0\10", 2);
	put32(f, e, 4096);
	enc_raw(e, "header_page", 12);
	put64(f, e, 0);
	enc_raw(e, "header_event", 13);
	put64(f, e, 0);
	put32(f, e, 0);
	put32(f, e, 1);
	enc_raw(e, "sched", 6);
	put32(f, e, 6);
	put_format(f, e, "sched_switch", ID_SWITCH,
	           "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	           "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	           "\tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;\n"
	           "\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n"
	           "\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;\n"
	           "\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n"
	           "\tfield:int next_prio;\toffset:60;\tsize:4;\tsigned:1;\n");
	put_format(f, e, "sched_waking", ID_WAKING,
	           "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	           "\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	           "\tfield:int prio;\toffset:28;\tsize:4;\tsigned:1;\n"
	           "\tfield:int target_cpu;\toffset:32;\tsize:4;\tsigned:1;\n");
	put_format(f, e, "sched_process_fork", ID_FORK,
	           "\tfield:char parent_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	           "\tfield:pid_t parent_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	           "\tfield:char child_comm[16];\toffset:28;\tsize:16;\tsigned:0;\n"
	           "\tfield:pid_t child_pid;\toffset:44;\tsize:4;\tsigned:1;\n");
	put_format(f, e, "sys_enter", ID_ENTER,
	           "\tfield:long id;\toffset:8;\tsize:8;\tsigned:1;\n"
	           "\tfield:unsigned long args[6];\toffset:16;\tsize:48;\tsigned:0;\n");
	put_format(f, e, "sys_exit", ID_EXIT,
	           "\tfield:long id;\toffset:8;\tsize:8;\tsigned:1;\n"
	           "\tfield:long ret;\toffset:16;\tsize:8;\tsigned:1;\n");
	put_format(f, e, "workqueue_execute_start", ID_WORK,
	           "\tfield:void * work;\toffset:8;\tsize:8;\tsigned:0;\n"
	           "\tfield:void * function;\toffset:16;\tsize:8;\tsigned:0;\n");
	put32(f, e, strlen(kallsyms));
	enc_raw(e, kallsyms, strlen(kallsyms));
	put32(f, e, 0);
}

/* The beginning of a sample of T_USUAL. */
static inline size_t begin_sample(struct perf_file *f, uint64_t id, uint64_t ts, uint32_t cpu,
                                  uint32_t pid, uint32_t tid)
{
	size_t mark = begin(f, 9, 1);

	put64(f, &f->data, id);
	put64(f, &f->data, 0xffffffff81000010);
	put32(f, &f->data, pid);
	put32(f, &f->data, tid);
	put64(f, &f->data, ts);
	put32(f, &f->data, cpu);
	put32(f, &f->data, 0);
	put64(f, &f->data, 1);
	return mark;
}

static inline void put_common(struct perf_file *f, uint32_t len, uint32_t id, uint32_t flags,
                              uint32_t pid)
{
	put32(f, &f->data, len);
	put(f, &f->data, 2, id);
	put(f, &f->data, 1, flags);
	put(f, &f->data, 1, 0);
	put32(f, &f->data, pid);
}

static inline void put_switch(struct perf_file *f, uint32_t prev, uint64_t state, uint32_t next)
{
	put_common(f, 68, ID_SWITCH, 0, prev);
	put_text(&f->data, prev ? "prev" : "swapper", 16);
	put32(f, &f->data, prev);
	put32(f, &f->data, 120);
	put64(f, &f->data, state);
	put_text(&f->data, next ? "next" : "swapper", 16);
	put32(f, &f->data, next);
	put32(f, &f->data, 120);
	put32(f, &f->data, 0); /* what samples are padded with counts */
}

/* A whole sample of sched_switch. */
static inline void sched_switch(struct perf_file *f, uint64_t id, uint64_t ts, uint32_t cpu,
                                uint32_t prev, uint64_t state, uint32_t next)
{
	size_t mark = begin_sample(f, id, ts, cpu, prev, prev);

	put_switch(f, prev, state, next);
	end(f, mark);
}

static inline void sched_waking(struct perf_file *f, uint64_t id, uint64_t ts, uint32_t cpu,
                                uint32_t waker, uint32_t tid, uint32_t flags)
{
	size_t mark = begin_sample(f, id, ts, cpu, waker, waker);

	put_common(f, 36, ID_WAKING, flags, waker);
	put_text(&f->data, "wakee", 16);
	put32(f, &f->data, tid);
	put32(f, &f->data, 100);
	put32(f, &f->data, 1);
	end(f, mark);
}

static inline struct perf_attr *add_attr(struct perf_file *f, uint32_t type, uint64_t config,
                                         uint64_t id)
{
	struct perf_attr *a = &f->attrs[f->nr_attrs++];

	*a = (struct perf_attr){ .type = type,
		                 .config = config,
		                 .period = 1,
		                 .sample_type = T_USUAL,
		                 .flags = F_SAMPLE_ID_ALL,
		                 .id = id };
	return a;
}

/* A file of these events, with what the kernel says of them. */
static inline void usual(struct perf_file *f, bool is_big)
{
	memset(f, 0, sizeof(*f));
	f->is_big = is_big;
	(void)add_attr(f, 2, ID_SWITCH, 101);
	(void)add_attr(f, 2, ID_WAKING, 102);
	put_tracing_data(f, feature(f, 1), "");
}
