/*
 * tui/app_place — where the user is: which view, which row of it, inside of what; and the ways there and back.
 * For tui/app and its parts.
 */
#pragma once

#include "tui/app.h"
#include "tui/keys.h"

void app_place_select(struct app *a, int row);
void app_place_forget(struct app *a); /* back to the first row */
MUST_USE int app_place_rows(const struct app *a, const struct machine *m);
void app_place_move(struct app *a, const struct machine *m, int by);

/* Another view: the one now shown is that before it. */
void app_place_show(struct app *a, const struct view *v);
/* The view that an action names, or back from it. */
void app_place_choose(struct app *a, const struct action_entry *e);
/* Hidden, a part of the default view, a view of its own, hidden. */
void app_place_cycle(struct app *a, const struct action_entry *e, bool *has_part);

/* Into the selected row: the threads of a process, or one thread closely. */
void app_place_enter(struct app *a, const struct machine *m);
/* Into the thread that the verdict is about. */
void app_place_explain(struct app *a, const struct machine *m);
/* One step back, if there is one. */
void app_place_back(struct app *a);
