#include "tui/app.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "tui/app_place.h"
#include "tui/app_sort.h"
#include "tui/app_verdict.h"

#define STEP_MS    100U
#define ALL_ROWS   (1 << 24)
#define WHEEL_ROWS 3

void app_init(struct app *a, struct config *config)
{
	*a = (struct app){ .config = config, .selected_y = -1 };
	event_menu_init(&a->events, config->default_event, config->events.words, config->events.nr);
	a->screen = (struct screen){ .has_freq = true,
		                     .tick_ms = config->tick_ms,
		                     .events = &a->events };
	event_menu_start(&a->events, a->screen.event);
	a->view = view_find("Default");
	if (!a->view)
		a->view = views[0];
	a->previous = a->view;
}

void app_notify(struct app *a, const char *fmt, ...)
{
	char line[APP_LOG_BYTES];
	va_list args;

	va_start(args, fmt);
	vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	text_printable(a->log[a->nr_log++ % APP_LOG_LINES], APP_LOG_BYTES, line, strlen(line));
	a->hint[0] = '\0';
	a->is_reported = true;
}

void app_hint(struct app *a, const char *fmt, ...)
{
	char line[APP_LOG_BYTES];
	va_list args;

	va_start(args, fmt);
	vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	text_printable(a->hint, sizeof(a->hint), line, strlen(line));
	a->is_reported = true;
}

struct machine_request app_request(const struct app *a)
{
	struct machine_request r = { .needs = a->view->needs | MACHINE_CPUS };

	if (a->screen.has_uncore)
		r.needs |= MACHINE_UNCORE;
	if (a->screen.has_pressure)
		r.needs |= MACHINE_PRESSURE;
	if (a->view->request)
		a->view->request(&a->screen, &r);
	return r;
}

void app_refreshed(struct app *a, const struct machine_request *request, const struct machine *m)
{
	struct app_measured *to = &a->measured;

	to->is_known = true;
	to->request = *request;
	to->request.event = NULL;
	(void)snprintf(to->event, sizeof(to->event), "%s", request->event ? request->event : "");
	if (m->play && player_is_at_end(m->play) && !a->screen.is_frozen) {
		a->screen.is_frozen = true;
		app_notify(a, "the end of the recording");
	}
}

bool app_is_unmeasured(const struct app *a, const struct machine *m)
{
	const struct machine_request now = app_request(a), *then = &a->measured.request;

	if (!a->screen.is_frozen || !m || m->play || !a->measured.is_known)
		return false;
	return (now.needs & ~then->needs) || (now.tid && now.tid != then->tid) ||
	       (now.program && now.program != then->program) ||
	       (now.event && strcmp(now.event, a->measured.event) != 0);
}

static void change_tick(struct app *a, bool is_longer)
{
	uint32_t ms = a->screen.tick_ms;

	if (is_longer)
		ms = ms >= STEP_MS ? ms + STEP_MS : ms * 2;
	else
		ms = ms >= 2 * STEP_MS ? ms - STEP_MS : ms / 2;
	if (ms < CONFIG_TICK_MIN_MS)
		ms = CONFIG_TICK_MIN_MS;
	if (ms > CONFIG_TICK_MAX_MS)
		ms = CONFIG_TICK_MAX_MS;
	a->screen.tick_ms = ms;
	a->config->tick_ms = ms;
}

static void change_theme(struct app *a)
{
	a->config->theme = theme_next(a->config->theme);
	app_hint(a, "theme %s", a->config->theme->name);
}

static void event_key(struct app *a, const struct machine *m, int step)
{
	if (a->is_help || app_place_rows(a, m) > 0)
		app_place_move(a, m, step);
	else
		app_notify(a, "not available: there is only one event to show here");
}

/* Played again from the start, if it is at the end. */
static void freeze(struct app *a, const struct machine *m)
{
	if (a->screen.is_frozen && m && m->play && player_is_at_end(m->play) && !a->player.steps)
		player_seek(&a->player, "start");
	a->screen.is_frozen = !a->screen.is_frozen;
}

