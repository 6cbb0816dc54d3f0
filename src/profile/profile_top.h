/*
 * profile/profile_top — the rows of a machine_profile: symbols by the samples in their own code, each with its heaviest
 * stacks.
 *
 * Texts are lent by the profile, which must stay there, but may grow meanwhile, on another thread too. Rows, stacks and the
 * memory for both are bounded. Costs as much as there are stacks in the profile.
 */
#pragma once

#include "base/attr.h"
#include "profile/machine_profile.h"
#include "profile/profile.h"

struct profile_top;

MUST_USE int profile_top_new(const struct profile *p, struct profile_top **out); /* -ENOMEM */
void profile_top_free(struct profile_top *t);                                    /* NULL is fine */
/* Sets rows, nr_rows, nr_functions, has_layers and samples. */
void profile_top_show(const struct profile_top *t, struct machine_profile *out);
