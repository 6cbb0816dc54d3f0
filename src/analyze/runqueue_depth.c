/*
 * How many tasks each CPU had to serve: the depth of a CPU at a moment is the task that runs on it plus those that wait and
 * will run on it next. 1 is a task alone. A task that is moved while it waits counts where it ran in the end,
 * for all of its wait. Averages and percentiles are over time; of unknown time the CPU tells no tasks, and how much
 * that is stands beside.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/grouped.h"
#include "analyze/pass.h"
#include "analyze/passes.h"
#include "analyze/scope.h"
#include "analyze/sort_u64.h"
#include "analyze/top.h"
#include "base/cleanup.h"

#define HIGH_DEPTH 10
#define P99        0.99

struct depth {
	double avg;
	double avg_waiting;
	uint32_t max;
	uint32_t p99;
	uint64_t max_at_ns;
	uint64_t nr_changes;
	uint64_t waiting_ns;
	uint64_t unknown_ns;
	bool is_seen;
};

struct depths {
	struct scope sc;
	struct depth *cpus;
	/* Changes by CPU: the time since the start times 2, and 1 more for one that begins. */
	struct grouped waits;
	struct grouped slices;
	uint64_t *at_depth_ns; /* of the CPU at hand, by depth */
};

static void done(struct depths *x)
{
	free(x->cpus);
	free(x->at_depth_ns);
	grouped_done(&x->waits);
	grouped_done(&x->slices);
	scope_done(&x->sc);
}

static uint64_t add_change(const struct depths *x, struct grouped *to, uint32_t cpu,
                           const uint64_t times[2])
{
	uint64_t from = times[0] > x->sc.from_ns ? times[0] : x->sc.from_ns;
	uint64_t end = times[1] < x->sc.to_ns ? times[1] : x->sc.to_ns;

	if (from >= end || cpu >= x->sc.nr_cpus)
		return 0;
	grouped_add(to, cpu, (from - x->sc.from_ns) << 1 | 1);
	grouped_add(to, cpu, (end - x->sc.from_ns) << 1);
	return end - from;
}

static int collect(struct depths *x)
{
	struct rows slices = { .sc = &x->sc }, waits = { .sc = &x->sc }, gaps = { .sc = &x->sc };
	struct pair_slice slice;
	struct pair_wait wait;
	struct pair_gap gap;
	int err;

	x->cpus = calloc(x->sc.nr_cpus + 1U, sizeof(*x->cpus));
	x->at_depth_ns = calloc(x->sc.nr_tasks + 2U, sizeof(*x->at_depth_ns));
	if (!x->cpus || !x->at_depth_ns)
		return -ENOMEM;
	while (rows_slice(&slices, &slice))
		(void)add_change(x, &x->slices, slice.cpu,
		                 (uint64_t[]){ slice.start_ns, slice.end_ns });
	while (rows_wait(&waits, &wait)) {
		uint64_t ns = add_change(x, &x->waits, wait.cpu,
		                         (uint64_t[]){ pair_wait_start_ns(&wait), wait.end_ns });

		if (ns)
			x->cpus[wait.cpu].waiting_ns += ns;
	}
	while (rows_cpu_gap(&gaps, &gap))
		if (gap.cpu < x->sc.nr_cpus)
			x->cpus[gap.cpu].unknown_ns += scope_cut(&x->sc, gap.start_ns, gap.end_ns);
	err = grouped_order(&x->slices, x->sc.nr_cpus);
	return err ? err : grouped_order(&x->waits, x->sc.nr_cpus);
}

/* Smallest depth at or below which the CPU was for 99 % of the time. */
static uint32_t p99_of(const struct depths *x, uint32_t max)
{
	double need = P99 * (double)x->sc.span_ns, sum = 0;

	for (uint32_t d = 0; d < max; d++) {
		sum += (double)x->at_depth_ns[d];
		if (sum >= need)
			return d;
	}
	return max;
}

/* The depth from the last change to this one is over. */
static void spend(struct depths *x, struct depth *c, uint32_t now, uint64_t ns)
{
	x->at_depth_ns[now] += ns;
	c->avg += (double)now * (double)ns;
}

