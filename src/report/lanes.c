#include "report/lanes.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "analyze/sort_u64.h"
#include "base/cleanup.h"
#include "base/grow.h"
#include "base/parallel.h"
#include "ledger/occupancy.h"

#define MAX_BUCKETS 4096U
#define MIN_BUCKETS 64U
#define FEW_STAYS   50000U /* not worth threads */

/* Sums of one CPU. */
struct lane_sum {
	uint64_t busy_ns;
	uint64_t unknown_ns;
	uint64_t depth_ns; /* tasks times time */
	uint32_t depth_max;
	uint32_t who;
	uint64_t who_ns;
};

struct lane_work {
	const struct gather *g;
	const struct report_axis *axis;
	/* Of one CPU, until its cells are made: */
	struct lane_sum *sums;
	uint64_t *by_who;  /* raw number: what it ran in the bucket at hand */
	uint32_t *touched; /* raw numbers that are not 0 */
	uint32_t nr_touched, room_touched;
	uint32_t bucket;
	/* Of all: */
	uint64_t *starts, *ends; /* of stays of all CPUs, those of one next to each other */
	size_t *first;           /* by CPU */
};

static void work_done(struct lane_work *x)
{
	free(x->starts);
	free(x->ends);
	free(x->first);
}

static void end_bucket(struct lane_work *x)
{
	struct lane_sum *sum = &x->sums[x->bucket];

	for (uint32_t i = 0; i < x->nr_touched; i++) {
		uint32_t who = x->touched[i];

		if (x->by_who[who] > sum->who_ns) {
			sum->who_ns = x->by_who[who];
			sum->who = who;
		}
		x->by_who[who] = 0;
	}
	x->nr_touched = 0;
}

static int add_run(struct lane_work *x, uint32_t who, uint64_t ns)
{
	if (!x->by_who[who]) {
		if (GROW(x->touched, x->room_touched, x->nr_touched))
			return -ENOMEM;
		x->touched[x->nr_touched++] = who;
	}
	x->by_who[who] += ns;
	return 0;
}

static int add_piece(struct lane_work *x, const struct occupancy_segment *s, uint64_t ns,
                     uint32_t who)
{
	struct lane_sum *sum = &x->sums[x->bucket];

	if (s->kind == OCCUPANCY_UNKNOWN)
		sum->unknown_ns += ns;
	else if (s->kind != OCCUPANCY_IDLE)
		sum->busy_ns += ns;
	return s->kind == OCCUPANCY_TASK ? add_run(x, who, ns) : 0;
}

/* A segment of the track, cut into buckets. */
static int add_segment(struct lane_work *x, const struct occupancy_segment *s, uint64_t end_ns)
{
	const struct report_axis *a = x->axis;
	uint64_t at_ns = s->start_ns > a->from_ns ? s->start_ns : a->from_ns;
	uint32_t who = s->kind == OCCUPANCY_TASK ? who_at(x->g->who, s->what, s->start_ns) : 0;
	int err = 0;

	if (end_ns > a->to_ns)
		end_ns = a->to_ns;
	while (at_ns < end_ns && !err) {
		uint64_t edge_ns = axis_edge(a, x->bucket + 1);

		if (at_ns >= edge_ns && x->bucket + 1 < a->nr) {
			end_bucket(x);
			x->bucket = axis_at(a, at_ns);
			edge_ns = axis_edge(a, x->bucket + 1);
		}
		if (edge_ns > end_ns || x->bucket + 1 >= a->nr)
			edge_ns = end_ns;
		err = add_piece(x, s, edge_ns - at_ns, who);
		at_ns = edge_ns;
	}
	return err;
}

static int add_track(struct lane_work *x, uint32_t cpu)
{
	const struct occupancy *o = ledger_cpu(x->g->ledger, cpu);
	uint32_t at = occupancy_find(o, x->axis->from_ns);
	int err = 0;

	x->bucket = 0;
	for (; at < o->nr && o->at[at].start_ns < x->axis->to_ns && !err; at++)
		err = add_segment(x, &o->at[at],
		                  at + 1 < o->nr ? o->at[at + 1].start_ns : o->end_ns);
	end_bucket(x);
	return err;
}

/* So many were in the queue from one time to another. */
static void add_depth(struct lane_work *x, uint64_t from_ns, uint64_t to_ns, uint32_t depth)
{
	uint32_t bucket = axis_at(x->axis, from_ns);

	while (from_ns < to_ns) {
		uint64_t edge_ns = bucket + 1 < x->axis->nr ? axis_edge(x->axis, bucket + 1)
		                                            : to_ns;
		uint64_t until_ns = edge_ns < to_ns ? edge_ns : to_ns;
		struct lane_sum *sum = &x->sums[bucket++];

		sum->depth_ns += depth * (until_ns - from_ns);
		if (depth > sum->depth_max)
			sum->depth_max = depth;
		from_ns = until_ns;
	}
}

