/*
 * profile/profile_groups — a profile added up by something else than functions: processes, threads, names, cgroups, or what
 * sleeps were for.
 *
 * Texts and frames are lent by the profile and the groups. The values of all groups add up to the profile's. One thread.
 */
#pragma once

#include <stdint.h>

#include "base/attr.h"
#include "base/cleanup.h"
#include "profile/profile.h"

enum profile_by {
	PROFILE_GROUP_THREAD,
	PROFILE_GROUP_PROCESS,
	PROFILE_GROUP_COMM, /* all threads of one name */
	PROFILE_GROUP_CGROUP,
	PROFILE_GROUP_WAIT, /* what sleeps were for: profile/waits */
	PROFILE_NR_GROUPS,
};

struct profile_group {
	const char *name;
	uint32_t id; /* of the thread or process; 0 = of another kind, or an interrupt */
	uint64_t count;
	uint64_t value;
	const struct profile_frame *most; /* function with most of it; NULL = it has no frames */
	uint64_t most_value;
};

struct profile_groups;

/* The most first. -ENOMEM, -E2BIG. */
MUST_USE int profile_groups_new(const struct profile *p, enum profile_by by,
                                struct profile_groups **out);
void profile_groups_free(struct profile_groups *g); /* NULL is fine */
DEFINE_SCOPED(profile_groups, profile_groups_free)

uint32_t profile_groups_nr(const struct profile_groups *g);
const struct profile_group *profile_groups_at(const struct profile_groups *g, uint32_t idx);
