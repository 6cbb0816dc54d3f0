#include "mcp/resources/resources.h"

#include "mcp/resources/resources_profile.h"

/* Every resource, in the order of the list. */
const struct resource *const resources[] = {
	&resource_scheduler,      &resource_topology,        &resource_stats_cpu,
	&resource_stats_llc,      &resource_stats_node,      &resource_stats_dsq,
	&resource_stats_process,  &resource_stats_thread,    &resource_scheduler_raw,
	&resource_scheduler_scx,  &resource_system_cpu,      &resource_system_memory,
	&resource_system_network, &resource_events_perf,     &resource_events_kprobe,
	&resource_bpf_programs,   &resource_events_stream,   &resource_events_status,
	&resource_profile_status, &resource_profile_results, &resource_triggers,
	&resource_tables,
};

const size_t nr_resources = sizeof(resources) / sizeof(resources[0]);

#define PAGED(uri_, name_, title_, what_)                                              \
	{                                                                              \
		uri_ "{?limit,offset}", name_, title_, what_ ": a page of your choice" \
	}

const struct resource_template resource_templates[] = {
	{ "events://stream{?types,cpu,pid,comm,cursor,limit,max_rate}", "event-stream",
	  "Filtered event stream",
	  "scheduler events as they happen; subscribe, and read what came since the last read" },
	{ "trigger://{id}", "trigger", "A trigger of yours",
	  "a condition that the tool live was given: how often it held, and why; subscribe to be notified" },
	PAGED("stats://aggregated/{kind}", "aggregated", "Aggregated statistics",
	      "cpu, llc, node, dsq, process or thread"),
	PAGED("events://kprobe", "kprobe-functions", "Functions to probe", "kernel functions"),
	{ "events://perf{?subsystem,limit,offset}", "tracepoints", "Tracepoints",
	  "tracepoints, of one subsystem if given" },
	{ "schema://tables{?table}", "table", "A table of SQL",
	  "columns of one table for the tool query" },
	PAGED("bpf://programs", "bpf-programs", "BPF programs",
	      "BPF programs loaded in the kernel"),
};

const size_t nr_resource_templates = sizeof(resource_templates) / sizeof(resource_templates[0]);
