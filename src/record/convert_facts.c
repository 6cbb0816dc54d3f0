#include "record/convert_facts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "abi/event_check.h"
#include "base/cleanup.h"
#include "base/json_write.h"
#include "base/version.h"

#define CLOCK_BOOT     6U /* Perfetto's number of it */
#define OWN_ATTRS      13U
#define TOPOLOGY_BYTES 100000U /* packets end at 128 kB */
#define PASSED_BYTES   16000U  /* of other attributes, in the same packet */
/* States are written as kernels have them since then; readers go by the release, and take none for an old one. */
#define OF_STATES "4.14.0 or later"

static const char *known(const char *text)
{
	return text && *text ? text : NULL;
}

static bool begins(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* Those that the writer, or this file, writes anew. */
static bool is_renewed(const char *key)
{
	static const char *const whole[] = { "tool",     "tool_version",    "records",
		                             "end_ns",   "late_timestamps", "broken_switches",
		                             "lost",     "sampling_one_in", "measures",
		                             "start_ns", "clock",           "incomplete",
		                             "topology", "scheduler",       "recorded_release" };
	static const char *const parts[] = { "end_ns.cpu", "lost.",      "loss.",
		                             "damage.",    "damage_of.", "converted_" };

	for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++)
		if (strcmp(key, whole[i]) == 0)
			return true;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (begins(key, parts[i]))
			return true;
	return false;
}

static const struct trace_key *find_attr(const struct trace_info *info, const char *key)
{
	for (size_t i = 0; i < info->nr_attrs; i++)
		if (strcmp(info->attrs[i].key, key) == 0)
			return &info->attrs[i];
	return NULL;
}

static const char *find_text(const struct trace_info *info, const char *key)
{
	const struct trace_key *attr = find_attr(info, key);

	return attr ? attr->text : NULL;
}

static void put_place(struct json_writer *w, const char *key, int32_t place)
{
	if (place >= 0)
		jw_i64(w, key, place);
}

/* As our recorder has it; NULL if it is unknown or too large. */
static const char *make_topology(const struct trace_info *info, struct arena *mem)
{
	const char *same = find_text(info, "topology");
	SCOPED(scoped_free) char *text = NULL;
	struct json_writer w;
	size_t size = 0;
	char nr[16];
	FILE *out;

	if (same || !info->has_topology)
		return same && strlen(same) <= TOPOLOGY_BYTES ? same : NULL;
	out = open_memstream(&text, &size);
	if (!out)
		return NULL;
	jw_init(&w, out, false);
	jw_begin_object(&w, NULL);
	jw_begin_object(&w, "cpus");
	for (size_t i = 0; i < info->nr_cpus; i++) {
		const struct trace_cpu_info *c = &info->cpus[i];

		(void)snprintf(nr, sizeof(nr), "%u", c->cpu);
		jw_begin_object(&w, nr);
		put_place(&w, "llc", c->llc);
		put_place(&w, "core", c->core);
		put_place(&w, "numa", c->node);
		if (c->isolated > 0)
			put_place(&w, "isolated", c->isolated);
		jw_end_object(&w);
	}
	jw_end_object(&w);
	jw_end_object(&w);
	(void)!jw_finish(&w);
	return fclose(out) || size > TOPOLOGY_BYTES ? NULL : arena_strdup(mem, text);
}

struct attr_list {
	struct trace_attr *attrs;
	size_t nr;
};

static void add_text(struct attr_list *l, const char *key, const char *text)
{
	if (text)
		l->attrs[l->nr++] = (struct trace_attr){ .key = key, .text = text };
}

static void add_number(struct attr_list *l, const char *key, uint64_t number)
{
	l->attrs[l->nr++] = (struct trace_attr){ .key = key, .number = (int64_t)number };
}

static bool has_new_states(const struct trace_info *info)
{
	return known(info->release) && strcmp(info->sysname, "Linux") == 0 &&
	       trace_states_are_new(info->release);
}

