/*
 * How evenly the CPUs were shared. The fair share is the CPU time of all tasks divided by those
 * that ran. As most tasks do not want their share, each is also compared with what it wanted: its
 * service is the part of the time in which it could have run that it did run.
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "analyses/passes.h"
#include "analyze/pass.h"
#include "analyze/samples.h"
#include "analyze/sort_u64.h"
#include "analyze/top.h"
#include "analyze/units.h"
#include "base/cleanup.h"

#define STARVED  10 /* less than a tenth of the fair share */
#define HOGGING  10 /* more than ten times */
#define EVEN     0.3
#define MODERATE 0.6

struct share {
	uint64_t run_ns;
	uint64_t wait_ns;
};

struct fairness {
	struct scope sc;
	struct units units;
	struct share *shares;    /* by unit */
	struct samples runtimes; /* of those that ran, ascending */
	uint64_t total_ns;
	uint64_t fair_ns;
};

static void done(void *work)
{
	struct fairness *x = work;

	free(x->shares);
	samples_done(&x->runtimes);
}

static int collect(void *work)
{
	struct fairness *x = work;
	struct rows slices = { .sc = &x->sc }, waits = { .sc = &x->sc };
	struct pair_slice slice;
	struct pair_wait wait;

	x->shares = calloc(x->units.nr ? x->units.nr : 1, sizeof(*x->shares));
	if (!x->shares)
		return -ENOMEM;
	while (rows_slice(&slices, &slice))
		if (slice.task != TASKS_NONE)
			x->shares[units_at(&x->units, slice.task, slice.start_ns)].run_ns +=
				scope_cut(&x->sc, slice.start_ns, slice.end_ns);
	while (rows_wait(&waits, &wait))
		x->shares[units_at(&x->units, wait.task, pair_wait_start_ns(&wait))].wait_ns +=
			scope_cut(&x->sc, pair_wait_start_ns(&wait), wait.end_ns);
	for (uint32_t i = 0; i < x->units.nr; i++) {
		if (!x->shares[i].run_ns)
			continue;
		samples_add(&x->runtimes, x->shares[i].run_ns);
		x->total_ns += x->shares[i].run_ns;
	}
	if (x->runtimes.has_failed)
		return -ENOMEM;
	sort_u64(x->runtimes.values, x->runtimes.nr);
	x->fair_ns = x->runtimes.nr ? x->total_ns / x->runtimes.nr : 0;
	return 0;
}

/* 0 = all the same, 1 = one has all. */
static double gini(const struct samples *s, double total)
{
	double sum = 0, n = (double)s->nr;

	for (size_t i = 0; i < s->nr; i++)
		sum += (2 * (double)(i + 1) - n - 1) * (double)s->values[i];
	return n > 0 && total > 0 ? sum / (n * total) : 0;
}

/* Jain's index: 1 = all the same, 1/n = one has all. */
static double jain(const struct samples *s, double total)
{
	double squares = 0;

	for (size_t i = 0; i < s->nr; i++)
		squares += (double)s->values[i] * (double)s->values[i];
	return squares > 0 ? total * total / ((double)s->nr * squares) : 1;
}

static const char *in_words(double g)
{
	if (g < EVEN)
		return "evenly shared";
	return g < MODERATE ? "some tasks use much more than others"
	                    : "few tasks use most of the CPU time";
}

static void show_unit(const struct fairness *x, uint32_t unit, struct report *r)
{
	const struct share *s = &x->shares[unit];

	report_begin_object(r, NULL);
	units_report(&x->units, r, unit);
	report_u64(r, "runtime_ns", s->run_ns);
	report_double(r, "fair_share_pct",
	              x->fair_ns ? 100.0 * (double)s->run_ns / (double)x->fair_ns : 0, 2);
	report_u64(r, "runnable_ns", s->wait_ns);
	report_percent(r, "service_percent", s->run_ns, s->run_ns + s->wait_ns);
	report_end_object(r);
}

static int show_list(const struct fairness *x, struct report *r, const char *key, bool is_starved)
{
	SCOPED(top_done)
	struct top top = { .limit = pass_limit(&pass_fairness, x->sc.args) };
	uint64_t nr = 0;

	for (uint32_t i = 0; i < x->units.nr; i++) {
		uint64_t ns = x->shares[i].run_ns;

		if (!ns || (is_starved ? ns >= x->fair_ns / STARVED : ns <= HOGGING * x->fair_ns))
			continue;
		nr++;
		top_add(&top, is_starved ? top_lowest(ns) : ns, i);
	}
	top_rank(&top);
	report_u64(r, is_starved ? "starved_processes_count" : "hogging_processes_count", nr);
	report_begin_array(r, key);
	for (uint32_t i = 0; i < top.nr; i++)
		show_unit(x, (uint32_t)top.entries[i].id, r);
	report_end_array(r);
	return top.has_failed ? -ENOMEM : 0;
}

/* The tasks that got the smallest part of what they wanted: these are starved by others, not by lack of work. */
static int show_unserved(const struct fairness *x, struct report *r)
{
	SCOPED(top_done)
	struct top top = { .limit = pass_limit(&pass_fairness, x->sc.args) };

	for (uint32_t i = 0; i < x->units.nr; i++) {
		const struct share *s = &x->shares[i];
		double wanted = (double)s->run_ns + (double)s->wait_ns;

		if (s->wait_ns > s->run_ns)
			top_add(&top, top_fraction((double)s->wait_ns / wanted), i);
	}
	top_rank(&top);
	report_begin_array(r, "least_served");
	for (uint32_t i = 0; i < top.nr; i++)
		show_unit(x, (uint32_t)top.entries[i].id, r);
	report_end_array(r);
	return top.has_failed ? -ENOMEM : 0;
}

static int show(void *work, struct report *r)
{
	const struct fairness *x = work;
	const struct samples *all = &x->runtimes;
	double g = gini(all, (double)x->total_ns);
	int err;

	report_u64(r, "total_processes", all->nr);
	units_report_mode(&x->units, r);
	report_u64(r, "total_cpu_time_ns", x->total_ns);
	report_u64(r, "fair_share_ns", x->fair_ns);
	report_double(r, "gini_coefficient", g, 4);
	report_double(r, "jain_index", jain(all, (double)x->total_ns), 4);
	report_double(r, "max_min_ratio",
	              all->nr > 1 ? (double)all->values[all->nr - 1] / (double)all->values[0] : 1,
	              2);
	report_begin_object(r, "interpretation");
	report_string(r, "gini", in_words(g));
	report_end_object(r);
	err = show_list(x, r, "top_starved", true);
	if (!err)
		err = show_list(x, r, "top_hogging", false);
	if (!err)
		err = show_unserved(x, r);
	report_string(r, "note",
	              "starved tasks may just have had little to do: service_percent is "
	              "what each got of the time in which it could have run");
	return err;
}

const struct pass pass_fairness = {
	.id = "fairness",
	.name = "Fairness",
	.category = "scheduling",
	.what = "how evenly CPU time was shared, which tasks hog it and which starve",
	.needs = EV_BIT(EV_SWITCH),
	.uses = EV_BIT(EV_WAKING) | EV_BIT(EV_WAKEUP),
	.cost = 2,
	.work = { .size = sizeof(struct fairness),
	          .units_at = offsetof(struct fairness, units),
	          .collect = collect,
	          .show = show,
	          .done = done },
};
