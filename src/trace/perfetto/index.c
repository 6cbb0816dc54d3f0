#include "trace/perfetto/index.h"

#include <errno.h>
#include <stdlib.h>

#include "base/budget.h"
#include "base/grow.h"
#include "base/parallel.h"
#include "trace/perfetto/schema.h"

#define SEQUENCES   (1U << 20) /* at most */
#define NO_STATE    UINT32_MAX
#define SMALL_BLOCK (64U << 20) /* unpacked from any block, whatever its size */
#define RATIO       256U        /* beyond that: times what it takes in the file */

/* The state of a sequence at this point of the file. */
struct seq_now {
	uint32_t state; /* NO_STATE: what comes next needs a new one */
	uint32_t interned;
	bool is_valid;
	bool is_seen;
	uint32_t nr_drops;
	struct pb_in defaults;
	uint64_t default_track;
	uint32_t default_clock;
};

struct reader_index {
	struct segment *segments;
	size_t nr_segments, cap_segments;
	struct map *seq_ids;
	struct seq_now *seqs; /* the first is of packets without one */
	size_t nr_seqs, cap_seqs;
	/* Losses that each CPU has seen, to be added to its next bundle. */
	struct map *cpus;
	uint32_t *cpu_drops;
	size_t nr_cpus, cap_cpus;
	uint32_t last_id, last_seq; /* the same one mostly */
};

void index_done(struct reader *r)
{
	struct reader_index *ix = r->index;

	if (!ix)
		return;
	for (size_t i = 0; i < ix->nr_segments; i++)
		free(ix->segments[i].plain.bytes);
	free(ix->segments);
	free(ix->seqs);
	free(ix->cpu_drops);
	map_free(ix->seq_ids);
	map_free(ix->cpus);
	free(ix);
	r->index = NULL;
}

/* The compressed block of a packet, if that is what it holds. */
static enum inflate_kind find_block(struct pb_in in, struct pb_in *out)
{
	enum inflate_kind kind = INFLATE_NONE;
	struct pb_field f;

	while (pb_next(&in, &f)) {
		if (f.type != PB_BYTES)
			continue;
		if (f.nr != PACKET_COMPRESSED_PACKETS && f.nr != PACKET_ZSTD_PACKETS)
			continue;
		kind = f.nr == PACKET_ZSTD_PACKETS ? INFLATE_ZSTD : INFLATE_ZLIB;
		*out = pb_in_field(&f);
	}
	return in.is_bad ? INFLATE_NONE : kind;
}

static int add_segment(struct reader *r, const uint8_t *from, const uint8_t *to,
                       enum inflate_kind kind)
{
	struct reader_index *ix = r->index;

	if (from == to)
		return 0;
	if (!grow_counted(r, &ix->segments, ix->nr_segments, &ix->cap_segments,
	                  sizeof(*ix->segments)))
		return -ENOMEM;
	ix->segments[ix->nr_segments++] =
		(struct segment){ .bytes = from, .len = (size_t)(to - from), .kind = kind };
	return 0;
}

/* Cuts the file where blocks have to be unpacked first; that can then go on on all CPUs. */
static int split(struct reader *r, struct pb_in in)
{
	const uint8_t *from = in.p, *at = in.p;
	struct pb_in block;
	struct pb_field f;
	enum inflate_kind kind;
	int err = 0;

	for (; !err && pb_next(&in, &f); at = in.p) {
		if (f.nr != TRACE_PACKET || f.type != PB_BYTES)
			continue;
		kind = find_block(pb_in_field(&f), &block);
		if (kind == INFLATE_NONE)
			continue;
		err = add_segment(r, from, at, INFLATE_NONE);
		if (!err)
			err = add_segment(r, block.p, block.end, kind);
		from = in.p;
	}
	if (in.is_bad)
		r->tally.damage[DAMAGE_TRUNCATED_BYTES] += (uint64_t)(in.end - at);
	return err ? err : add_segment(r, from, at, INFLATE_NONE);
}

static void unpack(void *ctx, unsigned int worker, size_t item)
{
	struct reader *r = ctx;
	struct segment *s = &r->index->segments[item];
	struct inflate_cfg cfg = {
		.kind = s->kind,
		.limit = s->len > SIZE_MAX / RATIO ? SIZE_MAX : s->len * RATIO,
		.budget = r->cfg.budget,
	};

	(void)worker;
	if (s->kind == INFLATE_NONE || budget_is_exceeded(r->cfg.budget))
		return;
	if (cfg.limit < SMALL_BLOCK)
		cfg.limit = SMALL_BLOCK;
	s->err = inflate_all(&cfg, s->bytes, s->len, &s->plain);
}

