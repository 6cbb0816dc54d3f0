/*
 * query/query — raw events by kind, CPU, time and task; sorted, grouped, added up.
 *
 * All filters given must hold. A condition on a field that an event does not have is not met. Counts are of
 * all that match, whatever the limit shows; sums, means and percentiles too. Events come in time order unless
 * sorted. What a query says is checked before it runs: an unknown field or event is an error that names it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/report.h"
#include "analyze/source.h"
#include "base/attr.h"
#include "base/diag.h"

#define QUERY_MAX_WHERE  32
#define QUERY_MAX_SELECT 32
#define QUERY_NAME_LEN   32
#define QUERY_VALUE_LEN  96

enum query_op { QUERY_EQ, QUERY_NE, QUERY_GT, QUERY_LT, QUERY_GE, QUERY_LE, QUERY_CONTAINS };

struct match;

struct query_condition {
	char field[QUERY_NAME_LEN];
	enum query_op op;
	char text[QUERY_VALUE_LEN]; /* as given */
	bool is_number;
	int64_t number;      /* larger ones are held as the largest */
	uint64_t whole;      /* the same where it is not negative */
	bool is_pattern;     /* of "~": what is a glob or an expression is taken as one */
	struct match *match; /* the same: filled in by query_run() */
};

enum query_fn {
	QUERY_NO_FN,
	QUERY_COUNT,
	QUERY_SUM,
	QUERY_AVG,
	QUERY_MIN,
	QUERY_MAX,
	QUERY_P50,
	QUERY_P95,
	QUERY_P99,
};

/* Zeroed, with cpu and tid set to EVENT_LOG_ANY, it takes all. */
struct query {
	uint64_t kinds; /* 0 = all events */
	uint32_t cpu;
	uint32_t tid;             /* any task that the event names */
	uint32_t pid;             /* the process of any such task; 0 = all */
	const char *comm;         /* its name, a pattern of base/name_pattern; NULL = all */
	struct match *comm_match; /* the same if it is an expression: filled in by query_run() */
	const char *
		cgroup; /* that any such task was in then: a pattern of analyze/cgroups; NULL = all */
	const uint8_t *cgroups; /* the same by number: filled in by query_run() */
	uint64_t from_ns;       /* [from_ns, to_ns); 0 = open */
	uint64_t to_ns;
	struct query_condition where[QUERY_MAX_WHERE];
	size_t nr_where;
	char select[QUERY_MAX_SELECT][QUERY_NAME_LEN]; /* none = all fields of each event */
	size_t nr_select;
	char sort[QUERY_NAME_LEN]; /* "" = by time */
	bool is_descending;
	char group_by[QUERY_NAME_LEN]; /* "" = not grouped */
	enum query_fn fn;
	char fn_field[QUERY_NAME_LEN];
	uint64_t limit; /* rows, or groups; 0 = all */
	uint64_t offset;
};

/*
 * "next_pid=12", "prev_comm~ngin", "prio<100"; operators = != > < >= <= and ~, whose value is a part of the text, or a glob or an
 * expression as base/name_pattern has them.
 */
MUST_USE int query_parse_where(const char *text, struct query *q, struct diag *d);
/* scxtop's operator names: equal, not_equal, greater_than, ..., contains. False for another. */
bool query_op_by_name(const char *name, enum query_op *out);
/* One more condition; the value is a number if it parses as one. */
MUST_USE int query_add_where(struct query *q, const char *field, enum query_op op,
                             const char *value, struct diag *d);
/* "timestamp,cpu,next_comm". */
MUST_USE int query_parse_select(const char *text, struct query *q, struct diag *d);
/* "prio" or "prio:desc". */
MUST_USE int query_parse_sort(const char *text, struct query *q, struct diag *d);
/* "count", "avg:prio"; functions count, sum, avg, min, max, p50, p95, p99. */
MUST_USE int query_parse_fn(const char *text, struct query *q, struct diag *d);
MUST_USE int query_set_group(const char *field, struct query *q, struct diag *d);

/*
 * The names in the report are those of the query, which lives as long. Adds to the object that is open: total_matched, returned_count, offset, has_more, and events: a list of
 * {timestamp, cpu, event_type, pid, fields: {...}}, or of the selected fields alone; or, grouped or added up,
 * aggregation: {function, field, result} or {function, field, group_by, groups: [{value, count, result}]}.
 */
MUST_USE int query_run(const struct source *s, struct query *q, struct report *r, struct diag *d);
