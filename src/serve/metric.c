#include "serve/metric.h"

#include <errno.h>

#define FROM_STAT(group) "sums in the kernel; group `" group "`"
#define FROM_BLAME       "the event stream; with `--blame` only"

/* clang-format off */
const struct metric metrics[METRICS] = {
	[METRIC_BUILD] = { "schedscope_build_info", METRIC_INFO, "", "version, kernel, machine",
		"Version of schedscope, release of the kernel, and architecture.",
		"Always 1. With a recording, kernel and machine are those of the recording.",
		"`uname`, or the recording" },
	[METRIC_START_TIME] = { "schedscope_start_time_seconds", METRIC_GAUGE, "seconds", "",
		"When all counters began at 0, in seconds since 1970.",
		"It changes when the daemon is started again, and only then: a reload keeps all counters.",
		"the clock" },
	[METRIC_RELOADS] = { "schedscope_reloads_total", METRIC_COUNTER, "", "",
		"Reloads of the groups of metrics (SIGHUP) that worked.",
		"", "the daemon" },
	[METRIC_UNMEASURED] = { "schedscope_unmeasured_seconds_total", METRIC_COUNTER, "seconds", "",
		"Time in which nothing was counted, because groups were being reloaded.",
		"From the end of the old programs to the start of the new ones.", "the daemon" },
	[METRIC_SCHED_DELAY] = { "schedscope_sched_delay_seconds", METRIC_HISTOGRAM, "seconds", "cause",
		"Time from becoming runnable to running.",
		"`cause` is why the task became runnable: `woken` (from sched_wakeup), `preempted` (from the switch-out while "
		"runnable), `new` (from its first wakeup). A wait counts when it ends. The idle task is not a task.",
		FROM_STAT("latency") },
	[METRIC_WAKING_DELAY] = { "schedscope_waking_delay_seconds", METRIC_HISTOGRAM, "seconds", "",
		"Time from sched_waking to running.",
		"Woken tasks only; includes the way to the CPU before the task is queued.", FROM_STAT("waking") },
	[METRIC_SLICE] = { "schedscope_slice_seconds", METRIC_HISTOGRAM, "seconds", "end",
		"Time on a CPU from one switch to the next.",
		"`end` is how it ended: `slept`, or `preempted` (switched out while still runnable).", FROM_STAT("slice") },
	[METRIC_SLEEP] = { "schedscope_sleep_seconds", METRIC_HISTOGRAM, "seconds", "state",
		"Time asleep, from the switch-out to the wakeup.",
		"`state` is `interruptible`, `uninterruptible` or `other` (stopped, traced, parked, idle kernel threads).",
		FROM_STAT("sleep") },
	[METRIC_CPU_IDLE] = { "schedscope_cpu_idle_seconds", METRIC_HISTOGRAM, "seconds", "",
		"Idle times of CPUs, each from the switch to the idle task to the switch away.",
		"All CPUs together. An idle time counts when it ends.", FROM_STAT("sleep") },
	[METRIC_RUNQUEUE_DEPTH] = { "schedscope_runqueue_depth", METRIC_HISTOGRAM, "", "",
		"Runnable tasks on the CPU that a task is woken to, at the wakeup.",
		"The woken task included, so 1 is alone. Not with a recording, which does not hold it.", FROM_STAT("latency") },
	[METRIC_MIGRATIONS] = { "schedscope_migrations_total", METRIC_COUNTER, "", "distance",
		"Moves of tasks between CPUs.",
		"`distance` is `same_llc` (within a last-level cache, or where the topology is unknown), `cross_llc` (between "
		"caches of one node) or `cross_node`.", FROM_STAT("migration") },
	[METRIC_CGROUP_DELAY] = { "schedscope_cgroup_sched_delay_seconds", METRIC_HISTOGRAM, "seconds", "cgroup",
		"Time from becoming runnable to running, of all causes, by cgroup.",
		"The cgroup is that of the waiting task, by its path. See [cgroups](#cgroups).", FROM_STAT("latency") },
	[METRIC_CGROUP_RUN] = { "schedscope_cgroup_run_seconds_total", METRIC_COUNTER, "seconds", "cgroup",
		"Time on a CPU, of slices that have ended, by cgroup.",
		"", FROM_STAT("slice") },
	[METRIC_THROTTLED] = { "schedscope_throttled_seconds_total", METRIC_COUNTER, "seconds", "cgroup",
		"Time for which the quota of a cgroup kept its CPUs from running it.",
		"`throttled_usec` of its cpu.stat (v1: `throttled_time`), as far as it grew while the cgroup had a name of its own "
		"here; not there for cgroups without the file, and not for `other`.", "the kernel's cpu.stat; group `latency`" },
	[METRIC_THROTTLED_PERIODS] = { "schedscope_throttled_periods_total", METRIC_COUNTER, "", "cgroup",
		"Periods in which the quota of a cgroup was used up.",
		"`nr_throttled` of its cpu.stat, likewise.", "the kernel's cpu.stat; group `latency`" },
	[METRIC_CGROUPS_SEEN] = { "schedscope_cgroups_seen", METRIC_GAUGE, "", "",
		"Cgroups that were counted so far, by path.",
		"At most 4,096 are remembered; then the one that was quiet for longest is forgotten.", "the daemon" },
	[METRIC_CGROUPS_FORGOTTEN] = { "schedscope_cgroups_forgotten_total", METRIC_COUNTER, "", "",
		"Cgroups that were forgotten because there were more than are remembered.",
		"Only those without a name of their own here are forgotten, and they are counted as `other`. One that had a name before and gets it again begins at 0. "
		"What it waited since the last Parquet file is `other` in the next.", "the daemon" },
	[METRIC_CGROUPS_MERGED] = { "schedscope_cgroups_merged", METRIC_GAUGE, "", "",
		"Those of them that are counted as other now.",
		"0 means that nothing is cut. `--top` sets how many have names of their own.", "the daemon" },
	[METRIC_BLAME] = { "schedscope_blame_seconds_total", METRIC_COUNTER, "seconds", "victim, culprit",
		"Time that tasks of a cgroup waited for a CPU, by what had the CPU.",
		"`victim` is a cgroup, `culprit` a cgroup whose task ran, or one of `(throttled)`, `(interrupts)`, "
		"`(stolen)`, `(idle)`, `(dispatch queue)`, `(waking)`, `(unknown)`. Parts of waits as `analyze blame` defines them.",
		FROM_BLAME },
	[METRIC_BLAME_MERGED] = { "schedscope_blame_merged_seconds_total", METRIC_COUNTER, "seconds", "",
		"The part of the blame whose victim or culprit is counted as other.",
		"", FROM_BLAME },
	[METRIC_BLAME_COVERED] = { "schedscope_blame_covered_seconds_total", METRIC_COUNTER, "seconds", "",
		"Time that the blame is about.",
		"Divide by it rather than by the time between scrapes: where memory is short, a part of the time is left out.", FROM_BLAME },
	[METRIC_WASTED_IDLE] = { "schedscope_wasted_idle_seconds_total", METRIC_COUNTER, "seconds", "",
		"Time in which a CPU was idle while a task waited that may run on it.",
		"`wasted_ns` of `analyze wasted_cores`: of however many CPUs and tasks, each moment counts once, so its rate is a share of the "
		"time between 0 and 1. Waits shorter than 20 us, throttled tasks, isolated and offline CPUs are left out. Live, tasks that exit "
		"before it is known on which CPUs they may run are left out as well, and it is not there in a pid namespace of its own; divide by "
		"`schedscope_blame_covered_seconds_total`. With a recording it is there if the recording says on which CPUs tasks may run.",
		"the event stream, with `--blame` only; or the recording" },
	[METRIC_DSQ_LATENCY] = { "schedscope_dsq_latency_seconds", METRIC_HISTOGRAM, "seconds", "queue",
		"Time from the insertion into a dispatch queue of sched_ext to running.",
		"`queue` is `local` (of CPUs), `global`, or `user` (those that the scheduler made, all together).", FROM_STAT("dsq") },
	[METRIC_SCX_ENABLED] = { "schedscope_scx_enabled", METRIC_GAUGE, "", "",
		"Whether a sched_ext scheduler is in charge.",
		"Not there on kernels without sched_ext.", "/sys/kernel/sched_ext" },
	[METRIC_SCX_SCHEDULER] = { "schedscope_scx_scheduler_info", METRIC_INFO, "", "scheduler",
		"Name of the sched_ext scheduler in charge.",
		"Always 1; not there while none is.", "/sys/kernel/sched_ext" },
	[METRIC_SCX_ENABLES] = { "schedscope_scx_enables_total", METRIC_COUNTER, "", "",
		"Schedulers of sched_ext that were loaded since boot.",
		"", "/sys/kernel/sched_ext" },
	[METRIC_SCX_REJECTED] = { "schedscope_scx_rejected_tasks_total", METRIC_COUNTER, "", "",
		"Tasks that a scheduler of sched_ext refused, since boot.",
		"", "/sys/kernel/sched_ext" },
	[METRIC_EVENTS] = { "schedscope_events_total", METRIC_COUNTER, "", "event",
		"Events of the kernel that were counted.",
		"", "sums in the kernel, or the recording" },
	[METRIC_LOST_EVENTS] = { "schedscope_lost_events_total", METRIC_COUNTER, "", "kind",
		"What should have been counted and was not.",
		"Kinds that never lost anything are there with 0.", "sums in the kernel, or the recording" },
	[METRIC_FLIGHT_DUMPS] = { "schedscope_flight_dumps_total", METRIC_COUNTER, "", "trigger",
		"Dumps that the flight recorder has written.",
		"By the kind of the trigger; those that were asked for are there with 0.", "the directory of `--keep`" },
	[METRIC_FLIGHT_KEPT] = { "schedscope_flight_dumps_kept", METRIC_GAUGE, "", "",
		"Dumps that are in the directory now.",
		"The oldest are removed beyond `--max-dumps` and `--max-dumps-mib`.", "the directory of `--keep`" },
	[METRIC_PARQUET_FILES] = { "schedscope_parquet_files_total", METRIC_COUNTER, "", "table",
		"Parquet files that were written.",
		"With `--parquet` only. `table` is `latency_hist`, `blame` or `dumps`.", "the directory of `--parquet`" },
	[METRIC_PARQUET_FAILURES] = { "schedscope_parquet_failures_total", METRIC_COUNTER, "", "table",
		"Parquet files that could not be written.",
		"It is tried again after `--every`; the next file then covers the time of both, so that nothing is lost.", "the directory of `--parquet`" },
	[METRIC_PARQUET_WRITTEN] = { "schedscope_parquet_written_time_seconds", METRIC_GAUGE, "seconds", "",
		"Up to when latency_hist is in Parquet files, in seconds since 1970.",
		"Not there before the first one.", "the directory of `--parquet`" },
	[METRIC_OWN_CPU] = { "schedscope_own_cpu_seconds_total", METRIC_COUNTER, "seconds", "",
		"CPU time of this daemon, in user space and in system calls.",
		"Without its helper processes and the flight recorder of `--keep`, and without its BPF programs, which run in the tasks that are measured (docs/performance.md has figures).", "the clock of the process" },
	[METRIC_OWN_MEMORY] = { "schedscope_own_memory_bytes", METRIC_GAUGE, "bytes", "",
		"Resident memory of this daemon.",
		"Without its helper processes and the flight recorder of `--keep`.", "/proc/self/statm" },
	[METRIC_REPLAY_POSITION] = { "schedscope_replay_position_seconds", METRIC_GAUGE, "seconds", "",
		"How far the replay of a recording has come.",
		"With `serve FILE` only.", "the recording" },
};
/* clang-format on */

