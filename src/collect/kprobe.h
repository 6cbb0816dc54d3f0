/* collect/kprobe — a BPF program at the beginning of a function of the kernel. Each refusal is one sentence. */
#pragma once

#include <stdint.h>

#include "base/attr.h"
#include "base/diag.h"

struct bpf_tie;

/* Whether this kernel has kprobes at all: 0, or -EINVAL with the sentence about that function. */
MUST_USE int kprobe_check(const char *function, struct diag *d);
/* A loaded program; cookie is what bpf_get_attach_cookie() gives it. */
MUST_USE int kprobe_attach(int prog_fd, const char *function, uint64_t cookie, struct diag *d,
                           struct bpf_tie *out);
