#include "../unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../profile/profile_fixture.h"
#include "base/cleanup.h"
#include "render/flame.h"
#include "render/flame_priv.h"

typedef int writer(const struct profile *p, const struct flame_cfg *cfg, FILE *out);

static struct profile *story(const char *name)
{
	struct profile *p = NULL;

	assert_true(profile_story(name, &p));
	return p;
}

static char *written(writer *write, const struct profile *p, const struct flame_cfg *cfg)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	assert_int_equal(write(p, cfg, out), 0);
	assert_int_equal(fclose(out), 0);
	return text;
}

static size_t count(const char *text, const char *part)
{
	size_t nr = 0;

	for (; (text = strstr(text, part)); text += strlen(part))
		nr++;
	return nr;
}

/* The element of the frame of that label: from its start, to be searched on. */
static const char *frame_of(const char *svg, const char *label)
{
	char name[128];
	const char *at;

	snprintf(name, sizeof(name), "data-n=\"%s\"", label);
	at = strstr(svg, name);
	if (!at)
		fail_msg("no frame %s", label);
	while (*at != '<')
		at--;
	return at;
}

static bool begins(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

static void each_call_is_a_frame_with_its_numbers(void **state)
{
	SCOPED(scoped_profile) struct profile *p = story("story");
	SCOPED(scoped_free) char *svg = written(flame_svg, p, &(struct flame_cfg){ 0 });

	(void)state;
	expect_eq(count(svg, "<g class=\"f "), 15);
	assert_non_null(strstr(frame_of(svg, "all"), "data-f=\"0,1000,0,0,1000\""));
	assert_non_null(strstr(frame_of(svg, "web (100)"), "data-f=\"300,700,1,0,700\""));
	assert_non_null(strstr(frame_of(svg, "parse"), "data-f=\"350,400,4,400,400\""));
	assert_non_null(strstr(frame_of(svg, "parse"), "data-m=\"web\" data-l=\"src/main.c:21\""));
	assert_true(begins(frame_of(svg, "sys_read"), "<g class=\"f k"));
	assert_true(begins(frame_of(svg, "copy"), "<g class=\"f i"));
	assert_true(begins(frame_of(svg, "[lib.so]"), "<g class=\"f n"));
	assert_true(begins(frame_of(svg, "serve"), "<g class=\"f u"));
	assert_non_null(strstr(svg, "cpu-clock, 1,000 samples at 99 Hz in 5.00s, 3 lost"));
	assert_null(strstr(svg, "http://www.w3.org/1999/xlink"));
}

static void the_root_is_at_the_bottom_or_on_top(void **state)
{
	SCOPED(scoped_profile) struct profile *p = story("story");
	SCOPED(scoped_free) char *flame = written(flame_svg, p, &(struct flame_cfg){ 0 });
	SCOPED(scoped_free)
	char *icicle = written(flame_svg, p, &(struct flame_cfg){ .is_icicle = true });
	char bottom[64], top[64];

	(void)state;
	snprintf(bottom, sizeof(bottom), "translate(10.0 %u)", FLAME_TOP + 5 * FLAME_ROW);
	snprintf(top, sizeof(top), "translate(10.0 %u)", FLAME_TOP);
	assert_non_null(strstr(frame_of(flame, "all"), bottom));
	assert_true(strstr(frame_of(icicle, "all"), top) < frame_of(icicle, "db (200)"));
}

static void threads_are_frames_if_asked_for(void **state)
{
	SCOPED(scoped_profile) struct profile *p = story("story");
	struct flame_cfg cfg = { .is_by_thread = true, .title = "A & B" };
	SCOPED(scoped_free) char *svg = written(flame_svg, p, &cfg);

	(void)state;
	frame_of(svg, "db-io (201)");
	assert_non_null(strstr(svg, ">A &amp; B<"));
}

static void what_is_too_thin_is_left_out_and_said(void **state)
{
	SCOPED(scoped_profile) struct profile *p = story("story");
	struct profile_task task = { .tid = 300, .tgid = 300, .comm = "x", .process = "x" };
	SCOPED(scoped_free) char *svg = NULL;

	(void)state;
	profile_add(p, &task, "big", 10000000);
	profile_add(p, &task, "small;smaller", 1);
	svg = written(flame_svg, p, &(struct flame_cfg){ 0 });
	assert_null(strstr(svg, "data-n=\"small"));
	frame_of(svg, "big");
	/* All of the story but its root: db 0.3 and web 0.7 of a ten-thousandth are thin, 14 and 2 here. */
	assert_non_null(strstr(svg, "16 frames narrower than 0.1 px left out."));
}

static void hostile_names_are_text(void **state)
{
	SCOPED(scoped_profile) struct profile *p = story("hostile");
	SCOPED(scoped_free) char *svg = written(flame_svg, p, &(struct flame_cfg){ 0 });
	SCOPED(scoped_free) char *html = written(flame_html, p, &(struct flame_cfg){ 0 });

	(void)state;
	assert_non_null(strstr(svg, "data-n=\"&lt;script&gt;alert(1)&lt;/script&gt;&amp;&quot;&#39;"
	                            "\xef\xbf\xbd\xef\xbf\xbd[2J\xef\xbf\xbd]]&gt;"));
	expect_eq(count(svg, "<script"), 1);
	expect_eq(count(svg, "</svg>"), 1);
	expect_eq(count(svg, "]]>"), 2); /* those of our own style and script */
	expect_eq(count(html, "<script"), 3);
	expect_eq(count(html, "</script"), 3);
	for (const char *c = svg; *c; c++)
		assert_true((unsigned char)*c >= 0x20 || *c == '\n' || *c == '\t');
	assert_null(strchr(svg, '\xff'));
}

static void differences_have_their_colours(void **state)
{
	SCOPED(scoped_profile) struct profile *p = story("story");
	SCOPED(scoped_profile) struct profile *older = story("older");
	SCOPED(scoped_free)
	char *svg = written(flame_svg, p, &(struct flame_cfg){ .before = older });

	(void)state;
	assert_true(begins(frame_of(svg, "parse"), "<g class=\"f r8\""));
	assert_true(begins(frame_of(svg, "sys_read"), "<g class=\"f b8\""));
	assert_true(begins(frame_of(svg, "fib"), "<g class=\"f r0\""));
	assert_non_null(strstr(frame_of(svg, "parse"), "data-f=\"350,400,4,400,400,100,100\""));
	assert_non_null(strstr(svg, "shrank -30.00 points"));
	assert_non_null(strstr(svg, "1 call of the older profile gone, 4.0 % of it."));
}

static void nothing_is_a_page_that_says_so(void **state)
{
	SCOPED(scoped_profile) struct profile *p = story("empty");
	SCOPED(scoped_profile) struct profile *older = story("older");
	struct flame_cfg diff = { .before = older };
	SCOPED(scoped_free) char *svg = written(flame_svg, p, &(struct flame_cfg){ 0 });
	SCOPED(scoped_free) char *html = written(flame_html, p, &diff);

	(void)state;
	assert_non_null(strstr(svg, "No samples were taken."));
	expect_eq(count(svg, "<g class=\"f "), 0);
	assert_non_null(strstr(html, "No samples were taken."));
}

static void frames_without_callers_are_said(void **state)
{
	SCOPED(scoped_profile) struct profile *p = story("story");
	struct profile_facts facts = *profile_facts(p);
	SCOPED(scoped_free) char *svg = NULL;

	(void)state;
	facts.broken = 31;
	assert_int_equal(profile_set_facts(p, &facts), 0);
	svg = written(flame_svg, p, &(struct flame_cfg){ 0 });
	assert_non_null(strstr(svg, "31 samples have no callers: code without frame pointers."));
}

static void a_full_disk_is_reported(void **state)
{
	static writer *const writers[] = { flame_svg, flame_html };
	SCOPED(scoped_profile) struct profile *p = story("story");

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		FILE *full = fopen("/dev/full", "w");

		assert_non_null(full);
		expect_eq(writers[i](p, &(struct flame_cfg){ 0 }, full), -EIO);
		fclose(full);
	}
}

