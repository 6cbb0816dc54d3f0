#include "tui/views/cpu_items.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add_known(double *sum, double value)
{
	if (!isnan(value))
		*sum = isnan(*sum) ? value : *sum + value;
}

static void add_wait(struct machine_dist *sum, const struct machine_dist *d)
{
	uint64_t count = sum->count + d->count;

	if (!d->count)
		return;
	sum->mean_ns = (sum->mean_ns * (double)sum->count + d->mean_ns * (double)d->count) /
	               (double)count;
	sum->count = count;
	if (d->p50_ns > sum->p50_ns)
		sum->p50_ns = d->p50_ns;
	if (d->p99_ns > sum->p99_ns)
		sum->p99_ns = d->p99_ns;
	if (d->max_ns > sum->max_ns)
		sum->max_ns = d->max_ns;
}

static struct cpu_item nothing(int32_t id)
{
	return (struct cpu_item){
		.id = id,
		.core = -1,
		.llc = -1,
		.node = -1,
		.busy = NAN,
		.busy_min = NAN,
		.busy_max = NAN,
		.value = NAN,
		.value_min = NAN,
		.value_max = NAN,
		.part = NAN,
		.user = NAN,
		.system = NAN,
		.irq = NAN,
		.iowait = NAN,
		.steal = NAN,
		.mhz = NAN,
		.uncore_mhz = NAN,
		.hw_pressure = NAN,
		.switches_per_s = NAN,
		.wakeups_per_s = NAN,
		.migrations_per_s = NAN,
	};
}

static struct cpu_item of_cpu(const struct machine_cpu *c, const struct measure *what)
{
	struct cpu_item i = nothing((int32_t)c->cpu);

	i.core = c->core;
	i.llc = c->llc;
	i.node = c->node;
	i.nr_cpus = 1;
	i.nr_online = c->is_online;
	if (!c->is_online)
		return i;
	i.busy = i.busy_min = i.busy_max = c->busy;
	i.value = i.value_min = i.value_max = measure_value(what, c);
	i.nr_known = isnan(i.value) ? 0U : 1U;
	i.user = c->user;
	i.system = c->system;
	i.irq = c->irq;
	i.iowait = c->iowait;
	i.steal = c->steal;
	i.mhz = c->mhz;
	i.uncore_mhz = c->uncore_mhz;
	i.hw_pressure = c->hw_pressure;
	i.switches_per_s = c->switches_per_s;
	i.wakeups_per_s = c->wakeups_per_s;
	i.migrations_per_s = c->migrations_per_s;
	i.wait = c->wait;
	i.history = measure_history(what, c);
	i.comm = c->comm;
	snprintf(i.cpus, sizeof(i.cpus), "%u", c->cpu);
	return i;
}

/* NAN compares false: the first known one counts. */
static void add_extremes(double *low, double *high, double first, double last)
{
	if (!(*low <= first) && !isnan(first))
		*low = first;
	if (!(*high >= last) && !isnan(last))
		*high = last;
}

/* Sums for now; finish() divides. */
static void add(struct cpu_item *to, const struct cpu_item *i, const struct measure *what)
{
	to->llc = i->llc;
	to->node = i->node;
	to->nr_cpus += i->nr_cpus;
	to->nr_online += i->nr_online;
	add_extremes(&to->busy_min, &to->busy_max, i->busy_min, i->busy_max);
	add_extremes(&to->value_min, &to->value_max, i->value_min, i->value_max);
	add_known(&to->value, what->is_rate ? i->value : i->value * i->nr_known);
	to->nr_known += i->nr_known;
	add_known(&to->busy, i->busy * i->nr_online);
	add_known(&to->user, i->user * i->nr_online);
	add_known(&to->system, i->system * i->nr_online);
	add_known(&to->irq, i->irq * i->nr_online);
	add_known(&to->iowait, i->iowait * i->nr_online);
	add_known(&to->steal, i->steal * i->nr_online);
	add_known(&to->mhz, i->mhz * i->nr_online);
	add_known(&to->uncore_mhz, i->uncore_mhz * i->nr_online);
	to->hw_pressure = fmax(to->hw_pressure, i->hw_pressure);
	add_known(&to->switches_per_s, i->switches_per_s);
	add_known(&to->wakeups_per_s, i->wakeups_per_s);
	add_known(&to->migrations_per_s, i->migrations_per_s);
	add_wait(&to->wait, &i->wait);
}

