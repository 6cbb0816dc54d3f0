/*
 * analyses/explain/explain — why a task waited: what had the CPU meanwhile, which interrupts it served,
 * which CPUs were idle, what woke the task, and what the waker itself had waited for.
 *
 * A wait is a row of TIMELINE_WAIT. Its links lead back in time: the task was woken by a waker in the middle of a
 * slice, before which the waker had waited too, and so on, until a wakeup by an interrupt or the start of the
 * trace. The delays along the links add up to the compound delay.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyses/explain/explain_parts.h"
#include "analyze/pass.h"
#include "analyze/report.h"
#include "analyze/source.h"
#include "base/attr.h"
#include "ledger/ledger.h"

#define EXPLAIN_MAX_LINKS 16
#define EXPLAIN_MAX_STAYS 8
#define EXPLAIN_MAX_IDLE  8

/* In the queue of one CPU, until it was moved or ran. */
struct explain_stay {
	uint64_t start_ns;
	uint64_t end_ns;
	uint16_t cpu; /* PAIR_NO_CPU = unknown, or not in the queue of one CPU */
};

struct explain_idle {
	uint32_t cpu;
	uint64_t ns;
};

/* What went on during one wait. */
struct explain_wait {
	struct pair_wait wait;
	uint64_t start_ns;
	uint32_t cgroup;         /* of the task then; 0 = unknown */
	bool is_throttled_first; /* a limit took its CPU, not the task that had it next */
	bool is_from_waking; /* else from the wakeup, or from the switch-out of one that was preempted */
	struct explain_parts parts; /* they add up to the wait */
	uint64_t ns[LEDGER_KINDS];  /* of each kind; they add up to the wait */
	uint64_t forced_idle_ns;    /* of the idle time: because of core scheduling */
	struct explain_stay stays[EXPLAIN_MAX_STAYS];
	uint32_t nr_stays; /* of all, also those that found no room */
	/* Other CPUs that it may use and that were idle meanwhile, but while it was throttled; the most idle first. */
	struct explain_idle idle[EXPLAIN_MAX_IDLE];
	uint32_t nr_idle;
	uint64_t any_idle_ns; /* time in which at least one of them was idle; at most the wait */
	uint64_t unknown_elsewhere_ns; /* the longest time for which one of them is unknown */
};

/* One step back: the task waited, then ran until it woke the one of the link before. */
struct explain_link {
	struct pair_wait wait;
	uint64_t wait_ns;
	uint64_t run_ns; /* from its switch-in to the wakeup that it made; 0 for the first link */
};

/* The ledger of the source, for waits of that time. -ENOMEM. */
MUST_USE int explain_ledger(const struct source *s, uint64_t start_ns, uint64_t end_ns,
                            struct ledger **out);
/* by: which tasks behind which it waited are one part (explain_parts). -ENOMEM. */
MUST_USE int explain_measure(const struct source *s, struct ledger *l, const struct pair_wait *wait,
                             enum pass_by by, struct explain_wait *out);
/* The wait itself first; how many links. -ENOMEM. */
MUST_USE int explain_links(const struct source *s, const struct pair_wait *wait,
                           struct explain_link links[EXPLAIN_MAX_LINKS], uint32_t *nr);
/* Members total_waits, total_wait_ns and the sentence in_all, of all waits that the arguments select, with a failure in d. */
MUST_USE int explain_all_waits(const struct source *s, const struct pass_args *args,
                               struct report *r, struct diag *d);
uint64_t explain_wait_ns(const struct explain_wait *e);
/* "the timer interrupt"; NULL where no interrupt woke it. */
const char *explain_interrupt(const struct source *s, const struct pair_wait *w, struct report *r);
/* "task", "idle": the name of a kind of part. */
const char *explain_kind(uint8_t kind);
/* Members waking_ns, task_ns, ..., one of each kind; null for what was not recorded. */
void explain_sums(const struct source *s, const uint64_t ns[LEDGER_KINDS], struct report *r);
/*
 * "FIFO 50", "real-time priority 50" where the policy is unknown, "nice 5", "deadline"; NULL for an ordinary task, and where
 * priorities were not recorded.
 */
const char *explain_class(int16_t prio, uint8_t policy, struct report *r);
/* The path of a cgroup by the kernel's id; NULL = unknown. */
const char *explain_cgroup(const struct source *s, uint64_t id);
/* "throttled (quota of cgroup /build, 20 ms per 100 ms, in 30 of about 31 periods)". */
const char *explain_throttle(const struct source *s, const struct pair_throttle *t,
                             struct report *r);
/* What can keep an idle CPU from running a task, if that is not known: "; a CPU quota ... can be the reason", or "". */
const char *explain_idle(const struct source *s);
/* What the time of a part went to: "behind hog (4711) on CPU 0", "while CPU 1 was idle". */
const char *explain_part_text(const struct source *s, const struct explain_parts *all,
                              const struct explain_part *p, struct report *r);
/* The same in a word, without the CPU: "backup (FIFO 50)", "throttled, cgroup /build", "others (7)". */
const char *explain_part_name(const struct source *s, const struct explain_parts *all,
                              const struct explain_part *p, struct report *r);
/* Plain sentences, one member each, into the array that is open. */
void explain_sentences(const struct source *s, const struct explain_wait *e,
                       const struct explain_link *links, uint32_t nr_links, struct report *r);
/* An object for each wait, into the array that is open. -ENOMEM. */
MUST_USE int explain_show_waits(const struct source *s, const struct pair_wait *waits, uint32_t nr,
                                enum pass_by by, struct report *r);
/*
 * One thread, by args.tid, in the time asked for: what it waited for, its longest wait, what it slept for. For the screen;
 * no part of the table of analyses.
 */
extern const struct pass pass_thread;
