#include "report/blame_tables.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "report/html.h"
#include "report/table.h"

#define CULPRITS 6U
#define ROWS     20U
#define SHADES   5U /* classes shade-1 to shade-5 */

static const char *const kinds[] = { "throttled_ns", "stolen_ns", "irq_ns",    "softirq_ns",
	                             "idle_ns",      "queue_ns",  "waking_ns", "unknown_ns" };
#define NR_KINDS (sizeof(kinds) / sizeof(kinds[0]))

struct matrix {
	const struct report_node *root;
	enum pass_by by;
	const struct report_node *culprits[CULPRITS];
	uint32_t nr_culprits;
	uint64_t most_ns; /* of a cell, for its shade */
	FILE *out;
};

static const char *name_of(const struct report_node *n)
{
	const char *cgroup = report_text_at(n, "cgroup"), *comm = report_text_at(n, "comm");

	return cgroup ? cgroup : comm ? comm : "?";
}

/* Whether two entries are of one unit. */
static bool is_same(const struct report_node *a, const struct report_node *b)
{
	const struct report_node *left = report_at(a, "pid"), *right = report_at(b, "pid");
	bool has_ids = left && right && left->type == REPORT_U64 && right->type == REPORT_U64;

	if (has_ids && left->u64 != right->u64)
		return false;
	return strcmp(name_of(a), name_of(b)) == 0;
}

static void put_name(const struct matrix *m, const struct report_node *n)
{
	bool is_unknown = m->by == PASS_BY_CGROUP && strcmp(name_of(n), "unknown") == 0;

	html_text(m->out, is_unknown ? "cgroup not recorded" : name_of(n));
	if (m->by == PASS_BY_PROCESS && report_at(n, "pid"))
		fprintf(m->out, " (%" PRIu64 ")", report_u64_at(n, "pid"));
}

/* Several processes may have one name. */
static void put_culprit_ids(const struct matrix *m, const struct report_node *culprit)
{
	const struct report_node *tgid = report_at(culprit, "tgid");

	html_attr_exact(m->out, "data-culprit", name_of(culprit));
	if (m->by == PASS_BY_PROCESS && tgid && tgid->type == REPORT_U64)
		html_attr_u64(m->out, "data-culprit-tgid", tgid->u64);
}

/* What a victim waited behind a culprit; 0 where it is not among its largest: then it is in the column of others. */
static uint64_t behind(const struct report_node *victim, const struct report_node *culprit)
{
	const struct report_node *list = report_at(victim, "blames");

	for (const struct report_node *n = list ? list->first : NULL; n; n = n->next)
		if (is_same(n, culprit))
			return report_u64_at(n, "wait_ns");
	return 0;
}

static void choose(struct matrix *m)
{
	const struct report_node *list = report_at(m->root, "culprits"),
				 *victims = report_at(m->root, "victims");

	for (const struct report_node *n = list ? list->first : NULL;
	     n && m->nr_culprits < CULPRITS; n = n->next)
		m->culprits[m->nr_culprits++] = n;
	for (const struct report_node *v = victims->first; v; v = v->next)
		for (uint32_t i = 0; i < m->nr_culprits; i++)
			if (behind(v, m->culprits[i]) > m->most_ns)
				m->most_ns = behind(v, m->culprits[i]);
}

/* A kind that took no time has no column. */
static bool has_kind(const struct matrix *m, size_t kind)
{
	return report_u64_at(m->root, kinds[kind]) > 0;
}

static void put_heads(const struct matrix *m)
{
	fprintf(m->out, "<thead><tr><th scope=\"col\" data-key=\"%s\">victim</th>",
	        m->by == PASS_BY_CGROUP ? "cgroup" : "comm");
	table_head(m->out, "waits", NULL, true);
	table_head(m->out, "wait_ns", "waited", true);
	table_head(m->out, "max_wait_ns", "longest", true);
	for (uint32_t i = 0; i < m->nr_culprits; i++) {
		fputs("<th scope=\"col\" class=\"n\" data-key=\"blame_ns\"", m->out);
		put_culprit_ids(m, m->culprits[i]);
		fputs(">behind ", m->out);
		put_name(m, m->culprits[i]);
		fputs("</th>", m->out);
	}
	table_head(m->out, "others_ns", "other tasks", true);
	for (size_t i = 0; i < NR_KINDS; i++)
		if (has_kind(m, i))
			table_head(m->out, kinds[i], NULL, true);
	fputs("</tr></thead>\n<tbody>\n", m->out);
}

