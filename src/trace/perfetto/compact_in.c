#include <errno.h>

#include "base/grow.h"
#include "trace/perfetto/ftrace_in.h"
#include "trace/perfetto/schema.h"

#define COLUMNS      14U
#define OF_INTERRUPT 13U /* the place of COMPACT_WAKING_INTERRUPT; others have their number's */

/* A column: packed varints. */
struct compact_columns {
	struct pb_in at[COLUMNS];
	uint32_t has;   /* bit per column */
	uint32_t split; /* those in more than one piece */
};

/* COLUMNS for a field that is none. */
static uint32_t column_of(const struct pb_field *f)
{
	if (f->nr == COMPACT_WAKING_INTERRUPT)
		return OF_INTERRUPT;
	return f->nr < OF_INTERRUPT ? f->nr : COLUMNS;
}

static void gather(struct compact_columns *c, const struct pb_field *f)
{
	uint32_t column = column_of(f);

	if (c->has & 1U << column) {
		c->split |= 1U << column;
		return;
	}
	c->has |= 1U << column;
	if (f->type == PB_BYTES)
		c->at[column] = pb_in_field(f);
	else
		c->split |= 1U << column; /* one value per field: the old form */
}

static bool append(struct decode_scratch *s, const uint8_t *bytes, size_t len)
{
	if (GROW(s->bytes, s->cap, s->len + len))
		return false;
	memcpy(s->bytes + s->len, bytes, len);
	s->len += len;
	return true;
}

static bool append_varint(struct decode_scratch *s, uint64_t value)
{
	uint8_t bytes[10];
	size_t len = 0;

	do {
		bytes[len++] = (uint8_t)(value | 0x80);
		value >>= 7;
	} while (value);
	bytes[len - 1] &= 0x7f;
	return append(s, bytes, len);
}

/* Puts the pieces of one column together at the end of the scratch; false without memory. */
static bool join(struct decode_scratch *s, struct pb_in body, uint32_t column, size_t *start)
{
	struct pb_field f;
	bool is_good = true;

	*start = s->len;
	while (is_good && pb_next(&body, &f)) {
		if (column_of(&f) != column)
			continue;
		is_good = f.type == PB_BYTES ? append(s, f.bytes, f.value)
		                             : append_varint(s, f.value);
	}
	return is_good;
}

/* Rare, and slow: pieces are copied. All first, as the scratch moves when it grows. */
static bool join_split(struct decode_scratch *s, struct pb_in body, struct compact_columns *c)
{
	size_t starts[COLUMNS + 1] = { 0 };

	s->len = 0;
	for (uint32_t i = 0; i < COLUMNS; i++)
		if (c->split & 1U << i && !join(s, body, i, &starts[i]))
			return false;
	for (uint32_t i = 0, next; i < COLUMNS; i++) {
		if (!(c->split & 1U << i))
			continue;
		next = i + 1;
		while (next < COLUMNS && !(c->split & 1U << next))
			next++;
		c->at[i] = pb_in_of(s->bytes + starts[i],
		                    (next < COLUMNS ? starts[next] : s->len) - starts[i]);
	}
	return true;
}

static bool add_comm(struct decode_scratch *s, const struct pb_field *f, const uint8_t *end)
{
	if (GROW(s->comms, s->cap_comms, s->nr_comms))
		return false;
	s->comms[s->nr_comms++] = comm_words_of(f->bytes, (size_t)f->value, end);
	return true;
}

static struct comm_words comm_at(struct bundle *b, struct pb_in *column)
{
	const struct decode_scratch *s = b->on.dec->scratch;
	uint64_t at;

	if (!pb_varint(column, &at))
		return (struct comm_words){ { 0, 0 } };
	if (at < s->nr_comms)
		return s->comms[at];
	b->on.dec->tally->damage[DAMAGE_COMPACT_BAD]++;
	return (struct comm_words){ { 0, 0 } };
}

/* One value of each column; false when one has ended. */
static bool take(struct compact_columns *c, const uint8_t *numbers, uint32_t nr, uint64_t *values)
{
	for (uint32_t i = 0; i < nr; i++)
		if (c->at[numbers[i]].p == c->at[numbers[i]].end)
			return false;
	for (uint32_t i = 0; i < nr; i++)
		if (!pb_varint(&c->at[numbers[i]], &values[i]))
			return false;
	return true;
}

/* The next value of a column that ends before others; false behind its end. */
static bool take_one(struct pb_in *column, uint64_t *value)
{
	return column->p != column->end && pb_varint(column, value);
}

