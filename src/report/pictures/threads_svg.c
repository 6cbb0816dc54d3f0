#include "report/pictures/threads_svg.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/source.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "model/tasks.h"
#include "report/html.h"
#include "report/pictures/svg.h"

#define COLUMNS    170U
#define LEAST      1.0 /* of a column that is not empty */
#define LANE       22.0
#define BAR        18.0
#define BOTTOM     22.0
#define NAME_BYTES 64
#define BATCH      256U
#define NAME_WIDTH 16U /* letters that SVG_LEFT has room for, the number of the thread among them */

struct lane {
	double run_ns[COLUMNS], wait_ns[COLUMNS];
};

struct threads {
	const struct source *s;
	struct svg_span span;
	double column_ns;
	uint32_t nr_tasks;
	FILE *out;
};

/* An interval, over the columns that it lies in. */
static void add(const struct threads *t, double *columns, uint64_t from, uint64_t to)
{
	from = from > t->span.from_ns ? from : t->span.from_ns;
	to = to < t->span.to_ns ? to : t->span.to_ns;
	for (uint32_t i = from < to ? (uint32_t)((double)(from - t->span.from_ns) / t->column_ns)
	                            : COLUMNS;
	     i < COLUMNS; i++) {
		double left = (double)t->span.from_ns + i * t->column_ns,
		       right = left + t->column_ns;
		double begin = (double)from > left ? (double)from : left,
		       end = (double)to < right ? (double)to : right;

		if (begin >= (double)to)
			return;
		columns[i] += end > begin ? end - begin : 0;
	}
}

/* Rows of a table that are looked at together. */
struct batch {
	const uint32_t *tasks;
	uint64_t starts[BATCH], others[BATCH], ends[BATCH];
	uint32_t nr;
};

static bool read_slices(const struct timeline *t, uint64_t id, struct batch *b)
{
	b->tasks = timeline_column(t, TIMELINE_SLICE, offsetof(struct pair_slice, task), id,
	                           &b->nr);
	if (!b->tasks)
		return false;
	b->nr = b->nr < BATCH ? b->nr : BATCH;
	return timeline_times(t, TIMELINE_SLICE, offsetof(struct pair_slice, start_ns), id,
	                      b->starts, b->nr) == b->nr &&
	       timeline_times(t, TIMELINE_SLICE, offsetof(struct pair_slice, end_ns), id, b->ends,
	                      b->nr) == b->nr;
}

static bool read_waits(const struct timeline *t, uint64_t id, struct batch *b)
{
	b->tasks = timeline_column(t, TIMELINE_WAIT, offsetof(struct pair_wait, task), id, &b->nr);
	if (!b->tasks)
		return false;
	b->nr = b->nr < BATCH ? b->nr : BATCH;
	if (timeline_times(t, TIMELINE_WAIT, offsetof(struct pair_wait, waking_ns), id, b->starts,
	                   b->nr) != b->nr ||
	    timeline_times(t, TIMELINE_WAIT, offsetof(struct pair_wait, wakeup_ns), id, b->others,
	                   b->nr) != b->nr ||
	    timeline_times(t, TIMELINE_WAIT, offsetof(struct pair_wait, end_ns), id, b->ends,
	                   b->nr) != b->nr)
		return false;
	for (uint32_t i = 0; i < b->nr; i++)
		b->starts[i] = b->starts[i] ? b->starts[i] : b->others[i];
	return true;
}

/* All lanes in one walk over the columns: most rows of a table are of few tasks, and an index leads all over it. */
static void collect(const struct threads *t, const uint8_t *lane_of, struct lane *lanes,
                    enum timeline_table table)
{
	const struct timeline *timeline = t->s->timeline;
	bool is_slice = table == TIMELINE_SLICE;
	struct batch b;

	for (uint64_t id = timeline_first(timeline, table);
	     is_slice ? read_slices(timeline, id, &b) : read_waits(timeline, id, &b); id += b.nr) {
		for (uint32_t i = 0; i < b.nr; i++) {
			uint32_t lane = b.tasks[i] < t->nr_tasks ? lane_of[b.tasks[i]] : 0;

			if (lane)
				add(t, is_slice ? lanes[lane - 1].run_ns : lanes[lane - 1].wait_ns,
				    b.starts[i], b.ends[i]);
		}
	}
}

