/*
 * trace/ftrace/format — raw bytes of an event, read by the format that the kernel describes it with.
 *
 * A description is the text of /sys/kernel/tracing/events/SYSTEM/NAME/format, which perf.data and trace.dat carry along. Only
 * where each field is matters; how it would be printed is not parsed. Descriptions may be hostile: every field is checked
 * against the bytes of each event. Filled by one thread, then read by any.
 */
#pragma once

#include "trace/bytes_in.h"
#include "trace/ftrace/events.h"

#define FORMAT_FIELDS 8U /* that a record needs, at most */

enum format_kind {
	FORMAT_NUMBER,
	FORMAT_TEXT,    /* char[N] */
	FORMAT_LOC,     /* __data_loc: where the text is, from the start of the event */
	FORMAT_REL_LOC, /* __rel_loc: from the end of the field */
};

struct format_field {
	uint16_t offset;
	uint16_t size;
	uint8_t nr;   /* ftrace_field() */
	uint8_t kind; /* enum format_kind */
	bool is_signed;
};

struct ftrace_format {
	uint32_t id;
	uint32_t member;                /* ftrace_member(); 0 = not known to us */
	uint32_t name;                  /* of decoder_text() */
	uint32_t size;                  /* of all fixed fields */
	struct format_field flags, pid; /* what all events have; size 0 = it does not */
	struct format_field fields[FORMAT_FIELDS];
	uint32_t nr_fields;
};

struct ftrace_formats {
	struct ftrace_format *all;
	size_t nr, cap;
	struct map *ids; /* id -> index */
	bool is_swapped; /* numbers of events are of the other byte order */
};

void ftrace_formats_done(struct ftrace_formats *f);
/* One description. The last one of an id counts. -EBADMSG if it is none; -ENOMEM. */
MUST_USE int ftrace_formats_add(struct ftrace_formats *f, struct reader *r, const char *text,
                                size_t len);
/* formats_in.c: parts of a file, after each other or apart. 0, -EBADMSG if it ends within, -ENOMEM. */
/* header_page and header_event of tracefs, of which the first says how pages are laid out. */
MUST_USE int ftrace_headers_read(struct bytes_in *in, struct bytes_in *page);
/* So many descriptions. */
MUST_USE int ftrace_formats_read(struct ftrace_formats *f, struct reader *r, struct bytes_in *in);
/* Those of so many systems, each with its name. */
MUST_USE int ftrace_systems_read(struct ftrace_formats *f, struct reader *r, struct bytes_in *in);
/* NULL = not described. */
const struct ftrace_format *ftrace_formats_find(const struct ftrace_formats *f, uint32_t id);
/* The id of an event by its first bytes; false if there are too few. */
bool ftrace_formats_id(const struct ftrace_formats *f, const uint8_t *raw, size_t len,
                       uint32_t *out);
/* Its member, task, flags and fields into e, whose time is the caller's. False if it is shorter than described. */
bool ftrace_format_read(const struct ftrace_formats *f, const struct ftrace_format *format,
                        const uint8_t *raw, size_t len, struct ftrace_event_in *e);
