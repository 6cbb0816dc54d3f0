/*
 * How many tasks each CPU had to serve: the depth of a CPU at a moment is the task that runs on it plus those that are in
 * its queue. 1 is a task alone. A task that is moved while it waits counts on each CPU for its stay there (ledger); in a
 * dispatch queue of several CPUs it counts where it ran in the end, and on its way to a queue, or throttled, nowhere. Averages and percentiles are over time; in unknown time the depth is unknown, and the amount of it is reported
 * too.
 */
#include <errno.h>
#include <stdlib.h>

#include "analyses/explain/explain.h"
#include "analyses/passes.h"
#include "analyze/depth_sweep.h"
#include "analyze/grouped.h"
#include "analyze/pass.h"
#include "analyze/scope.h"
#include "analyze/top.h"
#include "base/cleanup.h"

#define HIGH_DEPTH 10

struct depth {
	struct depth_found found;
	uint64_t nr_changes;
	uint64_t waiting_ns;
	uint64_t unknown_ns;
};

struct depths {
	struct scope sc;
	struct depth *cpus;
	/* Changes by CPU: the time since the start times 2, and 1 more for one that begins. */
	struct grouped begun;  /* waits */
	struct grouped ended;  /* waits, in the order of time */
	struct grouped slices; /* both ends, in the order of time */
	uint64_t *others;      /* of the CPU at hand: all changes but begun */
	struct depth_times times;
};

static void done(void *work)
{
	struct depths *x = work;

	free(x->cpus);
	free(x->times.at_ns);
	free(x->others);
	grouped_done(&x->begun);
	grouped_done(&x->ended);
	grouped_done(&x->slices);
}

/* Cut to the time asked for, as times since its start; false if nothing is left. */
static bool cut(const struct depths *x, uint32_t cpu, uint64_t *from_ns, uint64_t *to_ns)
{
	uint64_t from = *from_ns > x->sc.from_ns ? *from_ns : x->sc.from_ns;
	uint64_t to = *to_ns < x->sc.to_ns ? *to_ns : x->sc.to_ns;

	if (from >= to || cpu >= x->sc.nr_cpus)
		return false;
	*from_ns = from - x->sc.from_ns;
	*to_ns = to - x->sc.from_ns;
	return true;
}

static void add_stay(struct depths *x, const struct ledger_part *stay)
{
	uint64_t from = stay->start_ns, to = stay->end_ns;

	if (!cut(x, stay->cpu, &from, &to))
		return;
	grouped_add(&x->begun, stay->cpu, from << 1 | 1);
	grouped_add(&x->ended, stay->cpu, to << 1);
	x->cpus[stay->cpu].waiting_ns += to - from;
}

/* Of all CPUs: one that runs elsewhere in the end may have been in the queue of the one asked for. */
static int add_waits(struct depths *x)
{
	SCOPED(scoped_ledger) struct ledger *l = NULL;
	struct pass_args any = *x->sc.args;
	struct scope sc = x->sc;
	struct rows it = { .sc = &sc };
	struct ledger_walk walk;
	struct ledger_part stay;
	struct pair_wait row;
	int err = explain_ledger(sc.s, sc.s->start_ns, sc.s->end_ns, &l);

	any.cpu = PASS_ANY_CPU;
	sc.args = &any;
	while (!err && rows_wait(&it, &row)) {
		err = ledger_begin(l, &row, &walk);
		while (!err && ledger_next_queued(&walk, &stay))
			add_stay(x, &stay);
	}
	return err;
}

static void add_slices(struct depths *x)
{
	struct rows it = { .sc = &x->sc }, gaps = { .sc = &x->sc };
	struct pair_slice row;
	struct pair_gap gap;

	while (rows_slice(&it, &row)) {
		uint64_t from = row.start_ns, to = row.end_ns;

		if (!cut(x, row.cpu, &from, &to))
			continue;
		grouped_add(&x->slices, row.cpu, from << 1 | 1);
		grouped_add(&x->slices, row.cpu, to << 1);
	}
	while (rows_cpu_gap(&gaps, &gap))
		if (gap.cpu < x->sc.nr_cpus)
			x->cpus[gap.cpu].unknown_ns += scope_cut(&x->sc, gap.start_ns, gap.end_ns);
}

