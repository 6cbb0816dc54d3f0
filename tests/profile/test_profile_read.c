#include "../unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "profile/profile_list.h"
#include "profile/profile_read.h"

static struct profile *read_text(const char *text)
{
	struct profile *p = NULL;
	struct diag d = { 0 };

	if (profile_read_text(text, "input", &d, &p) != 0)
		fail_msg("%s", d.what);
	return p;
}

static void expect_refused(const char *text, int code, const char *part)
{
	struct profile *p = NULL;
	struct diag d = { 0 };

	assert_int_equal(profile_read_text(text, "input", &d, &p), code);
	assert_null(p);
	assert_int_equal(d.code, code);
	if (!strstr(d.what, part))
		fail_msg("'%s' does not say '%s'", d.what, part);
	assert_true(d.hint[0] != '\0');
}

static const struct profile_frame *frame_of(const struct profile *p, size_t row, size_t idx)
{
	struct profile_stack stack;

	profile_stack_at(p, row, &stack);
	assert_true(idx < stack.nr);
	return profile_frame_at(p, stack.frames[idx]);
}

static void folded_text_is_read(void **state)
{
	SCOPED(scoped_profile)
	struct profile *p = read_text("web;main;serve (a, b);sys_read_[k] 200\n\nweb 5\r\n"
	                              "my app;f;;g_[i];h_[j] 1\n");
	struct profile_stack stack;

	(void)state;
	expect_eq(profile_count(p), 206);
	expect_eq(profile_value(p), 206);
	expect_eq(profile_nr_stacks(p), 3);
	assert_false(profile_has_modules(p));
	assert_string_equal(frame_of(p, 0, 0)->symbol, "sys_read");
	assert_true(frame_of(p, 0, 0)->is_kernel);
	assert_string_equal(frame_of(p, 0, 1)->symbol, "serve (a, b)");
	assert_string_equal(frame_of(p, 0, 2)->symbol, "main");
	profile_stack_at(p, 1, &stack);
	expect_eq(stack.nr, 0);
	assert_string_equal(profile_task_at(p, stack.task)->process, "web");
	assert_string_equal(frame_of(p, 2, 0)->symbol, "h");
	assert_true(frame_of(p, 2, 1)->is_inlined);
	assert_string_equal(profile_task_at(p, 1)->process, "my app");
}

static void what_is_no_folded_text_is_refused(void **state)
{
	(void)state;
	expect_refused("", -ENODATA, "no stacks");
	expect_refused("\n \n", -ENODATA, "no stacks");
	expect_refused("a;b 0\n", -ENODATA, "no stacks");
	expect_refused("a;b 3\na;b\n", -EINVAL, "line 2");
	expect_refused("a;b x\n", -EINVAL, "line 1");
	expect_refused("a;b -3\n", -EINVAL, "line 1");
	expect_refused("a;b 1.5\n", -EINVAL, "line 1");
	expect_refused(" 17\n", -EINVAL, "line 1");
	expect_refused("a 99999999999999999999\n", -EINVAL, "line 1");
	expect_refused("a 18446744073709551615\na 1\n", -E2BIG, "more than");
}

static void a_stack_that_is_too_deep_is_refused(void **state)
{
	size_t size = 2 * (size_t)PROFILE_MAX_DEPTH + 16;
	SCOPED(scoped_free) char *text = malloc(size);

	(void)state;
	assert_non_null(text);
	text[0] = 'p';
	for (size_t i = 0; i <= PROFILE_MAX_DEPTH; i++)
		memcpy(text + 1 + 2 * i, ";f", 2);
	strcpy(text + 1 + 2 * (PROFILE_MAX_DEPTH + 1), " 1");
	expect_refused(text, -E2BIG, "more than");
}

