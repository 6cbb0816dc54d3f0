#include "analyze/summary_facts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/pass.h"
#include "analyze/sort_u64.h"
#include "base/cleanup.h"

#define MISMATCHES "mismatched_sched_switch_tids"

struct who {
	uint64_t processes;
	uint64_t threads;
	bool has_processes; /* of some thread the process is known */
};

/* A thread whose process is unknown stands for one; the idle task is nobody. */
static int count_who(const struct source *s, struct who *out)
{
	uint32_t nr = tasks_nr(s->tasks);
	SCOPED(scoped_free) uint64_t *ids = calloc(nr ? nr : 1, sizeof(*ids));
	uint32_t nr_ids = 0;

	*out = (struct who){ 0 };
	if (!ids)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr; i++) {
		const struct task *t = tasks_at(s->tasks, i);

		if (!t || !t->tid)
			continue;
		out->threads++;
		out->has_processes |= t->tgid != 0;
		/* A tid that was used twice is two processes, of which each had a leader. */
		if (!t->tgid || t->tgid == t->tid)
			out->processes++;
		else
			ids[nr_ids++] = t->tgid;
	}
	sort_u64(ids, nr_ids);
	for (uint32_t i = 0; i < nr_ids; i++)
		if ((!i || ids[i] != ids[i - 1]) &&
		    tasks_find(s->tasks, (uint32_t)ids[i]) == TASKS_NONE)
			out->processes++; /* its leader was not seen */
	return 0;
}

static void show_what(const struct source *s, const struct who *who, struct report *r)
{
	const struct source_facts *f = s->facts;

	report_string(r, "file", f->name);
	report_u64(r, "file_bytes", f->bytes);
	report_string(r, "trace_source", f->producer);
	report_double(r, "trace_duration_ms", (double)(s->end_ns - s->start_ns) / 1e6, 3);
	report_u64(r, "start_timestamp", s->start_ns);
	report_string(r, "clock", f->clock);
	if (f->unix_ns)
		report_u64(r, "start_unix_timestamp", f->unix_ns);
	else
		report_null(r, "start_unix_timestamp");
	report_string(r, "kernel", f->release);
	report_string(r, "machine", f->machine);
	report_u64(r, "num_cpus", f->nr_cpus);
	report_u64(r, "num_processes", who->processes);
	report_u64(r, "num_threads", who->threads);
	report_u64(r, "total_events", f->nr_events);
	/* A recorder may tell that it lost events, and not how many. */
	if (f->kinds[EV_LOST] && !f->lost)
		report_null(r, "lost_events");
	else
		report_u64(r, "lost_events", f->lost);
	report_bool(r, "is_scx_trace", f->has_scx);
	report_string(r, "scheduler", f->scheduler);
}

static void show_names(struct report *r, const char *key, const struct source_count *counts,
                       size_t nr)
{
	report_begin_array(r, key);
	for (size_t i = 0; i < nr; i++)
		if (counts[i].count)
			report_string(r, NULL, counts[i].name);
	report_end_array(r);
}

static void show_counts(struct report *r, const char *key, const struct source_count *counts,
                        size_t nr)
{
	report_begin_object(r, key);
	for (size_t i = 0; i < nr; i++)
		if (counts[i].count)
			report_u64(r, report_printf(r, "%s", counts[i].name), counts[i].count);
	report_end_object(r);
}

