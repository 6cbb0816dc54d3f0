/* profile/profile_read_priv — what the readers of both forms share. */
#pragma once

#include "profile/profile_read.h"

/* A profile that is being read, and where errors are reported. */
struct profile_reader {
	const char *name;
	struct diag *d;
	struct profile *p;
};

#define PROFILE_READ_HINT "give a file of 'schedscope profile --folded', or of --json with stacks"

MUST_USE int profile_read_folded(struct profile_reader *r, const char *text);
MUST_USE int profile_read_json(struct profile_reader *r, const char *text);
/* One sentence for what profile_add_*() answered. */
MUST_USE int profile_read_failed(const struct profile_reader *r, int err);
