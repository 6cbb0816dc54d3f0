/* collect/stat/stat_collector_priv — what the files of the collector share; not for others. */
#pragma once

#include "collect/loaded.h"
#include "collect/stat/stat_collector.h"
#include "collect/stat/stat_dsqs.h"
#include "collect/stat/stat_unpack.h"

#define SKELETON "stat.skel.h"
#include "collect/skel.h"

struct ring;
struct bpf_program;
struct bpf_log;

/* The kernel fills at most eight pages per read of an iterator. */
#define STAT_DRAIN_BUFFER_BYTES ((size_t)64 * 1024)

struct stat_collector {
	struct stat_plan plan;
	struct stat_bpf *skel;
	struct loaded *loaded;
	struct ring *ring;
	int ring_poll;  /* an epoll, which is ready when the programs wake us; -1 */
	int drain_link; /* of the iterator; -1 */
	struct bpf_tie dsq_ties[STAT_DSQ_WATCHERS]; /* of sched_ext, by kprobe */
	struct bpf_log *log;
	uint32_t *possible;
	uint32_t nr_possible;
	struct stat_cpu *cpus; /* nr_cpus of them, as of the last drain */
	uint64_t *arrivals;    /* likewise */
	uint32_t *arrival_cpus;
	uint8_t *buffer;
	struct stat_cgroup *wanted;
	size_t nr_wanted;
	union stat_unpacked unpacked;
	uint32_t *asked; /* room for all tasks that can have changed; NULL = tasks are not requested by id */
	uint32_t *open; /* those that ran or waited at the last drain; likewise */
	size_t nr_open;
	bool must_iterate; /* some changed tasks are in no list */
	uint64_t nr_bad;   /* records that did not add up */
	/* Where the records of the current call go. */
	stat_record_fn *fn;
	void *fn_ctx;
};

/* Hands on what is in the ring. */
void stat_collector_empty_ring(struct stat_collector *c);
/* The callback of the current call. */
void stat_collector_hand_on(struct stat_collector *c, const struct stat_rec *rec, size_t len);
void stat_collector_run_on_every_cpu(const struct stat_collector *c,
                                     const struct bpf_program *prog);
