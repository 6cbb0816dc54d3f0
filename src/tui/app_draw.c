#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tui/app.h"
#include "tui/app_verdict.h"
#include "tui/help.h"

static double mean_busy(const struct machine *m)
{
	double sum = 0;
	size_t nr = 0;

	for (size_t i = 0; i < m->nr_cpus; i++) {
		if (m->cpus[i].is_online && !isnan(m->cpus[i].busy)) {
			sum += m->cpus[i].busy;
			nr++;
		}
	}
	return nr ? sum / (double)nr : NAN;
}

/* What is wrong first: it must not be cut where the screen is narrow. */
static void right_of_header(const struct app *a, const struct machine *m, char *buf, size_t size)
{
	double busy = m ? mean_busy(m) : NAN;
	size_t at = 0;

	buf[0] = '\0';
	if (a->screen.is_frozen)
		at += (size_t)snprintf(buf + at, size - at, "%s ",
		                       m && m->play ? "PAUSED" : "FROZEN");
	if (m && m->lost)
		at += (size_t)snprintf(buf + at, size - at, "LOST %llu ",
		                       (unsigned long long)m->lost);
	if (a->recorder.kept_s > 0) {
		at += (size_t)snprintf(buf + at, size - at, "REC %gs ", a->recorder.kept_s);
		if (!isnan(a->recorder.cpu))
			at += (size_t)snprintf(buf + at, size - at, "%.1f%% ",
			                       a->recorder.cpu * 100);
	}
	if (!isnan(busy))
		at += (size_t)snprintf(buf + at, size - at, "CPU %.0f%% ", busy * 100);
	snprintf(buf + at, size - at, "%ums", a->screen.tick_ms);
}

static const char *source_of(const char *source)
{
	if (!source)
		return "none";
	return strcmp(source, "bpf") == 0 ? "BPF" : strcmp(source, "proc") == 0 ? "/proc" : source;
}

/* Loads are unknown in a recording. */
static void draw_system(const struct machine *m, struct grid *g, int x, int width)
{
	char load[64] = "";

	if (!isnan(m->load[0]))
		(void)snprintf(load, sizeof(load), "load %.2f %.2f %.2f  ", m->load[0], m->load[1],
		               m->load[2]);
	grid_printf(g, x, 0, width, STYLE_DIM, "%s %s  %sscheduler %s  source: %s",
	            m->host ? m->host : "", m->release ? m->release : "", load,
	            m->scheduler ? m->scheduler : "fair", source_of(m->source));
}

static void draw_header(const struct app *a, const struct machine *m, struct grid *g)
{
	char right[96];
	int used, right_width;

	right_of_header(a, m, right, sizeof(right));
	right_width = (int)strlen(right);
	used = grid_text(g, 0, 0, g->width - right_width - 1, STYLE_TITLE,
	                 a->is_help ? "Help" : a->view->title);
	if (m && g->width - used - right_width > 24)
		draw_system(m, g, used + 2, g->width - used - right_width - 3);
	grid_right(g, g->width - right_width, 0, right_width,
	           a->screen.is_frozen || (m && m->lost) ? STYLE_WARNING : STYLE_DIM, right);
}

static void draw_footer(const struct app *a, const struct machine *m, struct grid *g, int y)
{
	static const char *const hints[] = { "AppStateHelp", "Quit",          "Filter",
		                             "NextSort",     "NextViewState", "AppStatePause",
		                             "Enter",        "RecordTrace",   "ToggleLog" };
	static const char *const words[] = { "help",   "quit", "filter", "sort", "chart style",
		                             "freeze", "open", "record", "log" };
	bool is_replay = m && m->play;
	int x = 0;

	if (a->view->is_search) {
		grid_text(g, 0, y, g->width, STYLE_DIM, "Enter counts it  Esc goes back");
		return;
	}
	if (a->screen.is_typing || a->screen.filter[0]) {
		x = grid_text(g, 0, y, g->width, STYLE_KEY, "filter ");
		x += grid_text(g, x, y, g->width - x, STYLE_TEXT, a->screen.filter);
		if (a->screen.is_typing)
			x += grid_text(g, x, y, g->width - x, STYLE_SELECTED, " ");
		x += grid_text(g, x, y, g->width - x, STYLE_DIM, "  Esc clears  ");
	}
	for (size_t i = 0; i < sizeof(hints) / sizeof(hints[0]); i++) {
		const struct action_entry *e = action_find(hints[i]);
		const char *word = is_replay && e->action == ACTION_FREEZE ? "pause" : words[i];
		char keys[64];

		keymap_keys_of(&a->config->keys, e, keys, sizeof(keys));
		if (strcspn(keys, ",") > 0) /* the first one; the key may be a comma itself */
			keys[strcspn(keys, ",")] = '\0';
		if (is_replay && e->action == ACTION_RECORD)
			continue;
		if (!*keys || x + (int)(strlen(keys) + strlen(word)) + 2 > g->width)
			continue;
		x += grid_text(g, x, y, g->width - x, STYLE_KEY, keys);
		x += grid_printf(g, x, y, g->width - x, STYLE_DIM, " %s  ", word);
	}
}