static int collect(void *work)
{
	struct depths *x = work;
	int err;

	x->cpus = calloc(x->sc.nr_cpus + 1U, sizeof(*x->cpus));
	x->times.most = x->sc.nr_tasks + 1U;
	x->times.at_ns = calloc(x->times.most + 1ULL, sizeof(*x->times.at_ns));
	if (!x->cpus || !x->times.at_ns)
		return -ENOMEM;
	err = add_waits(x);
	if (err)
		return err;
	add_slices(x);
	x->others = reallocarray(NULL, x->slices.nr + x->ended.nr + 1, sizeof(*x->others));
	if (!x->others)
		return -ENOMEM;
	err = grouped_order(&x->slices, x->sc.nr_cpus);
	if (!err)
		err = grouped_order(&x->begun, x->sc.nr_cpus);
	return err ? err : grouped_order(&x->ended, x->sc.nr_cpus);
}

static void measure(struct depths *x, uint32_t cpu)
{
	struct samples begun = grouped_at(&x->begun, cpu), ended = grouped_at(&x->ended, cpu);
	struct samples slices = grouped_at(&x->slices, cpu), others;
	struct depth *c = &x->cpus[cpu];

	others = depth_join(&slices, &ended, x->others);
	depth_sweep(&begun, &others, x->sc.span_ns, &x->times, &c->found);
	c->nr_changes = slices.nr + begun.nr + ended.nr;
}

static double over_time(const struct depths *x, uint64_t ns)
{
	return x->sc.span_ns ? (double)ns / (double)x->sc.span_ns : 0;
}

static void show_cpu(const struct depths *x, uint32_t cpu, struct report *r)
{
	const struct depth *c = &x->cpus[cpu];

	report_u64(r, "cpu_id", cpu);
	report_double(r, "avg_depth", over_time(x, c->found.sum), 3);
	report_double(r, "avg_waiting", over_time(x, c->waiting_ns), 3);
	report_u64(r, "max_depth", c->found.max);
	report_u64_if(r, "max_at_ns", c->found.max, x->sc.from_ns + c->found.max_at);
	report_u64(r, "p99_depth", c->found.p99);
	report_u64(r, "sample_count", c->nr_changes);
	report_u64(r, "unknown_time_ns", c->unknown_ns);
}

static int show(void *work, struct report *r)
{
	struct depths *x = work;
	SCOPED(top_done)
	struct top top = { .limit = pass_limit(&pass_runqueue_depth, x->sc.args) };
	uint64_t nr = 0, nr_high = 0, max = 0;
	const struct depth_found *found;
	struct pair_cpu at;
	double sum = 0;

	for (uint32_t i = 0; i < x->sc.nr_cpus; i++) {
		if (!pass_takes_cpu(x->sc.args, i) || !pair_cpu_at(x->sc.s->pair, i, &at))
			continue;
		measure(x, i);
		found = &x->cpus[i].found;
		nr++;
		sum += over_time(x, found->sum);
		nr_high += found->max > HIGH_DEPTH;
		max = found->max > max ? found->max : max;
		top_add(&top,
		        (uint64_t)found->max << 32 | (uint32_t)(over_time(x, found->sum) * 1000),
		        i);
	}
	top_rank(&top);
	report_u64(r, "total_cpus", nr);
	report_double_if(r, "global_avg_depth", nr, sum / (double)nr, 3);
	report_u64(r, "global_max_depth", max);
	report_u64(r, "cpus_with_high_depth", nr_high);
	for (uint32_t i = 0; top_row(&top, i, r, "worst_cpus_by_max_depth"); i++)
		show_cpu(x, (uint32_t)top.entries[i].id, r);
	report_string(r, "note",
	              "depth is the running task plus those in the queue, 1 is alone; "
	              "average and p99 are over time");
	return top.has_failed ? -ENOMEM : 0;
}

const struct pass pass_runqueue_depth = {
	.id = "runqueue_depth",
	.name = "Run Queue Depth",
	.category = "scheduling",
	.what = "how many runnable tasks each CPU had, on average and at worst",
	.needs = EV_BIT(EV_SWITCH),
	.needs_all_tasks = true,
	.uses = EV_BIT(EV_WAKING) | EV_BIT(EV_WAKEUP) | EV_BIT(EV_MIGRATE),
	.cost = 5,
	.uses_ledger = true,
	.finds_by_task = TIMELINE_BIT(MIGRATION) | TIMELINE_BIT(DSQ) | TIMELINE_BIT(THROTTLE),
	.finds_by_cpu = TIMELINE_BIT(SLICE) | TIMELINE_BIT(SPAN) | TIMELINE_BIT(IDLE) |
	                TIMELINE_BIT(GAP) | TIMELINE_BIT(STEAL),
	.work = { .size = sizeof(struct depths), .collect = collect, .show = show, .done = done },
};
