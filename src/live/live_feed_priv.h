/* live/live_feed_priv — the two halves of the feed: what is needed, and the thread that follows those needs. */
#pragma once

#include <pthread.h>

#include "live/live_feed.h"
#include "live/live_model.h"

#define NEEDS_MAX 256U

/* Who a task is, and that it is no longer there. */
#define LIFE_KINDS \
	(EV_BIT(EV_FORK) | EV_BIT(EV_EXEC) | EV_BIT(EV_EXIT) | EV_BIT(EV_RENAME) | EV_BIT(EV_FREE))
/* In which cgroup it is; no events of the stream. */
#define CGROUP_KINDS (EV_BIT(EV_CGROUP) | EV_BIT(EV_CGROUP_INFO))
/* What is said of tasks beside the events of the stream, for those who explain waits and sleeps. */
#define WHY_ONLY_KINDS (EV_BIT(EV_POLICY) | EV_BIT(EV_SLEEP))
#define SCHED_KINDS \
	(EV_BIT(EV_SWITCH) | EV_BIT(EV_WAKING) | EV_BIT(EV_WAKEUP_NEW) | EV_BIT(EV_MIGRATE))
#define SOFTIRQ_KINDS (EV_BIT(EV_SOFTIRQ_ENTRY) | EV_BIT(EV_SOFTIRQ_EXIT))
#define STATS_KINDS   (SCHED_KINDS | LIFE_KINDS | SCX_KINDS)
#define STREAM_KINDS  (SCHED_KINDS | LIFE_KINDS | SOFTIRQ_KINDS | EV_BIT(EV_HANG) | EV_BIT(EV_WAIT))
/* Whatever collect/events has a program for, and what it measures at switches. */
#define ALL_KINDS                                                                                  \
	(STREAM_KINDS | SCX_KINDS | LIVE_MEASURES | EV_BIT(EV_WAKEUP) | EV_BIT(EV_IRQ_ENTRY) |     \
	 EV_BIT(EV_IRQ_EXIT) | EV_BIT(EV_IPI_SEND) | EV_BIT(EV_IPI_ENTRY) | EV_BIT(EV_IPI_EXIT) |  \
	 EV_BIT(EV_WORK_START) | EV_BIT(EV_WORK_END) | EV_BIT(EV_CPU_IDLE) | EV_BIT(EV_CPU_FREQ) | \
	 EV_BIT(EV_CPU_HOTPLUG) | EV_BIT(EV_HW_PRESSURE) | EV_BIT(EV_GPU_MEM))

struct need {
	bool is_taken;
	unsigned int uses;
	uint64_t kinds;
	uint64_t until_ns; /* 0 = until it is dropped */
};

struct live_feed {
	struct live_feed_cfg cfg;
	struct topology *topology; /* our own; NULL = lent */
	struct live_kernel *kernel;
	struct live_source source;
	int wake_fd;
	/* Not a base/worker: the thread sleeps in poll() on descriptors of the kernel, which no condition wakes. */
	bool has_thread;
	pthread_t thread;

	pthread_mutex_t lock; /* of all that follows */
	pthread_cond_t change;
	bool is_ending;
	struct need needs[NEEDS_MAX];
	bool is_tracking;
	uint32_t tracker;
	uint32_t wanted_analyzers; /* running, or to be started once their records flow */
	uint64_t asked, answered;  /* changes of the needs, and those that the thread has seen */
	int error;                 /* of the last answer */
	struct diag diag;
	uint64_t refused; /* kinds that could not be opened; 0 = none */
	uint64_t rounds;
	unsigned int uses;
	struct live_model model;
	struct live_feed_status status;
	uint64_t since_ns; /* of the stream that is attached */

	char filter[32]; /* which tasks are recorded, if not all */
	uint32_t watch_holders[LIVE_TRIGGERS_MAX];

	uint64_t stream_kinds;
	void *stream; /* the thread's own */
};

/* The thread. */
void *live_feed_run(void *ctx);
/* Has it check the needs again. */
void live_feed_wake(struct live_feed *f);
