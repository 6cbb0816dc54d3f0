#include <math.h>
#include <string.h>

#include "trace/perfetto/schema.h"
#include "trace/perfetto/tracks/schema_tracks.h"
#include "trace/perfetto/tracks/tracks_in.h"

#define DSQ_BUILTIN        (1ULL << 63)
#define SCX_COUNTER_PREFIX "scx event "

/* "DSQ 7 latency ns" and the like, taken apart. */
struct dsq_name {
	uint64_t id;
	struct track_text what;
};

static int digit_of(char c, unsigned int base)
{
	int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;

	return digit < (int)base ? digit : -1;
}

/* The kernel's own queues have names: how long that is, and the id. 0 if it is none. */
static size_t parse_builtin(struct track_text name, size_t at, uint64_t *id)
{
	static const struct {
		const char *name;
		uint64_t id;
	} names[] = {
		{ "GLOBAL ", DSQ_BUILTIN | 1 },
		{ "LOCAL ", DSQ_BUILTIN | 2 },
		{ "BYPASS ", DSQ_BUILTIN | 3 },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t len = strlen(names[i].name);

		if (name.len - at > len && memcmp(name.s + at, names[i].name, len) == 0) {
			*id = names[i].id;
			return len - 1;
		}
	}
	return 0;
}

static bool parse_dsq(struct track_text name, struct dsq_name *out)
{
	unsigned int base = 10;
	uint64_t id = 0;
	size_t at = 4;

	if (!track_text_begins(name, "DSQ "))
		return false;
	at += parse_builtin(name, at, &id);
	if (name.len > 6 && memcmp(name.s + 4, "0x", 2) == 0) {
		base = 16;
		at = 6;
	}
	for (; at < name.len && digit_of(name.s[at], base) >= 0; at++)
		id = id * base + (uint64_t)digit_of(name.s[at], base);
	if (at + 1 >= name.len || name.s[at] != ' ')
		return false;
	out->id = id;
	out->what = (struct track_text){ .s = name.s + at + 1, .len = name.len - at - 1 };
	return true;
}

static uint64_t positive(double value)
{
	return value >= 1.0 ? value < 1.8e19 ? (uint64_t)value : UINT64_MAX : 0;
}

static bool dsq_counter(struct track_at *at, const struct track_in *track, double value)
{
	struct ev_dsq_leave leave = { .layer = EV_NO_LAYER };
	struct ev_dsq_depth *depth;
	struct dsq_name name;
	uint64_t ns = positive(value);

	if (!parse_dsq(track->name, &name))
		return false;
	if (track_text_is(name.what, "nr_queued") || track_text_is(name.what, "depth")) {
		depth = track_rec(at, EV_DSQ_DEPTH, sizeof(*depth), at->cpu, at->ts_ns);
		depth->dsq_id = name.id;
		depth->depth = ns;
		return true;
	}
	if (!track_text_begins(name.what, "latency"))
		return false;
	/* Of our own recordings, where each stay is a slice too. */
	if (at->t->has_stays && track_text_is(name.what, "latency"))
		return true;
	/* scxtop says ns and means us. */
	if (track_text_is(name.what, "latency ns"))
		ns = ns < UINT64_MAX / 1000 ? 1000ULL * ns : UINT64_MAX;
	leave.dsq_id = name.id;
	leave.start_ns = ns < at->ts_ns ? at->ts_ns - ns : 0;
	track_dsq_leave(at, &leave);
	return true;
}

/* N of "what CPU N". */
static bool is_of_cpu(struct track_text name, const char *what, uint32_t *cpu)
{
	size_t at = strlen(what);
	uint32_t value = 0;

	if (!track_text_begins(name, what) || at == name.len || name.len - at > 6)
		return false;
	for (; at < name.len; at++) {
		if (digit_of(name.s[at], 10) < 0)
			return false;
		value = value * 10 + (uint32_t)digit_of(name.s[at], 10);
	}
	*cpu = value;
	return true;
}

