/*
 * symbol/perf_map — the functions that a JIT has listed, in the format of /tmp/perf-PID.map: "start
 * size name" per line, both numbers in hex.
 *
 * Later lines are newer code: they replace earlier ones with the same start. Malformed lines are
 * skipped; beyond the caps the remainder of the file is.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "symbol/symtab.h"

#define PERF_MAP_BYTES_MAX ((size_t)64 << 20)

/* -ENOMEM only. */
MUST_USE int perf_map_parse(const char *text, size_t len, struct symtab **out);
