#include "tui/views/cpu_history.h"

#include <math.h>
#include <stdio.h>

#include "tui/format.h"
#include "tui/measure.h"
#include "tui/table_view.h"

#define FRAME      2
#define DOTS       4 /* of a cell, above each other */
#define TALL_MOST  4 /* lines of a chart, unless nothing else fills the screen */
#define TALL_ALONE 16
#define LABEL      4

/* From the lowest up. What is busy beyond them is stolen, or of a recording, which knows no more. */
enum part { PART_USER, PART_SYSTEM, PART_IRQ, PART_REST, PARTS };

static const enum style styles[PARTS] = { STYLE_USER, STYLE_KERNEL, STYLE_BAD, STYLE_MIDDLE };

static size_t nr_online(const struct machine *m)
{
	size_t nr = 0;

	for (size_t i = 0; i < m->nr_cpus; i++)
		nr += m->cpus[i].is_online;
	return nr;
}

int cpu_history_height(const struct machine *m, const struct screen *s, int height, bool is_alone)
{
	int most = is_alone ? TALL_ALONE : TALL_MOST;
	struct measure shown = measure_of(m, s);
	int nr = (int)nr_online(m), tall;

	if (s->group != GROUP_CPU || !measure_is_busy(&shown) || !nr)
		return 0;
	tall = (height - FRAME) / nr - 1; /* a line of each says how many wait */
	if (tall < 1)
		return 0;
	return nr * ((tall < most ? tall : most) + 1) + FRAME;
}

/* back intervals ago; NAN = unknown. */
static double value_at(const struct machine_history *h, size_t back)
{
	return back < h->nr ? h->values[h->nr - 1 - back] : NAN;
}

static double known(double value)
{
	return value > 0 ? fmin(value, 1) : 0;
}

/* How high each part reaches, in dots. What is not 0 has a dot. */
static void stack(const struct machine_cpu *c, size_t back, int tall, int out[PARTS])
{
	double sum = 0, busy = known(value_at(&c->busy_history, back));
	const double parts[] = { known(value_at(&c->user_history, back)),
		                 known(value_at(&c->system_history, back)),
		                 known(value_at(&c->irq_history, back)) };

	for (int i = 0; i < PART_REST; i++) {
		sum = fmin(sum + parts[i], 1);
		out[i] = (int)(sum * tall * DOTS + 0.5);
	}
	out[PART_REST] = (int)(fmax(sum, busy) * tall * DOTS + 0.5);
	if (!out[PART_REST] && busy > 0)
		out[PART_REST] = 1;
}

/* Bits of the dots of a part in line row, counted from below. */
static unsigned int dots_of(const int reaches[PARTS], int row)
{
	int dots = reaches[PART_REST] - row * DOTS;

	if (dots <= 0)
		return 0;
	return dots >= DOTS ? 15U : (1U << dots) - 1;
}

static int count_of(const int reaches[PARTS], enum part part, int row)
{
	int from = part ? reaches[part - 1] : 0, to = reaches[part];
	int low = row * DOTS, high = low + DOTS;

	from = from > low ? from : low;
	to = to < high ? to : high;
	return to > from ? to - from : 0;
}

/* A cell has one colour: that of the part with most of its dots; of equal ones the higher, which is rarer. */
static enum style style_of(const int left[PARTS], const int right[PARTS], int row)
{
	int best = PART_USER, most = 0;

	for (int part = 0; part < PARTS; part++) {
		int dots = count_of(left, (enum part)part, row) +
		           count_of(right, (enum part)part, row);

		if (dots && dots >= most) {
			most = dots;
			best = part;
		}
	}
	return styles[best];
}

static void draw_chart(const struct machine_cpu *c, struct grid *g, struct area a)
{
	for (int x = 0; x < a.width; x++) {
		size_t back = 2 * (size_t)(a.width - 1 - x);
		int left[PARTS] = { 0 }, right[PARTS] = { 0 };

		if (back >= c->busy_history.nr)
			continue;
		stack(c, back, a.height, right);
		if (back + 1 < c->busy_history.nr)
			stack(c, back + 1, a.height, left);
		for (int row = 0; row < a.height; row++) {
			unsigned int l = dots_of(left, row), r = dots_of(right, row);

			if (l | r)
				grid_fill(g,
				          (struct area){ a.x + x, a.y + a.height - 1 - row, 1, 1 },
				          style_of(left, right, row), grid_braille(l, r));
		}
	}
}

