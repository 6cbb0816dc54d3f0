/* A page of worlds whose answer is known: what it says, in which order, and that no name gets out of its place. */
#include "../analyze/pass_fixture.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../render/golden.h"
#include "analyses/passes.h"
#include "base/cleanup.h"
#include "base/sha256.h"
#include "report/page.h"

#define MS 1000000ULL

struct made {
	char *html;
	size_t len;
	json_t *doc;
	char *verdict; /* its first sentence */
};

static void made_done(struct made *m)
{
	free(m->html);
	free(m->verdict);
	json_decref(m->doc);
}

/* What lies between two texts, the first after from. */
static char *between(const char *from, const char *begin, const char *end)
{
	const char *at = strstr(from, begin), *to;

	assert_non_null(at);
	at += strlen(begin);
	to = strstr(at, end);
	assert_non_null(to);
	return strndup(at, (size_t)(to - at));
}

static void make(struct pass_fixture *p, struct made *m)
{
	struct page_cfg cfg = { .s = &p->source,
		                .args = &p->args,
		                .command = "schedscope report FILE",
		                .generator = "schedscope test" };
	SCOPED(scoped_page) struct page *page = NULL;
	SCOPED(scoped_free) char *json = NULL;
	struct diag d = { 0 };
	FILE *out = open_memstream(&m->html, &m->len);

	assert_non_null(out);
	assert_int_equal(page_make(&cfg, &d, &page), 0);
	assert_int_equal(page_write(page, out), 0);
	assert_int_equal(fclose(out), 0);
	json = between(m->html, "id=\"report-json\">", "</script>");
	m->doc = json_loads(json, 0, NULL);
	assert_non_null(m->doc);
	m->verdict = strdup(page_verdict(page));
}

static const char *sentence(const struct made *m, size_t nr, const char *key)
{
	return json_string_value(
		json_object_get(json_array_get(json_object_get(m->doc, "verdict"), nr), key));
}

/* "hog" 10 has CPU 0 from 1000 to 2000 ms; "web" 20 is woken at 1100 and runs at 1900 ms. */
static void starve(struct pass_fixture *p, const char *hog, const char *web)
{
	forked(&p->f, 900 * MS, 1, 10, hog);
	forked(&p->f, 900 * MS, 1, 20, web);
	sw(&p->f, 950 * MS, 0, 0, 20, EV_STATE_RUNNABLE);
	sw(&p->f, 1000 * MS, 0, 20, 10, EV_STATE_S);
	waking(&p->f, 1100 * MS, 1, 20, 0);
	wakeup(&p->f, 1100 * MS, 1, 20, 0);
	sw(&p->f, 1900 * MS, 0, 10, 20, EV_STATE_RUNNABLE);
	sw(&p->f, 1950 * MS, 0, 20, 10, EV_STATE_S);
	finish(p, 2000 * MS);
}

static void the_first_sentence_names_the_cause(void **state)
{
	struct pass_fixture *p = *state;
	SCOPED(made_done) struct made m = { 0 };

	starve(p, "hog", "web");
	make(p, &m);
	assert_string_equal(sentence(&m, 0, "sentence"),
	                    "web (20) waited 800ms for a CPU: 800ms behind hog");
	assert_string_equal(m.verdict, sentence(&m, 0, "sentence"));
	assert_string_equal(sentence(&m, 0, "confidence"), "proved");
	assert_string_equal(sentence(&m, 0, "kind"), "wait");
	assert_non_null(sentence(&m, 0, "remedy"));
	assert_true(json_array_size(json_object_get(m.doc, "verdict")) >= 3);
	assert_true(json_array_size(json_object_get(m.doc, "verdict")) <= 7);
	assert_non_null(strstr(m.html,
	                       "<article class=\"card\" id=\"wait-1\" data-from=\"200000000\" "
	                       "data-to=\"1000000000\" data-tid=\"20\" data-comm=\"web\">"));
	assert_non_null(strstr(m.html, "href=\"#wait-1\""));
}

/* A task is woken, waits behind "hog" 10 for so long, and runs for 1 ms. */
static void keep_waiting(struct pass_fixture *p, uint64_t *at, uint32_t tid, uint64_t wait_ns)
{
	waking(&p->f, *at, 1, tid, 0);
	wakeup(&p->f, *at, 1, tid, 0);
	sw(&p->f, *at + wait_ns, 0, 10, tid, EV_STATE_RUNNABLE);
	sw(&p->f, *at + wait_ns + MS, 0, tid, 10, EV_STATE_S);
	*at += wait_ns + 2 * MS;
}

