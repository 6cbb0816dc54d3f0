/* tests/analyze/pass_fixture — records one call each (model/pair_fixture), and a source over what they make. */
#pragma once

#include "../model/pair_fixture.h"

#include "analyze/pass.h"
#include "model/event_log.h"
#include "model/task_lives.h"

#define PASS_MAX_CPUS 64

struct pass_fixture {
	struct fixture f; /* first: the builders of pair_fixture take it */
	struct ev_sink pair_sink, log_sink;
	struct event_log *log;
	struct task_lives *lives;
	struct timeline *timeline;
	struct live_place places[PASS_MAX_CPUS];
	struct source_facts facts;
	struct source source;
	struct pass_args args;
	struct report *report; /* of the last run */
};

/* A cmocka setup and teardown: *state is a struct pass_fixture. Four CPUs; 0,1 and 2,3 share a cache, all a node. */
int pass_setup(void **state);
int pass_teardown(void **state);

/* Ends the stream at ts; then analyses can run. */
void finish(struct pass_fixture *p, uint64_t ts);
/* Runs an analysis, which must succeed, with p->args; its root, valid until the next run. */
const struct report_node *run_pass(struct pass_fixture *p, const struct pass *pass);

/* The value at a path, which must be there and have that type. */
uint64_t num_at(const struct report_node *root, const char *path);
double real_at(const struct report_node *root, const char *path);
const char *text_at(const struct report_node *root, const char *path);
bool is_null_at(const struct report_node *root, const char *path);
uint32_t len_at(const struct report_node *root, const char *path);
