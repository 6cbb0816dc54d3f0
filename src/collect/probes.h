/*
 * collect/probes — kprobes, uprobes and tracepoints of the user's choice, attached for the event stream.
 *
 * Opening attaches everything, so that whatever does not exist or is refused is known before anything else
 * begins; nothing is recorded before probes_listen(). Hits come through the rings of the event stream.
 * With a process or cgroup filter the probes are still hit by all tasks, and hits of others are dropped in
 * the kernel. Never prints; blocks only in the kernel's attaching.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/event_cfg.h"
#include "abi/sink.h"
#include "base/attr.h"
#include "base/diag.h"
#include "collect/probe_spec.h"

struct loaded;
struct bpf_log;
struct btf;
struct probes;

struct probes_cfg {
	const struct events_probe *probes; /* not kept */
	size_t nr;
	const struct ev_cfg *ev;     /* the configuration of the event stream's programs */
	const struct loaded *events; /* loaded, with on_kprobe and on_uprobe where they are needed */
	const struct bpf_log *log;
};

bool probes_need(const struct events_probe *probes, size_t nr, uint32_t type);
/* One sentence that names the probe. */
MUST_USE int probes_open(const struct probes_cfg *cfg, struct diag *d, struct probes **out);
void probes_listen(struct probes *p, bool is_open); /* NULL is fine, here and below */
/* EV_PROBE_INFO of each. */
MUST_USE int probes_emit(const struct probes *p, uint64_t ts_ns, const struct ev_sink *sink);
void probes_detach(struct probes *p);
uint64_t probes_missed(const struct probes *p); /* hits that the kernel skipped, by tracepoints */
void probes_close(struct probes *p);
