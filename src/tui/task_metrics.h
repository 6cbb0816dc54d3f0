/*
 * tui/task_metrics — the metrics of tasks that tables show: an entry each says what it is called, its unit, what it means, where
 * it comes from, and with that how it is drawn and how rows are sorted by it.
 *
 * An entry in the table of task_metrics.c is all that a new one needs. Pure.
 */
#pragma once

#include "tui/table_view.h"
#include "tui/view.h"

/* A unit is also a way to draw. Numbers begin with the largest, all else with the smallest. */
enum metric_unit {
	METRIC_SHARE, /* of 1, as per cent */
	METRIC_COUNT, /* of things, or per second */
	METRIC_NS,
	METRIC_WAIT_NS, /* long ones are coloured */
	METRIC_BYTES,
	METRIC_PAST,  /* of 1, with those of the intervals before: a sparkline */
	METRIC_SPLIT, /* of it and of the rest: a bar of RUN%, WAIT% and sleep */
	METRIC_ID,    /* negative ones are unknown */
	METRIC_NICE,
	METRIC_STATE, /* a letter */
	METRIC_DSQ,   /* the id of a dispatch queue */
	METRIC_TEXT,
	METRIC_LONG_TEXT,
};

/* What a table has; metrics need it. */
enum {
	METRIC_HAS_LATENCY = 1,
	METRIC_HAS_EXT = 2,
	METRIC_OF_PROCESSES = 4,
	METRIC_HAS_LAYERS = 8,
	METRIC_OF_THREADS = 16,
	METRIC_HAS_LLCS = 32, /* more than one: else all tasks are in it */
	METRIC_HAS_NODES = 64,
	METRIC_HAS_STALLS = 128,
	METRIC_HAS_PIDS = 256, /* a row is a process */
	METRIC_OF_GROUPS = 512,
	METRIC_HAS_MEMORY = 1024,
	METRIC_HAS_PAST = 2048,
	METRIC_HAS_CPUS = 8192,    /* a row is somewhere */
	METRIC_HAS_CGROUPS = 4096, /* that are not the names of the rows */
};

struct task_metric {
	const char *title;
	const char *definition; /* half a sentence */
	enum metric_unit unit;
	enum view_sort sort; /* SORT_OWN = one of its own */
	uint8_t width, most; /* cells at least; that it may grow to, 0 = it stays */
	uint8_t rank;        /* 0 is given up last where there is no room */
	bool is_standing; /* a count that sleeping tasks have, too: not measured over an interval */
	unsigned int needs;      /* bits from above */
	const char *short_title; /* below a heading; NULL = the title */
	const char *heading;     /* of metrics that follow each other, one constant; NULL = none */
	/* Where it comes from: a number (NAN = unknown), or a text (NULL = unknown). */
	double (*number)(const struct machine *m, const struct machine_task *t);
	const char *(*text)(const struct machine_task *t);
};

struct task_metrics {
	const struct task_metric *items; /* as they stand on the screen */
	size_t nr;
};

extern const struct task_metrics task_metrics;

/* Those of a screen: its own, or the usual ones. */
const struct task_metrics *task_metrics_of(const struct screen *s);
/* By which number a screen sorts by one of them. */
enum view_sort task_metric_sort(const struct task_metrics *of, size_t i);
/* That a screen sorts by; NULL = by nothing that tasks have. */
const struct task_metric *task_metric_sorted(const struct screen *s);
/* Whether it is measured over an interval, so that it is the same for all quiet tasks (struct machine_order). */
bool task_metric_is_measured(const struct task_metric *x);
bool task_metric_is_ascending(const struct task_metric *x); /* small to large */
void task_metric_cell(const struct task_metric *x, const struct machine *m,
                      const struct machine_task *t, const struct screen *s,
                      struct table_view_cell *out);
