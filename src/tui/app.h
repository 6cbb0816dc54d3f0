/*
 * tui/app — the state of the screen, and what keys and the mouse do to it. Knows no terminal: tests press keys and read a
 * grid.
 *
 * Rules: choosing the view that is shown goes back to the previous one; help, messages, filter and freezing lie over a
 * view and never become the previous one, nor do views to search in. While a filter is typed, or something is searched
 * for, every letter belongs to it. Esc goes back one step and never ends the program. Sorting goes through the columns of
 * the table whose rows are selected. What needs the world outside (saving, recording, ending) is returned as effects.
 */
#pragma once

#include <stdarg.h>

#include "tui/config.h"
#include "tui/event_menu.h"
#include "tui/player.h"
#include "tui/view.h"

#define APP_LOG_LINES 128U
#define APP_LOG_BYTES 200U

enum app_effect {
	APP_QUIT = 1,
	APP_SAVE = 2,
	APP_RECORD = 4,
	APP_SUSPEND = 8, /* Ctrl-Z */
	APP_ARM = 16,    /* or end: the flight recorder */
	APP_REPORT = 32, /* record, and make a report of it */
};

struct app {
	struct config *config;
	struct screen screen;
	struct event_menu events;
	const struct view *view;
	const struct view *previous;
	struct app_zoom { /* where one thread was entered from; view NULL = none */
		const struct view *view;
		uint32_t process;
	} zoom;
	struct player player;
	struct app_measured {                   /* what the machine that is shown was asked for */
		struct machine_request request; /* without texts */
		char event[128];
		bool is_known;
	} measured;
	struct app_recorder {  /* the flight recorder beside the screen */
		double kept_s; /* 0 = not armed */
		double cpu;    /* its share of one; NAN = unknown */
	} recorder;
	bool is_help;
	bool is_log;
	int help_scroll;
	bool is_row_chosen; /* the rows have been moved in: Enter is about them (tui/app_verdict) */
	int page;           /* rows of the body, at the last draw */
	bool is_verdict_shown; /* at the last draw */
	int selected_y;        /* of the selected row, at the last draw; -1 = not in sight */
	struct grid_mark marks[GRID_MARKS]; /* titles of columns, at the last draw */
	size_t nr_marks;
	char log[APP_LOG_LINES][APP_LOG_BYTES]; /* a ring: nr_log % APP_LOG_LINES is next */
	size_t nr_log;
	char hint[APP_LOG_BYTES]; /* what a key did, instead of the newest message; "" = none */
	bool is_reported; /* the newest message is in the notice line, until a key is pressed */
};

/* A key, or a click or wheel at a place of the grid. */
struct app_input {
	uint32_t key;
	int x, y;
	bool is_pasted; /* text, never a command */
};

void app_init(struct app *a, struct config *config); /* config is lent */
/* Bits of enum app_effect. m is what was drawn last; its names are not kept. */
unsigned int app_press(struct app *a, const struct machine *m, struct app_input in);
void app_draw(struct app *a, const struct machine *m, struct grid *g);
/* What the view that is shown wants to see, and the header; lent until the next key. */
struct machine_request app_request(const struct app *a);
/* The request and the result of a refresh. At the end of a recording it pauses. */
void app_refreshed(struct app *a, const struct machine_request *request, const struct machine *m);
/* Whether it is frozen, and what the view wants to see was not measured before. */
bool app_is_unmeasured(const struct app *a, const struct machine *m);
/* What a key did: into the notice line only, for it would bury messages in the log. */
void app_hint(struct app *a, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* A message: into the log, and into the notice line. */
void app_notify(struct app *a, const char *fmt, ...) PRINTF_LIKE(2, 3);
