/*
 * sys/rights/perf_policy — which events of perf a process without rights may have: those of the kinds that this program opens.
 *
 * Counters and clocks of a CPU or a thread, with at most addresses in the kernel, threads and times in samples, and the maps of
 * processes. Not: registers, stacks and memory of others, data of tracepoints, breakpoints, probes by address, and PMUs that write
 * down every branch.
 */
#pragma once

#include <stdbool.h>

struct perf_event_attr;

/* devices: /sys/bus/event_source/devices, where PMUs with a number of their own are looked up. */
bool perf_policy_allows(const struct perf_event_attr *attr, const char *devices);
