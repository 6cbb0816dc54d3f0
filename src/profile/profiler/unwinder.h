/*
 * profile/profiler/unwinder — keeps in the kernel what user stacks are walked by: the tables of files, and where each process has them.
 *
 * The caller reports which processes have mapped something; unwinder_flush() then asks the symbolizer what they have, compiles
 * tables of files that are new, and hands all over. What does not fit is left out, counted, and walked by frame pointers.
 * One thread; blocks on files. Never prints.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/cleanup.h"

struct mmap_report;
struct symbolizer;
struct unwind_maps;
struct unwinder;

/* Both are lent. tgid: only this process and its children; 0 = all. */
MUST_USE int unwinder_new(struct symbolizer *symbols, struct unwind_maps *maps, uint32_t tgid,
                          struct unwinder **out);
void unwinder_free(struct unwinder *u); /* NULL is fine */
DEFINE_SCOPED(unwinder, unwinder_free)

/* It has mapped something; -ENOMEM. */
MUST_USE int unwinder_mapped(struct unwinder *u, uint32_t tgid);
/* One that runs now: it comes before all others. -ENOMEM. */
MUST_USE int unwinder_hurry(struct unwinder *u, uint32_t tgid);
/* What happened to a process; -ENOMEM. */
MUST_USE int unwinder_take(struct unwinder *u, const struct mmap_report *r);
/* Before the first sample: processes that run now for at most 6 s, the others until 2 s are over. -ENOMEM. */
MUST_USE int unwinder_begin(struct unwinder *u);
/* What was reported, as of then, what runs first, then what was reported last; what is left at until_ns (boot time) the next time. -ENOMEM. */
MUST_USE int unwinder_flush(struct unwinder *u, uint64_t as_of_ns, uint64_t until_ns);
