/*
 * report/pictures/excerpt — what the CPUs did around a wait, as a picture: a lane for each CPU in whose queue the task was, with what ran
 * there, and above it, while it was in that queue, the wait.
 */
#pragma once

#include <stdint.h>
#include <stdio.h>

#include "analyze/report.h"
#include "base/attr.h"
#include "report/content.h"

#define EXCERPT_CPUS 4U

/* explained is the object that explain has of the wait. -ENOMEM. */
MUST_USE int excerpt_write(const struct content *c, const struct pair_wait *w,
                           const struct report_node *explained, FILE *out);
