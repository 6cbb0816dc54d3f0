#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/grow.h"
#include "trace/ftrace/events.h"
#include "trace/perfetto/meta_in.h"
#include "trace/perfetto/schema.h"

bool grow_counted(const struct reader *r, void *array, size_t nr, size_t *cap, size_t size)
{
	size_t before = *cap;

	return nr < before || (!grow_size(array, cap, nr, size, false) &&
	                       budget_take(r->cfg.budget, (*cap - before) * size));
}

const char *info_text(struct reader *r, const void *s, size_t len)
{
	char *copy = arena_alloc(r->mem, len + 1, 1, 1);

	if (!copy)
		return "";
	if (len)
		memcpy(copy, s, len);
	return copy;
}

static int by_count(const void *a, const void *b)
{
	const struct trace_count *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return strcmp(x->name, y->name);
}

static size_t count_texts(const struct text_counts *t)
{
	size_t nr = 0;

	for (size_t i = 0; i < t->nr; i++)
		nr += t->counts[i] != 0;
	return nr;
}

static size_t put_texts(struct reader *r, const struct text_counts *t, struct trace_count *out)
{
	const char *s;
	size_t nr = 0, len;

	for (size_t i = 0; i < t->nr; i++) {
		if (!t->counts[i])
			continue;
		s = reader_text(r, (uint32_t)i, &len);
		out[nr++] = (struct trace_count){ .name = info_text(r, s, len),
			                          .count = t->counts[i] };
	}
	return nr;
}

static int put_events(struct reader *r)
{
	const struct read_counts *t = &r->tally;
	size_t nr = count_texts(&t->generic);
	struct trace_count *out;

	for (uint32_t i = 0; i < FTRACE_KNOWN; i++)
		nr += t->ftrace[i] != 0;
	out = ARENA_ARRAY(r->mem, struct trace_count, nr + 1);
	if (!out)
		return -ENOMEM;
	nr = put_texts(r, &t->generic, out);
	for (uint32_t i = 0; i < FTRACE_KNOWN; i++)
		if (t->ftrace[i] && ftrace_name(i))
			out[nr++] = (struct trace_count){ ftrace_name(i), t->ftrace[i] };
	qsort(out, nr, sizeof(*out), by_count);
	r->info.events = out;
	r->info.nr_events = nr;
	return 0;
}

static int put_categories(struct reader *r)
{
	size_t nr = count_texts(&r->tally.categories);
	struct trace_count *out = ARENA_ARRAY(r->mem, struct trace_count, nr + 1);

	if (!out)
		return -ENOMEM;
	nr = put_texts(r, &r->tally.categories, out);
	qsort(out, nr, sizeof(*out), by_count);
	r->info.categories = out;
	r->info.nr_categories = nr;
	return 0;
}

#define DAMAGE_BEFORE_MAX (NR_DAMAGE + 64U)

/* Events that are in no count of a CPU, as nothing came of them. */
static void add_events(struct read_counts *t)
{
	static const enum damage dropped[] = { DAMAGE_EVENT_NO_ID, DAMAGE_EVENT_NO_TS,
		                               DAMAGE_EVENT_BEFORE_START, DAMAGE_EVENT_SHORT,
		                               DAMAGE_EVENT_TWICE };

	for (size_t i = 0; i < sizeof(dropped) / sizeof(dropped[0]); i++)
		t->totals[OF_EVENTS] += t->damage[dropped[i]];
	for (size_t i = 0; i < t->nr_cpus; i++)
		t->totals[OF_EVENTS] += t->cpus[i].nr_events;
}

/* How many there were of what was damaged, in the file that this one was made from; 0 = it does not say. */
static uint64_t of_before(const struct reader *r, const char *name)
{
	static const char prefix[] = "damage_of.";

	for (size_t i = 0; i < r->meta->nr_attrs; i++) {
		const struct trace_key *attr = &r->meta->attrs[i];

		if (strncmp(attr->key, prefix, sizeof(prefix) - 1) == 0 && attr->number > 0 &&
		    strcmp(attr->key + sizeof(prefix) - 1, name) == 0)
			return (uint64_t)attr->number;
	}
	return 0;
}

