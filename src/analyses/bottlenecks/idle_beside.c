#include "analyses/bottlenecks/idle_beside.h"

#include <errno.h>
#include <stdlib.h>

#include "ledger/occupancy.h"

#define SAMPLE_SHARE 3 /* a CPU that was idle for less than a third of the sample is not checked */
#define NO_VICTIM    UINT32_MAX

/* The time that a CPU was idle before each of its segments. */
struct idle_track {
	const struct occupancy *o;
	uint64_t *before_ns; /* NULL: not needed */
};

struct idle_work {
	const struct blame_sums *b;
	const struct ledger *l;
	struct bottleneck *list;
	uint32_t *of_unit;         /* its place in the list, or NO_VICTIM */
	struct idle_track *tracks; /* by CPU */
};

static int track_init(struct idle_track *t, const struct occupancy *o)
{
	uint64_t sum = 0;

	if (t->before_ns)
		return 0;
	t->o = o;
	t->before_ns = malloc(o->nr * sizeof(*t->before_ns)); /* at least one */
	if (!t->before_ns)
		return -ENOMEM;
	for (uint32_t i = 0; i < o->nr; i++) {
		uint64_t end_ns = i + 1 < o->nr ? o->at[i + 1].start_ns : o->end_ns;

		t->before_ns[i] = sum;
		sum += o->at[i].kind == OCCUPANCY_IDLE ? end_ns - o->at[i].start_ns : 0;
	}
	return 0;
}

/* From the start of the recording until a time in it. */
static uint64_t track_idle_ns(const struct idle_track *t, uint64_t ts_ns)
{
	uint32_t i = occupancy_find(t->o, ts_ns);
	const struct occupancy_segment *at = &t->o->at[i];

	return t->before_ns[i] +
	       (at->kind == OCCUPANCY_IDLE && ts_ns > at->start_ns ? ts_ns - at->start_ns : 0);
}

static uint64_t idle_ns(const struct occupancy *o, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t sum = 0;

	for (uint32_t i = occupancy_find(o, from_ns); i < o->nr && o->at[i].start_ns < to_ns; i++) {
		uint64_t end_ns = i + 1 < o->nr ? o->at[i + 1].start_ns : o->end_ns;
		uint64_t from = o->at[i].start_ns > from_ns ? o->at[i].start_ns : from_ns;

		end_ns = end_ns < to_ns ? end_ns : to_ns;
		if (o->at[i].kind == OCCUPANCY_IDLE && end_ns > from)
			sum += end_ns - from;
	}
	return sum;
}

/* One of the sample of long waits; false where it has no more. */
static bool sampled(const struct blame_sums *b, uint32_t victim, uint32_t i, struct pair_wait *out)
{
	const struct blame_victim *v = &b->victims[victim];
	union timeline_row row = { .wait = { 0 } };

	if (i >= v->nr_long || i >= BLAME_LONG ||
	    !timeline_row(b->sc->s->timeline, TIMELINE_WAIT, v->long_ids[i], &row))
		return false;
	*out = row.wait;
	return true;
}

/* What a CPU was idle during the sample; of each wait, if its task might use the CPU then, or if not. */
static uint64_t sample_idle_ns(const struct idle_work *x, uint32_t victim, uint32_t cpu,
                               bool may_use)
{
	struct pair_wait w;
	uint64_t sum = 0;

	for (uint32_t i = 0; sampled(x->b, victim, i, &w); i++) {
		uint64_t from_ns = pair_wait_woken_ns(&w);

		if (source_may_use(x->b->sc->s, w.task, cpu, from_ns) == may_use)
			sum += idle_ns(ledger_cpu(x->l, cpu), from_ns, w.end_ns);
	}
	return sum;
}

static uint64_t sample_ns(const struct blame_sums *b, uint32_t victim)
{
	struct pair_wait w;
	uint64_t sum = 0;

	for (uint32_t i = 0; sampled(b, victim, i, &w); i++)
		sum += w.end_ns - pair_wait_woken_ns(&w);
	return sum;
}

