#include "analyze/diff_sets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

/* What one side says of a name and metric. */
struct side_values {
	double parts[DIFF_VALUES_MAX]; /* of all recordings, one after the other */
	uint32_t nr_parts;
	struct diff_sample samples[DIFF_SET_MAX]; /* one for each unit */
	uint32_t nr_samples;
	uint32_t nr_sure; /* of these, how many know their own spread */
};

/* The unit of each recording of a side, from 0; that of the first one is 0. */
struct side_units {
	uint32_t of[DIFF_SET_MAX];
	uint32_t nr;
};

struct comparison {
	const struct diff_recordings *sides; /* two */
	struct side_units units[2];
	struct side_values values[2]; /* of the name and metric at hand */
	double sums[DIFF_SET_MAX]; /* of units: means, their errors, and of how many recordings */
	double errors[DIFF_SET_MAX];
	uint32_t counts[DIFF_SET_MAX];
	bool is_sure[DIFF_SET_MAX];
	struct diff_sets *out;
};

/* A name that a recording does not have did nothing in it; it has no latency, but a rate. */
static const struct diff_value *value_in(const struct diff_names *n, const char *name,
                                         enum diff_metric metric)
{
	static const struct diff_value nothing = { .nr_windows = DIFF_WINDOWS }, unknown = { 0 };
	const struct diff_name *at = diff_names_find(n, name);

	if (at)
		return &at->values[metric];
	return metric >= DIFF_RUNTIME ? &nothing : &unknown;
}

static void add_parts(struct side_values *v, const struct diff_value *in)
{
	uint32_t nr = in->nr_windows;

	if (nr > DIFF_VALUES_MAX - v->nr_parts)
		nr = DIFF_VALUES_MAX - v->nr_parts;
	memcpy(&v->parts[v->nr_parts], in->values, nr * sizeof(v->parts[0]));
	v->nr_parts += nr;
}

/* A unit of several recordings is worth the mean of them, and knows it the better the more there are. */
static void gather(struct comparison *c, int side, const char *name, enum diff_metric metric)
{
	const struct diff_recordings *set = &c->sides[side];
	const struct side_units *units = &c->units[side];
	struct side_values *v = &c->values[side];

	v->nr_parts = v->nr_samples = v->nr_sure = 0;
	memset(c->counts, 0, units->nr * sizeof(c->counts[0]));
	memset(c->sums, 0, units->nr * sizeof(c->sums[0]));
	memset(c->errors, 0, units->nr * sizeof(c->errors[0]));
	memset(c->is_sure, 0, units->nr * sizeof(c->is_sure[0]));
	for (uint32_t i = 0; i < set->nr; i++) {
		const struct diff_value *in = value_in(set->at[i].names, name, metric);
		uint32_t unit = units->of[i];
		struct diff_sample one;

		if (!in->nr_windows)
			continue;
		add_parts(v, in);
		one = diff_sample_of(in->values, in->nr_windows);
		c->sums[unit] += one.mean;
		c->errors[unit] += one.error;
		c->counts[unit]++;
		c->is_sure[unit] |= in->nr_windows > 1;
	}
	for (uint32_t i = 0; i < units->nr; i++) {
		if (!c->counts[i])
			continue;
		v->nr_sure += c->is_sure[i];
		v->samples[v->nr_samples++] = (struct diff_sample){
			c->sums[i] / c->counts[i],
			c->errors[i] / ((double)c->counts[i] * c->counts[i]),
		};
	}
}

static struct diff_mean mean_of_parts(const struct side_values *v)
{
	double sum = 0;

	for (uint32_t i = 0; i < v->nr_parts; i++)
		sum += v->parts[i];
	return (struct diff_mean){ v->nr_parts ? sum / v->nr_parts : 0,
		                   diff_interval(v->parts, v->nr_parts), v->nr_parts };
}

static struct diff_mean mean_of_samples(const struct side_values *v)
{
	double sum = 0;

	for (uint32_t i = 0; i < v->nr_samples; i++)
		sum += v->samples[i].mean;
	return (struct diff_mean){ v->nr_samples ? sum / v->nr_samples : 0,
		                   diff_interval_of_set(v->samples, v->nr_samples), v->nr_samples };
}

static void test_units(struct diff_change *change, const struct side_values *a,
                       const struct side_values *b)
{
	change->a = mean_of_samples(a);
	change->b = mean_of_samples(b);
	change->is_tested = a->nr_sure >= DIFF_MIN_SET && b->nr_sure >= DIFF_MIN_SET;
	change->p = diff_p_value_sets(a->samples, a->nr_samples, b->samples, b->nr_samples);
	change->ratio = diff_ratio_of_sets(a->samples, a->nr_samples, b->samples, b->nr_samples);
}

static void test_parts(struct diff_change *change, const struct side_values *a,
                       const struct side_values *b)
{
	change->a = mean_of_parts(a);
	change->b = mean_of_parts(b);
	change->is_tested = a->nr_parts >= DIFF_MIN_WINDOWS && b->nr_parts >= DIFF_MIN_WINDOWS;
	change->p = diff_p_value(a->parts, a->nr_parts, b->parts, b->nr_parts);
	change->ratio = diff_ratio_of(a->parts, a->nr_parts, b->parts, b->nr_parts);
}

static int compare_name(struct comparison *c, const char *name, struct diff_changes *all)
{
	for (enum diff_metric m = 0; m < DIFF_METRICS; m++) {
		struct diff_change change = { .name = name, .metric = m };

		gather(c, 0, name, m);
		gather(c, 1, name, m);
		if (c->out->unit == DIFF_UNIT_PART)
			test_parts(&change, &c->values[0], &c->values[1]);
		else
			test_units(&change, &c->values[0], &c->values[1]);
		if ((change.a.nr || change.b.nr) && diff_changes_add(all, &change))
			return -ENOMEM;
	}
	return 0;
}

