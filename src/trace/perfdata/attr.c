/* The events that were asked for: perf_event_attr, its ids, and where a record has what. */
#include "trace/perfdata/perfdata.h"

#include <errno.h>
#include <stdio.h>

#include "base/grow.h"

#define ATTRS_MAX      65536U
#define IDS_MAX        (1U << 22)
#define ATTR_MIN_BYTES 64U
#define TEXT_MAX       256U

enum { /* offsets in perf_event_attr */
       ATTR_TYPE = 0,
       ATTR_CONFIG = 8,
       ATTR_PERIOD = 16,
       ATTR_SAMPLE_TYPE = 24,
       ATTR_READ_FORMAT = 32,
       ATTR_FLAGS = 40,
       ATTR_BRANCH_TYPE = 72,
       ATTR_REGS_USER = 80,
       ATTR_CLOCKID = 92,
       ATTR_REGS_INTR = 96,
};

enum { /* bits of its flags */
       FLAG_FREQ = 10,
       FLAG_ENABLE_ON_EXEC = 12,
       FLAG_SAMPLE_ID_ALL = 18,
       FLAG_USE_CLOCKID = 25,
};

/* Bit fields begin at the other end of a byte on big-endian machines. */
static uint64_t flags_of_attr(const struct perfdata *d, const uint8_t *p)
{
	uint64_t flags = 0;

	for (unsigned int i = 0; i < 8; i++) {
		uint64_t byte = p[i];

		if (d->is_big) {
			byte = (byte & 0xf0) >> 4 | (byte & 0x0f) << 4;
			byte = (byte & 0xcc) >> 2 | (byte & 0x33) << 2;
			byte = (byte & 0xaa) >> 1 | (byte & 0x55) << 1;
		}
		flags |= byte << 8 * i;
	}
	return flags;
}

static uint64_t word_at(const struct perfdata *d, const uint8_t *attr, size_t len, size_t at)
{
	return len >= at + 8 ? pd_u64(d, attr + at) : 0;
}

/* The order of a sample's fixed part. */
static void lay_out_sample(struct pd_attr *a)
{
	static const uint32_t order[] = { PD_IDENTIFIER, PD_IP,        PD_TID, PD_TIME,  PD_ADDR,
		                          PD_ID,         PD_STREAM_ID, PD_CPU, PD_PERIOD };
	uint16_t at = PD_HEADER_BYTES;

	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		if (!(a->sample_type & order[i]))
			continue;
		if (order[i] == PD_IDENTIFIER || (order[i] == PD_ID && !a->at_id))
			a->at_id = at;
		else if (order[i] == PD_IP)
			a->at_ip = at;
		else if (order[i] == PD_TID)
			a->at_tid = at;
		else if (order[i] == PD_TIME)
			a->at_time = at;
		else if (order[i] == PD_CPU)
			a->at_cpu = at;
		else if (order[i] == PD_PERIOD)
			a->at_period = at;
		at += 8;
	}
	a->fixed_end = at;
}

/* The order of the trailer, from the end of the record. */
static void lay_out_trailer(struct pd_attr *a)
{
	static const uint32_t order[] = { PD_IDENTIFIER, PD_CPU,  PD_STREAM_ID,
		                          PD_ID,         PD_TIME, PD_TID };
	uint16_t from_end = 0;

	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]) && a->has_trailer; i++) {
		if (!(a->sample_type & order[i]))
			continue;
		from_end += 8;
		if (order[i] == PD_CPU)
			a->end_cpu = from_end;
		else if (order[i] == PD_TIME)
			a->end_time = from_end;
		else if (order[i] == PD_TID)
			a->end_tid = from_end;
	}
	a->trailer = from_end;
}

/* Numbers of Perfetto for those of clock_gettime(); 0 = it has none. */
static uint32_t clock_of(int32_t clockid)
{
	switch (clockid) {
	case 0:
		return CLOCK_ID_REALTIME;
	case 1:
		return CLOCK_ID_MONOTONIC;
	case 4:
		return CLOCK_ID_MONOTONIC_RAW;
	case 7:
		return CLOCK_ID_BOOTTIME;
	default:
		return 0;
	}
}

static void take_clock(struct perfdata *d, const uint8_t *attr, size_t len)
{
	uint32_t clock = len >= ATTR_CLOCKID + 4 ? clock_of((int32_t)pd_u32(d, attr + ATTR_CLOCKID))
	                                         : 0;

	if (clock && !d->r->clocks.primary) {
		d->r->clocks.primary = clock;
		(void)clocks_get(&d->r->clocks, clock, 0);
	}
}

