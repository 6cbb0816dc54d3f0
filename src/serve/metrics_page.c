#include "serve/metrics_page.h"

#include <stdio.h>
#include <string.h>

#define NS_PER_S 1e9

/* What the writers of single metrics share. */
struct page {
	const struct sums *s;
	const struct page_facts *facts;
	struct exposition *e;
};

static const struct metric_labels no_labels = { 0 };

static double seconds(uint64_t ns)
{
	return (double)ns / NS_PER_S;
}

static void put_single(const struct page *p, enum metric_id id, double value)
{
	exposition_begin(p->e, &metrics[id]);
	exposition_value(p->e, &no_labels, value);
	exposition_end(p->e);
}

static void put_labelled(const struct page *p, const char *label, const char *text, double value)
{
	const struct metric_label one = { label, text };

	exposition_value(p->e, &(struct metric_labels){ &one, 1 }, value);
}

static void put_hist(const struct page *p, const struct metric_labels *labels, const struct hist *h,
                     const struct bounds *b, const struct exemplar *x)
{
	uint64_t cum[HIST_SLOTS];
	const struct metric_histogram out = { .nr = b->nr,
		                              .le = b->le,
		                              .text = b->text,
		                              .cum = cum,
		                              .count = h->count,
		                              .sum = seconds(h->sum_ns),
		                              .exemplar = x,
		                              .native = h };

	bounds_sum(b, h->slots, cum);
	exposition_histogram(p->e, labels, &out);
}

/* One whose name is too long is left out rather than cut. */
static void name_dump(const struct page *p, struct exemplar *x)
{
	const struct dump_wait wait = { .tid = x->tid, .end_s = x->unix_s, .dur_s = x->value };
	const char *name = p->facts->dumps ? dumps_find(p->facts->dumps, &wait) : NULL;
	size_t len = name ? strlen(name) : 0;

	if (len && len < sizeof(x->dump))
		memcpy(x->dump, name, len + 1);
}

static const struct exemplar *exemplar_of(const struct page *p, const struct dist *d,
                                          struct exemplar *out)
{
	const struct sums_peak *peak = dist_peak(d);

	if (!peak->ns)
		return NULL;
	*out = (struct exemplar){ .value = seconds(peak->ns),
		                  .unix_s = seconds(peak->at_ns) + p->facts->clock_to_unix_s,
		                  .tid = peak->tid,
		                  .cpu = peak->cpu };
	memcpy(out->comm, peak->comm, sizeof(out->comm));
	name_dump(p, out);
	return out;
}

static void put_dist(const struct page *p, enum dist_id id)
{
	const struct dist_def *def = &dist_defs[id];
	const struct dist *d = &p->s->dists[id];
	const struct metric_label label = { def->label, def->value };
	const struct metric_labels labels = { &label, def->label ? 1 : 0 };
	struct exemplar x;

	put_hist(p, &labels, &d->hist, p->facts->bounds, exemplar_of(p, d, &x));
}

/* Neighbours in the table are of one family. */
static void put_dists(const struct page *p)
{
	for (int i = 0; i < DISTS;) {
		enum metric_id metric = dist_defs[i].metric;

		if (!(p->s->groups & dist_defs[i].group)) {
			i++;
			continue;
		}
		exposition_begin(p->e, &metrics[metric]);
		for (; i < DISTS && dist_defs[i].metric == metric; i++)
			put_dist(p, (enum dist_id)i);
		exposition_end(p->e);
	}
}

/* Slots of depths are whole numbers: these bounds are the last one that is in. */
static void put_depth(const struct page *p)
{
	static const double le[] = { 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 62 };
	const struct tally_depth *d = &p->s->depth;
	uint64_t cum[sizeof(le) / sizeof(le[0])], sum = 0;
	uint32_t slot = 0;

	if (!(p->s->groups & STAT_GROUP_LATENCY) || p->s->is_replay)
		return;
	for (uint32_t i = 0; i < sizeof(le) / sizeof(le[0]); i++) {
		for (; slot <= (uint32_t)le[i]; slot++)
			sum += d->slots[slot];
		cum[i] = sum;
	}
	exposition_begin(p->e, &metrics[METRIC_RUNQUEUE_DEPTH]);
	exposition_histogram(p->e, &no_labels,
	                     &(struct metric_histogram){ .nr = sizeof(le) / sizeof(le[0]),
	                                                 .le = le,
	                                                 .cum = cum,
	                                                 .count = d->count,
	                                                 .sum = (double)d->sum });
	exposition_end(p->e);
}