static void switches(struct bundle *b, struct compact_columns *c)
{
	static const uint8_t numbers[] = { COMPACT_SWITCH_TIMESTAMP, COMPACT_SWITCH_PREV_STATE,
		                           COMPACT_SWITCH_NEXT_PID, COMPACT_SWITCH_NEXT_PRIO };
	uint64_t acc = 0, ts_ns, v[4];
	struct comm_words comm;
	struct ev_switch *rec;

	decoder_run_begin(b->on.dec, b->on.cpu * LANES_PER_CPU + LANE_SWITCHES);
	while (take(c, numbers, 4, v)) {
		acc += v[0];
		comm = comm_at(b, &c->at[COMPACT_SWITCH_NEXT_COMM]);
		if (!bundle_time(b, acc, &ts_ns))
			continue;
		b->on.dec->tally->ftrace[FTRACE_SCHED_SWITCH]++;
		if (b->on.fix->drops_ftrace_switches)
			continue;
		decoder_see(b->on.dec, ts_ns, tid_of(v[2]), comm);
		rec = rec_add(b->on.dec->out, EV_SWITCH, sizeof(*rec), b->on.cpu, ts_ns);
		rec->hdr.flags = REC_INFER;
		rec->prev_tid = 0;
		rec->next_tid = tid_of(v[2]);
		rec->prev_state = ftrace_state(&b->on, v[1]);
		rec->prev_prio = 0;
		rec->next_prio = prio_of(v[3]);
	}
	decoder_run_end(b->on.dec);
}

static void wakings(struct bundle *b, struct compact_columns *c)
{
	static const uint8_t numbers[] = { COMPACT_WAKING_TIMESTAMP, COMPACT_WAKING_PID,
		                           COMPACT_WAKING_TARGET_CPU, COMPACT_WAKING_PRIO };
	bool has_flags = c->has & 1U << COMPACT_WAKING_FLAGS;
	/* Ours: this column and that of the flags end where only zeroes would follow. */
	bool has_by = c->has & 1U << OF_INTERRUPT;
	uint64_t acc = 0, ts_ns, v[4], flags, by;
	struct comm_words comm;
	struct ev_wake *rec;

	decoder_run_begin(b->on.dec, b->on.cpu * LANES_PER_CPU + LANE_WAKINGS);
	while (take(c, numbers, 4, v)) {
		acc += v[0];
		flags = 0;
		comm = comm_at(b, &c->at[COMPACT_WAKING_COMM]);
		if (has_flags && !take_one(&c->at[COMPACT_WAKING_FLAGS], &flags) && !has_by)
			has_flags = false;
		by = has_flags && !b->on.fix->are_flags_partial ? ABI_BY_UNKNOWN
		                                                : ABI_BY_NOT_RECORDED;
		if (has_by && !take_one(&c->at[OF_INTERRUPT], &by))
			by = ABI_BY_UNKNOWN;
		if (!bundle_time(b, acc, &ts_ns))
			continue;
		b->on.dec->tally->ftrace[FTRACE_SCHED_WAKING]++;
		if (b->on.fix->drops_ftrace_wakes)
			continue;
		decoder_see(b->on.dec, ts_ns, tid_of(v[1]), comm);
		rec = rec_add(b->on.dec->out, EV_WAKING, sizeof(*rec), b->on.cpu, ts_ns);
		rec->hdr.flags = b->on.fix->is_waker_unknown
		                         ? EV_FLAG_UNKNOWN
		                         : (uint8_t)(REC_INFER | flags_of(flags));
		rec->tid = tid_of(v[1]);
		rec->waker_tid = 0;
		rec->target_cpu = (uint32_t)v[2];
		rec->prio = prio_of(v[3]);
		rec->by = by_of(by);
	}
	decoder_run_end(b->on.dec);
}

/* Whether the columns of a part ended together, as they should. */
static void check_ends(struct bundle *b, const struct compact_columns *c, uint32_t part)
{
	for (uint32_t i = 0; i < COLUMNS; i++)
		if (part & 1U << i && (c->at[i].p != c->at[i].end || c->at[i].is_bad)) {
			b->on.dec->tally->damage[DAMAGE_COMPACT_BAD]++;
			return;
		}
}

void compact_decode(struct bundle *b, struct pb_in body)
{
	const uint32_t of_switches = 0x5e, of_wakings = 0x3f80; /* fields 1-4, 6; 7-12 and ours */
	struct decode_scratch *s = b->on.dec->scratch;
	struct compact_columns c = { .has = 0 };
	struct pb_in in = body;
	struct pb_field f;

	s->nr_comms = 0;
	while (pb_next(&in, &f)) {
		if (f.nr == COMPACT_INTERN_TABLE && f.type == PB_BYTES) {
			if (!add_comm(s, &f, body.end))
				b->on.dec->out->err = -ENOMEM;
		} else if (column_of(&f) < COLUMNS && (f.type == PB_BYTES || f.type == PB_VARINT)) {
			gather(&c, &f);
		}
	}
	if (in.is_bad)
		b->on.dec->tally->damage[DAMAGE_COMPACT_BAD]++;
	if (c.split && !join_split(s, body, &c)) {
		b->on.dec->out->err = -ENOMEM;
		return;
	}
	if (c.has & of_switches)
		switches(b, &c);
	if (c.has & of_wakings)
		wakings(b, &c);
	check_ends(b, &c, of_switches | of_wakings);
}
