#include "ledger/sweep.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "ledger/occupancy.h"

#define CPUS      (UINT16_MAX + 1U)
#define MAX_STEPS 16 /* per entry, of sorting what is nearly in order */

/* A stay begins or ends. */
struct edge_of_stay {
	uint64_t ts_ns;
	uint32_t unit;
};

struct waiting {
	uint32_t unit;
	uint32_t nr;
};

struct sweep {
	const struct ledger *l;
	const struct sweep_out *out;
	uint32_t cpu;
	uint32_t segment;
	uint64_t at_ns;
	struct waiting *now; /* units with tasks in the queue */
	uint32_t nr;
	uint32_t *places; /* by unit: 1 + its place in now; 0 = none */
};

static int by_time(const void *a, const void *b)
{
	const struct edge_of_stay *left = a, *right = b;

	return (left->ts_ns > right->ts_ns) - (left->ts_ns < right->ts_ns);
}

/* Waits come in the order of their ends, so that entries are only as far from their places as a queue is deep. */
static void sort(struct edge_of_stay *at, size_t nr)
{
	size_t steps_left = MAX_STEPS * nr;

	for (size_t i = 1; i < nr; i++) {
		struct edge_of_stay e = at[i];
		size_t k = i;

		for (; k && steps_left && at[k - 1].ts_ns > e.ts_ns; k--) {
			at[k] = at[k - 1];
			steps_left--;
		}
		at[k] = e;
		if (!steps_left) {
			qsort(at, nr, sizeof(*at), by_time);
			return;
		}
	}
}

static void begin_stay(struct sweep *s, uint32_t unit)
{
	if (!s->places[unit]) {
		s->now[s->nr++] = (struct waiting){ .unit = unit };
		s->places[unit] = s->nr;
	}
	s->now[s->places[unit] - 1].nr++;
}

static void end_stay(struct sweep *s, uint32_t unit)
{
	uint32_t place = s->places[unit];

	if (--s->now[place - 1].nr)
		return;
	s->places[unit] = 0;
	s->now[place - 1] = s->now[--s->nr];
	if (place - 1 < s->nr)
		s->places[s->now[place - 1].unit] = place;
}

static int give(struct sweep *s, const struct ledger_part *part)
{
	int err = 0;

	for (uint32_t i = 0; i < s->nr && part->start_ns < part->end_ns && !err; i++)
		err = s->out->part(s->out->ctx, s->now[i].unit, s->now[i].nr, part);
	return err;
}

/* All segments up to a time, for all that wait. */
static int advance(struct sweep *s, uint64_t ts_ns)
{
	int err = 0;

	while (s->at_ns < ts_ns && !err) {
		struct ledger_part part = { .start_ns = s->at_ns, .end_ns = ts_ns }, stolen;

		ledger_part_of(s->l, s->cpu, &s->segment, &part);
		s->at_ns = part.end_ns;
		ledger_cut_stolen(s->l, &part, &stolen);
		err = give(s, &part);
		if (!err)
			err = give(s, &stolen);
	}
	return err;
}

/* The stays of one CPU. Of the same moment beginnings come first, so that no count goes below 0. */
static int sweep_cpu(struct sweep *s, struct edge_of_stay *starts, struct edge_of_stay *ends,
                     size_t nr)
{
	size_t i = 0, k = 0;
	int err = 0;

	sort(starts, nr);
	sort(ends, nr);
	while (k < nr && !err) {
		bool is_start = i < nr && starts[i].ts_ns <= ends[k].ts_ns;
		const struct edge_of_stay *e = is_start ? &starts[i++] : &ends[k++];

		if (!s->nr) {
			s->at_ns = e->ts_ns;
			s->segment = occupancy_find(ledger_cpu(s->l, s->cpu), s->at_ns);
		}
		err = advance(s, e->ts_ns);
		if (is_start)
			begin_stay(s, e->unit);
		else
			end_stay(s, e->unit);
	}
	return err;
}

/* Beginnings and ends by CPU: those of a CPU go up to first[cpu]. */
static void distribute(const struct sweep_stay *stays, size_t nr, size_t *first,
                       struct edge_of_stay *starts, struct edge_of_stay *ends)
{
	for (size_t i = 0; i < nr; i++)
		first[stays[i].cpu + 1U]++;
	for (size_t cpu = 1; cpu <= CPUS; cpu++)
		first[cpu] += first[cpu - 1];
	for (size_t i = 0; i < nr; i++) {
		size_t at = first[stays[i].cpu]++;

		starts[at] = (struct edge_of_stay){ stays[i].start_ns, stays[i].unit };
		ends[at] = (struct edge_of_stay){ stays[i].end_ns, stays[i].unit };
	}
}

int sweep_run(const struct ledger *l, const struct sweep_stay *stays, size_t nr_stays,
              uint32_t nr_units, const struct sweep_out *out)
{
	struct sweep s = { .l = l, .out = out };
	SCOPED(scoped_free) struct edge_of_stay *starts = calloc(nr_stays + 1, sizeof(*starts));
	SCOPED(scoped_free) struct edge_of_stay *ends = calloc(nr_stays + 1, sizeof(*ends));
	SCOPED(scoped_free) size_t *first = calloc(CPUS + 1, sizeof(*first));
	int err = 0;

	s.places = calloc(nr_units + 1UL, sizeof(*s.places));
	s.now = calloc(nr_units + 1UL, sizeof(*s.now));
	if (!starts || !ends || !first || !s.places || !s.now)
		err = -ENOMEM;
	else
		distribute(stays, nr_stays, first, starts, ends);
	for (size_t from = 0; from < nr_stays && !err; s.cpu++) {
		size_t to = first[s.cpu];

		err = sweep_cpu(&s, starts + from, ends + from, to - from);
		from = to;
	}
	free(s.places);
	free(s.now);
	return err;
}
