#include "tui/views/profile_pane.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "profile/profile.h"
#include "tui/format.h"
#include "tui/table_view.h"

#define NAME_CELLS  10
#define FACT_BYTES  512
#define WIDE        90 /* from here on facts are in two columns */
#define STACK_LINES 4  /* that a stack has at least, if it has so many */

/* Where the next line goes. */
struct pen {
	struct grid *g;
	struct area a; /* what is left */
};

const char *profile_place(const char *file, uint32_t line, char buf[static PROFILE_PLACE_BYTES])
{
	const char *slash = file ? strrchr(file, '/') : NULL;

	if (!file)
		return "-";
	if (line)
		snprintf(buf, PROFILE_PLACE_BYTES, "%s:%u", slash ? slash + 1 : file, line);
	else
		snprintf(buf, PROFILE_PLACE_BYTES, "%s", slash ? slash + 1 : file);
	return buf;
}

static void fact(struct pen *p, const char *name, const char *fmt, ...) PRINTF_LIKE(3, 4);
static void fact(struct pen *p, const char *name, const char *fmt, ...)
{
	char text[FACT_BYTES];
	va_list args;

	if (p->a.height <= 0)
		return;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	grid_text(p->g, p->a.x, p->a.y, NAME_CELLS, STYLE_DIM, name);
	table_view_text(p->g, p->a.x + NAME_CELLS, p->a.y, p->a.width - NAME_CELLS, STYLE_TEXT,
	                text);
	p->a.y++;
	p->a.height--;
}

static const struct machine_task *process_of(const struct machine *m, uint32_t tgid)
{
	for (size_t i = 0; i < m->nr_processes; i++)
		if (m->processes[i].tid == tgid)
			return &m->processes[i];
	return NULL;
}

static void draw_function(struct pen *p, const struct machine *m,
                          const struct machine_profile_row *r, const struct screen *s)
{
	char samples[FORMAT_BYTES], place[PROFILE_PLACE_BYTES];
	double whole = (double)m->profile->samples;

	fact(p, "symbol", "%s", r->symbol);
	fact(p, "module", "%s%s", r->module, r->is_kernel ? "" : ", user");
	fact(p, "samples", "%s, %.2f%%; including callees %.2f%%",
	     format_count(samples, (double)r->samples, s->is_localized),
	     (double)r->samples / whole * 100, (double)r->total / whole * 100);
	fact(p, "where", "%s  0x%" PRIx64, profile_place(r->file, r->line, place), r->address);
}

static void draw_process(struct pen *p, const struct machine *m,
                         const struct machine_profile_row *r)
{
	const struct machine_task *t = process_of(m, r->tgid);
	char run[FORMAT_BYTES];

	if (r->nr_tgids > 1)
		fact(p, "process", "%s [%u] and %u other%s", r->comm ? r->comm : "?", r->tgid,
		     r->nr_tgids - 1, r->nr_tgids > 2 ? "s" : "");
	else
		fact(p, "process", "%s [%u]", r->comm ? r->comm : "?", r->tgid);
	if (!t) {
		fact(p, "", "CPU %u; it has ended, or is not shown", r->cpu);
		return;
	}
	fact(p, "", "CPU %u, state %c, %s%% of a CPU, %u thread%s", r->cpu, t->state,
	     format_percent(run, t->run), t->nr_threads, t->nr_threads == 1 ? "" : "s");
	if (r->layer >= 0)
		fact(p, "layer", "%" PRId64, r->layer);
	if (t->has_dsq)
		fact(p, "DSQ", "0x%" PRIx64, t->dsq);
	if (t->cmdline)
		fact(p, "command", "%s", t->cmdline);
}

static void draw_frame(struct pen *p, uint32_t nr, const struct profile_frame *f)
{
	char text[FACT_BYTES], place[PROFILE_PLACE_BYTES];

	if (f->file)
		snprintf(text, sizeof(text), "#%u: %s%s (%s)", nr, f->symbol,
		         f->is_inlined ? " inlined" : "", profile_place(f->file, f->line, place));
	else
		snprintf(text, sizeof(text), "#%u: %s", nr, f->symbol);
	table_view_text(p->g, p->a.x + 1, p->a.y++, p->a.width - 1,
	                f->is_kernel ? STYLE_KERNEL : STYLE_USER, text);
	p->a.height--;
}

static void draw_stack(struct pen *p, const struct machine_profile_stack *stack, double whole,
                       int lines)
{
	if (p->a.height <= 0)
		return;
	grid_printf(p->g, p->a.x, p->a.y++, p->a.width, STYLE_HEAD,
	            "%.1f%% via, %" PRIu64 " samples", (double)stack->samples / whole * 100,
	            stack->samples);
	p->a.height--;
	for (uint32_t i = 0; i < stack->nr && p->a.height > 0 && lines > 0; i++, lines--)
		draw_frame(p, i, stack->frames[i]);
}

/* The first one gets what the others can spare. */
static void draw_stacks(struct pen *p, const struct machine_profile_row *r)
{
	for (uint32_t i = 0; i < r->nr_stacks; i++) {
		int others = 0;

		for (uint32_t k = i + 1; k < r->nr_stacks; k++)
			others += 1 + (r->stacks[k].nr < STACK_LINES ? (int)r->stacks[k].nr
			                                             : STACK_LINES);
		if (p->a.height - others < 1 + STACK_LINES)
			others = 0;
		draw_stack(p, &r->stacks[i], (double)r->samples, p->a.height - others - 1);
	}
}

void profile_pane_draw(const struct machine *m, const struct machine_profile_row *r,
                       const struct screen *s, struct grid *g, struct area a)
{
	char title[128];
	struct area in;
	struct pen left, right;

	snprintf(title, sizeof(title), " %.100s ", r->symbol);
	in = panel_begin(g, a, title, NULL);
	left = (struct pen){ g, in };
	if (in.width >= WIDE && in.width > in.height * 6) { /* broad and low */
		left.a.width = in.width / 2 - 1;
		right = (struct pen){
			g, { in.x + in.width / 2, in.y, in.width - in.width / 2, in.height }
		};
		draw_function(&left, m, r, s);
		draw_process(&left, m, r);
		draw_stacks(&right, r);
		return;
	}
	draw_function(&left, m, r, s);
	draw_process(&left, m, r);
	draw_stacks(&left, r);
}
