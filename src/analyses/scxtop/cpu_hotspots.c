/*
 * scxtop's cpu_hotspot_analyzer: which CPUs are busy with scheduling. A switch counts where something begins to run, idle
 * included; a migration where the task goes to, an interrupt where it is sent from, a wait where the task came on.
 */
#include <errno.h>
#include <stdlib.h>

#include "analyses/passes.h"
#include "analyze/figures.h"
#include "analyze/latency.h"
#include "analyze/pass.h"
#include "analyze/scope.h"
#include "analyze/top.h"
#include "analyze/walk.h"
#include "base/cleanup.h"

#define DEFAULT_PERCENTILE 90.0
#define MS_PER_S           1000.0

struct hotspot_cpu {
	uint64_t switches, ipis, migrations;
	uint64_t waits, wait_ns;
};

struct hotspots {
	struct scope sc;
	struct hotspot_cpu *cpus;
	uint32_t nr_busy; /* CPUs where anything happened */
};

static void done(void *work)
{
	struct hotspots *x = work;

	free(x->cpus);
}

static struct hotspot_cpu *at(struct hotspots *x, uint32_t cpu)
{
	return &x->cpus[cpu < x->sc.nr_cpus ? cpu : x->sc.nr_cpus]; /* the last one is not shown */
}

static bool is_busy(const struct hotspot_cpu *c)
{
	return c->switches || c->ipis || c->migrations || c->waits;
}

static int collect(void *work)
{
	struct hotspots *x = work;
	struct rows slices = { .sc = &x->sc }, idles = { .sc = &x->sc }, waits = { .sc = &x->sc },
		    moves = { .sc = &x->sc };
	struct walk marks = { .sc = &x->sc, .table = TIMELINE_MARK, .kinds = EV_BIT(EV_IPI_SEND) };
	const union timeline_row *row;
	struct pair_migration move;
	struct pair_slice slice;
	struct pair_idle idle;
	struct pair_wait wait;

	x->cpus = calloc(x->sc.nr_cpus + 1U, sizeof(*x->cpus));
	if (!x->cpus)
		return -ENOMEM;
	while (rows_slice(&slices, &slice))
		at(x, slice.cpu)->switches += scope_has(&x->sc, slice.start_ns);
	while (rows_idle(&idles, &idle))
		at(x, idle.cpu)->switches += scope_has(&x->sc, idle.start_ns);
	while (rows_migration(&moves, &move))
		at(x, move.to_cpu)->migrations++;
	while ((row = walk_next(&marks)))
		at(x, row->mark.cpu)->ipis++;
	while (rows_wait(&waits, &wait)) {
		if (!latency_counts(&wait))
			continue;
		at(x, wait.cpu)->waits++;
		at(x, wait.cpu)->wait_ns += latency_ns(&wait);
	}
	for (uint32_t i = 0; i < x->sc.nr_cpus; i++)
		x->nr_busy += is_busy(&x->cpus[i]);
	return 0;
}

/* The share of the CPUs that switch as often or less, in percent. */
static double rank(const struct hotspots *x, const struct hotspot_cpu *c)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < x->sc.nr_cpus; i++)
		nr += is_busy(&x->cpus[i]) && x->cpus[i].switches <= c->switches;
	return 100.0 * nr / x->nr_busy;
}

/* By the time that is lost, and by nothing else: many switches alone do no harm. */
static const char *concern(double nr_waiting)
{
	if (nr_waiting >= 1)
		return "high";
	if (nr_waiting >= 0.1)
		return "medium";
	return nr_waiting >= 0.01 ? "low" : "none";
}

static void show_lost(const struct hotspots *x, const struct hotspot_cpu *c, struct report *r)
{
	double nr_waiting;

	if (!x->sc.covered_ns) {
		report_null(r, "waiting_ms_per_sec");
		report_null(r, "concern_level");
		return;
	}
	nr_waiting = (double)c->wait_ns / (double)x->sc.covered_ns;
	report_double(r, "waiting_ms_per_sec", MS_PER_S * nr_waiting, 3);
	report_string(r, "concern_level", concern(nr_waiting));
}

static void show_cpu(const struct hotspots *x, uint32_t cpu, struct report *r)
{
	const struct hotspot_cpu *c = &x->cpus[cpu];

	report_u64(r, "cpu", cpu);
	figure_per_sec(r, "context_switches_per_sec", (double)c->switches, x->sc.covered_ns);
	figure_per_sec(r, "ipis_per_sec", (double)c->ipis, x->sc.covered_ns);
	figure_per_sec(r, "migrations_per_sec", (double)c->migrations, x->sc.covered_ns);
	figure_us_if(r, "avg_latency_us", c->waits, (double)c->wait_ns / (double)c->waits);
	report_double(r, "switches_percentile", rank(x, c), 2);
	show_lost(x, c, r);
}

/* Over the CPUs where anything happened. */
static void show_averages(const struct hotspots *x, struct report *r)
{
	struct hotspot_cpu sum = { 0 };
	uint64_t cpu_ns = x->sc.covered_ns * x->nr_busy;

	for (uint32_t i = 0; i < x->sc.nr_cpus; i++) {
		sum.switches += x->cpus[i].switches;
		sum.ipis += x->cpus[i].ipis;
		sum.migrations += x->cpus[i].migrations;
	}
	report_begin_object(r, "system_averages");
	figure_per_sec(r, "avg_context_switches_per_sec", (double)sum.switches, cpu_ns);
	figure_per_sec(r, "avg_ipis_per_sec", (double)sum.ipis, cpu_ns);
	figure_per_sec(r, "avg_migrations_per_sec", (double)sum.migrations, cpu_ns);
	report_end_object(r);
}

static int show(void *work, struct report *r)
{
	const struct hotspots *x = work;
	const struct pass_args *args = x->sc.args;
	double least = args->percentile > 0 ? args->percentile : DEFAULT_PERCENTILE;
	SCOPED(top_done) struct top top = { .limit = pass_limit(&pass_cpu_hotspots, args) };

	for (uint32_t i = 0; i < x->sc.nr_cpus; i++)
		if (x->cpus[i].switches && rank(x, &x->cpus[i]) >= least)
			top_add(&top, x->cpus[i].switches, i);
	if (top.has_failed)
		return -ENOMEM;
	top_rank(&top);
	for (uint32_t i = 0; top_row(&top, i, r, "hotspots"); i++)
		show_cpu(x, (uint32_t)top.entries[i].id, r);
	report_u64(r, "count", top.nr);
	show_averages(x, r);
	report_string(r, "latency_from", "waking");
	report_string(
		r, "concern_by",
		"waiting_ms_per_sec, the time that woken tasks waited for the CPU: none below 10, low "
		"below 100, medium below 1000; high: one or more waited all the time");
	return 0;
}

const struct pass pass_cpu_hotspots = {
	.id = "cpu_hotspot_analyzer",
	.name = "CPU Hotspot Analyzer",
	.category = "scxtop",
	.what = "which CPUs are busy with scheduling, as scxtop's live analyzer shows it",
	.needs = EV_BIT(EV_SWITCH),
	.uses = EV_BIT(EV_WAKING) | EV_BIT(EV_WAKEUP) | EV_BIT(EV_MIGRATE) | EV_BIT(EV_IPI_SEND),
	.cost = 2,
	.work = { sizeof(struct hotspots), .collect = collect, .show = show, .done = done },
};