/* The CPU that was idle most in the sample; PAIR_NO_CPU if there is none that is worth a look, or if other things than tasks kept it. */
static uint32_t choose(const struct idle_work *x, const struct bottleneck *of, bool may_use)
{
	uint64_t most_ns = sample_ns(x->b, of->victim) / SAMPLE_SHARE;
	uint32_t most = PAIR_NO_CPU;

	if (!of->nr_causes || of->causes[0].kind != LEDGER_TASK)
		return PAIR_NO_CPU;
	for (uint32_t cpu = 0; cpu < x->b->sc->nr_cpus; cpu++) {
		uint64_t ns;

		if (source_is_isolated(x->b->sc->s, cpu))
			continue;
		ns = sample_idle_ns(x, of->victim, cpu, may_use);
		if (ns > most_ns) {
			most_ns = ns;
			most = cpu;
		}
	}
	return most;
}

/* Both CPUs of each victim; *out is whether there are any. */
static int choose_all(struct idle_work *x, uint32_t nr, bool *out)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < nr; i++) {
		struct bottleneck *at = &x->list[i];

		for (int may_use = 0; !err && may_use < 2; may_use++) {
			struct idle_beside *beside = may_use ? &at->may_use : &at->forbidden;

			beside->cpu = choose(x, at, may_use);
			if (beside->cpu == PAIR_NO_CPU)
				continue;
			x->of_unit[at->victim] = i;
			*out = true;
			err = track_init(&x->tracks[beside->cpu], ledger_cpu(x->l, beside->cpu));
		}
	}
	return err;
}

static void add(const struct idle_work *x, struct idle_beside *beside, const struct pair_wait *w,
                bool may_use)
{
	const struct scope *sc = x->b->sc;
	const struct idle_track *t = &x->tracks[beside->cpu];
	uint64_t woken_ns = pair_wait_woken_ns(w);
	uint64_t from_ns = woken_ns > sc->from_ns ? woken_ns : sc->from_ns;
	uint64_t to_ns = w->end_ns < sc->to_ns ? w->end_ns : sc->to_ns;

	if (from_ns < to_ns && source_may_use(sc->s, w->task, beside->cpu, woken_ns) == may_use)
		beside->ns += track_idle_ns(t, to_ns) - track_idle_ns(t, from_ns);
}

static void add_all(struct idle_work *x)
{
	struct rows it = { .sc = x->b->sc };
	struct pair_wait w;

	while (rows_wait(&it, &w)) {
		uint32_t i;

		if (w.task == TASKS_NONE)
			continue;
		i = x->of_unit[units_at(x->b->units, w.task, pair_wait_woken_ns(&w))];
		if (i == NO_VICTIM)
			continue;
		if (x->list[i].may_use.cpu != PAIR_NO_CPU)
			add(x, &x->list[i].may_use, &w, true);
		if (x->list[i].forbidden.cpu != PAIR_NO_CPU)
			add(x, &x->list[i].forbidden, &w, false);
	}
}

int idle_beside_find(const struct blame_sums *b, const struct ledger *l, struct bottleneck *list,
                     uint32_t nr)
{
	struct idle_work x = { .b = b, .l = l, .list = list };
	bool has_any = false;
	int err = -ENOMEM;

	x.of_unit = malloc((b->units->nr + 1UL) * sizeof(*x.of_unit));
	x.tracks = calloc(b->sc->nr_cpus + 1UL, sizeof(*x.tracks));
	if (x.of_unit && x.tracks) {
		for (uint32_t i = 0; i < b->units->nr; i++)
			x.of_unit[i] = NO_VICTIM;
		err = choose_all(&x, nr, &has_any);
		if (!err && has_any)
			add_all(&x);
	}
	for (uint32_t cpu = 0; x.tracks && cpu < b->sc->nr_cpus; cpu++)
		free(x.tracks[cpu].before_ns);
	free(x.tracks);
	free(x.of_unit);
	return err;
}
