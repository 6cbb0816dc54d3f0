#include "tui/views/dsq_list.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/dsq_name.h"

enum view_sort dsq_list_sort(enum view_sort sort)
{
	return sort == SORT_WAIT || sort == SORT_MIGRATIONS ? SORT_RUN : sort;
}

static double key_of(const struct machine_dsq *d, enum view_sort sort)
{
	switch (dsq_list_sort(sort)) {
	case SORT_P50:
		return d->latency.count ? (double)d->latency.p50_ns : NAN;
	case SORT_P99:
		return d->latency.count ? (double)d->latency.p99_ns : NAN;
	case SORT_MAX:
		return d->latency.count ? (double)d->latency.max_ns : NAN;
	case SORT_SWITCHES:
		return d->dispatches_per_s;
	case SORT_TID:
	case SORT_NAME:
		return 0;
	default:
		return d->latency.count ? d->latency.mean_ns : NAN;
	}
}

static int by_key(const void *a, const void *b, void *arg)
{
	const struct machine_dsq *first = *(const struct machine_dsq *const *)a;
	const struct machine_dsq *second = *(const struct machine_dsq *const *)b;
	const struct screen *s = arg;
	double x = key_of(first, s->sort), y = key_of(second, s->sort);
	bool is_by_id = s->sort == SORT_TID || s->sort == SORT_NAME;

	if (isnan(x) != isnan(y))
		return isnan(x) ? 1 : -1;
	if (x != y && !isnan(x))
		return (x < y) == s->is_ascending ? -1 : 1;
	if (!is_by_id && first->latency.p99_ns != second->latency.p99_ns)
		return first->latency.p99_ns > second->latency.p99_ns ? -1 : 1;
	if (!is_by_id && first->depth_max != second->depth_max)
		return first->depth_max > second->depth_max ? -1 : 1;
	return (first->id > second->id) - (first->id < second->id);
}

bool dsq_list_is_shown(uint64_t id, const struct screen *s)
{
	char name[DSQ_NAME], hex[32];

	if (!s->filter[0])
		return true;
	snprintf(hex, sizeof(hex), "0x%" PRIx64, id);
	return strcasestr(dsq_name(id, name), s->filter) || strcasestr(hex, s->filter);
}

int dsq_list_count(const struct machine *m, const struct screen *s)
{
	int nr = 0;

	for (size_t i = 0; i < m->nr_dsqs; i++)
		nr += dsq_list_is_shown(m->dsqs[i].id, s);
	return nr;
}

int dsq_list_init(struct dsq_list *l, const struct machine *m, const struct screen *s)
{
	*l = (struct dsq_list){ calloc(m->nr_dsqs + 1, sizeof(*l->rows)), 0 };
	if (!l->rows)
		return -ENOMEM;
	for (size_t i = 0; i < m->nr_dsqs; i++)
		if (dsq_list_is_shown(m->dsqs[i].id, s))
			l->rows[l->nr++] = &m->dsqs[i];
	qsort_r(l->rows, (size_t)l->nr, sizeof(*l->rows), by_key, (void *)s);
	return 0;
}

void dsq_list_done(struct dsq_list *l)
{
	free(l->rows);
	*l = (struct dsq_list){ 0 };
}
