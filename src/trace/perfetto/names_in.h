/*
 * trace/perfetto/names_in — names of tasks, as far as a trace describes them: process trees and descriptors,
 * in any order.
 *
 * Descriptions may come long after the events that they explain, and a tid may have several owners, so each
 * is kept with its time. names_link() sorts; after that lookups may come from any thread. Texts that do not
 * fit into a comm are kept by reference to the bytes of the file. Bounded by a cap of descriptions.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/event.h"
#include "base/attr.h"
#include "trace/perfetto/clocks.h"
#include "trace/perfetto/pb_read.h"

#define NAMES_MAX (1U << 24)

/* Processes under which wprof gathers what has none of its own. */
enum { NAMES_PID_IDLE = 2000000000, NAMES_PID_KERNEL = 2000000001, NAMES_PID_KTHREAD = 2000000002 };

struct name_when {
	uint64_t ts_ns; /* 0 = not given; of the trace's clock once linked */
	uint32_t clock;
	uint32_t order;
};

struct name_thread {
	uint32_t tid;
	uint32_t tgid; /* 0 = unknown */
	bool is_kthread;
	bool is_derived; /* from its process: a better one wins */
	struct name_when when;
	char comm[EV_COMM_LEN]; /* "" = unknown */
};

struct name_process {
	uint32_t tgid;
	uint32_t ppid;
	bool is_kthread;
	struct name_when when;
	uint64_t start_ns;
	struct pb_in name;    /* process_name */
	struct pb_in cmdline; /* of a message whose fields cmdline_field are arguments */
	uint32_t cmdline_field;
};

struct names_in {
	struct name_thread *threads; /* by tid, then time once linked */
	size_t nr_threads, cap_threads;
	struct name_process *processes; /* by tgid, then time once linked */
	size_t nr_processes, cap_processes;
};

void names_in_done(struct names_in *n);

/* Bodies of ProcessTree, GenericKernelProcessTree, ProcessDescriptor and ThreadDescriptor. */
MUST_USE int names_tree(struct names_in *n, struct pb_in body, struct name_when when);
MUST_USE int names_generic_tree(struct names_in *n, struct pb_in body, struct name_when when);
MUST_USE int names_process_desc(struct names_in *n, struct pb_in body, struct name_when when);
MUST_USE int names_thread_desc(struct names_in *n, struct pb_in body, struct name_when when);

/* From elsewhere, of the trace's clock (0 = no time). tgid 0 and "" are unknown. 0 or -ENOMEM. */
MUST_USE int names_thread(struct names_in *n, const struct name_thread *t, const void *comm,
                          size_t len);

void names_link(struct names_in *n, const struct clocks *clocks);
/*
 * The description of a tid that fits best at a time: the last one between the fork of its owner and
 * now, else the first one after now, else the last one of all. NULL if there is none.
 */
const struct name_thread *names_find_thread(const struct names_in *n, uint32_t tid,
                                            uint64_t born_ns, uint64_t now_ns);
const struct name_process *names_find_process(const struct names_in *n, uint32_t tgid,
                                              uint64_t born_ns, uint64_t now_ns);
/* A copy of at most EV_COMM_LEN - 1 bytes, padded with zeroes. */
void names_comm(char comm[EV_COMM_LEN], const void *s, size_t len);