static void finish(struct cpu_item *i, const struct measure *what)
{
	double *const means[] = { &i->busy,   &i->user,  &i->system, &i->irq,
		                  &i->iowait, &i->steal, &i->mhz,    &i->uncore_mhz };

	for (size_t k = 0; k < sizeof(means) / sizeof(means[0]); k++)
		*means[k] = i->nr_online ? *means[k] / i->nr_online : NAN;
	if (!what->is_rate)
		i->value = i->nr_known ? i->value / i->nr_known : NAN;
}

static int32_t group_of(const struct machine_cpu *c, enum view_group group)
{
	return group == GROUP_LLC ? c->llc : c->node;
}

static int by_id(const void *a, const void *b)
{
	const struct cpu_item *first = a, *second = b;

	/* Those in none come last. */
	if ((first->id < 0) != (second->id < 0))
		return first->id < 0 ? 1 : -1;
	return (first->id > second->id) - (first->id < second->id);
}

static struct cpu_item *group_find(struct cpu_items *c, int32_t id)
{
	for (size_t i = 0; i < c->nr; i++)
		if (c->items[i].id == id)
			return &c->items[i];
	c->items[c->nr] = nothing(id);
	return &c->items[c->nr++];
}

static void name_cpus(struct cpu_item *item, const struct machine *m, enum view_group group)
{
	size_t used = 0;

	for (size_t i = 0; i < m->nr_cpus; i++) {
		size_t last = i;
		char range[32];
		int len;

		if (group_of(&m->cpus[i], group) != item->id)
			continue;
		while (last + 1 < m->nr_cpus && group_of(&m->cpus[last + 1], group) == item->id &&
		       m->cpus[last + 1].cpu == m->cpus[last].cpu + 1)
			last++;
		len = last > i ? snprintf(range, sizeof(range), "%s%u-%u", used ? "," : "",
		                          m->cpus[i].cpu, m->cpus[last].cpu)
		               : snprintf(range, sizeof(range), "%s%u", used ? "," : "",
		                          m->cpus[i].cpu);
		if (len < 0 || used + (size_t)len + 4 > sizeof(item->cpus)) {
			memcpy(item->cpus + used, "...", 4);
			return;
		}
		memcpy(item->cpus + used, range, (size_t)len + 1);
		used += (size_t)len;
		i = last;
	}
}

/* The mean of its CPUs, or their sum, at each moment; the newest is at the end of all of them. */
static void join_histories(struct cpu_item *item, double *values, const struct cpu_items *c,
                           const struct machine *m, enum view_group group)
{
	uint32_t nr[MACHINE_HISTORY] = { 0 };
	uint32_t longest = 0;

	for (size_t i = 0; i < m->nr_cpus; i++) {
		struct machine_history h = measure_history(&c->what, &m->cpus[i]);

		if (group_of(&m->cpus[i], group) != item->id || !m->cpus[i].is_online)
			continue;
		for (uint32_t k = 0; k < h.nr && k < MACHINE_HISTORY; k++) {
			double value = h.values[h.nr - 1 - k];

			values[MACHINE_HISTORY - 1 - k] += isnan(value) ? 0 : value;
			nr[MACHINE_HISTORY - 1 - k] += isnan(value) ? 0U : 1U;
		}
		longest = h.nr > longest ? h.nr : longest;
	}
	if (longest > MACHINE_HISTORY)
		longest = MACHINE_HISTORY;
	for (uint32_t k = 0; k < MACHINE_HISTORY; k++) {
		if (!nr[k])
			values[k] = NAN;
		else if (!c->what.is_rate)
			values[k] /= nr[k];
	}
	item->history = (struct machine_history){ values + MACHINE_HISTORY - longest, longest };
}

