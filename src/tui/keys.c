#include "tui/keys.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/utf8.h"

#define VIEWS  "Views"
#define SHOW   "What is shown"
#define MOVE   "Moving"
#define EVENTS "Events and traces"
#define PLAY   "In a recording"
#define OTHER  "Program"

/*
 * Where versions of scxtop differ, its README wins: P, a and w record, f shows frequencies. What lost its key by that has
 * another: / filters, W is power, H hardware pressure.
 */
/* clang-format off */
const struct action_entry actions[] = {
	{ VIEWS, "AppStateDefault", "SetState(Default)", ACTION_VIEW, "Default", "d", "CPUs and processes" },
	{ VIEWS, "AppStateLlc", "SetState(Llc)", ACTION_VIEW, "Llc", "l", "last-level caches" },
	{ VIEWS, "AppStateNode", "SetState(Node)", ACTION_VIEW, "Node", "n", "NUMA nodes" },
	{ VIEWS, "AppStateProcess", "SetState(Process)", ACTION_PROCESS, "Process", "p", "processes; Enter shows the threads of one; in a BPF program: sample it" },
	{ VIEWS, "AppStateThreads", "SetState(Threads)", ACTION_VIEW, "Threads", "y", "threads" },
	{ VIEWS, "AppStateScheduler", "SetState(Scheduler)", ACTION_VIEW, "Scheduler", "s", "the scheduler and its queues" },
	{ VIEWS, "AppStateHeat", "SetState(Heat)", ACTION_VIEW, "Heat", "i", "wakeup latency over time, as a heat map" },
	{ VIEWS, "AppStateBlame", "SetState(Blame)", ACTION_VIEW, "Blame", "!", "who keeps whom waiting; live it records events" },
	{ VIEWS, "AppStateTimeline", "SetState(Timeline)", ACTION_VIEW, "Timeline", "I", "which task each CPU ran, and how many waited; live it records events" },
	{ VIEWS, "AppStateBpfPrograms", "SetState(BpfPrograms)", ACTION_VIEW, "BpfPrograms", "b", "BPF programs and their cost; Enter shows one" },
	{ VIEWS, "AppStateMemory", "SetState(Memory)", ACTION_MEMORY, "Memory", "M", "memory and pressure: beside the CPUs, then alone" },
	{ VIEWS, "AppStateNetwork", "SetState(Network)", ACTION_NETWORK, "Network", "N", "network interfaces: beside the CPUs, then alone" },
	{ VIEWS, "AppStateBandwidth", "SetState(Bandwidth)", ACTION_VIEW, "Bandwidth", "B", "memory bandwidth" },
	{ VIEWS, "AppStatePower", "SetState(Power)", ACTION_VIEW, "Power", "W", "power and temperatures" },
	{ VIEWS, "AppStatePerfTop", "SetState(PerfTop)", ACTION_VIEW, "PerfTop", "T", "CPU profile: hottest functions" },
	{ VIEWS, "AppStateMangoApp", "SetState(MangoApp)", ACTION_VIEW, "MangoApp", "m", "frames of a game" },
	{ VIEWS, "AppStatePerfEvent", "AppStateEvent SetState(PerfEvent) SetState(Event)", ACTION_VIEW, "PerfEvent", "e", "choose an event to count" },
	{ VIEWS, "AppStateKprobeEvent", "SetState(KprobeEvent)", ACTION_VIEW, "KprobeEvent", "K", "choose a kernel function" },
	{ VIEWS, "AppStateTracing", "SetState(Tracing)", ACTION_UNAVAILABLE,
		"a recording does not take over the screen: the log names its file", "", "nothing: recording runs beside the screen" },
	{ VIEWS, "AppStateBpfProgramDetail", "SetState(BpfProgramDetail)", ACTION_VIEW, "BpfProgramDetail", "", "one BPF program" },
	{ VIEWS, "AppStateHelp", "SetState(Help)", ACTION_HELP, NULL, "h ?", "this help" },
	{ VIEWS, "ToggleLog", NULL, ACTION_LOG, NULL, "O", "log and lost events" },

	{ SHOW, "AppStatePause", "SetState(Pause) Pause", ACTION_FREEZE, NULL, "Space",
		"freeze the screen; a recording pauses or plays" },
	{ SHOW, "Filter", NULL, ACTION_FILTER, NULL, "/", "filter by name, pid, cgroup or state; Enter keeps, Esc clears" },
	{ SHOW, "NextViewState", NULL, ACTION_SHAPE, NULL, "v Tab", "bars, sparklines, table" },
	{ SHOW, "NextGroup", NULL, ACTION_GROUP, NULL, "c", "by CPU, cache, node" },
	{ SHOW, "NextTaskGroup", NULL, ACTION_TASK_GROUP, NULL, "C", "processes: one by one, by name, by cgroup, as a tree" },
	{ SHOW, "NextSort", NULL, ACTION_SORT_NEXT, NULL, ">", "sort by the next column" },
	{ SHOW, "PrevSort", NULL, ACTION_SORT_PREVIOUS, NULL, "<", "sort by the previous column" },
	{ SHOW, "ReverseSort", NULL, ACTION_SORT_REVERSE, NULL, "r", "reverse sort" },
	{ SHOW, "ToggleCpuFreq", NULL, ACTION_FREQUENCY, NULL, "f F", "frequencies of CPUs" },
	{ SHOW, "ToggleLocalization", NULL, ACTION_LOCALIZE, NULL, "L", "separate thousands" },
	{ SHOW, "ToggleUncoreFreq", NULL, ACTION_UNCORE, NULL, "u", "uncore frequencies, in the panels of CPUs" },
	{ SHOW, "ToggleHwPressure", NULL, ACTION_PRESSURE, NULL, "H", "hardware pressure, in the panels of CPUs" },
	{ SHOW, "ChangeTheme", NULL, ACTION_THEME, NULL, "t", "next theme" },
	{ SHOW, "DecTickRate", NULL, ACTION_FASTER, NULL, "-", "shorter intervals; in a recording: half the step" },
	{ SHOW, "IncTickRate", NULL, ACTION_SLOWER, NULL, "+ =", "longer intervals; in a recording: twice the step" },

	{ MOVE, "Up", NULL, ACTION_UP, NULL, "Up", "row up; also k in a table" },
	{ MOVE, "Down", NULL, ACTION_DOWN, NULL, "Down", "row down; also j in a table" },
	{ MOVE, "Left", NULL, ACTION_LEFT, NULL, "Left", "sort by the previous column; in a recording one interval back" },
	{ MOVE, "Right", NULL, ACTION_RIGHT, NULL, "Right", "sort by the next column; in a recording one interval forward" },
	{ MOVE, "PageUp", NULL, ACTION_PAGE_UP, NULL, "PageUp Ctrl-U Ctrl-B", "page up" },
	{ MOVE, "PageDown", NULL, ACTION_PAGE_DOWN, NULL, "PageDown Ctrl-D Ctrl-F", "page down" },
	{ MOVE, "Home", NULL, ACTION_HOME, NULL, "Home g", "first row" },
	{ MOVE, "End", NULL, ACTION_END, NULL, "End G", "last row" },
	{ MOVE, "Enter", NULL, ACTION_ENTER, NULL, "Enter", "open the row: threads of a process, then one thread; explain the wait in the second line" },
	{ MOVE, "Esc", "Escape", ACTION_BACK, NULL, "Esc", "back: filter, threads, view; never ends the program" },
	{ MOVE, "Backspace", NULL, ACTION_BACKSPACE, NULL, "Backspace", "delete a letter of the filter; else back" },

	{ EVENTS, "PrevEvent", NULL, ACTION_EVENT_PREVIOUS, NULL, "j", "previous event of CPUs; in other views the row below" },
	{ EVENTS, "NextEvent", NULL, ACTION_EVENT_NEXT, NULL, "k", "next event of CPUs; in other views the row above" },
	{ EVENTS, "ClearEvent", NULL, ACTION_EVENT_CLEAR, NULL, "x", "back to the event and order of the start; in a profile: clear the samples" },
	{ EVENTS, "RecordTrace", "RequestTrace", ACTION_RECORD, NULL, "P a w", "record a trace: from now on, or what the flight recorder kept" },
	{ EVENTS, "RecordReport", NULL, ACTION_REPORT, NULL, "o", "the same, and a report of it: an HTML page beside the trace" },
	{ EVENTS, "ToggleFlightRecorder", NULL, ACTION_ARM, NULL, "R", "flight recorder on or off; the title line shows its cost" },
	{ EVENTS, "DecBpfSampleRate", "PerfSampleRateDecrease", ACTION_SAMPLE_LESS, NULL, "[", "half as many samples, in a profile" },
	{ EVENTS, "IncBpfSampleRate", "PerfSampleRateIncrease", ACTION_SAMPLE_MORE, NULL, "]", "twice as many samples, in a profile" },

	{ PLAY, "SeekBack", NULL, ACTION_SEEK, "-1", ",", "one interval back; also Left" },
	{ PLAY, "SeekOn", NULL, ACTION_SEEK, "1", ".", "one interval forward; also Right" },
	{ PLAY, "SeekFarBack", NULL, ACTION_SEEK, "-10", "(", "ten intervals back" },
	{ PLAY, "SeekFarOn", NULL, ACTION_SEEK, "10", ")", "ten intervals forward" },
	{ PLAY, "SeekStart", NULL, ACTION_SEEK, "start", "^", "to the start" },
	{ PLAY, "SeekEnd", NULL, ACTION_SEEK, "end", "$", "to the end" },
	{ PLAY, "SeekNextWait", NULL, ACTION_SEEK_WAIT, "", ";", "to the next of the longest waits, which the bar marks" },
	{ PLAY, "SeekPreviousWait", NULL, ACTION_SEEK_WAIT, "back", ":", "to the one before" },
	{ PLAY, "SpeedDown", NULL, ACTION_SPEED_DOWN, NULL, "{", "half as fast; - + change the step" },
	{ PLAY, "SpeedUp", NULL, ACTION_SPEED_UP, NULL, "}", "twice as fast" },

	{ OTHER, "SaveConfig", NULL, ACTION_SAVE, NULL, "S", "save these settings" },
	{ OTHER, "Quit", NULL, ACTION_QUIT, NULL, "q Q Ctrl-C", "end; in the help and in the threads of a process: back" },
};
/* clang-format on */
const size_t nr_actions = sizeof(actions) / sizeof(actions[0]);

