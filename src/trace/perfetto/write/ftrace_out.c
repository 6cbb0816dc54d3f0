#include "trace/perfetto/write/ftrace_out.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "trace/perfetto/schema.h"
#include "trace/perfetto/write/packets.h"

/*
 * No more than a row takes: 4 bytes of time (less than 100 ms), 5 + 5 + 10 + 2 + 1 + 3 of the rest.
 * In addition: the first times, tags, lengths.
 */
#define ROW_BYTES         30U
#define OTHER_BYTES       128U
#define VERBOSE_EVENT_MAX 1024U /* no single event is larger */

void ftrace_init(struct ftrace_out *o, struct chunk_out *chunk, struct names_out *names)
{
	*o = (struct ftrace_out){ .chunk = chunk, .names = names };
}

void ftrace_done(struct ftrace_out *o)
{
	for (uint32_t i = 0; i < o->nr_cpus; i++) {
		if (!o->cpus[i])
			continue;
		pb_done(&o->cpus[i]->verbose);
		free(o->cpus[i]);
	}
	free(o->cpus);
	o->cpus = NULL;
	o->nr_cpus = 0;
}

static void begin_bundle(struct ftrace_out *o, struct ftrace_cpu *c)
{
	c->number = ++o->next_number ? o->next_number : ++o->next_number;
	c->nr_switches = c->nr_wakings = c->nr_verbose = c->nr_inferred = 0;
	c->nr_comms = 0;
	c->comm_bytes = 0;
	c->idle_comm = 0;
	memset(c->comm_slots, 0, sizeof(c->comm_slots));
	pb_clear(&c->verbose);
}

static int add_cpu(struct ftrace_out *o, uint32_t cpu)
{
	struct ftrace_cpu *c;

	if (GROW_ZEROED(o->cpus, o->nr_cpus, cpu))
		return -ENOMEM;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->cpu = cpu;
	c->verbose.cap = FTRACE_BUNDLE_BYTES;
	begin_bundle(o, c);
	o->cpus[cpu] = c;
	return 0;
}

static uint32_t nr_events(const struct ftrace_cpu *c)
{
	return c->nr_switches + c->nr_wakings + c->nr_verbose;
}

static bool has_recorded(const struct ftrace_cpu *c)
{
	return nr_events(c) > c->nr_inferred;
}

static void put_column(struct pb *w, uint32_t field, const uint8_t *from, const uint8_t *to)
{
	pb_bytes(w, field, from, (size_t)(to - from));
}

/* Which value of a row a column holds; int32 in protobuf is the same as a sign-extended int64. */
enum column {
	COLUMN_TS,
	COLUMN_VALUE,
	COLUMN_TID,
	COLUMN_PRIO,
	COLUMN_COMM,
	COLUMN_FLAGS,
	COLUMN_BY
};

static inline uint64_t cell(const struct compact_row *row, enum column column, uint64_t *last_ns)
{
	uint64_t delta;

	switch (column) {
	case COLUMN_TS:
		delta = row->ts_ns - *last_ns;
		*last_ns = row->ts_ns;
		return delta;
	case COLUMN_VALUE:
		return row->value;
	case COLUMN_TID:
		return row->tid;
	case COLUMN_PRIO:
		return (uint64_t)(int64_t)row->prio;
	case COLUMN_COMM:
		return row->comm_idx;
	case COLUMN_FLAGS:
		return row->flags;
	case COLUMN_BY:
		return row->by;
	}
	return 0;
}

