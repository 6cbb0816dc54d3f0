/* analyze/analyzers_report_priv — what the files of analyze/analyzers_report share. */
#pragma once

#include "analyze/analyzers_report.h"
#include "analyze/facts.h"

struct view {
	const struct analyzers *a;
	const struct analyzer_args *args;
	struct analyzers_status status;
	struct arena *mem;
	struct diag *d;
	struct facts *out;
	uint64_t left_out; /* to be told of under "observed" */
};

/* For sorting rows: by key, largest first, then by tie, largest first, then by index. */
struct ranked {
	double key;
	uint64_t tie;
	uint32_t i;
};

uint32_t report_limit(const struct view *r, uint32_t nr);
/* Per second of the time observed; null while there is none. */
void report_rate(const struct view *r, struct facts *f, const char *key, uint64_t count);
const char *report_comm(const struct view *r, uint32_t comm_id); /* NULL = unknown */
struct ranked *report_rank_new(const struct view *r, uint32_t max);
void report_rank(struct ranked *rows, uint32_t nr);

/* Each puts its own part; NULL self is not asked for. */
int report_event_buffer(struct view *r);
int report_latency(struct view *r);
int report_hotspots(struct view *r);
int report_migrations(struct view *r);
int report_history(struct view *r);
int report_dsqs(struct view *r);
int report_rates(struct view *r);
int report_chains(struct view *r);
int report_wakers(struct view *r);
int report_softirq(struct view *r);
