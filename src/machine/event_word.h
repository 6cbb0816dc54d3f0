/*
 * machine/event_word — parses the words for what is counted on every CPU. Pure: whether it exists
 * is not checked.
 *
 *   cpu:NAME                 cpu_total_util_percent, cpu_user_util_percent, cpu_system_util_percent, cpu_frequency_mhz
 *   perf:SUBSYSTEM:EVENT     hw (hardware), sw (software), a PMU of sysfs, or the subsystem of a tracepoint
 *   kprobe:FUNCTION          calls of a function of the kernel
 *   raw:NAME:0xCONFIG:TYPE   an event by its numbers: TYPE is perf's, 4 is the CPU's own codes. Without the "raw:" it is
 *                            what scxtop takes as --perf-events
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/diag.h"

struct machine_cpu;

#define EVENT_WORD_BYTES 256
#define EVENT_WORD_BUSY  "cpu:cpu_total_util_percent"

enum event_source { EVENT_CPU, EVENT_PERF, EVENT_KPROBE, EVENT_RAW };
enum event_share { EVENT_BUSY, EVENT_USER, EVENT_SYSTEM, EVENT_MHZ }; /* of EVENT_CPU */

struct event_word {
	enum event_source source;
	enum event_share share;
	char subsystem[64]; /* of EVENT_PERF */
	char name[EVENT_WORD_BYTES];
	uint64_t config; /* of EVENT_RAW, as type */
	uint32_t type;
};

/* -EINVAL with a sentence that says how it is written. */
MUST_USE int event_word_parse(const char *text, struct event_word *out, struct diag *d);
/* What a CPU has of it. */
double event_share_of(const struct machine_cpu *c, enum event_share share);
/* Rates add up; shares of time and frequencies do not. */
bool event_word_is_rate(const struct event_word *w);
/* For a title: "cycles", "sched:sched_switch", "do_sys_open". */
char *event_word_title(const struct event_word *w, char *buf, size_t size);