/* Ten tasks waited longer than "db", whose waits are shorter and many; a sentence leads to its longest. */
static void all_but_the_worst_waits_are_folded(void **state)
{
	struct pass_fixture *p = *state;
	SCOPED(made_done) struct made m = { 0 };
	uint64_t at = 1000 * MS;
	const char *fold, *end;

	forked(&p->f, 900 * MS, 1, 10, "hog");
	for (uint32_t i = 0; i < 10; i++)
		forked(&p->f, 900 * MS, 1, 20 + i, "web");
	forked(&p->f, 900 * MS, 1, 40, "db");
	sw(&p->f, 950 * MS, 0, 0, 10, EV_STATE_RUNNABLE);
	for (uint32_t i = 0; i < 10; i++)
		keep_waiting(p, &at, 20 + i, (100 + i) * MS);
	for (uint32_t i = 0; i < 20; i++)
		keep_waiting(p, &at, 40, (i ? 40 : 41) * MS);
	finish(p, at);
	make(p, &m);
	fold = strstr(m.html, "<details class=\"more\"><summary>More waits, of at most 101ms");
	assert_non_null(fold);
	end = strstr(fold, "</section>");
	assert_non_null(strstr(m.html, "href=\"#wait-11\""));
	assert_true(strstr(m.html, "id=\"wait-8\"") < fold);
	assert_true(strstr(m.html, "id=\"wait-11\"") < fold);
	for (uint32_t i = 9; i <= 12; i++) {
		char id[32];
		const char *card;

		snprintf(id, sizeof(id), "id=\"wait-%u\"", i);
		card = strstr(m.html, id);
		assert_non_null(card);
		assert_true(i == 11 || (card > fold && card < end));
	}
	assert_true(strstr(m.html, "id=\"wait-13\"") <
	            fold); /* of "hog", which a sentence is about, too */
}

static uint32_t count_in(const char *from, const char *end, const char *text)
{
	uint32_t nr = 0;

	while ((from = strstr(from, text)) && from < end) {
		from++;
		nr++;
	}
	return nr;
}

/* It runs thousands of times beside its wait: what a card draws stays small, and what it ran at the end of the wait is seen. */
static void short_slices_beside_a_wait_are_one(void **state)
{
	struct pass_fixture *p = *state;
	SCOPED(made_done) struct made m = { 0 };
	uint64_t at = 1000 * MS;
	const char *card, *end;

	forked(&p->f, 900 * MS, 1, 10, "hog");
	forked(&p->f, 900 * MS, 1, 20, "web");
	sw(&p->f, 950 * MS, 0, 0, 10, EV_STATE_RUNNABLE);
	keep_waiting(p, &at, 20, 600 * MS);
	for (uint32_t i = 0; i < 3000; i++, at += 20000) {
		waking(&p->f, at, 1, 20, 0);
		sw(&p->f, at + 5000, 0, 10, 20, EV_STATE_RUNNABLE);
		sw(&p->f, at + 10000, 0, 20, 10, EV_STATE_S);
	}
	finish(p, at + 100 * MS);
	make(p, &m);
	card = strstr(m.html, "id=\"wait-1\"");
	assert_non_null(card);
	end = strstr(card, "</article>");
	assert_true(count_in(card, end, "<rect") < 200);
	assert_non_null(strstr(card, "short slices, "));
	assert_true(strstr(card, "short slices, ") < end);
	assert_non_null(strstr(card, "<title>web (20) 1.00ms</title>"));
}

/* What was recorded, before any section; what is not known is left out. */
static void the_head_says_what_was_recorded(void **state)
{
	struct pass_fixture *p = *state;
	SCOPED(made_done) struct made m = { 0 }, filtered = { 0 };

	starve(p, "hog", "web");
	p->facts.release = "6.1.0<";
	make(p, &m);
	assert_non_null(strstr(
		m.html, "<p class=\"note about\">1.10s of 4 CPUs, Linux 6.1.0&lt;</p>\n<nav"));
	p->args.comm = "web*";
	make(p, &filtered);
	assert_non_null(strstr(filtered.html, "; only -c web*</p>\n<nav"));
}

static void nothing_lost_is_said_with_figures(void **state)
{
	struct pass_fixture *p = *state;
	SCOPED(made_done) struct made m = { 0 };

	forked(&p->f, 900 * MS, 1, 20, "web");
	sw(&p->f, 950 * MS, 0, 0, 20, EV_STATE_S);
	sw(&p->f, 1000 * MS, 0, 20, 0, EV_STATE_S);
	waking(&p->f, 1100 * MS, 1, 20, 0);
	sw(&p->f, 1100 * MS + 5000, 0, 0, 20, EV_STATE_S);
	finish(p, 2000 * MS);
	make(p, &m);
	assert_string_equal(sentence(&m, 0, "sentence"),
	                    "No task lost much time; waits for a CPU: 5.00us in all");
	assert_non_null(
		strstr(sentence(&m, 1, "sentence"), "tasks waited 5.00us for a CPU in 1 wait:"));
}

