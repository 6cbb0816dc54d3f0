#include "report/pictures/excerpt.h"

#include <errno.h>
#include <inttypes.h>

#include "analyze/source.h"
#include "base/text.h"
#include "model/tasks.h"
#include "report/html.h"
#include "report/pictures/svg.h"

#define LANE       40.0
#define BAR        22.0
#define STRIPE     8.0
#define BOTTOM     22.0
#define AROUND     6U   /* a 6th of the wait on both sides */
#define THIN       3.0  /* units of the picture; narrower neighbours are one, */
#define THICKEST   12.0 /* with which there are no more than that */
#define MOST_RECTS 120U /* or wider ones, where a lane would have more than this */
#define LABEL_ROOM 7.0  /* of a letter */
#define NAME_BYTES 64
#define CLASS_LEN  16
#define OWN_COLOR  UINT32_MAX /* of the task that waits */

struct excerpt {
	const struct content *c;
	const struct pair_wait *w;
	FILE *out;
	struct svg_span span;
	uint32_t cpus[EXCERPT_CPUS];
	uint32_t nr_cpus;
};

static void add_cpu(struct excerpt *e, uint64_t cpu)
{
	for (uint32_t i = 0; i < e->nr_cpus; i++)
		if (e->cpus[i] == cpu)
			return;
	if (e->nr_cpus < EXCERPT_CPUS)
		e->cpus[e->nr_cpus++] = (uint32_t)cpu;
}

/* Those in whose queues it was, in that order; where it ran in the end. */
static void choose_cpus(struct excerpt *e, const struct report_node *explained)
{
	const struct report_node *list = report_at(explained, "stay_list");

	for (const struct report_node *n = list ? list->first : NULL; n; n = n->next)
		if (report_at(n, "cpu")->type == REPORT_U64)
			add_cpu(e, report_u64_at(n, "cpu"));
	if (e->w->cpu != PAIR_NO_CPU)
		add_cpu(e, e->w->cpu);
}

/* A lane, and neighbours in it that are too narrow to be told apart. */
struct lane {
	double y, thin;
	double from, to;
	uint32_t nr, nr_own;
	uint32_t color; /* that most of it may have, */
	double lead;    /* by so much, */
	double colored; /* and so much of it has for certain */
	uint32_t nr_rects;
	bool is_counted; /* nothing is drawn */
};

/* As the task that had more than half of it. */
static const char *cluster_class(const struct lane *l, char buf[CLASS_LEN])
{
	if (2 * l->colored <= l->to - l->from)
		return "k-task";
	if (l->color == OWN_COLOR)
		return "victim";
	snprintf(buf, CLASS_LEN, "t%u", l->color);
	return buf;
}

static void put_cluster(const struct excerpt *e, struct lane *l)
{
	double width = l->to - l->from < THIN ? THIN : l->to - l->from;
	char class_name[CLASS_LEN];

	l->nr_rects += l->nr > 0;
	if (l->nr && !l->is_counted) {
		svg_rect(e->out, cluster_class(l, class_name), l->from, l->y, width, BAR);
		fprintf(e->out, "><title>%" PRIu32 " short slices", l->nr);
		if (l->nr_own)
			fprintf(e->out, ", %" PRIu32 " of them its own", l->nr_own);
		fputs("</title></rect>\n", e->out);
	}
	l->nr = l->nr_own = 0;
	l->lead = l->colored = 0;
}

static void add_short(const struct excerpt *e, const struct pair_slice *s, struct lane *l)
{
	bool is_own = s->task == e->w->task;
	const char *comm = source_comm_at(&e->c->source, s->task, s->start_ns);
	uint32_t color = is_own ? OWN_COLOR : svg_color(comm);
	double width = svg_x(&e->span, s->end_ns) - svg_x(&e->span, s->start_ns);

	l->nr++;
	l->nr_own += is_own;
	if (color != l->color && l->lead < width) {
		l->color = color;
		l->lead = width - l->lead;
		l->colored = width;
	} else {
		l->lead += color == l->color ? width : -width;
		l->colored += color == l->color ? width : 0;
	}
}

static void put_slice(const struct excerpt *e, const struct pair_slice *s, double y)
{
	double x = svg_x(&e->span, s->start_ns), end = svg_x(&e->span, s->end_ns);
	const char *comm = source_comm_at(&e->c->source, s->task, s->start_ns);
	char class_name[CLASS_LEN], on[2 * CLASS_LEN], name[NAME_BYTES], t[HTML_TIME_BYTES];

	snprintf(class_name, sizeof(class_name), s->task == e->w->task ? "victim" : "t%u",
	         svg_color(comm));
	svg_rect(e->out, class_name, x, y, end - x < THIN ? THIN : end - x, BAR);
	fputs("><title>", e->out);
	html_text(e->out, comm);
	fprintf(e->out, " (%" PRIu32 ") %s</title></rect>\n", source_tid(&e->c->source, s->task),
	        text_duration(t, sizeof(t), s->end_ns - s->start_ns));
	text_printable(name, sizeof(name), comm, sizeof(name));
	if (end - x <= LABEL_ROOM * (double)(text_width(name) + 1))
		return;
	snprintf(on, sizeof(on), "on on-%s", class_name); /* the ink follows the fill */
	svg_text(e->out, on, x + 4, y + 15, comm);
}

