/* tui/app_sort — which column rows are sorted by, by keys and by clicks on titles. */
#pragma once

#include "tui/app.h"

void app_sort_next(struct app *a, int step); /* 1 = the next column, -1 = the one before */
/* False = there is no title. */
MUST_USE bool app_sort_click(struct app *a, struct app_input in);
