/* One screen about a trace: what a person wants to know first. */
#include <errno.h>
#include <stdlib.h>

#include "analyze/pass.h"
#include "analyze/passes.h"
#include "base/cleanup.h"

#define BUSIEST 8
#define LONGEST 5

struct total {
	uint32_t task;
	uint64_t ns;
};

static int by_ns(const void *a, const void *b)
{
	const struct total *left = a, *right = b;

	if (left->ns != right->ns)
		return left->ns < right->ns ? 1 : -1;
	return left->task < right->task ? -1 : left->task > right->task;
}

static int find_all(const struct source *s, enum timeline_table table, struct timeline_iter *it)
{
	struct timeline_query q = {
		.table = table, .task = TASKS_NONE, .cpu = TIMELINE_ANY_CPU, .to_ns = UINT64_MAX
	};

	return timeline_find(s->timeline, &q, it);
}

static void show_what(const struct source *s, struct report *r)
{
	const struct source_facts *f = s->facts;

	report_string(r, "file", f->name);
	report_string(r, "trace_source", f->producer);
	report_double(r, "trace_duration_ms", (double)(s->end_ns - s->start_ns) / 1e6, 3);
	report_u64(r, "start_timestamp", s->start_ns);
	report_string(r, "clock", f->clock);
	if (f->unix_ns)
		report_u64(r, "start_unix_timestamp", f->unix_ns);
	else
		report_null(r, "start_unix_timestamp");
	report_string(r, "kernel", f->release);
	report_u64(r, "num_cpus", f->nr_cpus);
	report_u64(r, "total_events", f->nr_events);
	report_u64(r, "lost_events", f->lost);
	report_bool(r, "is_scx_trace", f->has_scx);
	report_string(r, "scheduler", f->scheduler);
}

/* Processes are counted by their leaders; a thread whose process is unknown stands for one. */
static void show_who(const struct source *s, struct report *r)
{
	uint32_t nr = tasks_nr(s->tasks), processes = 0, threads = 0;

	for (uint32_t i = 0; i < nr; i++) {
		const struct task *t = tasks_at(s->tasks, i);

		threads += t->tid != 0;
		processes += t->tid != 0 && (!t->tgid || t->tgid == t->tid);
	}
	report_u64(r, "num_processes", processes);
	report_u64(r, "num_threads", threads);
}

static void show_cpus(const struct source *s, struct report *r)
{
	report_begin_array(r, "cpus");
	for (uint32_t cpu = 0; cpu < pair_nr_cpus(s->pair); cpu++) {
		struct pair_cpu at;

		if (!pair_cpu_at(s->pair, cpu, &at) || (!at.busy_ns && !at.idle_ns))
			continue;
		report_begin_object(r, NULL);
		report_u64(r, "cpu_id", cpu);
		report_percent(r, "busy_percent", at.busy_ns,
		               at.busy_ns + at.idle_ns + at.unknown_ns);
		report_percent(r, "idle_percent", at.idle_ns,
		               at.busy_ns + at.idle_ns + at.unknown_ns);
		report_percent(r, "unknown_percent", at.unknown_ns,
		               at.busy_ns + at.idle_ns + at.unknown_ns);
		report_end_object(r);
	}
	report_end_array(r);
}

static int show_busiest(const struct source *s, struct report *r)
{
	uint32_t nr = tasks_nr(s->tasks);
	SCOPED(scoped_free) struct total *totals = calloc(nr ? nr : 1, sizeof(*totals));
	struct timeline_iter it;
	union timeline_row row;

	if (!totals || find_all(s, TIMELINE_SLICE, &it))
		return -ENOMEM;
	for (uint32_t i = 0; i < nr; i++)
		totals[i].task = i;
	while (timeline_next(&it, NULL, &row))
		if (row.slice.task < nr)
			totals[row.slice.task].ns += row.slice.end_ns - row.slice.start_ns;
	if (nr)
		qsort(totals, nr, sizeof(*totals), by_ns);
	report_begin_array(r, "busiest_tasks");
	for (uint32_t i = 0; i < nr && i < BUSIEST && totals[i].ns; i++) {
		report_begin_object(r, NULL);
		report_string(r, "comm", source_comm(s, totals[i].task));
		report_u64(r, "tid", source_tid(s, totals[i].task));
		report_u64(r, "runtime_ns", totals[i].ns);
		report_percent(r, "of_one_cpu_percent", totals[i].ns, s->end_ns - s->start_ns);
		report_end_object(r);
	}
	report_end_array(r);
	return 0;
}

