/* cli/top_verdict — the longest wait of an interval of a recording, as the line of the screen that says what is wrong: by pass_explain. */
#pragma once

#include "base/diag.h"
#include "cli/top_events.h"
#include "machine/machine_verdict.h"

#define TOP_VERDICT_TEXT 512U

struct top_verdict {
	struct machine_verdict verdict;
	char text[TOP_VERDICT_TEXT];
};

/* Of the waits that overlap the window. Without one the text is NULL; a failure is in d. */
void top_verdict_fill(struct top_verdict *t, const struct top_window *w, struct diag *d);
