#include "report/page.h"

#include <errno.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "base/sha256.h"
#include "base/thread.h"
#include "profile/profile.h"
#include "profile/source_profile.h"
#include "render/flame.h"
#include "report/blame_tables.h"
#include "report/cards.h"
#include "report/compare/compare.h"
#include "report/content.h"
#include "report/data.h"
#include "report/html.h"
#include "report/page_document.h"
#include "report/pictures/heat_svg.h"
#include "report/pictures/histogram_svg.h"
#include "report/pictures/lanes_svg.h"
#include "report/pictures/threads_svg.h"
#include "report/report_assets.h"
#include "report/sections.h"
#include "report/task_rows.h"
#include "report/truth.h"
#include "report/verdict.h"
#include "report/words.h"

#define TASKS       100U
#define TITLE_BYTES 320
#define STEPS       3U

/* A section, as long as it is not written. */
struct section {
	char *text;
	size_t len;
	int err;
};

struct page {
	struct page_cfg cfg;
	char *title;
	const char *file; /* its name, without its folders */
	struct content content;
	struct task_rows tasks;
	struct section threads; /* its picture, which walks over all rows */
	struct report *verdict, *truth;
	struct report_data *data;
	char *style; /* of the page and of its flame graphs */
	char style_hash[SHA256_BASE64_BYTES];
	pthread_t early; /* make_early(), beside the analyses */
	bool has_thread;
	int err; /* of what is made beside the analyses */
	struct diag why;
};

static void step(const struct page *p, uint64_t done)
{
	if (p->cfg.progress)
		p->cfg.progress(p->cfg.progress_ctx, done, STEPS);
}

static const char *file_of(const struct source *s)
{
	const char *name = s->facts->name ? s->facts->name : "?", *slash = strrchr(name, '/');

	return slash && slash[1] ? slash + 1 : name;
}

static bool has_tasks(const struct page *p)
{
	return report_at(report_root(p->tasks.report), "tasks")->first != NULL;
}

static bool has_pairs(const struct content *c)
{
	const struct report_node *root = c->parts[CONTENT_LATENCY];
	const struct report_node *list = root ? report_at(root, "top_pairs_by_total_latency")
	                                      : NULL;

	return list && list->first;
}

/* Style and script, and what the browser is told to trust. */
static int make_style(struct page *p, struct diag *d)
{
	if (asprintf(&p->style, "%s%s", report_css, flame_style()) < 0) {
		p->style = NULL;
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	}
	(void)sha256_base64(p->style, strlen(p->style), p->style_hash);
	return 0;
}

static int write_threads(const struct page *p, FILE *out)
{
	int err;

	if (!p->tasks.nr_lanes)
		return 0;
	fputs("<section id=\"threads\" aria-labelledby=\"h-threads\"><h2 id=\"h-threads\">Threads</h2>\n",
	      out);
	err = threads_svg(p->cfg.s, p->cfg.args, p->tasks.lanes, p->tasks.nr_lanes, out);
	fputs("</section>\n", out);
	return err;
}

/* What one of them writes, for later. */
static void make_section(const struct page *p, int (*put)(const struct page *p, FILE *out),
                         struct section *s)
{
	FILE *mem = open_memstream(&s->text, &s->len);

	if (mem)
		(void)__fsetlocking(mem, FSETLOCKING_BYCALLER); /* no other thread has it */
	s->err = mem ? put(p, mem) : -ENOMEM;
	if (mem && fclose(mem) != 0 && !s->err)
		s->err = -ENOMEM;
}

/* What needs no analysis: the tasks, their lanes, and the first step of the data. */
static void *make_early(void *ctx)
{
	struct page *p = ctx;
	const struct pass_args *args = p->cfg.args;
	struct report_data_cfg cfg = { .s = p->cfg.s, .args = args };

	p->err = report_data_begin(&cfg, &p->why, &p->data);
	if (!p->err)
		p->err = task_rows_make(&p->tasks, p->cfg.s, args,
		                        args->limit ? args->limit : TASKS, &p->why);
	if (!p->err)
		p->err = make_style(p, &p->why);
	if (!p->err)
		make_section(p, write_threads, &p->threads);
	return NULL;
}

/* Waits for it, once; where there was no thread for it, it is made here. */
static void end_early(struct page *p)
{
	if (p->has_thread)
		(void)pthread_join(p->early, NULL);
	else if (!p->data)
		(void)make_early(p);
	p->has_thread = false;
}

static void make_beside(void *ctx)
{
	struct page *p = ctx;
	struct report_data_cfg cfg = { .s = p->cfg.s,
		                       .args = p->cfg.args,
		                       .ledger = p->content.source.ledger,
		                       .worst = p->content.waits,
		                       .nr_worst = p->content.nr_waits };

	end_early(p);
	if (!p->err)
		p->err = report_data_make(p->data, &cfg, &p->why);
}

