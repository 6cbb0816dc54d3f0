#include "../unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/grid.h"
#include "tui/help.h"
#include "tui/keys.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* Of scxtop's newer versions; those of its README are in test_config. */
static void every_action_name_of_scxtop_is_known(void **state)
{
	static const char *const names[] = {
		"AppStateDefault",
		"AppStateProcess",
		"AppStateLlc",
		"AppStateNode",
		"AppStateScheduler",
		"AppStateBpfPrograms",
		"SetState(BpfPrograms)",
		"AppStateBandwidth",
		"AppStateMemory",
		"SetState(Memory)",
		"AppStateNetwork",
		"SetState(Power)",
		"AppStatePerfTop",
		"SetState(PerfTop)",
		"AppStateMangoApp",
		"AppStatePerfEvent",
		"AppStateKprobeEvent",
		"AppStateHelp",
		"AppStatePause",
		"AppStateTracing",
		"Filter",
		"NextViewState",
		"PrevEvent",
		"NextEvent",
		"ClearEvent",
		"RequestTrace",
		"RecordTrace",
		"AppStateEvent",
		"ToggleCpuFreq",
		"ToggleUncoreFreq",
		"ToggleLocalization",
		"ToggleHwPressure",
		"ChangeTheme",
		"SaveConfig",
		"DecTickRate",
		"IncTickRate",
		"DecBpfSampleRate",
		"IncBpfSampleRate",
		"Up",
		"Down",
		"PageUp",
		"PageDown",
		"Enter",
		"Esc",
		"Backspace",
		"Quit",
		"PerfSampleRateIncrease",
		"PerfSampleRateDecrease",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!action_find(names[i]))
			fail_msg("%s is unknown", names[i]);
	assert_null(action_find(""));
	assert_null(action_find("Qui"));
	assert_null(action_find("SetState(Default) "));
	assert_ptr_equal(action_find("RequestTrace"), action_find("RecordTrace"));
}

static void every_state_loads_under_both_names(void **state)
{
	static const char *const states[] = { "Bandwidth", "BpfPrograms", "BpfProgramDetail",
		                              "Default",   "Help",        "KprobeEvent",
		                              "Llc",       "MangoApp",    "Memory",
		                              "Network",   "Node",        "Pause",
		                              "PerfEvent", "PerfTop",     "Power",
		                              "Process",   "Scheduler",   "Tracing" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(states); i++) {
		char a[64], b[64];

		snprintf(a, sizeof(a), "AppState%s", states[i]);
		snprintf(b, sizeof(b), "SetState(%s)", states[i]);
		assert_non_null(action_find(a));
		assert_ptr_equal(action_find(a), action_find(b));
	}
}

static void the_default_keys_are_those_of_the_readme(void **state)
{
	static const char *const pairs[][2] = {
		{ "d", "AppStateDefault" },
		{ "?", "AppStateHelp" },
		{ "[", "DecBpfSampleRate" },
		{ "q", "Quit" },
		{ "+", "IncTickRate" },
		{ "u", "ToggleUncoreFreq" },
		{ "Page Down", "PageDown" },
		{ "S", "SaveConfig" },
		{ "Up", "Up" },
		{ "P", "RecordTrace" },
		{ "-", "DecTickRate" },
		{ "L", "ToggleLocalization" },
		{ "t", "ChangeTheme" },
		{ "]", "IncBpfSampleRate" },
		{ "Down", "Down" },
		{ "l", "AppStateLlc" },
		{ "k", "NextEvent" },
		{ "a", "RecordTrace" },
		{ "j", "PrevEvent" },
		{ "v", "NextViewState" },
		{ "h", "AppStateHelp" },
		{ "n", "AppStateNode" },
		{ "s", "AppStateScheduler" },
		{ "e", "AppStateEvent" },
		{ "w", "RecordTrace" },
		{ "f", "ToggleCpuFreq" },
		{ "Enter", "Enter" },
		{ "Page Up", "PageUp" },
		{ "x", "ClearEvent" },
		/* of newer versions, where the README has nothing against it */
		{ "p", "AppStateProcess" },
		{ "b", "AppStateBpfPrograms" },
		{ "B", "AppStateBandwidth" },
		{ "M", "AppStateMemory" },
		{ "N", "AppStateNetwork" },
		{ "T", "AppStatePerfTop" },
		{ "m", "AppStateMangoApp" },
		{ "K", "AppStateKprobeEvent" },
		{ "Space", "AppStatePause" },
		{ "F", "ToggleCpuFreq" },
		{ "Esc", "Esc" },
		{ "Backspace", "Backspace" },
		{ "Q", "Quit" },
	};
	struct keymap map;

	(void)state;
	keymap_init(&map);
	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++)
		if (keymap_find(&map, key_from_text(pairs[i][0])) != action_find(pairs[i][1]))
			fail_msg("%s is not %s", pairs[i][0], pairs[i][1]);
}

