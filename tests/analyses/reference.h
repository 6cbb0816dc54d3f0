/*
 * tests/analyses/reference — what a small stream of records means, worked out the slow way: by looking through all records
 * again for each of them. Shares no code with the model. Also the machine that makes such streams.
 */
#pragma once

#include "../analyze/pass_fixture.h"

#define REF_INTERRUPT UINT32_MAX
#define REF_CPUS      3
#define REF_TASKS     8 /* tids 100 to 107; the last two are born on the way */
#define REF_FIRST     100
#define REF_MAX       512

struct ref_rec {
	uint8_t kind; /* EV_* */
	uint8_t flags;
	uint32_t cpu;
	uint64_t ts;
	uint32_t tid;   /* woken, moved, or switched out */
	uint32_t other; /* waker, or switched in */
	uint32_t state; /* of a switch */
	uint32_t from, to;
};

struct ref_slice {
	uint64_t start, end;
	uint32_t tid, cpu;
	int how; /* enum pair_end */
};

struct ref_wait {
	uint64_t waking, wakeup, end;
	uint64_t edge;  /* when the waker did it */
	uint64_t moved; /* to its CPU; 0 = it was not */
	uint32_t tid, cpu, from_cpu;
	uint32_t by; /* tid; REF_INTERRUPT = an interrupt; 0 = idle or unknown */
	int cause;
	bool is_open;
};

struct ref_sleep {
	uint64_t start, end;
	uint32_t tid;
	bool is_blocked;
};

struct ref_move {
	uint64_t ts;
	uint32_t tid, from, to;
};

struct ref {
	struct ref_rec recs[REF_MAX];
	int nr_recs;
	uint64_t start, end;
	struct ref_slice slices[REF_MAX];
	int nr_slices;
	struct ref_wait waits[REF_MAX];
	int nr_waits;
	struct ref_sleep sleeps[REF_MAX];
	int nr_sleeps;
	struct ref_move moves[REF_MAX];
	int nr_moves;
	uint64_t idle_ns[REF_CPUS];
};

struct ref_cfg {
	unsigned int seed;
	bool has_waking, has_wakeup;
	uint32_t scale;  /* of times */
	bool is_damaged; /* records are missing, twice, late, or nonsense; no task is born or dies */
};

/* Makes a stream; recs, start and end. */
void ref_make(struct ref *ref, const struct ref_cfg *cfg);
/* Sends it. */
void ref_push(const struct ref *ref, struct pass_fixture *p);
/* The rest, from the records of a stream that is whole. */
void ref_pair(struct ref *ref);
/* The rest, from the rows of the model: what it makes of damaged streams is tested elsewhere. */
void ref_read(struct ref *ref, const struct pass_fixture *p);
