#include "analyses/summary_facts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyses/passes.h"
#include "analyze/losses.h"
#include "analyze/pass.h"
#include "analyze/sort_u64.h"
#include "base/cleanup.h"
#include "query/event_fields.h"

#define MISMATCHES "mismatched_sched_switch_tids"

struct task_counts {
	uint64_t processes;
	uint64_t threads;
	bool has_processes; /* of some thread the process is known */
};

/* A thread whose process is unknown counts as one; the idle task is not a process. */
static int count_tasks(const struct source *s, struct task_counts *out)
{
	uint32_t nr = tasks_nr(s->tasks);
	SCOPED(scoped_free) uint64_t *ids = calloc(nr ? nr : 1, sizeof(*ids));
	uint32_t nr_ids = 0;

	*out = (struct task_counts){ 0 };
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

static void show_what(const struct source *s, const struct task_counts *counts, struct report *r)
{
	const struct source_facts *f = s->facts;

	report_string(r, "file", f->name);
	report_u64(r, "file_bytes", f->bytes);
	report_string(r, "trace_source", f->producer);
	report_double(r, "trace_duration_ms", (double)(s->end_ns - s->start_ns) / 1e6, 3);
	report_u64(r, "start_timestamp", s->start_ns);
	report_string(r, "clock", f->clock);
	report_u64_if(r, "start_unix_timestamp", f->unix_ns, f->unix_ns);
	report_string(r, "kernel", f->release);
	report_string(r, "machine", f->machine);
	report_string(r, "host", f->host);
	report_string(r, "boot_id", f->boot_id);
	report_begin_object(r, "metadata");
	for (size_t i = 0; i < f->nr_labels; i++)
		report_string(r, report_printf(r, "%s", f->labels[i].key), f->labels[i].value);
	report_end_object(r);
	report_u64(r, "num_cpus", f->nr_cpus);
	report_u64(r, "num_processes", counts->processes);
	report_u64(r, "num_threads", counts->threads);
	report_u64(r, "total_events", f->nr_events);
	/* A recorder may report that it lost events, but not how many. */
	if (f->kinds[EV_LOST] && !f->lost)
		report_null(r, "lost_events");
	else
		report_u64(r, "lost_events", f->lost);
	report_bool(r, "is_scx_trace", f->has_scx);
	report_string(r, "scheduler", f->scheduler);
}

/* What answers need and a recorder may leave out; by which events perf and trace-cmd have it, NULL = they cannot. */
static const struct absence {
	const char *what;
	uint8_t kinds[3];  /* any of them; 0 = no more */
	uint32_t measures; /* or any of these, EV_MEASURES_* */
	const char *events;
} absences[] = {
	{ "switches", { EV_SWITCH }, 0, "sched:sched_switch" },
	{ "wakeups", { EV_WAKING, EV_WAKEUP, EV_WAKEUP_NEW }, 0, "sched:sched_waking" },
	{ "migrations", { EV_MIGRATE }, 0, "sched:sched_migrate_task" },
	{ "interrupts", { EV_IRQ_ENTRY, EV_SOFTIRQ_ENTRY }, 0, "irq" },
	{ "throttling", { EV_THROTTLE }, EV_MEASURES_QUOTA | EV_MEASURES_QUOTA_CPU, NULL },
	{ "steal", { EV_STEAL }, EV_MEASURES_STEAL, NULL },
};

static bool is_absent(const struct source *s, const struct absence *a)
{
	bool is_there = pair_measures(s->pair) & a->measures;

	for (size_t i = 0; i < sizeof(a->kinds) && a->kinds[i]; i++)
		is_there |= s->facts->kinds[a->kinds[i]] != 0;
	return !is_there;
}

/* The command that records it, with the tool at hand if that can. */
static const char *recorded_by(const struct source_facts *f, const struct absence *a,
                               struct report *r)
{
	if (!a->events || !f->producer)
		return "schedscope record";
	if (!strcmp(f->producer, "perf"))
		return report_printf(r, "perf record -a -e '%s%s'", a->events,
		                     strchr(a->events, ':') ? "" : ":*");
	if (!strcmp(f->producer, "trace-cmd"))
		return report_printf(r, "trace-cmd record -e %s", a->events);
	return "schedscope record";
}

/* "migrations (perf record -a -e ...), throttling, steal (schedscope record)". Our own recorder has all of it, unless there was none. */
static const char *absent(const struct source *s, struct report *r)
{
	const struct source_facts *f = s->facts;
	const char *all = NULL, *by = NULL, *last = NULL;

	if (f->is_live || (f->producer && !strcmp(f->producer, "schedscope")))
		return NULL;
	for (size_t i = 0; i < sizeof(absences) / sizeof(absences[0]); i++) {
		if (!is_absent(s, &absences[i]))
			continue;
		by = recorded_by(f, &absences[i], r);
		if (!all)
			all = absences[i].what;
		else if (!strcmp(by, last))
			all = report_printf(r, "%s, %s", all, absences[i].what);
		else
			all = report_printf(r, "%s (%s), %s", all, last, absences[i].what);
		last = by;
	}
	return all ? report_printf(r, "%s (%s)", all, last) : NULL;
}

/* Which part of the truth the file holds. */
static void show_coverage(const struct source *s, struct report *r)
{
	const struct source_facts *f = s->facts;

	report_begin_object(r, "lost_by_kind");
	for (size_t i = 0; i < f->nr_lost_by; i++)
		report_u64(r, report_printf(r, "%s", f->lost_by[i].name), f->lost_by[i].count);
	report_end_object(r);
	report_string(r, "recorded_tasks", f->filter ? f->filter : "all");
	report_string(r, "incomplete", f->incomplete);
	report_begin_array(r, "cpus_that_end_early");
	for (size_t i = 0; i < f->nr_ends; i++) {
		report_begin_object(r, NULL);
		report_u64(r, "cpu_id", f->ends[i].cpu);
		report_u64(r, "end_timestamp", f->ends[i].ts_ns);
		report_u64(r, "missing_ns", s->end_ns - f->ends[i].ts_ns);
		report_end_object(r);
	}
	report_end_array(r);
	report_string(r, "not_in_file", absent(s, r));
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

/* What can be asked for: all events by type, which together are total_events. */
static void show_events(const struct source_facts *f, struct report *r)
{
	report_begin_array(r, "available_events");
	for (unsigned int kind = 0; kind < EV_KIND_MAX; kind++)
		if (event_type_count(f, kind))
			report_string(r, NULL, event_type_name(kind));
	report_end_array(r);
	report_begin_object(r, "event_counts");
	for (unsigned int kind = 0; kind < EV_KIND_MAX; kind++)
		if (event_type_count(f, kind))
			report_u64(r, event_type_name(kind), event_type_count(f, kind));
	report_end_object(r);
}

/* Events of the file that have no event type here. */
static void show_unread(const struct source_facts *f, struct report *r)
{
	report_begin_object(r, "unread_event_counts");
	for (size_t i = 0; i < f->nr_events_names; i++)
		if (f->events[i].count && !event_kinds_by_name(f->events[i].name))
			report_u64(r, report_printf(r, "%s", f->events[i].name),
			           f->events[i].count);
	report_end_object(r);
}

static void show_capabilities(const struct source *s, const struct task_counts *counts,
                              struct report *r)
{
	const struct source_facts *f = s->facts;

	report_begin_object(r, "capabilities");
	show_events(f, r);
	show_unread(f, r);
	show_names(r, "track_event_categories", f->categories, f->nr_categories);
	show_counts(r, "track_event_counts", f->categories, f->nr_categories);
	report_begin_array(r, "clock_sources");
	if (f->clock)
		report_string(r, NULL, f->clock);
	report_end_array(r);
	report_bool(r, "has_process_tree", counts->has_processes);
	report_bool(r, "has_system_info", f->release || f->machine);
	report_null(r, "has_process_stats"); /* not measured */
	report_bool(r, "has_topology", f->places != NULL);
	report_bool(r, "has_perf_counters", f->kinds[EV_PMU] != 0);
	report_bool(r, "has_perf_samples", f->kinds[EV_SAMPLE] != 0);
	report_bool(r, "has_sched_ext", f->has_scx);
	report_begin_array(r, "time_range");
	report_u64(r, NULL, s->start_ns);
	report_u64(r, NULL, s->end_ns);
	report_end_array(r);
	report_u64(r, "num_cpus", f->nr_cpus);
	report_u64(r, "num_processes", counts->processes);
	report_u64(r, "total_events", f->nr_events);
	report_string(r, "trace_source", f->producer);
	report_end_object(r);
}

static void show_one_damage(struct report *r, const char *what, uint64_t count, uint64_t of)
{
	report_begin_object(r, NULL);
	report_string(r, "what", what);
	report_u64(r, "count", count);
	report_u64_if(r, "of", of, of);
	report_end_object(r);
}

/* What the recorder reported itself, and inconsistencies that we found: the larger where both count the same. */
static void show_damage(const struct source *s, struct report *r)
{
	const struct source_facts *f = s->facts;
	bool is_reported = false;
	struct pair_breaks b;

	pair_breaks(s->pair, &b);
	report_begin_array(r, "damage");
	for (size_t i = 0; i < f->nr_damage; i++) {
		bool is_same = !strcmp(f->damage[i].name, MISMATCHES);
		uint64_t count = f->damage[i].count;

		is_reported |= is_same;
		if (is_same && b.prev_mismatch > count)
			count = b.prev_mismatch;
		show_one_damage(r, f->damage[i].name, count, f->damage[i].of);
	}
	if (b.prev_mismatch && !is_reported)
		show_one_damage(r, MISMATCHES, b.prev_mismatch, 0);
	report_end_array(r);
}

/* What did not fit into the tables when the recording was loaded: all of it must be reported. */
static void show_losses(const struct source *s, struct report *r)
{
	struct losses losses;

	source_losses(s, &losses);
	report_begin_array(r, "losses");
	for (int i = 0; i < NR_LOSSES; i++) {
		if (!losses.nr[i])
			continue;
		report_begin_object(r, NULL);
		report_string(r, "what", loss_name((enum loss)i));
		report_u64(r, "count", losses.nr[i]);
		report_string(r, "meaning", loss_what((enum loss)i));
		report_end_object(r);
	}
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
	struct task_counts counts;
	int err = count_tasks(s, &counts);

	if (err)
		return diag_set(d, err, NULL, "out of memory");
	show_what(s, &counts, r);
	show_coverage(s, r);
	show_capabilities(s, &counts, r);
	show_analyses(s, r);
	show_damage(s, r);
	show_losses(s, r);
	return 0;
}
