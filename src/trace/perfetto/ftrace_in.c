#include "trace/perfetto/ftrace_in.h"

#include "trace/perfetto/schema.h"

/* A converted file says so where the original had a new name without an event for it. */
static void read_new_name(struct bundle *b, struct pb_in in, uint64_t ts_ns)
{
	const char *comm = NULL;
	size_t len = 0;
	uint32_t tid = 0;
	struct pb_field f;

	while (pb_next(&in, &f)) {
		if (f.nr == RENAME_PID && f.type == PB_VARINT) {
			tid = tid_of(f.value);
		} else if (f.nr == RENAME_NEWCOMM && f.type == PB_BYTES) {
			comm = (const char *)f.bytes;
			len = (size_t)f.value;
		}
	}
	decoder_name(b->on.dec, ts_ns, tid, comm, len);
}

static bool read_event(struct bundle *b, struct pb_in in, struct ftrace_event_in *e)
{
	uint64_t ts = NO_TS;
	bool is_inferred = false, is_unknown = false;
	struct pb_field f;

	e->member = e->pid = 0;
	e->has_pid = false;
	e->flags = 0;
	while (pb_next(&in, &f)) {
		if (f.type == PB_VARINT && f.nr == FTRACE_TIMESTAMP) {
			ts = f.value;
		} else if (f.type == PB_VARINT && f.nr == FTRACE_PID) {
			e->pid = tid_of(f.value);
			e->has_pid = true;
		} else if (f.type == PB_BYTES) {
			e->member = f.nr;
			e->body = pb_in_field(&f);
		} else if (f.nr == FTRACE_COMMON_FLAGS) {
			e->flags = flags_of(f.value);
			is_inferred = f.value & COMMON_FLAG_INFERRED;
			is_unknown = f.value & COMMON_FLAG_UNKNOWN;
		}
	}
	if (is_unknown && b->on.dec->r->info.producer == TRACE_BY_US)
		e->flags |= EV_FLAG_UNKNOWN;
	if (in.is_bad)
		b->on.dec->tally->damage[DAMAGE_BUNDLE_BAD]++;
	else if (ts == NO_TS)
		b->on.dec->tally->damage[DAMAGE_EVENT_NO_TS]++;
	else if (!e->member)
		b->on.dec->tally->damage[DAMAGE_EVENT_NO_ID]++;
	else if (!is_inferred || b->on.dec->r->info.producer != TRACE_BY_US)
		return bundle_time(b, ts, &e->ts_ns);
	else if (e->member == FTRACE_TASK_RENAME)
		read_new_name(b, e->body, bundle_ns(b, ts));
	return false; /* what was not recorded is for other readers: here the gap is known */
}

enum { GENERIC_ID = 1, GENERIC_DESCRIPTOR = 2, DESCRIPTOR_NAME = 1, GENERIC_NAME = 1 };

static uint32_t text_in(struct bundle *b, struct pb_in in, uint32_t field)
{
	struct pb_field f;

	while (pb_next(&in, &f))
		if (f.nr == field && f.type == PB_BYTES)
			return decoder_text(b->on.dec, (const char *)f.bytes, (size_t)f.value);
	return 0;
}

/* A bundle explains the events that no schema knows. */
static void read_descriptor(struct bundle *b, struct pb_in in)
{
	struct map *ids = b->on.dec->tally->generic_ids;
	struct pb_in descriptor = { 0 };
	uint32_t id = 0, text;
	struct pb_field f;

	while (pb_next(&in, &f)) {
		if (f.nr == GENERIC_ID && f.type == PB_VARINT)
			id = (uint32_t)f.value;
		else if (f.nr == GENERIC_DESCRIPTOR && f.type == PB_BYTES)
			descriptor = pb_in_field(&f);
	}
	if (map_find(ids, &id, &text))
		return;
	text = text_in(b, descriptor, DESCRIPTOR_NAME);
	if (text)
		(void)!map_insert(ids, &id, text); /* too many: counted by their numbers */
}

