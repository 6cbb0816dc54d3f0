/*
 * model/allowed — on which CPUs a task may run, as EV_AFFINITY records tell; of the others nothing is known.
 *
 * Records go in through a sink, in time order. A task is a tid here, as the kernel's word about a thread that comes
 * and goes is about its tid. Bounded: what does not fit below the cap is dropped and counted. One thread. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/sink.h"
#include "base/attr.h"

struct allowed;

/* cap_bytes 0 picks 64 MiB. -ENOMEM. */
MUST_USE int allowed_new(size_t cap_bytes, struct allowed **out);
void allowed_free(struct allowed *a); /* NULL is fine */
struct ev_sink allowed_sink(struct allowed *a);

uint64_t allowed_nr(const struct allowed *a); /* words about tasks that may not use every CPU */
uint64_t allowed_dropped(const struct allowed *a);
/* Whether anything at all is known of this task. */
bool allowed_is_bound(const struct allowed *a, uint32_t tid);
/* By the last word about the tid up to that time, or the first one; true for one of whom nothing is known. */
bool allowed_cpu(const struct allowed *a, uint32_t tid, uint32_t cpu, uint64_t at_ns);