/* The slices between which it waited are seen, however short they are. */
static bool is_beside(const struct excerpt *e, const struct pair_slice *s)
{
	return s->task == e->w->task &&
	       (s->start_ns == e->w->end_ns || s->end_ns == pair_wait_woken_ns(e->w));
}

/* Slices come in the order of time. */
static void add_slice(const struct excerpt *e, const struct pair_slice *s, struct lane *l)
{
	double x = svg_x(&e->span, s->start_ns), end = svg_x(&e->span, s->end_ns);
	bool is_alone = end - x >= l->thin || is_beside(e, s);

	if (l->nr && (is_alone || x > l->to + l->thin || end > l->from + 2 * l->thin))
		put_cluster(e, l);
	if (is_alone) {
		l->nr_rects++;
		if (!l->is_counted)
			put_slice(e, s, l->y);
		return;
	}
	l->from = l->nr ? l->from : x;
	l->to = end;
	add_short(e, s, l);
}

static int put_slices(const struct excerpt *e, uint32_t cpu, struct lane *l)
{
	struct timeline_query q = { .table = TIMELINE_SLICE,
		                    .task = TASKS_NONE,
		                    .cpu = cpu,
		                    .from_ns = e->span.from_ns,
		                    .to_ns = e->span.to_ns };
	union timeline_row row;
	struct timeline_iter it;
	int err = timeline_find(e->c->source.timeline, &q, &it);

	if (err)
		return err;
	l->nr_rects = 0;
	while (timeline_next(&it, NULL, &row) && (!l->is_counted || l->nr_rects <= MOST_RECTS))
		add_slice(e, &row.slice, l);
	put_cluster(e, l);
	return 0;
}

static int put_lane(const struct excerpt *e, uint32_t cpu, double y)
{
	struct lane l = { .y = y + STRIPE, .thin = THIN, .is_counted = true };
	char name[NAME_BYTES];
	int err = put_slices(e, cpu, &l);

	while (!err && l.nr_rects > MOST_RECTS && l.thin < THICKEST) {
		l.thin *= 2;
		err = put_slices(e, cpu, &l);
	}
	if (err)
		return err;
	snprintf(name, sizeof(name), "CPU %" PRIu32, cpu);
	svg_text(e->out, "name", 4, y + STRIPE + 15, name);
	svg_rect(e->out, "lane", SVG_LEFT, y + STRIPE, SVG_WIDTH - SVG_LEFT, BAR);
	fputs("/>\n", e->out);
	l.is_counted = false;
	return put_slices(e, cpu, &l);
}

/* Above the lanes: in which queue it was. */
static void put_stays(const struct excerpt *e, const struct report_node *explained)
{
	const struct report_node *list = report_at(explained, "stay_list");

	for (const struct report_node *n = list ? list->first : NULL; n; n = n->next) {
		uint64_t from = report_u64_at(n, "start_timestamp");
		uint64_t to = from + report_u64_at(n, "wait_ns");
		double x = svg_x(&e->span, from), end = svg_x(&e->span, to);
		uint32_t lane = 0;
		char t[HTML_TIME_BYTES];

		while (lane < e->nr_cpus && (report_at(n, "cpu")->type != REPORT_U64 ||
		                             e->cpus[lane] != report_u64_at(n, "cpu")))
			lane++;
		if (lane == e->nr_cpus)
			continue;
		svg_rect(e->out, "waits", x, LANE * lane + 1, end - x < 1 ? 1 : end - x,
		         STRIPE - 2);
		fprintf(e->out, "><title>waits here for %s</title></rect>\n",
		        text_duration(t, sizeof(t), to - from));
	}
}

int excerpt_write(const struct content *c, const struct pair_wait *w,
                  const struct report_node *explained, FILE *out)
{
	uint64_t start = pair_wait_woken_ns(w), around = (w->end_ns - start) / AROUND;
	struct excerpt e = { .c = c, .w = w, .out = out };
	int err = 0;

	e.span.from_ns = start - c->source.start_ns > around ? start - around : c->source.start_ns;
	e.span.to_ns = c->source.end_ns - w->end_ns > around ? w->end_ns + around
	                                                     : c->source.end_ns;
	choose_cpus(&e, explained);
	if (!e.nr_cpus)
		return 0;
	fputs("<figure class=\"excerpt\">", out);
	svg_begin(out, LANE * e.nr_cpus + BOTTOM, "picture",
	          "what ran on the CPUs around the wait; the sentences above say the same");
	for (uint32_t i = 0; !err && i < e.nr_cpus; i++)
		err = put_lane(&e, e.cpus[i], LANE * i);
	put_stays(&e, explained);
	svg_axis(out, &e.span, LANE * e.nr_cpus + 4, c->source.start_ns);
	svg_end(out);
	fputs("<figcaption>What ran on the CPUs; grey: short slices, no command had most of the time. The stripe above a lane is the wait in its "
	      "queue.</figcaption></figure>\n",
	      out);
	return err;
}