/* Of another page, whose policy allows no style and no script of ours. */
static void a_figure_has_names_and_nothing_that_runs(void **state)
{
	SCOPED(scoped_profile) struct profile *p = story("hostile");
	SCOPED(scoped_free) char *svg = written(flame_figure, p, &(struct flame_cfg){ 0 });

	(void)state;
	assert_true(begins(svg, "<svg "));
	assert_null(strstr(svg, "<style"));
	assert_null(strstr(svg, "<script"));
	assert_null(strstr(svg, " style="));
	assert_null(strstr(svg, "data-n="));
	assert_true(count(svg, "<title>") > 1);
	expect_eq(count(svg, "<title>"), count(svg, "<g class=\"f "));
	assert_non_null(strstr(flame_style(), ".schedscope-flame"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_call_is_a_frame_with_its_numbers),
		cmocka_unit_test(the_root_is_at_the_bottom_or_on_top),
		cmocka_unit_test(threads_are_frames_if_asked_for),
		cmocka_unit_test(what_is_too_thin_is_left_out_and_said),
		cmocka_unit_test(hostile_names_are_text),
		cmocka_unit_test(differences_have_their_colours),
		cmocka_unit_test(nothing_is_a_page_that_says_so),
		cmocka_unit_test(frames_without_callers_are_said),
		cmocka_unit_test(a_full_disk_is_reported),
		cmocka_unit_test(a_figure_has_names_and_nothing_that_runs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
