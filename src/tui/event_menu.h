/*
 * tui/event_menu — the events that the keys go through: those of scxtop in its order, then those of the settings, then
 * those that were chosen from lists.
 *
 * The position in it is that of the shown event, wherever that came from. Words are those of
 * machine/event_word. Pure; allocates nothing. A menu that is NULL has scxtop's events alone.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/attr.h"
#include "machine/event_word.h"

#define EVENT_MENU_MORE 64U /* beyond scxtop's; then the oldest that was chosen makes room */

struct event_menu {
	char start[EVENT_WORD_BYTES]; /* "" = how busy CPUs are */
	char more[EVENT_MENU_MORE][EVENT_WORD_BYTES];
	size_t nr_settings; /* the first ones of more, which stay */
	size_t nr;
};

/* By the settings: start and raw events as NAME:0xCONFIG:TYPE; what is not an event is left out. */
void event_menu_init(struct event_menu *e, const char *start, const char (*raw)[EVENT_WORD_BYTES],
                     size_t nr_raw);
/* One that was chosen; it is in the menu once. */
void event_menu_add(struct event_menu *e, const char *word);
/* The next or the previous one, around the ends; from one that is not in the menu, from its beginning or its end. */
void event_menu_step(const struct event_menu *e, const char *from, bool is_next,
                     char out[EVENT_WORD_BYTES]);
void event_menu_start(const struct event_menu *e, char out[EVENT_WORD_BYTES]);
