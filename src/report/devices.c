#include "report/devices.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyze/dsq_name.h"
#include "analyze/walk.h"
#include "base/cleanup.h"
#include "base/grow.h"
#include "base/map.h"

#define NO_VALUE UINT64_MAX

static void names_done(struct device_names *n)
{
	free(n->at);
	map_free(n->places);
	*n = (struct device_names){ 0 };
}

void devices_done(struct devices *d)
{
	names_done(&d->irqs);
	names_done(&d->idle_states);
	names_done(&d->queues);
	free(d->levels);
	*d = (struct devices){ 0 };
}

/* The place of a name in its list; the last one for all that find no room. */
static int place_of(struct device_names *n, const struct device_name *name, uint32_t *out)
{
	int err = n->places ? 0 : map_new(sizeof(*name), DEVICE_MAX_NAMES, &n->places);

	if (err || map_find(n->places, name, out))
		return err;
	*out = DEVICE_MAX_NAMES - 1;
	if (n->nr == DEVICE_MAX_NAMES)
		return 0;
	*out = n->nr;
	if (GROW(n->at, n->room, n->nr))
		return -ENOMEM;
	n->at[n->nr++] = *name;
	return map_insert(n->places, name, *out);
}

/* Counts it where it begins, and its time where it lies. */
static int add_time(struct gather *g, enum report_table table, uint64_t key, uint64_t start_ns,
                    uint64_t end_ns)
{
	struct cells *to = &g->tables->at[table];
	bool has_count = table_kinds[table].values[1] != NULL;
	uint32_t bucket = axis_at(&g->axis, start_ns);
	uint64_t count = 1;
	int err = 0;

	if (start_ns < g->sc->from_ns) {
		start_ns = g->sc->from_ns;
		count = 0;
	}
	if (end_ns > g->sc->to_ns)
		end_ns = g->sc->to_ns;
	do {
		uint64_t edge_ns = bucket + 1 < g->axis.nr ? axis_edge(&g->axis, bucket + 1)
		                                           : end_ns;
		uint64_t until_ns = edge_ns < end_ns ? edge_ns : end_ns;
		uint64_t ns = until_ns > start_ns ? until_ns - start_ns : 0;

		err = cells_add(to, bucket++, key, has_count ? count : ns, has_count ? ns : 0);
		start_ns = until_ns;
		count = 0;
	} while (!err && start_ns < end_ns);
	return err;
}

static bool is_in_time(const struct gather *g, uint64_t start_ns, uint64_t end_ns)
{
	return start_ns < g->sc->to_ns && end_ns >= g->sc->from_ns;
}

static int add_interrupts(struct devices *d, struct gather *g)
{
	struct walk w = { .sc = g->sc,
		          .table = TIMELINE_SPAN,
		          .kinds = 1ULL << PAIR_IRQ | 1ULL << PAIR_SOFTIRQ | 1ULL << PAIR_IPI,
		          .is_all = true };
	const union timeline_row *row;
	int err = 0;

	while (!err && (row = walk_next(&w))) {
		const struct pair_span *s = &row->span;
		struct device_name name = { .id = s->id, .name_id = s->name_id, .kind = s->kind };
		uint32_t what;

		if (!is_in_time(g, s->start_ns, s->end_ns))
			continue;
		if (s->kind != PAIR_IRQ)
			name.name_id = s->kind == PAIR_IPI ? s->name_id : 0;
		err = place_of(&d->irqs, &name, &what);
		if (!err)
			err = add_time(g, TABLE_IRQ,
			               table_key(TABLE_IRQ, (uint32_t[]){ s->cpu, what }),
			               s->start_ns, s->end_ns);
	}
	return err;
}

static int add_queues(struct devices *d, struct gather *g)
{
	struct walk w = { .sc = g->sc, .table = TIMELINE_DSQ, .is_all = true };
	const union timeline_row *row;
	int err = 0;

	while (!err && (row = walk_next(&w))) {
		const struct pair_dsq *q = &row->dsq;
		uint32_t queue;

		if (!is_in_time(g, q->start_ns, q->end_ns))
			continue;
		err = place_of(&d->queues, &(struct device_name){ .id = q->dsq_id }, &queue);
		if (!err)
			err = add_time(g, TABLE_DSQ, table_key(TABLE_DSQ, &queue), q->start_ns,
			               q->end_ns);
	}
	return err;
}

