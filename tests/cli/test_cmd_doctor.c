#include "../unit.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* Runs "schedscope ARGS" in a shell; what it wrote to stdout, cut to the buffer, and its exit code. */
static int run(const char *args, char *out, size_t size)
{
	const char *program = getenv("SCHEDSCOPE");
	char command[4096];
	size_t len;
	int status;
	FILE *p;

	assert_non_null(program);
	snprintf(command, sizeof(command), "'%s' %s", program, args);
	p = popen(command, "re");
	assert_non_null(p);
	len = fread(out, 1, size - 1, p);
	out[len] = '\0';
	status = pclose(p);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void every_check_is_a_line(void **state)
{
	static char out[65536];

	(void)state;
	assert_int_equal(run("doctor", out, sizeof(out)), 0);
	expect_eq(strncmp(out, "kernel ", 7), 0);
	assert_non_null(strstr(out, "\ncapabilities "));
	assert_non_null(strstr(out, "\npmu "));
	assert_null(strchr(out, '\033'));
}

static void json_holds_every_check(void **state)
{
	static char out[65536];
	json_t *root, *checks, *row;
	size_t i;

	(void)state;
	assert_int_equal(run("doctor --json", out, sizeof(out)), 0);
	root = json_loads(out, 0, NULL);
	assert_non_null(root);
	assert_string_equal(json_string_value(json_object_get(root, "schema")),
	                    "schedscope-doctor/1");
	checks = json_object_get(root, "checks");
	assert_true(json_array_size(checks) >= 13);
	json_array_foreach(checks, i, row)
	{
		const char *what = json_string_value(json_object_get(row, "state"));
		const json_t *remedy = json_object_get(row, "remedy");

		assert_non_null(json_string_value(json_object_get(row, "check")));
		assert_non_null(json_string_value(json_object_get(row, "meaning")));
		assert_non_null(what);
		assert_true(strcmp(what, "ok") == 0 || strcmp(what, "limited") == 0 ||
		            strcmp(what, "missing") == 0);
		assert_true(json_is_null(remedy) || json_is_string(remedy));
	}
	json_decref(root);
}

static void wrong_usage_is_no_result(void **state)
{
	char out[256];

	(void)state;
	assert_int_equal(run("doctor --nonsense 2>/dev/null", out, sizeof(out)), 2);
	assert_string_equal(out, "");
	assert_int_equal(run("doctor operand 2>/dev/null", out, sizeof(out)), 2);
}

static void a_full_disk_is_a_failure(void **state)
{
	char out[256];

	(void)state;
	assert_int_equal(run("doctor 2>/dev/null >/dev/full", out, sizeof(out)), 1);
	assert_int_equal(run("doctor --json 2>/dev/null >/dev/full", out, sizeof(out)), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_check_is_a_line),
		cmocka_unit_test(json_holds_every_check),
		cmocka_unit_test(wrong_usage_is_no_result),
		cmocka_unit_test(a_full_disk_is_a_failure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
