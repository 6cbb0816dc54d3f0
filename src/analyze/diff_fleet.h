/*
 * analyze/diff_fleet — recordings of many hosts, before and after: what changed on hosts like these, beyond noise.
 *
 * Recordings are added one after the other and can be closed then: only sums are kept. How they are compared: analyze/diff_sets.
 */
#pragma once

#include "analyze/diff_sets.h"
#include "analyze/report.h"

struct diff_fleet;

struct diff_fleet_cfg {
	uint32_t limit; /* rows; 0 = 40 */
	bool has_noise; /* also rows that did not change */
};

/* NULL without memory. */
struct diff_fleet *diff_fleet_new(void);
void diff_fleet_free(struct diff_fleet *f); /* NULL is fine */
DEFINE_SCOPED(diff_fleet, diff_fleet_free)

/*
 * To side 0 (a) or 1 (b). The host is the label "host" of the recording, else the name of its machine. -E2BIG beyond DIFF_SET_MAX,
 * -EINVAL for a recording that the side has already, -ENOMEM, or what diff_side_fill() says.
 */
MUST_USE int diff_fleet_add(struct diff_fleet *f, int side, const struct source *s,
                            const struct pass_args *args, struct diag *d);
/*
 * {summary, unit, a, b, overall, tests, changes_found, changes, only_in_a, only_in_b, note}; a and b are {recordings, hosts,
 * duration_ns, lost_events}. -EINVAL if a side has none, -ENOMEM.
 */
MUST_USE int diff_fleet_report(const struct diff_fleet *f, const struct diff_fleet_cfg *cfg,
                               struct diag *d, struct report **out);