/* A value that holds on a CPU until the next one. */
struct held {
	uint64_t value;
	uint64_t since_ns;
};

static int hold_idle(struct devices *d, struct gather *g, uint32_t cpu, const struct held *h,
                     uint64_t until_ns)
{
	uint32_t state;
	int err;

	if (h->value >= UINT32_MAX || !is_in_time(g, h->since_ns, until_ns))
		return 0;
	err = place_of(&d->idle_states, &(struct device_name){ .id = h->value }, &state);
	return err ? err
	           : add_time(g, TABLE_IDLE, table_key(TABLE_IDLE, (uint32_t[]){ cpu, state }),
	                      h->since_ns, until_ns);
}

static void hold_level(struct device_level *l, uint64_t khz, uint64_t ns)
{
	uint32_t value = khz < UINT32_MAX ? (uint32_t)khz : UINT32_MAX;

	if (!l->known_ns || value < l->min)
		l->min = value;
	if (!l->known_ns || value > l->max)
		l->max = value;
	l->known_ns += ns;
	l->sum += (uint64_t)((double)value * (double)ns / 1000.0);
}

static int hold_frequency(struct devices *d, struct gather *g, uint32_t cpu, const struct held *h,
                          uint64_t until_ns)
{
	uint64_t at_ns = h->since_ns > g->sc->from_ns ? h->since_ns : g->sc->from_ns;
	uint32_t bucket = axis_at(&g->axis, at_ns);

	if (h->value == NO_VALUE)
		return 0;
	if (until_ns > g->sc->to_ns)
		until_ns = g->sc->to_ns;
	if (!d->levels) {
		d->levels = calloc((size_t)d->nr_buckets * d->nr_cpus + 1, sizeof(*d->levels));
		if (!d->levels)
			return -ENOMEM;
	}
	while (at_ns < until_ns) {
		uint64_t edge_ns = bucket + 1 < g->axis.nr ? axis_edge(&g->axis, bucket + 1)
		                                           : until_ns;
		uint64_t end_ns = edge_ns < until_ns ? edge_ns : until_ns;

		hold_level(&d->levels[(size_t)bucket++ * d->nr_cpus + cpu], h->value,
		           end_ns - at_ns);
		at_ns = end_ns;
	}
	return 0;
}

typedef int (*hold_value)(struct devices *d, struct gather *g, uint32_t cpu, const struct held *h,
                          uint64_t until_ns);

static int add_levels(struct devices *d, struct gather *g, enum pair_counter_kind kind,
                      hold_value hold)
{
	struct walk w = {
		.sc = g->sc, .table = TIMELINE_COUNTER, .kinds = 1ULL << kind, .is_all = true
	};
	SCOPED(scoped_free) struct held *cpus = calloc(d->nr_cpus + 1UL, sizeof(*cpus));
	const union timeline_row *row;
	int err = cpus ? 0 : -ENOMEM;

	for (uint32_t i = 0; cpus && i < d->nr_cpus; i++)
		cpus[i].value = NO_VALUE;
	while (!err && (row = walk_next(&w))) {
		const struct pair_counter *c = &row->counter;

		if (c->cpu >= d->nr_cpus)
			continue;
		err = hold(d, g, c->cpu, &cpus[c->cpu], c->ts_ns);
		cpus[c->cpu] = (struct held){ c->value, c->ts_ns };
	}
	for (uint32_t i = 0; i < d->nr_cpus && !err; i++)
		err = hold(d, g, i, &cpus[i], g->sc->to_ns);
	return err;
}

