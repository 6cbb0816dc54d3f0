/*
 * The recorder beside the screen. It is started as /proc/self/exe, which is this program: with "record" as its first word
 * it plays the recorder, as PLAY in the environment says.
 */
#include "../unit.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/top_record.h"
#include "cli/top_report.h"
#include "sys/rights/privilege.h"
#include "tui/config.h"

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
	/* Words are reported as they came, then a warning. */
	for (int i = 2; i < argc; i++)
		fprintf(stderr, "%s%s", i > 2 ? " " : "", argv[i]);
	fprintf(stderr, "\nschedscope: warning: 3 events lost\n");
	return 0;
}

struct harness {
	char folder[64], prefix[96];
	struct top_record r;
	char text[256];
};

static int set_up(void **state)
{
	struct harness *h = calloc(1, sizeof(*h));

	assert_non_null(h);
	strcpy(h->folder, "/tmp/top-record-XXXXXX");
	assert_non_null(mkdtemp(h->folder));
	snprintf(h->prefix, sizeof(h->prefix), "%s/t", h->folder);
	h->r.helper =
		(struct top_helper){ .prefix = h->prefix, .duration_ms = 700, .keep_ms = 5000 };
	*state = h;
	return 0;
}

static int tear_down(void **state)
{
	struct harness *h = *state;
	char command[128];

	top_record_close(&h->r);
	snprintf(command, sizeof(command), "rm -r %s", h->folder);
	expect_eq(system(command), 0);
	free(h);
	return 0;
}

static void start(struct harness *h, const char *part)
{
	struct diag d = { 0 };

	setenv("PLAY", part, 1);
	expect_eq(top_record_start(&h->r, h->text, sizeof(h->text), &d), 0);
}

/* The next news; the runner's limit ends a test that waits for ever. */
static const char *message(struct harness *h)
{
	while (!top_record_message(&h->r, h->text, sizeof(h->text)))
		nap();
	return h->text;
}

static void a_key_records_for_a_while_and_the_path_comes_last(void **state)
{
	struct harness *h = *state;
	char want[256];

	start(h, "say");
	snprintf(want, sizeof(want),
	         "recording 700 ms to %s_0.pftrace from now on: nothing before the key is included",
	         h->prefix);
	assert_string_equal(h->text, want);
	assert_string_equal(message(h), "recorder: warning: 3 events lost");
	snprintf(want, sizeof(want), "recorded --trace-ms=700 --parent=%d --output=%s_0.pftrace",
	         (int)getpid(), h->prefix);
	assert_string_equal(message(h), want);
	expect_eq(h->r.run, TOP_RECORD_NONE);
	assert_false(top_record_message(&h->r, h->text, sizeof(h->text)));
}

static void no_file_is_ever_overwritten(void **state)
{
	struct harness *h = *state;
	char path[128], want[256];
	int fd;

	snprintf(path, sizeof(path), "%s_0.pftrace", h->prefix);
	fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	close(fd);
	start(h, "say");
	snprintf(want, sizeof(want), "recording 700 ms to %s_1.pftrace", h->prefix);
	assert_non_null(strstr(h->text, want));
}

static void a_second_key_says_that_the_first_still_counts(void **state)
{
	struct harness *h = *state;
	char want[256];
	pid_t pid;

	start(h, "keep");
	pid = h->r.pid;
	start(h, "say");
	snprintf(want, sizeof(want), "still recording to %s_0.pftrace", h->prefix);
	assert_string_equal(h->text, want);
	expect_eq(h->r.pid, pid);
}

static void why_nothing_was_recorded_is_reported(void **state)
{
	struct harness *h = *state;

	start(h, "fail");
	assert_string_equal(message(h), "not recorded: cannot record: no rights");
	while (h->r.run) {
		assert_false(top_record_message(&h->r, h->text, sizeof(h->text)));
		nap();
	}
}

static void an_armed_recorder_writes_what_was_before_the_key(void **state)
{
	struct harness *h = *state;
	struct diag d = { 0 };

	h->r.is_armed_at_start = true;
	setenv("PLAY", "keep", 1);
	expect_eq(top_record_open(&h->r, &d), 0);
	expect_eq(h->r.run, TOP_RECORD_KEEP);
	/* At once: the signal waits for the recorder. */
	expect_eq(top_record_start(&h->r, h->text, sizeof(h->text), &d), 0);
	assert_non_null(strstr(h->text, "writing the last 5.0 s and the next 0.7 s"));
	assert_string_equal(message(h), "recorded kept-1.pftrace");
	expect_eq(top_record_start(&h->r, h->text, sizeof(h->text), &d), 0);
	assert_string_equal(message(h), "recorded kept-1.pftrace");
	expect_eq(h->r.run, TOP_RECORD_KEEP);
	top_record_close(&h->r);
	expect_eq(h->r.run, TOP_RECORD_NONE);
	top_record_close(&h->r);
}

