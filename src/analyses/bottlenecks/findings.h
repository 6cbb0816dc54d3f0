/*
 * analyses/bottlenecks/findings — losses of time that are no wait for a CPU, each with its sentence and a remedy:
 * locks behind which tasks sleep, uninterruptible sleeps, short-lived tasks, softirqs, stolen time, a sched_ext scheduler that was
 * thrown out.
 *
 * Each finder adds what counts: at least 1 % of the time asked for, as waits do (lost_waits). Texts are those of the report.
 */
#pragma once

#include <stdint.h>

#include "analyze/report.h"
#include "analyze/scope.h"
#include "analyze/units.h"
#include "base/attr.h"

/* That the cause is the one that is named. */
enum confidence {
	CONFIDENCE_PROVED,  /* it was recorded */
	CONFIDENCE_LIKELY,  /* it was inferred, or a part of the events is missing */
	CONFIDENCE_UNKNOWN, /* the loss was recorded, its cause was not */
};

struct finding {
	const char
		*kind; /* "lock", "blocked", "short_lived_tasks", "softirqs", "stolen", "ejected" */
	const char *cause; /* in a word */
	const char *description, *remedy;
	const char *
		next; /* the arguments of schedscope that show more; FILE stands for the recording */
	enum confidence confidence;
	uint64_t lost_ns;  /* UINT64_MAX: not in time, and above all others */
	uint32_t task;     /* the victim or the culprit that names it; TASKS_NONE = none */
	uint64_t first_ns; /* when it began */
	uint64_t last_ns;
};

struct findings {
	const struct scope *sc;
	const struct units *units; /* by name */
	struct report *r;
	struct finding *at;
	size_t nr, room;
};

/* -ENOMEM, here and below. */
MUST_USE int findings_add(struct findings *f, const struct finding *one);
void findings_done(struct findings *f);
/* At least 1 % of the time asked for. */
bool findings_count(const struct findings *f, uint64_t ns);

MUST_USE int find_locks(struct findings *f);
MUST_USE int find_blocked(struct findings *f);
MUST_USE int find_short_lived(struct findings *f);
MUST_USE int find_softirqs(struct findings *f);
MUST_USE int find_stolen(struct findings *f);
MUST_USE int find_ejected(struct findings *f);
