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
#define AROUND     6U  /* a 6th of the wait on both sides */
#define THIN       3.0 /* units of the picture; narrower neighbours are one */
#define LABEL_ROOM 7.0 /* of a letter */
#define NAME_BYTES 64
#define CLASS_LEN  16

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

/* Neighbours that are too narrow to be told apart. */
struct cluster {
	double from, to;
	uint32_t nr;
};

static void put_cluster(const struct excerpt *e, struct cluster *c, double y)
{
	if (c->nr) {
		svg_rect(e->out, "k-task", c->from, y,
		         c->to - c->from < THIN ? THIN : c->to - c->from, BAR);
		fprintf(e->out, "><title>%" PRIu32 " short slices</title></rect>\n", c->nr);
	}
	c->nr = 0;
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

/* Slices come in the order of time. */
static void add_slice(const struct excerpt *e, const struct pair_slice *s, double y,
                      struct cluster *c)
{
	double x = svg_x(&e->span, s->start_ns), end = svg_x(&e->span, s->end_ns);

	if (c->nr && (end - x >= THIN || s->task == e->w->task || x > c->to + THIN))
		put_cluster(e, c, y);
	if (end - x >= THIN || s->task == e->w->task) {
		put_slice(e, s, y);
		return;
	}
	c->from = c->nr ? c->from : x;
	c->to = end;
	c->nr++;
}

static int put_lane(const struct excerpt *e, uint32_t cpu, double y)
{
	struct timeline_query q = { .table = TIMELINE_SLICE,
		                    .task = TASKS_NONE,
		                    .cpu = cpu,
		                    .from_ns = e->span.from_ns,
		                    .to_ns = e->span.to_ns };
	struct cluster cluster = { 0 };
	union timeline_row row;
	struct timeline_iter it;
	char name[NAME_BYTES];
	int err = timeline_find(e->c->source.timeline, &q, &it);

	if (err)
		return err;
	snprintf(name, sizeof(name), "CPU %" PRIu32, cpu);
	svg_text(e->out, "name", 4, y + STRIPE + 15, name);
	svg_rect(e->out, "lane", SVG_LEFT, y + STRIPE, SVG_WIDTH - SVG_LEFT, BAR);
	fputs("/>\n", e->out);
	while (timeline_next(&it, NULL, &row))
		add_slice(e, &row.slice, y + STRIPE, &cluster);
	put_cluster(e, &cluster, y + STRIPE);
	return 0;
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
	fputs("<figcaption>What ran on the CPUs; the stripe above a lane is the wait in its queue.</figcaption></figure>\n",
	      out);
	return err;
}
