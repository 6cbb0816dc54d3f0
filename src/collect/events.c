#include "collect/events.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "abi/wanted.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "collect/bpf_barrier.h"
#include "collect/bpf_open.h"
#include "collect/call_numbers.h"
#include "collect/cgroup_part.h"
#include "collect/context.h"
#include "collect/event_sources.h"
#include "collect/events_part.h"
#include "collect/loaded.h"
#include "collect/percpu.h"
#include "collect/ring_watch.h"
#include "collect/scx_part.h"
#include "collect/stack_part.h"
#include "sys/rights/broker.h"

#define SKELETON "events.skel.h"
#include "collect/skel.h"

const struct bpf_kind bpf_kind_events = { "events_bpf", events_bpf__elf_bytes,
	                                  BPF_CONTEXT_AT(events_bpf) };

struct events {
	uint64_t kinds; /* really there */
	uint64_t missing;
	uint32_t nr_cpus, nr_counters;
	struct events_bpf *skel;
	struct loaded *loaded;
	struct bpf_log *log;
	uint32_t nr_rings;
	int *ring_fds;
	struct ring **rings;
	struct order *order;
	int watch_fd; /* of the rings */
	struct bpf_barrier barrier;
	uint32_t *possible; /* CPUs, ascending */
	uint32_t nr_possible;
	struct ev_cpu *cpus;     /* as last read */
	struct ev_cpu *reported; /* losses that went into the stream */
	struct btf *vmlinux;
	struct probes *probes;
	struct cgroup_part *cgroups; /* NULL = not asked for, or none */
	struct scx_part *scx;
	struct stack_part *stacks;
	uint64_t one_in;
	uint8_t measures;
	uint64_t start_ns;
	bool is_begun; /* the stream's own first records are out */
	uint64_t until_ns;
};

#define FOLLOWED_KINDS                                                                       \
	(EV_BIT(EV_SWITCH) | EV_BIT(EV_WAKING) | EV_BIT(EV_WAKEUP) | EV_BIT(EV_WAKEUP_NEW) | \
	 EV_BIT(EV_EXEC))
/* Written again at the next switch if there was no room: nothing is lost, and what is written is no event. */
#define RETRIED_KINDS EV_BIT(EV_AFFINITY)
#define FOLLOWED_MAX  16384 /* tasks that are followed at a time */

DEFINE_SCOPED(events, events_close)

static void choose_probes(struct events *e, const struct events_cfg *cfg)
{
	bpf_program__set_autoload(e->skel->progs.on_kprobe,
	                          probes_need(cfg->probes, cfg->nr_probes, EV_PROBE_KPROBE));
	bpf_program__set_autoload(e->skel->progs.on_uprobe,
	                          probes_need(cfg->probes, cfg->nr_probes, EV_PROBE_UPROBE));
}

/* Loads only what was asked for and exists. */
static int choose_programs(struct events *e, uint64_t kinds, struct diag *d)
{
	struct bpf_program *prog;

	e->vmlinux = btf__load_vmlinux_btf();
	if (!e->vmlinux)
		return diag_set(d, -errno, "see 'schedscope doctor'",
		                "this kernel has no type information (BTF)");
	bpf_object__for_each_program(prog, e->skel->obj) bpf_program__set_autoload(prog, false);
	for (size_t i = 0; i < nr_event_sources; i++) {
		if (!(kinds & EV_BIT(event_sources[i].kind)) ||
		    !bpf_has_tracepoint(e->vmlinux, event_sources[i].tracepoint))
			continue;
		prog = bpf_object__find_program_by_name(e->skel->obj, event_sources[i].program);
		bpf_program__set_autoload(prog, true);
		e->kinds |= EV_BIT(event_sources[i].kind);
	}
	e->missing = kinds & ~e->kinds;
	return 0;
}

/* Which cgroup tasks are in when the stream begins, and where to look for changes. */
static int choose_cgroups(struct events *e)
{
	struct ev_cfg *cfg = (struct ev_cfg *)&e->skel->rodata->cfg;

	cfg->cgroup_hierarchy = -1;
	if (!(e->kinds & EV_BIT(EV_CGROUP)))
		return 0;
	bpf_program__set_autoload(e->skel->progs.list_cgroups, true);
	return cgroup_part_open(cfg, &e->cgroups);
}