static int make_groups(struct cpu_items *c, const struct machine *m, enum view_group group)
{
	for (size_t i = 0; i < m->nr_cpus; i++) {
		struct cpu_item one = of_cpu(&m->cpus[i], &c->what);

		add(group_find(c, group_of(&m->cpus[i], group)), &one, &c->what);
	}
	qsort(c->items, c->nr, sizeof(*c->items), by_id);
	c->values = calloc(c->nr ? c->nr : 1, MACHINE_HISTORY * sizeof(*c->values));
	if (!c->values)
		return -ENOMEM;
	for (size_t i = 0; i < c->nr; i++) {
		finish(&c->items[i], &c->what);
		name_cpus(&c->items[i], m, group);
		join_histories(&c->items[i], c->values + i * MACHINE_HISTORY, c, m, group);
	}
	return 0;
}

static double larger(double a, double b)
{
	return b > a ? b : a;
}

static double largest_of(struct machine_history h, double sofar)
{
	for (uint32_t i = 0; i < h.nr; i++)
		sofar = larger(sofar, h.values[i]);
	return sofar;
}

/* Shares are of 1. Of others the largest fills a bar: of all CPUs, so that panels of nodes can be compared. */
static void set_parts(struct cpu_items *c, const struct machine *m, enum view_group group)
{
	bool is_share = !c->what.is_rate && c->what.word.share != EVENT_MHZ;
	double value = 0;

	c->largest = 0;
	for (size_t i = 0; !is_share && group == GROUP_CPU && i < m->nr_cpus; i++) {
		value = larger(value, measure_value(&c->what, &m->cpus[i]));
		c->largest = largest_of(measure_history(&c->what, &m->cpus[i]), c->largest);
	}
	for (size_t i = 0; !is_share && group != GROUP_CPU && i < c->nr; i++) {
		value = larger(value, c->items[i].value);
		c->largest = largest_of(c->items[i].history, c->largest);
	}
	if (is_share)
		c->largest = 1;
	for (size_t i = 0; i < c->nr; i++) {
		c->items[i].part = c->items[i].value;
		if (!is_share && !isnan(c->items[i].part))
			c->items[i].part = value > 0 ? c->items[i].value / value : 0;
	}
}

int cpu_items_init(struct cpu_items *c, const struct machine *m, const struct measure *what,
                   enum view_group group, int32_t node)
{
	int err = 0;

	*c = (struct cpu_items){ 0 };
	if (what)
		c->what = *what;
	c->items = calloc(m->nr_cpus ? m->nr_cpus : 1, sizeof(*c->items));
	if (!c->items)
		return -ENOMEM;
	if (group != GROUP_CPU) {
		err = make_groups(c, m, group);
	} else {
		for (size_t i = 0; i < m->nr_cpus; i++)
			if (node == CPU_ITEMS_ALL || m->cpus[i].node == node)
				c->items[c->nr++] = of_cpu(&m->cpus[i], &c->what);
		qsort(c->items, c->nr, sizeof(*c->items), by_id);
	}
	if (err)
		cpu_items_done(c);
	else
		set_parts(c, m, group);
	return err;
}

void cpu_items_done(struct cpu_items *c)
{
	free(c->items);
	free(c->values);
	*c = (struct cpu_items){ 0 };
}

struct cpu_item cpu_items_total(const struct cpu_items *c)
{
	struct cpu_item total = nothing(-1);

	for (size_t i = 0; i < c->nr; i++)
		add(&total, &c->items[i], &c->what);
	finish(&total, &c->what);
	return total;
}
