/* serve/metrics_page — one page of all metrics, from the sums and what else is known at the time. Pure. */
#pragma once

#include <stdint.h>

#include "base/attr.h"
#include "serve/dumps.h"
#include "serve/exposition.h"
#include "serve/sums.h"

struct page_facts {
	const char *version;
	const char *kernel; /* "" = unknown */
	const char *machine;
	double start_unix_s;
	double own_cpu_s;
	uint64_t own_bytes;                 /* 0 = unknown */
	double clock_to_unix_s;             /* to be added to times of the sums' clock */
	const struct dumps *dumps;          /* NULL = no flight recorder */
	const struct bounds *bounds;        /* of distributions */
	const struct bounds *cgroup_bounds; /* of those by cgroup */
};

/* 0, -E2BIG at the cap of the exposition, -ENOMEM. */
MUST_USE int metrics_page_write(const struct sums *s, const struct page_facts *facts,
                                struct exposition *e);
