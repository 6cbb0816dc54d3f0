/*
 * trace/perfetto/tracks/track_desc_in — the tracks of a trace: which thread, process or counter is behind a uuid.
 *
 * Descriptors come in any order, more than once, with parents that are missing or run in a circle. A uuid that
 * is both a process and a thread is the thread (wprof 0.1 and 0.2 give one uuid to both). Bytes of names are
 * not copied: those of the descriptors must stay where they are. Bounded by the number of descriptors. One
 * thread at a time; lookups may come from several once nothing is added any more.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "trace/perfetto/pb_read.h"

#define TRACK_NONE (~0U)

/* Groups of threads that wprof makes up, as processes. */
enum { WPROF_PID_IDLE = 2000000000, WPROF_PID_KERNEL = 2000000001, WPROF_PID_KTHREAD = 2000000002 };

/* Bytes of a file, not terminated; s is NULL where there are none. */
struct track_text {
	const char *s;
	size_t len;
};

enum track_is {
	TRACK_IS_PROCESS = 1,
	TRACK_IS_THREAD = 2,
	TRACK_IS_COUNTER = 4,
	TRACK_IS_INCREMENTAL = 8, /* the counter's values are differences */
	TRACK_IS_DESCRIBED = 16,
	TRACK_IS_RESOLVED = 32,
	TRACK_IS_IDLE = 64,    /* of the CPU in owner */
	TRACK_IS_KERNEL = 128, /* its thread is one of the kernel */
};

struct track_in {
	uint64_t uuid;
	uint64_t parent;
	struct track_text name;
	struct track_text thread_name; /* the first one given */
	int64_t reference_us;          /* of old time stamps */
	int64_t multiplier;            /* of a counter's values; 1 where none is given */
	int64_t sum;                   /* of an incremental counter so far */
	uint32_t flags;                /* bits of enum track_is */
	uint32_t pid, tid;             /* as written */
	/* Once resolved: whose events are here. */
	uint32_t owner;      /* tid; the CPU with TRACK_IS_IDLE; TRACK_NONE = unknown */
	uint32_t owner_tgid; /* 0 = unknown */
	uint8_t last_oncpu;  /* TRACK_TYPE_* of its last ONCPU event; 0 = there was none */
};

/* What a descriptor said, for the tables of names. */
struct track_described {
	bool is_process, is_thread;
	uint32_t pid, tid; /* as written */
	struct track_text name;
};

struct track_descs;

MUST_USE int track_descs_new(struct track_descs **out);
void track_descs_free(struct track_descs *t); /* NULL is fine */

/*
 * A TrackDescriptor. -EINVAL without a uuid (out is still filled in), -E2BIG beyond the cap, -ENOMEM. out may
 * be NULL.
 */
MUST_USE int track_descs_add(struct track_descs *t, struct pb_in in, struct track_described *out);
/* The track of a uuid, described or not; TRACK_NONE only without memory or beyond the cap. */
uint32_t track_descs_index(struct track_descs *t, uint64_t uuid);
/* The same, TRACK_NONE for a uuid that was never mentioned. */
uint32_t track_descs_find(const struct track_descs *t, uint64_t uuid);
/* Owner and flags are those of the nearest thread among it and its parents. */
struct track_in *track_descs_get(struct track_descs *t, uint32_t index);

/* N of "swapper/N". */
bool track_swapper_cpu(struct track_text name, uint32_t *cpu);
