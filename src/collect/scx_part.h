/*
 * collect/scx_part — the programs that watch sched_ext, for the event stream: loaded where the kernel has what
 * they need, left out elsewhere. A scheduler that is loaded at the start is reported as EV_SCX_STATE. Never
 * prints. The kernel's counters of the scheduler are read from a file. Layers are reported for a scheduler
 * that is loaded when the part is opened, as long as it is loaded.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "abi/event_cfg.h"
#include "abi/sink.h"
#include "base/attr.h"
#include "base/diag.h"

struct loaded;
struct bpf_log;
struct btf;
struct scx_part;

struct scx_part_cfg {
	uint64_t kinds;              /* of SCX_KINDS; others are ignored */
	const struct ev_cfg *ev;     /* the configuration of the event stream's programs */
	const struct loaded *events; /* loaded */
	bool is_by_kprobe;           /* even where there is a quicker way */
	const struct btf *vmlinux;
	const struct bpf_log *log;
};

/* *out is NULL if there is nothing to watch. */
MUST_USE int scx_part_open(const struct scx_part_cfg *cfg, struct diag *d, struct scx_part **out);
uint64_t scx_part_kinds(const struct scx_part *p); /* that will come; NULL is fine, here and below */
MUST_USE int scx_part_attach(struct scx_part *p);
void scx_part_listen(struct scx_part *p, bool is_open);
MUST_USE int scx_part_emit(const struct scx_part *p, uint64_t ts_ns, const struct ev_sink *sink);
/* What the kernel counts, ten times a second, and has changed. The file behind it is read when it is time to. */
MUST_USE int scx_part_emit_counters(struct scx_part *p, uint64_t ts_ns, const struct ev_sink *sink);
void scx_part_detach(struct scx_part *p);
uint64_t scx_part_missed(const struct scx_part *p);
void scx_part_close(struct scx_part *p);
