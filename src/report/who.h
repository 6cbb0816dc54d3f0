/*
 * report/who — whom the tables of a report are about: threads, each with the cgroup that it was in at the time.
 *
 * While rows are counted, each thread and cgroup has a raw number (0 is unknown or idle). Then threads that matter least can be
 * folded into entries of their name and cgroup. Last, the raw numbers that tables use get the numbers of the report.
 * who_at() may be called from several threads at once; a raw number is below WHO_MAX.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/classes.h"
#include "analyze/scope.h"
#include "base/attr.h"
#include "base/json_write.h"

#define WHO_BITS      26U
#define WHO_INTERRUPT (1U << 25) /* of wakers: this, and the place in the list of interrupts */
#define WHO_MAX       WHO_INTERRUPT

struct who_raw {
	uint64_t from_ns; /* it is in the cgroup from then on */
	uint32_t task; /* of a rest: one of those that it stands for; TASKS_NONE: of many names */
	uint32_t cgroup;
	uint32_t same; /* the first entry of the task in the same cgroup */
	bool is_rest;
};

struct who {
	const struct source *s;
	struct who_raw *raw;
	uint32_t nr, room;
	uint32_t *first;    /* by task; the last one is behind the entries of all tasks */
	uint64_t *scores;   /* by raw number: what it matters */
	uint32_t *as_who;   /* by raw number: the one that stands for it */
	uint32_t *as_other; /* the same as a culprit or waker */
	uint32_t *numbers;  /* by raw number, at last: those of the report */
	uint32_t nr_numbers;
	struct map *interrupt_places; /* by interrupt_key() */
	uint32_t *interrupts;         /* keys of those that wake */
	uint32_t nr_interrupts, room_interrupts;
	struct map *seen_places; /* of interrupts that who_see() got */
	uint32_t *seen;          /* their keys, in the order in which they came */
	uint32_t nr_seen, room_seen;
	uint32_t *wakers; /* of the report: raw numbers */
	uint32_t nr_wakers, room_wakers;
	uint32_t *waker_numbers;           /* by raw number of who */
	uint32_t *waker_interrupt_numbers; /* by place in the list of interrupts */
};

/* -ENOMEM, -E2BIG. */
MUST_USE int who_init(struct who *w, const struct scope *sc);
void who_done(struct who *w);

/* The raw number of a task at a time; 0 for TASKS_NONE. */
static inline uint32_t who_at(const struct who *w, uint32_t task, uint64_t ts_ns)
{
	uint32_t at;

	if (task == TASKS_NONE)
		return 0;
	at = w->first[task + 1] - 1;
	while (at > w->first[task] && w->raw[at].from_ns > ts_ns)
		at--;
	return w->raw[at].same;
}

/* The last raw number of a task, and since when. */
uint32_t who_last(const struct who *w, uint32_t task, uint64_t *since_ns);
/* There is such a waker, of latency_waker(). -ENOMEM. */
MUST_USE int who_see(struct who *w, uint32_t waker);
/* All interrupts among those get a place. -ENOMEM. */
MUST_USE int who_place_seen(struct who *w);
/* Of latency_waker(). An interrupt without a place gets one, which no other thread may look for meanwhile. -ENOMEM. */
MUST_USE int who_waker(struct who *w, uint32_t waker, uint64_t ts_ns, uint32_t *out);

/*
 * Folds all but the `keep` of the highest scores; as culprits and wakers all but `keep_other`. as_who and as_other say what stands
 * for each. Again with less, what was folded stays so. -ENOMEM.
 */
MUST_USE int who_fold(struct who *w, uint32_t keep, uint32_t keep_other);
/* So many have a score and are not folded. */
uint32_t who_nr_kept(const struct who *w);
/* Gives out numbers: is_used by raw number. -ENOMEM. */
MUST_USE int who_number(struct who *w, const uint8_t *is_used, const uint8_t *is_waker,
                        const uint8_t *is_interrupt);
uint32_t who_waker_number(const struct who *w, uint32_t raw_waker);
/* Members "who" and "wakers". */
void who_document(const struct who *w, const struct classes *classes, struct json_writer *out);
