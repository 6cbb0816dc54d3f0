/*
 * render/profile_export — a profile for other programs, and for people.
 *
 * folded      process;frame;frame VALUE, root first, one line per stack; the values add up to the profile's: samples, or
 *             ns off the CPU. Kernel frames end in _[k], inlined ones in _[i], those of a JIT in _[j]. In a
 *             difference the older value precedes the newer one.
 * speedscope  JSON of speedscope.app, one profile per unit
 * pprof       gzip'd protobuf of `go tool pprof`: sample types samples/count and the unit, functions, lines, mappings
 * results     JSON with the keys of get_perf_results
 * top         a table of functions: self, total, module
 * groups      the same by processes, threads, names, cgroups, or what sleeps were for: a table, or members of JSON
 * All but the table need the whole profile only once; -EIO where the file cannot be written.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/attr.h"
#include "base/json_write.h"
#include "profile/profile.h"
#include "profile/profile_groups.h"

MUST_USE int profile_folded(const struct profile *p, FILE *out);
MUST_USE int profile_folded_diff(const struct profile *before, const struct profile *p, FILE *out);
MUST_USE int profile_speedscope(const struct profile *p, const char *title, FILE *out);
MUST_USE int profile_pprof(const struct profile *p, FILE *out);

struct profile_results_cfg {
	uint32_t limit;    /* functions; 0 = 50 */
	bool wants_stacks; /* with the stacks that led to each, the heaviest first */
	uint32_t stacks_limit; /* of each; 0 = all. For comparing later (profile_read) all functions and stacks are needed */
	uint64_t collected; /* samples_collected */
};
/*
 * Members of the object that is open: symbols, total_samples, samples_collected, and more. Without memory w->error says
 * so. Only functions with samples of their own are listed.
 */
void profile_results(const struct profile *p, const struct profile_results_cfg *cfg,
                     struct json_writer *w);

struct profile_top_cfg {
	uint32_t limit; /* 0 = all */
	uint32_t width; /* of the terminal; 0 = none */
	bool is_colored;
	bool is_by_total; /* sorted by callers' time too */
	bool is_by_line;  /* a row is a line of a function, where it is known */
	const struct profile *before;
};
MUST_USE int profile_top(const struct profile *p, const struct profile_top_cfg *cfg, FILE *out);

/* Of cfg, limit and width. */
MUST_USE int profile_groups_table(const struct profile *p, enum profile_by by,
                                  const struct profile_top_cfg *cfg, FILE *out);
/* The words of --by, by enum profile_by; ends with NULL. */
extern const char *const profile_by_names[];
/* Members of the object that is open: grouped_by, groups, groups_left_out. limit 0 = 50. */
void profile_groups_json(const struct profile *p, enum profile_by by, uint32_t limit,
                         struct json_writer *w);