static void pressure_counter(struct track_at *at, const struct track_in *track, double value)
{
	struct ev_hw_pressure *rec;
	uint32_t cpu;

	if (!is_of_cpu(track->name, "hw pressure CPU ", &cpu))
		return;
	rec = track_rec(at, EV_HW_PRESSURE, sizeof(*rec), cpu, at->ts_ns);
	rec->cpu = cpu;
	rec->pressure = positive(value);
}

static bool scx_counter(struct track_at *at, const struct track_in *track, double value)
{
	struct track_text name = track->name;
	struct ev_scx_counter *rec;

	if (!track_text_begins(name, SCX_COUNTER_PREFIX) || fabs(value) > 9e18)
		return false;
	name.s += strlen(SCX_COUNTER_PREFIX);
	name.len -= strlen(SCX_COUNTER_PREFIX);
	rec = track_rec(at, EV_SCX_COUNTER, sizeof(*rec), at->cpu, at->ts_ns);
	rec->value = (int64_t)value;
	track_comm(rec->name, sizeof(rec->name), name);
	return true;
}

static void count_on(struct track_at *at, struct track_in *track, bool has_int, int64_t i, double d)
{
	double value = d;

	if (has_int && track->flags & TRACK_IS_INCREMENTAL) {
		if (__builtin_add_overflow(track->sum, i, &track->sum))
			track->sum = i;
		i = track->sum;
	}
	if (has_int)
		value = (double)i * (double)track->multiplier;
	if (!isfinite(value))
		return;
	if (!dsq_counter(at, track, value) && !scx_counter(at, track, value))
		pressure_counter(at, track, value);
}

void track_counter(struct track_at *at)
{
	struct track_in *track = track_descs_get(at->t->descs, at->track_idx);

	if (!at->e.has_counter && !at->e.has_double) {
		track_damage(at, DAMAGE_TRACK_NO_VALUE);
		return;
	}
	count_on(at, track, at->e.has_counter, at->e.counter, at->e.double_counter);
}

/* The tracks of values that name none are given once for the whole sequence. */
static void default_uuids(struct pb_in in, uint32_t field, struct track_extras *out)
{
	struct pb_field f;
	uint64_t value;

	while (pb_next(&in, &f)) {
		if (f.nr != field || out->nr_uuids == TRACK_EXTRAS_MAX)
			continue;
		if (f.type == PB_VARINT) {
			out->uuids[out->nr_uuids++] = f.value;
		} else if (f.type == PB_BYTES) {
			struct pb_in list = pb_in_field(&f);

			while (out->nr_uuids < TRACK_EXTRAS_MAX && pb_left(&list) &&
			       pb_varint(&list, &value))
				out->uuids[out->nr_uuids++] = value;
		}
	}
}

static void extras(struct track_at *at, struct track_extras *x, bool is_double)
{
	struct pb_in in = at->r->states[at->packet->state].defaults;
	uint32_t index;
	struct pb_field f;

	while (!x->nr_uuids && pb_next(&in, &f))
		if (f.nr == PACKET_DEFAULTS_TRACK_EVENT && f.type == PB_BYTES)
			default_uuids(pb_in_field(&f),
			              is_double ? TRACK_DEFAULTS_EXTRA_DOUBLE_UUIDS
			                        : TRACK_DEFAULTS_EXTRA_UUIDS,
			              x);
	for (uint32_t i = 0; i < x->nr_values && i < x->nr_uuids; i++) {
		index = track_descs_find(at->t->descs, x->uuids[i]);
		if (index != TRACK_NONE)
			count_on(at, track_descs_get(at->t->descs, index), !is_double,
			         (int64_t)x->values[i], pb_to_double(x->values[i]));
	}
}

void track_extra_counters(struct track_at *at)
{
	extras(at, &at->e.extra, false);
	extras(at, &at->e.extra_double, true);
}