static inline void put_rows(struct pb *w, uint32_t field, const struct ftrace_cpu *c,
                            bool is_waking, enum column column)
{
	const struct compact_row *row = is_waking ? &c->rows[FTRACE_BUNDLE_EVENTS - 1] : c->rows;
	uint8_t bytes[FTRACE_BUNDLE_EVENTS * PB_VARINT_MAX], *p = bytes;
	uint32_t nr = is_waking ? c->nr_wakings : c->nr_switches;
	bool is_cut = column == COLUMN_FLAGS || column == COLUMN_BY;
	uint64_t last_ns = 0, value;
	const uint8_t *end = bytes;

	for (uint32_t i = 0; i < nr; i++, row += is_waking ? -1 : 1) {
		value = cell(row, column, &last_ns);
		p = pb_put_varint(p, value);
		if (value || !is_cut)
			end = p;
	}
	put_column(w, field, bytes, end);
}

/* Flags and interrupts of wakings are nearly always 0: their columns end behind the last value that is not. */
void ftrace_put_compact(struct pb *w, const struct ftrace_cpu *c)
{
	struct pb_mark compact = pb_begin_large(w, BUNDLE_COMPACT_SCHED);

	for (uint32_t i = 0; i < c->nr_comms; i++)
		pb_text(w, COMPACT_INTERN_TABLE, c->comms[i], EV_COMM_LEN);
	if (c->nr_switches) {
		put_rows(w, COMPACT_SWITCH_TIMESTAMP, c, false, COLUMN_TS);
		put_rows(w, COMPACT_SWITCH_PREV_STATE, c, false, COLUMN_VALUE);
		put_rows(w, COMPACT_SWITCH_NEXT_PID, c, false, COLUMN_TID);
		put_rows(w, COMPACT_SWITCH_NEXT_PRIO, c, false, COLUMN_PRIO);
		put_rows(w, COMPACT_SWITCH_NEXT_COMM, c, false, COLUMN_COMM);
	}
	if (c->nr_wakings) {
		put_rows(w, COMPACT_WAKING_TIMESTAMP, c, true, COLUMN_TS);
		put_rows(w, COMPACT_WAKING_PID, c, true, COLUMN_TID);
		put_rows(w, COMPACT_WAKING_TARGET_CPU, c, true, COLUMN_VALUE);
		put_rows(w, COMPACT_WAKING_PRIO, c, true, COLUMN_PRIO);
		put_rows(w, COMPACT_WAKING_COMM, c, true, COLUMN_COMM);
		put_rows(w, COMPACT_WAKING_FLAGS, c, true, COLUMN_FLAGS);
		put_rows(w, COMPACT_WAKING_INTERRUPT, c, true, COLUMN_BY);
	}
	pb_end(w, compact);
}

static void put_bundle(struct pb *w, const struct ftrace_cpu *c)
{
	struct pb_mark bundle = pb_begin_large(w, PACKET_FTRACE_EVENTS);

	pb_uint(w, BUNDLE_CPU, c->cpu);
	if (c->has_lost)
		pb_bool(w, BUNDLE_LOST_EVENTS, true);
	pb_uint(w, BUNDLE_PREVIOUS_END, c->prev_end_ns);
	pb_raw(w, c->verbose.buf, c->verbose.len);
	if (c->nr_switches || c->nr_wakings)
		ftrace_put_compact(w, c);
	pb_end(w, bundle);
}

/* Names first: a reader that stops in between knows more than it needs, never less. */
static int flush_cpu(struct ftrace_out *o, struct ftrace_cpu *c)
{
	struct packet_head head = { .seq = SEQ_FTRACE,
		                    .seq_flags = o->is_started ? 0 : SEQ_STATE_CLEARED };
	struct pb *w = &o->chunk->packets;
	struct pb_mark packet;
	int err;

	if (nr_events(c) == 0)
		return 0;
	err = names_flush(o->names);
	if (err)
		return err;
	packet = packet_begin(w, &head);
	put_bundle(w, c);
	packet_end(w, packet);
	if (c->verbose.error && !w->error)
		w->error = c->verbose.error;
	o->is_started = true;
	c->has_lost = false;
	c->prev_end_ns = c->last_ts_ns;
	begin_bundle(o, c);
	return chunk_packet_done(o->chunk);
}

