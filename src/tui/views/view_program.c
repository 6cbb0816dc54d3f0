#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/machine_program.h"
#include "profile/machine_profile.h"
#include "tui/format.h"
#include "tui/table_view.h"
#include "tui/views/parts.h"
#include "tui/views/program_tables.h"
#include "tui/views/views.h"

#define NAME_CELLS  14
#define SPARK_LABEL 24
#define WIDE        100 /* from here on facts are in two columns */
#define MOST_OPS    10  /* rows of the table of operations, where other things need room */
#define LEAST_ROWS  4   /* of a table, with its frame and titles */

/* The usual rate is four times that of a profile: a program is a small part of all. */
static const struct parts_rate rate = { 4 * MACHINE_PROFILE_HZ, MACHINE_PROFILE_HZ_MIN,
	                                MACHINE_PROFILE_HZ_MAX };

static const struct machine_bpf *find(const struct machine *m, uint32_t id)
{
	for (size_t i = 0; i < m->nr_programs; i++)
		if (m->programs[i].id == id)
			return &m->programs[i];
	return NULL;
}

/* The costliest, where none was chosen. */
static uint32_t first_program(const struct machine *m)
{
	const struct machine_bpf *best = NULL;

	for (size_t i = 0; i < m->nr_programs; i++)
		if (!best || m->programs[i].cpu > best->cpu ||
		    (isnan(best->cpu) && !isnan(m->programs[i].cpu)))
			best = &m->programs[i];
	return best ? best->id : 0;
}

/* Lines "name  value" below each other, in one or two columns. */
struct fact_sheet {
	struct grid *g;
	struct area a;
	int nr_columns;
	int nr; /* facts so far */
};

static void fact(struct fact_sheet *t, const char *name, const char *fmt, ...) PRINTF_LIKE(3, 4);
static void fact(struct fact_sheet *t, const char *name, const char *fmt, ...)
{
	int width = t->a.width / t->nr_columns;
	int x = t->a.x + t->nr % t->nr_columns * width, y = t->nr / t->nr_columns;
	char text[256];
	va_list args;

	t->nr++;
	if (y >= t->a.height)
		return;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	grid_text(t->g, x, t->a.y + y, NAME_CELLS < width ? NAME_CELLS : width, STYLE_DIM, name);
	table_view_text(t->g, x + NAME_CELLS, t->a.y + y, width - NAME_CELLS - 1, STYLE_TEXT, text);
}

static void draw_costs(struct fact_sheet *t, const struct machine_bpf *p, const struct screen *s)
{
	char a[FORMAT_BYTES], b[FORMAT_BYTES], c[FORMAT_BYTES], d[FORMAT_BYTES];
	char name[FORMAT_BYTES];

	fact(t, "now", "%s%% of a CPU, %s runs/s, %s each", format_percent(a, p->cpu),
	     format_count(b, p->runs_per_s, s->is_localized), format_ns(c, p->ns_per_run));
	fact(t, "so far", "%s in %s runs, %s each, %s missed", format_ns(a, (double)p->run_ns),
	     format_count(b, (double)p->runs, s->is_localized),
	     format_ns(c, p->runs ? (double)p->run_ns / (double)p->runs : NAN),
	     format_count(d, (double)p->misses, s->is_localized));
	/* Not of single runs: the kernel does not report these. */
	snprintf(name, sizeof(name), "means of %u", p->nr_intervals);
	if (p->nr_intervals)
		fact(t, name, "p50 %s p99 %s min %s max %s", format_ns(a, p->p50_ns),
		     format_ns(b, p->p99_ns), format_ns(c, p->min_ns), format_ns(d, p->max_ns));
}

static void draw_kind(struct fact_sheet *t, const struct machine *m, const struct machine_bpf *p,
                      const struct screen *s)
{
	char a[FORMAT_BYTES], b[FORMAT_BYTES], since[FORMAT_BYTES + 16] = "", btf[FORMAT_BYTES];

	if (p->struct_name)
		fact(t, "operation", "%s of %s (%s)", p->op ? p->op : "?",
		     p->owner ? p->owner : "?", p->struct_name);
	/* The kernel reports no size to a process without CAP_BPF. */
	fact(t, "code", "%s instructions, %s of machine code",
	     format_count(a, p->insns, s->is_localized),
	     p->jited_bytes ? format_bytes(b, p->jited_bytes) : "an unknown size");
	if (p->loaded_ns && m->boot_ns > p->loaded_ns)
		snprintf(since, sizeof(since), "%s ago ",
		         format_ns(a, (double)(m->boot_ns - p->loaded_ns)));
	fact(t, "loaded", "%sby user %u", since, p->uid);
	snprintf(btf, sizeof(btf), "%u", p->btf_id);
	fact(t, "has", "BTF %s, %u map%s, GPL %s", p->btf_id ? btf : "none", p->nr_maps,
	     p->nr_maps == 1 ? "" : "s", p->is_gpl ? "compatible" : "no");
}

/* How many lines they take. */
static int draw_facts(const struct machine *m, const struct machine_bpf *p, const struct screen *s,
                      struct grid *g, struct area a)
{
	struct fact_sheet t = { g, a, a.width >= WIDE ? 2 : 1, 0 };
	int lines;

	fact(&t, "program", "%u %s, %s", p->id, p->name && p->name[0] ? p->name : "-",
	     p->type ? p->type : "?");
	draw_costs(&t, p, s);
	draw_kind(&t, m, p, s);
	lines = (t.nr + t.nr_columns - 1) / t.nr_columns;
	return lines < a.height ? lines : a.height;
}

