#include "trace/perfetto/meta_in.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "trace/perfetto/schema.h"

#define ATTRS_MAX   65536U
#define ENABLED_MAX 65536U

enum { /* TracingServiceEvent, TraceStats, FtraceStats and its FtraceCpuStats */
       SERVICE_TRACING_STARTED = 2,
       SERVICE_TRACING_DISABLED = 5,
       TRACE_STATS_FINAL_FLUSH = 15,
       STATS_PHASE = 1,
       STATS_CPUS = 2,
       STATS_PRESERVE_BUFFER = 8,
       STATS_PHASE_END = 2,
       CPU_STATS_CPU = 1,
       CPU_STATS_OVERRUN = 3,
       CPU_STATS_DROPPED = 8,
};

int meta_new(struct reader *r)
{
	struct reader_meta *m = calloc(1, sizeof(*m));

	r->meta = m;
	if (!m || map_new(sizeof(uint32_t), META_CPUS_MAX, &m->cpu_ids) < 0 ||
	    map_new(sizeof(uint32_t), ENABLED_MAX, &m->enabled_ids) < 0)
		return -ENOMEM;
	return 0;
}

void meta_done(struct reader *r)
{
	struct reader_meta *m = r->meta;

	if (!m)
		return;
	map_free(m->cpu_ids);
	map_free(m->enabled_ids);
	free(m->cpus);
	free(m->capacities);
	free(m->attrs);
	free(m->enabled);
	free(m);
	r->meta = NULL;
}

struct trace_cpu_info *meta_cpu(struct reader *r, uint32_t cpu)
{
	struct reader_meta *m = r->meta;
	uint32_t at;

	if (map_find(m->cpu_ids, &cpu, &at))
		return &m->cpus[at];
	if (cpu >= META_CPUS_MAX || map_insert(m->cpu_ids, &cpu, (uint32_t)m->nr_cpus) < 0)
		return NULL;
	if (GROW(m->cpus, m->cap_cpus, m->nr_cpus)) {
		(void)map_remove(m->cpu_ids, &cpu);
		return NULL;
	}
	m->cpus[m->nr_cpus] =
		(struct trace_cpu_info){ .cpu = cpu, .core = -1, .llc = -1, .node = -1 };
	return &m->cpus[m->nr_cpus++];
}

const char *meta_attr_text(const struct reader *r, const char *key)
{
	for (size_t i = 0; i < r->meta->nr_attrs; i++)
		if (r->meta->attrs[i].text && strcmp(r->meta->attrs[i].key, key) == 0)
			return r->meta->attrs[i].text;
	return NULL;
}

bool meta_attr_number(const struct reader *r, const char *key, uint64_t *out)
{
	for (size_t i = r->meta->nr_attrs; i > 0; i--) {
		const struct trace_key *attr = &r->meta->attrs[i - 1];

		if (attr->text || strcmp(attr->key, key) != 0)
			continue;
		*out = (uint64_t)attr->number;
		return attr->number >= 0;
	}
	return false;
}

static void read_utsname(struct reader *r, struct pb_in in)
{
	struct trace_info *info = &r->info;
	struct pb_field f;

	while (pb_next(&in, &f)) {
		if (f.type != PB_BYTES)
			continue;
		if (f.nr == UTSNAME_SYSNAME)
			info->sysname = info_text(r, f.bytes, f.value);
		else if (f.nr == UTSNAME_VERSION)
			info->version = info_text(r, f.bytes, f.value);
		else if (f.nr == UTSNAME_RELEASE)
			info->release = info_text(r, f.bytes, f.value);
		else if (f.nr == UTSNAME_MACHINE)
			info->machine = info_text(r, f.bytes, f.value);
	}
}

