/*
 * cli/record/record_talk — what `record` says on stderr: that it records, how far it is, what became of it, what comes next.
 *
 * The rule about a command: the recording ends with it, and `record` exits with its status, 128 and the number of the signal that
 * ended it. A recording that ends before, for whatever reason, leaves the command running, says so, and exits with 0.
 */
#pragma once

#include <stdbool.h>

#include "base/attr.h"
#include "base/diag.h"
#include "record/recorder.h"

/* What the first and the last line are about. */
struct record_talk {
	const char *path; /* of the file, for people */
	const struct record_source_cfg *source;
	bool is_quiet; /* another program reads what is said: neither the first nor the last line */
};

/* "recording to FILE until ...", when it does; ctx is a struct record_talk. */
void record_talk_ready(void *ctx);
/* "... (Ctrl-C ends)": what ends it. For first lines. */
void record_talk_until(const struct record_source_cfg *source, char *buf, size_t size);
/* A recorder_progress_fn: one line of a terminal, written again. */
bool record_talk_progress(void *ctx, const struct recorder_stats *s);
/* has_progress: such a line is there. */
void record_talk_summary(const struct recorder_stats *s, const char *path, bool has_progress);
/* What became of the command; the exit code. */
MUST_USE int record_talk_command(const struct record_totals *t, const char *command);
/* "next: schedscope analyze FILE", as a shell takes it. */
void record_talk_next(const char *path);

/* Whether the file may be made: -EEXIST if there is something in it, unless it may be replaced or the answer at the terminal is yes. */
MUST_USE int record_talk_may_write(const char *path, bool may_replace, struct diag *d);
