/*
 * record/flight_probes — the probes of a flight recorder: those that were asked for, and for each uprobe trigger
 * one where the function begins and one where it returns, under ids of their own. One thread. Pure.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/diag.h"
#include "collect/probe_spec.h"
#include "model/trigger_eval.h"

struct flight_cfg;

struct flight_probes {
	struct events_probe items[PROBES_MAX];
	size_t nr;
	/* Of trigger i; 0 = it has none. */
	uint32_t entry_ids[TRIGGER_MAX];
	uint32_t return_ids[TRIGGER_MAX];
	size_t nr_triggers;
	char *texts[2 * TRIGGER_MAX];
	size_t nr_texts;
};

/*
 * -EINVAL for what is not a probe, or too many, or -ENOMEM. p is all zero before; what cfg lends
 * must stay valid.
 */
MUST_USE int flight_probes_make(struct flight_probes *p, const struct flight_cfg *cfg,
                                struct diag *d);
void flight_probes_emit(const struct flight_probes *p, struct trigger_eval *eval);
void flight_probes_done(struct flight_probes *p);
