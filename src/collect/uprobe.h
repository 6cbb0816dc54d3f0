/* collect/uprobe — a BPF program at a function of a program or library. Each refusal is one sentence. */
#pragma once

#include <stdint.h>

#include "base/attr.h"
#include "base/diag.h"

struct bpf_tie;
struct probe_spec;

/*
 * A loaded program; cookie is what bpf_get_attach_cookie() gives it. For all processes: an event of one task would not follow its
 * threads. -ENOENT: there is no such file or function.
 */
MUST_USE int uprobe_attach(int prog_fd, const struct probe_spec *spec, uint64_t cookie,
                           struct diag *d, struct bpf_tie *out);