/* The ends of a moment come first: stays are cut where buckets begin, and go on there. */
static void add_depths(struct lane_work *x, uint32_t cpu)
{
	size_t from = x->first[cpu], nr = x->first[cpu + 1] - from, k = 0;
	uint64_t *starts = x->starts + from, *ends = x->ends + from;
	uint64_t at_ns = 0;
	uint32_t depth = 0;

	sort_u64(starts, nr);
	sort_u64(ends, nr);
	for (size_t i = 0; k < nr;) {
		bool is_start = i < nr && starts[i] < ends[k];
		uint64_t ts_ns = is_start ? starts[i++] : ends[k++];

		if (depth)
			add_depth(x, at_ns, ts_ns, depth);
		at_ns = ts_ns;
		depth += is_start ? 1 : -1U;
	}
}

static uint8_t share(uint64_t ns, uint64_t of_ns)
{
	if (!ns || !of_ns)
		return 0;
	if (ns >= of_ns)
		return UINT8_MAX;
	ns = (ns * UINT8_MAX + of_ns / 2) / of_ns;
	return ns ? (uint8_t)ns : 1;
}

static void keep(const struct lane_work *x, struct report_lane_cell *cells)
{
	const struct report_axis *a = x->axis;

	for (uint32_t i = 0; i < a->nr; i++) {
		struct lane_sum *sum = &x->sums[i];
		uint64_t end_ns = i + 1 < a->nr ? axis_edge(a, i + 1) : a->to_ns;
		uint64_t ns = end_ns > axis_edge(a, i) ? end_ns - axis_edge(a, i) : 0;

		cells[i] = (struct report_lane_cell){
			.busy = share(sum->busy_ns, ns),
			.unknown = share(sum->unknown_ns, ns),
			.depth_max = sum->depth_max < UINT16_MAX ? (uint16_t)sum->depth_max
			                                         : UINT16_MAX,
			.depth_mean_x16 = ns ? (uint32_t)((sum->depth_ns * 16 + ns / 2) / ns) : 0,
			.who = sum->who,
		};
	}
}

/* Starts and ends of stays by CPU. */
struct spreading {
	struct lane_work *x;
	uint32_t nr_cpus;
	size_t *next; /* by part, then by CPU: how many there are, then where the next one goes */
};

static void count_part(void *ctx, unsigned int worker, size_t item)
{
	struct spreading *s = ctx;
	const struct gather_part *part = &s->x->g->parts[item];
	size_t *next = s->next + item * s->nr_cpus;

	(void)worker;
	for (size_t i = 0; i < part->nr; i++)
		next[part->stays[i].cpu]++;
}

static void spread_part(void *ctx, unsigned int worker, size_t item)
{
	struct spreading *s = ctx;
	const struct gather_part *part = &s->x->g->parts[item];
	size_t *next = s->next + item * s->nr_cpus;

	(void)worker;
	for (size_t i = 0; i < part->nr; i++) {
		const struct gather_stay *stay = &part->stays[i];
		size_t at = next[stay->cpu]++;

		s->x->starts[at] = stay->start_ns;
		s->x->ends[at] = stay->end_ns;
	}
}

static void find_places(struct spreading *s)
{
	size_t at = 0;

	for (uint32_t cpu = 0; cpu < s->nr_cpus; cpu++) {
		s->x->first[cpu] = at;
		for (uint32_t i = 0; i < GATHER_PARTS; i++) {
			size_t *next = &s->next[(size_t)i * s->nr_cpus + cpu], nr = *next;

			*next = at;
			at += nr;
		}
	}
	s->x->first[s->nr_cpus] = at;
}

static int distribute(struct lane_work *x, uint32_t nr_cpus)
{
	SCOPED(scoped_free)
	size_t *next = calloc((size_t)GATHER_PARTS * nr_cpus + 1, sizeof(*next));
	struct spreading s = { x, nr_cpus, next };
	size_t nr = 1;

	for (uint32_t i = 0; i < GATHER_PARTS; i++)
		nr += x->g->parts[i].nr;
	x->first = calloc(nr_cpus + 1UL, sizeof(*x->first));
	x->starts = malloc(nr * sizeof(*x->starts));
	x->ends = malloc(nr * sizeof(*x->ends));
	if (!next || !x->first || !x->starts || !x->ends)
		return -ENOMEM;
	parallel_for(&(struct parallel){ .nr_workers = nr < FEW_STAYS, .fn = count_part, .ctx = &s },
	             GATHER_PARTS);
	find_places(&s);
	parallel_for(
		&(struct parallel){ .nr_workers = nr < FEW_STAYS, .fn = spread_part, .ctx = &s },
		GATHER_PARTS);
	return 0;
}