static int unpack_all(struct reader *r)
{
	struct reader_index *ix = r->index;
	const struct parallel job = { .nr_workers = r->cfg.nr_workers, .fn = unpack, .ctx = r };
	uint64_t sum = 0;

	parallel_for(&job, ix->nr_segments);
	if (budget_is_exceeded(r->cfg.budget))
		return -E2BIG;
	for (size_t i = 0; i < ix->nr_segments; i++) {
		struct segment *s = &ix->segments[i];

		if (s->err == -ENOMEM)
			return -ENOMEM;
		if (s->err)
			r->tally.damage[DAMAGE_INFLATE_FAILED]++;
		sum += s->kind == INFLATE_NONE ? s->len : s->plain.len;
	}
	r->info.nr_plain_bytes = sum;
	return 0;
}

static int find_seq(struct reader_index *ix, uint32_t id, uint32_t *out)
{
	int err;

	if (ix->nr_seqs && id == ix->last_id) {
		*out = ix->last_seq;
		return 0;
	}
	if (!map_find(ix->seq_ids, &id, out)) {
		if (GROW(ix->seqs, ix->cap_seqs, ix->nr_seqs))
			return -ENOMEM;
		err = map_insert(ix->seq_ids, &id, (uint32_t)ix->nr_seqs);
		if (err)
			return err;
		*out = (uint32_t)ix->nr_seqs;
		ix->seqs[ix->nr_seqs++] = (struct seq_now){ .state = NO_STATE };
	}
	ix->last_id = id;
	ix->last_seq = *out;
	return 0;
}

static void read_scalar(struct packet_head_in *h, uint32_t nr, uint64_t value)
{
	switch (nr) {
	case PACKET_TIMESTAMP:
		h->ts = value;
		break;
	case PACKET_CLOCK_ID:
		h->clock_id = (uint32_t)value;
		break;
	case PACKET_SEQUENCE_ID:
		h->seq = (uint32_t)value;
		break;
	case PACKET_SEQUENCE_FLAGS:
		h->flags |= (uint32_t)value;
		break;
	case PACKET_STATE_CLEARED:
		h->flags |= value ? SEQ_STATE_CLEARED : 0;
		break;
	case PACKET_DROPPED:
		h->dropped = (uint32_t)value;
		break;
	case PACKET_MACHINE_ID:
		h->machine = (uint32_t)value;
		break;
	case PACKET_TRUSTED_UID:
		h->has_uid = true;
		break;
	case PACKET_TRUSTED_PID:
		h->has_pid = true;
		break;
	default:
		break;
	}
}

static bool read_head(struct pb_in in, struct packet_head_in *h)
{
	struct pb_field f;

	*h = (struct packet_head_in){ .ts = NO_TS };
	while (pb_next(&in, &f)) {
		if (f.type == PB_VARINT) {
			read_scalar(h, f.nr, f.value);
		} else if (f.type != PB_BYTES) {
			continue;
		} else if (f.nr == PACKET_INTERNED_DATA) {
			h->has_interned = true;
		} else if (f.nr == PACKET_DEFAULTS) {
			h->has_defaults = true;
		} else {
			h->payload = f.nr;
			h->body = pb_in_field(&f);
		}
	}
	return !in.is_bad;
}

static int new_table(struct reader *r, uint32_t *out)
{
	if (!grow_counted(r, &r->tables, r->nr_tables, &r->cap_tables, sizeof(*r->tables)))
		return -ENOMEM;
	r->tables[r->nr_tables] = (struct iid_table){ 0 };
	*out = (uint32_t)r->nr_tables++;
	return 0;
}

static void take_defaults(struct seq_now *s, struct pb_in in)
{
	struct pb_field f, g;
	struct pb_in track;

	s->defaults = in;
	s->default_track = 0;
	s->default_clock = 0;
	s->state = NO_STATE;
	while (pb_next(&in, &f)) {
		if (f.nr == DEFAULTS_CLOCK_ID && f.type == PB_VARINT)
			s->default_clock = (uint32_t)f.value;
		if (f.nr != DEFAULTS_TRACK_EVENT || f.type != PB_BYTES)
			continue;
		track = pb_in_field(&f);
		while (pb_next(&track, &g))
			if (g.nr == TRACK_DEFAULTS_UUID && g.type == PB_VARINT)
				s->default_track = g.value;
	}
}