static void losses_make_it_likely(void **state)
{
	struct pass_fixture *p = *state;
	SCOPED(made_done) struct made m = { 0 };
	size_t nr;

	p->facts.lost = 7;
	starve(p, "hog", "web");
	make(p, &m);
	nr = json_array_size(json_object_get(m.doc, "verdict"));
	assert_string_equal(sentence(&m, 0, "confidence"), "likely");
	assert_non_null(strstr(sentence(&m, nr - 1, "sentence"), "7 of "));
	assert_non_null(
		strstr(sentence(&m, nr - 1, "sentence"), "so causes are likely and not proved"));
}

static void sections_come_in_the_order_of_questions(void **state)
{
	static const char *const ids[] = { "verdict", "truth",   "waits", "blame", "latency",
		                           "cpus",    "threads", "tasks", "words" };
	struct pass_fixture *p = *state;
	SCOPED(made_done) struct made m = { 0 };
	const char *at;

	starve(p, "hog", "web");
	make(p, &m);
	at = m.html;
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		char text[64];

		snprintf(text, sizeof(text), "<section id=\"%s\"", ids[i]);
		at = strstr(at, text);
		assert_non_null(at);
	}
}

/* Of four CPUs three are silent, and of one the end is missing: that is drawn, and in the legend. */
static void unknown_time_is_not_idle(void **state)
{
	struct pass_fixture *p = *state;
	SCOPED(made_done) struct made m = { 0 };

	starve(p, "hog", "web");
	make(p, &m);
	assert_non_null(strstr(m.html, "<path class=\"not-known\" fill=\"url(#hatch)\" d=\"M"));
	assert_non_null(strstr(m.html, "<span class=\"swatch not-known\"></span> unknown"));
}

/* Every link of the page leads to something. */
static void links_lead_somewhere(void **state)
{
	struct pass_fixture *p = *state;
	SCOPED(made_done) struct made m = { 0 };
	const char *at;

	starve(p, "hog", "web");
	make(p, &m);
	at = m.html;
	while ((at = strstr(at, "href=\"#"))) {
		SCOPED(scoped_free) char *id = between(at, "href=\"#", "\"");
		char wanted[128];

		snprintf(wanted, sizeof(wanted), " id=\"%s\"", id);
		if (!strstr(m.html, wanted))
			fail_msg("nothing has the id %s", id);
		at++;
	}
}

static void expect_hash(const char *html, const char *begin, const char *end, const char *rule)
{
	SCOPED(scoped_free) char *text = between(html, begin, end);
	char hash[SHA256_BASE64_BYTES], wanted[128];

	sha256_base64(text, strlen(text), hash);
	snprintf(wanted, sizeof(wanted), "%s 'sha256-%s'", rule, hash);
	assert_non_null(strstr(html, wanted));
}

static void the_policy_names_what_is_there(void **state)
{
	struct pass_fixture *p = *state;
	SCOPED(made_done) struct made m = { 0 };

	starve(p, "hog", "web");
	make(p, &m);
	expect_hash(m.html, "<script type=\"module\">", "</script>", "script-src");
	expect_hash(m.html, "<style>", "</style>", "style-src");
	assert_non_null(strstr(m.html, "default-src 'none'"));
	assert_null(strstr(strstr(m.html, "</style>"), "<style"));
}

/* The body without its scripts: where names could do harm. */
static char *body_of(const char *html)
{
	char *body = between(html, "<body>", "</html>"), *at;

	while ((at = strstr(body, "<script"))) {
		char *end = strstr(at, "</script>");

		assert_non_null(end);
		end += strlen("</script>");
		memmove(at, end, strlen(end) + 1);
	}
	return body;
}

static void hostile_names_stay_text(void **state)
{
	struct pass_fixture *p = *state;
	SCOPED(made_done) struct made m = { 0 };
	SCOPED(scoped_free) char *body = NULL;

	starve(p, "</script><b>\"'", "<!--\xe2\x80\xae\x1b\xff&");
	make(p, &m);
	body = body_of(m.html);
	assert_null(strstr(body, "<b>"));
	assert_null(strstr(body, "<!--"));
	assert_null(strchr(body, '\x1b'));
	assert_null(strstr(body, "\xe2\x80\xae"));
	assert_null(strstr(body, " style="));
	assert_non_null(strstr(body, "&lt;/script&gt;&lt;b&gt;&quot;&#39;"));
	assert_non_null(strstr(body, "&lt;!--\\u202e\\x1b\xef\xbf\xbd&amp;"));
	/* In the document it is the name itself. */
	assert_non_null(strstr(m.html, "\\u003c/script>\\u003cb>"));
	assert_string_equal(json_string_value(json_object_get(
				    json_array_get(json_object_get(m.doc, "waits"), 0), "comm")),
	                    "<!--\xe2\x80\xae\x1b\xef\xbf\xbd&");
}

