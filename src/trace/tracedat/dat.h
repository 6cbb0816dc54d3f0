/*
 * trace/tracedat/dat — the inside of the reader of trace.dat, the files of trace-cmd, versions 6 and 7.
 *
 * Version 6 is one header after the other (dat_v6.c); version 7 has sections, compressed or not, which options point to
 * (dat_v7.c). Both fill struct dat: descriptions of events, options (dat_options.c), and where the data of each buffer and CPU
 * is. dat_pages.c then reads the pages of the kernel's ring buffer (ring.h) and hands their events to trace/ftrace.
 *
 * Several buffers (instances of tracefs, trace-cmd record -B) are one timeline. Where more than one recorded the same event,
 * it is taken from the buffer that has the most of it and left out of the others, as it would be there twice. A buffer of another
 * clock than the first one's cannot be put beside it, and is left out.
 *
 * All sizes and places of the file may be hostile: what is read and unpacked in all is bounded by the length of the file,
 * whatever overlaps; what is kept is out of the budget. Damage is counted and passed. By one thread.
 */
#pragma once

#include "trace/bytes_in.h"
#include "trace/ftrace/cpus.h"
#include "trace/ftrace/format.h"
#include "trace/ftrace/functions.h"
#include "trace/inflate.h"
#include "trace/reader_priv.h"
#include "trace/tracedat/dat_clock.h"
#include "trace/tracedat/ring.h"

#define DAT_BUFFERS_MAX 256U
#define DAT_IDS         65536U /* of events: 16 bits */

/* Numbers of options; of version 7 also those of the sections that they point to. */
enum dat_option {
	DAT_DONE = 0,
	DAT_BUFFER = 3,
	DAT_TRACECLOCK = 4,
	DAT_UNAME = 5,
	DAT_OFFSET = 7,
	DAT_CPUCOUNT = 8,
	DAT_VERSION = 9,
	DAT_TIME_SHIFT = 12,
	DAT_TSC2NSEC = 14,
	DAT_HEADER_INFO = 16,
	DAT_FTRACE_EVENTS = 17,
	DAT_EVENT_FORMATS = 18,
	DAT_KALLSYMS = 19,
	DAT_CMDLINES = 21,
	DAT_BUFFER_TEXT = 22,
};

/* Where the data of a CPU is in the file. */
struct dat_cpu {
	uint32_t cpu;
	uint64_t offset, size;
};

struct dat_buffer {
	const char *name;  /* "" is the first one */
	const char *clock; /* "" = that of the file */
	uint64_t offset;   /* version 6: of its table; 7: of its section */
	uint32_t page_bytes;
	bool is_packed; /* in chunks */
	bool is_text;   /* what 'trace' of tracefs shows */
	bool is_left_out;
	struct dat_cpu *cpus;
	size_t nr_cpus;
};

struct dat {
	struct reader *r;
	const struct trace_bytes *in;
	struct bytes_in all; /* the whole file */
	uint32_t version;    /* 6 or 7 */
	uint32_t page_bytes;
	uint32_t long_bytes; /* of programs there */
	enum inflate_kind packing;
	uint64_t left_bytes;    /* that may still be read of the file, and */
	uint64_t left_unpacked; /* made of it */
	struct ring_layout layout;
	struct ftrace_formats formats;
	struct functions symbols;
	struct dat_clock clock;
	struct dat_buffer *buffers; /* the first one first, if there is one */
	size_t nr_buffers, cap_buffers;
	uint32_t nr_cpus;                       /* version 6: of each table */
	uint64_t sections[DAT_BUFFER_TEXT + 1]; /* version 7: where they are; 0 = there is none */
	struct inflated kept;                   /* kallsyms, unpacked */
	struct inflated chunk;                  /* of a CPU's data */
	struct ZSTD_DCtx_s *zstd;
	struct ftrace_cpus cpus;
	uint16_t *owners; /* by the id of an event: the buffer that it is taken from; NULL = there is one buffer */
	int err; /* of memory, sticks */
};

/* dat_meta.c: parts of both versions. 0, -EBADMSG if it is damaged, -ENOMEM, -E2BIG. */
MUST_USE int dat_header_info(struct dat *dat, struct bytes_in *in);
MUST_USE int dat_cmdlines(struct dat *dat, struct bytes_in *in);

/* dat_options.c */
MUST_USE int dat_option(struct dat *dat, uint32_t id, struct bytes_in body);
/* The buffer of an option; NULL without memory or beyond the cap. */
struct dat_buffer *dat_buffer_add(struct dat *dat, const char *name);

MUST_USE int dat_read_v6(struct dat *dat, struct bytes_in in, struct diag *d);
MUST_USE int dat_read_v7(struct dat *dat, struct bytes_in in, struct diag *d);
/* What a section holds, as it is in the file; empty if there is none. */
struct bytes_in dat_section_body(struct dat *dat, uint64_t offset);
/* A place in the file; empty, and counted, where it is beyond the end. */
struct bytes_in dat_at(struct dat *dat, uint64_t offset);
/* dat_unpack.c: a block that was so long, in place of what is in out. 0, -EBADMSG, -ENOMEM, -E2BIG. */
MUST_USE int dat_unpack(struct dat *dat, struct bytes_in block, uint32_t plain_bytes,
                        struct inflated *out);
void dat_unpack_done(struct dat *dat);
void dat_inflated_done(struct dat *dat, struct inflated *out);
/* How much may be made of a file of that length. */
uint64_t dat_unpacked_max(uint64_t len);

/* dat_pages.c: the events of all buffers, and the merge. 0 or the first error. */
MUST_USE int dat_read_buffers(struct dat *dat, const struct ev_sink *sink);
/* dat_text.c: the format of the text reads it, if there is one. 0 or the first error. */
MUST_USE int dat_read_text(struct dat *dat, const struct dat_buffer *b, const struct ev_sink *sink,
                           struct diag *d);
