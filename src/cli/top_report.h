/*
 * cli/top_report — a report of what the screen has recorded: made beside it, in a process of its own, when the recording is there.
 *
 * Where it went, and its first sentence, are messages. Never prints, never waits. One thread.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "cli/top_helper.h"

struct top_report {
	bool is_wanted; /* of the next recording that is complete */
	pid_t pid;      /* of the process */
	int said;       /* what it says; 0 = none runs */
	char page[PATH_MAX];
	char line[1024];
	size_t len;
};

/* A message of the recorder; starts the report if it is wanted, and the recording is there. A failure becomes a message. */
void top_report_see(struct top_report *r, struct top_helper *h, const char *message);
/* True with what there is to say. */
bool top_report_message(struct top_report *r, char *text, size_t size);
void top_report_close(struct top_report *r);
