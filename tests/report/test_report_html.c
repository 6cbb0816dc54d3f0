/* How texts and numbers get into a page: nothing of a recording is markup, and nothing of it is hidden. */
#include "../unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "report/html.h"

static char *taken; /* what the last one wrote */
static size_t taken_len;

static FILE *begin(void)
{
	FILE *out = open_memstream(&taken, &taken_len);

	assert_non_null(out);
	return out;
}

static void expect(FILE *out, const char *wanted)
{
	fclose(out);
	assert_string_equal(taken, wanted);
	free(taken);
}

static void expect_text(const char *text, const char *wanted)
{
	FILE *out = begin();

	html_text(out, text);
	expect(out, wanted);
}

static void markup_becomes_entities(void **state)
{
	(void)state;
	expect_text("plain", "plain");
	expect_text("<a href=\"x\">&'", "&lt;a href=&quot;x&quot;&gt;&amp;&#39;");
	expect_text("", "");
}

static void what_is_hidden_becomes_visible(void **state)
{
	(void)state;
	expect_text("a\x1b[31mb", "a\\x1b[31mb");
	expect_text("\n\t\x7f", "\\x0a\\x09\\x7f");
	expect_text("\xc2\x85", "\\u0085");
	expect_text("\xe2\x80\xae"
	            "evil\xe2\x80\xac",
	            "\\u202eevil\\u202c");
	expect_text("\xe2\x81\xa6x\xe2\x81\xa9", "\\u2066x\\u2069");
	expect_text("\xef\xbb\xbf", "\\ufeff");
	expect_text("a\xc2\xadz", "a\\u00adz");
	expect_text("\xf3\xa0\x81\x81", "\\U000e0041"); /* a tag: eight digits, as in shells */
	expect_text("\xf0\x9f\xbf\xbe", "\\U0001fffe");
}

static void broken_utf8_becomes_a_sign_for_it(void **state)
{
	(void)state;
	expect_text("\xff", "\xef\xbf\xbd");
	expect_text("a\xe3\x81", "a\xef\xbf\xbd");
	expect_text("\xe6\x97\xa5", "\xe6\x97\xa5");
}

static void expect_exact(const char *text, const char *wanted)
{
	FILE *out = begin();

	html_attr_exact(out, "data-comm", text);
	expect(out, wanted);
}

/* Scripts look for the name itself. */
static void names_for_scripts_are_whole(void **state)
{
	(void)state;
	expect_exact("a\"<&'>", " data-comm=\"a&quot;&lt;&amp;&#39;&gt;\"");
	expect_exact("\n\r\t\x1b", " data-comm=\"&#10;&#13;&#9;&#27;\"");
	expect_exact("\xc2\x85", " data-comm=\"\xc2\x85\""); /* &#133; would be U+2026 */
	expect_exact("\xe2\x80\xae", " data-comm=\"&#8238;\"");
	expect_exact("a\xff", " data-comm=\"a\xef\xbf\xbd\"");
}

static void numbers_of_pictures_are_short(void **state)
{
	static const struct {
		double value;
		const char *text;
	} cases[] = { { 0, "0" },       { 1, "1" },         { 1.5, "1.5" },
		      { 1.25, "1.25" }, { -0.05, "-0.05" }, { 960, "960" },
		      { 0.001, "0" },   { -3, "-3" },       { 12.999, "13" } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		FILE *out = begin();

		html_number(out, cases[i].value);
		expect(out, cases[i].text);
	}
}

static void cells_have_their_raw_value(void **state)
{
	struct report_node ns = { .key = "wait_ns", .type = REPORT_U64, .u64 = 12300000 };
	struct report_node share = {
		.key = "percent", .type = REPORT_DOUBLE, .f = 12.345, .decimals = 2
	};
	struct report_node none = { .key = "p99_ns", .type = REPORT_NULL };
	struct report_node name = { .key = "comm", .type = REPORT_STRING, .text = "<x>" };
	FILE *out = begin();

	(void)state;
	html_cell(out, &ns);
	expect(out, "<td class=\"n\" data-key=\"wait_ns\" data-value=\"12300000\">12.3ms</td>");
	out = begin();
	html_cell_of(out, &share, "blame");
	expect(out,
	       "<td class=\"n\" data-analysis=\"blame\" data-key=\"percent\" data-value=\"12.35\">12.35%</td>");
	out = begin();
	html_cell(out, &none);
	expect(out, "<td class=\"n\" data-key=\"p99_ns\" data-value=\"null\">-</td>");
	out = begin();
	html_cell(out, &name);
	expect(out, "<td data-key=\"comm\">&lt;x&gt;</td>");
	out = begin();
	html_cell(out, NULL);
	expect(out, "<td></td>");
}

static void json_cannot_end_its_element(void **state)
{
	static const char json[] = "{\"a\":\"</script><!--\"}";
	FILE *out = begin();

	(void)state;
	html_json(out, json, strlen(json));
	expect(out, "{\"a\":\"\\u003c/script>\\u003c!--\"}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(markup_becomes_entities),
		cmocka_unit_test(what_is_hidden_becomes_visible),
		cmocka_unit_test(broken_utf8_becomes_a_sign_for_it),
		cmocka_unit_test(names_for_scripts_are_whole),
		cmocka_unit_test(numbers_of_pictures_are_short),
		cmocka_unit_test(cells_have_their_raw_value),
		cmocka_unit_test(json_cannot_end_its_element),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
