#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/machine_profile.h"
#include "profile/profile.h"
#include "tui/format.h"
#include "tui/table_view.h"
#include "tui/views/parts.h"
#include "tui/views/profile_pane.h"
#include "tui/views/views.h"

#define WORTH_A_WORD 100U /* one in so many */
#define WIDE         110  /* from here on the pane is beside the table */
#define VERY_WIDE    150  /* from here on it may be half of the screen */
#define HIGH         18   /* from here on below it */
#define HAS_LAYERS   1U
#define HAS_BARS     2U
#define HAS_ALL      4U /* there is no pane: the table has its most important things */

struct perf_entry {
	const struct machine_profile_row *row;
	const struct machine_profile *profile;
};

static double share_of(const struct perf_entry *e, uint64_t samples)
{
	return e->profile->samples ? (double)samples / (double)e->profile->samples : NAN;
}

CELL(cell_symbol)
{
	const struct machine_profile_row *r = ((const struct perf_entry *)row)->row;

	snprintf(out->text, sizeof(out->text), "[%c] %s", r->is_kernel ? 'K' : 'U', r->symbol);
	out->style = r->is_kernel ? STYLE_KERNEL : STYLE_USER;
}

CELL(cell_layer)
{
	int64_t layer = ((const struct perf_entry *)row)->row->layer;

	if (layer < 0)
		snprintf(out->text, sizeof(out->text), "-");
	else
		snprintf(out->text, sizeof(out->text), "%" PRId64, layer);
}

/* Two decimals: the peer's users compare. */
static void put_share(struct table_view_cell *out, double share)
{
	if (share < 0.99995)
		snprintf(out->text, sizeof(out->text), "%.2f", share * 100);
	else
		format_percent(out->text, share);
}

CELL(cell_share)
{
	const struct perf_entry *e = row;
	double share = share_of(e, e->row->samples);

	put_share(out, share);
	out->style = grid_band(share * 2);
}

CELL(cell_total)
{
	const struct perf_entry *e = row;

	put_share(out, share_of(e, e->row->total));
}

CELL(cell_bar)
{
	const struct perf_entry *e = row;

	out->bar = share_of(e, e->row->samples);
}

CELL(cell_process)
{
	const struct machine_profile_row *r = ((const struct perf_entry *)row)->row;

	snprintf(out->text, sizeof(out->text), "%s [%u]%s", r->comm ? r->comm : "?", r->tgid,
	         r->nr_tgids > 1 ? " ..." : "");
	out->style = STYLE_DIM;
}

CELL(cell_place)
{
	char place[PROFILE_PLACE_BYTES];

	snprintf(out->text, sizeof(out->text), "%s",
	         profile_place(((const struct perf_entry *)row)->row->file,
	                       ((const struct perf_entry *)row)->row->line, place));
	out->style = STYLE_DIM;
}

#define ENTRY(member, ...) \
	CELL_VIA(struct perf_entry, row, struct machine_profile_row, member, __VA_ARGS__)
static const struct table_view_column columns[] = {
	{ "SYMBOL", 12, 64, 0, true, false, true, SORT_NAME, 0, .cell = cell_symbol },
	{ "MODULE", 12, 20, 3, true, false, false, 0, 0, ENTRY(module, TEXT, DIM) },
	{ "LAYER", 5, 0, 4, false, false, false, 0, HAS_LAYERS, .cell = cell_layer },
	{ "SAMPLES", 7, 0, 2, false, true, true, SORT_RUN, 0, ENTRY(samples, COUNT, NONE) },
	{ "%", 6, 0, 1, false, false, false, 0, 0, .cell = cell_share },
	{ "TOTAL%", 6, 0, 5, false, false, true, SORT_MAX, 0, .cell = cell_total },
	{ "", 8, 16, 6, true, false, false, 0, HAS_BARS, .cell = cell_bar },
	{ "PROCESS", 16, 28, 7, true, false, true, SORT_TID, HAS_ALL, .cell = cell_process },
	{ "WHERE", 12, 40, 8, true, false, false, 0, HAS_ALL, .cell = cell_place },
};

static const struct parts_sort sorts[] = {
	{ SORT_RUN, "samples" },
	{ SORT_MAX, "samples including callees" },
	{ SORT_TID, "process" },
	{ SORT_NAME, "symbol" },
};
#define NR_SORTS (sizeof(sorts) / sizeof(sorts[0]))

static const struct parts_rate rate = { MACHINE_PROFILE_HZ, MACHINE_PROFILE_HZ_MIN,
	                                MACHINE_PROFILE_HZ_MAX };

static bool is_shown(const struct machine_profile_row *r, const struct screen *s)
{
	return !s->filter[0] || strcasestr(r->symbol, s->filter) ||
	       strcasestr(r->module, s->filter);
}