static const char *arm(struct harness *h)
{
	struct diag d = { 0 };

	expect_eq(top_record_arm(&h->r, h->text, sizeof(h->text), &d), 0);
	return h->text;
}

static void wait_for_end(struct harness *h)
{
	while (h->r.run) {
		assert_false(top_record_message(&h->r, h->text, sizeof(h->text)));
		nap();
	}
}

static void a_key_arms_the_recorder_and_ends_it(void **state)
{
	struct harness *h = *state;
	struct diag d = { 0 };
	double cpu = 0;
	pid_t pid;

	setenv("PLAY", "keep", 1);
	expect_eq(top_record_open(&h->r, &d), 0);
	assert_true(top_record_kept(&h->r, &cpu) == 0);
	assert_non_null(strstr(arm(h), "flight recorder armed: it keeps the last 5.0 s"));
	pid = h->r.pid;
	assert_true(top_record_kept(&h->r, &cpu) == 5 && isnan(cpu));
	h->r.checked_ns -= 1000000000U; /* a second later */
	assert_true(top_record_kept(&h->r, &cpu) == 5 && cpu >= 0 && cpu < 1);
	assert_string_equal(arm(h), "the flight recorder is off");
	assert_true(top_record_kept(&h->r, &cpu) == 0);
	wait_for_end(h);
	expect_eq(kill(pid, 0), -1);
	/* From then on a key records what comes, and leaves no room for another recorder. */
	start(h, "keep");
	expect_eq(h->r.run, TOP_RECORD_ONCE);
	assert_non_null(strstr(arm(h), "arm the flight recorder afterwards"));
}

static void without_being_asked_for_nothing_starts(void **state)
{
	struct harness *h = *state;
	struct diag d = { 0 };

	setenv("PLAY", "keep", 1);
	expect_eq(top_record_open(&h->r, &d), 0);
	expect_eq(h->r.run, TOP_RECORD_NONE);
	assert_false(top_record_message(&h->r, h->text, sizeof(h->text)));
}

static void a_recorder_that_cannot_run_says_why_and_the_key_records(void **state)
{
	struct harness *h = *state;
	struct diag d = { 0 };

	h->r.is_armed_at_start = true;
	setenv("PLAY", "fail", 1);
	expect_eq(top_record_open(&h->r, &d), 0);
	assert_string_equal(message(h), "not recorded: cannot record: no rights");
	wait_for_end(h);
	start(h, "say");
	expect_eq(h->r.run, TOP_RECORD_ONCE);
}

static void a_line_without_end_is_cut(void **state)
{
	struct harness *h = *state;
	size_t nr_reported = 0;

	start(h, "endless");
	while (h->r.run) {
		if (top_record_message(&h->r, h->text, sizeof(h->text))) {
			assert_true(strlen(h->text) < sizeof(h->text));
			nr_reported++;
		}
		nap();
	}
	assert_true(nr_reported > 0);
}

/* In a child: after rights were given up, in a folder that only root may write to. */
static int use_helper(struct harness *h)
{
	char path[PATH_MAX], want[256];
	struct diag d = { 0 };

	setenv("XDG_CONFIG_HOME", h->folder, 1);
	setenv("PLAY", "say", 1); /* what the helper starts has the environment of its own start */
	if (top_record_open(&h->r, &d) || !h->r.helper.pid || privilege_drop(0, &d))
		return 1;
	if (config_store("theme = 'Nord'\n", &d, path) == 0)
		return 2;
	if (top_helper_save(&h->r.helper, "theme = 'Nord'\n", &d, path) || !strstr(path, h->folder))
		return 3;
	start(h, "say");
	if (strcmp(message(h), "recorder: warning: 3 events lost") != 0)
		return 4;
	snprintf(want, sizeof(want), "recorded --trace-ms=700 --parent=%d --output=%s_0.pftrace",
	         (int)h->r.helper.pid, h->prefix);
	if (strcmp(message(h), want) != 0 || h->r.run)
		return 5;
	top_record_close(&h->r);
	return h->r.helper.pid ? 6 : 0;
}

static void without_rights_another_process_records_and_saves(void **state)
{
	struct harness *h = *state;
	char path[128];
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0)
		_exit(use_helper(h));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	expect_eq(status, 0);
	snprintf(path, sizeof(path), "%s/schedscope/config.toml", h->folder);
	expect_eq(access(path, R_OK), 0);
}

#define BROKEN "not events"

/* As "report - -o -" does: what it reads is the recording, what it writes the page. */
static int play_report(void)
{
	char text[64];
	ssize_t len = read(STDIN_FILENO, text, sizeof(text));

	if (len <= 0 || write(STDOUT_FILENO, text, (size_t)len) != len)
		return 1;
	if (strncmp(text, BROKEN, strlen(BROKEN)) == 0) {
		fprintf(stderr, "schedscope: error: this is no recording\n");
		return 2;
	}
	fprintf(stderr, "standard output: 1.0 kB; web waited behind hog\n");
	return 0;
}

