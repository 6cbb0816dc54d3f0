/*
 * trace/tracedat/ring — events of a page of the kernel's ring buffer, as trace-cmd and tracefs copy it.
 *
 * A page has a header (the time of its first event, and how many bytes are used: commit, with flags for lost events) and events
 * of 4 bytes and more: 5 bits of type or length, 27 bits of time since the event before. libtraceevent has a reader of such pages,
 * kbuffer, that goes by the lengths in them wherever they lead; pages of a file may be hostile, so this one is our own and never
 * reads beyond the bytes that it is given. No memory, any thread.
 *
 * Where the header of a page is, says the file (its copy of events/header_page); a long of the kernel has 4 or 8 bytes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ring_layout {
	uint32_t page_bytes;
	uint32_t commit_at, commit_bytes;
	uint32_t data_at;
	bool is_swapped;
	bool is_big_endian; /* of the file: bits of an event's head count from the other side */
};

struct ring_page {
	const struct ring_layout *layout;
	const uint8_t *at, *end;
	uint64_t ts;      /* raw, of the event before */
	uint64_t nr_lost; /* 0 = unknown */
	bool is_lost;     /* events before those of the page are missing */
	bool is_cut;      /* the end of the file is missing within the page */
	bool is_bad;      /* after the event at hand it cannot be read further */
};

struct ring_event {
	uint64_t ts;
	const uint8_t *data;
	uint32_t len;
};

/* By the text of events/header_page; what it does not say is as for a kernel whose long has so many bytes. */
void ring_layout_read(struct ring_layout *l, const char *text, size_t len, uint32_t long_bytes);
/* Of at most page_bytes of the layout; fewer are a page whose end is missing. False if it is none: damaged, or too short. */
bool ring_page_open(struct ring_page *p, const struct ring_layout *l, const uint8_t *bytes,
                    size_t len);
/* The next one; false after the last, or where is_bad. */
bool ring_page_next(struct ring_page *p, struct ring_event *out);
/* Whether these are pages alone, without a file around them, as an interrupted trace-cmd leaves them. */
bool ring_is_raw(const uint8_t *bytes, size_t len);