static const char document[] =
	"{\"symbols\": [{\"symbol\": \"f\", \"cpu_id\": 2, \"stack_traces\": ["
	"{\"kernel_stack\": [{\"symbol\": \"k\", \"module\": \"kernel\", \"file\": null, \"line\": null,"
	" \"address\": \"0xffff000000000001\"}], \"user_stack\": [{\"symbol\": \"f\", \"module\": \"a\","
	" \"file\": \"a.c\", \"line\": 7, \"address\": \"0x10\", \"is_inlined\": true}],"
	" \"count\": 3, \"value\": 30, \"process\": \"a\", \"pid\": 9}]}],"
	" \"total_samples\": 5, \"total_count\": 50, \"event\": \"off-cpu\", \"unit\": \"ns\","
	" \"frequency\": 99, \"period\": 0, \"duration_ns\": 1000, \"lost\": 2}";

static void results_are_read(void **state)
{
	SCOPED(scoped_profile) struct profile *p = read_text(document);
	struct profile_stack stack;

	(void)state;
	assert_string_equal(profile_facts(p)->event, "off-cpu");
	assert_string_equal(profile_facts(p)->unit, "ns");
	expect_eq(profile_facts(p)->frequency, 99);
	expect_eq(profile_facts(p)->lost, 2);
	profile_stack_at(p, 0, &stack);
	expect_eq(stack.count, 3);
	expect_eq(stack.value, 30);
	expect_eq(stack.cpu, 2);
	expect_eq(profile_task_at(p, stack.task)->tgid, 9);
	assert_true(frame_of(p, 0, 0)->is_kernel);
	expect_eq(frame_of(p, 0, 0)->address, 0xffff000000000001);
	assert_string_equal(frame_of(p, 0, 1)->file, "a.c");
	expect_eq(frame_of(p, 0, 1)->line, 7);
	assert_true(frame_of(p, 0, 1)->is_inlined);
	/* What was not listed is still part of the whole. */
	expect_eq(profile_count(p), 5);
	expect_eq(profile_value(p), 50);
	profile_stack_at(p, 1, &stack);
	assert_string_equal(profile_task_at(p, stack.task)->process, PROFILE_NOT_LISTED);
}

static void what_are_no_results_is_refused(void **state)
{
	(void)state;
	expect_refused("{\"symbols\": [", -EINVAL, "line 1");
	expect_refused("{}", -EINVAL, "'symbols'");
	expect_refused("{\"symbols\": 3}", -EINVAL, "'symbols'");
	expect_refused("{\"symbols\": []}", -ENODATA, "no stacks");
	expect_refused("{\"symbols\": [{\"symbol\": \"f\", \"count\": 1}]}", -EINVAL,
	               "'stack_traces'");
	expect_refused("{\"symbols\": [1]}", -EINVAL, "symbols[0]");
	expect_refused("{\"symbols\": [{\"stack_traces\": [{\"user_stack\": [{}], \"count\": 1}]}]}",
	               -EINVAL, "'symbol'");
	expect_refused("{\"symbols\": [{\"stack_traces\": [{\"user_stack\": [{\"symbol\": \"f\", "
	               "\"address\": \"zz\"}], \"count\": 1}]}]}",
	               -EINVAL, "address");
}

static void files_are_read_and_missing_ones_reported(void **state)
{
	char path[] = "/tmp/schedscope-profile-XXXXXX";
	SCOPED(scoped_profile) struct profile *p = NULL;
	struct diag d = { 0 };
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "a;b 2\n", 6), 6);
	close(fd);
	assert_int_equal(profile_read_file(path, &d, &p), 0);
	expect_eq(profile_count(p), 2);
	unlink(path);
	profile_free(TAKE_PTR(p));
	assert_int_equal(profile_read_file(path, &d, &p), -ENOENT);
	assert_non_null(strstr(d.what, path));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(folded_text_is_read),
		cmocka_unit_test(what_is_no_folded_text_is_refused),
		cmocka_unit_test(a_stack_that_is_too_deep_is_refused),
		cmocka_unit_test(results_are_read),
		cmocka_unit_test(what_are_no_results_is_refused),
		cmocka_unit_test(files_are_read_and_missing_ones_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