/* A file that was converted before keeps what it was first. */
static void add_origin(struct attr_list *l, const struct trace_info *info)
{
	const char *format = find_text(info, "converted_format");

	add_text(l, "converted_from", info->producer_name);
	add_text(l, "converted_from_version", known(info->producer_version));
	add_text(l, "converted_format", format ? format : known(info->format));
	add_text(l, "incomplete", info->incomplete);
	add_text(l, "scheduler", known(info->scheduler));
	if (!has_new_states(info))
		add_text(l, "recorded_release", known(info->release) ? info->release : "unknown");
	if (info->has_time)
		add_number(l, "start_ns", info->start_ns);
	if (info->clock != CLOCK_BOOT)
		add_number(l, "clock", info->clock);
}

static int make_attrs(struct convert_facts *f, struct arena *mem)
{
	const struct trace_info *info = f->info;
	struct attr_list l = { .attrs = ARENA_ARRAY(mem, struct trace_attr,
		                                    info->nr_attrs + 2 * info->nr_damage +
		                                            OWN_ATTRS) };

	size_t bytes = 0;

	if (!l.attrs)
		return -ENOMEM;
	add_origin(&l, info);
	add_text(&l, "topology", make_topology(info, mem));
	for (size_t i = 0; i < info->nr_damage; i++) {
		const struct trace_damage *damage = &info->damage[i];
		const char *key = arena_printf(mem, "damage.%s", damage->name);
		const char *of = arena_printf(mem, "damage_of.%s", damage->name);

		if (!key || !of)
			return -ENOMEM;
		add_number(&l, key, damage->count);
		if (damage->of)
			add_number(&l, of, damage->of);
	}
	for (size_t i = 0; i < info->nr_attrs; i++) {
		const struct trace_key *attr = &info->attrs[i];

		if (is_renewed(attr->key))
			continue;
		bytes += strlen(attr->key) + (attr->text ? strlen(attr->text) : 0) + 32;
		if (bytes > PASSED_BYTES)
			break;
		l.attrs[l.nr++] = (struct trace_attr){ attr->key, attr->text, attr->number };
	}
	f->cfg.attrs = l.attrs;
	f->cfg.nr_attrs = l.nr;
	return 0;
}

/* Readers take the CPUs for 0, 1, ...: with gaps between them nothing is written. */
static int list_cpus(struct convert_facts *f, struct arena *mem)
{
	const struct trace_info *info = f->info;
	struct trace_cpu *cpus = ARENA_ARRAY(mem, struct trace_cpu, info->nr_cpus + 1);

	if (!cpus)
		return -ENOMEM;
	for (size_t i = 0; i < info->nr_cpus; i++) {
		if (info->cpus[i].cpu != i || !info->cpus[i].capacity)
			return 0;
		cpus[i].capacity = info->cpus[i].capacity;
	}
	f->cfg.cpus = cpus;
	f->cfg.nr_cpus = info->nr_cpus;
	return 0;
}

static int by_value(const void *a, const void *b)
{
	const struct trace_symbol *x = a, *y = b;

	return x->value < y->value ? -1 : x->value > y->value;
}

static int by_tgid(const void *a, const void *b)
{
	const struct trace_process *x = a, *y = b;

	return x->tgid < y->tgid ? -1 : x->tgid > y->tgid;
}

static bool find_symbol(void *ctx, uint32_t tgid, uint64_t address, char *buf, size_t size)
{
	const struct convert_facts *f = ctx;
	const struct trace_symbol key = { .value = address };
	const struct trace_symbol *found = tgid || !f->info->nr_symbols
	                                           ? NULL
	                                           : bsearch(&key, f->symbols, f->info->nr_symbols,
	                                                     sizeof(key), by_value);

	if (!found || !*found->name)
		return false;
	(void)snprintf(buf, size, "%s", found->name);
	return true;
}

/* The arguments are joined by now: they are written as one. */
static size_t find_cmdline(void *ctx, uint32_t tgid, char *buf, size_t size)
{
	const struct convert_facts *f = ctx;
	const struct trace_process key = { .tgid = tgid };
	const struct trace_process *found = !f->info->nr_processes
	                                            ? NULL
	                                            : bsearch(&key, f->info->processes,
	                                                      f->info->nr_processes, sizeof(key),
	                                                      by_tgid);
	size_t len = found ? strnlen(found->cmdline, size) : 0;

	if (len)
		memcpy(buf, found->cmdline, len);
	return len;
}

