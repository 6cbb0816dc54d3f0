#include "../unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/text.h"
#include "tui/config.h"

/* The sample of scxtop's README: no perf_events, RecordTrace, AppStateEvent, a bare '-'. */
static const char sample[] =
	"theme = \"IAmBlue\"\ntick_rate_ms = 250\ndebug = false\nexclude_bpf = false\nworker_threads = 4\n\n"
	"[keymap]\nd = \"AppStateDefault\"\n\"?\" = \"AppStateHelp\"\n\"[\" = \"DecBpfSampleRate\"\n"
	"q = \"Quit\"\n\"+\" = \"IncTickRate\"\nu = \"ToggleUncoreFreq\"\n\"Page Down\" = \"PageDown\"\n"
	"S = \"SaveConfig\"\nUp = \"Up\"\nP = \"RecordTrace\"\n- = \"DecTickRate\"\n"
	"L = \"ToggleLocalization\"\nt = \"ChangeTheme\"\n\"]\" = \"IncBpfSampleRate\"\nDown = \"Down\"\n"
	"l = \"AppStateLlc\"\nk = \"NextEvent\"\na = \"RecordTrace\"\nj = \"PrevEvent\"\n"
	"v = \"NextViewState\"\nh = \"AppStateHelp\"\nn = \"AppStateNode\"\ns = \"AppStateScheduler\"\n"
	"e = \"AppStateEvent\"\nw = \"RecordTrace\"\nf = \"ToggleCpuFreq\"\nEnter = \"Enter\"\n"
	"\"Page Up\" = \"PageUp\"\nx = \"ClearEvent\"\n";

static unsigned int warnings;
static char last_warning[256];

static void on_log(void *ctx, enum log_level level, const char *line)
{
	(void)ctx;
	(void)level;
	warnings++;
	snprintf(last_warning, sizeof(last_warning), "%s", line);
}

static int hear(void **state)
{
	(void)state;
	warnings = 0;
	log_set_sink(on_log, NULL);
	return 0;
}

static int hear_no_more(void **state)
{
	(void)state;
	log_set_sink(NULL, NULL);
	return 0;
}

static void read_into(struct config *c, const char *text)
{
	struct diag d = { 0 };

	if (config_read(c, text, strlen(text), "test", &d))
		fail_msg("%s", d.what);
}

static void the_sample_of_the_readme_loads_as_it_stands(void **state)
{
	struct config c;

	(void)state;
	config_init(&c);
	read_into(&c, sample);
	expect_eq(warnings, 0);
	assert_string_equal(c.theme->name, "IAmBlue");
	expect_eq(c.tick_ms, 250);
	assert_ptr_equal(keymap_find(&c.keys, 'w'), action_find("RecordTrace"));
	assert_ptr_equal(keymap_find(&c.keys, '-'), action_find("DecTickRate"));
	assert_ptr_equal(keymap_find(&c.keys, 'e'), action_find("AppStatePerfEvent"));
	config_done(&c);
}

static void every_setting_of_scxtop_is_taken(void **state)
{
	struct config c;

	(void)state;
	config_init(&c);
	read_into(&c, "theme = 'dracula'\ntick_rate_ms = 500\nframe_rate_ms = 16\ndebug = true\n"
	              "exclude_bpf = true\nperf_events = [\"a:0x1:4\"]\nstats_socket_path = '/s'\n"
	              "trace_file_prefix = 'p'\ntrace_duration_ms = 10\ntrace_warmup_ms = 0\n"
	              "trace_ticks = 5\ntrace_tick_warmup = 3\nworker_threads = 8\n"
	              "default_profiling_event = 'perf:hw:cycles'\n"
	              "[keymap]\nw = 'SetState(Power)'\nb = 'SetState(BpfPrograms)'\n");
	expect_eq(warnings, 0);
	assert_string_equal(c.theme->name, "Dracula");
	expect_eq(c.tick_ms, 500);
	expect_eq(c.frame_ms, 16);
	assert_true(c.is_debug && c.has_no_bpf);
	assert_string_equal(c.stats_socket, "/s");
	assert_string_equal(c.trace_prefix, "p");
	expect_eq(c.trace_duration_ms, 10);
	expect_eq(c.trace_warmup_ms, 0);
	expect_eq(c.worker_threads, 8);
	assert_string_equal(c.default_event, "perf:hw:cycles");
	expect_eq(c.events.nr, 1);
	assert_string_equal(c.events.words[0], "a:0x1:4");
	assert_ptr_equal(keymap_find(&c.keys, 'w'), action_find("AppStatePower"));
	config_done(&c);
}