static int by_name(const struct machine_profile_row *a, const struct machine_profile_row *b)
{
	int names = strcmp(a->symbol, b->symbol);

	return names ? names : (a->key > b->key) - (a->key < b->key);
}

static int by_number(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int order(const void *a, const void *b, void *arg)
{
	const struct machine_profile_row *x = (*(const struct perf_entry *const *)a)->row;
	const struct machine_profile_row *y = (*(const struct perf_entry *const *)b)->row;
	const struct screen *s = arg;
	int found;

	switch (s->sort) {
	case SORT_MAX:
		found = by_number(x->total, y->total);
		break;
	case SORT_TID:
		found = by_number(x->tgid, y->tgid);
		break;
	case SORT_NAME:
		found = strcmp(x->symbol, y->symbol);
		break;
	default:
		found = by_number(x->samples, y->samples);
	}
	if (found)
		return s->is_ascending ? found : -found;
	return by_name(x, y);
}

static int rows(const struct machine *m, const struct screen *s)
{
	int nr = 0;

	for (size_t i = 0; m->profile && i < m->profile->nr_rows; i++)
		nr += is_shown(&m->profile->rows[i], s);
	return nr;
}

/* What the filter leaves, in order. */
struct perf_list {
	struct perf_entry *entries;
	const void **rows;
	uint32_t *keys;
	int nr;
};

static void list_done(struct perf_list *l)
{
	free(l->entries);
	free(l->rows);
	free(l->keys);
}

static bool list_make(const struct machine_profile *p, const struct screen *s, struct perf_list *l)
{
	struct screen sorted = *s;

	l->entries = calloc(p->nr_rows + 1, sizeof(*l->entries));
	l->rows = calloc(p->nr_rows + 1, sizeof(*l->rows));
	l->keys = calloc(p->nr_rows + 1, sizeof(*l->keys));
	if (!l->entries || !l->rows || !l->keys)
		return false;
	for (size_t i = 0; i < p->nr_rows; i++) {
		if (!is_shown(&p->rows[i], s))
			continue;
		l->entries[l->nr] = (struct perf_entry){ &p->rows[i], p };
		l->rows[l->nr] = &l->entries[l->nr];
		l->nr++;
	}
	sorted.sort = parts_sort_of(sorts, NR_SORTS, s);
	qsort_r(l->rows, (size_t)l->nr, sizeof(*l->rows), order, &sorted);
	for (int i = 0; i < l->nr; i++)
		l->keys[i] = ((const struct perf_entry *)l->rows[i])->row->key;
	return true;
}

static void title_of(const struct machine_profile *p, const struct screen *s, int nr,
                     char title[static 128])
{
	char samples[FORMAT_BYTES], symbols[FORMAT_BYTES], left[FORMAT_BYTES];

	format_count(samples, (double)p->samples, s->is_localized);
	format_count(symbols, (double)p->nr_functions, s->is_localized);
	if (s->filter[0])
		snprintf(title, 128, " CPU profile: %s of %s symbols, %s samples ",
		         format_count(left, nr, s->is_localized), symbols, samples);
	else
		snprintf(title, 128, " CPU profile: %s samples, %s symbols ", samples, symbols);
}

/* The rate, what is missing, the keys: what is wrong comes first, for the end may be cut. */
static void draw_state(const struct machine_profile *p, const struct screen *s, struct grid *g,
                       struct area a)
{
	char lost[FORMAT_BYTES], idle[FORMAT_BYTES], span[FORMAT_BYTES];
	int x = a.x, end = a.x + a.width;

	if (p->lost)
		x += grid_printf(g, x, a.y, end - x, STYLE_WARNING, "LOST %s ",
		                 format_count(lost, (double)p->lost, s->is_localized));
	if (p->throttled)
		x += grid_printf(g, x, a.y, end - x, STYLE_WARNING, "SLOWED DOWN %" PRIu64 "x ",
		                 p->throttled);
	if (p->samples && p->broken * WORTH_A_WORD >= p->samples)
		x += grid_printf(g, x, a.y, end - x, STYLE_WARNING,
		                 "%.0f%% OF STACKS NOT WHOLE: %s ",
		                 100.0 * (double)p->broken / (double)p->samples,
		                 p->why_broken ? p->why_broken : "no frame pointers");
	x += grid_printf(g, x, a.y, end - x, STYLE_TEXT, "%s %.0f Hz ", p->event ? p->event : "",
	                 p->hz);
	x += grid_printf(g, x, a.y, end - x, STYLE_DIM, "%s  idle %s  ",
	                 format_ns(span, p->seconds * 1e9),
	                 format_count(idle, (double)p->idle, s->is_localized));
	x += grid_text(g, x, a.y, end - x, STYLE_KERNEL, "[K] kernel ");
	x += grid_text(g, x, a.y, end - x, STYLE_USER, "[U] user  ");
	grid_text(g, x, a.y, end - x, STYLE_DIM, "[ ] rate  x clear");
}

static void draw_table(const struct machine_profile *p, const struct perf_list *l, struct screen *s,
                       struct grid *g, struct area in)
{
	static const unsigned int has_of[SHAPES] = {
		[SHAPE_BARS] = HAS_BARS, [SHAPE_TABLE] = HAS_ALL
	};
	struct screen shown;
	int height = table_view_height(in), left;

	table_view_follow(s, l->keys, l->nr, height);
	shown = *s;
	shown.sort = parts_sort_of(sorts, NR_SORTS, s);
	left = l->nr - s->scroll;
	table_view_draw(&(struct table_view){ .columns = columns,
	                                      .nr_columns = sizeof(columns) / sizeof(columns[0]),
	                                      .has = (p->has_layers ? HAS_LAYERS : 0) |
	                                             has_of[s->shape],
	                                      .rows = l->rows + s->scroll,
	                                      .nr_rows = left < height ? left : height,
	                                      .first = s->scroll,
	                                      .total = l->nr,
	                                      .selected = s->selected },
	                &shown, g, in);
	if (l->nr == 0 && s->filter[0])
		grid_printf(g, in.x, in.y + 1, in.width, STYLE_DIM, "nothing matches '%s'",
		            s->filter);
	else if (l->nr == 0)
		grid_text(g, in.x, in.y + 1, in.width, STYLE_DIM, "no samples yet");
}

/* Where the table goes, and the pane of the selected row; the latter empty where there is no room for it. */
static void split(const struct screen *s, struct area a, struct area *table, struct area *pane)
{
	*table = a;
	*pane = (struct area){ a.x, a.y, 0, 0 };
	if (s->shape == SHAPE_TABLE)
		return;
	if (a.width >= WIDE) {
		table->width = a.width < VERY_WIDE ? a.width * 13 / 20 : a.width * 11 / 20;
		*pane = (struct area){ a.x + table->width, a.y, a.width - table->width, a.height };
	} else if (a.height >= HIGH) {
		table->height = a.height * 11 / 20;
		*pane = (struct area){ a.x, a.y + table->height, a.width,
			               a.height - table->height };
	}
}

static void draw_nothing(const struct machine_profile *p, struct grid *g, struct area a)
{
	struct area in = panel_begin(g, a, " CPU profile ", NULL);

	if (p && p->refusal)
		table_view_text(g, in.x, in.y, in.width, STYLE_WARNING, p->refusal);
	else
		grid_text(g, in.x, in.y, in.width, STYLE_DIM, "starting to sample ...");
}

static void draw(const struct machine *m, struct screen *s, struct grid *g, struct area a)
{
	const struct machine_profile *p = m->profile;
	struct area table, pane, in;
	struct perf_list l = { 0 };
	char title[128], right[128];

	if (!p || p->refusal || p->is_starting) {
		draw_nothing(p, g, a);
		return;
	}
	split(s, a, &table, &pane);
	if (list_make(p, s, &l)) {
		title_of(p, s, l.nr, title);
		parts_right(s, right, sizeof(right));
		in = panel_begin(g, table, title, right);
		if (in.height >= 4) {
			draw_state(p, s, g, (struct area){ in.x, in.y, in.width, 1 });
			in.y++;
			in.height--;
		}
		draw_table(p, &l, s, g, in);
		if (l.nr && pane.width)
			profile_pane_draw(m, ((const struct perf_entry *)l.rows[s->selected])->row,
			                  s, g, pane);
	}
	list_done(&l);
}

static void request(const struct screen *s, struct machine_request *r)
{
	r->sample_hz = s->profile_hz;
	r->nr_clears = s->nr_clears;
}

static bool act(const struct machine *m, struct screen *s, enum action action)
{
	(void)m;
	if (action == ACTION_EVENT_CLEAR) {
		s->nr_clears++;
		s->selected = 0;
		s->selected_tid = 0;
		snprintf(s->message, sizeof(s->message), "samples cleared");
		return true;
	}
	if (action == ACTION_ENTER) /* the pane has it all */
		return true;
	return parts_rate_act(&rate, &s->profile_hz, s, action) ||
	       parts_sort_act(sorts, NR_SORTS, s, action);
}

const struct view view_perf_top = {
	.id = "profile",
	.title = "Profile",
	.state = "PerfTop",
	.what = "hottest functions",
	.needs = MACHINE_PROFILE | MACHINE_TASKS,
	.draw = draw,
	.request = request,
	.act = act,
	.rows = rows,
};