static int fill(struct page *p, struct diag *d)
{
	struct content_beside beside = { make_beside, p };
	int err;

	p->has_thread = thread_start(&p->early, make_early, p) == 0;
	err = content_init(&p->content, p->cfg.s, p->cfg.args, &beside, d);
	p->content.beside = NULL;
	if (p->has_thread) /* it was of no use */
		end_early(p);
	if (!err && p->err)
		err = diag_set(d, p->err, p->why.hint, "%s", p->why.what);
	if (err)
		return err;
	step(p, 2);
	if (verdict_make(&p->content, p->file, has_tasks(p), &p->verdict) ||
	    truth_make(&p->content, p->cfg.command, &p->truth))
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	return 0;
}

int page_make(const struct page_cfg *cfg, struct diag *d, struct page **out)
{
	SCOPED(scoped_page) struct page *p = calloc(1, sizeof(*p));
	char title[TITLE_BYTES];
	int err;

	if (!p)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	p->cfg = *cfg;
	p->file = file_of(cfg->s);
	snprintf(title, sizeof(title), "What the scheduler did: %.255s", p->file);
	p->title = strdup(cfg->title ? cfg->title : title);
	if (!p->title)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	step(p, 1);
	err = fill(p, d);
	if (!err)
		*out = TAKE_PTR(p);
	return err;
}

void page_free(struct page *p)
{
	if (!p)
		return;
	report_free(p->verdict);
	report_free(p->truth);
	report_data_free(p->data);
	task_rows_done(&p->tasks);
	content_done(&p->content);
	free(p->threads.text);
	free(p->style);
	free(p->title);
	free(p);
}

const char *page_verdict(const struct page *p)
{
	return verdict_first(p->verdict);
}

/* No rule allows anything to be fetched; JSON is no script, and needs none. */
static void put_head(const struct page *p, FILE *out)
{
	fprintf(out,
	        PAGE_MARK
	        "<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'sha256-%s'; "
	        "style-src 'sha256-%s'; img-src data:; base-uri 'none'; form-action 'none'\">\n"
	        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	        "<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"referrer\" content=\"no-referrer\">\n",
	        report_js_sha256, p->style_hash);
	fputs("<meta name=\"generator\"", out);
	html_attr(out, "content", p->cfg.generator);
	fputs(">\n<title>", out);
	html_text(out, p->title);
	fprintf(out, "</title>\n<style>%s</style>\n</head>\n<body>\n", p->style);
}

static bool has_flames(const struct page *p)
{
	return source_stack_nr(p->cfg.s, SOURCE_STACK_CPU) ||
	       source_stack_nr(p->cfg.s, SOURCE_STACK_OFF_CPU);
}

static void put_header(const struct page *p, FILE *out)
{
	const struct content *c = &p->content;
	const struct report_node *blame = c->parts[CONTENT_BLAME_COMM];
	const struct {
		const char *id, *title;
		bool is_there;
	} links[] = {
		{ "verdict", "Verdict", true },
		{ "compare", "Before and after", p->cfg.compare },
		{ "truth", "What this rests on", true },
		{ "waits", "Worst waits", c->nr_waits || c->nr_sleeps },
		{ "blame", "Who kept whom waiting", blame && report_u64_at(blame, "waits") },
		{ "latency", "Latency", c->parts[CONTENT_LATENCY] },
		{ "cpus", "CPUs", true },
		{ "threads", "Threads", p->tasks.nr_lanes },
		{ "wakers", "Who wakes whom", has_pairs(c) },
		{ "flames", "Flame graphs", has_flames(p) },
		{ "tasks", "Tasks", has_tasks(p) },
		{ "devices", "Interrupts, power, queues", sections_has_devices(&p->content) },
		{ "words", "Words", true },
	};

	fputs("<a class=\"skip\" href=\"#verdict\">To the verdict</a>\n<header><h1>", out);
	html_text(out, p->title);
	fputs("</h1>\n", out);
	truth_line(p->truth, out);
	fputs("<nav aria-label=\"Sections\"><ul>", out);
	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++)
		if (links[i].is_there)
			fprintf(out, "<li><a href=\"#%s\">%s</a></li>", links[i].id,
			        links[i].title);
	fputs("</ul></nav>\n<div id=\"selection\" hidden></div></header>\n<main>\n", out);
}

static int put_latency(const struct page *p, FILE *out)
{
	int err;

	if (!p->content.parts[CONTENT_LATENCY])
		return 0;
	fputs("<section id=\"latency\" aria-labelledby=\"h-latency\"><h2 id=\"h-latency\">Wakeup latency</h2>\n",
	      out);
	err = heat_svg(report_data_heat(p->data), out);
	histogram_svg(p->content.parts[CONTENT_LATENCY], out);
	sections_latency(&p->content, out);
	fputs("</section>\n", out);
	return err;
}