/* Both lists are sorted: what ends comes before what begins at the same moment, so nothing counts twice. */
static void sweep(struct depths *x, struct depth *c, const struct samples lists[2])
{
	size_t at[2] = { 0, 0 };
	uint64_t last = 0;
	uint32_t now = 0;

	while (at[0] < lists[0].nr || at[1] < lists[1].nr) {
		int k = at[0] == lists[0].nr ||
		        (at[1] < lists[1].nr && lists[1].values[at[1]] < lists[0].values[at[0]]);
		uint64_t change = lists[k].values[at[k]++], ts = change >> 1;

		spend(x, c, now, ts - last);
		last = ts;
		if (!(change & 1))
			now -= now > 0;
		else if (now <= x->sc.nr_tasks)
			now++;
		if (now > c->max) {
			c->max = now;
			c->max_at_ns = x->sc.from_ns + ts;
		}
		c->nr_changes++;
	}
	spend(x, c, now, x->sc.span_ns - last);
}

static void measure(struct depths *x, uint32_t cpu)
{
	struct samples lists[2] = { grouped_at(&x->slices, cpu), grouped_at(&x->waits, cpu) };
	struct depth *c = &x->cpus[cpu];

	sort_u64(lists[0].values, lists[0].nr);
	sort_u64(lists[1].values, lists[1].nr);
	sweep(x, c, lists);
	c->p99 = p99_of(x, c->max);
	memset(x->at_depth_ns, 0, (c->max + 1U) * sizeof(*x->at_depth_ns));
	if (x->sc.span_ns) {
		c->avg /= (double)x->sc.span_ns;
		c->avg_waiting = (double)c->waiting_ns / (double)x->sc.span_ns;
	}
}

static void show_cpu(const struct depths *x, uint32_t cpu, struct report *r)
{
	const struct depth *c = &x->cpus[cpu];

	report_begin_object(r, NULL);
	report_u64(r, "cpu_id", cpu);
	report_double(r, "avg_depth", c->avg, 3);
	report_double(r, "avg_waiting", c->avg_waiting, 3);
	report_u64(r, "max_depth", c->max);
	if (c->max)
		report_u64(r, "max_at_ns", c->max_at_ns);
	else
		report_null(r, "max_at_ns");
	report_u64(r, "p99_depth", c->p99);
	report_u64(r, "sample_count", c->nr_changes);
	report_u64(r, "unknown_time_ns", c->unknown_ns);
	report_end_object(r);
}

static int show(struct depths *x, struct report *r)
{
	SCOPED(scoped_top)
	struct top top = { .limit = pass_limit(&pass_runqueue_depth, x->sc.args) };
	uint64_t nr = 0, nr_high = 0, max = 0;
	struct pair_cpu at;
	double sum = 0;

	for (uint32_t i = 0; i < x->sc.nr_cpus; i++) {
		if (!pass_takes_cpu(x->sc.args, i) || !pair_cpu_at(x->sc.s->pair, i, &at))
			continue;
		measure(x, i);
		nr++;
		sum += x->cpus[i].avg;
		nr_high += x->cpus[i].max > HIGH_DEPTH;
		max = x->cpus[i].max > max ? x->cpus[i].max : max;
		top_add(&top, (uint64_t)x->cpus[i].max << 32 | (uint32_t)(x->cpus[i].avg * 1000),
		        i);
	}
	top_rank(&top);
	report_u64(r, "total_cpus", nr);
	if (nr)
		report_double(r, "global_avg_depth", sum / (double)nr, 3);
	else
		report_null(r, "global_avg_depth");
	report_u64(r, "global_max_depth", max);
	report_u64(r, "cpus_with_high_depth", nr_high);
	report_begin_array(r, "worst_cpus_by_max_depth");
	for (uint32_t i = 0; i < top.nr; i++)
		show_cpu(x, (uint32_t)top.entries[i].id, r);
	report_end_array(r);
	report_string(r, "note",
	              "depth is the running task plus those that wait and run there "
	              "next, 1 is alone; average and p99 are over time");
	return top.has_failed ? -ENOMEM : 0;
}

static int run(const struct source *s, const struct pass_args *args, struct report *r,
               struct diag *d)
{
	SCOPED(done) struct depths x = { 0 };
	int err = scope_init(&x.sc, s, args, d);

	if (err)
		return err;
	err = collect(&x);
	if (!err)
		err = show(&x, r);
	return err ? diag_set(d, err, NULL, "out of memory") : 0;
}

const struct pass pass_runqueue_depth = {
	.id = "runqueue_depth",
	.name = "Run Queue Depth",
	.category = "scheduling",
	.what = "how many runnable tasks each CPU had, on average and at worst",
	.needs = EV_BIT(EV_SWITCH),
	.uses = EV_BIT(EV_WAKING) | EV_BIT(EV_WAKEUP),
	.cost = 3,
	.run = run,
};
