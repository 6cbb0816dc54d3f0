/*
 * symbol/spaces — what each process had mapped where, by time. Pure: nothing here opens a file.
 *
 * A process has lives: its pid may be reused after it exited. A life keeps its mappings until it is evicted: the
 * newest that covers an address at a time counts, so mappings need not be reported as gone. exec ends all of
 * them, fork copies those of the parent. At the caps the lives that ended first are evicted; if none has ended,
 * new ones are not kept, and counted. Times are boot-time ns. One thread at a time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/cleanup.h"

#define SPACES_NO_UID UINT32_MAX

struct spaces;

struct spaces_cfg { /* 0 = the default */
	uint32_t max_lives;
	uint32_t max_mappings; /* of all lives */
	uint32_t max_per_life; /* beyond it the oldest mapping is evicted */
};

struct space_mapping {
	uint64_t start, end;
	uint64_t offset; /* in the file */
	uint64_t since_ns, until_ns;
	uint32_t file; /* the caller's number for it */
	uint32_t pad_;
};

/* The life of a process that a time belongs to. */
struct space_life {
	uint32_t serial; /* never given twice */
	bool is_whole; /* all mappings are known: read from /proc, or reported since exec or fork */
	bool has_exited;
	uint64_t tried_ns; /* when /proc was last asked; 0 = never */
	uint32_t uid;      /* SPACES_NO_UID = unknown */
};

/* A process as /proc shows it. */
struct space_process {
	uint64_t start_ns; /* distinguishes lives where exits were not reported; 0 = it has exited */
	uint32_t uid;
};

/* NULL without memory. */
struct spaces *spaces_new(const struct spaces_cfg *cfg);
void spaces_free(struct spaces *s); /* NULL is fine */
DEFINE_SCOPED(spaces, spaces_free)

/* 0 or -ENOMEM, all four. A process that is new to us begins with its first report. */
MUST_USE int spaces_map(struct spaces *s, uint32_t tgid, uint64_t ts_ns,
                        const struct space_mapping *m); /* since_ns and until_ns are ignored */
MUST_USE int spaces_exec(struct spaces *s, uint32_t tgid, uint64_t ts_ns);
MUST_USE int spaces_fork(struct spaces *s, uint32_t parent, uint32_t child, uint64_t ts_ns);
/*
 * What spaces_map() gets next for this process was read from /proc at now_ns: returns in *since_ns
 * the time to give it.
 */
MUST_USE int spaces_read(struct spaces *s, uint32_t tgid, const struct space_process *now,
                         uint64_t now_ns, uint64_t *since_ns);
void spaces_exit(struct spaces *s, uint32_t tgid, uint64_t ts_ns);

bool spaces_life(const struct spaces *s, uint32_t tgid, uint64_t ts_ns, struct space_life *out);
bool spaces_find(struct spaces *s, uint32_t tgid, uint64_t ts_ns, uint64_t address,
                 struct space_mapping *out);
/* All that a process has mapped at a time, by start; what newer ones cover is left out. A negative errno of fn() ends it. */
typedef int spaces_fn(void *ctx, const struct space_mapping *m);
MUST_USE int spaces_each(const struct spaces *s, uint32_t tgid, uint64_t ts_ns, spaces_fn *fn,
                         void *ctx);
uint32_t spaces_nr(const struct spaces *s);     /* lives */
uint64_t spaces_unkept(const struct spaces *s); /* reports that found no room */
