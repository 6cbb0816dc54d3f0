/* cli/top_ledger — what the screen shows of the waits and sleeps of one thread, besides its own sums: by pass_thread. */
#pragma once

#include "base/diag.h"
#include "cli/top_events.h"
#include "machine/machine_ledger.h"

#define TOP_LEDGER_PARTS 16U
#define TOP_LEDGER_NAME  160U
#define TOP_LEDGER_TEXT  2048U

struct top_ledger {
	struct machine_ledger ledger;
	struct machine_ledger_part parts[TOP_LEDGER_PARTS];
	char names[TOP_LEDGER_PARTS][TOP_LEDGER_NAME];
	char longest[TOP_LEDGER_TEXT], sleeps[TOP_LEDGER_TEXT];
};

/* A failure is in d. */
void top_ledger_fill(struct top_ledger *t, const struct top_window *w, uint32_t tid,
                     struct diag *d);