static void add_ids(struct perfdata *d, struct bytes_in ids, uint32_t attr)
{
	while (bytes_left(&ids) >= sizeof(uint64_t) && !d->err) {
		uint64_t id = bytes_u64(&ids);

		if (map_insert(d->ids, &id, attr) < 0) {
			if (map_nr(d->ids) < IDS_MAX)
				pd_fail(d, -ENOMEM);
			pd_damage(d, DAMAGE_OVER_CAP);
			return;
		}
	}
}

void pd_attr_add(struct perfdata *d, const uint8_t *attr, size_t len, struct bytes_in ids)
{
	struct pd_attr a = { 0 };
	uint64_t flags;

	if (len < ATTR_MIN_BYTES) {
		pd_damage(d, DAMAGE_SECTION_BAD);
		return;
	}
	if (d->nr_attrs == ATTRS_MAX) {
		pd_damage(d, DAMAGE_OVER_CAP);
		return;
	}
	if ((!d->ids && map_new(sizeof(uint64_t), IDS_MAX, &d->ids) < 0) ||
	    GROW(d->attrs, d->cap_attrs, d->nr_attrs)) {
		pd_fail(d, -ENOMEM);
		return;
	}
	flags = flags_of_attr(d, attr + ATTR_FLAGS);
	a.type = pd_u32(d, attr + ATTR_TYPE);
	a.config = pd_u64(d, attr + ATTR_CONFIG);
	a.period = pd_u64(d, attr + ATTR_PERIOD);
	a.sample_type = pd_u64(d, attr + ATTR_SAMPLE_TYPE);
	a.read_format = pd_u64(d, attr + ATTR_READ_FORMAT);
	a.branch_type = word_at(d, attr, len, ATTR_BRANCH_TYPE);
	a.regs_user = word_at(d, attr, len, ATTR_REGS_USER);
	a.regs_intr = word_at(d, attr, len, ATTR_REGS_INTR);
	a.is_freq = flags >> FLAG_FREQ & 1;
	a.is_on_exec = flags >> FLAG_ENABLE_ON_EXEC & 1;
	a.has_trailer = flags >> FLAG_SAMPLE_ID_ALL & 1;
	if (flags >> FLAG_USE_CLOCKID & 1)
		take_clock(d, attr, len);
	lay_out_sample(&a);
	lay_out_trailer(&a);
	d->has_identifier |= (a.sample_type & PD_IDENTIFIER) != 0;
	d->is_filtered |= a.is_on_exec;
	d->attrs[d->nr_attrs] = a;
	add_ids(d, ids, (uint32_t)d->nr_attrs++);
}

void pd_attr_name(struct perfdata *d, struct pd_attr *a, const char *name, size_t len)
{
	uint32_t text;

	if (len && intern_add(d->r->texts, name, len < TEXT_MAX ? len : TEXT_MAX, &text) == 0)
		a->name = text;
}

struct pd_attr *pd_attr_of_id(struct perfdata *d, uint64_t id)
{
	struct pd_id *slot = &d->id_cache[id % PD_ID_SLOTS];
	uint32_t attr;

	if (id && slot->id == id)
		return &d->attrs[slot->attr];
	if (!d->ids || !map_find(d->ids, &id, &attr))
		return NULL;
	*slot = (struct pd_id){ id, attr };
	return &d->attrs[attr];
}

/* Where the file does not name it. */
static const char *default_name(const struct pd_attr *a)
{
	static const char *const hardware[] = { "cycles",       "instructions",  "cache-references",
		                                "cache-misses", "branches",      "branch-misses",
		                                "bus-cycles",   "stalled-front", "stalled-back",
		                                "ref-cycles" };
	static const char *const software[] = {
		"cpu-clock",        "task-clock",   "page-faults",  "cs",
		"migrations",       "minor-faults", "major-faults", "alignment-faults",
		"emulation-faults", "dummy",        "bpf-output",   "cgroup-switches"
	};
	uint32_t config = (uint32_t)a->config; /* hybrid machines have the PMU in the upper half */

	if (a->type == PD_TYPE_HARDWARE && config < sizeof(hardware) / sizeof(hardware[0]))
		return hardware[config];
	if (a->type == PD_TYPE_SOFTWARE && config < sizeof(software) / sizeof(software[0]))
		return software[config];
	return "";
}

static void name_it(struct perfdata *d, struct pd_attr *a)
{
	const char *name = default_name(a);
	char text[48];

	if (!*name) {
		(void)snprintf(text, sizeof(text), "%s %llu",
		               a->type == PD_TYPE_TRACEPOINT ? "tracepoint" : "event",
		               (unsigned long long)a->config);
		name = text;
	}
	pd_attr_name(d, a, name, strlen(name));
}

