/*
 * record/record_symbols — what the addresses of recorded stacks are: names, lines, files of running
 * and of exited processes.
 *
 * Which files processes have mapped is known from the kernel's reports as it happens (collect/sample/mmap_ring), and from
 * /proc for those that were there before; so a process may have exited when its stacks are written. Without the right to
 * get reports, only /proc is used. Where stacks are walked by tables, those of the processes are kept in the kernel meanwhile
 * (profile/profiler/unwinder). One thread; blocks on files only. Never prints.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/sink.h"
#include "base/attr.h"
#include "base/diag.h"
#include "trace/facts.h"

struct cpulist;
struct record_symbols;
struct unwind_maps;

struct record_symbols_cfg {
	const struct cpulist *online; /* not kept */
	struct unwind_maps *unwind; /* by which stacks are walked; NULL = by frame pointers. Lent */
	const struct diag *why_not_table; /* though it was tried; empty or NULL = nothing to say */
	uint32_t tgid;                    /* the only process that matters; 0 = all */
};

/* Before the rights to read everything are given up. */
MUST_USE int record_symbols_open(const struct record_symbols_cfg *cfg, struct diag *d,
                                 struct record_symbols **out);
/* Before stacks are taken: tables of the processes that are there, for some seconds at most. 0 or -errno. NULL is fine. */
MUST_USE int record_symbols_prepare(struct record_symbols *s, struct diag *d);
/* How often it wants a round, in ns; 0 = only when it is readable. */
uint64_t record_symbols_pace_ns(const struct record_symbols *s);
/* CPUs have gone online or offline. 0, or the first -errno of a CPU whose reports are missing. NULL is fine. */
MUST_USE int record_symbols_follow(struct record_symbols *s, const struct cpulist *online);
void record_symbols_close(struct record_symbols *s); /* NULL is fine */

/* Once all programs are attached: the kernel's symbols, ours among them. */
MUST_USE int record_symbols_begin(struct record_symbols *s); /* NULL is fine, here and below */

/*
 * A process that was there before: what it has mapped is read now, for it may have ended when the first of its stacks is
 * looked at. 0 or -ENOMEM; one that cannot be read has no names.
 */
MUST_USE int record_symbols_read_process(struct record_symbols *s, uint32_t tgid, uint64_t ts_ns);

/* A sink that reads the processes of samples and hands all on; next must stay. */
struct ev_sink record_symbols_sink(struct record_symbols *s, const struct ev_sink *next);
/* Takes the reports so far; to be called before the records of the same time. */
MUST_USE int record_symbols_round(struct record_symbols *s);

/* Readable when it is time for a round; -1 = never. */
int record_symbols_fd(const struct record_symbols *s);
/* Reports of mapped files that were lost. */
uint64_t record_symbols_lost(const struct record_symbols *s);
/* Why else names are missing, each reason once; false if there is no further one. */
bool record_symbols_remark(struct record_symbols *s, struct diag *out);

/* As struct trace_callbacks wants them; ctx is the record_symbols. */
bool record_symbols_place(void *ctx, uint32_t tgid, uint64_t ts_ns, uint64_t address,
                          struct trace_place *out);
bool record_symbols_name(void *ctx, uint32_t tgid, uint64_t address, char *buf, size_t size);
