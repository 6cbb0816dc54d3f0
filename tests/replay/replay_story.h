/*
 * tests/replay/replay_story — a made-up machine that runs by itself for a while, tells what happens as records, and
 * remembers all of it, so that tests work out any interval without the program's own tables.
 *
 * STORY_TASKS threads in processes of STORY_THREADS each, whose first tid is STORY_TID; four CPUs. Every task is seen from
 * STORY_START on; the first sleep of each is not known. The last switch is at the very end.
 */
#pragma once

#include "../analyze/pass_fixture.h"

#include "machine/machine.h"

#define STORY_TID     100U
#define STORY_TASKS   12U
#define STORY_THREADS 3U
#define STORY_CPUS    4U
#define STORY_START   5000000000ULL
#define STORY_END     5100000000ULL
#define STORY_ROWS    20000U

enum story_kind {
	STORY_SLICE,
	STORY_IDLE,
	STORY_LATENCY,   /* from waking to running */
	STORY_WAIT,      /* in a queue after a wakeup: the later part of it */
	STORY_PREEMPTED, /* in a queue after a slice */
	STORY_SLEEP,
};

struct story_row {
	enum story_kind kind;
	uint32_t tid, cpu;
	uint64_t start_ns, end_ns;
	char how;     /* of slices: V, I; of sleeps: S, D */
	bool is_open; /* when the story ended */
};

struct story_moment {
	char kind;    /* s(witch), w(aking), m(igration) */
	uint32_t cpu; /* of a migration: where to */
	uint32_t tid, from_cpu;
	uint64_t ts_ns;
};

struct story {
	struct story_row rows[STORY_ROWS];
	uint32_t nr_rows;
	struct story_moment moments[STORY_ROWS];
	uint32_t nr_moments;
};

/* Tells it to p, and ends it there. Migrations are recorded, or to be guessed. */
void story_generate(struct story *y, struct pass_fixture *p, uint32_t seed, bool has_migrations);

/* An interval: [from, to), the last one with its end. */
struct story_cut {
	uint64_t from_ns, to_ns;
	bool is_last;
};

/* Time of a kind within the cut; tid 0 and cpu UINT32_MAX are any. */
uint64_t story_time(const struct story *y, const struct story_cut *c, enum story_kind kind,
                    uint32_t tid, uint32_t cpu);
uint32_t story_count(const struct story *y, const struct story_cut *c, char kind, uint32_t cpu);
/* Of what ended there; tids [tid, tid + nr) */
struct machine_dist story_dist(const struct story *y, const struct story_cut *c,
                               enum story_kind kind, uint32_t tid, uint32_t nr);
uint32_t story_ends(const struct story *y, const struct story_cut *c, uint32_t tid, char how);
/* What it does at the last moment; NULL = unknown. */
const struct story_row *story_at(const struct story *y, const struct story_cut *c, uint32_t tid);
