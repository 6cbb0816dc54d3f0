/* cli/top_blame — what the blame view of the screen shows: the analysis blame. */
#pragma once

#include "analyze/pass.h"
#include "base/diag.h"
#include "cli/top_events.h"
#include "machine/machine_blame.h"
#include "render/blame_text.h"

#define TOP_BLAME_ROWS 64U
#define TOP_BLAME_NAME 128U

struct top_blame {
	struct machine_blame blame;
	struct machine_blame_row rows[TOP_BLAME_ROWS];
	char names[TOP_BLAME_ROWS][TOP_BLAME_NAME];
	char blames[TOP_BLAME_ROWS][BLAME_TEXT_BYTES];
};

/* A failure is in d. */
void top_blame_fill(struct top_blame *b, const struct top_window *w, enum pass_by by,
                    struct diag *d);