static void put_migrations(const struct page *p)
{
	const struct sums *s = p->s;
	uint64_t far = s->migrations_llc + s->migrations_node;

	if (!(s->groups & STAT_GROUP_MIGRATION))
		return;
	exposition_begin(p->e, &metrics[METRIC_MIGRATIONS]);
	put_labelled(p, "distance", "same_llc",
	             (double)(s->migrations > far ? s->migrations - far : 0));
	put_labelled(p, "distance", "cross_llc", (double)s->migrations_llc);
	put_labelled(p, "distance", "cross_node", (double)s->migrations_node);
	exposition_end(p->e);
}

static const struct seat *next_seated(const struct page *p, uint32_t *i)
{
	const struct seat *seat;

	while ((seat = seats_at(p->s->cgroups, (*i)++)) && !seat->is_seated)
		;
	return seat;
}

static void put_cgroup_delays(const struct page *p)
{
	const struct seat *seat;
	uint32_t i = 0;

	exposition_begin(p->e, &metrics[METRIC_CGROUP_DELAY]);
	while ((seat = next_seated(p, &i))) {
		const struct metric_label label = { "cgroup", seat->name };

		put_hist(p, &(struct metric_labels){ &label, 1 }, seat->delay,
		         p->facts->cgroup_bounds, NULL);
	}
	exposition_end(p->e);
}

static void put_cgroup_values(const struct page *p, enum metric_id metric,
                              double (*value)(const struct seat *seat), bool is_throttle)
{
	const struct seat *seat;
	bool is_begun = false;
	uint32_t i = 0;

	while ((seat = next_seated(p, &i))) {
		if (is_throttle && !seat->has_throttle)
			continue;
		if (!is_begun)
			exposition_begin(p->e, &metrics[metric]);
		is_begun = true;
		put_labelled(p, "cgroup", seat->name, value(seat));
	}
	if (is_begun)
		exposition_end(p->e);
}

static double run_of(const struct seat *seat)
{
	return seconds(seat->run_ns);
}

static double throttled_of(const struct seat *seat)
{
	return (double)seat->throttled_us / 1e6;
}

static double periods_of(const struct seat *seat)
{
	return (double)seat->throttled_periods;
}

static void put_cgroups(const struct page *p)
{
	struct seats *seats = p->s->cgroups;

	if (p->s->groups & STAT_GROUP_LATENCY)
		put_cgroup_delays(p);
	if (p->s->groups & STAT_GROUP_SLICE)
		put_cgroup_values(p, METRIC_CGROUP_RUN, run_of, false);
	put_cgroup_values(p, METRIC_THROTTLED, throttled_of, true);
	put_cgroup_values(p, METRIC_THROTTLED_PERIODS, periods_of, true);
	put_single(p, METRIC_CGROUPS_SEEN, seats_nr_known(seats));
	put_single(p, METRIC_CGROUPS_FORGOTTEN, (double)seats_nr_forgotten(seats));
	put_single(p, METRIC_CGROUPS_MERGED, seats_nr_known(seats) - seats_nr_seated(seats));
}

static bool is_shown(const struct page *p, uint32_t unit)
{
	return unit & BLAME_SPECIAL || seats_at(p->s->cgroups, unit)->is_seated;
}

static void put_pairs(const struct page *p)
{
	const struct sums_blame *b = &p->s->blame;

	exposition_begin(p->e, &metrics[METRIC_BLAME]);
	for (size_t i = 0; i < b->nr; i++) {
		const struct sums_pair *pair = &b->pairs[i];
		struct metric_label labels[] = { { "victim", "" }, { "culprit", "" } };

		if (!is_shown(p, pair->victim) || !is_shown(p, pair->culprit))
			continue;
		labels[0].value = seats_at(p->s->cgroups, pair->victim)->name;
		labels[1].value = sums_culprit(p->s, pair->culprit);
		exposition_value(p->e, &(struct metric_labels){ labels, 2 }, seconds(pair->ns));
	}
	exposition_end(p->e);
}

