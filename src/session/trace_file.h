/* session/trace_file — a trace_writer that knows this machine, this program and its clocks. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/diag.h"
#include "trace/writer.h"

struct trace_file_cfg {
	const char *path; /* NULL: fd counts */
	int fd;           /* the writer's from here on, also on failure */
	bool is_compressed;
	const char *command_line;
	uint64_t kinds; /* EV_BIT() of those that are recorded */
	uint32_t nr_cpus;
	const struct trace_attr *attrs;
	size_t nr_attrs;
};

MUST_USE int trace_file_open(const struct trace_file_cfg *file, struct diag *d,
                             struct trace_writer **out);
