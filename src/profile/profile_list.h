/*
 * profile/profile_list — the functions of a profile, with what each took itself and with all that it called.
 *
 * A function that calls itself counts once in its total. With an older profile, functions of both are listed. Frames are
 * lent by the profiles, which must stay as they are. One thread.
 */
#pragma once

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

/* before may be NULL. */
MUST_USE int profile_list_new(const struct profile *p, const struct profile *before,
                              enum profile_order order, struct profile_list **out);
void profile_list_free(struct profile_list *l); /* NULL is fine */
DEFINE_SCOPED(profile_list, profile_list_free)

uint32_t profile_list_nr(const struct profile_list *l);
const struct profile_function *profile_list_at(const struct profile_list *l, uint32_t idx);
const struct profile_join *profile_list_join(const struct profile_list *l);

/* Of the whole, 0 to 1; of nothing 0. */
double profile_share(uint64_t value, uint64_t whole);