static void read_system(struct reader *r, struct pb_in in)
{
	struct pb_field f;

	while (pb_next(&in, &f)) {
		if (f.nr == SYSTEM_UTSNAME && f.type == PB_BYTES)
			read_utsname(r, pb_in_field(&f));
		else if (f.nr == SYSTEM_NUM_CPUS && f.type == PB_VARINT)
			r->info.nr_cpus_reported = (uint32_t)f.value;
		else if (f.nr == SYSTEM_MACHINE_NAME && f.type == PB_BYTES)
			r->info.machine_name = info_text(r, f.bytes, f.value);
		else if (f.nr == SYSTEM_SERVICE_VERSION && f.type == PB_BYTES)
			r->info.producer_version = info_text(r, f.bytes, f.value);
	}
}

static int add_attr(struct reader *r, struct pb_in in)
{
	struct reader_meta *m = r->meta;
	struct trace_key key = { .key = "" };
	struct pb_in text = { 0 };
	struct pb_field f;

	while (pb_next(&in, &f)) {
		if (f.nr == ATTRIBUTE_KEY && f.type == PB_BYTES) {
			key.key = info_text(r, f.bytes, f.value);
		} else if (f.nr == ATTRIBUTE_LONG && f.type == PB_VARINT) {
			key.number = (int64_t)f.value;
		} else if (f.nr == ATTRIBUTE_STRING && f.type == PB_BYTES) {
			text = pb_in_field(&f);
			key.text = info_text(r, f.bytes, f.value);
		}
	}
	if (key.text && strcmp(key.key, "topology") == 0)
		meta_topology(r, text.p, pb_left(&text));
	if (m->nr_attrs == ATTRS_MAX)
		return 0;
	if (GROW(m->attrs, m->cap_attrs, m->nr_attrs))
		return -ENOMEM;
	m->attrs[m->nr_attrs++] = key;
	return 0;
}

static int read_attributes(struct reader *r, struct pb_in in)
{
	struct pb_field f;
	int err = 0;

	while (!err && pb_next(&in, &f))
		if (f.nr == ATTRIBUTES_ATTRIBUTE && f.type == PB_BYTES)
			err = add_attr(r, pb_in_field(&f));
	return err;
}

static int read_cpu(struct reader *r, struct pb_in in)
{
	struct reader_meta *m = r->meta;
	uint32_t capacity = 0;
	struct pb_field f;

	while (pb_next(&in, &f))
		if (f.nr == CPU_CAPACITY && f.type == PB_VARINT)
			capacity = (uint32_t)f.value;
	if (m->nr_capacities == META_CPUS_MAX)
		return 0;
	if (GROW(m->capacities, m->cap_capacities, m->nr_capacities))
		return -ENOMEM;
	m->capacities[m->nr_capacities++] = capacity;
	return 0;
}

static int read_cpu_info(struct reader *r, struct pb_in in)
{
	struct pb_field f;
	int err = 0;

	r->meta->nr_capacities = 0;
	while (!err && pb_next(&in, &f))
		if (f.nr == CPU_INFO_CPUS && f.type == PB_BYTES)
			err = read_cpu(r, pb_in_field(&f));
	return err;
}

int meta_enabled(struct reader *r, const char *name, size_t len)
{
	struct reader_meta *m = r->meta;
	uint32_t id, seen;
	int err = intern_add(r->texts, name, len, &id);

	if (err == -ENOMEM)
		return err;
	if (err || map_find(m->enabled_ids, &id, &seen))
		return 0;
	if (map_insert(m->enabled_ids, &id, 0) < 0)
		return 0;
	if (GROW(m->enabled, m->cap_enabled, m->nr_enabled))
		return -ENOMEM;
	m->enabled[m->nr_enabled++] = info_text(r, name, len);
	return 0;
}

static int read_ftrace_config(struct reader *r, struct pb_in in)
{
	struct pb_field f;
	int err = 0;

	r->meta->has_ftrace_source = true;
	while (!err && pb_next(&in, &f))
		if (f.nr == FTRACE_CONFIG_EVENTS && f.type == PB_BYTES)
			err = meta_enabled(r, (const char *)f.bytes, f.value);
	return err;
}