static void put_blame(const struct page *p)
{
	const struct sums_blame *b = &p->s->blame;

	if (!b->is_on)
		return;
	put_pairs(p);
	put_single(p, METRIC_BLAME_MERGED, seconds(b->merged_ns));
	put_single(p, METRIC_BLAME_COVERED, seconds(b->covered_ns));
}

static void put_wasted(const struct page *p)
{
	if (p->s->has_wasted)
		put_single(p, METRIC_WASTED_IDLE, seconds(p->s->wasted_ns));
}

static void put_scx(const struct page *p)
{
	const struct sums_scx *x = &p->s->scx;

	if (!x->is_known)
		return;
	put_single(p, METRIC_SCX_ENABLED, x->is_enabled);
	if (x->scheduler[0]) {
		exposition_begin(p->e, &metrics[METRIC_SCX_SCHEDULER]);
		put_labelled(p, "scheduler", x->scheduler, 1);
		exposition_end(p->e);
	}
	if (x->nr_enables >= 0)
		put_single(p, METRIC_SCX_ENABLES, (double)x->nr_enables);
	if (x->nr_rejected >= 0)
		put_single(p, METRIC_SCX_REJECTED, (double)x->nr_rejected);
}

static void put_counts(const struct page *p, enum metric_id metric, const char *label,
                       const struct sums_counts *c)
{
	if (!c->nr)
		return;
	exposition_begin(p->e, &metrics[metric]);
	for (size_t i = 0; i < c->nr; i++)
		put_labelled(p, label, c->items[i].name,
		             (double)(c->items[i].before + c->items[i].now));
	exposition_end(p->e);
}

static void put_build(const struct page *p)
{
	const struct metric_label labels[] = { { "version", p->facts->version },
		                               { "kernel", p->facts->kernel },
		                               { "machine", p->facts->machine } };

	exposition_begin(p->e, &metrics[METRIC_BUILD]);
	exposition_value(p->e, &(struct metric_labels){ labels, 3 }, 1);
	exposition_end(p->e);
}

static void put_columns(const struct page *p)
{
	const struct sums_columns *c = &p->s->columns;

	if (!c->is_on)
		return;
	put_counts(p, METRIC_PARQUET_FILES, "table", &c->files);
	put_counts(p, METRIC_PARQUET_FAILURES, "table", &c->failures);
	if (c->written_unix_ns)
		put_single(p, METRIC_PARQUET_WRITTEN, seconds(c->written_unix_ns));
}

static void put_own(const struct page *p)
{
	put_counts(p, METRIC_EVENTS, "event", &p->s->events);
	put_counts(p, METRIC_LOST_EVENTS, "kind", &p->s->lost);
	if (p->s->has_dumps) {
		put_counts(p, METRIC_FLIGHT_DUMPS, "trigger", &p->s->dumps);
		put_single(p, METRIC_FLIGHT_KEPT, (double)p->s->nr_dumps_kept);
	}
	put_columns(p);
	put_single(p, METRIC_OWN_CPU, p->facts->own_cpu_s);
	if (p->facts->own_bytes)
		put_single(p, METRIC_OWN_MEMORY, (double)p->facts->own_bytes);
	if (p->s->is_replay)
		put_single(p, METRIC_REPLAY_POSITION, seconds(p->s->position_ns));
}

int metrics_page_write(const struct sums *s, const struct page_facts *facts, struct exposition *e)
{
	const struct page p = { s, facts, e };

	exposition_clear(e);
	put_build(&p);
	put_single(&p, METRIC_START_TIME, facts->start_unix_s);
	put_single(&p, METRIC_RELOADS, (double)s->nr_reloads);
	put_single(&p, METRIC_UNMEASURED, seconds(s->unmeasured_ns));
	put_dists(&p);
	put_depth(&p);
	put_migrations(&p);
	put_cgroups(&p);
	put_blame(&p);
	put_wasted(&p);
	put_scx(&p);
	put_own(&p);
	return exposition_finish(e);
}
