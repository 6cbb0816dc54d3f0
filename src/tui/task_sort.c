#include "tui/task_sort.h"

#include <math.h>
#include <string.h>

static uint64_t start_of(const char *text)
{
	uint64_t start = 0;

	for (int shift = 56; text && *text && shift >= 0; shift -= 8)
		start |= (uint64_t)(unsigned char)*text++ << shift;
	return start;
}

struct task_entry task_sort_entry(const struct machine *m, const struct machine_task *t,
                                  const struct task_metric *by)
{
	const char *text = by && by->text ? by->text(t) : NULL;
	double key = by && by->number ? by->number(m, t) : NAN;

	if (by && by->unit == METRIC_ID && key < 0)
		key = NAN;
	return (struct task_entry){ key, start_of(text), text, t };
}

/* No text at all comes last. */
static int by_text(const struct task_entry *a, const struct task_entry *b, int way)
{
	int order;

	if (!a->start || !b->start)
		return !a->start - !b->start;
	if (a->start != b->start)
		return a->start < b->start ? -way : way;
	if (a->text == b->text)
		return 0;
	order = strcmp(a->text, b->text);
	return order < 0 ? -way : order > 0 ? way : 0;
}

int task_sort_keys(const struct task_entry *a, const struct task_entry *b, const struct screen *s)
{
	int way = s->is_ascending ? 1 : -1;

	if (isnan(a->key) && isnan(b->key))
		return by_text(a, b, way);
	if (isnan(a->key) || isnan(b->key))
		return isnan(a->key) ? 1 : -1;
	if (a->key != b->key)
		return a->key < b->key ? -way : way;
	return 0;
}

int task_sort_order(const struct task_entry *a, const struct task_entry *b, const struct screen *s)
{
	int keys = task_sort_keys(a, b, s);

	return keys ? keys : (a->task->tid > b->task->tid) - (a->task->tid < b->task->tid);
}
