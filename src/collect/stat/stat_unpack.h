/*
 * collect/stat/stat_unpack — from the packed records of the task iterator to those of abi/stat.h.
 *
 * Input is checked against its length: a record that does not add up is refused. Nothing is allocated.
 */
#pragma once

#include <stddef.h>

#include "abi/stat.h"
#include "base/attr.h"

/* Room for any record once unpacked. */
union stat_unpacked {
	struct stat_rec rec;
	struct {
		struct stat_task task;
		struct abi_hist hists[STAT_STORED_METRICS];
	} task;
	struct stat_waking waking;
	struct stat_queued queued;
};

/* Returns the size of the unpacked record, or -EBADMSG. */
MUST_USE int stat_unpack(const struct stat_rec *rec, size_t len, union stat_unpacked *out);