/* All settings; between two members stands anything. */
static void expect_same(const struct config *a, const struct config *b)
{
	assert_ptr_equal(a->theme, b->theme);
	expect_eq(a->tick_ms, b->tick_ms);
	expect_eq(a->frame_ms, b->frame_ms);
	expect_eq(a->is_debug, b->is_debug);
	expect_eq(a->has_no_bpf, b->has_no_bpf);
	assert_string_equal(a->stats_socket, b->stats_socket);
	assert_string_equal(a->trace_prefix, b->trace_prefix);
	expect_eq(a->trace_duration_ms, b->trace_duration_ms);
	expect_eq(a->trace_warmup_ms, b->trace_warmup_ms);
	expect_eq(a->worker_threads, b->worker_threads);
	assert_string_equal(a->default_event, b->default_event);
	expect_eq(a->events.nr, b->events.nr);
	for (size_t i = 0; i < a->events.nr; i++)
		assert_string_equal(a->events.words[i], b->events.words[i]);
	expect_eq(a->keys.nr, b->keys.nr);
	for (size_t i = 0; i < a->keys.nr; i++)
		assert_ptr_equal(keymap_find(&b->keys, a->keys.entries[i].key),
		                 a->keys.entries[i].action);
}

static void what_is_wrong_is_reported_and_left_out(void **state)
{
	static const char *const wrong[] = { "theme = 'Blau'",
		                             "theme = 1",
		                             "tick_rate_ms = 0",
		                             "debug = 1",
		                             "tick_rate_ms = -5",
		                             "unknown = 1",
		                             "[keymap]\nz = 'Fly'",
		                             "[keymap]\nF13 = 'Up'",
		                             "[x]\ntheme = 'Nord'",
		                             "frame_rate_ms = 99999999999",
		                             "[keymap]\nq = 1",
		                             "perf_events = ['a:0x1:4', 'b']",
		                             "perf_events = 'a:0x1:4'",
		                             "default_profiling_event = 'cycles'",
		                             "default_profiling_event = 1" };

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct config c, fresh;

		config_init(&c);
		config_init(&fresh);
		warnings = 0;
		read_into(&c, wrong[i]);
		expect_eq(warnings, 1);
		assert_non_null(strstr(last_warning, "test, line "));
		config_done(&c);
		expect_same(&c, &fresh);
	}
}

static void a_file_that_is_no_toml_changes_nothing(void **state)
{
	struct config c;
	struct diag d = { 0 };

	(void)state;
	config_init(&c);
	assert_int_equal(config_read(&c, "theme = 'Nord'\nx", 16, "test", &d), -EINVAL);
	assert_string_equal(c.theme->name, "Default");
	assert_non_null(strstr(d.what, "line 2"));
	config_done(&c);
}

static void what_was_saved_loads_again(void **state)
{
	struct config a, b;
	struct diag d = { 0 };
	char *text = NULL;

	(void)state;
	config_init(&a);
	config_init(&b);
	a.theme = theme_find("Nord");
	a.tick_ms = 1234;
	strcpy(a.trace_prefix, "with \"quotes\"");
	assert_int_equal(keymap_set(&a.keys, '"', action_find("AppStatePower")), 0);
	assert_int_equal(config_write(&a, &d, &text), 0);
	read_into(&b, text);
	expect_eq(warnings, 0);
	assert_non_null(strstr(text, "perf_events = []\n"));
	config_done(&a);
	config_done(&b);
	expect_same(&a, &b);
	free(text);
}

