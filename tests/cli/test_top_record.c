/*
 * The recorder beside the screen. It is started as /proc/self/exe, which is this program: with "record" as its first word
 * it plays the recorder, as PLAY in the environment says.
 */
#include "../unit.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/top_record.h"

static void nap(void)
{
	const struct timespec ms = { 0, 1000000 };

	nanosleep(&ms, NULL);
}

static int play_keeper(void)
{
	sigset_t set;
	int number;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	while (sigwait(&set, &number) == 0 && number == SIGUSR2)
		fprintf(stderr, "kept-1.pftrace\n");
	return 0;
}

static int play(int argc, char **argv)
{
	const char *part = getenv("PLAY");

	if (strcmp(part, "keep") == 0)
		return play_keeper();
	if (strcmp(part, "fail") == 0) {
		fprintf(stderr, "schedscope: cannot record: no rights\n");
		return 1;
	}
	if (strcmp(part, "endless") == 0) {
		for (int i = 0; i < 5000; i++)
			fputc('x', stderr);
		return 0;
	}
	/* Words are told as they came, then a warning. */
	for (int i = 2; i < argc; i++)
		fprintf(stderr, "%s%s", i > 2 ? " " : "", argv[i]);
	fprintf(stderr, "\nschedscope: warning: 3 events lost\n");
	return 0;
}

struct desk {
	char folder[64], prefix[96];
	struct top_record r;
	char text[256];
};

static int sit_down(void **state)
{
	struct desk *k = calloc(1, sizeof(*k));

	assert_non_null(k);
	strcpy(k->folder, "/tmp/top-record-XXXXXX");
	assert_non_null(mkdtemp(k->folder));
	snprintf(k->prefix, sizeof(k->prefix), "%s/t", k->folder);
	k->r = (struct top_record){ .prefix = k->prefix, .duration_ms = 700 };
	*state = k;
	return 0;
}

static int stand_up(void **state)
{
	struct desk *k = *state;
	char command[128];

	top_record_close(&k->r);
	snprintf(command, sizeof(command), "rm -r %s", k->folder);
	expect_eq(system(command), 0);
	free(k);
	return 0;
}

static void start(struct desk *k, const char *part)
{
	struct diag d = { 0 };

	setenv("PLAY", part, 1);
	expect_eq(top_record_start(&k->r, k->text, sizeof(k->text), &d), 0);
}

/* The next news; the runner's limit ends a test that waits for ever. */
static const char *news(struct desk *k)
{
	while (!top_record_news(&k->r, k->text, sizeof(k->text)))
		nap();
	return k->text;
}

static void a_key_records_for_a_while_and_the_path_comes_last(void **state)
{
	struct desk *k = *state;
	char want[256];

	start(k, "say");
	snprintf(want, sizeof(want), "recording 700 ms to %s_0.pftrace", k->prefix);
	assert_string_equal(k->text, want);
	assert_string_equal(news(k), "recorder: warning: 3 events lost");
	snprintf(want, sizeof(want), "recorded --trace-ms=700 --parent=%d --output=%s_0.pftrace",
	         (int)getpid(), k->prefix);
	assert_string_equal(news(k), want);
	expect_eq(k->r.pid, 0);
	assert_false(top_record_news(&k->r, k->text, sizeof(k->text)));
}

static void no_file_is_ever_overwritten(void **state)
{
	struct desk *k = *state;
	char path[128], want[256];
	int fd;

	snprintf(path, sizeof(path), "%s_0.pftrace", k->prefix);
	fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	close(fd);
	start(k, "say");
	snprintf(want, sizeof(want), "recording 700 ms to %s_1.pftrace", k->prefix);
	assert_string_equal(k->text, want);
}

static void a_second_key_says_that_the_first_still_counts(void **state)
{
	struct desk *k = *state;
	char want[256];
	pid_t pid;

	start(k, "keep");
	pid = k->r.pid;
	start(k, "say");
	snprintf(want, sizeof(want), "still recording to %s_0.pftrace", k->prefix);
	assert_string_equal(k->text, want);
	expect_eq(k->r.pid, pid);
}

static void why_nothing_was_recorded_is_told(void **state)
{
	struct desk *k = *state;

	start(k, "fail");
	assert_string_equal(news(k), "not recorded: cannot record: no rights");
	while (k->r.pid) {
		assert_false(top_record_news(&k->r, k->text, sizeof(k->text)));
		nap();
	}
}

static void with_keeping_a_key_writes_what_was_before_it(void **state)
{
	struct desk *k = *state;
	struct diag d = { 0 };

	k->r.keep_ms = 5000;
	k->r.is_asked = true;
	setenv("PLAY", "keep", 1);
	expect_eq(top_record_open(&k->r, &d), 0);
	assert_true(k->r.pid > 0);
	/* At once: the signal waits for the recorder. */
	expect_eq(top_record_start(&k->r, k->text, sizeof(k->text), &d), 0);
	assert_non_null(strstr(k->text, "writing the last 5.0 s"));
	assert_string_equal(news(k), "recorded kept-1.pftrace");
	expect_eq(top_record_start(&k->r, k->text, sizeof(k->text), &d), 0);
	assert_string_equal(news(k), "recorded kept-1.pftrace");
	assert_true(k->r.pid > 0);
	top_record_close(&k->r);
	expect_eq(k->r.pid, 0);
	top_record_close(&k->r);
}

static void without_keeping_nothing_starts_by_itself(void **state)
{
	struct desk *k = *state;
	struct diag d = { 0 };

	expect_eq(top_record_open(&k->r, &d), 0);
	expect_eq(k->r.pid, 0);
	assert_false(top_record_news(&k->r, k->text, sizeof(k->text)));
}

static void keeping_that_nobody_asked_for_fails_in_silence(void **state)
{
	struct desk *k = *state;
	struct diag d = { 0 };

	k->r.keep_ms = 5000;
	setenv("PLAY", "fail", 1);
	expect_eq(top_record_open(&k->r, &d), 0);
	while (k->r.pid) {
		assert_false(top_record_news(&k->r, k->text, sizeof(k->text)));
		nap();
	}
	/* From then on a key records as without keeping. */
	expect_eq(k->r.keep_ms, 0);
}

static void a_line_without_end_is_cut(void **state)
{
	struct desk *k = *state;
	size_t told = 0;

	start(k, "endless");
	while (k->r.pid) {
		if (top_record_news(&k->r, k->text, sizeof(k->text))) {
			assert_true(strlen(k->text) < sizeof(k->text));
			told++;
		}
		nap();
	}
	assert_true(told > 0);
}

int main(int argc, char **argv)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, sit_down, stand_up)
	const struct CMUnitTest tests[] = {
		CASE(a_key_records_for_a_while_and_the_path_comes_last),
		CASE(no_file_is_ever_overwritten),
		CASE(a_second_key_says_that_the_first_still_counts),
		CASE(why_nothing_was_recorded_is_told),
		CASE(with_keeping_a_key_writes_what_was_before_it),
		CASE(without_keeping_nothing_starts_by_itself),
		CASE(keeping_that_nobody_asked_for_fails_in_silence),
		CASE(a_line_without_end_is_cut),
	};

	if (argc > 1 && strcmp(argv[1], "record") == 0)
		return play(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
