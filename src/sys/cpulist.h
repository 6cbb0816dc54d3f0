/*
 * sys/cpulist — sets of CPU or node numbers in the kernel's notation: "0-3,8", "0-15:2/4".
 *
 * A zeroed struct is the empty set; cpulist_done() gives its memory back. Numbers end below
 * CPULIST_MAX, so no text can make a set larger than 8 KiB. Plain values: any thread may read one.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

#define CPULIST_MAX 65536

struct cpulist {
	uint64_t *words; /* one bit per number */
	uint32_t nr_words;
	uint32_t nr; /* members */
};

/*
 * White space around the list is fine. -EINVAL for anything but a list, -ERANGE for numbers beyond the
 * cap, -ENOMEM.
 */
MUST_USE int cpulist_parse(const char *s, struct cpulist *out);
MUST_USE int cpulist_add(struct cpulist *l, uint32_t cpu);
bool cpulist_has(const struct cpulist *l, uint32_t cpu);
int cpulist_next(const struct cpulist *l, uint32_t from); /* the first member >= from, or -1 */
int cpulist_last(const struct cpulist *l);                /* the highest member, or -1 */
void cpulist_done(struct cpulist *l);

/* The loop declares cpu, so it cannot be in parentheses. */
/* NOLINTBEGIN(bugprone-macro-parentheses) */
#define cpulist_for_each(cpu, l) \
	for (int cpu = cpulist_next((l), 0); cpu >= 0; cpu = cpulist_next((l), (uint32_t)cpu + 1))
/* NOLINTEND(bugprone-macro-parentheses) */
