#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/samples.h"
#include "base/cleanup.h"
#include "base/grow.h"
#include "base/hist.h"
#include "base/intern.h"
#include "query/event_fields.h"
#include "query/query_priv.h"

#define MAX_GROUPS      (1U << 22)
#define MAX_NAME        63
#define MAX_GROUP_BYTES ((size_t)64 << 20)

struct query_group {
	const char *value;
	uint64_t count;
	uint64_t nr_numbers; /* events that have the field of the function */
	double sum;
	int64_t min, max;
	struct samples samples; /* for percentiles; negative numbers count as 0 */
};

struct groups {
	struct query_group *at;
	size_t nr, capacity;
	struct intern *names;
};

static void scoped_groups(struct groups *g)
{
	for (size_t i = 0; i < g->nr; i++)
		samples_done(&g->at[i].samples);
	free(g->at);
	intern_free(g->names);
}

static bool is_percentile(enum query_fn fn)
{
	return fn == QUERY_P50 || fn == QUERY_P95 || fn == QUERY_P99;
}

/* The value as a text: its own, or in buf. */
static const char *value_text(const struct event_value *v, char *buf, size_t size)
{
	if (v->is_text)
		return v->text[0] ? v->text : "-"; /* a name that is empty */
	if (v->is_signed)
		snprintf(buf, size, "%" PRId64, v->i64);
	else
		snprintf(buf, size, "%" PRIu64, v->u64);
	return buf;
}

static struct query_group *new_group(struct groups *g, const char *value)
{
	if (GROW(g->at, g->capacity, g->nr))
		return NULL;
	g->at[g->nr] = (struct query_group){ .value = value };
	return &g->at[g->nr++];
}

/* Ids of texts count up from 1, as groups do from 0. */
static struct query_group *group_of(struct groups *g, const char *value)
{
	uint32_t id = 0;

	if (intern_add(g->names, value, strnlen(value, MAX_NAME), &id) < 0)
		return NULL;
	if (id <= g->nr)
		return &g->at[id - 1];
	return new_group(g, intern_string(g->names, id, NULL));
}

static void add_number(struct query_group *g, const struct query *q, const struct event_value *v)
{
	int64_t n = v->is_signed ? v->i64 : v->u64 > INT64_MAX ? INT64_MAX : (int64_t)v->u64;

	if (v->is_text)
		return;
	if (!g->nr_numbers || n < g->min)
		g->min = n;
	if (!g->nr_numbers || n > g->max)
		g->max = n;
	g->nr_numbers++;
	g->sum += (double)n;
	if (is_percentile(q->fn))
		samples_add(&g->samples, n < 0 ? 0 : (uint64_t)n);
}

static int add_event(const struct source *s, const struct query *q, const struct ev_hdr *rec,
                     struct groups *groups, uint64_t *total)
{
	struct event_value v;
	const char *name = "all";
	struct query_group *g;
	char text[24];

	if (q->group_by[0]) {
		if (!event_value(s, rec, q->group_by, &v))
			return 0; /* has no such field: belongs to no group */
		name = value_text(&v, text, sizeof(text));
	}
	g = group_of(groups, name);
	if (!g)
		return -ENOMEM;
	(*total)++;
	g->count++;
	if (q->fn_field[0] && event_value(s, rec, q->fn_field, &v))
		add_number(g, q, &v);
	return g->samples.has_failed ? -ENOMEM : 0;
}

static uint32_t percent_of(enum query_fn fn)
{
	return fn == QUERY_P50 ? HIST_P(50) : fn == QUERY_P95 ? HIST_P(95) : HIST_P(99);
}

static void show_result(const struct query *q, struct query_group *g, struct report *r)
{
	if (q->fn == QUERY_COUNT || q->fn == QUERY_NO_FN)
		report_u64(r, "result", q->fn_field[0] ? g->nr_numbers : g->count);
	else if (!g->nr_numbers)
		report_null(r, "result");
	else if (q->fn == QUERY_MIN)
		report_i64(r, "result", g->min);
	else if (q->fn == QUERY_MAX)
		report_i64(r, "result", g->max);
	else if (q->fn == QUERY_SUM)
		report_double(r, "result", g->sum, 0);
	else if (q->fn == QUERY_AVG)
		report_double(r, "result", g->sum / (double)g->nr_numbers, 3);
	else
		report_u64(r, "result", samples_percentile(&g->samples, percent_of(q->fn)));
}

static int by_count(const void *a, const void *b)
{
	const struct query_group *left = a, *right = b;

	if (left->count != right->count)
		return left->count < right->count ? 1 : -1;
	return strcmp(left->value, right->value);
}

static void show_groups(const struct query *q, struct groups *groups, struct report *r)
{
	report_string(r, "group_by", q->group_by);
	report_u64(r, "total_groups", groups->nr);
	if (groups->nr)
		qsort(groups->at, groups->nr, sizeof(groups->at[0]), by_count);
	report_begin_array(r, "groups");
	for (size_t i = q->offset; i < groups->nr && (!q->limit || i - q->offset < q->limit); i++) {
		report_begin_object(r, NULL);
		report_string(r, "value", groups->at[i].value);
		report_u64(r, "count", groups->at[i].count);
		if (q->fn != QUERY_NO_FN && q->fn != QUERY_COUNT)
			show_result(q, &groups->at[i], r);
		report_end_object(r);
	}
	report_end_array(r);
}

static void show(const struct query *q, struct groups *groups, struct report *r)
{
	static const char *const names[] = { "count", "count", "sum", "avg", "min",
		                             "max",   "p50",   "p95", "p99" };
	struct query_group none = { 0 };

	report_begin_object(r, "aggregation");
	report_string(r, "function", names[q->fn]);
	report_string(r, "field", q->fn_field[0] ? q->fn_field : NULL);
	if (q->group_by[0])
		show_groups(q, groups, r);
	else
		show_result(q, groups->nr ? &groups->at[0] : &none, r);
	report_end_object(r);
}

int query_aggregate(const struct source *s, const struct query *q, struct report *r, struct diag *d)
{
	SCOPED(scoped_groups)
	struct groups groups = { .names = intern_new(MAX_GROUPS, MAX_GROUP_BYTES) };
	struct event_log_iter it;
	const struct ev_hdr *rec;
	uint64_t total = 0;
	int err;

	if (!groups.names)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	err = query_find(s, q, &it, d);
	while (!err && (rec = query_next(s, q, &it)))
		err = add_event(s, q, rec, &groups, &total);
	if (err)
		return diag_set(d, err, "narrow the query",
		                "too many groups for the memory of a query");
	report_u64(r, "total_matched", total);
	query_show_losses(s, r);
	show(q, &groups, r);
	return 0;
}
