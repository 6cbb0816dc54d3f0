/* tests/analyze/more_records — records of the kinds that model/pair_fixture does not build, one call each. */
#pragma once

#include "pass_fixture.h"

/* who: tid that is interrupted, or 0 */
void irq_by(struct fixture *f, uint64_t ts, uint32_t cpu, uint32_t nr, const char *name,
            uint32_t who);
void softirq_by(struct fixture *f, uint64_t ts, uint32_t cpu, uint32_t vector, uint32_t who,
                bool is_exit);
void ipi(struct fixture *f, uint64_t ts, uint32_t cpu, const char *reason, bool is_exit);
void ipi_send(struct fixture *f, uint64_t ts, uint32_t cpu, uint32_t target);
void work(struct fixture *f, uint64_t ts, uint32_t tid, uint64_t function, bool is_end);
void freq(struct fixture *f, uint64_t ts, uint32_t on_cpu, uint32_t cpu, uint32_t khz);
void idle_state(struct fixture *f, uint64_t ts, uint32_t on_cpu, uint32_t cpu, uint32_t state);
void suspend(struct fixture *f, uint64_t ts, const char *action, bool is_start);

struct block_step {
	uint64_t dev, sector;
	uint32_t nr_sectors, tid;
	const char *rwbs;
};

void block(struct fixture *f, uint64_t ts, int step, const struct block_step *b);
void packet(struct fixture *f, uint64_t ts, const char *device, uint32_t bytes, bool is_sent);
/* step is EV_PAGE_*, EV_RECLAIM_* */
void memory(struct fixture *f, uint64_t ts, uint32_t cpu, uint32_t tid, int step, int order);
void fsync_at(struct fixture *f, uint64_t ts, uint32_t cpu, uint32_t tid, uint64_t inode,
              bool is_end);
void scx_run(struct fixture *f, uint64_t ts, uint32_t cpu, uint32_t tid, uint64_t dsq_id,
             uint32_t layer);
/* start 0 = unknown */
void dsq_leave(struct fixture *f, uint64_t ts, uint64_t start, uint64_t dsq_id, uint32_t tid,
               uint32_t layer);
void dsq_depth(struct fixture *f, uint64_t ts, uint64_t dsq_id, uint64_t depth);
void pmu(struct fixture *f, uint64_t ts, uint32_t cpu, uint32_t tid, uint64_t a, uint64_t b);
void string(struct fixture *f, uint64_t ts, uint32_t id, const char *text);
/* tid 0 = of no task */
void span(struct fixture *f, uint64_t ts, uint64_t start, uint32_t tid, uint32_t name, uint64_t id);
