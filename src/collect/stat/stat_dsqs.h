/*
 * collect/stat_dsqs — the part of the aggregating programs that watches dispatch queues of sched_ext: where its programs
 * attach, and what they keep. For stat_collector alone.
 */
#pragma once

#include <stdbool.h>

#include "base/attr.h"
#include "collect/stat_collector.h"

struct scx_plan;
struct stat_bpf;

/* Before loading: only what the plan has is loaded. 0 or -errno. */
MUST_USE int stat_dsqs_place(struct stat_bpf *skel, const struct scx_plan *plan);
/* Whether the kernel lets all programs attach in the plan's way: they come, and go again. */
bool stat_dsqs_can_attach(struct stat_bpf *skel, const struct scx_plan *plan);
/* All of them. 0 or -errno. */
MUST_USE int stat_dsqs_attach(struct stat_bpf *skel, const struct scx_plan *plan);
/* When all is attached: nobody tells of a scheduler that is there already. */
void stat_dsqs_begin(struct stat_bpf *skel);
/* Those of schedulers that another one has followed come for the last time. 0 or -errno. */
MUST_USE int stat_dsqs_read(struct stat_bpf *skel, stat_dsq_fn *fn, void *ctx);
