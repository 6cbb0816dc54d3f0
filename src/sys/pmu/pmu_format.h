/*
 * sys/pmu/pmu_format — how a PMU writes events: "event=0x64,umask=0x9", and where each term goes:
 * "config:0-7,32-35".
 *
 * Pure text to numbers; nothing here touches files. The text comes from sysfs or from a user.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"

#define PMU_NR_WORDS 3 /* config, config1, config2 of perf_event_attr */
#define PMU_TERM_MAX 64

/* The bits of one config word that hold a term; the value's lowest bit goes to the lowest one. */
struct pmu_format {
	unsigned int word;
	uint64_t mask;
};

struct pmu_term {
	char name[PMU_TERM_MAX];
	bool has_value;
	bool is_open; /* "chip=?": the user has to give the value */
	uint64_t value;
};

/* 0, -EINVAL, or -ENOTSUP for a word of perf_event_attr that we do not fill. */
MUST_USE int pmu_format_parse(const char *text, struct pmu_format *out);
/* Replaces the term's bits; -ERANGE, and nothing changed, when the value has more bits than the term. */
MUST_USE int pmu_format_put(const struct pmu_format *f, uint64_t value,
                            uint64_t words[PMU_NR_WORDS]);

/* Cuts the first term off *rest. 1 = there was one, 0 = the end, -EINVAL = malformed. */
MUST_USE int pmu_term_next(const char **rest, struct pmu_term *out);
