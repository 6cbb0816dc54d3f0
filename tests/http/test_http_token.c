#include "http/http_token.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../unit.h"

static void a_token_must_be_the_whole_token(void **state)
{
	const char *token = "0123456789abcdef";

	(void)state;
	assert_true(http_token_is_right("Bearer 0123456789abcdef", token));
	assert_true(http_token_is_right("bearer 0123456789abcdef", token));
	assert_false(http_token_is_right(NULL, token));
	assert_false(http_token_is_right("", token));
	assert_false(http_token_is_right("Bearer ", token));
	assert_false(http_token_is_right("Bearer 0123456789abcde", token));
	assert_false(http_token_is_right("Bearer 0123456789abcdef0", token));
	assert_false(http_token_is_right("Bearer 0123456789abcdef0123456789abcdef", token));
	assert_false(http_token_is_right("Bearer 0123456789abcdeF", token));
	assert_false(http_token_is_right("Basic 0123456789abcdef", token));
}

static int read_token_of(const char *content, mode_t mode, bool is_strict, char **token)
{
	char path[] = "/tmp/schedscope-token-XXXXXX";
	int fd = mkstemp(path), err;
	struct diag d = { 0 };

	assert_true(fd >= 0);
	expect_eq(write(fd, content, strlen(content)), strlen(content));
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
	err = http_token_read(path, is_strict, &d, token);
	unlink(path);
	assert_true(!err || d.what[0]);
	return err;
}

static void a_token_file_holds_a_long_first_line(void **state)
{
	struct diag d = { 0 };
	char *token = NULL;

	(void)state;
	assert_int_equal(read_token_of("", 0600, true, &token), -EINVAL);
	assert_int_equal(read_token_of("short\n", 0600, true, &token), -EINVAL);
	assert_int_equal(http_token_read("/nowhere/at/all", true, &d, &token), -ENOENT);
	assert_null(token);
	assert_int_equal(read_token_of("0123456789abcdef\r\nmore\n", 0600, true, &token), 0);
	assert_string_equal(token, "0123456789abcdef");
	free(token);
}

static void a_token_that_others_can_read_is_none(void **state)
{
	static const mode_t open_to[] = { 0644, 0604, 0602, 0660 };
	const char *content = "0123456789abcdef\n";
	char *token = NULL;

	(void)state;
	for (size_t i = 0; i < sizeof(open_to) / sizeof(open_to[0]); i++)
		assert_int_equal(read_token_of(content, open_to[i], true, &token), -EINVAL);
	assert_null(token);
	assert_int_equal(read_token_of(content, 0644, false, &token), 0);
	free(token);
	assert_int_equal(read_token_of(content, 0640, true, &token), 0);
	free(token);
}

static void a_new_token_is_long_different_and_for_its_user_alone(void **state)
{
	char *token = NULL, *path = NULL, *other = NULL, *other_path = NULL, *read = NULL;
	struct diag d = { 0 };
	struct stat st;

	(void)state;
	assert_int_equal(http_token_make(&d, &token, &path), 0);
	assert_int_equal(http_token_make(&d, &other, &other_path), 0);
	expect_eq(strlen(token), 64);
	assert_string_not_equal(token, other);
	assert_int_equal(stat(path, &st), 0);
	expect_eq(st.st_mode & 07777, 0600);
	assert_int_equal(http_token_read(path, true, &d, &read), 0);
	assert_string_equal(read, token);
	*strrchr(path, '/') = '\0';
	assert_int_equal(stat(path, &st), 0);
	expect_eq(st.st_mode & 07777, 0700);
	path[strlen(path)] = '/';
	http_token_remove(path);
	assert_int_equal(access(path, F_OK), -1);
	*strrchr(path, '/') = '\0';
	assert_int_equal(access(path, F_OK), -1);
	http_token_remove(other_path);
	http_token_remove(NULL);
	free(token);
	free(path);
	free(other);
	free(other_path);
	free(read);
}

static void without_a_place_there_is_no_token(void **state)
{
	char *token = NULL, *path = NULL, *before = getenv("TMPDIR");
	struct diag d = { 0 };

	(void)state;
	before = before ? strdup(before) : NULL;
	setenv("TMPDIR", "/nowhere/at/all", 1);
	assert_int_equal(http_token_make(&d, &token, &path), -ENOENT);
	assert_non_null(strstr(d.hint, "--token-file"));
	assert_null(token);
	if (before)
		setenv("TMPDIR", before, 1);
	else
		unsetenv("TMPDIR");
	free(before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_token_must_be_the_whole_token),
		cmocka_unit_test(a_token_file_holds_a_long_first_line),
		cmocka_unit_test(a_token_that_others_can_read_is_none),
		cmocka_unit_test(a_new_token_is_long_different_and_for_its_user_alone),
		cmocka_unit_test(without_a_place_there_is_no_token),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
