#include "tui/app_sort.h"

#include "tui/task_metrics.h"

static void sort_by(struct app *a, const struct grid_mark *column)
{
	struct screen *s = &a->screen;
	const struct task_metric *by;

	if (s->sort == (enum view_sort)column->value) {
		s->is_ascending = !s->is_ascending;
	} else {
		s->sort = (enum view_sort)column->value;
		by = task_metric_sorted(s);
		s->is_ascending = by && task_metric_is_ascending(by);
	}
	s->selected = 0;
	s->selected_tid = 0;
	app_hint(a, "sorted by %s", column->text);
}

/* Columns of the table whose rows are selected, or else of the first one. */
static size_t main_columns(const struct app *a, const struct grid_mark **out)
{
	size_t first = 0, nr = 0;

	while (first < a->nr_marks && !a->marks[first].is_main)
		first++;
	if (first == a->nr_marks)
		first = 0;
	*out = a->marks + first;
	while (first + nr < a->nr_marks && a->marks[first + nr].is_main == (*out)->is_main &&
	       a->marks[first + nr].y == (*out)->y)
		nr++;
	return nr;
}

void app_sort_next(struct app *a, int step)
{
	const struct grid_mark *columns;
	int nr = (int)main_columns(a, &columns), at = 0;

	if (a->is_help || !nr) {
		app_notify(a, "not available: there is nothing here to sort");
		return;
	}
	while (at < nr && columns[at].value != (int)a->screen.sort)
		at++;
	/* Sorted by what this table has no column of: it begins with the first or the last. */
	if (at == nr)
		at = step > 0 ? -1 : nr;
	sort_by(a, &columns[(at + step + nr) % nr]);
}

static const struct grid_mark *title_at(const struct app *a, struct app_input in)
{
	for (size_t i = 0; i < a->nr_marks && !a->is_help; i++)
		if (in.y == a->marks[i].y && in.x >= a->marks[i].x &&
		    in.x < a->marks[i].x + a->marks[i].width)
			return &a->marks[i];
	return NULL;
}

bool app_sort_click(struct app *a, struct app_input in)
{
	const struct grid_mark *title = title_at(a, in);

	if (title)
		sort_by(a, title);
	return title;
}
