/*
 * trace/perfetto/write/writer — a sink that writes a Perfetto trace, streaming, in bounded memory.
 *
 * What has been written is always a loadable trace, also when the program is killed or the disk is
 * full: packets are written whole, and each chunk depends only on those before it. Records must have
 * passed ev_check(). The first failure sticks: push() and flush() return it, what is on disk stays.
 * Reads nothing by itself: facts about the machine come from the caller, through the config or through
 * callbacks, which are called from push(), flush() and open. One thread; blocks only in write(2). Never
 * prints. Switches and wakings allocate nothing once their CPU and tasks are known.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/sink.h"
#include "base/attr.h"
#include "base/diag.h"
#include "base/loss.h"
#include "trace/facts.h"
#include "trace/reader.h"

struct trace_writer;

#define TRACE_WRITER_TASKS (1U << 17)

/* All may be NULL. */
struct trace_callbacks {
	void *ctx;
	/* The clocks now; false = unknown. At the start, then every ten seconds of trace time. */
	bool (*clocks)(void *ctx, struct trace_clocks *out);
	/* What is at an address of a stack then; tgid 0 is the kernel. False = unknown. */
	bool (*place)(void *ctx, uint32_t tgid, uint64_t ts_ns, uint64_t address,
	              struct trace_place *out);
	/* The name of an address into buf, of stacks only without place; tgid 0 is the kernel. False = unknown. */
	bool (*symbol)(void *ctx, uint32_t tgid, uint64_t address, char *buf, size_t size);
	/* Arguments of a process, separated by NULs, into buf; how many bytes, 0 = unknown. */
	size_t (*cmdline)(void *ctx, uint32_t tgid, char *buf, size_t size);
};

/* Only the callbacks are used after opening. */
struct trace_writer_cfg {
	bool is_compressed; /* as compressed_packets */
	/*
	 * Switches and wakings in full: events of a CPU at the same time are read in the order in which they came. As columns,
	 * they take less room, and readers take wakings first and switches last.
	 */
	bool keeps_order;
	bool names_all;    /* also tasks that no event mentions */
	bool is_real_path; /* of trace_writer_create(): no part of it may be a link */
	const char *tool, *version, *command_line;
	struct trace_uuid uuid;            /* both 0 = none */
	const struct trace_system *system; /* NULL = unknown */
	const struct trace_cpu *cpus;      /* in order; what they are */
	size_t nr_cpus;
	const struct trace_attr *attrs; /* further attributes */
	size_t nr_attrs;
	uint64_t kinds;             /* EV_BIT() of those that are recorded; 0 = not given */
	const char *const *enabled; /* without kinds: their names, as ftrace has them */
	size_t nr_enabled;
	const char *const *pmu_names; /* of the values of EV_PMU, in order */
	size_t nr_pmu_names;
	struct trace_sampling sampling; /* of the stacks of CPUs */
	uint32_t tasks_max;             /* remembered at a time; 0 = TRACE_WRITER_TASKS */
	struct trace_callbacks calls;
};

struct trace_writer_stats {
	uint64_t nr_records; /* written, in whatever form */
	uint64_t nr_skipped; /* of kinds or CPUs that a trace cannot hold */
	uint64_t nr_bytes;   /* on disk */
	uint64_t nr_clamped; /* came late for their CPU */
	uint64_t nr_breaks; /* switches whose prev was not the last next, without a reported loss */
	uint64_t nr_lost;   /* reported by EV_LOST */
	uint32_t nr_tasks;  /* remembered now */
	bool has_high_cpu;  /* 1024 or above: Perfetto's own reader refuses those */
};

/* A new file in the place of an old one, for its owner only; as new_file_open(). */
MUST_USE int trace_writer_create(const char *path, const struct trace_writer_cfg *cfg,
                                 struct diag *d, struct trace_writer **out);
/* Onto a descriptor, which is the writer's from here on, also on failure. */
MUST_USE int trace_writer_open(int fd, const struct trace_writer_cfg *cfg, struct diag *d,
                               struct trace_writer **out);

/* A moment that a reader should find, on the track "marks", with what there is to say about it. */
struct trace_mark {
	uint64_t ts_ns;
	const char *name;
	const struct trace_attr *args;
	size_t nr_args; /* TRACE_MARK_ARGS at most */
};

#define TRACE_MARK_ARGS 8U

/* A stack of which the frames are known already, as another recorder gave them. */
struct trace_known_stack {
	uint64_t ts_ns;
	uint64_t weight;
	uint32_t end; /* as in struct trace_sample */
	uint32_t tid;
	uint32_t cpu; /* ~0 = unknown */
	enum trace_sample_kind kind;
	const char *event;      /* by which it was taken; "" = unknown */
	const uint32_t *frames; /* indices into the table, leaf first */
	uint32_t nr_frames;
	const struct trace_frame *table; /* the same for all stacks of a file */
};

struct ev_sink trace_writer_sink(struct trace_writer *w);
/* How the machine does, as counters; not before the records of that time. Fails as push() does. */
MUST_USE int trace_writer_sys_stats(struct trace_writer *w, const struct trace_sys_stats *stats);
/* At any time, as marks are. Kinds and events beyond a cap are skipped. Fails as push() does. */
MUST_USE int trace_writer_stack(struct trace_writer *w, const struct trace_known_stack *stack);
/* At any time, whatever its own time is. */
MUST_USE int trace_writer_mark(struct trace_writer *w, const struct trace_mark *mark);
/* What was lost besides the EV_LOST of the stream, for the totals at the end. */
struct trace_losses {
	uint64_t skipped; /* runs that the kernel skipped */
	uint64_t damaged; /* bad records */
	uint64_t other;   /* of which the kind is unknown */
	uint64_t kinds[EV_KIND_MAX];
	struct losses run;
};
void trace_writer_losses(struct trace_writer *w, const struct trace_losses *losses);
/* Everything so far goes to the file. */
MUST_USE int trace_writer_flush(struct trace_writer *w, struct diag *d);
void trace_writer_stats(const struct trace_writer *w, struct trace_writer_stats *out);
/* Why push() fails; NULL while it does not. */
const struct diag *trace_writer_error(const struct trace_writer *w);
/* Flushes, adds the totals, closes, frees. The first failure of all, or 0. NULL is fine. */
MUST_USE int trace_writer_close(struct trace_writer *w, struct diag *d);