/* Of a converted file: what was wrong with the one that it was made from. */
static size_t add_damage_before(const struct reader *r, struct trace_damage *out, size_t nr)
{
	static const char prefix[] = "damage.";

	for (size_t i = 0, k; r->is_converted && i < r->meta->nr_attrs; i++) {
		const struct trace_key *attr = &r->meta->attrs[i];

		if (strncmp(attr->key, prefix, sizeof(prefix) - 1) != 0 || attr->number <= 0)
			continue;
		for (k = 0; k < nr; k++)
			if (strcmp(out[k].name, attr->key + sizeof(prefix) - 1) == 0)
				break;
		if (k == nr && nr == DAMAGE_BEFORE_MAX)
			continue;
		if (k == nr)
			out[nr++] = (struct trace_damage){ attr->key + sizeof(prefix) - 1, 0, 0 };
		if (out[k].count < (uint64_t)attr->number) { /* losses are in both */
			out[k].count = (uint64_t)attr->number;
			out[k].of = of_before(r, out[k].name);
		}
	}
	return nr;
}

static int put_damage(struct reader *r)
{
	static const struct {
		const char *name;
		enum read_total of;
	} kinds[] = {
#define X(name, text, of) { text, OF_##of },
		DAMAGE(X)
#undef X
	};
	struct trace_damage *out = ARENA_ARRAY(r->mem, struct trace_damage, DAMAGE_BEFORE_MAX);
	struct trace_unknown *unknown = ARENA_ARRAY(r->mem, struct trace_unknown,
	                                            r->tally.nr_other + 1);
	size_t nr = 0;

	if (!out || !unknown)
		return -ENOMEM;
	add_events(&r->tally);
	for (int i = 0; i < NR_DAMAGE; i++)
		if (r->tally.damage[i])
			out[nr++] = (struct trace_damage){ kinds[i].name, r->tally.damage[i],
				                           r->tally.totals[kinds[i].of] };
	nr = add_damage_before(r, out, nr);
	for (size_t i = 0; i < r->tally.nr_other; i++)
		unknown[i] = r->tally.other[i];
	r->info.damage = out;
	r->info.nr_damage = nr;
	r->info.unknown = unknown;
	r->info.nr_unknown = r->tally.nr_other;
	return 0;
}

static int put_threads(struct reader *r)
{
	const struct names_in *n = &r->names;
	struct trace_thread *out = ARENA_ARRAY(r->mem, struct trace_thread, n->nr_threads + 1);
	size_t nr = 0;

	if (!out)
		return -ENOMEM;
	for (size_t i = 0; i < n->nr_threads; i++) {
		const struct name_thread *t = &n->threads[i];

		if (i + 1 < n->nr_threads && t[1].tid == t->tid)
			continue;
		out[nr++] = (struct trace_thread){
			.tid = t->tid,
			.tgid = t->tgid,
			.name = info_text(r, t->comm, strnlen(t->comm, EV_COMM_LEN)),
		};
	}
	r->info.threads = out;
	r->info.nr_threads = nr;
	return 0;
}

/* Arguments with spaces between them. */
static const char *join_cmdline(struct reader *r, const struct name_process *p)
{
	struct pb_in in = p->cmdline;
	struct pb_field f;
	size_t len = 0;
	char *out;

	while (pb_next(&in, &f))
		if (f.nr == p->cmdline_field && f.type == PB_BYTES)
			len += f.value + 1;
	out = len ? arena_alloc(r->mem, len, 1, 1) : NULL;
	if (!out)
		return "";
	in = p->cmdline;
	len = 0;
	while (pb_next(&in, &f)) {
		if (f.nr != p->cmdline_field || f.type != PB_BYTES)
			continue;
		if (len)
			out[len - 1] = ' ';
		memcpy(out + len, f.bytes, f.value);
		len += f.value + 1;
	}
	return out;
}

