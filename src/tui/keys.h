/*
 * tui/keys — what keys do: one table of actions, with names, default keys and a line for the help each.
 *
 * Names are scxtop's, all that any of its versions knew, and ours for what it lacks. A key map begins with the defaults,
 * which settings change one by one. A key is a code point or one of enum special_key. Pure; allocates nothing.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

/* Beyond all code points. */
enum special_key {
	KEY_NONE = 0x110000,
	KEY_OF_UP,
	KEY_OF_DOWN,
	KEY_OF_LEFT,
	KEY_OF_RIGHT,
	KEY_OF_PAGE_UP,
	KEY_OF_PAGE_DOWN,
	KEY_OF_HOME,
	KEY_OF_END,
	KEY_OF_ENTER,
	KEY_OF_BACKSPACE,
	KEY_OF_DELETE,
	KEY_OF_ESC,
	KEY_OF_TAB,
	KEY_OF_CLICK, /* of the mouse; with its position */
	KEY_OF_WHEEL_UP,
	KEY_OF_WHEEL_DOWN,
	KEY_OF_RESIZE,
	KEY_OF_SIGNAL, /* that asks us to end */
};
#define KEY_CTRL(letter) ((uint32_t)(letter)&0x1fU)

enum action {
	ACTION_NONE,
	/* Views; the argument of an entry is the state's name. */
	ACTION_VIEW,
	ACTION_PROCESS,
	ACTION_MEMORY,
	ACTION_NETWORK,
	ACTION_HELP,
	ACTION_LOG,
	ACTION_FREEZE,
	ACTION_FILTER,
	ACTION_SHAPE,
	ACTION_GROUP,
	ACTION_TASK_GROUP,
	ACTION_SORT_NEXT,
	ACTION_SORT_PREVIOUS,
	ACTION_SORT_REVERSE,
	ACTION_EVENT_PREVIOUS,
	ACTION_EVENT_NEXT,
	ACTION_EVENT_CLEAR,
	ACTION_SAMPLE_LESS,
	ACTION_SAMPLE_MORE,
	ACTION_RECORD,
	ACTION_REPORT, /* the same, and a page about it */
	ACTION_ARM,
	ACTION_FREQUENCY,
	ACTION_UNCORE,
	ACTION_PRESSURE,
	ACTION_LOCALIZE,
	ACTION_THEME,
	ACTION_SAVE,
	ACTION_FASTER,
	ACTION_SLOWER,
	ACTION_SEEK,      /* in a recording; the argument is for player_seek() */
	ACTION_SEEK_WAIT, /* the argument: "back", or "" */
	ACTION_SPEED_UP,
	ACTION_SPEED_DOWN,
	ACTION_LEFT,
	ACTION_RIGHT,
	ACTION_UP,
	ACTION_DOWN,
	ACTION_PAGE_UP,
	ACTION_PAGE_DOWN,
	ACTION_HOME,
	ACTION_END,
	ACTION_ENTER,
	ACTION_BACK,
	ACTION_BACKSPACE,
	ACTION_QUIT,
	ACTION_UNAVAILABLE, /* scxtop has it, we do not; the argument says why */
};

struct action_entry {
	const char *group;       /* heading in the help */
	const char *name;        /* as scxtop writes it */
	const char *other_names; /* further ones that are read, separated by blanks; or NULL */
	enum action action;
	const char *argument;
	const char *keys; /* by default: texts of keys, separated by blanks */
	const char *what; /* one line for the help */
};

extern const struct action_entry actions[];
extern const size_t nr_actions;

const struct action_entry *action_find(const char *name); /* NULL = unknown */

#define KEY_TEXT 16U
/* "d", "Page Up", "PageUp", "Esc", "Space", "Ctrl-C", any case for names; KEY_NONE = unknown. */
uint32_t key_from_text(const char *text);
const char *key_to_text(uint32_t key, char buf[KEY_TEXT]);

#define KEYMAP_MAX 256U

struct keymap {
	struct keymap_entry {
		uint32_t key;
		const struct action_entry *action;
	} entries[KEYMAP_MAX];
	size_t nr;
};

void keymap_init(struct keymap *map);                                           /* the defaults */
const struct action_entry *keymap_find(const struct keymap *map, uint32_t key); /* NULL = nothing */
MUST_USE int keymap_set(struct keymap *map, uint32_t key,
                        const struct action_entry *action); /* -E2BIG */
/* Keys of an action as "d, Up"; cut where buf ends. */
char *keymap_keys_of(const struct keymap *map, const struct action_entry *action, char *buf,
                     size_t size);