/* An event that brings its name along, or one that we know nothing of. */
static void count_unknown(struct bundle *b, const struct ftrace_event_in *e)
{
	struct read_counts *t = b->on.dec->tally;
	uint32_t text = 0;

	if (map_find(t->generic_ids, &e->member, &text))
		tally_text(&t->generic, text, 1);
	else
		tally_other(t, true, e->member);
}

static void read_fields(struct ftrace_event_in *e)
{
	struct pb_in in = e->body;
	struct pb_field f;

	e->has = e->texts = 0;
	e->by = ABI_BY_NOT_RECORDED;
	e->ours = 0;
	while (pb_next(&in, &f)) {
		if (f.nr == WAKE_INTERRUPT && f.type == PB_VARINT)
			e->by = by_of(f.value);
		else if (f.nr == CGROUP_OURS && f.type == PB_VARINT)
			e->ours = f.value;
		if (f.nr >= EVENT_FIELDS)
			continue;
		e->has |= 1U << f.nr;
		e->values[f.nr] = f.value;
		if (f.type == PB_BYTES) {
			e->texts |= 1U << f.nr;
			e->bytes[f.nr] = f.bytes;
		} else {
			e->texts &= ~(1U << f.nr);
		}
	}
}

static void one_event(struct bundle *b, struct pb_in in)
{
	struct read_counts *t = b->on.dec->tally;
	struct ftrace_event_in e;

	if (!read_event(b, in, &e))
		return;
	if (e.member == FTRACE_LOSS) { /* a mark: its time is what it says */
		b->is_loss_behind |= pb_left(&e.body) > 0;
		return;
	}
	if (e.member == FTRACE_GENERIC)
		tally_text(&t->generic, text_in(b, e.body, GENERIC_NAME), 1);
	else if (!ftrace_name(e.member))
		count_unknown(b, &e);
	else
		t->ftrace[e.member]++;
	if (ftrace_makes_record(e.member)) {
		read_fields(&e);
		ftrace_event_record(&b->on, &e);
	}
}

static void use_clock(struct bundle *b, uint64_t clock, uint64_t ftrace_ns, uint64_t boot_ns)
{
	const struct clocks *c = &b->on.dec->r->clocks;
	uint32_t id = b->on.fix->is_mono ? CLOCK_ID_MONOTONIC : CLOCK_ID_BOOTTIME;

	if ((clock == FTRACE_CLOCK_GLOBAL || clock == FTRACE_CLOCK_LOCAL) && boot_ns) {
		b->has_offset = true;
		b->offset_ns = boot_ns - ftrace_ns;
		return;
	}
	if (clock == FTRACE_CLOCK_MONO_RAW)
		id = CLOCK_ID_MONOTONIC_RAW;
	b->clock = CLOCK_OF_TRACE;
	for (uint32_t i = 0; i < c->nr; i++)
		if (c->all[i].id == id && !c->all[i].seq && i != c->trace)
			b->clock = i;
	if (b->clock != CLOCK_OF_TRACE && !clocks_has_way(c, b->clock))
		b->on.dec->tally->damage[DAMAGE_CLOCK_FAILED]++;
}

/* The first bundle of a CPU says from when on it is complete. From the latest of these, all are. */
static void note_start(const struct bundle *b, uint64_t raw)
{
	struct read_counts *t = b->on.dec->tally;
	uint64_t ns = bundle_ns(b, raw);

	if (ns > t->valid_from_ns)
		t->valid_from_ns = ns;
}