/* The top of a column: where it ran, or both stacked. */
static double top_of(const struct threads *t, const struct lane *l, bool is_wait, uint32_t i)
{
	double ns = l->run_ns[i] + (is_wait ? l->wait_ns[i] : 0), height = BAR * ns / t->column_ns;

	/* What is short must be seen, too. */
	if (ns > 0 && height < LEAST)
		height = LEAST;
	return (double)(long)(2 * (height < BAR ? height : BAR) + 0.5) / 2;
}

/* Outlines of steps, the lower one over the higher: a lane is two elements and not hundreds. */
static void put_path(const struct threads *t, const char *class_name, const struct lane *l,
                     bool is_wait, double y)
{
	double width = (SVG_WIDTH - SVG_LEFT) / COLUMNS, last = 0;

	fprintf(t->out, "<path class=\"%s\" d=\"M%.0f ", class_name, SVG_LEFT);
	html_number(t->out, y + BAR);
	for (uint32_t i = 0; i <= COLUMNS; i++) {
		double top = i < COLUMNS ? top_of(t, l, is_wait, i) : 0;

		if (top == last)
			continue;
		fputc('H', t->out);
		html_number(t->out, SVG_LEFT + i * width);
		fputc('V', t->out);
		html_number(t->out, y + BAR - top);
		last = top;
	}
	fputs("z\"/>\n", t->out);
}

static void put_name(const struct threads *t, uint32_t task, double y)
{
	const char *comm = source_comm(t->s, task);
	char clean[NAME_BYTES], number[16], name[NAME_BYTES + sizeof(number)];
	int len = snprintf(number, sizeof(number), " %" PRIu32, source_tid(t->s, task));

	text_printable(clean, sizeof(clean), comm, sizeof(clean));
	snprintf(name, sizeof(name), "%s%s", text_cut(clean, NAME_WIDTH - (size_t)len), number);
	fprintf(t->out, "<g data-tid=\"%" PRIu32 "\">", source_tid(t->s, task));
	svg_text(t->out, "small", 2, y + 13, name);
	fputs("<title>", t->out);
	html_text(t->out, comm);
	fprintf(t->out, " (%" PRIu32 ")</title></g>\n", source_tid(t->s, task));
}

static void put_lane(const struct threads *t, uint32_t task, const struct lane *lane, double y)
{
	put_name(t, task, y);
	svg_rect(t->out, "lane", SVG_LEFT, y, SVG_WIDTH - SVG_LEFT, BAR);
	fputs("/>\n", t->out);
	put_path(t, "waits", lane, true, y);
	put_path(t, "runs", lane, false, y);
}

int threads_svg(const struct source *s, const struct pass_args *args, const uint32_t *tasks,
                uint32_t nr, FILE *out)
{
	struct threads t = { .s = s, .nr_tasks = tasks_nr(s->tasks), .out = out };
	SCOPED(scoped_free) struct lane *lanes = NULL;
	SCOPED(scoped_free) uint8_t *lane_of = NULL; /* by task: 1 + its lane */

	t.span.from_ns = s->start_ns;
	t.span.to_ns = s->end_ns;
	if (!nr || !pass_cut(s, args, &t.span.from_ns, &t.span.to_ns))
		return 0;
	lanes = calloc(nr, sizeof(*lanes));
	lane_of = calloc(t.nr_tasks + 1UL, sizeof(*lane_of));
	if (!lanes || !lane_of)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr && i < UINT8_MAX; i++)
		lane_of[tasks[i]] = (uint8_t)(i + 1);
	t.column_ns = (double)(t.span.to_ns - t.span.from_ns) / COLUMNS;
	fputs("<figure id=\"thread-lanes\">", out);
	svg_begin(out, LANE * nr + BOTTOM, "picture",
	          "when threads ran and waited; the table of tasks has the sums");
	collect(&t, lane_of, lanes, TIMELINE_SLICE);
	collect(&t, lane_of, lanes, TIMELINE_WAIT);
	for (uint32_t i = 0; i < nr; i++)
		put_lane(&t, tasks[i], &lanes[i], LANE * i);
	svg_axis(out, &t.span, LANE * nr + 4, s->start_ns);
	svg_end(out);
	fputs("<figcaption><span class=\"swatch runs\"></span> ran <span class=\"swatch waits\"></span> waited for a CPU. "
	      "The busiest threads, then those that waited longest.</figcaption></figure>\n",
	      out);
	return 0;
}