static void put_culprit(const struct matrix *m, const struct report_node *culprit, uint64_t ns)
{
	uint64_t shade = m->most_ns ? (ns * SHADES + m->most_ns - 1) / m->most_ns : 0;

	fprintf(m->out, "<td class=\"n shade-%" PRIu64 "\" data-key=\"blame_ns\"", shade);
	put_culprit_ids(m, culprit);
	html_attr_u64(m->out, "data-value", ns);
	fputc('>', m->out);
	if (ns)
		html_time(m->out, ns);
	fputs("</td>", m->out);
}

static void put_row(const struct matrix *m, const struct report_node *victim)
{
	uint64_t tasks_ns = report_u64_at(victim, "task_ns");

	fputs("<tr", m->out);
	table_row_ids(m->out, victim, m->by);
	fprintf(m->out, "><td data-key=\"%s\">", m->by == PASS_BY_CGROUP ? "cgroup" : "comm");
	put_name(m, victim);
	fputs("</td>", m->out);
	html_cell(m->out, report_at(victim, "waits"));
	html_cell(m->out, report_at(victim, "wait_ns"));
	html_cell(m->out, report_at(victim, "max_wait_ns"));
	for (uint32_t i = 0; i < m->nr_culprits; i++) {
		uint64_t ns = behind(victim, m->culprits[i]);

		put_culprit(m, m->culprits[i], ns);
		tasks_ns -= ns < tasks_ns ? ns : tasks_ns;
	}
	html_cell_u64(m->out, "others_ns", tasks_ns);
	for (size_t i = 0; i < NR_KINDS; i++)
		if (has_kind(m, i))
			html_cell(m->out, report_at(victim, kinds[i]));
	fputs("</tr>\n", m->out);
}

static void put_matrix(struct matrix *m, const char *id, const char *caption)
{
	const struct report_node *victims = report_at(m->root, "victims");
	struct table_cfg cfg = { .id = id, .caption = caption, .analysis = "blame", .by = m->by };
	uint32_t nr = 0;

	if (!victims || !victims->first)
		return;
	choose(m);
	table_begin(m->out, &cfg);
	put_heads(m);
	for (const struct report_node *n = victims->first; n && nr < ROWS; n = n->next, nr++)
		put_row(m, n);
	fputs("</tbody>", m->out);
	table_end(m->out, &cfg);
	if (report_u64_at(m->root, "total_victims") > nr)
		fprintf(m->out, "<p class=\"note\">%" PRIu32 " of %" PRIu64 " that waited.</p>\n",
		        nr, report_u64_at(m->root, "total_victims"));
}

void blame_tables_write(const struct content *c, FILE *out)
{
	static const struct {
		enum content_part part;
		enum pass_by by;
		const char *id, *caption;
	} tables[] = {
		{ CONTENT_BLAME_CGROUP, PASS_BY_CGROUP, "blame-cgroup", "Time waited, by cgroup" },
		{ CONTENT_BLAME_PROCESS, PASS_BY_PROCESS, "blame-process",
		  "Time waited, by process" },
		{ CONTENT_BLAME_COMM, PASS_BY_COMM, "blame-comm", "Time waited, by command" },
	};
	const struct report_node *all = c->parts[CONTENT_BLAME_COMM];

	if (!all || !report_u64_at(all, "waits"))
		return;
	fputs("<section id=\"blame\" aria-labelledby=\"h-blame\"><h2 id=\"h-blame\">Who kept whom waiting</h2>\n"
	      "<p class=\"note\">A row is who waited, a column what had the CPU meanwhile. Time in which several tasks wait counts once for each of them.</p>\n",
	      out);
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		struct matrix m = { .root = c->parts[tables[i].part],
			            .by = tables[i].by,
			            .out = out };

		if (m.root)
			put_matrix(&m, tables[i].id, tables[i].caption);
	}
	fputs("</section>\n", out);
}
