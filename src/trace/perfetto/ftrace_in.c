#include "trace/perfetto/ftrace_in.h"

#include "trace/perfetto/schema.h"

/* Old kernels number some states differently. */
static uint32_t old_state(uint32_t raw, uint32_t dialect)
{
	uint32_t state = raw & 0x3f;
	uint32_t preempted = dialect == 1 ? 0x1000 : 0x800;

	if (raw & preempted)
		return EV_STATE_PREEMPTED;
	if ((raw & 0x402) == 0x402)
		return EV_STATE_IDLE;
	if (raw & 0x40)
		state |= EV_STATE_DEAD;
	if (raw & 0x200)
		state |= EV_STATE_PARKED;
	return state;
}

/* task->__state: what is dead for the scheduler, frozen or waits for a lock has bits that user space never sees. */
static uint32_t raw_state(uint32_t raw)
{
	if ((raw & 0x402) == 0x402)
		return EV_STATE_IDLE;
	if (raw & 0x80)
		return EV_STATE_DEAD;
	return (raw & 0x7f) | (raw & 0x9000 ? EV_STATE_D : 0);
}

uint32_t ftrace_state(struct bundle *b, uint64_t raw)
{
	uint32_t state = (uint32_t)raw;

	if (b->fix->has_raw_states)
		return raw_state(state);
	if (b->fix->state_dialect)
		return old_state(state, b->fix->state_dialect);
	if (state & ~0x1ffU) {
		b->dec->tally->damage[DAMAGE_STATE_INVALID]++;
		state &= 0x1ff;
	}
	return state;
}

static bool read_event(struct bundle *b, struct pb_in in, struct ftrace_event_in *e)
{
	uint64_t ts = NO_TS;
	bool is_inferred = false;
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
		}
	}
	if (in.is_bad)
		b->dec->tally->damage[DAMAGE_BUNDLE_BAD]++;
	else if (ts == NO_TS)
		b->dec->tally->damage[DAMAGE_EVENT_NO_TS]++;
	else if (!e->member)
		b->dec->tally->damage[DAMAGE_EVENT_NO_ID]++;
	else if (!is_inferred || b->dec->r->info.producer != TRACE_BY_US)
		return bundle_time(b, ts, &e->ts_ns);
	return false; /* what was not recorded is for other readers: here the gap is known */
}

enum { GENERIC_ID = 1, GENERIC_DESCRIPTOR = 2, DESCRIPTOR_NAME = 1, GENERIC_NAME = 1 };

static uint32_t text_in(struct bundle *b, struct pb_in in, uint32_t field)
{
	struct pb_field f;

	while (pb_next(&in, &f))
		if (f.nr == field && f.type == PB_BYTES)
			return decoder_text(b->dec, (const char *)f.bytes, (size_t)f.value);
	return 0;
}

/* A bundle explains the events that no schema knows. */
static void read_descriptor(struct bundle *b, struct pb_in in)
{
	struct map *ids = b->dec->tally->generic_ids;
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
	struct read_counts *t = b->dec->tally;
	uint32_t text = 0;

	if (map_find(t->generic_ids, &e->member, &text))
		tally_text(&t->generic, text, 1);
	else
		tally_other(t, true, e->member);
}

static void one_event(struct bundle *b, struct pb_in in)
{
	struct read_counts *t = b->dec->tally;
	struct ftrace_event_in e;

	if (!read_event(b, in, &e))
		return;
	if (e.member == FTRACE_GENERIC)
		tally_text(&t->generic, text_in(b, e.body, GENERIC_NAME), 1);
	else if (!ftrace_event_record(b, &e))
		count_unknown(b, &e);
	else
		t->ftrace[e.member]++;
}

static void use_clock(struct bundle *b, uint64_t clock, uint64_t ftrace_ns, uint64_t boot_ns)
{
	const struct clocks *c = &b->dec->r->clocks;
	uint32_t id = b->fix->is_mono ? CLOCK_ID_MONOTONIC : CLOCK_ID_BOOTTIME;

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
		b->dec->tally->damage[DAMAGE_CLOCK_FAILED]++;
}

/* What applies to the whole bundle, wherever it is in it. */
static bool read_bundle(struct bundle *b, struct pb_in in, bool *has_compact)
{
	uint64_t clock = 0, ftrace_ns = 0, boot_ns = 0, cpu = UINT64_MAX;
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
	}
	if (in.is_bad)
		b->dec->tally->damage[DAMAGE_BUNDLE_BAD]++;
	if (cpu == UINT64_MAX) {
		b->dec->tally->damage[DAMAGE_BUNDLE_NO_CPU]++;
		cpu = 0;
	}
	b->cpu = (uint32_t)cpu;
	use_clock(b, clock, ftrace_ns, boot_ns);
	return cpu < READER_CPUS_MAX;
}

/* How many is not known; what was open on this CPU ends in the dark, whatever it was. */
static void emit_loss(struct bundle *b)
{
	static const uint8_t kinds[] = { EV_SWITCH, EV_WAKING, EV_IRQ_ENTRY, EV_SOFTIRQ_ENTRY,
		                         EV_IPI_ENTRY };
	struct ev_lost *rec;

	decoder_run_begin(b->dec, b->cpu * LANES_PER_CPU + LANE_LOST);
	for (size_t i = 0; i < sizeof(kinds); i++) {
		rec = rec_add(b->dec->out, EV_LOST, sizeof(*rec), b->cpu, b->first_ts_ns);
		rec->kind = kinds[i];
		rec->pad_ = 0;
		rec->count = 0;
	}
	decoder_run_end(b->dec);
	b->dec->tally->damage[DAMAGE_CPU_DATA_LOSS]++;
}

static void decode_events(struct bundle *b, struct pb_in in)
{
	struct pb_field f;

	decoder_run_begin(b->dec, b->cpu * LANES_PER_CPU + LANE_EVENTS);
	while (pb_next(&in, &f))
		if (f.nr == BUNDLE_EVENT && f.type == PB_BYTES)
			one_event(b, pb_in_field(&f));
	decoder_run_end(b->dec);
}

static void decode_compact(struct bundle *b, struct pb_in in)
{
	struct pb_field f;

	while (pb_next(&in, &f))
		if (f.nr == BUNDLE_COMPACT_SCHED && f.type == PB_BYTES)
			compact_decode(b, pb_in_field(&f));
}

void ftrace_decode(struct decoder *dec, const struct packet *pk)
{
	struct pb_in in = pb_in_of(pk->body, pk->len);
	struct bundle b = { .dec = dec,
		            .fix = &dec->r->fix,
		            .state = pk->state,
		            .clock = CLOCK_OF_TRACE,
		            .first_ts_ns = UINT64_MAX,
		            .is_lost = pk->flags & PACKET_AFTER_LOSS };
	bool has_compact;

	if (!read_bundle(&b, in, &has_compact)) {
		dec->tally->damage[DAMAGE_BAD_CPU]++;
		return;
	}
	decode_events(&b, in);
	if (has_compact)
		decode_compact(&b, in);
	if (b.nr_events == 0)
		return;
	if (b.is_lost)
		emit_loss(&b);
	tally_time(dec->tally, b.first_ts_ns);
	tally_time(dec->tally, b.last_ts_ns);
	tally_cpu(dec->tally, &(struct trace_cpu_info){ .cpu = b.cpu,
	                                                .nr_events = b.nr_events,
	                                                .nr_losses = b.is_lost,
	                                                .first_ts_ns = b.first_ts_ns,
	                                                .last_ts_ns = b.last_ts_ns });
}
