/*
 * analyze/cover — the time that intervals of a CPU cover together, where one may lie inside another.
 *
 * Intervals come in the order of their ends, as rows do: what lies inside comes before what holds it. On arm64 an IPI
 * lies inside the interrupt handler "IPI"; added to one cover, both take their time once.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"

struct cover_part {
	uint64_t start_ns;
	uint64_t end_ns;
};

struct cover_cpu {
	uint64_t ns;
	uint32_t nr;
	uint32_t capacity;
	struct cover_part *parts; /* what a later one may hold */
};

struct cover {
	struct cover_cpu *cpus;
	uint32_t nr_cpus;
	bool has_failed; /* without memory */
};

/* -ENOMEM. */
MUST_USE int cover_init(struct cover *c, uint32_t nr_cpus);
/* CPUs out of range are left out. */
void cover_add(struct cover *c, uint32_t cpu, uint64_t start_ns, uint64_t end_ns);
uint64_t cover_ns(const struct cover *c, uint32_t cpu);
uint64_t cover_sum_ns(const struct cover *c);
void cover_done(struct cover *c);
