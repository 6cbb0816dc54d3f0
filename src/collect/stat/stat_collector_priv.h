/* collect/stat_collector_priv — what the files of the collector share; not for others. */
#pragma once

#include "collect/stat_collector.h"
#include "collect/stat_skel.h"
#include "collect/stat_unpack.h"

struct ring_buffer;
struct bpf_link;
struct bpf_program;
struct bpf_talk;

/* The kernel fills at most eight pages per read of an iterator. */
#define STAT_DRAIN_BUFFER_BYTES ((size_t)64 * 1024)

struct stat_collector {
	struct stat_plan plan;
	struct stat_bpf *skel;
	struct ring_buffer *ring;
	struct bpf_link *drain_link;
	struct bpf_talk *talk;
	uint32_t *possible;
	uint32_t nr_possible;
	struct stat_cpu *cpus; /* nr_cpus of them, as of the last drain */
	uint64_t *arrivals;    /* likewise */
	uint32_t *arrival_cpus;
	uint8_t *buffer;
	struct stat_cgroup *wanted;
	size_t nr_wanted;
	union stat_unpacked unpacked;
	uint32_t *asked;   /* room for all that can have news; NULL = nobody is asked by id */
	bool must_iterate; /* some news are in no list */
	uint64_t nr_bad;   /* records that did not add up */
	/* Where the records of the current call go. */
	stat_record_fn *fn;
	void *fn_ctx;
};

/* To whom the current call hands records. */
void stat_collector_hand_on(struct stat_collector *c, const struct stat_rec *rec, size_t len);
void stat_collector_run_on_every_cpu(const struct stat_collector *c,
                                     const struct bpf_program *prog);