/* The line above the footer: the newest message until a key is pressed, else what is missing. */
static const char *notice_of(const struct app *a, const struct machine *m)
{
	if (a->is_reported && a->hint[0])
		return a->hint;
	if (a->is_reported && a->nr_log)
		return a->log[(a->nr_log - 1) % APP_LOG_LINES];
	/* What was requested with a key and is not available. */
	if (m && m->no_uncore)
		return m->no_uncore;
	if (m && m->no_pressure)
		return m->no_pressure;
	return m ? m->notice : NULL;
}

static void draw_log(const struct app *a, const struct machine *m, struct grid *g, struct area box)
{
	struct area in = grid_frame(g, box, "Log and lost events", NULL);
	size_t own = a->nr_log < APP_LOG_LINES ? a->nr_log : APP_LOG_LINES;
	size_t of_source = m ? m->nr_log : 0, skip = 0;
	int y = in.y;

	grid_fill(g, in, STYLE_TEXT, ' ');
	if (in.height <= 0)
		return;
	if (m)
		grid_printf(g, in.x, y++, in.width, m->lost ? STYLE_WARNING : STYLE_DIM,
		            "events lost since the start: %llu", (unsigned long long)m->lost);
	if (own + of_source > (size_t)(in.y + in.height - y))
		skip = own + of_source - (size_t)(in.y + in.height - y);
	for (size_t i = skip; i < of_source + own; i++)
		grid_text(g, in.x, y++, in.width, STYLE_TEXT,
		          i < of_source
		                  ? m->log[i]
		                  : a->log[(a->nr_log - own + i - of_source) % APP_LOG_LINES]);
}

static void find_selected(struct app *a, const struct grid *g, struct area body)
{
	a->selected_y = -1;
	for (int y = body.y; y < body.y + body.height && a->selected_y < 0; y++)
		for (int x = body.x; x < body.x + body.width; x++)
			if (g->cells[(size_t)y * g->width + (size_t)x].is_selected)
				a->selected_y = y;
}

static void draw_body(struct app *a, const struct machine *m, struct grid *g, struct area body)
{
	int last = help_lines(&a->config->keys) - body.height;

	if (a->is_help) {
		if (a->help_scroll > last)
			a->help_scroll = last > 0 ? last : 0;
		help_draw(&a->config->keys, a->help_scroll, g, body);
	} else if (app_is_unmeasured(a, m)) {
		grid_text(
			g, body.x, body.y, body.width, STYLE_WARNING,
			"No data: this view was not open when you froze. Space resumes, Esc goes back.");
	} else if (m) {
		a->view->draw(m, &a->screen, g, body);
		find_selected(a, g, body);
	} else {
		grid_text(g, body.x, body.y, body.width, STYLE_DIM, "measuring ...");
	}
}

void app_draw(struct app *a, const struct machine *m, struct grid *g)
{
	const char *notice = notice_of(a, m);
	int bottom = g->height - 1, top = 1;

	if (g->height < 2 || g->width < 1) {
		if (g->height == 1 && g->width)
			draw_header(a, m, g);
		return;
	}
	draw_header(a, m, g);
	draw_footer(a, m, g, bottom);
	if (notice && *notice && g->height >= 5)
		grid_text(g, 0, --bottom, g->width, a->is_reported ? STYLE_TITLE : STYLE_WARNING,
		          notice);
	if (m && m->play && g->height >= 5)
		player_draw(m->play, a->screen.is_frozen, g, --bottom);
	if (a->is_log && bottom >= 6) {
		int height = bottom / 3 > 3 ? bottom / 3 : 3;

		bottom -= height;
		draw_log(a, m, g, (struct area){ 0, bottom, g->width, height });
	}
	top += app_verdict_rows(a, g->height);
	a->is_verdict_shown = top > 1;
	if (a->is_verdict_shown)
		app_verdict_draw(a, m, g);
	a->screen.is_unselected = a->is_verdict_shown && app_verdict_is_chosen(a, m);
	a->page = bottom - top;
	draw_body(a, m, g, (struct area){ 0, top, g->width, bottom - top });
	a->nr_marks = g->nr_marks;
	memcpy(a->marks, g->marks, g->nr_marks * sizeof(*g->marks));
}
