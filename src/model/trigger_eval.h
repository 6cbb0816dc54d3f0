/*
 * model/trigger_eval — watches the rows of model/pair and reports when a trigger fires.
 *
 * Rows are judged when they are complete: a wait at its switch-in, a sleep at the wakeup, a slice at the
 * switch-out. A stall and the throttled time of a wait are judged while it lasts, and fire once per wait. A call of a
 * function is from its uprobe to the uretprobe of the same task; nested calls are distinguished, the innermost
 * TRIGGER_NESTED of each task. After lost hits all open calls are dropped, so that no end is paired with the wrong
 * begin. Bounded memory; nothing is allocated per record once all tasks that call were seen. One thread. Pure: no I/O,
 * no clock.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "model/pair.h"
#include "model/trigger.h"

#define TRIGGER_MAX    16 /* at a time */
#define TRIGGER_NESTED 8

struct trigger_eval;

/* What fired. */
struct trigger_hit {
	enum trigger_kind kind;
	uint32_t trigger; /* index; 0 for a manual request */
	uint64_t ts_ns;
	uint64_t value;         /* ns, tasks or events */
	uint32_t tid;           /* 0 = none */
	uint32_t tgid;          /* 0 = unknown */
	uint16_t cpu;           /* PAIR_NO_CPU = none */
	char comm[EV_COMM_LEN]; /* of scx-eject: the scheduler */
};

typedef void trigger_fire_fn(void *ctx, const struct trigger_hit *hit);

struct trigger_eval_cfg {
	const struct trigger *triggers; /* copied */
	size_t nr;                      /* TRIGGER_MAX at most, else -E2BIG */
	struct tasks *tasks;            /* lent; that of the pair */
	const struct pair *pair;        /* lent */
	trigger_fire_fn *fire;          /* as often as it holds */
	void *ctx;
};

MUST_USE int trigger_eval_new(const struct trigger_eval_cfg *cfg, struct trigger_eval **out);
void trigger_eval_free(struct trigger_eval *e); /* NULL is fine */
/* To be given to pair_add_out(). */
struct pair_out trigger_eval_out(struct trigger_eval *e);

/* It is that late: what lasts fires. After each record, and whenever time goes on without one. */
void trigger_eval_advance(struct trigger_eval *e, uint64_t now_ns);

/* The ids of the hits of a uprobe trigger. */
void trigger_eval_probes(struct trigger_eval *e, size_t trigger, uint32_t entry_id,
                         uint32_t return_id);
/* Records were lost: some triggers want to know, and calls whose hits are among them are not timed. */
void trigger_eval_lost(struct trigger_eval *e, const struct ev_lost *lost);
uint64_t trigger_eval_no_room(const struct trigger_eval *e); /* calls not timed: too many tasks */
