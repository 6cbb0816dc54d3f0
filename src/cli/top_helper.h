/*
 * cli/top_helper — what the screen does later with the rights that it was started with: a process that starts recorders and
 * saves settings, and nothing else.
 *
 * It is forked before the screen gives up its rights, if it has any to give up, and ends with it. Where recordings
 * go, how long they are and where settings are kept is fixed then. Without a process the same is done here. One
 * thread.
 */
#pragma once

#include <limits.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/attr.h"
#include "base/diag.h"

struct top_helper {
	const char *prefix; /* of files; lent */
	uint32_t duration_ms;
	uint32_t keep_ms; /* what a flight recorder keeps */
	const char *
		trigger; /* that makes it write without a key, as record takes it; NULL = none; lent */
	unsigned int nr; /* of the next file */
	pid_t pid;       /* of the process; 0 = there is none */
	int fd;          /* the connection to it */
};

/* All but nr, pid and fd are the caller's to set before. */
MUST_USE int top_helper_start(struct top_helper *h, struct diag *d);
void top_helper_stop(struct top_helper *h);

/* Starts a recording that reports on said; path is its file, a name that was free. Its pid, or -errno. */
MUST_USE int top_helper_record(struct top_helper *h, int said, char path[PATH_MAX]);
/* Starts a flight recorder that talks on said: SIGUSR2 makes it write, SIGINT ends it. Its pid, or -errno. */
MUST_USE int top_helper_keep(struct top_helper *h, int said);
/*
 * Starts what makes a report of one of these recordings, a page of the same name, and says on said what it wrote. It has no
 * rights of its own. Its pid, or -errno: -EEXIST where there is a page already.
 */
MUST_USE int top_helper_report(struct top_helper *h, const char *path, int said);
/* As config_store(). */
MUST_USE int top_helper_save(struct top_helper *h, const char *text, struct diag *d,
                             char path[PATH_MAX]);