static void saving_keeps_comments_and_order(void **state)
{
	struct config c;
	struct diag d = { 0 };
	char *text = NULL;

	(void)state;
	config_init(&c);
	read_into(
		&c,
		"# mine\ntick_rate_ms = 250 # calm\ntheme = \"Nord\"\n\n[keymap]\n# z\nz = \"Quit\"\n");
	c.tick_ms = 300;
	assert_int_equal(config_write(&c, &d, &text), 0);
	assert_ptr_equal(strstr(text, "# mine\ntick_rate_ms = 300 # calm\ntheme = \"Nord\"\n"),
	                 text);
	assert_non_null(strstr(text, "\n[keymap]\n# z\nz = \"Quit\"\n"));
	free(text);
	config_done(&c);
}

static void write_file(const char *folder, const char *name, const char *text)
{
	char path[PATH_MAX];
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	*strrchr(path, '/') = '\0';
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	out = fopen(path, "w");
	assert_non_null(out);
	fputs(text, out);
	fclose(out);
}

static void our_file_goes_before_that_of_scxtop(void **state)
{
	char folder[] = "/tmp/test_config.XXXXXX", path[PATH_MAX], command[64];
	struct config c;
	struct diag d = { 0 };
	char *text = NULL;

	(void)state;
	assert_non_null(mkdtemp(folder));
	setenv("XDG_CONFIG_HOME", folder, 1);
	config_init(&c);
	assert_int_equal(config_load(&c, &d), 0);
	assert_null(c.file);
	write_file(folder, "scxtop/scxtop.toml", sample);
	assert_int_equal(config_load(&c, &d), 0);
	assert_string_equal(c.theme->name, "IAmBlue");
	assert_int_equal(config_write(&c, &d, &text), 0);
	assert_int_equal(config_store(text, &d, path), 0);
	free(text);
	assert_int_equal(text_read_file(path, TOML_MAX_BYTES, &text), 0);
	assert_non_null(strstr(text, "theme = \"IAmBlue\""));
	assert_non_null(strstr(path, "/schedscope/config.toml"));
	write_file(folder, "schedscope/config.toml", "theme = 'Nord'\n");
	assert_int_equal(config_load(&c, &d), 0);
	assert_string_equal(c.theme->name, "Nord");
	write_file(folder, "schedscope/config.toml", "theme = \n");
	assert_int_equal(config_load(&c, &d), -EINVAL);
	assert_non_null(strstr(d.what, "config.toml"));
	config_done(&c);
	free(text);
	unsetenv("XDG_CONFIG_HOME");
	snprintf(command, sizeof(command), "rm -r %s", folder);
	assert_int_equal(system(command), 0); /* NOLINT(cert-env33-c): our own folder */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_sample_of_the_readme_loads_as_it_stands, hear,
		                                hear_no_more),
		cmocka_unit_test_setup_teardown(every_setting_of_scxtop_is_taken, hear,
		                                hear_no_more),
		cmocka_unit_test_setup_teardown(what_is_wrong_is_reported_and_left_out, hear,
		                                hear_no_more),
		cmocka_unit_test_setup_teardown(a_file_that_is_no_toml_changes_nothing, hear,
		                                hear_no_more),
		cmocka_unit_test_setup_teardown(what_was_saved_loads_again, hear, hear_no_more),
		cmocka_unit_test_setup_teardown(saving_keeps_comments_and_order, hear,
		                                hear_no_more),
		cmocka_unit_test_setup_teardown(our_file_goes_before_that_of_scxtop, hear,
		                                hear_no_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