static void show_capabilities(const struct source *s, const struct who *who, struct report *r)
{
	const struct source_facts *f = s->facts;

	report_begin_object(r, "capabilities");
	show_names(r, "available_events", f->events, f->nr_events_names);
	show_counts(r, "event_counts", f->events, f->nr_events_names);
	show_names(r, "track_event_categories", f->categories, f->nr_categories);
	show_counts(r, "track_event_counts", f->categories, f->nr_categories);
	report_begin_array(r, "clock_sources");
	if (f->clock)
		report_string(r, NULL, f->clock);
	report_end_array(r);
	report_bool(r, "has_process_tree", who->has_processes);
	report_bool(r, "has_system_info", f->release || f->machine);
	report_null(r, "has_process_stats"); /* not looked for */
	report_bool(r, "has_topology", f->places != NULL);
	report_bool(r, "has_perf_counters", f->kinds[EV_PMU] != 0);
	report_bool(r, "has_perf_samples", f->kinds[EV_SAMPLE] != 0);
	report_bool(r, "has_sched_ext", f->has_scx);
	report_begin_array(r, "time_range");
	report_u64(r, NULL, s->start_ns);
	report_u64(r, NULL, s->end_ns);
	report_end_array(r);
	report_u64(r, "num_cpus", f->nr_cpus);
	report_u64(r, "num_processes", who->processes);
	report_u64(r, "total_events", f->nr_events);
	report_string(r, "trace_source", f->producer);
	report_end_object(r);
}

static void show_one_damage(struct report *r, const char *what, uint64_t count)
{
	report_begin_object(r, NULL);
	report_string(r, "what", what);
	report_u64(r, "count", count);
	report_end_object(r);
}

/* What the recorder told of itself, and what does not fit together: the larger where both count the same. */
static void show_damage(const struct source *s, struct report *r)
{
	const struct source_facts *f = s->facts;
	bool is_told = false;
	struct pair_breaks b;

	pair_breaks(s->pair, &b);
	report_begin_array(r, "damage");
	for (size_t i = 0; i < f->nr_damage; i++) {
		bool is_same = !strcmp(f->damage[i].name, MISMATCHES);
		uint64_t count = f->damage[i].count;

		is_told |= is_same;
		if (is_same && b.prev_mismatch > count)
			count = b.prev_mismatch;
		show_one_damage(r, f->damage[i].name, count);
	}
	if (b.prev_mismatch && !is_told)
		show_one_damage(r, MISMATCHES, b.prev_mismatch);
	report_end_array(r);
}

static void show_by_category(const struct source *s, struct report *r)
{
	static const char *const categories[] = { "scheduling", "interrupt", "io",
		                                  "power",      "extended",  "query" };

	report_begin_object(r, "analyzers_by_category");
	for (size_t c = 0; c < sizeof(categories) / sizeof(categories[0]); c++) {
		report_begin_array(r, categories[c]);
		for (size_t i = 0; i < nr_passes; i++)
			if (!strcmp(passes[i]->category, categories[c]) &&
			    pass_applies(passes[i], s))
				report_string(r, NULL, passes[i]->name);
		report_end_array(r);
	}
	report_end_object(r);
}

static void show_analyses(const struct source *s, struct report *r)
{
	char missing[160];
	uint32_t nr = 0;

	report_begin_array(r, "applicable_analyses");
	for (size_t i = 0; i < nr_passes; i++)
		if (pass_applies(passes[i], s)) {
			report_string(r, NULL, passes[i]->id);
			nr++;
		}
	report_end_array(r);
	report_u64(r, "applicable_analyzers", nr);
	show_by_category(s, r);
	report_begin_array(r, "inapplicable_analyses");
	for (size_t i = 0; i < nr_passes; i++) {
		if (pass_applies(passes[i], s))
			continue;
		report_begin_object(r, NULL);
		report_string(r, "id", passes[i]->id);
		report_string(r, "missing", pass_missing(passes[i], s, missing, sizeof(missing)));
		report_end_object(r);
	}
	report_end_array(r);
}

int summary_facts(const struct source *s, struct report *r, struct diag *d)
{
	struct who who;
	int err = count_who(s, &who);

	if (err)
		return diag_set(d, err, NULL, "out of memory");
	show_what(s, &who, r);
	show_capabilities(s, &who, r);
	show_analyses(s, r);
	show_damage(s, r);
	return 0;
}
