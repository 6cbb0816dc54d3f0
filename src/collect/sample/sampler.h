/*
 * collect/sample/sampler — stacks, sampled and counted in the kernel.
 *
 * Use: open, start, then drain or read each second or so; stop; read a last time; close. One perf event per CPU runs a
 * program that walks both stacks; or a tracepoint, a uprobe, a task going to sleep, a wakeup does. Equal stacks of the
 * same task are one row with a count, each stack kept once, so that little leaves the kernel. Draining moves what is
 * there into our memory, and the kernel has room again; it does not stop the sampling and loses nothing.
 *
 * Everything that can be refused is refused by open, but nothing is sampled before start. A row belongs to a task for
 * as long as it is the same program under the same name: exec, a rename or a number that is used again begin another.
 * Kernel stacks begin where the CPU was interrupted, or with the function that has the tracepoint; user stacks are
 * walked by frame pointers; by tables (collect/sample/unwind_maps), which take 32 MiB of kernel memory; or here, from copies
 * (collect/sample/sample_copies), which have to be taken often. A hit in an interrupt belongs to the task that was interrupted.
 *
 * Off-CPU: the stack is taken when a task goes to sleep (not when it is preempted), and counts when it runs again,
 * with the time until then; first_ns and last_ns are when it left. Waits that began before the start or have not ended
 * by the stop are not counted. Waker: the row is the waker, and filters ask for the waker.
 *
 * Samples that had to be dropped are counted. The hypervisor is not sampled; idle is not a task and is left out, but
 * counted. Takes 1.5 KiB of kernel memory for each of max_stacks, and of ours what the different stacks of the whole
 * profile need (256 Ki stacks and 512 Ki rows at most). One thread. Start, stop, drain and read wait for a grace
 * period of the kernel, some milliseconds. Never prints; no descriptor is left open after close.
 *
 * Cost (bench/profile-cost, 2 arm64 cores): a sample takes 2 us of a busy CPU with warm caches, 5 us with cold ones and
 * deep stacks; at 99 Hz 0.02 to 0.05 % of a CPU. A run of the off-CPU program takes 0.7 to 2 us, that of wakers 1 to 5.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/profile.h"
#include "base/attr.h"
#include "base/cleanup.h"
#include "base/diag.h"
#include "collect/sample/sample_copies.h"
#include "collect/sample/sample_event.h"
#include "sys/cpulist.h"

#define SAMPLER_DEPTH     127U
#define SAMPLER_FREQUENCY 99U /* where neither frequency nor period is given */
#define SAMPLER_STACKS    16384U
#define SAMPLER_ANY_CPU   UINT32_MAX
#define SAMPLER_NO_LAYER  UINT32_MAX

struct sampler;
struct unwind_maps;

struct sampler_cfg {
	const struct sample_event *event; /* not kept */
	uint64_t frequency; /* samples per second and CPU; 0 = by period; of SAMPLE_PERF alone */
	uint64_t period; /* events per sample; 0 = by frequency. Of a tracepoint, uprobe or waker: one hit in so many */
	const struct cpulist *online; /* not kept */
	uint32_t cpu;                 /* only this one; SAMPLER_ANY_CPU */
	uint32_t tgid; /* only this process: all its threads, and children started meanwhile; 0 = all */
	bool is_cgroup_only;  /* only tasks in the cgroups of sampler_add_cgroup() */
	bool is_cgroup_v1;    /* these are of v1's hierarchy of the controller cpu */
	uint64_t max_samples; /* the kernel counts no more than so many; 0 = no limit */
	uint64_t min_off_ns;  /* off-CPU: shorter waits are not kept */
	uint32_t max_stacks; /* different ones between two drains; 0 = SAMPLER_STACKS; twice as many rows */
	bool is_wall; /* value is the time between two samples of a CPU, divided by how many CPUs run wanted tasks then; with a frequency */
	bool by_cgroup; /* rows are of one cgroup each; is_cgroup_v1 says of which hierarchy */
	bool by_tables; /* user stacks, of processes that sampler_unwind() knows; else by frame pointers */
	/*
	 * User stacks. All: with by_tables, a copy comes with what these gave. Early, and where copies are refused: processes
	 * without tables are walked by frame pointers.
	 */
	enum prof_copies copies;
	struct sample_walker walker; /* of copies */
	bool no_kernel, no_user;     /* stacks that are not walked; the samples still count */
};

/* Equal stacks of one task. Addresses are lent until the next call. */
struct sampler_row {
	uint32_t tid;
	uint32_t tgid;
	char comm[16];
	uint32_t cpu;               /* of the last sample */
	uint32_t layer;             /* SAMPLER_NO_LAYER */
	uint64_t first_ns, last_ns; /* boot time */
	uint64_t count;             /* samples since the start */
	uint64_t value;  /* ns of off-CPU profiles and with is_wall; else the sum of periods */
	uint64_t cgroup; /* id; 0 = not asked for, or an interrupt */
	const uint64_t *kernel; /* leaf first; all but the leaf are return addresses */
	uint32_t nr_kernel;
	const uint64_t *user;
	uint32_t nr_user;
	uint32_t user_end; /* enum prof_end: where the walk ended */
};

struct sampler_totals {
	uint64_t samples;   /* that came, idle not counted */
	uint64_t kept;      /* the counts of all rows, drained or not */
	uint64_t lost;      /* no room for the stack or the row */
	uint64_t missed;    /* hits of whomever while the program was already running on that CPU */
	uint64_t idle;      /* samples of idle CPUs */
	uint64_t no_stack;  /* stacks that the kernel would not walk; the samples were kept */
	uint64_t throttled; /* times that the kernel slowed an event down */
	uint32_t nr_cpus;   /* with an event */
	uint32_t nr_skipped; /* CPUs that should have one */
};

/*
 * -EPERM or -EACCES, -ENOENT (unknown event), -ENOTSUP (no such PMU), -ESRCH (no such process), -ENODEV (CPU offline),
 * -EINVAL, or another -errno.
 */
MUST_USE int sampler_open(const struct sampler_cfg *cfg, struct diag *d, struct sampler **out);
/* Before the start. */
MUST_USE int sampler_add_cgroup(struct sampler *s, uint64_t id, bool is_exact, struct diag *d);
/* What user stacks are walked by; NULL without by_tables. Lent. */
struct unwind_maps *sampler_unwind(const struct sampler *s);
MUST_USE int sampler_start(struct sampler *s, struct diag *d); /* once */
/* Walks the copies that are there, 50 times a second or so; nothing without copies. 0 or -errno. */
MUST_USE int sampler_take_copies(struct sampler *s);
/* CPUs have gone online or offline: as sample_perf_follow(). Before the start, nothing happens. */
MUST_USE int sampler_follow(struct sampler *s, const struct cpulist *online, struct diag *d);
void sampler_stop(struct sampler *s);  /* nothing is sampled after it returns; rows stay */
void sampler_close(struct sampler *s); /* NULL is fine */
DEFINE_SCOPED(sampler, sampler_close)

/* Drains, then all rows so far, each with its count since the start; a negative errno of row() ends it. */
typedef int sampler_row_fn(void *ctx, const struct sampler_row *row);
MUST_USE int sampler_read(struct sampler *s, sampler_row_fn *row, void *ctx, struct diag *d);
void sampler_totals(struct sampler *s, struct sampler_totals *out);
bool sampler_is_full(const struct sampler *s); /* max_samples is reached */
/* Programs that run on samples, for bpf_cost: how many. */
size_t sampler_program_fds(const struct sampler *s, int *fds, size_t cap);