/* A CPU that no task ran on has idle states and frequencies as well. */
static uint32_t count_cpus(const struct gather *g)
{
	struct walk w = { .sc = g->sc,
		          .table = TIMELINE_COUNTER,
		          .kinds = 1ULL << PAIR_CPU_IDLE_STATE | 1ULL << PAIR_CPU_FREQ_KHZ,
		          .is_all = true };
	const union timeline_row *row;
	uint32_t nr = g->sc->nr_cpus;

	while ((row = walk_next(&w)))
		if (row->counter.cpu >= nr && row->counter.cpu < PAIR_MAX_CPUS)
			nr = row->counter.cpu + 1U;
	return nr;
}

int devices_gather(struct devices *d, struct gather *g)
{
	int err;

	*d = (struct devices){ .s = g->sc->s, .nr_buckets = g->axis.nr, .nr_cpus = count_cpus(g) };
	if (!g->sc->span_ns)
		return 0;
	err = add_interrupts(d, g);
	if (!err)
		err = add_queues(d, g);
	if (!err)
		err = add_levels(d, g, PAIR_CPU_IDLE_STATE, hold_idle);
	return err ? err : add_levels(d, g, PAIR_CPU_FREQ_KHZ, hold_frequency);
}

int devices_pack(const struct devices *d, struct pack *out)
{
	*out = (struct pack){ .table = "frequency" };
	pack_column(out, "bucket", true);
	pack_column(out, "cpu", true);
	pack_column(out, "min_khz", true);
	pack_column(out, "max_khz", true);
	pack_column(out, "mean_khz", true);
	for (size_t i = 0; d->levels && i < (size_t)d->nr_buckets * d->nr_cpus; i++) {
		const struct device_level *l = &d->levels[i];
		uint64_t mean = l->known_ns
		                        ? (uint64_t)((double)l->sum * 1000.0 / (double)l->known_ns)
		                        : 0;

		if (!l->known_ns)
			continue;
		mean = mean < l->min ? l->min : mean > l->max ? l->max : mean;
		pack_row(out, (uint64_t[]){ i / d->nr_cpus, i % d->nr_cpus, l->min, l->max, mean });
	}
	return pack_close(out);
}

static const char *irq_name(const struct devices *d, const struct device_name *n, char buf[48])
{
	const char *name = n->kind == PAIR_SOFTIRQ ? softirq_name((uint32_t)n->id)
	                   : n->name_id            ? tasks_string(d->s->tasks, n->name_id)
	                                           : NULL;

	if (name && *name)
		return name;
	(void)snprintf(buf, 48, "%" PRIu64, n->id);
	return buf;
}

static void write_irqs(const struct devices *d, struct json_writer *out)
{
	static const char *const kinds[] = {
		[PAIR_IRQ] = "irq", [PAIR_SOFTIRQ] = "softirq", [PAIR_IPI] = "ipi"
	};
	char buf[48];

	jw_begin_array(out, "irqs");
	for (uint32_t i = 0; i < d->irqs.nr; i++) {
		const struct device_name *n = &d->irqs.at[i];

		jw_begin_object(out, NULL);
		jw_string(out, "kind", kinds[n->kind]);
		if (i == DEVICE_MAX_NAMES - 1)
			jw_string(out, "name", "others");
		else
			jw_string(out, "name", irq_name(d, n, buf));
		if (n->kind == PAIR_IRQ)
			jw_u64(out, "irq", n->id & UINT32_MAX);
		jw_end_object(out);
	}
	jw_end_array(out);
}

void devices_document(const struct devices *d, struct json_writer *out)
{
	char buf[DSQ_NAME], state[48];

	if (d->irqs.nr)
		write_irqs(d, out);
	if (d->idle_states.nr) {
		jw_begin_array(out, "idle_states");
		for (uint32_t i = 0; i < d->idle_states.nr; i++) {
			(void)snprintf(state, sizeof(state), "state %" PRIu64,
			               d->idle_states.at[i].id);
			jw_string(out, NULL, state);
		}
		jw_end_array(out);
	}
	if (d->queues.nr) {
		jw_begin_array(out, "queues");
		for (uint32_t i = 0; i < d->queues.nr; i++)
			jw_string(out, NULL,
			          i == DEVICE_MAX_NAMES - 1 ? "others"
			                                    : dsq_name(d->queues.at[i].id, buf));
		jw_end_array(out);
	}
}