static void no_key_has_two_meanings(void **state)
{
	struct keymap map;

	(void)state;
	keymap_init(&map);
	for (size_t i = 0; i < map.nr; i++) {
		assert_true(map.entries[i].key != KEY_NONE);
		for (size_t k = 0; k < i; k++)
			assert_true(map.entries[i].key != map.entries[k].key);
	}
}

static void keys_are_written_as_they_are_read(void **state)
{
	struct keymap map;
	char text[KEY_TEXT];

	(void)state;
	keymap_init(&map);
	for (size_t i = 0; i < map.nr; i++)
		expect_eq(key_from_text(key_to_text(map.entries[i].key, text)), map.entries[i].key);
	expect_eq(key_from_text("page up"), KEY_OF_PAGE_UP);
	expect_eq(key_from_text("ESCAPE"), KEY_OF_ESC);
	expect_eq(key_from_text("ctrl-c"), 3);
	expect_eq(key_from_text("\xc3\xa9"), 0xe9);
	assert_string_equal(key_to_text(0xe9, text), "\xc3\xa9");
	assert_string_equal(key_to_text(0x20ac, text), "\xe2\x82\xac");
	assert_string_equal(key_to_text(0x1f600, text), "\xf0\x9f\x98\x80");
	expect_eq(key_from_text(""), KEY_NONE);
	expect_eq(key_from_text("ab"), KEY_NONE);
	expect_eq(key_from_text("\x1b"), KEY_NONE);
	expect_eq(key_from_text("\xff"), KEY_NONE);
	expect_eq(key_from_text("Ctrl-M"), KEY_NONE);
}

static void a_key_can_be_given_another_meaning(void **state)
{
	struct keymap map;

	(void)state;
	keymap_init(&map);
	expect_eq(keymap_set(&map, 'd', action_find("Quit")), 0);
	assert_ptr_equal(keymap_find(&map, 'd'), action_find("Quit"));
	assert_null(keymap_find(&map, 0x20ac));
	for (uint32_t key = 0x4000; map.nr < KEYMAP_MAX; key++)
		expect_eq(keymap_set(&map, key, action_find("Quit")), 0);
	expect_eq(keymap_set(&map, 0x3fff, action_find("Quit")), (uintmax_t)-E2BIG);
	expect_eq(keymap_set(&map, 0x4000, action_find("Up")), 0);
}

static void the_help_shows_every_key_once(void **state)
{
	struct keymap map;
	struct grid g;
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	(void)state;
	keymap_init(&map);
	assert_int_equal(grid_init(&g, 120, (uint16_t)help_lines(&map)), 0);
	help_draw(&map, 0, &g, (struct area){ 0, 0, g.width, g.height });
	grid_print(&g, out);
	fclose(out);
	for (size_t i = 0; i < nr_actions; i++) {
		const char *found = strstr(text, actions[i].what);

		assert_true(!found == !*actions[i].keys);
	}
	assert_non_null(strstr(text, " q, Q, Ctrl-C "));
	assert_non_null(strstr(text, "Views\n"));
	free(text);
	grid_done(&g);
}

static void the_help_follows_the_settings(void **state)
{
	struct keymap map;
	char keys[64];

	(void)state;
	keymap_init(&map);
	expect_eq(keymap_set(&map, 'd', action_find("Quit")), 0);
	assert_string_equal(
		keymap_keys_of(&map, action_find("AppStateDefault"), keys, sizeof(keys)), "");
	assert_string_equal(keymap_keys_of(&map, action_find("Quit"), keys, sizeof(keys)),
	                    "d, q, Q, Ctrl-C");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_action_name_of_scxtop_is_known),
		cmocka_unit_test(every_state_loads_under_both_names),
		cmocka_unit_test(the_default_keys_are_those_of_the_readme),
		cmocka_unit_test(no_key_has_two_meanings),
		cmocka_unit_test(keys_are_written_as_they_are_read),
		cmocka_unit_test(a_key_can_be_given_another_meaning),
		cmocka_unit_test(the_help_shows_every_key_once),
		cmocka_unit_test(the_help_follows_the_settings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