/* A name of a side: how long it ran in all recordings. */
struct name_sum {
	const char *name;
	uint64_t weight;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct name_sum *)a)->name, ((const struct name_sum *)b)->name);
}

static int by_weight(const void *a, const void *b)
{
	const struct name_sum *left = a, *right = b;

	if (left->weight != right->weight)
		return left->weight > right->weight ? -1 : 1;
	return strcmp(left->name, right->name);
}

/* All names of a side but the sum of all, each once, by name. */
static int list_names(const struct diff_recordings *set, struct name_sum **out, uint32_t *out_nr)
{
	struct name_sum *sums;
	size_t nr = 0, kept = 0;

	for (uint32_t i = 0; i < set->nr; i++)
		nr += set->at[i].names->nr;
	sums = calloc(nr + 1, sizeof(*sums));
	if (!sums)
		return -ENOMEM;
	nr = 0;
	for (uint32_t i = 0; i < set->nr; i++)
		for (uint32_t k = 1; k < set->at[i].names->nr; k++)
			sums[nr++] = (struct name_sum){ set->at[i].names->at[k].name,
				                        set->at[i].names->at[k].weight };
	qsort(sums, nr, sizeof(*sums), by_name);
	for (size_t i = 0; i < nr; i++) {
		if (kept && !strcmp(sums[kept - 1].name, sums[i].name))
			sums[kept - 1].weight += sums[i].weight;
		else
			sums[kept++] = sums[i];
	}
	*out = sums;
	*out_nr = (uint32_t)kept;
	return 0;
}

static bool has_name(const struct diff_recordings *set, const char *name)
{
	for (uint32_t i = 0; i < set->nr; i++)
		if (diff_names_find(set->at[i].names, name))
			return true;
	return false;
}

/* Those that only one side has, and what both have to be compared. */
static int split_names(struct comparison *c, int side)
{
	const struct diff_recordings *other = &c->sides[1 - side];
	struct diff_sets *out = c->out;
	SCOPED(scoped_free) struct name_sum *sums = NULL;
	uint32_t nr = 0;
	int err = list_names(&c->sides[side], &sums, &nr);

	if (err)
		return err;
	qsort(sums, nr, sizeof(*sums), by_weight);
	for (uint32_t i = 0; i < nr && !err; i++) {
		if (!has_name(other, sums[i].name)) {
			if (out->nr_only[side] < DIFF_MAX_ONLY)
				out->only[side][out->nr_only[side]++] = sums[i].name;
		} else if (side == 0) {
			out->nr_names++;
			err = compare_name(c, sums[i].name, &out->names);
		}
	}
	return err;
}

/* The unit of a recording of the same host, or a new one. */
static uint32_t unit_of(const struct diff_recordings *set, const struct side_units *units,
                        uint32_t index)
{
	const char *host = set->at[index].host;

	for (uint32_t i = 0; host && i < index; i++)
		if (set->at[i].host && !strcmp(set->at[i].host, host))
			return units->of[i];
	return units->nr;
}

static void join_hosts(const struct diff_recordings *set, struct side_units *units)
{
	units->nr = 0;
	for (uint32_t i = 0; i < set->nr; i++) {
		units->of[i] = unit_of(set, units, i);
		units->nr += units->of[i] == units->nr;
	}
}

static void each_alone(const struct diff_recordings *set, struct side_units *units)
{
	for (uint32_t i = 0; i < set->nr; i++)
		units->of[i] = i;
	units->nr = set->nr;
}

static bool knows_hosts(const struct diff_recordings *set)
{
	for (uint32_t i = 0; i < set->nr; i++)
		if (!set->at[i].host)
			return false;
	return true;
}

static bool are_many(const struct comparison *c)
{
	return c->units[0].nr >= DIFF_MIN_SET && c->units[1].nr >= DIFF_MIN_SET;
}

static void choose_units(struct comparison *c)
{
	struct diff_sets *out = c->out;

	out->unit = DIFF_UNIT_HOST;
	for (int side = 0; side < 2; side++)
		join_hosts(&c->sides[side], &c->units[side]);
	if (!knows_hosts(&c->sides[0]) || !knows_hosts(&c->sides[1]) || !are_many(c)) {
		for (int side = 0; side < 2; side++)
			each_alone(&c->sides[side], &c->units[side]);
		out->unit = are_many(c) ? DIFF_UNIT_RECORDING : DIFF_UNIT_PART;
	}
	for (int side = 0; side < 2; side++)
		out->nr_units[side] = c->units[side].nr;
}

int diff_sets_compare(const struct diff_recordings sides[2], struct diff_sets *out)
{
	SCOPED(scoped_free) struct comparison *c = calloc(1, sizeof(*c));
	int err;

	*out = (struct diff_sets){ 0 };
	if (!c)
		return -ENOMEM;
	c->sides = sides;
	c->out = out;
	choose_units(c);
	err = compare_name(c, DIFF_ALL, &out->overall);
	for (int side = 0; side < 2 && !err; side++)
		err = split_names(c, side);
	if (!err)
		err = diff_judge(&out->overall);
	if (!err)
		err = diff_judge(&out->names);
	if (!err)
		diff_changes_sort(&out->names);
	return err;
}

void diff_sets_done(struct diff_sets *s)
{
	free(s->overall.at);
	free(s->names.at);
	*s = (struct diff_sets){ 0 };
}
