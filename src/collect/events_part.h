/*
 * collect/events_part — BPF objects beside that of the event stream, which write into its rings.
 *
 * Such an object declares the same maps under the same names (bpf/events_ring.bpf.h); here it gets those of
 * the event stream instead of its own. It has its own copy of the configuration and of the switch is_open.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"

struct bpf_object;
struct loaded;

/* Before part is loaded, after from has been. A negative errno. */
MUST_USE int events_part_share(const struct loaded *from, struct bpf_object *part);
/* Runs of its programs that the kernel skipped because one was already running. */
uint64_t events_part_missed(const struct loaded *part);
/* Whether the kernel has a function of that name in its table of symbols; true if that is unknown. */
bool events_part_has_function(const char *name);