/* Interned data and defaults, after the flags have taken effect. */
static int take_state(struct reader *r, struct seq_now *s, const struct packet_head_in *h,
                      struct pb_in in)
{
	struct pb_field f;
	int err = 0;

	while (!err && pb_next(&in, &f)) {
		if (f.type != PB_BYTES)
			continue;
		if (f.nr == PACKET_DEFAULTS)
			take_defaults(s, pb_in_field(&f));
		if (f.nr != PACKET_INTERNED_DATA)
			continue;
		if (!h->seq)
			r->tally.damage[DAMAGE_INTERNED_NO_SEQ]++;
		else if (!s->is_valid)
			r->tally.damage[DAMAGE_INTERNED_INVALID]++;
		else
			err = interned_add(r, s->interned, pb_in_field(&f));
	}
	return err;
}

static int begin_generation(struct reader *r, struct seq_now *s)
{
	s->is_valid = true;
	s->state = NO_STATE;
	s->defaults = (struct pb_in){ 0 };
	s->default_track = 0;
	s->default_clock = 0;
	return new_table(r, &s->interned);
}

static int update_seq(struct reader *r, struct seq_now *s, const struct packet_head_in *h,
                      struct pb_in in)
{
	int err = 0;

	if (h->flags & SEQ_STATE_CLEARED) {
		err = begin_generation(r, s);
	} else if (h->dropped) {
		s->state = s->is_valid ? NO_STATE : s->state;
		s->is_valid = false;
	}
	/* The first packet of a sequence always says so, because there is no earlier state. */
	if (h->dropped && s->is_seen) {
		r->tally.damage[DAMAGE_PACKETS_DROPPED]++;
		s->nr_drops++;
	}
	s->is_seen = true;
	if (!err && (h->has_interned || h->has_defaults))
		err = take_state(r, s, h, in);
	return err;
}

static int ensure_state(struct reader *r, struct seq_now *s, uint32_t seq)
{
	if (s->state != NO_STATE)
		return 0;
	if (!grow_counted(r, &r->states, r->nr_states, &r->cap_states, sizeof(*r->states)))
		return -ENOMEM;
	s->state = (uint32_t)r->nr_states;
	r->states[r->nr_states++] = (struct seq_state){
		.seq = seq,
		/* Table 0 is empty: an invalid generation knows no words. */
		.interned = s->is_valid ? s->interned : 0,
		.is_valid = s->is_valid,
		.default_track = s->default_track,
		.defaults = s->defaults,
	};
	return 0;
}

/* Whether the bundle is the first of its CPU, or packets of the sequence were lost since the last one. */
static int follows_what(struct reader *r, const struct seq_now *s, struct pb_in in, uint16_t *flags)
{
	struct reader_index *ix = r->index;
	struct pb_field f;
	uint32_t cpu = UINT32_MAX, at;

	if (pb_next(&in, &f) && f.nr == BUNDLE_CPU && f.type == PB_VARINT)
		cpu = (uint32_t)f.value;
	if (map_find(ix->cpus, &cpu, &at)) {
		*flags |= ix->cpu_drops[at] != s->nr_drops ? PACKET_AFTER_LOSS : 0;
		ix->cpu_drops[at] = s->nr_drops;
		return 0;
	}
	*flags |= PACKET_FIRST_OF_CPU;
	if (GROW(ix->cpu_drops, ix->cap_cpus, ix->nr_cpus))
		return -ENOMEM;
	if (map_insert(ix->cpus, &cpu, (uint32_t)ix->nr_cpus) < 0)
		return 0; /* too many to be true */
	ix->cpu_drops[ix->nr_cpus++] = s->nr_drops;
	return 0;
}

static enum payload payload_of(uint32_t nr)
{
	switch (nr) {
	case PACKET_FTRACE_EVENTS:
		return PAYLOAD_FTRACE;
	case PACKET_TRACK_EVENT:
		return PAYLOAD_TRACK_EVENT;
	case PACKET_PERF_SAMPLE:
		return PAYLOAD_PERF_SAMPLE;
	case PACKET_GENERIC_TASK_STATE:
		return PAYLOAD_TASK_STATE;
	case PACKET_GENERIC_TASK_RENAME:
		return PAYLOAD_TASK_RENAME;
	case PACKET_GENERIC_CPU_FREQ:
		return PAYLOAD_CPU_FREQ;
	default:
		return PAYLOAD_NONE;
	}
}

