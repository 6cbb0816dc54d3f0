/*
 * symbol/perf_map — the functions that a JIT has written down, in the manner of /tmp/perf-PID.map: "start size name"
 * per line, both numbers in hex.
 *
 * Later lines stand for newer code: they win over earlier ones with the same start. Lines that are none are skipped;
 * beyond the caps the rest of the file is.
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
