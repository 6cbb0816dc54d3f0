#include "report/verdict.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "report/html.h"

#define LINE_BYTES    512
#define SHOWN_KINDS   4U
#define LEAST_PERCENT 1.0
#define MUCH_UNKNOWN  5.0 /* percent of the CPUs' time, or of the waits */

/* What is in a sentence beside its words. */
struct verdict_facts {
	const char *kind, *cause, *confidence, *remedy, *next;
	const char *evidence[2];
	bool has_lost;
	uint64_t lost_ns;
};

struct verdict {
	const struct content *c;
	const char *file;
	struct report *r;
	uint32_t nr;
	bool has_tasks;         /* a table of them */
	const char *confidence; /* of sums: whether all was recorded */
};

static void add(struct verdict *v, const char *sentence, const struct verdict_facts *f)
{
	struct report *r = v->r;

	report_begin_object(r, NULL);
	report_string(r, "id", report_printf(r, "finding-%" PRIu32, ++v->nr));
	report_string(r, "sentence", sentence);
	report_begin_array(r, "evidence");
	for (size_t i = 0; i < sizeof(f->evidence) / sizeof(f->evidence[0]); i++)
		if (f->evidence[i])
			report_string(r, NULL, f->evidence[i]);
	report_end_array(r);
	report_string(r, "confidence", f->confidence);
	report_string(r, "kind", f->kind);
	report_string(r, "cause", f->cause);
	report_string(r, "remedy", f->remedy);
	report_u64_if(r, "lost_ns", f->has_lost, f->lost_ns);
	report_string(r, "next", f->next);
	report_end_object(r);
}

/* Whether the page has a section of that. */
static bool has_blame(const struct content *c)
{
	const struct report_node *blame = c->parts[CONTENT_BLAME_COMM];

	return blame && report_u64_at(blame, "waits");
}

/* The part of the page that shows what a finding is about, where no wait or sleep is explained. */
static const char *section_of(const struct verdict *v, const char *kind)
{
	const struct content *c = v->c;

	if (strcmp(kind, "softirqs") == 0)
		return c->parts[CONTENT_SOFTIRQS] ? "devices" : "truth";
	if (strcmp(kind, "wait") == 0 || strcmp(kind, "stolen") == 0)
		return has_blame(c) ? "blame" : "cpus";
	return strcmp(kind, "ejected") == 0 || !v->has_tasks ? "truth" : "tasks";
}

static void add_finding(struct verdict *v, uint32_t i)
{
	const struct report_node *n = v->c->findings[i], *lost = report_at(n, "lost_ns");
	struct verdict_facts f = { .kind = report_text_at(n, "kind"),
		                   .cause = report_text_at(n, "cause"),
		                   .confidence = report_text_at(n, "confidence"),
		                   .remedy = report_text_at(n, "remedy") };
	char next[COMMAND_TEXT_BYTES];

	if (v->c->finding_wait[i])
		f.evidence[0] = report_printf(v->r, "wait-%" PRIu32, v->c->finding_wait[i]);
	else if (v->c->finding_sleep[i])
		f.evidence[0] = report_printf(v->r, "sleep-%" PRIu32, v->c->finding_sleep[i]);
	else
		f.evidence[0] = section_of(v, f.kind);
	if (f.evidence[0][0] == 'w' && has_blame(v->c))
		f.evidence[1] = "blame";
	f.has_lost = lost && lost->type == REPORT_U64;
	f.lost_ns = f.has_lost ? lost->u64 : 0;
	f.next = bottleneck_next(n, v->file, (struct report_clock){ 0 }, 0, next);
	add(v, report_text_at(n, "description"), &f);
}

static void add_findings(struct verdict *v)
{
	const char *shown = v->c->nr_waits ? "waits" : v->has_tasks ? "tasks" : "truth";
	struct verdict_facts f = { .kind = "none",
		                   .confidence = v->confidence,
		                   .evidence = { shown } };
	char none[LINE_BYTES];

	for (uint32_t i = 0; i < v->c->nr_findings; i++)
		add_finding(v, i);
	if (v->c->nr_findings)
		return;
	bottlenecks_none(v->c->parts[CONTENT_SUMMARY], none, sizeof(none));
	none[0] = 'N';
	add(v, none, &f);
}

static const struct {
	const char *key, *words;
} kinds[] = {
	{ "task_ns", "behind other tasks" },
	{ "throttled_ns", "throttled by a limit" },
	{ "stolen_ns", "while the hypervisor had the CPU" },
	{ "irq_ns", "while the CPU handled interrupts" },
	{ "softirq_ns", "while the CPU handled softirqs" },
	{ "idle_ns", "while the CPU was idle" },
	{ "queue_ns", "in a dispatch queue" },
	{ "waking_ns", "before they were in a queue" },
	{ "unknown_ns", "for unknown reasons" },
};