/* All are seen at switches, quotas also at their timers. */
static void choose_measures(struct events *e, const struct events_cfg *cfg)
{
	uint8_t quota = EV_MEASURES_QUOTA | EV_MEASURES_QUOTA_CPU;

	e->measures = e->kinds & EV_BIT(EV_SWITCH) ? cfg->measures : 0;
	if (cfg->is_quota_by_cpu && e->measures & quota)
		e->measures = (uint8_t)((e->measures & ~quota) | EV_MEASURES_QUOTA_CPU);
	if (!bpf_has_tracepoint(e->vmlinux, "hrtimer_expire_exit"))
		e->measures &= (uint8_t)~quota;
	e->skel->rodata->cfg.measures = e->measures;
	bpf_program__set_autoload(e->skel->progs.on_refill, e->measures & EV_MEASURES_QUOTA);
	bpf_program__set_autoload(e->skel->progs.on_throttled, e->measures & EV_MEASURES_QUOTA_CPU);
}

/* Only wakings need to know whether the CPU runs a task or handles an interrupt. */
static void choose_context(struct events *e, const struct events_cfg *cfg)
{
	const uint64_t wakes = EV_BIT(EV_WAKING) | EV_BIT(EV_WAKEUP) | EV_BIT(EV_WAKEUP_NEW);
	bool has_wakes = e->kinds & wakes || cfg->stacks & STACK_BIT(EV_SAMPLE_WAKER);
	struct context_cfg context;

	context_find(e->vmlinux, cfg->is_context_counted, &context);
	e->skel->rodata->context_cfg = context;
	context_choose(e->skel->obj, e->vmlinux, has_wakes ? &context : NULL);
}

static int make_rings(struct events *e, const struct events_cfg *cfg, struct diag *d)
{
	e->ring_fds = calloc(cfg->nr_rings, sizeof(*e->ring_fds));
	e->rings = calloc(cfg->nr_rings, sizeof(struct ring *));
	if (!e->ring_fds || !e->rings)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	for (; e->nr_rings < cfg->nr_rings; e->nr_rings++) {
		int fd = broker_bpf_map(BROKER_MAP_RING, cfg->ring_bytes, -1);
		int err;

		if (fd < 0)
			return bpf_load_failed(e->log, fd, "ring buffers", d);
		e->ring_fds[e->nr_rings] = fd;
		err = ring_open(fd, cfg->ring_bytes, d, &e->rings[e->nr_rings]);
		if (err) {
			close(fd);
			return err;
		}
	}
	return 0;
}

static int load(struct events *e, const struct events_cfg *cfg, struct diag *d)
{
	int err;

	e->skel = events_bpf__open();
	if (!e->skel)
		return bpf_load_failed(e->log, -errno, "the event stream", d);
	err = loaded_new(BPF_EVENTS, e->skel->obj, &e->loaded);
	if (err)
		return diag_set(d, err, NULL, "out of memory");
	e->skel->rodata->cfg.filter_tgid = cfg->tgid;
	e->skel->rodata->cfg.filter_cgroup = cfg->is_cgroup_only;
	e->skel->rodata->cfg.is_cgroup_v1 = cfg->is_cgroup_v1;
	e->skel->rodata->cfg.switch_args = (__u8)cfg->switch_args;
	e->skel->rodata->cfg.wake_bytes = cfg->ring_bytes / 8;
	e->skel->rodata->cfg.stack_bytes = cfg->ring_bytes / 2;
	e->skel->rodata->cfg.one_in = cfg->one_in;
	e->skel->rodata->cfg.nr_counters = cfg->nr_counters;
	e->skel->rodata->cfg.nr_cpus = cfg->nr_cpus;
	e->skel->rodata->cfg.has_sleeps = (cfg->kinds & EV_BIT(EV_SLEEP)) != 0;
	e->skel->rodata->cfg.has_policies = (cfg->kinds & EV_BIT(EV_POLICY)) != 0;
	e->skel->rodata->cfg.has_locks = (cfg->kinds & EV_BIT(EV_LOCK)) != 0;
	call_numbers((uint8_t *)e->skel->rodata->call_of_nr, EV_NR_CALLS);
	/* Sampling follows tasks by all of these. */
	err = choose_programs(e, cfg->kinds | (cfg->one_in > 1 ? FOLLOWED_KINDS : 0), d);
	if (err)
		return err;
	err = choose_cgroups(e);
	if (err)
		return diag_set(d, err, NULL, "out of memory");
	choose_probes(e, cfg);
	choose_measures(e, cfg);
	choose_context(e, cfg);
	if (bpf_map__set_max_entries(e->skel->maps.rings, cfg->nr_rings) ||
	    bpf_map__set_max_entries(e->skel->maps.followed, cfg->one_in > 1 ? FOLLOWED_MAX : 1) ||
	    bpf_map__set_max_entries(e->skel->maps.seen_tasks,
	                             cfg->kinds & EV_BIT(EV_POLICY) ? EV_SEEN_TASKS : 1) ||
	    bpf_map__set_max_entries(e->skel->maps.lock_tasks,
	                             cfg->kinds & EV_BIT(EV_LOCK) ? EV_LOCK_TASKS : 1) ||
	    bpf_map__set_max_entries(e->skel->maps.counter_fds,
	                             cfg->nr_counters ? cfg->nr_counters * cfg->nr_cpus : 1))
		return diag_set(d, -EINVAL, NULL, "cannot size the BPF maps");
	err = loaded_load(e->loaded);
	return err ? bpf_load_failed(e->log, err, "the event stream", d) : 0;
}