struct lane_cpus {
	struct lanes *l;
	const struct lane_work *x;
	atomic_int err;
};

static void make_one(void *ctx, unsigned int worker, size_t cpu)
{
	struct lane_cpus *all = ctx;
	struct lane_work x = *all->x;
	SCOPED(scoped_free) struct lane_sum *sums = calloc(x.axis->nr, sizeof(*sums));
	SCOPED(scoped_free) uint64_t *by_who = calloc(x.g->who->nr, sizeof(*by_who));
	int err = -ENOMEM;

	(void)worker;
	if (sums && by_who) {
		x.sums = sums;
		x.by_who = by_who;
		err = add_track(&x, (uint32_t)cpu);
		add_depths(&x, (uint32_t)cpu);
		keep(&x, all->l->cells + cpu * x.axis->nr);
	}
	free(x.touched);
	if (err)
		atomic_store(&all->err, err);
}

static int make(struct lanes *l, struct lane_work *x)
{
	uint32_t nr_cpus = x->g->sc->nr_cpus;
	struct lane_cpus all = { .l = l, .x = x };
	struct parallel p = { .fn = make_one, .ctx = &all };
	int err;

	l->cells = calloc((size_t)l->axis.nr * nr_cpus, sizeof(*l->cells));
	if (!l->cells)
		return -ENOMEM;
	err = distribute(x, nr_cpus);
	if (!err)
		parallel_for(&p, nr_cpus);
	return err ? err : atomic_load(&all.err);
}

int lanes_make(struct lanes *l, const struct gather *g, uint32_t max_cells)
{
	struct lane_work x = { .g = g, .axis = &l->axis };
	uint32_t nr_cpus = g->sc->nr_cpus, nr = nr_cpus ? max_cells / nr_cpus : 0;
	int err;

	*l = (struct lanes){ 0 };
	if (!g->ledger || !nr_cpus || !g->sc->span_ns)
		return 0;
	if (nr > MAX_BUCKETS)
		nr = MAX_BUCKETS;
	l->axis = axis_make(g->sc->from_ns, g->sc->to_ns, nr > MIN_BUCKETS ? nr : MIN_BUCKETS);
	err = make(l, &x);
	work_done(&x);
	l->view = (struct report_lanes){ .nr_cpus = nr_cpus,
		                         .nr_buckets = l->axis.nr,
		                         .first_ns = l->axis.from_ns - g->sc->s->start_ns,
		                         .width_ns = l->axis.width_ns,
		                         .cells = l->cells };
	return err;
}

static size_t nr_cells(const struct lanes *l)
{
	return (size_t)l->view.nr_cpus * l->view.nr_buckets;
}

void lanes_mark(const struct lanes *l, const struct who *w, uint8_t *is_used)
{
	for (size_t i = 0; i < nr_cells(l); i++)
		is_used[w->as_who ? w->as_who[l->cells[i].who] : l->cells[i].who] = 1;
}

void lanes_number(struct lanes *l, const struct who *w)
{
	for (size_t i = 0; i < nr_cells(l); i++) {
		uint32_t who = l->cells[i].who;

		l->cells[i].who = w->numbers[w->as_who ? w->as_who[who] : who];
	}
}

int lanes_pack(const struct lanes *l, struct pack *out)
{
	*out = (struct pack){ .table = "busy" };
	pack_column(out, "cpu", true);
	pack_column(out, "bucket", true);
	pack_column(out, "busy", false);
	pack_column(out, "unknown", false);
	pack_column(out, "depth_mean", false);
	pack_column(out, "depth_max", false);
	pack_column(out, "who", false);
	for (size_t i = 0; i < nr_cells(l); i++) {
		const struct report_lane_cell *c = &l->cells[i];

		if (!c->busy && !c->unknown && !c->depth_max)
			continue;
		pack_row(out, (uint64_t[]){ i / l->view.nr_buckets, i % l->view.nr_buckets, c->busy,
		                            c->unknown, c->depth_mean_x16, c->depth_max, c->who });
	}
	return pack_close(out);
}

void lanes_done(struct lanes *l)
{
	free(l->cells);
	*l = (struct lanes){ 0 };
}
