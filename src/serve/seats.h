/*
 * serve/seats — which cgroups have series of their own, and what these count; all others are "other".
 *
 * A fixed number of seats. Every cgroup has a score: its waits, of which half is forgotten every ten minutes. A free seat goes to the
 * highest score; a taken one changes hands only for twice its holder's score. What a cgroup counts goes to its own sums while it has a seat, else to those of
 * "other", at that moment: so no sum ever goes back. A cgroup that comes back to a seat goes on from where its sums were. Per step: seats_note() for each
 * cgroup, seats_choose() once, then add.
 *
 * Cgroups are known by path, cut to SEAT_NAME_LEN - 1 bytes; those of the same name share a series. At most SEATS_KNOWN are remembered; for a new one, that
 * which was noted least recently is forgotten, unless it has a seat: where more are active in one step, note those last that wait longest. What a forgotten
 * one counted that no Parquet file has is in seats_gone(). One thread. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/cleanup.h"
#include "base/hist.h"

#define SEAT_NAME_LEN 256U
#define SEATS_KNOWN   4096U
#define SEATS_MAX     1000U
#define SEAT_OTHER    0U /* the index of "other" */
#define SEAT_NONE     UINT32_MAX

/* What of the kernel's cpu.stat was read last. */
struct seat_throttle {
	uint64_t cgroup_id; /* 0 = never read */
	uint64_t usec, periods;
};

struct seat {
	char name[SEAT_NAME_LEN];
	uint64_t cgroup_id;    /* that had the name last */
	double score;          /* in ns */
	uint32_t older, newer; /* in the order in which they were last noted; SEAT_NONE = none */
	bool is_seated;
	struct hist *delay;   /* NULL until it has had a seat */
	struct hist *written; /* what Parquet files have of it; NULL = nothing */
	uint64_t run_ns;
	bool has_throttle;
	struct seat_throttle last;
	uint64_t throttled_us, throttled_periods;
};

struct seats;

/* -ENOMEM. At most SEATS_MAX have series of their own. */
MUST_USE int seats_new(uint32_t nr_seats, struct seats **out);
void seats_free(struct seats *s); /* NULL is fine */
DEFINE_SCOPED(seats, seats_free)

/* The index of a cgroup by its path, new or not; SEAT_OTHER without a name, and without memory. */
uint32_t seats_find(struct seats *s, const char *path);
/* The same, but SEAT_OTHER for one that is not known: nothing changes. */
uint32_t seats_known(const struct seats *s, const char *path);
void seats_note(struct seats *s, uint32_t seat, uint64_t cgroup_id, uint64_t wait_ns);
/* Hands the seats out anew. */
void seats_choose(struct seats *s, uint64_t now_ns);
/* The one whose sums a cgroup adds to now: itself, or SEAT_OTHER. Never NULL. */
struct seat *seats_sums(struct seats *s, uint32_t seat);
uint32_t seats_index(struct seats *s, uint32_t seat);  /* of the same */
struct seat *seats_at(struct seats *s, uint32_t seat); /* NULL beyond; some have no seat */
uint32_t seats_nr_seated(const struct seats *s);       /* without "other" */
uint32_t seats_nr_known(const struct seats *s);
/* Which index was given to another cgroup by the last seats_find(); SEAT_NONE = none. */
uint32_t seats_replaced(const struct seats *s);
uint64_t seats_nr_forgotten(const struct seats *s);
/* What forgotten ones counted and no file has; a file that has it empties it. */
struct hist *seats_gone(struct seats *s);
/* Adds by how much cpu.stat has grown since the last call. */
void seat_take_throttle(struct seat *seat, const struct seat_throttle *now);
