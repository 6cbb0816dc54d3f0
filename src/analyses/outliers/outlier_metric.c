#include "analyses/outliers/outlier_metric.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/units.h"

#define CPU_PERCENTILE 95 /* of CPUs there are few */

static double shown(const struct outlier_metric *m, double value)
{
	return m->scale > 0 ? value / m->scale : value;
}

static int sort_all(struct outlier_metric *m)
{
	m->sorted.values = reallocarray(NULL, m->numbers.nr ? m->numbers.nr : 1, sizeof(uint64_t));
	if (!m->sorted.values)
		return -ENOMEM;
	if (m->numbers.nr)
		memcpy(m->sorted.values, m->numbers.values, m->numbers.nr * sizeof(uint64_t));
	m->sorted.nr = m->sorted.capacity = m->numbers.nr;
	(void)samples_percentile(&m->sorted, 0);
	return 0;
}

static void judge_owner(struct outlier_metric *m, uint32_t owner)
{
	struct samples of = grouped_at(&m->numbers, owner);
	uint64_t max, min;

	if (!of.nr)
		return;
	max = min = of.values[0];
	for (size_t i = 1; i < of.nr; i++) {
		max = of.values[i] > max ? of.values[i] : max;
		min = of.values[i] < min ? of.values[i] : min;
	}
	if (outlier_is_high(&m->bounds, max)) {
		m->nr_high++;
		top_add(&m->highs, max, owner);
	}
	if (m->low && outlier_is_low(&m->bounds, min)) {
		m->nr_low++;
		top_add(&m->lows, top_lowest(min), owner);
	}
}

int outlier_metric_judge(struct outlier_metric *m, enum outlier_method method, uint32_t nr_owners,
                         uint32_t limit)
{
	double k = m->is_cpu && method == OUTLIER_PERCENTILE ? CPU_PERCENTILE
	                                                     : outlier_method_default(method);
	int err = grouped_order(&m->numbers, nr_owners);

	if (!err)
		err = sort_all(m);
	if (err)
		return err;
	m->highs.limit = m->lows.limit = limit;
	outlier_bounds(m->sorted.values, m->sorted.nr, method, k, &m->bounds);
	for (uint32_t i = 0; i < nr_owners; i++)
		judge_owner(m, i);
	top_rank(&m->highs);
	top_rank(&m->lows);
	return m->highs.has_failed || m->lows.has_failed ? -ENOMEM : 0;
}

void outlier_metric_done(struct outlier_metric *m)
{
	grouped_done(&m->numbers);
	samples_done(&m->sorted);
	top_done(&m->highs);
	top_done(&m->lows);
}

static uint64_t nr_outside(const struct outlier_metric *m, uint32_t owner, bool is_high)
{
	struct samples of = grouped_at(&m->numbers, owner);
	uint64_t nr = 0;

	for (size_t i = 0; i < of.nr; i++)
		nr += is_high ? outlier_is_high(&m->bounds, of.values[i])
		              : outlier_is_low(&m->bounds, of.values[i]);
	return nr;
}

static void show_item(const struct outlier_metric *m, const struct source *s, struct report *r,
                      uint32_t owner, uint64_t value)
{
	bool is_high = outlier_is_high(&m->bounds, value);

	report_begin_object(r, NULL);
	if (m->is_cpu)
		report_u64(r, "cpu", owner);
	else
		task_report(s, r, owner);
	report_string(r, "metric", m->name);
	if (m->scale > 0)
		report_double(r, "value", shown(m, (double)value), 2);
	else
		report_u64(r, "value", value);
	report_double(r, "severity", outlier_severity(&m->bounds, value), 3);
	report_double(r, "percentile", outlier_rank_percent(m->sorted.values, m->sorted.nr, value),
	              2);
	report_u64(r, "outlier_points", nr_outside(m, owner, is_high));
	report_end_object(r);
}

void outlier_metric_report_lists(const struct outlier_metric *m, const struct source *s,
                                 struct report *r)
{
	report_begin_array(r, m->high);
	for (uint32_t i = 0; i < m->highs.nr; i++)
		show_item(m, s, r, (uint32_t)m->highs.entries[i].id, m->highs.entries[i].score);
	report_end_array(r);
	if (!m->low)
		return;
	report_begin_array(r, m->low);
	for (uint32_t i = 0; i < m->lows.nr; i++)
		show_item(m, s, r, (uint32_t)m->lows.entries[i].id,
		          top_lowest(m->lows.entries[i].score));
	report_end_array(r);
}

void outlier_metric_report_counts(const struct outlier_metric *m, struct report *r)
{
	report_u64(r, m->high, m->nr_high);
	if (m->low)
		report_u64(r, m->low, m->nr_low);
}

static void threshold(const struct outlier_metric *m, struct report *r, const char *key,
                      double value, bool applies)
{
	report_double_if(r, key, applies && m->bounds.nr, shown(m, value), 3);
}

void outlier_metric_report_result(const struct outlier_metric *m, struct report *r, const char *key)
{
	const struct outlier_bounds *b = &m->bounds;
	bool is_iqr = b->method == OUTLIER_IQR;

	report_begin_object(r, key);
	report_string(r, "metric", m->name);
	report_u64(r, "total_points", b->nr);
	report_u64(r, "outlier_count", b->nr_below + b->nr_above);
	report_percent(r, "outlier_percentage", b->nr_below + b->nr_above, b->nr);
	report_string(r, "method", outlier_method_name(b->method));
	report_begin_object(r, "thresholds");
	threshold(m, r, "lower_bound", b->lower, b->method != OUTLIER_PERCENTILE);
	threshold(m, r, "upper_bound", b->upper, true);
	threshold(m, r, "median", b->median, true);
	threshold(m, r, "q1", b->q1, is_iqr);
	threshold(m, r, "q3", b->q3, is_iqr);
	threshold(m, r, "iqr", b->iqr, is_iqr);
	threshold(m, r, "mean", b->mean, true);
	threshold(m, r, "std_dev", b->std_dev, b->method == OUTLIER_STDDEV);
	threshold(m, r, "mad", b->mad, b->method == OUTLIER_MAD);
	report_bool(r, "is_spread_mean", b->is_spread_mean);
	report_end_object(r);
	report_end_object(r);
}
