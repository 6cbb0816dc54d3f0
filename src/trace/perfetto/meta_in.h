/*
 * trace/perfetto/meta_in — what a trace says about itself and its machine, collected in the index pass.
 *
 * The evidence of which recorder wrote it is collected here too; producers.c decides.
 */
#pragma once

#include "trace/perfetto/index.h"

#define META_CPUS_MAX 8192U

enum { FINAL_FLUSH_FAILED = 2 }; /* of TraceStats */

struct reader_meta {
	struct map *cpu_ids;
	struct trace_cpu_info *cpus; /* in order of appearance until meta_finish() */
	size_t nr_cpus, cap_cpus;
	uint32_t *capacities; /* of CpuInfo, by number */
	size_t nr_capacities, cap_capacities;
	struct trace_key *attrs;
	size_t nr_attrs, cap_attrs;
	const char **enabled;
	size_t nr_enabled, cap_enabled;
	struct map *enabled_ids; /* those that are there already */

	uint64_t tracing_started; /* boot time; 0 = not given */
	bool keeps_buffer;        /* events from before that are wanted */
	bool has_ftrace_source, has_ftrace_stats, has_service_event, has_uid;
	bool has_trace_stats, has_disabled; /* the recorder's own statistics; that it stopped */
	bool is_stats_last;                 /* no bundle came after them */
	uint64_t final_flush;               /* FINAL_FLUSH_*; 0 = not given */
	bool has_scxtop_track, has_systing_track, has_idle_process;
	bool has_systing_process; /* as it describes them */
	bool has_seq_bundle, has_pid_bundle, has_bundle, has_tree;
};

MUST_USE int meta_new(struct reader *r);
void meta_done(struct reader *r);
/* The entry of a CPU, new or not; NULL beyond the cap or without memory. */
struct trace_cpu_info *meta_cpu(struct reader *r, uint32_t cpu);
/* A TrackDescriptor: names of threads and processes, topology, hints at the producer. */
MUST_USE int meta_track(struct reader *r, struct pb_in body, struct name_when when);
/* {"cpu_to_llc": {"0": 0, ...}, ...} or {"cpus": {"0": {"llc": 0, ...}, ...}}; nothing where it is neither. */
void meta_topology(struct reader *r, const void *json, size_t len);
/* An event of the kernel that was asked for: "sched/sched_switch". 0 or -ENOMEM. */
MUST_USE int meta_enabled(struct reader *r, const char *name, size_t len);
/* The first attribute of that name that is a text; NULL if there is none. */
const char *meta_attr_text(const struct reader *r, const char *key);
/* The last one that is a number, and not negative. */
bool meta_attr_number(const struct reader *r, const char *key, uint64_t *out);
/* Lists into the info, sorted. 0 or -ENOMEM. */
MUST_USE int meta_finish(struct reader *r);
