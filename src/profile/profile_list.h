/*
 * profile/profile_list — the functions of a profile, with what each took itself and with all that it called.
 *
 * A function that calls itself counts once in its total. With an older profile, functions of both are listed. Frames are
 * lent by the profiles, which must stay as they are. One thread.
 *
 * Of sleeps and wakers the function that waits or wakes (profile/waits) has what others have themselves; functions of the
 * scheduler below it are not listed.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/cleanup.h"
#include "profile/profile.h"
#include "profile/profile_join.h"
#include "profile/profile_tree.h"

struct profile_function {
	const struct profile_frame *frame; /* where most of it was, of its own time if it has any */
	uint32_t number;                   /* of profile_join */
	struct profile_weight w[PROFILE_SIDES];
	/* Of its own samples, in the newer profile: */
	uint32_t pid;     /* of the process with the most */
	uint32_t nr_pids; /* 0 = it has none */
	uint32_t cpu;     /* these of the row with the most */
	uint32_t layer;
};

/* The most first; of two profiles in shares of each. Ties by name. */
enum profile_order { PROFILE_BY_SELF, PROFILE_BY_TOTAL, PROFILE_BY_CHANGE };

struct profile_list;

struct profile_list_cfg {
	const struct profile *before; /* NULL = none */
	enum profile_order order;
	bool is_by_line; /* a row is a line of a function, where it is known */
};

MUST_USE int profile_list_new(const struct profile *p, const struct profile_list_cfg *cfg,
                              struct profile_list **out);
void profile_list_free(struct profile_list *l); /* NULL is fine */
DEFINE_SCOPED(profile_list, profile_list_free)

uint32_t profile_list_nr(const struct profile_list *l);
const struct profile_function *profile_list_at(const struct profile_list *l, uint32_t idx);
const struct profile_join *profile_list_join(const struct profile_list *l);
/* The frame of a stack of the newer profile that has its time in the list. nr of it is not 0. */
size_t profile_list_leaf(const struct profile_list *l, const struct profile *p,
                         const struct profile_stack *stack);

/* Of the whole, 0 to 1; of nothing 0. */
double profile_share(uint64_t value, uint64_t whole);