/* The rows of tasks have the numbers that the analyses of one thread have. */
static void tasks_are_those_of_the_analyses(void **state)
{
	struct pass_fixture *p = *state;
	SCOPED(made_done) struct made m = { 0 };
	const struct report_node *root;
	const json_t *row = NULL, *rows;
	size_t i;

	starve(p, "hog", "web");
	make(p, &m);
	rows = json_object_get(m.doc, "tasks");
	json_array_foreach(rows, i,
	                   row) if (json_integer_value(json_object_get(row, "pid")) == 20) break;
	assert_non_null(row);
	p->args.tid = 20;
	p->args.by = PASS_BY_THREAD;
	root = run_pass(p, &pass_process_runtime);
	expect_eq(json_integer_value(json_object_get(row, "total_runtime_ns")),
	          num_at(root, "processes.0.total_runtime_ns"));
	expect_eq(json_integer_value(json_object_get(row, "num_switches")),
	          num_at(root, "processes.0.num_switches"));
	root = run_pass(p, &pass_blame);
	expect_eq(json_integer_value(json_object_get(row, "waits")), num_at(root, "waits"));
	expect_eq(json_integer_value(json_object_get(row, "wait_ns")), num_at(root, "wait_ns"));
	expect_eq(json_integer_value(json_object_get(row, "max_wait_ns")),
	          num_at(root, "max_wait_ns"));
	root = run_pass(p, &pass_wakeup_latency);
	expect_eq(json_integer_value(json_object_get(row, "total_wakeups")),
	          num_at(root, "total_wakeups"));
	expect_eq(json_integer_value(json_object_get(row, "p99_latency_ns")),
	          num_at(root, "global_stats.p99_latency_ns"));
}

static void without_switches_there_is_no_page(void **state)
{
	struct pass_fixture *p = *state;
	struct page_cfg cfg = { .s = &p->source, .args = &p->args, .command = "", .generator = "" };
	struct page *page = NULL;
	struct diag d = { 0 };

	forked(&p->f, 900 * MS, 1, 10, "hog");
	finish(p, 2000 * MS);
	assert_int_equal(page_make(&cfg, &d, &page), -ENODATA);
	assert_null(page);
	assert_non_null(strstr(d.what, "no context switches"));
}

/* What a reader sees without scripts: one line for each element that has text. */
static char *text_of(const char *html)
{
	SCOPED(scoped_free) char *body = body_of(html);
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	bool is_tag = false, is_open = false;

	assert_non_null(out);
	for (const char *c = body; *c; c++) {
		is_tag = is_tag || *c == '<';
		if (!is_tag && *c != '\n') {
			fputc(*c, out);
			is_open = true;
		} else if (is_open) {
			fputc('\n', out);
			is_open = false;
		}
		is_tag = is_tag && *c != '>';
	}
	fclose(out);
	return text;
}

static void the_text_is_as_it_was(void **state)
{
	struct pass_fixture *p = *state;
	SCOPED(made_done) struct made m = { 0 };
	SCOPED(scoped_free) char *text = NULL;

	starve(p, "hog", "web");
	make(p, &m);
	text = text_of(m.html);
	golden_compare("report-page.txt", text);
}

int main(void)
{
#define WITH_STREAM(f) cmocka_unit_test_setup_teardown(f, pass_setup, pass_teardown)
	const struct CMUnitTest tests[] = {
		WITH_STREAM(the_first_sentence_names_the_cause),
		WITH_STREAM(all_but_the_worst_waits_are_folded),
		WITH_STREAM(short_slices_beside_a_wait_are_one),
		WITH_STREAM(the_head_says_what_was_recorded),
		WITH_STREAM(nothing_lost_is_said_with_figures),
		WITH_STREAM(losses_make_it_likely),
		WITH_STREAM(sections_come_in_the_order_of_questions),
		WITH_STREAM(unknown_time_is_not_idle),
		WITH_STREAM(links_lead_somewhere),
		WITH_STREAM(the_policy_names_what_is_there),
		WITH_STREAM(hostile_names_stay_text),
		WITH_STREAM(tasks_are_those_of_the_analyses),
		WITH_STREAM(without_switches_there_is_no_page),
		WITH_STREAM(the_text_is_as_it_was),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
