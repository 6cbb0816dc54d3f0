/* symbol/process_read — what a process has mapped now, from /proc, into symbol/spaces. Blocks on /proc and files. */
#pragma once

#include <stdint.h>

#include "base/attr.h"

struct mapped_files;
struct spaces;

struct process_read_cfg {
	const char *proc;
	struct spaces *spaces;
	struct mapped_files *files;
};

/* -ESRCH if it has ended, which is remembered; -ENOMEM. */
MUST_USE int process_read(const struct process_read_cfg *cfg, uint32_t tgid, uint64_t now_ns);