/* TraceConfig, DataSource and DataSourceConfig: down to the only leaf that we want. */
static int read_config(struct reader *r, struct pb_in in, int depth)
{
	static const uint32_t path[] = { CONFIG_DATA_SOURCES, DATA_SOURCE_CONFIG,
		                         SOURCE_CONFIG_FTRACE };
	struct pb_in stack[3];
	struct pb_field f;
	int err = 0;

	stack[0] = in;
	while (!err && depth >= 0) {
		if (!pb_next(&stack[depth], &f)) {
			depth--;
		} else if (f.nr != path[depth] || f.type != PB_BYTES) {
			continue;
		} else if (depth == 2) {
			err = read_ftrace_config(r, pb_in_field(&f));
		} else {
			stack[++depth] = pb_in_field(&f);
		}
	}
	return err;
}

static void read_service_event(struct reader *r, struct pb_in in, uint64_t ts_ns)
{
	struct pb_field f;

	r->meta->has_service_event = true;
	while (pb_next(&in, &f)) {
		if (f.nr == SERVICE_TRACING_STARTED && f.type == PB_VARINT && f.value)
			r->meta->tracing_started = ts_ns;
		else if (f.nr == SERVICE_TRACING_DISABLED && f.type == PB_VARINT && f.value)
			r->meta->has_disabled = true;
	}
}

static void read_trace_stats(struct reader *r, struct pb_in in)
{
	struct pb_field f;

	r->meta->has_trace_stats = r->meta->is_stats_last = true;
	while (pb_next(&in, &f))
		if (f.nr == TRACE_STATS_FINAL_FLUSH && f.type == PB_VARINT)
			r->meta->final_flush = f.value;
}

/* What the kernel's buffers lost until the end, less what they had lost before. */
static void read_cpu_stats(struct reader *r, struct pb_in in, bool is_end)
{
	struct trace_cpu_info *cpu;
	uint64_t nr = UINT64_MAX, lost = 0;
	struct pb_field f;

	while (pb_next(&in, &f)) {
		if (f.type != PB_VARINT)
			continue;
		if (f.nr == CPU_STATS_CPU)
			nr = f.value;
		else if (f.nr == CPU_STATS_OVERRUN || f.nr == CPU_STATS_DROPPED)
			lost += f.value;
	}
	cpu = nr < META_CPUS_MAX ? meta_cpu(r, (uint32_t)nr) : NULL;
	if (cpu)
		cpu->nr_lost = is_end ? lost + cpu->nr_lost : 0 - lost;
}

static void read_ftrace_stats(struct reader *r, struct pb_in in)
{
	struct pb_in again = in;
	bool is_end = false;
	struct pb_field f;

	r->meta->has_ftrace_stats = true;
	while (pb_next(&in, &f)) {
		if (f.nr == STATS_PHASE && f.type == PB_VARINT)
			is_end = f.value == STATS_PHASE_END;
		else if (f.nr == STATS_PRESERVE_BUFFER && f.type == PB_VARINT && f.value)
			r->meta->keeps_buffer = true;
	}
	while (pb_next(&again, &f))
		if (f.nr == STATS_CPUS && f.type == PB_BYTES)
			read_cpu_stats(r, pb_in_field(&f), is_end);
}

/* Payloads that we know and have no use for. */
static bool is_ignored(uint32_t nr)
{
	static const uint8_t numbers[] = { 7,  9,  36, 37, 38, 39, 40, 46, 47, 48, 49,
		                           54, 61, 64, 88, 89, 90, 91, 92, 94, 135 };

	for (size_t i = 0; i < sizeof(numbers); i++)
		if (numbers[i] == nr)
			return true;
	return false;
}

