/*
 * analyses/explain/explain_sleep — why a task slept: in which system call, what ended it, and what the task that ended it did
 * meanwhile, and so on.
 *
 * A sleep is a row of TIMELINE_SLEEP. What ended it is the task or the interrupt that woke the task. A futex has holders, as in
 * `analyze locks`: the task that ends a sleep on it had it since the release before. Of other sleeps only the task that ended it
 * is responsible, for all of it. An interrupt is responsible for nothing: the chain ends there.
 *
 * The chain is a tree, as a list in the order in which it is drawn. Each entry lies within the time of the one above it, and a
 * task that is in the chain already is not followed again.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyses/explain/explain_parts.h"
#include "analyze/report.h"
#include "analyze/scope.h"
#include "base/attr.h"

#define EXPLAIN_MAX_HOLDERS 4 /* of one sleep, the longest */
#define EXPLAIN_MAX_CALLS   4 /* of one task, those with the most time */
#define EXPLAIN_MAX_DEPTH   8
#define EXPLAIN_MAX_NODES   24
#define EXPLAIN_MAX_PIECES  24

enum explain_doing_kind { DOING_RUN, DOING_WAIT, DOING_SLEEP, DOING_KINDS };

/* The sleeps of a task in one system call. */
struct explain_call {
	uint64_t ns;
	uint32_t nr;
	uint16_t call; /* ABI_CALL_*; 0 = unknown */
	struct pair_sleep longest;
	uint64_t longest_ns; /* of it, what lies in the time asked for */
};

struct explain_piece {
	uint64_t start_ns;
	uint64_t end_ns;
	uint8_t kind; /* enum explain_doing_kind */
};

/* What a task did in a time. What is in none of the kinds is unknown. */
struct explain_doing {
	uint64_t from_ns, to_ns;
	uint64_t ns[DOING_KINDS];
	uint64_t unknown_ns;
	struct explain_parts parts; /* of its waits */
	struct explain_call calls[EXPLAIN_MAX_CALLS];
	uint32_t nr_calls;
	/* The longest ones, in the order of time. */
	struct explain_piece pieces[EXPLAIN_MAX_PIECES];
	uint32_t nr_pieces;
	uint32_t task;
	bool is_born; /* in that time: from_ns is its start */
};

/* A task that is responsible for a sleep, for a part of it. */
struct explain_holder {
	uint64_t from_ns;
	uint64_t to_ns; /* when it released the futex, or ended the sleep */
	uint32_t task;
};

struct explain_sleep {
	struct pair_sleep sleep;
	uint64_t from_ns, to_ns; /* the part of it that is explained */
	uint16_t call;           /* that of the sleep; of a kernel thread ABI_CALL_KTHREAD */
	bool is_futex;
	/* By time. One that ended the sleep of another thing than a futex is alone. */
	struct explain_holder holders[EXPLAIN_MAX_HOLDERS];
	uint32_t nr_holders;  /* kept */
	uint32_t all_holders; /* one after the other; above nr_holders: shorter ones are left out */
	uint64_t held_ns;     /* of the sleep, what all of them are responsible for */
};

enum explain_node_kind {
	NODE_SLEEP,  /* a task sleeps */
	NODE_HOLDER, /* a task has what the one above sleeps for */
	NODE_WAKER,  /* a task ends the sleep above */
};

struct explain_node {
	uint8_t kind; /* enum explain_node_kind */
	uint8_t depth;
	bool is_repeated;   /* the task is above in the chain: not followed */
	uint32_t nr_sleeps; /* of a sleep: so many of the task in this call; sleep is the longest */
	uint64_t sum_ns;    /* they took together, in the time of the task above */
	struct explain_sleep sleep; /* NODE_SLEEP */
	struct explain_doing doing; /* the others */
};

struct explain_tree {
	struct explain_node nodes[EXPLAIN_MAX_NODES];
	uint32_t nr;
	uint64_t small_ns; /* what is shorter has no entry */
	bool is_cut;       /* there was more to follow */
};

/* Whether its waker did, and not an interrupt during it. */
bool explain_is_ended_by_task(const struct pair_sleep *row);
/* The sleep itself first. l is of its time at least. -ENOMEM. */
MUST_USE int explain_sleep_tree(const struct source *s, struct ledger *l,
                                const struct pair_sleep *row, struct explain_tree *out);
uint64_t explain_sleep_ns(const struct explain_sleep *e);

/* "futex(0x7f00)", "fsync(3)"; NULL where the call is unknown. */
const char *explain_call_text(uint16_t call, uint64_t arg, struct report *r);
/* "the timer interrupt", with the disk if that is why; NULL where no interrupt ended it. */
const char *explain_sleep_interrupt(const struct source *s, const struct pair_sleep *row,
                                    struct report *r);
/* "behind hog (12) on CPU 0": a part of the waits of a task, after "waited 3ms". */
const char *explain_doing_part(const struct source *s, const struct explain_doing *d,
                               const struct explain_part *p, struct report *r);
/* An entry of the chain in words, with the name of its task. */
const char *explain_node_text(const struct source *s, const struct explain_node *n,
                              struct report *r);
/* Plain sentences, one member each, into the array that is open. */
void explain_sleep_sentences(const struct source *s, const struct explain_tree *t,
                             struct report *r);
/* Whether a task of the scope sleeps at the moment that is asked for. */
bool explain_has_sleep(const struct scope *sc);
/* What comes of explain with --sleeps: the longest sleeps, or those at a moment. -ENOMEM. */
MUST_USE int explain_sleeps(const struct scope *sc, uint32_t limit, struct report *r);
