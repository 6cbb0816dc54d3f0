/* trace/perfetto/write/writer_priv — what the parts of the writer share. Private to trace/perfetto/write/writer*.c. */
#pragma once

#include "trace/perfetto/write/chunk_out.h"
#include "trace/perfetto/write/ftrace_out.h"
#include "trace/perfetto/write/names_out.h"
#include "trace/perfetto/write/sample_out.h"
#include "trace/perfetto/write/span_out.h"
#include "trace/perfetto/write/stack_out.h"
#include "trace/perfetto/write/track_out.h"
#include "trace/perfetto/write/writer.h"
#include "trace/trace_tasks.h"

#define WRITER_NAME_BYTES 128U /* of a probe or a counter; longer ones are cut */
#define WRITER_PMU_MAX    32U
#define WRITER_PROBES_MAX 4096U
#define WRITER_DSQS_MAX   4096U /* with counters of their own */

struct writer_probe {
	uint32_t type;
	char name[WRITER_NAME_BYTES];
};

#define WRITER_NETS_MAX   64U
#define WRITER_NET_VALUES 8U

#define WRITER_SCX_COUNTERS_MAX 64U

/* The counters of a network interface as last written. */
struct writer_net {
	char name[16];
	bool has_values;
	uint64_t values[WRITER_NET_VALUES];
};

struct trace_writer {
	struct chunk_out chunk;
	struct trace_tasks *tasks;
	struct names_out names;
	struct ftrace_out ftrace;
	struct track_out tracks;
	struct sample_out samples[EV_SAMPLE_KINDS];
	struct stack_out stacks; /* those that come with their frames */
	struct span_out spans;
	uint32_t nr_images; /* given to processes */
	struct trace_callbacks calls;
	struct map *symbols; /* address of the kernel -> number of its name; 0 = it has none */
	struct map *probe_ids;
	struct writer_probe *probes;
	uint32_t probes_room;
	struct map *dsq_ids;
	struct track_dsq *dsqs;
	uint32_t dsqs_room;
	char pmu_keys[WRITER_PMU_MAX][WRITER_NAME_BYTES];
	struct writer_net nets[WRITER_NETS_MAX];
	size_t nr_nets;
	char scx_counters[WRITER_SCX_COUNTERS_MAX][48]; /* those that have a track */
	size_t nr_scx_counters;
	bool keeps_order, names_all; /* of the configuration */
	uint64_t nr_renamed;         /* tasks with TASK_RENAMED */
	uint64_t next_tick_ns;
	uint64_t next_chunk_ns;
	uint64_t next_clocks_ns;
	uint64_t reached_ns;              /* the records of all CPUs are complete until then */
	uint64_t one_in;                  /* of EV_SAMPLING; 0 = not given */
	uint32_t measures;                /* of EV_MEASURES */
	char all_cpus[WRITER_NAME_BYTES]; /* those of tasks that may run on every CPU; "" = not known */
	uint64_t nr_lost[EV_KIND_MAX];
	struct trace_losses losses;
	uint64_t nr_records;
	uint64_t nr_skipped;
};

/* A record is written by the handler of its kind: 0, -ERANGE to skip it, or what stops the writer. */
typedef int writer_fn(struct trace_writer *w, const struct ev_hdr *rec);
extern writer_fn *const writer_handlers[EV_KIND_MAX];

/* The first failure stops everything; a reason is always there. */
int writer_fail(struct trace_writer *w, int err);

/* Where and when something is written. */
struct writer_place {
	struct ftrace_cpu *cpu;
	uint64_t ts_ns;
};
MUST_USE int writer_at(struct trace_writer *w, const struct ev_hdr *rec, struct writer_place *out);
/* The task with its name written; NULL for the idle task. */
MUST_USE int writer_task(struct trace_writer *w, uint32_t tid, uint64_t ts_ns,
                         struct trace_task **out);
/*
 * Writes its name, if that is not written yet. In a converted file, a thread of no known process is named by an event: in the
 * tree of processes readers would give it to process 0.
 */
MUST_USE int writer_name(struct trace_writer *w, struct trace_task *task, uint64_t ts_ns);
/* The task running on the CPU, or the given tid if that is unknown. */
uint32_t writer_current(const struct writer_place *at, uint32_t otherwise);
/* An event in full at the place of the record, with the task that it is of shown: its fields follow, then ftrace_end(). */
#define WRITER_CURRENT UINT32_MAX /* of the task that runs on the CPU */
MUST_USE int writer_begin(struct trace_writer *w, const struct ev_hdr *rec, uint32_t tid,
                          uint32_t member, struct ftrace_event *out);

/* writer_sched.c */
/* A switch that was not recorded, marked so; at any time since the last one of the CPU. */
MUST_USE int writer_inferred_switch(struct trace_writer *w, const struct writer_place *at,
                                    uint32_t prev_tid, uint32_t next_tid);
writer_fn writer_switch, writer_waking, writer_wakeup, writer_wakeup_new, writer_migrate;
/* writer_task.c */
writer_fn writer_fork, writer_exec, writer_exit, writer_rename, writer_free, writer_hang,
	writer_wait, writer_task_info, writer_affinity, writer_policy;
/* writer_cgroup.c */
writer_fn writer_cgroup, writer_cgroup_info;
/* writer_irq.c */
writer_fn writer_softirq, writer_irq_entry, writer_irq_exit, writer_ipi_send, writer_ipi,
	writer_work;
/* writer_cpu.c */
writer_fn writer_cpu_idle, writer_cpu_freq, writer_cpu_hotplug, writer_hw_pressure, writer_gpu_mem,
	writer_lost, writer_sampling;
/* writer_probe.c */
writer_fn writer_probe, writer_probe_info, writer_pmu, writer_sample;
/* writer_scx.c */
writer_fn writer_scx_run, writer_dsq_leave, writer_dsq_depth, writer_scx_state, writer_scx_counter;
/* writer_quota.c */
writer_fn writer_throttle, writer_refill, writer_throttled, writer_rt_limit, writer_steal,
	writer_measures;
/* writer_span.c */
writer_fn writer_string, writer_span;
/* writer_end.c */
uint64_t writer_sum_lost(const struct trace_writer *w);
MUST_USE int writer_put_ends(struct trace_writer *w);
MUST_USE int writer_put_totals(struct trace_writer *w);
/* writer_io.c */
writer_fn writer_counter, writer_block, writer_net, writer_memory, writer_fsync, writer_suspend,
	writer_blocked, writer_sleep, writer_lock;