static int fill_maps(struct events *e, const struct events_cfg *cfg)
{
	int rings = bpf_map__fd(e->skel->maps.rings);
	__u32 zero = 0;

	for (uint32_t i = 0; i < e->nr_rings; i++)
		if (bpf_map_update_elem(rings, &i, &e->ring_fds[i], BPF_ANY))
			return -errno;
	for (uint32_t i = 0; i < e->nr_possible; i++) {
		e->cpus[i].cpu = e->possible[i];
		e->cpus[i].ring = cfg->ring_of_cpu[e->possible[i]];
	}
	if (bpf_map_update_elem(bpf_map__fd(e->skel->maps.cpus), &zero, e->cpus, BPF_ANY))
		return -errno;
	return bpf_fill_fds(bpf_map__fd(e->skel->maps.counter_fds), cfg->counter_fds,
	                    cfg->nr_counters * cfg->nr_cpus);
}

static int open_scx(struct events *e, const struct events_cfg *cfg, struct diag *d)
{
	struct scx_part_cfg scx = {
		.kinds = cfg->kinds,
		.ev = (const struct ev_cfg *)&e->skel->rodata->cfg,
		.events = e->loaded,
		.is_by_kprobe = cfg->is_scx_by_kprobe,
		.vmlinux = e->vmlinux,
		.log = e->log,
	};
	int err = scx_part_open(&scx, d, &e->scx);

	e->missing &= ~scx_part_kinds(e->scx);
	btf__free(e->vmlinux); /* 20 MB that are no longer needed */
	e->vmlinux = NULL;
	return err;
}

static int open_probes(struct events *e, const struct events_cfg *cfg, struct diag *d)
{
	struct probes_cfg probes = {
		.probes = cfg->probes,
		.nr = cfg->nr_probes,
		.ev = (const struct ev_cfg *)&e->skel->rodata->cfg,
		.events = e->loaded,
		.log = e->log,
	};

	return cfg->nr_probes ? probes_open(&probes, d, &e->probes) : 0;
}

static int open_stacks(struct events *e, const struct events_cfg *cfg, struct diag *d)
{
	struct stack_part_cfg stacks = {
		.events = cfg->stacks,
		.frequency = cfg->stack_frequency,
		.unwind = cfg->stack_unwind,
		.online = cfg->online,
		.ev = (const struct ev_cfg *)&e->skel->rodata->cfg,
		.context = (const struct context_cfg *)&e->skel->rodata->context_cfg,
		.events_object = e->loaded,
		.log = e->log,
	};

	return stack_part_open(&stacks, d, &e->stacks);
}

static int watch_rings(struct events *e)
{
	e->watch_fd = ring_watch_open(e->ring_fds, e->nr_rings);
	return e->watch_fd < 0 ? e->watch_fd : bpf_barrier_open(&e->barrier);
}