static bool is_of_cpu(const char *name, size_t len)
{
	static const char *const clocks[] = { "cpu-clock", "task-clock", "cycles", "cpu-cycles",
		                              "ref-cycles" };
	const char *slash = len > 1 ? memchr(name, '/', len - 1) : NULL; /* "cpu_core/cycles/" */

	if (slash) {
		len -= (size_t)(slash + 1 - name);
		name = slash + 1;
	}
	for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++)
		if (len >= strlen(clocks[i]) && memcmp(name, clocks[i], strlen(clocks[i])) == 0)
			return true;
	return false;
}

static uint8_t kind_of(const struct perfdata *d, const struct pd_attr *a)
{
	const char *name;
	size_t len;

	if (a->type == PD_TYPE_TRACEPOINT) {
		if (a->member == FTRACE_SCHED_SWITCH)
			return TRACE_SAMPLE_OFFCPU;
		if (a->member == FTRACE_SCHED_WAKING || a->member == FTRACE_SCHED_WAKEUP ||
		    a->member == FTRACE_SCHED_WAKEUP_NEW)
			return TRACE_SAMPLE_WAKER;
		return TRACE_SAMPLE_OTHER;
	}
	name = intern_string(d->r->texts, a->name, &len);
	return name && is_of_cpu(name, len) ? TRACE_SAMPLE_CPU : TRACE_SAMPLE_OTHER;
}

static void link_format(struct perfdata *d, struct pd_attr *a)
{
	const struct ftrace_format *format;

	if (a->type != PD_TYPE_TRACEPOINT || a->config > UINT16_MAX)
		return;
	format = ftrace_formats_find(&d->formats, (uint32_t)a->config);
	if (!format)
		return;
	a->format = (uint32_t)(format - d->formats.all) + 1;
	a->member = format->member;
	if (!a->name)
		a->name = format->name;
	if (a->member < FTRACE_KNOWN)
		d->members[a->member / 64] |= 1ULL << a->member % 64;
}

void pd_attrs_link(struct perfdata *d)
{
	for (size_t i = 0; i < d->nr_attrs && !d->err; i++) {
		struct pd_attr *a = &d->attrs[i];

		link_format(d, a);
		if (!a->name)
			name_it(d, a);
		a->kind = kind_of(d, a);
		if (a->kind == TRACE_SAMPLE_CPU && !d->r->info.sampling_frequency && a->is_freq)
			d->r->info.sampling_frequency = a->period;
	}
}

const struct pd_attr *pd_attr_of_sample(struct perfdata *d, const struct pd_record *rec)
{
	const struct pd_attr *first = d->attrs;
	uint16_t at;

	if (!d->nr_attrs)
		return NULL;
	if (d->nr_attrs == 1 && !d->has_identifier)
		return first;
	at = d->has_identifier ? PD_HEADER_BYTES : first->at_id;
	if (at == PD_ABSENT || rec->size < at + 8U)
		return d->nr_attrs == 1 ? first : NULL;
	return pd_attr_of_id(d, pd_u64(d, rec->bytes + at));
}

static const struct pd_attr *attr_of_other(struct perfdata *d, const struct pd_record *rec)
{
	const struct pd_attr *a = NULL;

	if (d->has_identifier && rec->size >= PD_HEADER_BYTES + 8U)
		a = pd_attr_of_id(d, pd_u64(d, rec->bytes + rec->size - 8));
	return a || !d->nr_attrs
	               ? a
	               : d->attrs; /* those that perf made up itself are laid out as the first */
}

struct pd_when pd_when_of(struct perfdata *d, const struct pd_record *rec, uint32_t *body_end)
{
	const struct pd_attr *a = attr_of_other(d, rec);
	const uint8_t *end = rec->bytes + rec->size;
	struct pd_when when = { .pid = PD_NONE, .tid = PD_NONE, .cpu = PD_NONE };

	*body_end = rec->size;
	if (!a || !a->trailer || rec->size < PD_HEADER_BYTES + (uint32_t)a->trailer)
		return when;
	*body_end -= a->trailer;
	if (a->end_tid) {
		when.pid = pd_u32(d, end - a->end_tid);
		when.tid = pd_u32(d, end - a->end_tid + 4);
	}
	if (a->end_time)
		when.ts_ns = pd_u64(d, end - a->end_time);
	if (a->end_cpu && when.ts_ns)
		when.cpu = pd_u32(d, end - a->end_cpu);
	return when;
}