static uint64_t wait_ns(const struct pair_wait *w)
{
	return w->end_ns - (w->waking_ns ? w->waking_ns : w->wakeup_ns);
}

static void show_wait(const struct source *s, const struct pair_wait *w, struct report *r)
{
	static const char *const causes[] = { "woken", "new", "preempted" };

	report_begin_object(r, NULL);
	report_string(r, "comm", source_comm(s, w->task));
	report_u64(r, "tid", source_tid(s, w->task));
	report_u64(r, "wait_ns", wait_ns(w));
	report_string(r, "cause", causes[w->cause]);
	report_u64(r, "cpu", w->cpu);
	report_u64(r, "after_start_ns", w->end_ns - wait_ns(w) - s->start_ns);
	report_string(r, "by", w->waker == TASKS_NONE ? NULL : source_comm(s, w->waker));
	report_end_object(r);
}

static int show_longest(const struct source *s, struct report *r)
{
	struct pair_wait worst[LONGEST];
	struct timeline_iter it;
	union timeline_row row;
	uint32_t nr = 0;

	if (find_all(s, TIMELINE_WAIT, &it))
		return -ENOMEM;
	while (timeline_next(&it, NULL, &row)) {
		uint32_t at;

		if (row.wait.is_open ||
		    (nr == LONGEST && wait_ns(&worst[LONGEST - 1]) >= wait_ns(&row.wait)))
			continue;
		at = nr < LONGEST ? nr++ : LONGEST - 1;
		for (; at > 0 && wait_ns(&worst[at - 1]) < wait_ns(&row.wait); at--)
			worst[at] = worst[at - 1];
		worst[at] = row.wait;
	}
	report_begin_array(r, "longest_waits");
	for (uint32_t i = 0; i < nr; i++)
		show_wait(s, &worst[i], r);
	report_end_array(r);
	return 0;
}

static void show_damage(const struct source *s, struct report *r)
{
	struct pair_breaks b;

	pair_breaks(s->pair, &b);
	report_begin_array(r, "damage");
	for (size_t i = 0; i < s->facts->nr_damage; i++) {
		report_begin_object(r, NULL);
		report_string(r, "what", s->facts->damage[i].name);
		report_u64(r, "count", s->facts->damage[i].count);
		report_end_object(r);
	}
	if (b.prev_mismatch) {
		report_begin_object(r, NULL);
		report_string(r, "what", "mismatched_sched_switch_tids");
		report_u64(r, "count", b.prev_mismatch);
		report_end_object(r);
	}
	report_end_array(r);
}

static void show_analyses(const struct source *s, struct report *r)
{
	uint32_t nr = 0;

	report_begin_array(r, "applicable_analyses");
	for (size_t i = 0; i < nr_passes; i++)
		if (pass_applies(passes[i], s)) {
			report_string(r, NULL, passes[i]->id);
			nr++;
		}
	report_end_array(r);
	report_u64(r, "applicable_analyzers", nr);
}

static int run(const struct source *s, const struct pass_args *args, struct report *r,
               struct diag *d)
{
	int err;

	(void)args;
	show_what(s, r);
	show_who(s, r);
	show_analyses(s, r);
	show_cpus(s, r);
	err = show_busiest(s, r);
	if (!err)
		err = show_longest(s, r);
	if (err)
		return diag_set(d, err, NULL, "out of memory");
	show_damage(s, r);
	return 0;
}

const struct pass pass_summary = {
	.id = "summary",
	.name = "Summary",
	.category = "query",
	.what = "what the trace is: how long, who was busy, who waited longest, what was lost",
	.cost = 1,
	.run = run,
};