/* Whether a word is in a list separated by blanks. */
static bool has_word(const char *list, const char *word)
{
	size_t len = strlen(word);

	while (list && *list) {
		size_t here = strcspn(list, " ");

		if (here == len && strncmp(list, word, len) == 0)
			return true;
		list += here + (list[here] == ' ');
	}
	return false;
}

const struct action_entry *action_find(const char *name)
{
	for (size_t i = 0; *name && i < nr_actions; i++)
		if (strcmp(actions[i].name, name) == 0 || has_word(actions[i].other_names, name))
			return &actions[i];
	return NULL;
}

static const struct {
	const char *text; /* the first one of a key is how it is written */
	uint32_t key;
} key_names[] = {
	{ "Up", KEY_OF_UP },
	{ "Down", KEY_OF_DOWN },
	{ "Left", KEY_OF_LEFT },
	{ "Right", KEY_OF_RIGHT },
	{ "PageUp", KEY_OF_PAGE_UP },
	{ "Page Up", KEY_OF_PAGE_UP },
	{ "PageDown", KEY_OF_PAGE_DOWN },
	{ "Page Down", KEY_OF_PAGE_DOWN },
	{ "Home", KEY_OF_HOME },
	{ "End", KEY_OF_END },
	{ "Enter", KEY_OF_ENTER },
	{ "Backspace", KEY_OF_BACKSPACE },
	{ "Delete", KEY_OF_DELETE },
	{ "Esc", KEY_OF_ESC },
	{ "Escape", KEY_OF_ESC },
	{ "Tab", KEY_OF_TAB },
	{ "Space", ' ' },
};
#define NR_KEY_NAMES (sizeof(key_names) / sizeof(key_names[0]))

