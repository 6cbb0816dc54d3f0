/*
 * model/trigger — the words after `record --trigger`: what must happen, to which task, before a
 * dump is written.
 *
 *   TRIGGER   = WHAT ">" LIMIT { "," CONDITION } | "scx-eject"
 *   WHAT      = "wakeup-latency" | "sleep" | "slice" | "queue-depth" | "dsq-latency" | "stall"
 *             | "throttled" | "lost" | "uprobe:" FILE ":" SYMBOL
 *   LIMIT     = a time with its unit (5ms), for queue-depth and lost a number
 *   CONDITION = "comm=" PATTERN | "cgroup=" PATTERN | "pid=" PROCESS | "tid=" THREAD
 *
 * A PATTERN is one of base/name_pattern, without a comma. All conditions must hold. The last ">" counts, so FILE may hold others. What each word means is defined in
 * docs/flight-recorder.md; trigger_eval decides when it holds.
 */
#pragma once

#include <stdint.h>

#include "base/attr.h"
#include "base/diag.h"

#define TRIGGER_PATH_LEN   512
#define TRIGGER_SYMBOL_LEN 128
#define TRIGGER_COMM_LEN   64
#define TRIGGER_CGROUP_LEN 256

enum trigger_kind {
	TRIGGER_WAKEUP_LATENCY,
	TRIGGER_SLEEP,
	TRIGGER_SLICE,
	TRIGGER_QUEUE_DEPTH,
	TRIGGER_DSQ_LATENCY,
	TRIGGER_STALL,
	TRIGGER_THROTTLED,
	TRIGGER_LOST, /* of events: happens to no task */
	TRIGGER_UPROBE,
	TRIGGER_SCX_EJECT, /* has neither a value nor a task */
	TRIGGER_USER,      /* a manual request; has no words */
	TRIGGER_KINDS,
};

struct trigger {
	enum trigger_kind kind;
	uint64_t limit; /* ns, tasks or events; it fires above */
	uint32_t tgid;  /* 0 = any */
	uint32_t tid;   /* 0 = any */
	char comm[TRIGGER_COMM_LEN];
	char cgroup[TRIGGER_CGROUP_LEN]; /* as base/cgroup_pattern has it */
	char path[TRIGGER_PATH_LEN];     /* of a uprobe */
	char symbol[TRIGGER_SYMBOL_LEN];
};

extern const char *const trigger_kind_names[TRIGGER_KINDS + 1]; /* ends with NULL */

/* -EINVAL with a diag that shows the wrong word. */
MUST_USE int trigger_parse(const char *text, struct diag *d, struct trigger *out);