int events_open(const struct events_cfg *cfg, struct diag *d, struct events **out)
{
	SCOPED(scoped_events) struct events *e = calloc(1, sizeof(*e));
	int err;

	if (!e)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	e->watch_fd = -1;
	e->barrier = (struct bpf_barrier){ -1, -1 };
	e->nr_cpus = cfg->nr_cpus;
	e->nr_counters = cfg->nr_counters;
	e->one_in = cfg->one_in > 1 ? cfg->one_in : 1;
	e->log = bpf_log_capture();
	e->cpus = calloc(cfg->nr_cpus, sizeof(*e->cpus));
	e->reported = calloc(cfg->nr_cpus, sizeof(*e->reported));
	e->possible = calloc(cfg->nr_cpus, sizeof(*e->possible));
	if (!e->cpus || !e->reported || !e->possible)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	memcpy(e->possible, cfg->possible, cfg->nr_possible * sizeof(*e->possible));
	e->nr_possible = cfg->nr_possible;
	err = make_rings(e, cfg, d);
	if (!err)
		err = load(e, cfg, d);
	if (err)
		return err;
	err = fill_maps(e, cfg);
	if (!err)
		err = watch_rings(e);
	if (!err)
		err = order_new(e->rings, e->nr_rings, &e->order);
	if (err)
		return diag_set(d, err, NULL, "cannot set up the rings");
	err = open_probes(e, cfg, d);
	if (!err)
		err = open_scx(e, cfg, d);
	if (!err)
		err = open_stacks(e, cfg, d);
	if (err)
		return err;
	*out = TAKE_PTR(e);
	return 0;
}

struct stack_part *events_stacks(const struct events *e)
{
	return e->stacks;
}

const char *events_stack_event(const struct events *e)
{
	return stack_part_event(e->stacks);
}

uint64_t events_start_ns(const struct events *e)
{
	return e->start_ns;
}

uint64_t events_missing(const struct events *e)
{
	return e->missing;
}

uint8_t events_measures(const struct events *e)
{
	return e->measures;
}

int events_add_cgroup(struct events *e, uint64_t id, bool is_exact, struct diag *d)
{
	__u8 mode = is_exact ? ABI_CGROUP_EXACT : ABI_CGROUP_SUBTREE;

	if (bpf_map_update_elem(bpf_map__fd(e->skel->maps.wanted_cgroups), &id, &mode, BPF_ANY))
		return diag_set(d, -errno, "choose a pattern that matches fewer cgroups",
		                "too many cgroups for the filter");
	return 0;
}

static void set_open(struct events *e, bool is_open)
{
	probes_listen(e->probes, is_open);
	scx_part_listen(e->scx, is_open);
	stack_part_listen(e->stacks, is_open);
	__atomic_store_n(&e->skel->bss->is_open, is_open, __ATOMIC_RELEASE);
}

int events_attach(struct events *e, struct diag *d)
{
	int err = context_attach_exits(e->loaded), fd;
	struct bpf_program *prog;

	for (uint32_t i = 0; !err && loaded_each(e->loaded, i, &prog, &fd); i++)
		if (bpf_program__expected_attach_type(prog) == BPF_TRACE_RAW_TP)
			err = loaded_attach(e->loaded, prog);
	if (err)
		return bpf_load_failed(e->log, err, "the event stream", d);
	/* After the switches, so that records about a task come when it is on its CPU. */
	err = scx_part_attach(e->scx);
	if (err)
		return bpf_load_failed(e->log, err, "sched_ext", d);
	err = stack_part_attach(e->stacks, d);
	if (err)
		return err;
	e->start_ns = clock_boot_ns();
	set_open(e, true);
	err = cgroup_part_read(e->cgroups, e->loaded, e->skel->progs.list_cgroups);
	return err ? diag_set(d, err, NULL, "cannot list the cgroups of the tasks") : 0;
}

int events_follow(struct events *e, const struct cpulist *online, const int *counter_fds)
{
	int err = stack_part_follow(e->stacks, online), counters;

	if (!e->nr_counters)
		return err;
	counters = bpf_fill_fds(bpf_map__fd(e->skel->maps.counter_fds), counter_fds,
	                        e->nr_counters * e->nr_cpus);
	return err ? err : counters;
}

/* Before all others: what is needed to read them. */
static int emit_beginning(struct events *e, const struct ev_sink *sink)
{
	struct ev_sampling rec = {
		.hdr = { sizeof(rec), EV_SAMPLING, 0, 0, e->start_ns },
		.one_in = e->one_in,
	};
	struct ev_measures measures = {
		.hdr = { sizeof(measures), EV_MEASURES, 0, 0, e->start_ns },
		.flags = e->measures,
	};
	int err = 0;

	if (e->is_begun || !e->start_ns)
		return 0;
	e->is_begun = true;
	if (e->one_in > 1)
		err = sink->push(sink->ctx, &rec.hdr);
	if (!err && e->measures)
		err = sink->push(sink->ctx, &measures.hdr);
	if (!err)
		err = cgroup_part_emit(e->cgroups, e->start_ns, sink);
	if (!err)
		err = scx_part_emit(e->scx, e->start_ns, sink);
	return err ? err : probes_emit(e->probes, e->start_ns, sink);
}