static int clock_snapshot(struct reader *r, const struct packet_head_in *head)
{
	bool is_good;
	int err = clocks_snapshot(&r->clocks, head->body.p, pb_left(&head->body), head->seq,
	                          &is_good);

	if (!is_good)
		r->tally.damage[DAMAGE_PACKET_BAD]++;
	return err;
}

void meta_bundle(struct reader *r, const struct packet_head_in *head)
{
	r->meta->has_bundle = true;
	r->meta->is_stats_last = false;
	r->meta->has_seq_bundle |= head->seq != 0;
	r->meta->has_pid_bundle |= head->has_pid;
	r->meta->has_uid |= head->has_uid;
}

int meta_packet(struct reader *r, const struct packet_head_in *head, struct name_when when)
{
	r->meta->has_uid |= head->has_uid;
	switch (head->payload) {
	case PACKET_PROCESS_TREE:
		r->meta->has_tree = true;
		return names_tree(&r->names, head->body, when);
	case PACKET_GENERIC_TREE:
		return names_generic_tree(&r->names, head->body, when);
	case PACKET_PROCESS_DESCRIPTOR:
		return names_process_desc(&r->names, head->body, when);
	case PACKET_THREAD_DESCRIPTOR:
		return names_thread_desc(&r->names, head->body, when);
	case PACKET_CLOCK_SNAPSHOT:
		return clock_snapshot(r, head);
	case PACKET_TRACE_CONFIG:
		return read_config(r, head->body, 0);
	case PACKET_TRACE_ATTRIBUTES:
		return read_attributes(r, head->body);
	case PACKET_CPU_INFO:
		return read_cpu_info(r, head->body);
	case PACKET_TRACK_DESCRIPTOR:
		return meta_track(r, head->body, when);
	case PACKET_SYSTEM_INFO:
		read_system(r, head->body);
		return 0;
	case PACKET_SERVICE_EVENT:
		read_service_event(r, head->body, when.ts_ns);
		return 0;
	case PACKET_TRACE_STATS:
		read_trace_stats(r, head->body);
		return 0;
	case PACKET_FTRACE_STATS:
		read_ftrace_stats(r, head->body);
		return 0;
	default:
		if (!is_ignored(head->payload))
			tally_other(&r->tally, false, head->payload);
		return 0;
	}
}

static int by_cpu(const void *a, const void *b)
{
	const struct trace_cpu_info *x = a, *y = b;

	return x->cpu < y->cpu ? -1 : x->cpu > y->cpu;
}

int meta_finish(struct reader *r)
{
	struct reader_meta *m = r->meta;
	struct trace_cpu_info *cpus = ARENA_ARRAY(r->mem, struct trace_cpu_info, m->nr_cpus + 1);
	struct trace_key *attrs = ARENA_ARRAY(r->mem, struct trace_key, m->nr_attrs + 1);
	const char **enabled = ARENA_ARRAY(r->mem, const char *, m->nr_enabled + 1);

	if (!cpus || !attrs || !enabled)
		return -ENOMEM;
	for (size_t i = 0; i < m->nr_cpus; i++) {
		cpus[i] = m->cpus[i];
		if (cpus[i].cpu < m->nr_capacities)
			cpus[i].capacity = m->capacities[cpus[i].cpu];
		if ((int64_t)cpus[i].nr_lost < 0)
			cpus[i].nr_lost = 0; /* there was no last count */
	}
	if (m->nr_cpus)
		qsort(cpus, m->nr_cpus, sizeof(*cpus), by_cpu);
	for (size_t i = 0; i < m->nr_attrs; i++)
		attrs[i] = m->attrs[i];
	for (size_t i = 0; i < m->nr_enabled; i++)
		enabled[i] = m->enabled[i];
	r->info.cpus = cpus;
	r->info.nr_cpus = m->nr_cpus;
	r->info.attrs = attrs;
	r->info.nr_attrs = m->nr_attrs;
	r->info.enabled = enabled;
	r->info.nr_enabled = m->nr_enabled;
	return 0;
}
