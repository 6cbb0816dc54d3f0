/*
 * collect/sample_probe — the tracepoint or uprobe that a profile is taken at. Each refusal is one sentence.
 */
#pragma once

#include "base/attr.h"
#include "base/diag.h"

struct bpf_link;
struct bpf_program;

/* Before loading. -ENOENT. */
MUST_USE int sample_probe_tracepoint(struct bpf_program *prog, const char *spec, struct diag *d);
MUST_USE int sample_probe_uprobe(struct bpf_program *prog, const char *spec, struct diag *d,
                                 struct bpf_link **out);
