/*
 * table_dump FILE: the tables that analyses look at, one row per line, for tests to compare.
 *
 * A line is the table's name and its fields, separated by tabs, times in nanoseconds. Tasks are "index:tid", or
 * "-". The first lines say what was seen of time and CPUs, and what did not fit together.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "record/recording.h"

static const struct source *s;

static void put_task(uint32_t task)
{
	if (task == TASKS_NONE)
		(void)printf("\t-");
	else
		(void)printf("\t%u:%u", task, source_tid(s, task));
}

static void put(uint64_t number)
{
	(void)printf("\t%" PRIu64, number);
}

static void put_signed(int64_t number)
{
	(void)printf("\t%" PRId64, number);
}

static void put_cpu(uint16_t cpu)
{
	put_signed(cpu == PAIR_NO_CPU ? -1 : (int64_t)cpu);
}

/* Hexadecimal, as a name may hold anything. */
static void put_name(uint32_t id)
{
	const char *name = tasks_string(s->tasks, id);

	(void)printf("\tx");
	for (size_t i = 0; name && name[i]; i++)
		(void)printf("%02x", (unsigned char)name[i]);
}

static void put_slice(const union timeline_row *row)
{
	const struct pair_slice *r = &row->slice;

	put(r->start_ns);
	put(r->end_ns);
	put_task(r->task);
	put_cpu(r->cpu);
	put_signed(r->prio);
	put(r->state_bits);
	put(r->end);
}

static void put_wait(const union timeline_row *row)
{
	const struct pair_wait *r = &row->wait;

	put(r->waking_ns);
	put(r->wakeup_ns);
	put(r->end_ns);
	put_task(r->task);
	put_task(r->waker);
	put_cpu(r->cpu);
	put(r->cause);
	put(r->flags);
	put(r->is_open);
}

static void put_sleep(const union timeline_row *row)
{
	const struct pair_sleep *r = &row->sleep;

	put(r->start_ns);
	put(r->end_ns);
	put_task(r->task);
	put(r->state_bits);
	put(r->is_open);
}

static void put_migration(const union timeline_row *row)
{
	const struct pair_migration *r = &row->migration;

	put(r->ts_ns);
	put_task(r->task);
	put_cpu(r->from_cpu);
	put_cpu(r->to_cpu);
}

static void put_span(const union timeline_row *row)
{
	const struct pair_span *r = &row->span;

	put(r->start_ns);
	put(r->end_ns);
	put(r->kind);
	put(r->id);
	put_name(r->name_id);
	put_cpu(r->cpu);
	put_task(r->task);
}

static void put_counter(const union timeline_row *row)
{
	const struct pair_counter *r = &row->counter;

	put(r->ts_ns);
	put(r->kind);
	put_cpu(r->cpu);
	put(r->value);
}

static void put_mark(const union timeline_row *row)
{
	const struct pair_mark *r = &row->mark;

	put(r->ts_ns);
	put(r->kind);
	put_cpu(r->cpu);
	put_task(r->task);
}

static void put_idle(const union timeline_row *row)
{
	put(row->idle.start_ns);
	put(row->idle.end_ns);
	put_cpu(row->idle.cpu);
	put(row->idle.is_open);
}

static void put_gap(const union timeline_row *row)
{
	put(row->gap.start_ns);
	put(row->gap.end_ns);
	put_task(row->gap.task);
	put_cpu(row->gap.cpu);
	put(row->gap.reason);
}

static void put_dsq(const union timeline_row *row)
{
	const struct pair_dsq *r = &row->dsq;

	put(r->start_ns);
	put(r->end_ns);
	put(r->dsq_id);
	put_task(r->task);
	put(r->layer);
	put(r->how);
	put(r->has_start);
}

static void put_run(const union timeline_row *row)
{
	put(row->run.ts_ns);
	put(row->run.dsq_id);
	put(row->run.layer);
	put_task(row->run.task);
	put_cpu(row->run.cpu);
}

static void put_pmu(const union timeline_row *row)
{
	const char *const *names = s->facts->pmu_names;
	size_t nr = s->facts->nr_pmu_names;

	put(row->pmu.ts_ns);
	(void)printf("\t%s", row->pmu.index < nr ? names[row->pmu.index] : "?");
	put(row->pmu.value);
	put_task(row->pmu.task);
	put_cpu(row->pmu.cpu);
}

static const struct {
	const char *name;
	void (*put)(const union timeline_row *row);
} tables[TIMELINE_TABLES] = {
	[TIMELINE_SLICE] = { "slice", put_slice },
	[TIMELINE_WAIT] = { "wait", put_wait },
	[TIMELINE_SLEEP] = { "sleep", put_sleep },
	[TIMELINE_MIGRATION] = { "migration", put_migration },
	[TIMELINE_SPAN] = { "span", put_span },
	[TIMELINE_COUNTER] = { "counter", put_counter },
	[TIMELINE_MARK] = { "mark", put_mark },
	[TIMELINE_IDLE] = { "idle", put_idle },
	[TIMELINE_GAP] = { "gap", put_gap },
	[TIMELINE_DSQ] = { "dsq", put_dsq },
	[TIMELINE_RUN] = { "run", put_run },
	[TIMELINE_PMU] = { "pmu", put_pmu },
};

static void dump_table(enum timeline_table table)
{
	union timeline_row row;

	for (uint64_t id = timeline_first(s->timeline, table);
	     id < timeline_end(s->timeline, table); id++) {
		if (!timeline_row(s->timeline, table, id, &row))
			continue;
		(void)printf("%s", tables[table].name);
		tables[table].put(&row);
		(void)putchar('\n');
	}
}

static void dump_facts(void)
{
	struct pair_breaks b;
	struct pair_cpu c;

	pair_breaks(s->pair, &b);
	(void)printf("extent\t%" PRIu64 "\t%" PRIu64 "\n", s->start_ns, s->end_ns);
	(void)printf("breaks\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64
	             "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\n",
	             b.prev_mismatch, b.running_twice, b.missing_in, b.missing_wakeup,
	             b.double_waking, b.missed_run, b.lost_slices, b.lost_states, b.dropped_waits,
	             b.unmatched_spans);
	for (uint32_t cpu = 0; cpu < pair_nr_cpus(s->pair); cpu++)
		if (pair_cpu_at(s->pair, cpu, &c))
			(void)printf("cpu\t%u\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\n", cpu,
			             c.busy_ns, c.idle_ns, c.unknown_ns);
}

int main(int argc, char **argv)
{
	SCOPED(scoped_recording) struct recording *rec = NULL;
	struct recording_cfg cfg = { 0 };
	struct diag d = { 0 };

	if (argc != 2 || recording_open(argv[1], &cfg, &d, &rec) < 0) {
		(void)fprintf(stderr, "table_dump: %s\n", argc == 2 ? d.what : "one file, please");
		return 1;
	}
	s = recording_source(rec);
	dump_facts();
	for (unsigned int table = 0; table < TIMELINE_TABLES; table++)
		if (tables[table].put)
			dump_table((enum timeline_table)table);
	return 0;
}
