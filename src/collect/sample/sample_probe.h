/*
 * collect/sample/sample_probe — the tracepoint or uprobe that a profile is taken at. Each refusal is one sentence.
 */
#pragma once

#include "base/attr.h"
#include "base/diag.h"

struct bpf_program;
struct bpf_tie;
struct loaded;

/* Before loading. -ENOENT. */
MUST_USE int sample_probe_tracepoint(struct loaded *l, struct bpf_program *prog, const char *spec,
                                     struct diag *d);
MUST_USE int sample_probe_uprobe(int prog_fd, const char *spec, struct diag *d,
                                 struct bpf_tie *out);
