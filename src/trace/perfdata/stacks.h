/*
 * trace/perfdata/stacks — samples and mappings as they come in the file, for stack_frames.c, which puts them in order of time.
 *
 * Chains of equal addresses are kept once.
 */
#pragma once

#include "trace/perfdata/perfdata.h"

#define STACK_EVENTS_MAX 256U /* different ones; more are unknown */

struct pd_raw_sample {
	struct trace_sample s;
	uint32_t order;
	uint32_t pid;
	uint32_t chain;
	uint32_t pad_;
};

struct pd_raw_chain {
	size_t first; /* in addresses */
	uint32_t nr;
	bool has_user;
};

enum pd_change_kind { CHANGE_MAP, CHANGE_FORK, CHANGE_EXEC };

/* Of what a process has mapped. */
struct pd_change {
	uint64_t ts_ns;
	uint32_t order;
	uint32_t kind;
	uint32_t pid; /* PD_NONE = the kernel */
	uint32_t parent;
	uint64_t start, end, offset;
	uint32_t path; /* in paths */
	uint32_t pad_;
};

struct pd_stacks {
	struct pd_raw_sample *samples;
	size_t nr_samples, cap_samples;
	struct map *chain_ids;
	struct pd_raw_chain *chains;
	size_t nr_chains, cap_chains;
	uint64_t *addresses;
	size_t nr_addresses, cap_addresses;
	struct pd_change *changes;
	size_t nr_changes, cap_changes;
	struct intern *paths;
	struct trace_frame_id **build_ids; /* by path; NULL = unknown */
	size_t nr_build_ids;
	uint32_t events[STACK_EVENTS_MAX]; /* texts of the reader; the first is unknown */
	uint16_t nr_events;
	uint64_t seed;
};

/* symbols.c: functions of the kernel. */
MUST_USE int pd_symbol_add(struct perfdata *d, uint64_t address, uint64_t len, const char *name,
                           size_t name_len);
/* NULL = unknown. */
const char *pd_symbol_find(struct perfdata *d, uint64_t address, size_t *len);

/* build_ids.c */
void pd_build_id_set(struct perfdata *d, uint32_t path, const uint8_t *id, uint32_t len);
const struct trace_frame_id *pd_build_id_of(const struct pd_stacks *s, uint32_t path);

/* Markers within a chain: what the addresses behind them are of. */
enum { CONTEXT_NONE, CONTEXT_KERNEL, CONTEXT_USER, CONTEXT_OTHER };
bool pd_chain_context(uint64_t address, int *context);
