/*
 * model/tasks — the identity of tasks: one entry per life of a thread, found by its tid.
 *
 * A fork, a first wakeup or a description (TASK_INFO) begins an entry, FREE ends it; a reused tid gets a
 * new one, and a tid that appears without any of these gets one whose start is unknown. Entries have
 * indices that stay the same until a dead entry is old enough to be reused; a thread that takes its
 * leader's tid by exec keeps its index. tid 0 is idle and never a task. Names are interned here, and
 * those of other things too, as one table of strings serves the whole model.
 *
 * Bounded by max_tasks: when all are alive, no more are added and lookups return TASKS_NONE; when
 * some are dead, the one dead longest is evicted early; both are counted. Nothing is allocated per
 * record once the number of living tasks has reached its peak. One thread. Pure: no I/O, no clock.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/event.h"
#include "base/attr.h"

#define TASKS_NONE      UINT32_MAX
#define TASKS_MAX       (1U << 22)
#define TASKS_MAX_NAMES 16 /* kept per task; the oldest go */

struct tasks;

struct task {
	uint32_t tid;
	uint32_t tgid;          /* 0 = unknown */
	uint32_t ppid;          /* tgid of the parent; 0 = none or unknown */
	uint32_t comm_id;       /* now; 0 = unknown */
	uint64_t start_ns;      /* 0 = unknown */
	uint64_t first_seen_ns; /* first record about it */
	uint64_t end_ns;        /* exited, or was freed; 0 = alive */
	bool is_kthread;
	bool is_exiting;
	bool is_unborn;     /* forked, not woken for the first time */
	bool has_acted;     /* ran, or was woken */
	uint8_t nr_unfreed; /* former owners of the tid whose FREE may still come */
	uint8_t nr_names;
	uint32_t first_name; /* newest; internal */
	uint32_t next_dead;  /* internal */
	bool is_found;       /* by its tid */
	bool is_listed_dead; /* internal */
};

struct tasks_loss {
	uint64_t no_room;      /* tasks that found no place */
	uint64_t early;        /* dead ones forgotten before their time */
	uint64_t no_name_room; /* names that found no place; their tasks have none */
};

/* Called for each entry that begins, before anything else about it, and for each that ends. */
struct tasks_hook {
	int (*begin)(void *ctx, uint32_t task, uint64_t ts_ns); /* a negative errno refuses it */
	void (*end)(void *ctx, uint32_t task, uint64_t ts_ns);
	void *ctx;
};

struct tasks_cfg {
	uint32_t max_tasks;    /* 0 picks 262144 */
	uint64_t keep_dead_ns; /* how long the dead are remembered at least; UINT64_MAX = forever */
};

/* -EINVAL for a configuration out of range, or -ENOMEM. */
MUST_USE int tasks_new(const struct tasks_cfg *cfg, struct tasks **out);
void tasks_free(struct tasks *t); /* NULL is fine */
/* The entries and names as they are now, to be read on another thread; without the hook. -ENOMEM. */
MUST_USE int tasks_copy(const struct tasks *t, struct tasks **out);
void tasks_set_hook(struct tasks *t, const struct tasks_hook *hook);

/* The living entry of a tid. TASKS_NONE if there is none. */
uint32_t tasks_find(const struct tasks *t, uint32_t tid);
/* NULL for an index that was never given. */
const struct task *tasks_at(const struct tasks *t, uint32_t task);
uint32_t tasks_nr(const struct tasks *t); /* indices given so far, the dead included */
void tasks_loss(const struct tasks *t, struct tasks_loss *out);

/* Each gives the entry that the record is about, new or not, or TASKS_NONE. */
uint32_t tasks_see(struct tasks *t, uint32_t tid, uint64_t ts_ns);
/* A new entry, whatever was there: the former one is over. */
uint32_t tasks_replace(struct tasks *t, uint32_t tid, uint64_t ts_ns);
uint32_t tasks_fork(struct tasks *t, const struct ev_fork *ev);
uint32_t tasks_wakeup_new(struct tasks *t, uint32_t tid, uint64_t ts_ns);
uint32_t tasks_info(struct tasks *t, const struct ev_task_info *ev);
uint32_t tasks_exec(struct tasks *t, const struct ev_exec *ev);
uint32_t tasks_exit(struct tasks *t, const struct ev_exit *ev);
uint32_t tasks_rename(struct tasks *t, const struct ev_rename *ev);
/* TASKS_NONE also when the record is about a former owner of the tid. */
uint32_t tasks_freed(struct tasks *t, const struct ev_free *ev);
/* It left the CPU for the last time; its tid still finds it until FREE or a new owner. */
void tasks_died(struct tasks *t, uint32_t task, uint64_t ts_ns);
void tasks_acted(struct tasks *t, uint32_t task);
void tasks_set_tgid(struct tasks *t, uint32_t task, uint32_t tgid);
/* comm needs no NUL when it is EV_COMM_LEN long; an empty one says nothing. */
void tasks_set_comm(struct tasks *t, uint32_t task, const char comm[EV_COMM_LEN], uint64_t ts_ns);

/* A task is in a cgroup from then on; a tid that has no entry gets none, and has it when it gets one. */
void tasks_cgroup(struct tasks *t, const struct ev_cgroup *ev);
void tasks_cgroup_info(struct tasks *t, const struct ev_cgroup_info *ev);
/* Records of a kind were lost: cgroups that they may have changed are unknown from then on. */
void tasks_lost(struct tasks *t, uint32_t kind, uint64_t ts_ns);
/* Cgroups are numbers from 1 to this. */
uint32_t tasks_nr_cgroups(const struct tasks *t);
/* The cgroup that a task was in then; 0 = unknown. */
uint32_t tasks_cgroup_at(const struct tasks *t, uint32_t task, uint64_t ts_ns);
uint32_t tasks_cgroup_now(const struct tasks *t, uint32_t task);
/* Its cgroups, the newest first, 0 while unknown, and since when; false for one that it does not have. */
bool tasks_cgroup_stay(const struct tasks *t, uint32_t task, uint32_t nr, uint32_t *cgroup,
                       uint64_t *from_ns);
uint64_t tasks_cgroups_dropped(const struct tasks *t); /* words about them that found no place */
/* Below the root of its hierarchy, "/" for the root; the last one if it was renamed. NULL = unknown. */
const char *tasks_cgroup_path(const struct tasks *t, uint32_t cgroup);
uint64_t tasks_cgroup_id(const struct tasks *t, uint32_t cgroup); /* the kernel's; 0 = none */

/* The name that a task had then; that before the first change for earlier times. 0 = unknown. */
uint32_t tasks_comm_at(const struct tasks *t, uint32_t task, uint64_t ts_ns);
/* Its names, the newest first; 0 for one that it does not have. */
uint32_t tasks_name(const struct tasks *t, uint32_t task, uint32_t nr);
/* 0, the empty string, without room. */
uint32_t tasks_intern(struct tasks *t, const char *s, size_t len);
/* NULL for an id that was never given. */
const char *tasks_string(const struct tasks *t, uint32_t id);
/* Now, or NULL while unknown. */
const char *tasks_comm(const struct tasks *t, uint32_t task);