/* It stands there, so that it can be read. */
static void seek_wait(struct app *a, const struct machine_play *play, bool is_back)
{
	const struct machine_play_wait *w = player_seek_wait(&a->player, play, is_back);
	char wait[24];

	if (!w) {
		app_notify(a, "this recording has no waits");
		return;
	}
	a->screen.is_frozen = true;
	app_hint(a, "wait %zu of the %zu longest: %.15s [%u] waited %s",
	         (size_t)(w - play->waits) + 1, play->nr_waits, w->comm ? w->comm : "?", w->tid,
	         text_duration(wait, sizeof(wait), w->wait_ns));
}

/* Keys of the player; false = it is none of them. */
static bool play(struct app *a, const struct machine *m, const struct action_entry *e)
{
	bool is_replay = m && m->play;

	switch (e->action) {
	case ACTION_SEEK:
		if (is_replay)
			player_seek(&a->player, e->argument);
		break;
	case ACTION_SEEK_WAIT:
		if (is_replay)
			seek_wait(a, m->play, e->argument[0]);
		break;
	case ACTION_SPEED_UP:
	case ACTION_SPEED_DOWN:
		if (is_replay)
			player_change_speed(&a->player, e->action == ACTION_SPEED_UP ? 1 : -1);
		break;
	case ACTION_FASTER:
	case ACTION_SLOWER:
		if (!is_replay)
			return false;
		player_change_step(&a->player, e->action == ACTION_SLOWER ? 1 : -1);
		break;
	default:
		return false;
	}
	if (!is_replay)
		app_notify(a, "not available: this is not a recording");
	return true;
}

/* What a recording cannot have; the view would be empty. */
static bool is_refused(struct app *a, const struct machine *m, const struct action_entry *e)
{
	const struct view *v = NULL;

	if (!m || !m->play)
		return false;
	if (e->action == ACTION_RECORD || e->action == ACTION_REPORT || e->action == ACTION_ARM) {
		app_notify(a, "not available: this is a recording");
		return true;
	}
	if (e->action == ACTION_VIEW || e->action == ACTION_MEMORY || e->action == ACTION_NETWORK)
		v = view_find(e->argument);
	if (!v || !v->needs || (v->needs & ~(m->play->absent | MACHINE_CPUS)))
		return false;
	app_notify(a, "not available: a recording does not contain this: %s", e->what);
	return true;
}

/* Arrows to the sides move in time where there is a time to move in, else through the columns. */
static const struct action_entry *meant_by(const struct action_entry *e, const struct machine *m)
{
	bool is_replay = m && m->play;

	if (e->action == ACTION_LEFT)
		return action_find(is_replay ? "SeekBack" : "PrevSort");
	if (e->action == ACTION_RIGHT)
		return action_find(is_replay ? "SeekOn" : "NextSort");
	return e;
}

static void change_task_group(struct app *a)
{
	static const char *const words[TASKS_BYS] = { "one by one", "by name", "by cgroup",
		                                      "as a tree" };
	struct screen *s = &a->screen;

	s->by = (enum task_by)((s->by + 1) % TASKS_BYS);
	s->members_of[0] = '\0';
	s->process = 0;
	app_place_forget(a);
	app_hint(a, "processes %s", words[s->by]);
}

static void act_on_screen(struct app *a, const struct action_entry *e)
{
	struct screen *s = &a->screen;

	switch (e->action) {
	case ACTION_FILTER:
		s->is_typing = true;
		a->is_help = false;
		break;
	case ACTION_SHAPE:
		s->shape = (enum view_shape)((s->shape + 1) % SHAPES);
		break;
	case ACTION_GROUP:
		s->group = (enum view_group)((s->group + 1) % GROUPS);
		break;
	case ACTION_TASK_GROUP:
		change_task_group(a);
		break;
	case ACTION_SORT_REVERSE:
		s->is_ascending = !s->is_ascending;
		app_place_select(a, 0);
		break;
	case ACTION_FREQUENCY:
		s->has_freq = !s->has_freq;
		break;
	case ACTION_UNCORE:
		s->has_uncore = !s->has_uncore;
		break;
	case ACTION_PRESSURE:
		s->has_pressure = !s->has_pressure;
		break;
	case ACTION_LOCALIZE:
		s->is_localized = !s->is_localized;
		break;
	case ACTION_EVENT_CLEAR:
		s->sort = SORT_RUN;
		s->is_ascending = false;
		app_place_forget(a);
		break;
	default:
		break;
	}
}

