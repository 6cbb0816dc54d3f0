/*
 * sys/rights/probe_event — events of perf that fire when a function is called, of the kernel or of a program.
 *
 * Where a function of a file begins is read from its symbols in a process without rights: files may be crafted.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"

/* A descriptor, or -errno; -EINVAL for what is no name of a function. */
MUST_USE int probe_event_kernel(const char *function, bool is_return);
/* -ENOENT: it has no such function. offset is from its beginning. The file is lent. */
MUST_USE int probe_event_user(int file, const char *function, uint64_t offset, bool is_return);
