#include "tui/app_place.h"

#include "machine/machine_verdict.h"
#include "tui/app_verdict.h"
#include "tui/task_list.h"
#include "tui/views/task_table.h"

void app_place_select(struct app *a, int row)
{
	a->screen.selected = row < 0 ? 0 : row;
	a->screen.selected_tid = 0;
}

void app_place_forget(struct app *a)
{
	app_place_select(a, 0);
	a->screen.scroll = 0;
	a->is_row_chosen = false;
}

/* Leaving a program stops sampling it. */
static void turn_to(struct app *a, const struct view *v)
{
	if (v != a->view)
		a->screen.is_program_hot = false;
	a->view = v;
}

void app_place_show(struct app *a, const struct view *v)
{
	if (!a->view->is_search)
		a->previous = a->view;
	turn_to(a, v);
	a->screen.process = 0;
	a->screen.members_of[0] = '\0';
	a->screen.search[0] = '\0';
	a->zoom.view = NULL;
	app_place_forget(a);
}

void app_place_choose(struct app *a, const struct action_entry *e)
{
	const struct view *v = view_find(e->argument);

	if (!v) {
		app_notify(a, "not available: there is no view of %s yet", e->what);
		return;
	}
	/* From the help or the messages the key leads to the view, even if it lies beneath. */
	if (v == a->view && !a->is_help)
		app_place_show(a, a->previous);
	else if (v != a->view)
		app_place_show(a, v);
	a->is_help = false;
}

void app_place_cycle(struct app *a, const struct action_entry *e, bool *has_part)
{
	const struct view *v = view_find(e->argument);

	if (v && a->view == v) {
		*has_part = false;
		app_place_choose(a, e);
	} else if (!*has_part && a->view == view_find("Default")) {
		*has_part = true;
	} else {
		app_place_choose(a, e);
	}
}

int app_place_rows(const struct app *a, const struct machine *m)
{
	return a->view->rows && m ? a->view->rows(m, &a->screen) : 0;
}

void app_place_move(struct app *a, const struct machine *m, int by)
{
	int last = app_place_rows(a, m) - 1, to = a->screen.selected;

	if (a->is_help) {
		a->help_scroll += by;
		if (a->help_scroll < 0)
			a->help_scroll = 0;
		return;
	}
	if (by > 0 && app_verdict_is_chosen(a, m))
		by--;
	to = by > last - to ? last : to + by;
	a->is_row_chosen = to >= 0;
	app_place_select(a, to);
}

/* Into one row; the selection stays, for it says which. */
static void zoom(struct app *a, const char *state)
{
	const struct view *v = view_find(state);

	if (!v || v == a->view)
		return;
	a->zoom = (struct app_zoom){ a->view, a->screen.process };
	turn_to(a, v);
}

void app_place_explain(struct app *a, const struct machine *m)
{
	if (!m || !m->verdict || !m->verdict->tid || a->is_help || a->zoom.view)
		return;
	app_place_forget(a);
	a->screen.selected_tid = m->verdict->tid;
	zoom(a, "Task");
}

void app_place_enter(struct app *a, const struct machine *m)
{
	uint32_t tid = a->screen.selected_tid;

	if (app_verdict_is_chosen(a, m)) {
		app_place_explain(a, m);
		return;
	}

	if (a->is_help || !m || !tid || a->zoom.view)
		return;
	if (a->view->into) {
		zoom(a, a->view->into);
		return;
	}
	if (a->screen.process || a->view == view_find("Threads") ||
	    a->view == view_find("MangoApp")) {
		zoom(a, "Task");
		return;
	}
	if (a->view->rows == task_table_rows &&
	    task_list_group(m, &a->screen, tid, a->screen.members_of,
	                    sizeof(a->screen.members_of))) {
		app_place_forget(a);
		return;
	}
	for (size_t i = 0; i < m->nr_processes; i++) {
		if (m->processes[i].tid == tid) {
			a->screen.process = tid;
			app_place_forget(a);
			return;
		}
	}
}

static void leave_zoom(struct app *a)
{
	turn_to(a, a->zoom.view);
	a->screen.process = a->zoom.process;
	a->zoom.view = NULL;
}

void app_place_back(struct app *a)
{
	struct screen *s = &a->screen;

	if (a->is_help) {
		a->is_help = false;
	} else if (a->zoom.view) {
		leave_zoom(a);
	} else if (s->is_typing || s->filter[0]) {
		s->is_typing = false;
		s->filter[0] = '\0';
		app_place_forget(a);
	} else if (s->process) {
		uint32_t from = s->process;

		s->process = 0;
		app_place_forget(a);
		s->selected_tid = from;
		s->is_following = true;
	} else if (s->members_of[0]) {
		s->members_of[0] = '\0';
		app_place_forget(a);
	} else if (a->is_log) {
		a->is_log = false;
	} else if (a->view != a->previous) {
		app_place_show(a, a->previous);
		a->previous = a->view; /* a second Esc does not come back here */
	}
}