/* The larger of the two intervals of a cell. */
static double waiting_at(const struct machine_cpu *c, size_t back)
{
	return fmax(value_at(&c->waiting_history, back), value_at(&c->waiting_history, back + 1));
}

static void draw_waiting(const struct machine_cpu *c, double max, struct grid *g, struct area a)
{
	for (int x = 0; x < a.width; x++) {
		double value = waiting_at(c, 2 * (size_t)(a.width - 1 - x));

		grid_spark(g, a.x + x, a.y, 1, (struct grid_series){ &value, 1, max },
		           value >= 1 ? STYLE_BAD : STYLE_HIGH);
	}
}

/* Of what is in sight; one at least, so that little does not look like much. */
static double largest_of(const struct machine *m, int width)
{
	double max = 1;

	for (size_t i = 0; i < m->nr_cpus; i++)
		for (size_t back = 0; back < 2 * (size_t)width; back++)
			max = fmax(max, value_at(&m->cpus[i].waiting_history, back));
	return max;
}

/* Intervals that are known, of those for which there is room. */
static double longest_of(const struct machine *m, int room)
{
	uint32_t longest = 0;

	for (size_t i = 0; i < m->nr_cpus; i++)
		if (m->cpus[i].busy_history.nr > longest)
			longest = m->cpus[i].busy_history.nr;
	return room < 0 ? 0 : fmin(longest, room);
}

static void draw_legend(const struct machine *m, double max, struct grid *g, struct area a)
{
	bool has_parts = m->nr_cpus && m->cpus[0].user_history.nr;
	char text[64];
	int x = a.x + 2, last = a.x + a.width - 2;

	if (has_parts) {
		x += grid_text(g, x, a.y, last - x, STYLE_USER, " user");
		x += grid_text(g, x, a.y, last - x, STYLE_KERNEL, " system");
		x += grid_text(g, x, a.y, last - x, STYLE_BAD, " interrupts");
		x += grid_text(g, x, a.y, last - x, STYLE_MIDDLE, " stolen");
	} else {
		x += grid_text(g, x, a.y, last - x, STYLE_MIDDLE, " busy");
	}
	(void)snprintf(text, sizeof(text), " ; above: waiting tasks, a full block is %.1f ", max);
	table_view_text(g, x, a.y, last - x, STYLE_DIM, text);
}

void cpu_history_draw(const struct machine *m, struct grid *g, struct area a)
{
	int nr = (int)nr_online(m), y, tall, width = a.width - 4 - LABEL;
	char right[FORMAT_BYTES + 16], span[FORMAT_BYTES];
	struct area in;
	double max = largest_of(m, width > 0 ? width : 0);

	(void)snprintf(right, sizeof(right), " last %s ",
	               format_ns(span, m->interval_s * longest_of(m, 2 * width) * 1e9));
	in = panel_begin(g, a, " CPUs over time ", right);
	tall = nr ? in.height / nr - 1 : 0;
	if (tall < 1 || width < 1)
		return;
	y = in.y;
	for (size_t i = 0; i < m->nr_cpus && y + tall < in.y + in.height; i++) {
		const struct machine_cpu *c = &m->cpus[i];

		if (!c->is_online)
			continue;
		grid_printf(g, in.x, y + tall, LABEL - 1, STYLE_DIM, "%3u", c->cpu);
		draw_waiting(c, max, g, (struct area){ in.x + LABEL, y, in.width - LABEL, 1 });
		draw_chart(c, g, (struct area){ in.x + LABEL, y + 1, in.width - LABEL, tall });
		y += tall + 1;
	}
	if (in.y > a.y) /* there is a frame */
		draw_legend(m, max, g, (struct area){ a.x, a.y + a.height - 1, a.width, 1 });
}