uint32_t key_from_text(const char *text)
{
	size_t len = strlen(text);
	uint32_t code;

	for (size_t i = 0; i < NR_KEY_NAMES; i++)
		if (strcasecmp(key_names[i].text, text) == 0)
			return key_names[i].key;
	if (len == 6 && strncasecmp(text, "Ctrl-", 5) == 0) {
		char letter = (char)(text[5] & ~0x20);

		/* The codes that terminals send for Tab, Enter and Backspace are not separate keys. */
		return letter < 'A' || letter > 'Z' || strchr("HIJM", letter) ? KEY_NONE
		                                                              : KEY_CTRL(letter);
	}
	if (!len || utf8_next(text, len, &code) != len || code < ' ' || code == 0x7f ||
	    code == UTF8_INVALID)
		return KEY_NONE;
	return code;
}

const char *key_to_text(uint32_t key, char buf[KEY_TEXT])
{
	for (size_t i = 0; i < NR_KEY_NAMES; i++)
		if (key_names[i].key == key)
			return key_names[i].text;
	if (key < ' ')
		snprintf(buf, KEY_TEXT, "Ctrl-%c", (int)key + '@');
	else if (key < 0x80)
		snprintf(buf, KEY_TEXT, "%c", (int)key);
	else if (key < 0x800)
		snprintf(buf, KEY_TEXT, "%c%c", (int)(0xc0 | key >> 6), (int)(0x80 | (key & 0x3f)));
	else if (key < 0x10000)
		snprintf(buf, KEY_TEXT, "%c%c%c", (int)(0xe0 | key >> 12),
		         (int)(0x80 | (key >> 6 & 0x3f)), (int)(0x80 | (key & 0x3f)));
	else
		snprintf(buf, KEY_TEXT, "%c%c%c%c", (int)(0xf0 | key >> 18),
		         (int)(0x80 | (key >> 12 & 0x3f)), (int)(0x80 | (key >> 6 & 0x3f)),
		         (int)(0x80 | (key & 0x3f)));
	return buf;
}

