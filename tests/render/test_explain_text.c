/* Explained sleeps as text and picture, from a report by hand. Waits are tested through the program. */
#include "../unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden.h"
#include "render/explain_text.h"

#define MS 1000000ULL

static void add_line(struct report *r, uint64_t depth, const char *text)
{
	report_begin_object(r, NULL);
	report_u64(r, "depth", depth);
	report_string(r, "text", text);
	report_end_object(r);
}

static void add_piece(struct report *r, const char *kind, uint64_t from_ms, uint64_t to_ms)
{
	report_begin_object(r, NULL);
	report_string(r, "kind", kind);
	report_u64(r, "start_timestamp", from_ms * MS);
	report_u64(r, "end_timestamp", to_ms * MS);
	report_end_object(r);
}

static void add_task(struct report *r, const char *comm, uint64_t tid, uint64_t from_ms,
                     uint64_t to_ms)
{
	report_begin_object(r, NULL);
	report_string(r, "comm", comm);
	report_u64(r, "tid", tid);
	report_u64(r, "start_timestamp", from_ms * MS);
	report_u64(r, "end_timestamp", to_ms * MS);
}

static void add_lanes(struct report *r)
{
	report_begin_array(r, "lanes");
	add_task(r, "back<up", 99, 1000, 1031);
	report_string(r, "role", "had it");
	report_u64(r, "for_lane", 0);
	report_begin_array(r, "pieces");
	add_piece(r, "waits", 1000, 1024);
	add_piece(r, "runs", 1024, 1029);
	add_piece(r, "sleeps", 1029, 1031);
	report_end_array(r);
	report_end_object(r);
	add_task(r, "disk", 7, 1029, 1031);
	report_string(r, "role", "ended it");
	report_u64(r, "for_lane", 1);
	report_begin_array(r, "pieces");
	report_end_array(r);
	report_end_object(r);
	report_end_array(r);
}

static struct report *one_sleep(bool is_drawn)
{
	struct report *r = report_new(0);

	assert_non_null(r);
	report_begin_object(r, NULL);
	report_begin_array(r, "sleeps");
	add_task(r, "evil\033[31m", 4711, 1000, 1031);
	report_u64(r, "sleep_ns", 31 * MS);
	report_bool(r, "is_open", false);
	report_string(r, "call", "futex(0x7f00)");
	report_begin_array(r, "sentences");
	report_string(r, NULL, "web (4711) slept 31.0ms in futex(0x7f00).");
	report_string(r, NULL, "backup (99) had it all that time, and then released it.");
	report_end_array(r);
	report_begin_array(r, "chain");
	add_line(r, 0, "web (4711) slept 31.0ms in futex(0x7f00)");
	add_line(r, 1, "backup (99) had it for 31.0ms");
	add_line(r, 2, "waited 24.0ms behind hog (12) on CPU 0");
	add_line(r, 2, "backup (99) slept 2.00ms in fsync(3)");
	add_line(r, 3, "disk (7) ended it");
	add_line(r, 4, "ran 2.00ms");
	add_line(r, 2, "ran 5.00ms");
	add_line(r, 1, "other (98) had it for 1.00ms");
	report_end_array(r);
	report_bool(r, "is_chain_cut", true);
	if (is_drawn)
		add_lanes(r);
	report_end_object(r);
	report_end_array(r);
	report_string(r, "in_all",
	              "In all 2 sleeps of web, together 32.0ms: 32.0ms (100 %) in futex.");
	report_end_object(r);
	assert_int_equal(report_error(r), 0);
	return r;
}

static void compare(const char *name, const struct explain_text_cfg *cfg)
{
	SCOPED(scoped_report) struct report *r = one_sleep(!cfg);
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	assert_int_equal(cfg ? explain_text(report_root(r), cfg, out)
	                     : explain_svg(report_root(r), out),
	                 0);
	assert_int_equal(fclose(out), 0);
	golden_compare(name, text);
	free(text);
}

static void a_sleep_is_sentences(void **state)
{
	(void)state;
	compare("explain-sleep.txt", &(struct explain_text_cfg){ .is_utf8 = true });
}

