/*
 * analyze/cgroups — cgroups of a recording: whether it has them, which ones a pattern means, what they are called.
 *
 * Cgroups are the numbers of model/tasks; 0 is unknown.
 */
#pragma once

#include <stdint.h>

#include "analyze/report.h"
#include "analyze/source.h"
#include "base/attr.h"
#include "base/diag.h"

/* -ENODATA with a sentence where the source does not say in which cgroups its tasks were. */
MUST_USE int cgroups_check(const struct source *s, struct diag *d);
/*
 * Which ones a pattern with * and ? means, as one byte for each number, to be freed. It matches the path ("/a/b") or the name
 * ("b") of a cgroup, and takes it with all below it; "/" is the root alone. -ENODATA with a sentence if there is none, -ENOMEM.
 */
MUST_USE int cgroups_pick(const struct source *s, const char *pattern, struct diag *d,
                          uint8_t **out);
/* Its path; "cgroup 123" where only the kernel's number is known; "?" for 0. */
const char *cgroup_name(const struct source *s, uint32_t cgroup, struct report *r);
