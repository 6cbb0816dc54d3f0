/*
 * live/live_triggers — conditions on what the live stream is turned into, each judged as rows come (model/trigger_eval).
 *
 * All of them are behind one table of callbacks of the pair, which has none that no condition asks for. Members are private. One
 * thread at a time; the caller locks, and fire() runs under that lock.
 */
#pragma once

#include <stdint.h>

#include "base/attr.h"
#include "model/pair.h"
#include "model/trigger_eval.h"

#define LIVE_TRIGGERS_MAX 32U

struct live_trigger {
	struct trigger_eval *eval; /* NULL = free */
	struct pair_out out;
};

struct live_triggers {
	struct tasks *tasks;
	struct pair *pair;
	struct live_trigger at[LIVE_TRIGGERS_MAX];
};

/* Both are lent. Must stay where it is; -E2BIG without room for its callbacks. */
MUST_USE int live_triggers_init(struct live_triggers *t, struct tasks *tasks, struct pair *pair);
void live_triggers_done(struct live_triggers *t); /* a zeroed one is fine */
/* -EUSERS when all places are taken, -ENOMEM. */
MUST_USE int live_triggers_add(struct live_triggers *t, const struct trigger *one,
                               trigger_fire_fn *fire, void *ctx, uint32_t *out);
void live_triggers_remove(struct live_triggers *t, uint32_t at);
void live_triggers_lost(struct live_triggers *t, const struct ev_lost *lost);
/* It is that late: what lasts fires. */
void live_triggers_advance(struct live_triggers *t, uint64_t now_ns);
