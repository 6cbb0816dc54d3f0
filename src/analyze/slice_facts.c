#include "analyze/slice_facts.h"

#include <errno.h>
#include <stdlib.h>

int slice_facts_init(struct slice_facts *f, const struct scope *sc)
{
	size_t nr = sc->nr_cpus ? sc->nr_cpus : 1;

	*f = (struct slice_facts){
		.runs = { .sc = sc, .table = TIMELINE_RUN, .is_all = true },
		.pmus = { .sc = sc, .table = TIMELINE_PMU, .is_all = true },
		.nr_cpus = sc->nr_cpus,
	};
	f->latest = calloc(nr, sizeof(*f->latest));
	f->counters = calloc(nr, sizeof(*f->counters));
	if (!f->latest || !f->counters)
		return -ENOMEM;
	f->run = walk_next(&f->runs);
	f->pmu = walk_next(&f->pmus);
	return 0;
}

void slice_facts_done(struct slice_facts *f)
{
	free(f->latest);
	free(f->counters);
	*f = (struct slice_facts){ 0 };
}

/* All that was said up to then. */
static void read_runs(struct slice_facts *f, uint64_t until_ns)
{
	while (f->run && f->run->run.ts_ns <= until_ns) {
		if (f->run->run.cpu < f->nr_cpus)
			f->latest[f->run->run.cpu] = f->run->run;
		f->run = walk_next(&f->runs);
	}
}

static const struct pair_run *latest(const struct slice_facts *f, uint32_t cpu, uint32_t task,
                                     uint64_t start_ns)
{
	const struct pair_run *run = cpu < f->nr_cpus ? &f->latest[cpu] : NULL;

	return run && run->ts_ns == start_ns && run->task == task ? run : NULL;
}

const struct pair_run *slice_run(struct slice_facts *f, const struct pair_slice *slice)
{
	/* What is said at the end is about the next one on that CPU. */
	read_runs(f, slice->end_ns > slice->start_ns ? slice->end_ns - 1 : slice->end_ns);
	return latest(f, slice->cpu, slice->task, slice->start_ns);
}

const struct pair_run *slice_run_after(struct slice_facts *f, const struct pair_wait *wait)
{
	read_runs(f, wait->end_ns);
	return latest(f, wait->cpu, wait->task, wait->end_ns);
}

static void keep_counter(struct slice_facts *f, const struct pair_pmu *pmu)
{
	struct slice_counters *c = &f->counters[pmu->cpu];

	if (c->end_ns != pmu->ts_ns || c->task != pmu->task)
		*c = (struct slice_counters){ .end_ns = pmu->ts_ns, .task = pmu->task };
	c->has |= 1U << pmu->index;
	c->values[pmu->index] = pmu->value;
}

const struct slice_counters *slice_counters(struct slice_facts *f, const struct pair_slice *slice)
{
	const struct slice_counters *c;

	while (f->pmu && f->pmu->pmu.ts_ns <= slice->end_ns) {
		if (f->pmu->pmu.cpu < f->nr_cpus && f->pmu->pmu.index < SLICE_COUNTERS)
			keep_counter(f, &f->pmu->pmu);
		f->pmu = walk_next(&f->pmus);
	}
	c = slice->cpu < f->nr_cpus ? &f->counters[slice->cpu] : NULL;
	return c && c->has && c->end_ns == slice->end_ns && c->task == slice->task ? c : NULL;
}
