/* tests/sql/sql_fixture — a small recording, and questions about it. */
#pragma once

#include "../analyze/pass_fixture.h"

#include "sql/sql.h"

/*
 * Four CPUs. On CPU 0 the tasks 10 (hog), 11 (web) and 12 (web) of the process 100 take turns: 11 waits 40 us behind 10, 12
 * is throttled for 60 us by the quota of /limited. 13 (db) sleeps for 100 us in futex and is woken by 11.
 */
#define US 1000ULL
void sql_story(struct pass_fixture *p);

/* What a query answers: its report, to be freed with the next question or ask_done(). A failure fails the case. */
struct asked {
	struct report *r;
	struct sql_result result;
	const struct report_node *root;
	struct diag d;
	int err;
};
/* Rows as arrays; q->text is set, the rest are bounds. */
void ask(struct asked *a, const struct pass_fixture *p, struct sql_query *q, const char *text);
void ask_done(struct asked *a);