/* Whether one more event of any kind may be too much. */
static bool is_full(const struct ftrace_cpu *c)
{
	size_t rows = c->nr_switches + c->nr_wakings + 1;

	return nr_events(c) == FTRACE_BUNDLE_EVENTS || c->nr_comms == FTRACE_BUNDLE_COMMS ||
	       OTHER_BYTES + c->verbose.len + VERBOSE_EVENT_MAX + c->comm_bytes +
	                       rows * ROW_BYTES >=
	               FTRACE_BUNDLE_BYTES;
}

int ftrace_at(struct ftrace_out *o, uint32_t cpu, uint64_t *ts_ns, struct ftrace_cpu **out)
{
	struct ftrace_cpu *c;
	int err = 0;

	if (cpu >= FTRACE_CPUS_MAX)
		return -ERANGE;
	if (cpu >= o->nr_cpus || !o->cpus[cpu])
		err = add_cpu(o, cpu);
	if (err)
		return err;
	c = o->cpus[cpu];
	if (*ts_ns < c->last_ts_ns) {
		*ts_ns = c->last_ts_ns;
		o->nr_clamped++;
	}
	if ((has_recorded(c) && *ts_ns - c->first_ts_ns >= FTRACE_BUNDLE_NS) || is_full(c))
		err = flush_cpu(o, c);
	*out = c;
	return err;
}

static void count(struct ftrace_cpu *c, uint64_t ts_ns)
{
	if (!has_recorded(c))
		c->first_ts_ns = ts_ns;
	c->last_ts_ns = ts_ns;
}

bool ftrace_is_current(const struct ftrace_cpu *c, uint32_t tid)
{
	return c->knows_current && c->current_tid == tid;
}

static uint32_t find_comm(struct ftrace_cpu *c, const char comm[EV_COMM_LEN])
{
	uint64_t words[2], h;
	uint32_t slot;

	memcpy(words, comm, sizeof(words));
	h = (words[0] ^ (words[1] << 23 | words[1] >> 41)) * 0x9e3779b97f4a7c15ULL;
	/* At most half full; a bad mix of names costs a walk over one bundle's table, no more. */
	for (slot = (uint32_t)(h >> 54); c->comm_slots[slot];
	     slot = (slot + 1) % (2 * FTRACE_BUNDLE_COMMS))
		if (memcmp(c->comms[c->comm_slots[slot] - 1], comm, EV_COMM_LEN) == 0)
			return c->comm_slots[slot] - 1U;
	memcpy(c->comms[c->nr_comms], comm, EV_COMM_LEN);
	/* What is not UTF-8 grows threefold. */
	c->comm_bytes += 2 + 3 * (uint32_t)strnlen(comm, EV_COMM_LEN);
	c->comm_slots[slot] = (uint16_t)++c->nr_comms;
	return c->nr_comms - 1;
}

_Static_assert(2 * FTRACE_BUNDLE_COMMS == 1U << (64 - 54), "the hash gives as many slots");

static uint16_t comm_idx(struct ftrace_cpu *c, struct trace_task *task)
{
	char idle[EV_COMM_LEN] = { 0 };

	if (task) {
		if (task->bundle != c->number) {
			task->comm_idx = find_comm(c, task->comm);
			task->bundle = c->number;
		}
		return (uint16_t)task->comm_idx;
	}
	if (!c->idle_comm) {
		(void)snprintf(idle, sizeof(idle), "swapper/%u", c->cpu);
		c->idle_comm = find_comm(c, idle) + 1;
	}
	return (uint16_t)(c->idle_comm - 1);
}

void ftrace_add_switch(struct ftrace_cpu *c, uint64_t ts_ns, const struct ev_switch *rec,
                       struct trace_task *next)
{
	count(c, ts_ns);
	c->rows[c->nr_switches++] = (struct compact_row){
		.ts_ns = ts_ns,
		.tid = rec->next_tid,
		.value = rec->prev_state,
		.prio = rec->next_prio,
		.comm_idx = comm_idx(c, next),
	};
	ftrace_set_current(c, rec->next_tid, ts_ns);
}