const char *metric_type_name(enum metric_type type)
{
	static const char *const names[] = { "counter", "gauge", "histogram", "gauge" };

	return names[type];
}

static const char intro[] =
	"# Metrics of `schedscope serve`\n"
	"\n"
	"This page is written by `schedscope serve --list-metrics`; a test compares the two.\n"
	"\n"
	"Durations are in seconds. A metric that a machine does not offer, or whose group was not asked for, is not\n"
	"there: absent is unknown, 0 is 0. Counters begin at 0 when the daemon starts (`schedscope_start_time_seconds`) and\n"
	"survive reloads of groups. No label holds a thread or process id; only exemplars do.\n"
	"\n"
	"## Histograms\n"
	"\n"
	"The kernel side counts durations in 216 slots: 1 us wide below 32 us, 10 us below 512 us, then eight per power of\n"
	"two up to 67 s. Bounds (`le`) lie only where slots end, so that nothing is guessed: 1, 2, 4, 8, 16, 32, 62, 122, 252,\n"
	"512 us and the powers of two times that up to 33.6 s, or every slot with `--buckets all`. A slot ends before its bound: a\n"
	"duration of exactly the bound, to the nanosecond, is counted above it. `histogram_quantile()` is right within a\n"
	"bucket, so with `--buckets all` within a slot. Native histograms (protobuf) have schema 3, eight buckets per power of two; each of\n"
	"our slots is put into the one bucket that holds its middle, so a quantile is off by at most half a slot and one bucket. Durations below 1 us are the zero bucket.\n"
	"\n"
	"OpenMetrics and protobuf have an exemplar on the bucket of the longest duration of the last one to two minutes: `comm`, `tid` and\n"
	"`cpu` of the task, and when it ended; with `--keep` also `dump`, the name of the flight recorder's file that shows it, where there is one.\n"
	"\n"
	"## Cgroups\n"
	"\n"
	"The `--top` cgroups (20 if not given) with the longest waits, those of the last minutes counting most, have series of their own; all others are added\n"
	"to `cgroup=\"other\"` at the time of their waits. A cgroup that takes over a place begins at what it had when it lost the place, or at 0; what was added to\n"
	"`other` before stays there. So no series ever goes back, and the sum of all is what was measured. A place is taken over only by a cgroup that waits twice as\n"
	"much. A cgroup is its path: one that is removed and made again goes on in the same series.\n"
	"\n"
	"## What is not there\n"
	"\n"
	"Without `--blame`, time that a CPU was idle while a task waited that may run on it: sums in the kernel know one CPU at a time. Which CPUs these\n"
	"were: `schedscope record` and `analyze wasted_cores` have them. The time that our own BPF programs take:\n"
	"`schedscope stat` measures it now and then, docs/performance.md has figures. Depths of run queues and dispatch queues with a recording.\n"
	"\n"
	"## All metrics\n";

static int write_one(const struct metric *m, FILE *out)
{
	static const char *const types[] = { "counter", "gauge", "histogram", "info" };

	fprintf(out, "\n### `%s`\n\n%s\n", m->name, m->help);
	if (m->definition[0])
		fprintf(out, "%s\n", m->definition);
	fprintf(out, "\n- type: %s", types[m->type]);
	if (m->unit[0])
		fprintf(out, ", in %s", m->unit);
	if (m->labels[0])
		fprintf(out, "\n- labels: %s", m->labels);
	return fprintf(out, "\n- from: %s\n", m->from) < 0 ? -EIO : 0;
}

int metric_write_docs(FILE *out)
{
	int err = fputs(intro, out) < 0 ? -EIO : 0;

	for (int i = 0; i < METRICS && !err; i++)
		err = write_one(&metrics[i], out);
	return err;
}
