/*
 * model/allowed — on which CPUs a task may run, from EV_AFFINITY records; for other tasks it is
 * unknown.
 *
 * Records go in through a sink, in time order. Tasks are identified by tid here, because the kernel
 * reports affinity by tid. Bounded: what does not fit below the cap is dropped and counted. One
 * thread. Pure.
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

uint64_t allowed_dropped(const struct allowed *a);
/*
 * A number of the last report about the tid up to that time, or of the first one: from 1 to
 * allowed_nr_words(); 0 = it may use every CPU, or its affinity is unknown.
 */
uint32_t allowed_word(const struct allowed *a, uint32_t tid, uint64_t at_ns);
uint32_t allowed_nr_words(const struct allowed *a);
bool allowed_is_known(const struct allowed *a, uint32_t tid); /* there is a report about it */
/*
 * By the last report about the tid up to that time, or the first one; true if its affinity is
 * unknown.
 */
bool allowed_cpu(const struct allowed *a, uint32_t tid, uint32_t cpu, uint64_t at_ns);
