/*
 * profile/profile_join — functions of one profile, or of two that are compared, under common numbers.
 *
 * Functions of the same name in different binaries stay apart (see profile.h). Where one of two
 * profiles has no modules, as folded text, only names are compared. Plain data; one thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "profile/profile.h"

enum profile_side { PROFILE_NOW, PROFILE_BEFORE, PROFILE_SIDES };

struct profile_join;

struct profile_join_cfg {
	const struct profile *sides[PROFILE_SIDES]; /* the older one may be NULL */
	bool merges_unknown; /* addresses without a name are one function per module */
	bool is_by_line; /* functions are told apart by the line of the source, too, where it is known */
};

MUST_USE int profile_join_new(const struct profile_join_cfg *cfg, struct profile_join **out);
void profile_join_free(struct profile_join *j); /* NULL is fine */

uint32_t profile_join_nr(const struct profile_join *j); /* functions */
uint32_t profile_join_function(const struct profile_join *j, enum profile_side side,
                               uint32_t frame);
/* Whether a frame has no name, only an address. */
bool profile_is_unnamed(const struct profile_frame *frame);
/* Its symbol, or the module in brackets where it has no name. */
#define PROFILE_NAME_BYTES 512
const char *profile_frame_name(const struct profile_frame *frame,
                               char buf[static PROFILE_NAME_BYTES]);