/* The last description of each; parts that it lacks come from earlier ones. */
static int put_processes(struct reader *r)
{
	const struct names_in *n = &r->names;
	struct trace_process *out = ARENA_ARRAY(r->mem, struct trace_process, n->nr_processes + 1);
	struct trace_process *at = NULL;
	const char *cmdline;
	size_t nr = 0;

	if (!out)
		return -ENOMEM;
	for (size_t i = 0; i < n->nr_processes; i++) {
		const struct name_process *p = &n->processes[i];

		if (!at || at->tgid != p->tgid) {
			at = &out[nr++];
			*at = (struct trace_process){ .tgid = p->tgid, .name = "", .cmdline = "" };
		}
		cmdline = join_cmdline(r, p);
		at->ppid = p->ppid ? p->ppid : at->ppid;
		at->is_kthread |= p->is_kthread;
		at->start_ns = p->start_ns ? p->start_ns : at->start_ns;
		at->cmdline = *cmdline ? cmdline : at->cmdline;
		if (pb_left(&p->name))
			at->name = info_text(r, p->name.p, pb_left(&p->name));
	}
	r->info.processes = out;
	r->info.nr_processes = nr;
	return 0;
}

/* All names of functions that records hold in place of an address, by value. */
static int put_symbols(struct reader *r)
{
	const struct text_counts *t = &r->tally.symbols;
	struct trace_symbol *out = ARENA_ARRAY(r->mem, struct trace_symbol, count_texts(t) + 1);
	size_t nr = 0, len;
	const char *s;

	if (!out)
		return -ENOMEM;
	for (size_t i = 0; i < t->nr; i++) {
		if (!t->counts[i])
			continue;
		s = reader_text(r, (uint32_t)i, &len);
		out[nr++] = (struct trace_symbol){ .value = READER_SYMBOL | i,
			                           .name = info_text(r, s, len) };
	}
	r->info.symbols = out;
	r->info.nr_symbols = nr;
	return 0;
}

static void put_time(struct reader *r)
{
	struct trace_info *info = &r->info;
	uint64_t mono, clock;

	info->has_time = r->tally.min_ts_ns <= r->tally.max_ts_ns;
	info->clock = r->clocks.nr ? r->clocks.all[r->clocks.trace].id : 0;
	if (r->is_converted && meta_attr_number(r, "clock", &clock))
		info->clock = (uint32_t)clock;
	if (!info->has_time)
		return;
	info->start_ns = r->tally.min_ts_ns;
	info->end_ns = r->tally.max_ts_ns;
	info->has_wall_clock = clocks_from_trace(&r->clocks, CLOCK_ID_REALTIME, info->start_ns,
	                                         &info->start_real_ns);
	info->has_mono = clocks_from_trace(&r->clocks, CLOCK_ID_MONOTONIC, info->start_ns, &mono);
	if (info->has_mono)
		info->mono_offset_ns = (int64_t)(mono - info->start_ns);
}

static void put_cpus(struct reader *r)
{
	for (size_t i = 0; i < r->tally.nr_cpus; i++) {
		const struct trace_cpu_info *from = &r->tally.cpus[i];
		struct trace_cpu_info *to = from->nr_events ? meta_cpu(r, from->cpu) : NULL;

		if (!to)
			continue;
		to->nr_events = from->nr_events;
		to->nr_losses = from->nr_losses;
		to->nr_lost += from->nr_lost;
		to->first_ts_ns = from->first_ts_ns;
		to->last_ts_ns = from->last_ts_ns;
		to->until_ns = from->until_ns;
	}
}

/* A converted file has a release for readers that go by it; what was recorded stands beside it. */
static void put_release(struct reader *r)
{
	const char *release = r->is_converted ? meta_attr_text(r, "recorded_release") : NULL;

	if (!release)
		return;
	r->info.release = strcmp(release, "unknown") ? release : "";
	if (!*r->info.release)
		r->info.sysname = "";
}

int info_finish(struct reader *r)
{
	int err;

	put_release(r);
	put_time(r);
	put_cpus(r);
	err = meta_finish(r);
	if (!err)
		err = put_events(r);
	if (!err)
		err = put_categories(r);
	if (!err)
		err = put_damage(r);
	if (!err)
		err = put_threads(r);
	if (!err)
		err = put_processes(r);
	return err ? err : put_symbols(r);
}