/* Once: all that is known is the distance at the start. */
static bool find_clocks(void *ctx, struct trace_clocks *out)
{
	struct convert_facts *f = ctx;
	const struct trace_info *info = f->info;

	if (!f->has_clocks_left)
		return false;
	f->has_clocks_left = false;
	*out = (struct trace_clocks){ .boot_ns = info->start_ns };
	if (info->has_wall_clock)
		out->real_ns = info->start_real_ns;
	if (info->has_mono)
		out->mono_ns = info->start_ns + (uint64_t)info->mono_offset_ns;
	return true;
}

static int sort_symbols(struct convert_facts *f, struct arena *mem)
{
	const struct trace_info *info = f->info;

	f->symbols = ARENA_ARRAY(mem, struct trace_symbol, info->nr_symbols + 1);
	if (!f->symbols)
		return -ENOMEM;
	if (info->nr_symbols) {
		memcpy(f->symbols, info->symbols, info->nr_symbols * sizeof(*f->symbols));
		qsort(f->symbols, info->nr_symbols, sizeof(*f->symbols), by_value);
	}
	return 0;
}

int convert_facts_init(struct convert_facts *f, const struct trace_info *info, struct arena *mem)
{
	int err;

	*f = (struct convert_facts){
		.info = info,
		.has_clocks_left = info->has_time && (info->clock == CLOCK_BOOT ||
		                                      info->has_wall_clock || info->has_mono),
		.system = { .sysname = "Linux",
		            .release = has_new_states(info) ? info->release : OF_STATES,
		            .version = known(info->version),
		            .machine = known(info->machine),
		            .machine_name = known(info->machine_name),
		            .nr_cpus = info->nr_cpus_reported },
		.cfg = { .tool = "schedscope",
		         .version = schedscope_version,
		         .enabled = info->enabled,
		         .nr_enabled = info->nr_enabled,
		         .pmu_names = info->pmu_names,
		         .nr_pmu_names = info->nr_pmu_names,
		         .sampling = { .frequency = info->sampling_frequency },
		         .calls = { .ctx = f,
		                    .clocks = find_clocks,
		                    .symbol = find_symbol,
		                    .cmdline = find_cmdline } },
	};
	f->cfg.system = &f->system;
	if (getrandom(&f->cfg.uuid, sizeof(f->cfg.uuid), GRND_NONBLOCK) !=
	    (ssize_t)sizeof(f->cfg.uuid))
		f->cfg.uuid = (struct trace_uuid){ 0 };
	err = sort_symbols(f, mem);
	if (!err)
		err = list_cpus(f, mem);
	return err ? err : make_attrs(f, mem);
}

/* One attribute of the end of a file of ours; how many of a kind. */
static uint64_t lost_of(const struct trace_key *attr, struct trace_losses *out)
{
	const char *name = attr->key + strlen("lost.");
	unsigned int kind = begins(attr->key, "lost.") ? ev_kind_by_name(name) : 0;
	enum loss loss;

	if (begins(attr->key, "loss.") && loss_by_name(name, &loss))
		out->run.nr[loss] = (uint64_t)attr->number;
	else if (strcmp(attr->key, "lost.skipped_by_the_kernel") == 0)
		return out->skipped = (uint64_t)attr->number;
	else if (strcmp(attr->key, "lost.damaged") == 0)
		return out->damaged = (uint64_t)attr->number;
	else if (kind)
		return out->kinds[kind] = (uint64_t)attr->number;
	return 0;
}

void convert_losses(const struct trace_info *info, struct trace_losses *out)
{
	const struct trace_key *lost = find_attr(info, "lost");
	uint64_t sum = 0, all = 0;

	*out = (struct trace_losses){ 0 };
	if (info->producer != TRACE_BY_US) {
		for (size_t i = 0; i < info->nr_cpus; i++)
			out->other += info->cpus[i].nr_lost;
		return;
	}
	for (size_t i = 0; i < info->nr_attrs; i++)
		if (!info->attrs[i].text && info->attrs[i].number > 0)
			sum += lost_of(&info->attrs[i], out);
	if (lost && !lost->text && lost->number > 0)
		all = (uint64_t)lost->number;
	out->other = all > sum ? all - sum : 0;
}
