/* Lists to search in: events of perf, and functions of the kernel. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fuzzy.h"
#include "machine/machine_event.h"
#include "tui/event_menu.h"
#include "tui/format.h"
#include "tui/table_view.h"
#include "tui/views/views.h"

struct found_event {
	const struct machine_event_list *list;
	uint32_t *places;
	size_t nr;
};

/* Empty where there is no list, or no memory. */
static struct found_event find(const struct machine *m, const struct screen *s)
{
	struct found_event f = { .list = m->event_list };

	if (f.list && f.list->nr &&
	    fuzzy_find(s->search, f.list->names, f.list->nr, &f.places, &f.nr))
		f = (struct found_event){ 0 };
	return f;
}

static int rows(const struct machine *m, const struct screen *s)
{
	struct found_event f = find(m, s);

	free(f.places);
	return (int)f.nr;
}

static void title_of(const struct found_event *f, const char *what, bool is_localized,
                     char title[static 128], char right[static 64])
{
	char all[FORMAT_BYTES], found[FORMAT_BYTES];

	right[0] = '\0';
	if (!f->list || f->list->is_loading) {
		snprintf(title, 128, " %s: reading the list ... ", what);
		return;
	}
	snprintf(title, 128, " %s %s%s%s ", what,
	         format_count(all, (double)f->list->nr, is_localized),
	         f->list->source ? ", from " : "", f->list->source ? f->list->source : "");
	if (f->nr < f->list->nr)
		snprintf(right, 64, " found %s ", format_count(found, (double)f->nr, is_localized));
}

/* Above the list, if there is room for it too: what to do, and what is wrong. */
static struct area draw_head(const struct found_event *f, struct grid *g, struct area in)
{
	const char *why = f->list ? f->list->why : NULL;

	if (in.height >= 4) {
		table_view_text(g, in.x, in.y, in.width, STYLE_DIM,
		                "type to search, Enter counts it on every CPU, Esc leaves");
		in.y++;
		in.height--;
	}
	if (why && in.height >= 3) {
		table_view_text(g, in.x, in.y, in.width, STYLE_WARNING, why);
		in.y++;
		in.height--;
	}
	return in;
}

static void draw_list(const struct machine *m, struct screen *s, const char *what, struct grid *g,
                      struct area a)
{
	struct found_event f = find(m, s);
	char title[128], right[64];
	struct area in;
	int height;

	title_of(&f, what, s->is_localized, title, right);
	in = draw_head(&f, g, panel_begin(g, a, title, right));
	height = in.height - 1;
	table_view_scroll(s, (int)f.nr, height > 0 ? height : 0);
	for (int row = 0; f.list && f.places && row < height && row + s->scroll < (int)f.nr;
	     row++) {
		struct area line = { in.x, in.y + row, in.width, 1 };

		table_view_text(g, line.x, line.y, line.width, STYLE_TEXT,
		                f.list->names[f.places[row + s->scroll]]);
		if (row + s->scroll == s->selected)
			grid_select(g, line);
	}
	if (in.height > 0)
		grid_printf(g, in.x, in.y + in.height - 1, in.width, STYLE_KEY, "# > %s_",
		            s->search);
	free(f.places);
}

static void draw_events(const struct machine *m, struct screen *s, struct grid *g, struct area a)
{
	draw_list(m, s, "Events", g, a);
}

static void draw_functions(const struct machine *m, struct screen *s, struct grid *g, struct area a)
{
	draw_list(m, s, "Functions of the kernel", g, a);
}

static void choose(const struct machine *m, struct screen *s, const char *source)
{
	struct found_event f = find(m, s);
	struct event_word parsed;
	char word[2 * EVENT_WORD_BYTES];

	if (s->selected < 0 || (size_t)s->selected >= f.nr) {
		snprintf(s->message, sizeof(s->message), "%s",
		         !f.list || f.list->is_loading ? "the list is still being read"
		                                       : "there is nothing to choose");
		free(f.places);
		return;
	}
	snprintf(word, sizeof(word), "%s:%.300s", source, f.list->names[f.places[s->selected]]);
	free(f.places);
	if (strlen(word) >= sizeof(s->event) || event_word_parse(word, &parsed, NULL)) {
		snprintf(s->message, sizeof(s->message), "'%.120s' cannot be counted by its name",
		         word);
		return;
	}
	memcpy(s->event, word, strlen(word) + 1);
	if (s->events)
		event_menu_add(s->events, word);
	snprintf(s->message, sizeof(s->message), "event %.140s", word);
	s->is_leaving = true;
}

static bool act_on(const struct machine *m, struct screen *s, enum action action,
                   const char *source)
{
	if (action == ACTION_ENTER)
		choose(m, s, source);
	else if (action == ACTION_BACK)
		s->is_leaving = true;
	else
		return false;
	return true;
}

static bool act_on_events(const struct machine *m, struct screen *s, enum action action)
{
	return act_on(m, s, action, "perf");
}

static bool act_on_functions(const struct machine *m, struct screen *s, enum action action)
{
	return act_on(m, s, action, "kprobe");
}

const struct view view_perf_event = {
	.id = "events",
	.title = "Events",
	.state = "PerfEvent",
	.what = "events of perf and tracepoints, to choose one that is counted",
	.needs = MACHINE_TRACEPOINTS,
	.is_search = true,
	.draw = draw_events,
	.act = act_on_events,
	.rows = rows,
};

const struct view view_kprobe_event = {
	.id = "functions",
	.title = "Functions",
	.state = "KprobeEvent",
	.what = "functions of the kernel, to choose one whose calls are counted",
	.needs = MACHINE_FUNCTIONS,
	.is_search = true,
	.draw = draw_functions,
	.act = act_on_functions,
	.rows = rows,
};