static void act_on_place(struct app *a, const struct machine *m, enum action action)
{
	int page = a->page > 1 ? a->page - 1 : 1;

	switch (action) {
	case ACTION_UP:
		app_place_move(a, m, -1);
		break;
	case ACTION_DOWN:
		app_place_move(a, m, 1);
		break;
	case ACTION_PAGE_UP:
		app_place_move(a, m, -page);
		break;
	case ACTION_PAGE_DOWN:
		app_place_move(a, m, page);
		break;
	case ACTION_HOME:
		a->help_scroll = 0;
		app_place_select(a, 0);
		break;
	case ACTION_END:
		app_place_move(a, m, ALL_ROWS);
		break;
	case ACTION_ENTER:
		app_place_enter(a, m);
		break;
	case ACTION_EVENT_PREVIOUS:
		event_key(a, m, 1);
		break;
	case ACTION_EVENT_NEXT:
		event_key(a, m, -1);
		break;
	case ACTION_SORT_NEXT:
		app_sort_next(a, 1);
		break;
	case ACTION_SORT_PREVIOUS:
		app_sort_next(a, -1);
		break;
	default:
		break;
	}
}

/* What lies over a view, or leaves it, is not the view's. */
static bool view_acts(struct app *a, const struct machine *m, enum action action)
{
	bool is_done;

	if (!a->view->act || !m || a->is_help)
		return false;
	a->screen.message[0] = '\0';
	is_done = a->view->act(m, &a->screen, action);
	if (a->screen.message[0])
		app_notify(a, "%s", a->screen.message);
	if (a->screen.is_leaving)
		app_place_show(a, a->previous);
	a->screen.is_leaving = false;
	return is_done;
}

static unsigned int act(struct app *a, const struct machine *m, const struct action_entry *e)
{
	e = meant_by(e, m);
	if (view_acts(a, m, e->action) || is_refused(a, m, e) || play(a, m, e))
		return 0;
	switch (e->action) {
	case ACTION_FREEZE:
		freeze(a, m);
		break;
	case ACTION_VIEW:
	case ACTION_PROCESS:
		app_place_choose(a, e);
		break;
	case ACTION_MEMORY:
		app_place_cycle(a, e, &a->screen.has_memory);
		break;
	case ACTION_NETWORK:
		app_place_cycle(a, e, &a->screen.has_network);
		break;
	case ACTION_HELP:
		a->is_help = !a->is_help;
		a->help_scroll = 0;
		break;
	case ACTION_LOG:
		a->is_log = !a->is_log;
		break;
	case ACTION_THEME:
		change_theme(a);
		break;
	case ACTION_FASTER:
	case ACTION_SLOWER:
		change_tick(a, e->action == ACTION_SLOWER);
		break;
	case ACTION_BACK:
	case ACTION_BACKSPACE:
		app_place_back(a);
		break;
	case ACTION_QUIT:
		if (!a->is_help && !a->screen.process && !a->screen.members_of[0] && !a->zoom.view)
			return APP_QUIT;
		app_place_back(a);
		break;
	case ACTION_SAVE:
		return APP_SAVE;
	case ACTION_RECORD:
		return APP_RECORD;
	case ACTION_REPORT:
		return APP_REPORT;
	case ACTION_ARM:
		return APP_ARM;
	case ACTION_SAMPLE_LESS:
	case ACTION_SAMPLE_MORE:
		app_notify(a, "nothing is sampled here: every event is counted");
		break;
	case ACTION_UNAVAILABLE:
		app_notify(a, "not available: %s", e->argument);
		break;
	default:
		act_on_screen(a, e);
		act_on_place(a, m, e->action);
	}
	return 0;
}