static void its_chain_is_a_tree(void **state)
{
	(void)state;
	compare("explain-sleep-chain.txt",
	        &(struct explain_text_cfg){ .has_chain = true, .is_utf8 = true });
	compare("explain-sleep-ascii.txt", &(struct explain_text_cfg){ .has_chain = true });
}

static void its_chain_is_a_picture(void **state)
{
	(void)state;
	compare("explain-sleep.svg.txt", NULL);
}

static void a_picture_takes_its_lanes(void **state)
{
	SCOPED(scoped_report) struct report *r = one_sleep(false);
	FILE *out = fopen("/dev/null", "w");

	(void)state;
	assert_non_null(out);
	assert_int_equal(explain_svg(report_root(r), out), -ENODATA);
	assert_int_equal(fclose(out), 0);
}

static void nothing_is_said_to_be_nothing(void **state)
{
	SCOPED(scoped_report) struct report *r = report_new(0);
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	report_begin_object(r, NULL);
	report_begin_array(r, "sleeps");
	report_end_array(r);
	report_end_object(r);
	assert_int_equal(explain_text(report_root(r), &(struct explain_text_cfg){ 0 }, out), 0);
	assert_int_equal(fclose(out), 0);
	assert_string_equal(text, "No sleep matches.\n");
	free(text);
}

static void add_wait(struct report *r, const char *comm, uint64_t tid)
{
	report_begin_object(r, NULL);
	report_string(r, "comm", comm);
	report_u64(r, "tid", tid);
	report_u64(r, "wait_ns", 5 * MS);
	report_u64(r, "end_timestamp", 1007 * MS);
	report_begin_array(r, "sentences");
	for (int i = 0; i < 4; i++)
		report_string(r, NULL, "It waited behind others.");
	report_end_array(r);
	report_end_object(r);
}

/* Three waits of five lines each, with a blank line between two. */
static char *waits_on(size_t height)
{
	SCOPED(scoped_report) struct report *r = report_new(0);
	struct explain_text_cfg cfg = {
		.width = 60, .height = height, .clock = { true, 1000 * MS }, .file = "web.pftrace"
	};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	report_begin_object(r, NULL);
	report_begin_array(r, "waits");
	for (uint64_t i = 0; i < 3; i++)
		add_wait(r, "web", 42 + i);
	report_end_array(r);
	report_string(r, "in_all", "In all 9 waits: as above.");
	report_end_object(r);
	assert_int_equal(explain_text(report_root(r), &cfg, out), 0);
	assert_int_equal(fclose(out), 0);
	return text;
}

static size_t lines_in(const char *text)
{
	size_t nr = 0;

	for (; *text; text++)
		nr += *text == '\n';
	return nr;
}

static void what_does_not_fit_is_counted(void **state)
{
	static const struct {
		size_t height;
		const char *more;
		unsigned int shown;
	} cases[] = {
		{ 0, NULL, 3 },
		{ 22, NULL, 3 },
		{ 21, "\nand 1 more; -n 3 shows them\n", 2 },
		{ 18, "\nand 1 more; -n 3 shows them\n", 2 },
		{ 17, "\nand 2 more; -n 3 shows them\n", 1 },
		{ 2, "\nand 2 more; -n 3 shows them\n", 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = waits_on(cases[i].height);

		assert_true(!strstr(text, " more; ") == !cases[i].more);
		if (cases[i].more)
			assert_non_null(strstr(text, cases[i].more));
		assert_true(!!strstr(text, "2. web (43)") == (cases[i].shown > 1));
		assert_true(!!strstr(text, "3. web (44)") == (cases[i].shown > 2));
		assert_true(cases[i].height < 12 || lines_in(text) < cases[i].height);
		assert_non_null(strstr(text,
		                       "\nIn all 9 waits: as above.\n\n"
		                       "next: schedscope analyze web.pftrace blame --tid 42\n"));
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sleep_is_sentences),
		cmocka_unit_test(its_chain_is_a_tree),
		cmocka_unit_test(its_chain_is_a_picture),
		cmocka_unit_test(a_picture_takes_its_lanes),
		cmocka_unit_test(nothing_is_said_to_be_nothing),
		cmocka_unit_test(what_does_not_fit_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
