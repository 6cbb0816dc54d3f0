#include "analyze/slice_facts.h"

#include <errno.h>
#include <stdlib.h>

#include "base/grow.h"

/* How long after a switch sched_ext's record of it may come. */
#define LATE_NS 20000ULL

static int add_run(struct slice_runs *runs, const struct pair_run *run, uint64_t row)
{
	if (GROW(runs->at, runs->cap, runs->nr))
		return -ENOMEM;
	runs->at[runs->nr++] = (struct slice_run){ run->ts_ns, row };
	return 0;
}

static int collect_runs(struct slice_facts *f, const struct scope *sc)
{
	struct walk w = { .sc = sc, .table = TIMELINE_RUN, .is_all = true };
	const union timeline_row *row;
	int err = 0;

	while (!err && (row = walk_next(&w)))
		if (row->run.cpu < f->nr_cpus)
			err = add_run(&f->runs[row->run.cpu], &row->run, w.id - 1);
	return err;
}

int slice_facts_init(struct slice_facts *f, const struct scope *sc)
{
	size_t nr = sc->nr_cpus ? sc->nr_cpus : 1;

	*f = (struct slice_facts){
		.timeline = sc->s->timeline,
		.pmus = { .sc = sc, .table = TIMELINE_PMU, .is_all = true },
		.nr_cpus = sc->nr_cpus,
	};
	f->runs = calloc(nr, sizeof(*f->runs));
	f->counters = calloc(nr, sizeof(*f->counters));
	if (!f->runs || !f->counters)
		return -ENOMEM;
	f->pmu = walk_next(&f->pmus);
	return collect_runs(f, sc);
}

void slice_facts_done(struct slice_facts *f)
{
	for (uint32_t i = 0; f->runs && i < f->nr_cpus; i++)
		free(f->runs[i].at);
	free(f->runs);
	free(f->counters);
	*f = (struct slice_facts){ 0 };
}

/* The first record about the task switched in at start_ns, before end_ns. */
static const struct pair_run *find_run(struct slice_facts *f, uint32_t cpu, uint32_t task,
                                       uint64_t start_ns, uint64_t end_ns)
{
	struct slice_runs *runs = cpu < f->nr_cpus ? &f->runs[cpu] : NULL;

	if (!runs)
		return NULL;
	while (runs->next < runs->nr && runs->at[runs->next].ts_ns < start_ns)
		runs->next++;
	/* There may be records of other tasks at the same moment: of one that left at once. */
	for (size_t i = runs->next; i < runs->nr && runs->at[i].ts_ns < end_ns; i++)
		if (timeline_row(f->timeline, TIMELINE_RUN, runs->at[i].row, &f->run) &&
		    f->run.run.task == task)
			return &f->run.run;
	return NULL;
}

const struct pair_run *slice_run(struct slice_facts *f, const struct pair_slice *slice)
{
	/* What is said at the end is about the next one on that CPU. */
	return find_run(f, slice->cpu, slice->task, slice->start_ns,
	                slice->end_ns > slice->start_ns ? slice->end_ns : slice->end_ns + 1);
}

const struct pair_run *slice_run_after(struct slice_facts *f, const struct pair_wait *wait)
{
	return find_run(f, wait->cpu, wait->task, wait->end_ns, wait->end_ns + LATE_NS);
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
