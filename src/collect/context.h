/*
 * collect/context — what the programs of bpf/context.bpf.h need to know about this kernel, and
 * which of them are needed.
 *
 * The context of a CPU is read from preempt_count wherever it is found (sys/preempt_count). Only where it is not, or for
 * tests, interrupts are counted from their tracepoints. Never prints.
 */
#pragma once

#include <stdbool.h>

#include "abi/context.h"
#include "base/attr.h"

struct bpf_object;
struct btf;
struct loaded;

/* is_counted: as if there were no preempt_count. */
void context_find(const struct btf *vmlinux, bool is_counted, struct context_cfg *out);
/*
 * Before an object is loaded, after its other programs have been chosen: those that name interrupts, as far as the
 * kernel has the tracepoints and no other program of the object does it (one for the same tracepoint, which calls the
 * functions of bpf/context.bpf.h). With NULL for cfg: none.
 */
void context_choose(struct bpf_object *obj, const struct btf *vmlinux,
                    const struct context_cfg *cfg);
/* Before all others, so that no exit is missed whose entry was seen. 0 or -errno. */
MUST_USE int context_attach_exits(struct loaded *l);
/* Those, and all others that context_choose() chose. */
MUST_USE int context_attach(struct loaded *l);
