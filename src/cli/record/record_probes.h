/* cli/record/record_probes — the probes that the options of `record` name, as one table. */
#pragma once

#include <stddef.h>

#include "base/attr.h"
#include "base/diag.h"
#include "base/opt.h"
#include "collect/probe_spec.h"

struct record_probes {
	struct events_probe *items; /* their words lie in texts and in argv */
	size_t nr, room;
	char **texts;
	size_t nr_texts, texts_room;
};

/* -EINVAL for a word that is not a probe, or too many. After a failure too, the caller releases it. */
MUST_USE int record_probes_make(const struct opt_list *kprobes, const struct opt_list *uprobes,
                                const struct opt_list *tracepoints, struct record_probes *out,
                                struct diag *d);
void record_probes_done(struct record_probes *p);