static int note_packet(struct reader *r, struct seq_now *s, const struct packet_head_in *h,
                       uint32_t clock)
{
	struct packet *pk;
	uint16_t flags = h->seq ? PACKET_HAS_SEQ : 0;
	int err = ensure_state(r, s, h->seq);

	if (!err && h->payload == PACKET_FTRACE_EVENTS) {
		meta_bundle(r, h);
		err = follows_what(r, s, h->body, &flags);
	}
	if (err)
		return err;
	if (pb_left(&h->body) > UINT32_MAX || r->nr_packets == r->cfg.max_packets) {
		r->tally.damage[DAMAGE_OVER_CAP]++;
		return 0;
	}
	if (!grow_counted(r, &r->packets, r->nr_packets, &r->cap_packets, sizeof(*pk)))
		return -ENOMEM;
	pk = &r->packets[r->nr_packets++];
	*pk = (struct packet){
		.body = h->body.p,
		.raw_ts = h->ts,
		.len = (uint32_t)pb_left(&h->body),
		.state = s->state,
		.clock = clock,
		.kind = (uint16_t)payload_of(h->payload),
		.flags = flags,
	};
	return 0;
}

/* Of the packet, of its sequence, else the trace's own. */
static uint32_t clock_of(struct reader *r, const struct seq_now *s, const struct packet_head_in *h)
{
	uint32_t id = h->clock_id ? h->clock_id : s->default_clock;

	return id ? clocks_get(&r->clocks, id, h->seq) : CLOCK_OF_TRACE;
}

static bool is_usable(struct reader *r, const struct seq_now *s, const struct packet_head_in *h)
{
	if (!(h->flags & SEQ_NEEDS_STATE))
		return true;
	if (h->seq && s->is_valid)
		return true;
	r->tally.damage[h->seq ? DAMAGE_SKIPPED_SEQ_INVALID : DAMAGE_SKIPPED_NO_SEQ]++;
	return false;
}

static int index_packet(struct reader *r, struct pb_in in)
{
	struct reader_index *ix = r->index;
	struct packet_head_in h;
	struct seq_now *s;
	uint32_t seq, clock;
	int err;

	if (in.p == in.end)
		return 0;
	r->tally.totals[OF_PACKETS]++;
	if (!read_head(in, &h)) {
		r->tally.damage[DAMAGE_PACKET_BAD]++;
		return 0;
	}
	r->info.nr_packets++;
	if (h.machine) {
		r->tally.damage[DAMAGE_OTHER_MACHINE]++;
		return 0;
	}
	err = find_seq(ix, h.seq, &seq);
	if (err)
		return err == -E2BIG ? 0 : err;
	s = &ix->seqs[seq];
	err = update_seq(r, s, &h, in);
	if (err || !h.payload || !is_usable(r, s, &h))
		return err;
	clock = clock_of(r, s, &h);
	if (h.ts != NO_TS && clock != CLOCK_OF_TRACE)
		h.ts = clocks_take(&r->clocks, clock, h.ts);
	if (payload_of(h.payload) != PAYLOAD_NONE)
		return note_packet(r, s, &h, clock);
	return meta_packet(r, &h,
	                   (struct name_when){ .ts_ns = h.ts == NO_TS ? 0 : h.ts, .clock = clock });
}

static int walk(struct reader *r, const struct segment *seg)
{
	bool is_block = seg->kind != INFLATE_NONE;
	struct pb_in in = pb_in_of(is_block ? seg->plain.bytes : seg->bytes,
	                           is_block ? seg->plain.len : seg->len);
	const uint8_t *at = in.p;
	struct pb_field f;
	int err = 0;

	for (; !err && pb_next(&in, &f); at = in.p)
		if (f.nr == TRACE_PACKET && f.type == PB_BYTES)
			err = index_packet(r, pb_in_field(&f));
	if (in.is_bad)
		r->tally.damage[DAMAGE_TRUNCATED_BYTES] += (uint64_t)(in.end - at);
	return err;
}

int index_trace(struct reader *r, const uint8_t *bytes, size_t len)
{
	struct reader_index *ix = calloc(1, sizeof(*ix));
	uint32_t none, table;
	int err;

	r->index = ix;
	if (!ix || map_new(sizeof(uint32_t), SEQUENCES, &ix->seq_ids) < 0 ||
	    map_new(sizeof(uint32_t), SEQUENCES, &ix->cpus) < 0)
		return -ENOMEM;
	err = new_table(r, &table);
	if (!err)
		err = find_seq(ix, 0, &none);
	if (!err)
		err = split(r, pb_in_of(bytes, len));
	if (!err)
		err = unpack_all(r);
	for (size_t i = 0; i < ix->nr_segments && !err; i++)
		err = walk(r, &ix->segments[i]);
	return err;
}