/* Losses since the last check become records: they happened after everything that the rings held. */
static int emit_losses(struct events *e, const struct ev_sink *sink)
{
	__u32 zero = 0;

	if (bpf_map_lookup_elem(bpf_map__fd(e->skel->maps.cpus), &zero, e->cpus))
		return -errno;
	percpu_spread(e->cpus, sizeof(*e->cpus), e->possible, e->nr_possible);
	for (uint32_t cpu = 0; cpu < e->nr_cpus; cpu++) {
		for (uint32_t kind = 0; kind < EV_KIND_MAX; kind++) {
			struct ev_lost rec = {
				.hdr = { sizeof(rec), EV_LOST, 0, cpu, e->until_ns },
				.kind = kind,
				.count = e->cpus[cpu].lost[kind] - e->reported[cpu].lost[kind],
			};
			bool is_lost = rec.count && !(EV_BIT(kind) & RETRIED_KINDS);
			int err = is_lost ? sink->push(sink->ctx, &rec.hdr) : 0;

			if (err)
				return err;
			e->reported[cpu].lost[kind] = e->cpus[cpu].lost[kind];
		}
	}
	return 0;
}

int events_poll(struct events *e, int timeout_ms, const struct ev_sink *sink, struct diag *d)
{
	int err = ring_watch_take(e->watch_fd, timeout_ms);

	if (!err)
		err = emit_beginning(e, sink);
	if (!err)
		err = order_round(e->order, clock_boot_ns(), sink, &e->until_ns);
	if (!err)
		err = emit_losses(e, sink);
	if (!err && e->start_ns)
		err = scx_part_emit_counters(e->scx, e->until_ns, sink);
	return err ? diag_set(d, err, NULL, "cannot read the event stream") : 0;
}

static void log_order(const struct events *e)
{
	struct order_stats stats;

	order_stats(e->order, &stats);
	log_debug(
		"event stream: %llu records, %llu held for a round, %llu late, %llu bad, %llu torn",
		(unsigned long long)stats.records, (unsigned long long)stats.held,
		(unsigned long long)stats.late, (unsigned long long)stats.bad,
		(unsigned long long)stats.torn);
}

int events_finish(struct events *e, const struct ev_sink *sink, struct diag *d)
{
	int err = emit_beginning(e, sink);

	set_open(e, false);
	probes_detach(e->probes);
	scx_part_detach(e->scx);
	stack_part_detach(e->stacks);
	loaded_detach(e->loaded);
	/* Programs may still run after they were detached; records that they leave unfinished are counted. */
	(void)!bpf_barrier_wait(&e->barrier);
	e->until_ns = clock_boot_ns();
	if (!err)
		err = order_finish(e->order, sink);
	log_order(e);
	if (!err)
		err = emit_losses(e, sink);
	return err ? diag_set(d, err, NULL, "cannot read the event stream") : 0;
}

int events_watch_fd(const struct events *e)
{
	return e->watch_fd;
}

void events_totals(const struct events *e, struct events_totals *out)
{
	memset(out, 0, sizeof(*out));
	for (uint32_t cpu = 0; cpu < e->nr_cpus; cpu++) {
		for (uint32_t kind = 0; kind < EV_KIND_MAX; kind++) {
			if (EV_BIT(kind) & RETRIED_KINDS)
				continue;
			out->seen[kind] += e->cpus[cpu].seen[kind];
			out->lost[kind] += e->cpus[cpu].lost[kind];
		}
	}
	out->missed = events_part_missed(e->loaded) + probes_missed(e->probes) +
	              scx_part_missed(e->scx) + stack_part_missed(e->stacks);
	order_stats(e->order, &out->order);
}

void events_close(struct events *e)
{
	if (!e)
		return;
	order_free(e->order);
	for (uint32_t i = 0; i < e->nr_rings; i++) {
		ring_close(e->rings[i]);
		close(e->ring_fds[i]);
	}
	if (e->watch_fd >= 0)
		close(e->watch_fd);
	bpf_barrier_close(&e->barrier);
	probes_close(e->probes);
	cgroup_part_close(e->cgroups);
	scx_part_close(e->scx);
	stack_part_close(e->stacks);
	btf__free(e->vmlinux);
	loaded_close(e->loaded);
	events_bpf__destroy(e->skel);
	bpf_log_stop(e->log);
	free(e->ring_fds);
	free(e->rings);
	free(e->possible);
	free(e->cpus);
	free(e->reported);
	free(e);
}