static double newest(const struct machine_history *h)
{
	return h->nr ? h->values[h->nr - 1] : NAN;
}

static void draw_past(const char *name, const char *value, const struct machine_history *h,
                      struct grid *g, struct area a)
{
	grid_printf(g, a.x, a.y, SPARK_LABEL - 1, STYLE_DIM, "%-12s %s", name, value);
	if (h->nr)
		grid_spark(g, a.x + SPARK_LABEL, a.y, a.width - SPARK_LABEL,
		           (struct grid_series){ h->values, h->nr, 0 }, STYLE_GOOD);
}

static int draw_pasts(const struct machine_programs *b, const struct screen *s, struct grid *g,
                      struct area a)
{
	char text[FORMAT_BYTES];

	if (a.height < 3 || a.width <= SPARK_LABEL)
		return 0;
	draw_past("time per run", format_ns(text, newest(&b->ns_history)), &b->ns_history, g, a);
	a.y++;
	draw_past("runs/s", format_count(text, newest(&b->runs_history), s->is_localized),
	          &b->runs_history, g, a);
	a.y++;
	draw_past("CPU%", format_percent(text, newest(&b->cpu_history)), &b->cpu_history, g, a);
	return 3;
}

static struct area below(struct area a, int lines)
{
	return (struct area){ a.x, a.y + lines, a.width, a.height - lines };
}

static void draw_program(const struct machine *m, const struct machine_bpf *p, struct screen *s,
                         struct grid *g, struct area a)
{
	int nr_ops = p->is_sched_ext ? program_ops_nr(m, p) : 0;

	if (a.height > 6)
		a.height--; /* what the tables have is drawn below */
	a = below(a, draw_facts(m, p, s, g, a));
	if (m->bpf && m->bpf->program == p->id)
		a = below(a, draw_pasts(m->bpf, s, g, a));
	if (nr_ops && a.height >= LEAST_ROWS) {
		int height = (nr_ops < MOST_OPS ? nr_ops : MOST_OPS) + 2;

		if (height > a.height / 2 && m->bpf && m->bpf->hot)
			height = a.height / 2;
		if (height > a.height)
			height = a.height;
		program_ops_draw(m, p, s, g, (struct area){ a.x, a.y, a.width, height });
		a = below(a, height);
	}
	program_hot_draw(m->bpf ? m->bpf->hot : NULL, s, g, a);
}

static void draw(const struct machine *m, struct screen *s, struct grid *g, struct area a)
{
	const struct machine_bpf *p;
	char title[96], right[96];
	struct area in;

	if (!s->program)
		s->program = first_program(m);
	p = find(m, s->program);
	snprintf(title, sizeof(title), " BPF program %u ", s->program);
	parts_right(s, right, sizeof(right));
	in = panel_begin(g, a, title, right);
	if (p)
		draw_program(m, p, s, g, in);
	else if (m->bpf && m->bpf->refusal)
		table_view_text(g, in.x, in.y, in.width, STYLE_WARNING, m->bpf->refusal);
	else if (s->program)
		grid_printf(g, in.x, in.y, in.width, STYLE_WARNING, "program %u was unloaded",
		            s->program);
	else
		grid_text(g, in.x, in.y, in.width, STYLE_DIM, "no programs");
}

static void request(const struct screen *s, struct machine_request *r)
{
	r->program = s->program;
	r->is_program_hot = s->is_program_hot;
	r->sample_hz = s->program_hz;
	r->nr_clears = s->nr_clears;
}

/* The selection stays that of the list; here lines are scrolled. */
static bool scroll(struct screen *s, enum action action)
{
	switch (action) {
	case ACTION_UP:
	case ACTION_EVENT_NEXT:
		s->program_scroll -= s->program_scroll > 0;
		return true;
	case ACTION_DOWN:
	case ACTION_EVENT_PREVIOUS:
		s->program_scroll++;
		return true;
	case ACTION_PAGE_UP:
		s->program_scroll = s->program_scroll > 10 ? s->program_scroll - 10 : 0;
		return true;
	case ACTION_PAGE_DOWN:
		s->program_scroll += 10;
		return true;
	case ACTION_HOME:
		s->program_scroll = 0;
		return true;
	case ACTION_END:
	case ACTION_ENTER:
		return true;
	default:
		return false;
	}
}

static bool act(const struct machine *m, struct screen *s, enum action action)
{
	(void)m;
	if (action == ACTION_PROCESS) {
		s->is_program_hot = !s->is_program_hot;
		snprintf(s->message, sizeof(s->message), "%s",
		         s->is_program_hot ? "the program is sampled until you leave it"
		                           : "the program is not sampled any more");
		return true;
	}
	if (action == ACTION_EVENT_CLEAR && s->is_program_hot) {
		s->nr_clears++;
		snprintf(s->message, sizeof(s->message), "samples cleared");
		return true;
	}
	if (s->is_program_hot && parts_rate_act(&rate, &s->program_hz, s, action))
		return true;
	return scroll(s, action);
}

const struct view view_program = {
	.id = "program",
	.title = "BPF program",
	.state = "BpfProgramDetail",
	.what = "one BPF program: cost over time, operations, and where its time goes",
	.needs = MACHINE_BPF,
	.draw = draw,
	.request = request,
	.act = act,
};
