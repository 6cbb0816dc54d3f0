/*
 * live/live_run — the rolling timeline of a command that needs one set of analyzers for as long as it runs: an event stream,
 * drained in the caller's own thread.
 *
 * open() loads; from attach() on records flow, and no rights are needed any more. poll() takes in what is complete, and never
 * waits. A shot is what the kernel had reported by the last poll(). One thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "abi/sink.h"
#include "base/attr.h"
#include "base/diag.h"
#include "live/live_shot.h"

struct live_run;
struct live_source;
struct topology;

struct live_run_cfg {
	uint32_t analyzers;               /* a set of live/live_analyzers */
	uint64_t window_ns;               /* that a shot covers, unless memory is short */
	const struct live_source *source; /* instead of the kernel's; NULL = none */
	const struct topology *topology;  /* lent with a source; NULL = of this machine */
	struct ev_sink affinity; /* gets each EV_AFFINITY, too; without push() they are dropped */
};

struct live_run_stats {
	uint64_t events; /* records that came */
	uint64_t lost;   /* that were reported lost */
};

MUST_USE int live_run_open(const struct live_run_cfg *cfg, struct diag *d, struct live_run **out);
void live_run_close(struct live_run *r); /* NULL is fine; detaches; after all shots */
MUST_USE int live_run_attach(struct live_run *r, struct diag *d);
int live_run_fd(const struct live_run *r);            /* readable when a ring fills up; -1 = none */
uint64_t live_run_start_ns(const struct live_run *r); /* no record is older */
MUST_USE int live_run_poll(struct live_run *r, struct diag *d);
/* -ENOMEM. */
MUST_USE int live_run_shot(struct live_run *r, struct live_shot **out);
void live_run_stats(const struct live_run *r, struct live_run_stats *out);