/* "60 % behind other tasks, 30 % throttled by a limit"; the most first. */
static void list_kinds(const struct report_node *blame, char *buf, size_t size)
{
	uint64_t whole = report_u64_at(blame, "wait_ns"), before = UINT64_MAX;
	size_t len = 0;

	buf[0] = '\0';
	for (uint32_t nr = 0; nr < SHOWN_KINDS && len < size; nr++) {
		size_t most = 0;
		uint64_t ns = 0;

		for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
			uint64_t of = report_u64_at(blame, kinds[i].key);

			if (of > ns && of < before) {
				ns = of;
				most = i;
			}
		}
		if (!ns || 100.0 * (double)ns < LEAST_PERCENT * (double)whole)
			return;
		len += (size_t)snprintf(buf + len, size - len, "%s%.0f %% %s", nr ? ", " : "",
		                        100.0 * (double)ns / (double)whole, kinds[most].words);
		before = ns;
	}
}

static void add_waits(struct verdict *v)
{
	const struct report_node *blame = v->c->parts[CONTENT_BLAME_COMM];
	struct verdict_facts f = { .kind = "waits",
		                   .confidence = v->confidence,
		                   .evidence = { "blame" },
		                   .has_lost = true };
	char list[LINE_BYTES], t[HTML_TIME_BYTES];

	if (!has_blame(v->c)) {
		f.evidence[0] = "truth";
		f.has_lost = false;
		add(v,
		    blame ? "No task waited for a CPU"
		          : "Wakeups were not recorded, so it is unknown who waited for a CPU",
		    &f);
		return;
	}
	f.lost_ns = report_u64_at(blame, "wait_ns");
	list_kinds(blame, list, sizeof(list));
	add(v,
	    report_printf(v->r, "In all, tasks waited %s for a CPU in %" PRIu64 " wait%s: %s",
	                  text_duration(t, sizeof(t), f.lost_ns), report_u64_at(blame, "waits"),
	                  report_u64_at(blame, "waits") == 1 ? "" : "s", list),
	    &f);
}

/* Means of the CPUs that have data. */
struct load {
	uint32_t nr;
	double busy, unknown; /* percent */
	double most;
	uint64_t most_cpu;
};

static struct load load_of(const struct content *c)
{
	const struct report_node *list = report_at(c->parts[CONTENT_SUMMARY], "cpus");
	struct load l = { 0 };
	double busy, unknown;

	for (const struct report_node *n = list ? list->first : NULL; n; n = n->next) {
		if (!report_number(report_at(n, "busy_percent"), &busy) ||
		    !report_number(report_at(n, "unknown_percent"), &unknown))
			continue;
		l.nr++;
		l.busy += busy;
		l.unknown += unknown;
		if (busy > l.most) {
			l.most = busy;
			l.most_cpu = report_u64_at(n, "cpu_id");
		}
	}
	l.busy = l.nr ? l.busy / l.nr : 0;
	l.unknown = l.nr ? l.unknown / l.nr : 0;
	return l;
}

static void add_cpus(struct verdict *v, const struct load *l)
{
	struct verdict_facts f = { .kind = "cpus",
		                   .confidence = v->confidence,
		                   .evidence = { "cpus" } };

	if (l->nr > 1)
		add(v,
		    report_printf(v->r,
		                  "The %" PRIu32 " CPUs were busy %.0f %% of the time, CPU %" PRIu64
		                  " most of all with %.0f %%",
		                  l->nr, l->busy, l->most_cpu, l->most),
		    &f);
	else if (l->nr)
		add(v, report_printf(v->r, "The CPU was busy %.0f %% of the time", l->busy), &f);
}

static const char *lost_words(const struct source_facts *facts, struct report *r)
{
	if (facts->lost)
		return report_printf(r, "%" PRIu64 " of %" PRIu64 " events were lost", facts->lost,
		                     facts->lost + facts->nr_events);
	return facts->kinds[EV_LOST] ? "Events were lost, how many is unknown" : NULL;
}

/* How far all of the above can be trusted. */
static void add_trust(struct verdict *v, const struct load *l)
{
	const struct source_facts *facts = v->c->source.facts;
	const char *lost = lost_words(facts, v->r), *text;
	struct verdict_facts f = { .kind = "trust",
		                   .confidence = v->confidence,
		                   .evidence = { "truth" } };

	if (lost)
		text = report_printf(v->r, "%s, so causes are likely and not proved", lost);
	else if (facts->incomplete)
		text = report_printf(
			v->r,
			"The recording is incomplete (%s), so causes are likely and not proved",
			facts->incomplete);
	else
		text = "No event was reported lost";
	if (facts->filter)
		text = report_printf(
			v->r, "%s; only some tasks were recorded (%s), what others did is unknown",
			text, facts->filter);
	add(v, report_printf(v->r, "%s; %.1f %% of the CPUs' time is unknown", text, l->unknown),
	    &f);
}