void ftrace_set_current(struct ftrace_cpu *c, uint32_t tid, uint64_t ts_ns)
{
	c->current_tid = tid;
	c->knows_current = c->has_switched = true;
	c->is_cut = false;
	c->last_seen_ns = ts_ns;
}

static uint32_t common_flags(uint32_t flags)
{
	return (flags & EV_FLAG_HARDIRQ ? COMMON_FLAG_HARDIRQ : 0U) |
	       (flags & EV_FLAG_SOFTIRQ ? COMMON_FLAG_SOFTIRQ : 0U) |
	       (flags & EV_FLAG_NMI ? COMMON_FLAG_NMI : 0U) |
	       (flags & EV_FLAG_UNKNOWN ? COMMON_FLAG_UNKNOWN : 0U);
}

void ftrace_add_waking(struct ftrace_cpu *c, uint64_t ts_ns, const struct ev_wake *rec,
                       struct trace_task *task)
{
	count(c, ts_ns);
	c->last_seen_ns = ts_ns;
	c->rows[FTRACE_BUNDLE_EVENTS - ++c->nr_wakings] = (struct compact_row){
		.ts_ns = ts_ns,
		.tid = rec->tid,
		.value = rec->target_cpu,
		.prio = rec->prio,
		.comm_idx = comm_idx(c, task),
		.flags = (uint8_t)common_flags(rec->hdr.flags),
		.by = rec->by,
	};
}

static struct ftrace_event begin(struct ftrace_cpu *c, uint64_t ts_ns, uint32_t pid,
                                 uint32_t member)
{
	struct ftrace_event e = { .w = &c->verbose };

	c->nr_verbose++;
	e.event = pb_begin(e.w, BUNDLE_EVENT);
	pb_uint(e.w, FTRACE_TIMESTAMP, ts_ns);
	pb_uint(e.w, FTRACE_PID, pid);
	e.body = pb_begin(e.w, member);
	return e;
}

struct ftrace_event ftrace_begin(struct ftrace_cpu *c, uint64_t ts_ns, uint32_t pid,
                                 uint32_t member)
{
	count(c, ts_ns);
	return begin(c, ts_ns, pid, member);
}

struct ftrace_event ftrace_begin_inferred(struct ftrace_cpu *c, uint64_t ts_ns, uint32_t pid,
                                          uint32_t member)
{
	c->nr_inferred++;
	return begin(c, ts_ns, pid, member);
}

void ftrace_end(struct ftrace_event *e, uint32_t flags)
{
	pb_end(e->w, e->body);
	/* Last: readers know the fast way to an event as timestamp, pid, event. */
	if (common_flags(flags))
		pb_uint(e->w, FTRACE_COMMON_FLAGS, common_flags(flags));
	pb_end(e->w, e->event);
}

void ftrace_end_inferred(struct ftrace_event *e)
{
	pb_end(e->w, e->body);
	pb_uint(e->w, FTRACE_COMMON_FLAGS, COMMON_FLAG_INFERRED);
	pb_end(e->w, e->event);
}

int ftrace_lost(struct ftrace_out *o, struct ftrace_cpu *c)
{
	int err = flush_cpu(o, c);

	c->has_lost = c->is_cut = true;
	c->knows_current = false;
	return err;
}

int ftrace_flush(struct ftrace_out *o, uint64_t ts_ns)
{
	int err = 0;

	for (uint32_t i = 0; i < o->nr_cpus && !err; i++)
		if (o->cpus[i] && nr_events(o->cpus[i]) && o->cpus[i]->first_ts_ns < ts_ns)
			err = flush_cpu(o, o->cpus[i]);
	return err;
}