/* What applies to the whole bundle, wherever it is in it. */
static bool read_bundle(struct bundle *b, struct pb_in in, bool *has_compact)
{
	uint64_t clock = 0, ftrace_ns = 0, boot_ns = 0, cpu = UINT64_MAX, from = 0;
	struct pb_field f;

	*has_compact = false;
	while (pb_next(&in, &f)) {
		if (f.nr == BUNDLE_COMPACT_SCHED)
			*has_compact = true;
		else if (f.nr == BUNDLE_DESCRIPTORS && f.type == PB_BYTES)
			read_descriptor(b, pb_in_field(&f));
		if (f.type != PB_VARINT)
			continue;
		if (f.nr == BUNDLE_CPU)
			cpu = f.value;
		else if (f.nr == BUNDLE_LOST_EVENTS)
			b->is_lost |= f.value != 0;
		else if (f.nr == BUNDLE_FTRACE_CLOCK)
			clock = f.value;
		else if (f.nr == BUNDLE_FTRACE_TIMESTAMP)
			ftrace_ns = f.value;
		else if (f.nr == BUNDLE_BOOT_TIMESTAMP)
			boot_ns = f.value;
		else if (f.nr == BUNDLE_PREVIOUS_END || f.nr == BUNDLE_LAST_READ)
			from = f.value;
	}
	if (in.is_bad)
		b->on.dec->tally->damage[DAMAGE_BUNDLE_BAD]++;
	if (cpu == UINT64_MAX) {
		b->on.dec->tally->damage[DAMAGE_BUNDLE_NO_CPU]++;
		cpu = 0;
	}
	b->on.cpu = (uint32_t)cpu;
	use_clock(b, clock, ftrace_ns, boot_ns);
	if (from && b->is_first && cpu < READER_CPUS_MAX)
		note_start(b, from);
	return cpu < READER_CPUS_MAX;
}

static void emit_loss(struct bundle *b, uint32_t lane)
{
	decoder_run_begin(b->on.dec, b->on.cpu * LANES_PER_CPU + lane);
	ftrace_loss(&b->on, b->on.first_ts_ns);
	decoder_run_end(b->on.dec);
}

static void decode_events(struct bundle *b, struct pb_in in)
{
	struct pb_field f;

	decoder_run_begin(b->on.dec, b->on.cpu * LANES_PER_CPU + LANE_EVENTS);
	while (pb_next(&in, &f))
		if (f.nr == BUNDLE_EVENT && f.type == PB_BYTES)
			one_event(b, pb_in_field(&f));
	decoder_run_end(b->on.dec);
}

static void decode_compact(struct bundle *b, struct pb_in in)
{
	struct pb_field f;

	while (pb_next(&in, &f))
		if (f.nr == BUNDLE_COMPACT_SCHED && f.type == PB_BYTES)
			compact_decode(b, pb_in_field(&f));
}

/* The name of a function where the recorder looked it up. */
static uint32_t find_symbol(struct ftrace_cpu *on, uint64_t value)
{
	const struct bundle *b = (const struct bundle *)on; /* its first member */
	const struct iid_entry *s = state_find(on->dec->r, b->state, INTERNED_KERNEL_SYMBOLS,
	                                       value);

	return s ? s->text : 0;
}

void ftrace_decode(struct decoder *dec, const struct packet *pk)
{
	struct pb_in in = pb_in_of(pk->body, pk->len);
	struct bundle b = { .on = { .dec = dec,
		                    .fix = &dec->r->fix,
		                    .first_ts_ns = UINT64_MAX,
		                    .find_symbol = find_symbol },
		            .is_lost = pk->flags & PACKET_AFTER_LOSS,
		            .is_first = pk->flags & PACKET_FIRST_OF_CPU,
		            .state = pk->state,
		            .clock = CLOCK_OF_TRACE };
	bool has_compact;

	if (!read_bundle(&b, in, &has_compact)) {
		dec->tally->damage[DAMAGE_BAD_CPU]++;
		return;
	}
	decode_events(&b, in);
	if (b.is_lost && b.is_loss_behind)
		emit_loss(&b, LANE_SWITCHES);
	if (has_compact)
		decode_compact(&b, in);
	if (b.on.nr_events == 0)
		return;
	if (b.is_lost && !b.is_loss_behind)
		emit_loss(&b, LANE_LOST);
	ftrace_cpu_count(&b.on);
}
