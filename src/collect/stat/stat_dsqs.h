/*
 * collect/stat/stat_dsqs — the part of the aggregating programs that watches dispatch queues of sched_ext: where its programs
 * attach, and what they keep. For stat_collector alone.
 */
#pragma once

#include <stdbool.h>

#include "base/attr.h"
#include "collect/loaded.h"
#include "collect/stat/stat_collector.h"

struct scx_plan;
struct stat_bpf;

#define STAT_DSQ_WATCHERS 5 /* programs on functions of sched_ext */

/* Before loading: only what the plan has is loaded. 0 or -errno. */
MUST_USE int stat_dsqs_place(struct loaded *l, struct stat_bpf *skel, const struct scx_plan *plan);
/* Whether the kernel lets all programs attach in the plan's way: attaches and detaches them. */
bool stat_dsqs_can_attach(struct loaded *l, struct stat_bpf *skel, const struct scx_plan *plan);
/* All of them; ties of kprobes, which are the caller's. 0 or -errno. */
MUST_USE int stat_dsqs_attach(struct loaded *l, struct stat_bpf *skel, const struct scx_plan *plan,
                              struct bpf_tie ties[STAT_DSQ_WATCHERS]);
/* When all is attached: a scheduler that is already loaded is not reported by any event. */
void stat_dsqs_begin(struct stat_bpf *skel);
/* Those of replaced schedulers are delivered for the last time. 0 or -errno. */
MUST_USE int stat_dsqs_read(struct stat_bpf *skel, stat_dsq_fn *fn, void *ctx);
