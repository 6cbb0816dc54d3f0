/* tests/live_unit/analyzers_fixture — the live analyzers over a model without a stream, records by one call each, and reports as JSON. */
#pragma once

#include "../unit.h"

#include <jansson.h>

#include "analyze/facts.h"
#include "base/arena.h"
#include "live/live_model.h"

#define HDR(k, type, at_cpu, ts) \
	.hdr = { .size = sizeof(struct type), .kind = (k), .cpu = (at_cpu), .ts_ns = (ts) }
#define US 1000ULL
#define S  1000000000ULL

struct fixture {
	struct topology *topology;
	struct live_model m;
	struct arena *mem;
};

/* What is asked of an analyzer. */
struct analyzer_args {
	const char *mode;
	uint32_t limit; /* 0 picks 20 */
	bool has_pid;
	uint32_t pid;
	bool has_softirq_nr;
	uint32_t softirq_nr;
	double percentile, multiplier;
	uint64_t after;
};

int fixture_setup(void **state);
int fixture_teardown(void **state);
void push(struct fixture *f, const void *rec);
void sw(struct fixture *f, uint64_t ts, uint32_t cpu, uint32_t prev, uint32_t next, uint32_t st);
void waking(struct fixture *f, uint64_t ts, uint32_t cpu, uint32_t tid, uint32_t waker);
void migrate(struct fixture *f, uint64_t ts, uint32_t tid, uint32_t from, uint32_t to);
void named(struct fixture *f, uint32_t tid, uint32_t tgid, const char *comm);
void softirq(struct fixture *f, uint64_t ts, uint32_t cpu, uint32_t vector, uint64_t ns);
void wake(struct fixture *f, uint64_t ts, uint32_t cpu, uint32_t tid, uint32_t waker, uint64_t ns);
json_t *to_json(const struct report_node *node);
/* 0, or what the analysis says against it. */
int ask(struct fixture *f, enum analyzer_id id, struct analyzer_args args, struct diag *d,
        json_t **out);
/* stats://aggregated, by cpu, llc, node, dsq, process or thread. */
json_t *totals(struct fixture *f, const char *by);
json_t *report(struct fixture *f, enum analyzer_id id, struct analyzer_args args);
void start(struct fixture *f, uint64_t ts);
void pass_time(struct fixture *f, uint64_t ts);
/* "a.0.b": keys of objects and numbers of lists; it must be there. */
json_t *at(json_t *json, const char *path);
void is(json_t *json, const char *path, double value);
void is_null(json_t *json, const char *path);
void is_text(json_t *json, const char *path, const char *text);
void has_keys(json_t *json, const char *path, const char *keys);
