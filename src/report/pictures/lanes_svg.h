/*
 * report/pictures/lanes_svg — what CPUs did over time, by node, last-level cache and core: how busy each was, and above it how long its queue was.
 */
#pragma once

#include <stdio.h>

#include "analyze/source.h"
#include "base/attr.h"
#include "report/data.h"

/* <figure id="lanes">; nothing for NULL. -ENOMEM. */
MUST_USE int lanes_svg(const struct source *s, const struct report_lanes *l, FILE *out);
