/*
 * profile/profiler/sampler_choice — opens the sampler that a profile asks for: what it samples, whom, and how user stacks are walked.
 *
 * By tables where the kernel takes that program; what is wrong otherwise is wrong by frame pointers, too. Copies of
 * stacks, walked by libdw in user space, only when asked for: of all, or of processes without tables.
 */
#pragma once

#include <stdbool.h>

#include "base/attr.h"
#include "base/diag.h"
#include "collect/sample/sample_copies.h"

struct cpulist;
struct profiler_cfg;
struct sample_event;
struct sampler;

struct sampler_choice {
	const struct profiler_cfg *cfg;
	const struct sample_event *event;
	const struct cpulist *online;
	bool is_foreign; /* the kernel's ids are not those of our /proc */
	struct sample_walker walker;
};

/* why_fp is set where tables were refused and frame pointers are used in their place. Errors as of sampler_open(). */
MUST_USE int sampler_choice_open(const struct sampler_choice *c, struct diag *why_fp,
                                 struct diag *d, struct sampler **out);
