/*
 * tui/views/ledger_panel — where the waiting time of a thread went, as one bar with a legend; its longest wait in words; what it
 * slept for. A piece of the task view.
 *
 * Each part has a letter and a pattern of its own, so that the bar can be read without colours.
 */
#pragma once

#include "tui/view.h"

struct machine_ledger;

#define LEDGER_PANEL_MIN  9  /* lines that make sense, with the frame */
#define LEDGER_PANEL_MOST 10 /* and that it can use */

void ledger_panel_draw(const struct machine_ledger *l, struct grid *g, struct area a);
