#include "analyze/levels.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "analyze/walk.h"

/* What held until now, as far as it lies in the time asked for. */
static void close_level(struct levels *l, const struct scope *sc, uint32_t cpu, uint64_t until_ns)
{
	struct level_cpu *c = &l->cpus[cpu];
	uint64_t ns = c->since_ns ? scope_cut(sc, c->since_ns, until_ns) : 0;

	if (!ns)
		return;
	if (!c->known_ns || c->value < c->min)
		c->min = c->value;
	if (!c->known_ns || c->value > c->max)
		c->max = c->value;
	c->is_seen = true;
	c->known_ns += ns;
	c->weighted += (double)c->value * (double)ns;
	buckets_sum(&l->by_value, bucket_pair(cpu, (uint32_t)c->value), ns);
}

static int by_cpu_and_value(const void *a, const void *b)
{
	const struct bucket *left = a, *right = b;

	return (left->key > right->key) - (left->key < right->key);
}

/* kind is one of enum pair_counter_kind whose values have 32 bits. -ENOMEM. */
static int collect(struct levels *l, const struct scope *sc, uint8_t kind)
{
	struct walk w = {
		.sc = sc, .table = TIMELINE_COUNTER, .kinds = 1ULL << kind, .is_all = true
	};
	const union timeline_row *row;

	*l = (struct levels){ .nr_cpus = PAIR_MAX_CPUS };
	l->cpus = calloc(l->nr_cpus, sizeof(*l->cpus));
	if (!l->cpus)
		return -ENOMEM;
	while ((row = walk_next(&w))) {
		const struct pair_counter *at = &row->counter;

		if (at->cpu >= l->nr_cpus || !pass_takes_cpu(sc->args, at->cpu))
			continue;
		close_level(l, sc, at->cpu, at->ts_ns);
		l->cpus[at->cpu].value = at->value;
		l->cpus[at->cpu].since_ns = at->ts_ns;
		if (!scope_has(sc, at->ts_ns))
			continue;
		l->cpus[at->cpu].is_seen = true;
		l->cpus[at->cpu].changes++;
		l->changes++;
	}
	for (uint32_t i = 0; i < l->nr_cpus; i++)
		close_level(l, sc, i, UINT64_MAX);
	if (l->by_value.has_failed)
		return -ENOMEM;
	if (l->by_value.nr)
		qsort(l->by_value.at, l->by_value.nr, sizeof(*l->by_value.at), by_cpu_and_value);
	return 0;
}

static void done(struct levels *l)
{
	free(l->cpus);
	buckets_done(&l->by_value);
	*l = (struct levels){ 0 };
}

static uint32_t nr_seen(const struct levels *l)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < l->nr_cpus; i++)
		nr += l->cpus[i].is_seen;
	return nr;
}

/* The first bucket at or behind a key. */
static uint32_t first_at(const struct levels *l, uint64_t key)
{
	uint32_t low = 0, high = l->by_value.nr;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (l->by_value.at[mid].key < key)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static const struct bucket *of_cpu(const struct levels *l, uint32_t cpu, uint32_t i)
{
	const struct bucket *b = i < l->by_value.nr ? &l->by_value.at[i] : NULL;

	return b && bucket_high(b->key) == cpu ? b : NULL;
}

void levels_report(const struct levels *l, uint32_t cpu, struct report *r, const char *key)
{
	const struct bucket *b;

	report_begin_object(r, key);
	for (uint32_t i = first_at(l, bucket_pair(cpu, 0)); (b = of_cpu(l, cpu, i)); i++)
		report_u64(r, report_printf(r, "%" PRIu32, bucket_low(b->key)), b->sum_ns);
	report_end_object(r);
}

uint64_t levels_held_ns(const struct levels *l, uint32_t cpu, uint32_t value)
{
	uint64_t key = bucket_pair(cpu, value);
	uint32_t i = first_at(l, key);

	return i < l->by_value.nr && l->by_value.at[i].key == key ? l->by_value.at[i].sum_ns : 0;
}

uint32_t levels_longest(const struct levels *l, uint32_t cpu)
{
	const struct bucket *b, *best = NULL;

	for (uint32_t i = first_at(l, bucket_pair(cpu, 0)); (b = of_cpu(l, cpu, i)); i++)
		if (!best || b->sum_ns > best->sum_ns)
			best = b;
	return best ? bucket_low(best->key) : 0;
}

static void show(const struct level_view *v, const struct scope *sc, const struct levels *l,
                 struct report *r)
{
	uint32_t limit = pass_limit(v->pass, sc->args), nr = 0;

	report_string(r, "description", v->description);
	report_u64(r, "total_transitions", l->changes);
	report_u64(r, "cpu_count", nr_seen(l));
	report_begin_array(r, "cpu_stats");
	for (uint32_t i = 0; i < l->nr_cpus && nr < limit; i++) {
		if (!l->cpus[i].is_seen)
			continue;
		report_begin_object(r, NULL);
		report_u64(r, "cpu", i);
		report_u64(r, "transition_count", l->cpus[i].changes);
		v->show_cpu(l, i, sc->span_ns, r);
		report_end_object(r);
		nr++;
	}
	report_end_array(r);
	report_string(r, "note", v->note);
}

int levels_run(const struct level_view *v, const struct source *s, const struct pass_args *args,
               struct report *r, struct diag *d)
{
	struct levels l = { 0 };
	struct scope sc;
	int err = scope_init(&sc, s, args, d);

	if (err)
		return err;
	err = collect(&l, &sc, v->kind);
	if (!err)
		show(v, &sc, &l, r);
	done(&l);
	scope_done(&sc);
	return err ? diag_set(d, err, NULL, "out of memory") : 0;
}
