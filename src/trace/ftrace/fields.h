/* trace/perfetto/ftrace_fields — the fields of an event, for those who make its record. Private to trace/perfetto/ftrace_*.c. */
#pragma once

#include <string.h>

#include "trace/ftrace/events.h"

static inline uint64_t num(const struct ftrace_event_in *e, uint32_t field)
{
	return e->has & ~e->texts & 1U << field ? e->values[field] : 0;
}

static inline uint32_t tid(const struct ftrace_event_in *e, uint32_t field)
{
	return tid_of(num(e, field));
}

static inline struct comm_words comm(const struct ftrace_event_in *e, uint32_t field)
{
	if (!(e->texts & 1U << field))
		return (struct comm_words){ { 0, 0 } };
	return comm_words_of(e->bytes[field], (size_t)e->values[field], e->body.end);
}

/* A text of any length into a field that ends with a NUL; what does not fit is cut. */
static inline void copy_text(char *to, size_t size, const struct ftrace_event_in *e, uint32_t field)
{
	size_t len = e->texts & 1U << field ? (size_t)e->values[field] : 0;

	memset(to, 0, size);
	if (len)
		memcpy(to, e->bytes[field], len < size ? len : size - 1);
}

static inline void see(struct ftrace_cpu *on, const struct ftrace_event_in *e, uint32_t who,
                       uint32_t name_field)
{
	decoder_see(on->dec, e->ts_ns, who, comm(e, name_field));
}

static inline void *add(struct ftrace_cpu *on, const struct ftrace_event_in *e, uint8_t kind,
                        uint32_t size)
{
	struct ev_hdr *hdr = rec_add(on->dec->out, kind, size, on->cpu, e->ts_ns);

	hdr->flags = e->flags;
	return hdr;
}

#define ADD(on, e, kind, type) ((struct type *)add(on, e, kind, sizeof(struct type)))
