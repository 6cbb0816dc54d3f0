/*
 * stat/stat_session — a run of `stat`: from the kernel's counters to one report's input per interval.
 *
 * open() resolves names, opens counters, loads and attaches; run() waits, drains and calls show() once per
 * interval and once more at the end, whatever ended it: time, SIGINT, SIGTERM or a closed output. A caller
 * with its own loop uses step() instead. One thread. Never prints; optional data that is not available is
 * in the notes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/diag.h"
#include "collect/stat_filter.h"
#include "stat/report/stat_report.h"
#include "stat/stat_groups.h"

struct stat_session;

struct stat_session_cfg {
	struct stat_groups groups;
	struct stat_filter_cfg filter;
	uint32_t tid;          /* 0 = any */
	uint32_t tgid;         /* 0 = any */
	enum tally_by display; /* what rows are shown by */
	uint64_t min_latency_us;
	uint64_t outlier_ns; /* 0 = off */
	bool is_from_waking; /* woken tasks wait from sched_waking on, not from sched_wakeup */
	const char *topology_path; /* NULL = sysfs */
	uint64_t interval_ns;      /* > 0 */
	uint64_t run_time_ns;      /* 0 = until stopped */
	enum tally_view_kind view; /* for what only one view is kept of */
	int output_fd;             /* watched: when its reader exits the run ends; -1 = not */
	bool is_scx_by_kprobe;     /* for tests: as on kernels without fentry */
	/* For stat_session_step() instead of run(): signals and privileges are left to the caller. */
	bool is_stepped;
	/* With is_stepped: as stat itself counts, queue depths included, and no times of what is under way. */
	bool is_for_metrics;
	/* As in struct tally_cfg; NULL = none. */
	void (*peak)(void *ctx, const struct tally_peak *peak);
	void *peak_ctx;
};

/* Why a run ended. */
enum stat_end { STAT_END_TIME, STAT_END_SIGNAL, STAT_END_OUTPUT };

/*
 * in has everything but how to show it; valid during the call. A negative errno ends the run; -EPIPE and
 * -EINTR, as of stat_session_write(), end it in order, with a last call.
 */
typedef int stat_show_fn(void *ctx, struct stat_report_in *in, bool is_final);

MUST_USE int stat_session_open(const struct stat_session_cfg *cfg, struct diag *d,
                               struct stat_session **out);
void stat_session_close(struct stat_session *s); /* NULL is fine; detaches */

size_t stat_session_nr_notes(const struct stat_session *s);
const char *stat_session_note(const struct stat_session *s, size_t i);
const struct cgroup_set *stat_session_cgroups(
	const struct stat_session *s); /* matched by the filter */

/* To output_fd, for show(): a signal ends it with -EINTR, a reader that has gone with -EPIPE. */
MUST_USE int stat_session_write(struct stat_session *s, const char *bytes, size_t len);

MUST_USE int stat_session_run(struct stat_session *s, stat_show_fn *show, void *ctx, struct diag *d,
                              enum stat_end *why);

/*
 * For callers with their own loop: drains now, and calls show() for the time since the last step,
 * or since the opening. Unchanged rows are left out, and those of exited tasks are evicted now and
 * then: only the interval views are meaningful.
 */
MUST_USE int stat_session_step(struct stat_session *s, stat_show_fn *show, void *ctx,
                               struct diag *d);
/* Readable when a step should not wait, because records of tasks that exited fill their ring; -1 = there is none. */
int stat_session_fd(const struct stat_session *s);
/* As of the last drain; NULL if the kernel's events are not counted, or there is no such CPU. */
const struct stat_cpu *stat_session_cpu(const struct stat_session *s, uint32_t cpu);
/* Tasks that moved to a CPU so far; false if that is not counted. */
bool stat_session_arrivals(const struct stat_session *s, uint32_t cpu, uint64_t *out);
