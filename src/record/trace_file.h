/*
 * record/trace_file — a trace_writer that knows this machine, this program and its clocks, what was asked for,
 * and the command lines of processes. Blocks on /proc and the file only.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/diag.h"
#include "record/record_source.h"
#include "trace/perfetto/write/writer.h"

#define TRACE_FILE_ATTRS 16U

struct trace_file_cfg {
	const char *path;  /* NULL: fd counts */
	bool is_real_path; /* no part of it may be a link */
	int fd;            /* the writer's from here on, also on failure */
	bool is_compressed;
	const char *command_line;
	const struct record_source_cfg *source;
	const struct topology *topology;
	struct record_symbols *symbols; /* of record_source; NULL = stacks have no names */
	const char *stack_event;        /* likewise; NULL = none */
	const struct trace_attr *attrs; /* besides those of record_facts, TRACE_FILE_ATTRS at most */
	size_t nr_attrs;
};

MUST_USE int trace_file_open(const struct trace_file_cfg *file, struct diag *d,
                             struct trace_writer **out);