void keymap_init(struct keymap *map)
{
	map->nr = 0;
	for (size_t i = 0; i < nr_actions; i++) {
		const char *p = actions[i].keys;

		while (*p && map->nr < KEYMAP_MAX) {
			size_t len = strcspn(p, " ");
			char text[KEY_TEXT];

			snprintf(text, sizeof(text), "%.*s", (int)len, p);
			map->entries[map->nr++] = (struct keymap_entry){ key_from_text(text),
				                                         &actions[i] };
			p += len + (p[len] == ' ');
		}
	}
}

const struct action_entry *keymap_find(const struct keymap *map, uint32_t key)
{
	for (size_t i = 0; i < map->nr; i++)
		if (map->entries[i].key == key)
			return map->entries[i].action;
	return NULL;
}

int keymap_set(struct keymap *map, uint32_t key, const struct action_entry *action)
{
	for (size_t i = 0; i < map->nr; i++) {
		if (map->entries[i].key == key) {
			map->entries[i].action = action;
			return 0;
		}
	}
	if (map->nr == KEYMAP_MAX)
		return -E2BIG;
	map->entries[map->nr++] = (struct keymap_entry){ key, action };
	return 0;
}

char *keymap_keys_of(const struct keymap *map, const struct action_entry *action, char *buf,
                     size_t size)
{
	size_t at = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < map->nr; i++) {
		char text[KEY_TEXT];

		if (map->entries[i].action != action || at + KEY_TEXT + 2 >= size)
			continue;
		at += (size_t)snprintf(buf + at, size - at, "%s%s", at ? ", " : "",
		                       key_to_text(map->entries[i].key, text));
	}
	return buf;
}