/* Cuts the last character, which may be several bytes. */
static void cut_last(char *text)
{
	size_t len = strlen(text);

	while (len && ((unsigned char)text[len - 1] & 0xc0) == 0x80)
		len--;
	if (len)
		len--;
	text[len] = '\0';
}

_Static_assert(sizeof(((struct screen *)0)->filter) == sizeof(((struct screen *)0)->search),
               "both are typed alike");

/* A key while text is typed, a filter's or what is searched for; false if it is none for it, as the arrows. */
static bool type(struct app *a, uint32_t key)
{
	struct screen *s = &a->screen;
	bool is_search = a->view->is_search;
	char *typed = is_search ? s->search : s->filter;
	char text[KEY_TEXT];

	if (key == KEY_OF_ENTER) {
		s->is_typing = false;
		return !is_search;
	}
	if (key == KEY_OF_BACKSPACE || key == KEY_OF_DELETE) {
		if (!typed[0])
			s->is_typing = false;
		cut_last(typed);
	} else if (key >= ' ' && key < KEY_NONE) {
		const char *letter = key == ' ' ? " " : key_to_text(key, text);

		size_t len = strlen(typed);

		if (len + strlen(letter) < sizeof(s->filter))
			memcpy(typed + len, letter, strlen(letter) + 1);
	} else {
		return false;
	}
	app_place_forget(a);
	return true;
}

/* As the arrows do, wherever they do anything. */
static void wheel(struct app *a, const struct machine *m, bool is_up)
{
	for (int i = 0; i < WHEEL_ROWS; i++)
		if (!view_acts(a, m, is_up ? ACTION_UP : ACTION_DOWN))
			app_place_move(a, m, is_up ? -1 : 1);
}

/* The line of the selected row, or, while none is, of the first one, below the titles; -1 = there is none. */
static int selected_line(const struct app *a)
{
	for (size_t i = 0; a->screen.is_unselected && i < a->nr_marks; i++)
		if (a->marks[i].is_main)
			return a->marks[i].y + 1;
	return a->selected_y;
}

static void click(struct app *a, const struct machine *m, struct app_input in)
{
	int line = selected_line(a), row = a->screen.selected + in.y - line;

	if (in.y == APP_VERDICT_Y && a->is_verdict_shown) {
		app_place_explain(a, m);
		return;
	}
	if (app_sort_click(a, in) || a->is_help || line < 0 || in.y <= 0 ||
	    in.y > a->page + a->is_verdict_shown)
		return;
	/* On the selected row: into it. */
	if (in.y == line && !a->screen.is_unselected) {
		if (!view_acts(a, m, ACTION_ENTER))
			app_place_enter(a, m);
	} else if (row >= a->screen.scroll && row < app_place_rows(a, m)) {
		app_place_select(a, row);
		a->is_row_chosen = true;
	}
}

static void mouse(struct app *a, const struct machine *m, struct app_input in)
{
	if (in.key == KEY_OF_CLICK)
		click(a, m, in);
	else
		wheel(a, m, in.key == KEY_OF_WHEEL_UP);
}

unsigned int app_press(struct app *a, const struct machine *m, struct app_input in)
{
	const struct action_entry *e;

	a->is_reported = false;
	if (in.key == KEY_CTRL('C') || in.key == KEY_OF_SIGNAL)
		return APP_QUIT;
	if (in.key == KEY_CTRL('Z'))
		return APP_SUSPEND;
	if (in.key == KEY_OF_CLICK || in.key == KEY_OF_WHEEL_UP || in.key == KEY_OF_WHEEL_DOWN) {
		mouse(a, m, in);
		return 0;
	}
	if ((a->screen.is_typing || (a->view->is_search && !a->is_help)) && type(a, in.key))
		return 0;
	if (in.is_pasted)
		return 0;
	e = keymap_find(&a->config->keys, in.key);
	return e ? act(a, m, e) : 0;
}
