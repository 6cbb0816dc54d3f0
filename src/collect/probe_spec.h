/*
 * collect/probe_spec — parses the user's words for a probe. Pure: whether it exists is not checked.
 *
 *   kprobe      FUNCTION
 *   uprobe      PATH:SYMBOL[+OFFSET], where it begins; ret:PATH:SYMBOL or PATH:SYMBOL%return, where it returns.
 *               A PATH without a slash is searched for like a library or a program.
 *   tracepoint  SUBSYSTEM:NAME
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/diag.h"

#define PROBES_MAX       64
#define PROBE_SYMBOL_LEN 256
#define PROBE_PATH_LEN   1024
#define PROBE_NAME_LEN   128
/* For one that the kernel does not have. */
#define PROBE_TRACEPOINT_HINT \
	"'ls /sys/kernel/tracing/events/*' lists them; system calls have one for all, raw_syscalls:sys_enter"

/* What to attach to. */
struct events_probe {
	uint32_t type;    /* EV_PROBE_KPROBE, UPROBE (for both kinds of it) or TRACEPOINT */
	uint32_t id;      /* under which its hits come */
	const char *spec; /* as above */
};

struct probe_spec {
	uint32_t type;             /* EV_PROBE_* */
	char path[PROBE_PATH_LEN]; /* or the subsystem; empty for a kprobe */
	char symbol[PROBE_SYMBOL_LEN];
	uint64_t offset;
	char name[PROBE_NAME_LEN]; /* for people: file:symbol, without the folders; cut at its beginning */
};

/* -EINVAL with a sentence that names it. */
MUST_USE int probe_spec_parse(const struct events_probe *probe, struct probe_spec *out,
                              struct diag *d);
/* All of them, and not too many: what can be said before anything is opened. */
MUST_USE int probe_spec_check(const struct events_probe *probes, size_t nr, struct diag *d);