static const char *trust(const struct content *c, const struct load *l)
{
	const struct source_facts *f = c->source.facts;
	bool is_whole = !f->lost && !f->kinds[EV_LOST] && !f->incomplete;

	return is_whole && l->unknown < MUCH_UNKNOWN ? "proved" : "likely";
}

int verdict_make(const struct content *c, const char *file, bool has_tasks, struct report **out)
{
	SCOPED(scoped_report) struct report *r = report_new(0);
	struct load load = load_of(c);
	struct verdict v = {
		.c = c, .file = file, .r = r, .has_tasks = has_tasks, .confidence = trust(c, &load)
	};
	int err;

	if (!r)
		return -ENOMEM;
	report_begin_object(r, NULL);
	report_begin_array(r, "verdict");
	add_findings(&v);
	add_waits(&v);
	add_cpus(&v, &load);
	add_trust(&v, &load);
	report_end_array(r);
	report_end_object(r);
	err = report_error(r);
	if (!err)
		*out = TAKE_PTR(r);
	return err;
}

const char *verdict_first(const struct report *verdict)
{
	return report_text_at(report_root(verdict), "verdict.0.sentence");
}

/* Where a link leads, in words. */
static void put_place(const char *id, FILE *out)
{
	static const struct {
		const char *id, *words;
	} places[] = {
		{ "waits", "worst waits" }, { "blame", "blame tables" },
		{ "cpus", "CPUs" },         { "tasks", "table of tasks" },
		{ "devices", "softirqs" },  { "truth", "what this rests on" },
	};
	const char *number = strrchr(id, '-');

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (strcmp(places[i].id, id) == 0)
			fputs(places[i].words, out);
	if (number) /* of a card */
		fprintf(out, "%.*s %s, explained", (int)(number - id), id, number + 1);
}

static void put_links(const struct report_node *entry, FILE *out)
{
	const struct report_node *list = report_at(entry, "evidence");

	for (const struct report_node *n = list->first; n; n = n->next) {
		fputs(" <a class=\"evidence\" href=\"#", out);
		html_text(out, n->text);
		fputs("\">", out);
		put_place(n->text, out);
		fputs("</a>", out);
	}
}

/* What helps, and the command that shows more; open at the first finding only. */
static void put_help(const struct report_node *entry, bool is_first, FILE *out)
{
	const char *remedy = report_text_at(entry, "remedy"), *next = report_text_at(entry, "next");

	if (!remedy && !next)
		return;
	fputs(is_first ? "" : "<details><summary>What to do</summary>", out);
	if (remedy) {
		fputs("<p class=\"try\">Try: ", out);
		html_text(out, remedy);
		fputs(".</p>", out);
	}
	if (next) {
		fputs("<p class=\"next\">More: <code>", out);
		html_command(out, next);
		fputs("</code></p>", out);
	}
	fputs(is_first ? "" : "</details>", out);
}

static void put_entry(const struct report_node *entry, bool is_first, FILE *out)
{
	const char *confidence = report_text_at(entry, "confidence");
	const struct report_node *lost = report_at(entry, "lost_ns");

	fputs("<li", out);
	html_attr(out, "id", report_text_at(entry, "id"));
	html_attr(out, "data-kind", report_text_at(entry, "kind"));
	html_attr(out, "data-confidence", confidence);
	if (lost->type == REPORT_U64)
		html_attr_u64(out, "data-lost", lost->u64);
	fputs("><p class=\"sentence\">", out);
	html_text(out, report_text_at(entry, "sentence"));
	fprintf(out, ". <a class=\"sure sure-%s\" href=\"#word-confidence\">%s</a>", confidence,
	        confidence);
	put_links(entry, out);
	fputs("</p>", out);
	put_help(entry, is_first, out);
	fputs("</li>\n", out);
}

void verdict_write(const struct report *verdict, FILE *out)
{
	const struct report_node *list = report_at(report_root(verdict), "verdict");

	fputs("<section id=\"verdict\" aria-labelledby=\"h-verdict\"><h2 id=\"h-verdict\">Verdict</h2>\n<ol>\n",
	      out);
	for (const struct report_node *n = list->first; n; n = n->next)
		put_entry(n, n == list->first, out);
	fputs("</ol></section>\n", out);
}