static int put_cpus(const struct page *p, FILE *out)
{
	int err;

	fputs("<section id=\"cpus\" aria-labelledby=\"h-cpus\"><h2 id=\"h-cpus\">CPUs</h2>\n", out);
	err = lanes_svg(&p->content.source, report_data_lanes(p->data), out);
	sections_cpus(&p->content, out);
	fputs("</section>\n", out);
	return err;
}

static int put_threads(const struct page *p, FILE *out)
{
	if (p->threads.len)
		(void)fwrite(p->threads.text, 1, p->threads.len, out);
	return p->threads.err;
}

/* One figure; nothing where a filter leaves no stack. */
static int put_flame(const struct page *p, enum source_stack_kind kind, const char *id,
                     const char *title, FILE *out)
{
	SCOPED(scoped_profile) struct profile *profile = NULL;
	struct flame_cfg cfg = { .title = title };
	struct diag d = { 0 };
	int err = 0;

	if (!source_stack_nr(p->cfg.s, kind))
		return 0;
	if (source_profile(&p->content.source, p->cfg.args, kind, &d, &profile))
		return d.code == -ENODATA ? 0 : d.code;
	fprintf(out, "<figure id=\"%s\">", id);
	err = flame_figure(profile, &cfg, out);
	fprintf(out, "<figcaption>%s</figcaption></figure>\n", title);
	return err;
}

static int put_flames(const struct page *p, FILE *out)
{
	int err;

	if (!has_flames(p))
		return 0;
	fputs("<section id=\"flames\" aria-labelledby=\"h-flames\"><h2 id=\"h-flames\">Flame graphs</h2>\n",
	      out);
	err = put_flame(p, SOURCE_STACK_CPU, "flame-cpu", "Where CPUs spent their time", out);
	if (!err)
		err = put_flame(p, SOURCE_STACK_OFF_CPU, "flame-off-cpu", "Where tasks slept", out);
	fputs("</section>\n", out);
	return err;
}

static int put_document(const struct page *p, FILE *out)
{
	struct page_document doc = { .c = &p->content,
		                     .title = p->title,
		                     .command = p->cfg.command,
		                     .generator = p->cfg.generator,
		                     .file = p->file,
		                     .verdict = p->verdict,
		                     .truth = p->truth,
		                     .tasks = p->tasks.report,
		                     .data = p->data,
		                     .compare = p->cfg.compare };

	return page_document_write(&doc, out);
}

static int put_data(const struct page *p, FILE *out)
{
	return report_data_write(p->data, out);
}

static int put_verdict(const struct page *p, FILE *out)
{
	verdict_write(p->verdict, out);
	if (p->cfg.compare)
		report_compare_html(p->cfg.compare, out);
	truth_write(p->truth, out);
	return 0;
}

static int put_waits(const struct page *p, FILE *out)
{
	int err = cards_write(&p->content, out);

	blame_tables_write(&p->content, out);
	return err;
}

static int put_wakers(const struct page *p, FILE *out)
{
	sections_wakers(&p->content, out);
	return put_flames(p, out);
}

static int put_tasks(const struct page *p, FILE *out)
{
	sections_tasks(p->tasks.report, out);
	sections_devices(&p->content, out);
	words_write(out);
	fputs("</main>\n<footer><p>Made by ", out);
	html_text(out, p->cfg.generator);
	fputs(" with <code>", out);
	html_command(out, p->cfg.command);
	fputs("</code></p></footer>\n", out);
	return 0;
}

/* The order is that of questions: what, how sure, why, who, when, where; then the data. */
static int (*const sections[])(const struct page *p, FILE *out) = {
	put_verdict, put_waits, put_latency,  put_cpus, put_threads,
	put_wakers,  put_tasks, put_document, put_data,
};

#define SECTIONS (sizeof(sections) / sizeof(sections[0]))

struct writing {
	const struct page *p;
	struct section of[SECTIONS];
};

/* The document and the data behind it take longest, so they are begun first. */
static void write_section(void *ctx, unsigned int worker, size_t nr)
{
	struct writing *w = ctx;
	size_t item = (nr + SECTIONS - 2) % SECTIONS;

	(void)worker;
	make_section(w->p, sections[item], &w->of[item]);
}

/* They are made at once: each asks for indexes that are there, or that no other one asks for. */
static int put_sections(const struct page *p, FILE *out)
{
	struct writing w = { .p = p };
	struct parallel all = { .fn = write_section, .ctx = &w };
	int err = 0;

	parallel_for(&all, SECTIONS);
	for (size_t i = 0; i < SECTIONS; i++) {
		if (!err)
			err = w.of[i].err;
		if (!err && w.of[i].len)
			(void)fwrite(w.of[i].text, 1, w.of[i].len, out);
		free(w.of[i].text);
	}
	return err;
}

int page_write(const struct page *p, FILE *out)
{
	int err;

	put_head(p, out);
	put_header(p, out);
	err = put_sections(p, out);
	fprintf(out, "<script type=\"module\">%s</script>\n</body>\n</html>\n", report_js);
	step(p, STEPS);
	return err ? err : ferror(out) ? -EIO : 0;
}
