/*
 * tui/app_verdict — the line below the title that says what is wrong: machine.verdict.
 *
 * While a thread is still waiting the line comes before the first row, until a row is chosen: Enter explains then, Down goes to
 * the rows, Up comes back. A click on it explains at any time.
 */
#pragma once

#include "tui/app.h"

#define APP_VERDICT_Y 1

/* Rows that it takes in a screen of that height: 0 or 1. */
int app_verdict_rows(const struct app *a, int height);
bool app_verdict_is_chosen(const struct app *a, const struct machine *m);
void app_verdict_draw(const struct app *a, const struct machine *m, struct grid *g);
