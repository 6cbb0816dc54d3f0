/* mcp/resources/resources — every resource, by the file that holds it; the table in resources.c gives the order. */
#pragma once

#include "mcp/resource.h"

/* resources_system.c */
extern const struct resource resource_scheduler;
extern const struct resource resource_topology;
extern const struct resource resource_scheduler_raw;
extern const struct resource resource_scheduler_scx;
extern const struct resource resource_system_cpu;
extern const struct resource resource_system_memory;
extern const struct resource resource_system_network;

/* resources_kernel.c */
extern const struct resource resource_events_perf;
extern const struct resource resource_events_kprobe;
extern const struct resource resource_bpf_programs;

/* resources_trigger.c */
extern const struct resource resource_triggers;

/* resources_sql.c */
extern const struct resource resource_tables;

/* resources_live.c */
extern const struct resource resource_stats_cpu;
extern const struct resource resource_stats_llc;
extern const struct resource resource_stats_node;
extern const struct resource resource_stats_dsq;
extern const struct resource resource_stats_process;
extern const struct resource resource_stats_thread;
extern const struct resource resource_events_stream;
extern const struct resource resource_events_status;