static void make_file(const char *path, const char *text)
{
	FILE *out = fopen(path, "w");

	assert_non_null(out);
	fputs(text, out);
	assert_int_equal(fclose(out), 0);
}

static void a_report_follows_its_recording(void **state)
{
	struct harness *h = *state;
	struct top_report r = { .is_wanted = true };
	char path[128], page[128], message[256], text[256] = "", wanted[256];
	FILE *in;

	snprintf(path, sizeof(path), "%s_0.pftrace", h->prefix);
	snprintf(page, sizeof(page), "%s_0.html", h->prefix);
	make_file(path, "events");
	top_report_see(&r, &h->r.helper, "recorder: a warning");
	assert_true(r.is_wanted);
	snprintf(message, sizeof(message), "recorded %s: 1.0 s, 5 events", path);
	top_report_see(&r, &h->r.helper, message);
	assert_false(r.is_wanted);
	for (int i = 0; i < 10000 && !top_report_message(&r, text, sizeof(text)); i++)
		nap();
	snprintf(wanted, sizeof(wanted), "report %s; web waited behind hog", page);
	assert_string_equal(text, wanted);
	assert_false(top_report_message(&r, text, sizeof(text)));
	in = fopen(page, "r");
	assert_non_null(in);
	assert_non_null(fgets(text, sizeof(text), in));
	assert_string_equal(text, "events");
	fclose(in);
	top_report_close(&r);
}

static void a_report_that_fails_says_why_and_leaves_no_page(void **state)
{
	struct harness *h = *state;
	struct top_report r = { .is_wanted = true };
	char path[128], page[128], message[256], text[256] = "";

	snprintf(path, sizeof(path), "%s_0.pftrace", h->prefix);
	snprintf(page, sizeof(page), "%s_0.html", h->prefix);
	make_file(path, BROKEN);
	snprintf(message, sizeof(message), "recorded %s: 1.0 s, 5 events", path);
	top_report_see(&r, &h->r.helper, message);
	for (int i = 0; i < 10000 && !top_report_message(&r, text, sizeof(text)); i++)
		nap();
	assert_string_equal(text, "no report: schedscope: error: this is no recording");
	assert_int_equal(access(page, F_OK), -1);
	top_report_close(&r);
}

/* The process that opens them has rights: it opens nothing else. */
static void only_recordings_of_the_screen_get_one(void **state)
{
	struct harness *h = *state;
	char path[128], page[128];

	expect_eq(top_helper_report(&h->r.helper, "/etc/passwd", STDERR_FILENO), -EINVAL);
	snprintf(path, sizeof(path), "%s/../x.pftrace", h->prefix);
	expect_eq(top_helper_report(&h->r.helper, path, STDERR_FILENO), -EINVAL);
	snprintf(path, sizeof(path), "%s_0.html", h->prefix);
	expect_eq(top_helper_report(&h->r.helper, path, STDERR_FILENO), -EINVAL);
	snprintf(path, sizeof(path), "%s_0.pftrace", h->prefix);
	expect_eq(top_helper_report(&h->r.helper, path, STDERR_FILENO), -ENOENT);
	assert_int_equal(symlink("/etc/passwd", path), 0);
	expect_eq(top_helper_report(&h->r.helper, path, STDERR_FILENO), -ELOOP);
	assert_int_equal(unlink(path), 0);
	make_file(path, "events");
	snprintf(page, sizeof(page), "%s_0.html", h->prefix);
	make_file(page, "mine");
	expect_eq(top_helper_report(&h->r.helper, path, STDERR_FILENO), -EEXIST);
}

int main(int argc, char **argv)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		CASE(a_key_records_for_a_while_and_the_path_comes_last),
		CASE(no_file_is_ever_overwritten),
		CASE(a_second_key_says_that_the_first_still_counts),
		CASE(why_nothing_was_recorded_is_reported),
		CASE(an_armed_recorder_writes_what_was_before_the_key),
		CASE(a_key_arms_the_recorder_and_ends_it),
		CASE(without_being_asked_for_nothing_starts),
		CASE(a_recorder_that_cannot_run_says_why_and_the_key_records),
		CASE(a_line_without_end_is_cut),
		CASE(a_report_follows_its_recording),
		CASE(a_report_that_fails_says_why_and_leaves_no_page),
		CASE(only_recordings_of_the_screen_get_one),
		{ geteuid() == 0
		          ? "without_rights_another_process_records_and_saves"
		          : "without_rights_another_process_records_and_saves # SKIP needs root",
		  geteuid() == 0 ? without_rights_another_process_records_and_saves : unit_skipped,
		  set_up, tear_down, NULL },
	};

	if (argc > 1 && strcmp(argv[1], "record") == 0)
		return play(argc, argv);
	if (argc > 1 && strcmp(argv[1], "report") == 0)
		return play_report();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
