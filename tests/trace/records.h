/* tests/trace/records — records to push, made in one line each. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "abi/sink.h"

#define HDR(type, kind_, cpu_, ts_)                                                         \
	{                                                                                   \
		.size = sizeof(struct type), .kind = (kind_), .cpu = (cpu_), .ts_ns = (ts_) \
	}

#define REC(type, kind, cpu, ts, ...)                                                  \
	((const struct ev_hdr *)&(const struct type){ .hdr = HDR(type, kind, cpu, ts), \
	                                              __VA_ARGS__ })

static inline const struct ev_hdr *rec_switch(uint32_t cpu, uint64_t ts, uint32_t prev,
                                              uint32_t state, uint32_t next)
{
	static struct ev_switch r;

	r = (struct ev_switch){ .hdr = HDR(ev_switch, EV_SWITCH, cpu, ts),
		                .prev_tid = prev,
		                .next_tid = next,
		                .prev_state = state,
		                .prev_prio = 120,
		                .next_prio = 120 };
	return &r.hdr;
}

static inline const struct ev_hdr *rec_waking(uint32_t cpu, uint64_t ts, uint32_t waker,
                                              uint32_t tid, uint32_t target)
{
	static struct ev_wake r;

	r = (struct ev_wake){ .hdr = HDR(ev_wake, EV_WAKING, cpu, ts),
		              .tid = tid,
		              .waker_tid = waker,
		              .target_cpu = target,
		              .prio = 120 };
	return &r.hdr;
}

static inline const struct ev_hdr *rec_task_info(uint32_t tid, uint32_t tgid, uint32_t ppid,
                                                 const char *comm)
{
	static struct ev_task_info r;

	r = (struct ev_task_info){
		.hdr = HDR(ev_task_info, EV_TASK_INFO, 0, 0), .tid = tid, .tgid = tgid, .ppid = ppid
	};
	memcpy(r.comm, comm, strlen(comm));
	return &r.hdr;
}

/*
 * A busy machine: each step is a waking or a switch somewhere; idle CPUs take a woken task. Always the same
 * for the same seed.
 */
#define BUSY_CPUS  8U
#define BUSY_TASKS 400U

struct busy {
	uint64_t seed;
	uint64_t now_ns;
	uint64_t step_ns; /* mean time between two records */
	uint32_t current[BUSY_CPUS];
};

static inline uint32_t busy_random(struct busy *b, uint32_t below)
{
	b->seed = b->seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(b->seed >> 33) % below;
}

/* Threads of a process share a name, as those of a pool do, or have one each. */
static inline int busy_introduce(struct ev_sink sink, bool has_own_names)
{
	char comm[EV_COMM_LEN] = "worker-000";
	int err = 0;

	for (uint32_t i = 0; i < BUSY_TASKS && !err; i++) {
		uint32_t tgid = 20000 + i / 8 * 8; /* eight threads each */
		uint32_t nr = has_own_names ? i : i / 8;

		comm[7] = (char)('0' + nr / 100);
		comm[8] = (char)('0' + nr / 10 % 10);
		comm[9] = (char)('0' + nr % 10);
		err = sink.push(sink.ctx, rec_task_info(20000 + i, tgid, 1, comm));
	}
	return err;
}

static inline const struct ev_hdr *busy_step(struct busy *b)
{
	uint32_t cpu = busy_random(b, BUSY_CPUS), prev = b->current[cpu], tid;
	uint32_t state = busy_random(b, 4) ? EV_STATE_S : EV_STATE_PREEMPTED;

	b->now_ns += 1 + busy_random(b, (uint32_t)(2 * b->step_ns));
	tid = 20000 + busy_random(b, BUSY_TASKS);
	if (busy_random(b, 2))
		return rec_waking(cpu, b->now_ns, prev, tid, busy_random(b, BUSY_CPUS));
	b->current[cpu] = prev && busy_random(b, 3) == 0 ? 0 : tid;
	return rec_switch(cpu, b->now_ns, prev, prev ? state : 0, b->current[cpu]);
}
