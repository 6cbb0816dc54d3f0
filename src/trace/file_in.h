/*
 * trace/file_in — all bytes of a file or of standard input, in memory.
 *
 * Read, not mapped: a file that shrinks meanwhile is an error, and its bytes stay the same under us. Grows
 * to what there is, never beyond the budget (-E2BIG). Of what cannot be a trace only the beginning is read, so that
 * an endless device is refused at once. A folder that 'perf record --threads' has made is its files, one after the other.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/diag.h"

struct trace_read_cfg;

struct file_in {
	uint8_t *bytes;
	size_t len;
	size_t size;  /* mapped */
	size_t *ends; /* of the files of a folder */
	size_t nr_ends, cap_ends;
};

/* "-" is standard input. Of the cfg descriptor, parts and budget count; with a descriptor the path is only its name. */
MUST_USE int file_in_read(const char *path, const struct trace_read_cfg *cfg, struct diag *d,
                          struct file_in *out);
void file_in_done(struct file_in *f);
