/*
 * CPU use: the time that slices of each thread, or process, cover. A slice that is open at the end
 * counts with what was seen of it, but has no length yet. One thread never has more than the
 * requested time.
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "analyses/passes.h"
#include "analyze/grouped.h"
#include "analyze/pass.h"
#include "analyze/top.h"
#include "analyze/units.h"
#include "base/cleanup.h"

struct task_use {
	uint64_t run_ns;
	uint64_t nr_slices;
};

struct runtime {
	struct scope sc;
	struct units units;
	struct task_use *uses; /* by unit */
	struct grouped slices;
	uint64_t total_ns;
	uint64_t unattributed_ns; /* of tasks that found no place in model/tasks */
};

static void done(void *work)
{
	struct runtime *x = work;

	free(x->uses);
	grouped_done(&x->slices);
}

static int collect(void *work)
{
	struct runtime *x = work;
	struct rows it = { .sc = &x->sc };
	struct pair_slice row;

	x->uses = calloc(x->units.nr ? x->units.nr : 1, sizeof(*x->uses));
	if (!x->uses)
		return -ENOMEM;
	while (rows_slice(&it, &row)) {
		uint64_t ns = scope_cut(&x->sc, row.start_ns, row.end_ns);
		uint32_t unit;

		x->total_ns += ns;
		if (row.task == TASKS_NONE) {
			x->unattributed_ns += ns;
			continue;
		}
		unit = units_at(&x->units, row.task, row.start_ns);
		x->uses[unit].run_ns += ns;
		x->uses[unit].nr_slices++;
		if (row.end != PAIR_END_OPEN)
			grouped_add(&x->slices, unit, row.end_ns - row.start_ns);
	}
	return grouped_order(&x->slices, x->units.nr);
}

static void show_unit(const struct runtime *x, uint32_t unit, struct report *r)
{
	struct samples slices = grouped_at(&x->slices, unit);

	units_report(&x->units, r, unit);
	report_u64(r, "thread_count", units_threads(&x->units, unit));
	report_u64(r, "total_runtime_ns", x->uses[unit].run_ns);
	report_percent(r, "cpu_time_percent", x->uses[unit].run_ns, x->sc.span_ns);
	report_u64(r, "num_switches", x->uses[unit].nr_slices);
	samples_report(&slices, r, "_timeslice_ns");
}

static int show(void *work, struct report *r)
{
	const struct runtime *x = work;
	SCOPED(top_done)
	struct top top = { .limit = pass_limit(&pass_process_runtime, x->sc.args) };
	uint64_t nr = 0;

	for (uint32_t i = 0; i < x->units.nr; i++) {
		if (!x->uses[i].nr_slices)
			continue;
		nr++;
		top_add(&top, x->uses[i].run_ns, i);
	}
	if (top.has_failed)
		return -ENOMEM;
	top_rank(&top);
	report_u64(r, "total_processes", nr);
	report_u64(r, "processes_shown", top.nr);
	report_bool(r, "multi_threaded", false);
	units_report_mode(&x->units, r);
	scope_report_pid(&x->sc, r);
	report_u64(r, "span_ns", x->sc.span_ns);
	report_u64(r, "total_runtime_ns", x->total_ns);
	report_u64(r, "unattributed_runtime_ns", x->unattributed_ns);
	for (uint32_t i = 0; top_row(&top, i, r, "processes"); i++)
		show_unit(x, (uint32_t)top.entries[i].id, r);
	return 0;
}

const struct pass pass_process_runtime = {
	.id = "process_runtime",
	.name = "Process Runtime",
	.category = "scheduling",
	.what = "which threads or processes used the CPUs, and in slices of which length",
	.needs = EV_BIT(EV_SWITCH),
	.cost = 1,
	.work = { .size = sizeof(struct runtime),
	          .units_at = offsetof(struct runtime, units),
	          .collect = collect,
	          .show = show,
	          .done = done },
};
