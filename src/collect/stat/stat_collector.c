#include "collect/stat/stat_collector.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "abi/event.h"
#include "abi/wanted.h"
#include "base/cleanup.h"
#include "collect/bpf_open.h"
#include "collect/loaded.h"
#include "collect/ring.h"
#include "collect/scx_functions.h"
#include "collect/stat/stat_changed.h"
#include "collect/stat/stat_collector_priv.h"
#include "collect/stat/stat_dsqs.h"
#include "sys/rights/broker.h"

#define RING_BYTES_DEFAULT (16U * 1024 * 1024)

const struct bpf_kind bpf_kind_stat = { "stat_bpf", stat_bpf__elf_bytes, BPF_NO_CONTEXT };

void stat_collector_empty_ring(struct stat_collector *c)
{
	uint64_t end = ring_end(c->ring);
	const void *rec;
	size_t len;

	while (ring_next(c->ring, end, &rec, &len) == RING_RECORD) {
		if (len >= sizeof(struct stat_rec))
			stat_collector_hand_on(c, rec, len);
		ring_release(c->ring);
	}
	ring_release(c->ring);
}

/* Not the map itself: that is ready while it holds anything, an epoll only once the programs have asked to wake us. */
static int open_ring(struct stat_collector *c, struct diag *d)
{
	struct epoll_event event = { .events = EPOLLIN };
	int fd = bpf_map__fd(c->skel->maps.ring);
	int err = ring_open(fd, bpf_map__max_entries(c->skel->maps.ring), d, &c->ring);

	if (err)
		return err;
	c->ring_poll = epoll_create1(EPOLL_CLOEXEC);
	if (c->ring_poll < 0 || epoll_ctl(c->ring_poll, EPOLL_CTL_ADD, fd, &event))
		return diag_set(d, -errno, NULL, "cannot wait for the ring buffer");
	return 0;
}

/* Switches programs off that the plan does not need; nothing is attached by itself. */
static void choose_programs(struct stat_bpf *skel, const struct stat_plan *plan)
{
	bpf_program__set_autoload(skel->progs.on_wakeup, plan->wants_wakeup);
	bpf_program__set_autoload(skel->progs.on_wakeup_new, plan->wants_wakeup);
	bpf_program__set_autoload(skel->progs.on_waking, plan->wants_waking);
	bpf_program__set_autoload(skel->progs.on_migrate, plan->wants_migrate);
	bpf_program__set_autoload(skel->progs.flush_counters, plan->wants_flush);
	bpf_program__set_autoload(skel->progs.drain_asked, plan->wants_asking);
}

static int size_maps(struct stat_bpf *skel, const struct stat_collector_cfg *cfg)
{
	const struct stat_cfg *k = &cfg->plan.cfg;
	uint32_t nr_cpus = k->nr_cpus;
	uint32_t counters = k->nr_counters ? k->nr_counters * nr_cpus : 1;
	uint32_t ring_bytes = cfg->ring_bytes ? cfg->ring_bytes : RING_BYTES_DEFAULT;

	if (bpf_map__set_max_entries(skel->maps.ring, ring_bytes) ||
	    bpf_map__set_max_entries(skel->maps.cpu_places, nr_cpus) ||
	    bpf_map__set_max_entries(skel->maps.arrivals, nr_cpus) ||
	    bpf_map__set_max_entries(skel->maps.histories, k->has_history ? nr_cpus : 1) ||
	    bpf_map__set_max_entries(skel->maps.counter_fds, counters) ||
	    bpf_map__set_max_entries(skel->maps.dsqs, k->has_dsq ? STAT_DSQ_MAX : 1))
		return -EINVAL;
	return 0;
}

static int load_once(struct stat_collector *c, const struct stat_collector_cfg *cfg, struct diag *d)
{
	SCOPED(scoped_close) int storage_fd = -1;
	int err;

	c->skel = stat_bpf__open();
	if (!c->skel)
		return bpf_load_failed(c->log, -errno, "scheduling statistics", d);
	err = loaded_new(BPF_STAT, c->skel->obj, &c->loaded);
	if (err)
		return diag_set(d, err, NULL, "out of memory");
	c->skel->rodata->cfg = c->plan.cfg;
	choose_programs(c->skel, &c->plan);
	err = stat_dsqs_place(c->loaded, c->skel, &c->plan.scx);
	if (!err)
		err = size_maps(c->skel, cfg);
	if (err)
		return diag_set(d, err, NULL, "cannot set up the BPF programs");
	storage_fd = broker_bpf_map(BROKER_MAP_STORAGE, c->plan.cfg.value_bytes, -1);
	if (storage_fd < 0)
		return bpf_load_failed(c->log, storage_fd, "task storage", d);
	err = bpf_map__reuse_fd(c->skel->maps.tasks, storage_fd);
	if (!err)
		err = loaded_load(c->loaded);
	if (err)
		return bpf_load_failed(c->log, err, "scheduling statistics", d);
	return 0;
}

static void unload(struct stat_collector *c)
{
	loaded_close(c->loaded);
	stat_bpf__destroy(c->skel);
	c->loaded = NULL;
	c->skel = NULL;
}

/* What asks for a task by its id needs Linux 6.10: without, each drain walks over all of them. */
static int load_best(struct stat_collector *c, const struct stat_collector_cfg *cfg, struct diag *d)
{
	struct diag refused = { 0 };

	if (c->plan.wants_asking && load_once(c, cfg, &refused)) {
		unload(c);
		c->plan.wants_asking = false;
		c->plan.cfg.notes_changes = 0;
	}
	if (!c->skel)
		return load_once(c, cfg, d);
	c->asked = calloc(STAT_CHANGED_ROOM + STAT_CHANGED_MAX + c->plan.cfg.nr_cpus,
	                  sizeof(*c->asked));
	c->open = calloc(STAT_CHANGED_MAX, sizeof(*c->open));
	c->must_iterate = true; /* some that run or wait may have been doing so before */
	return c->asked && c->open ? 0 : diag_set(d, -ENOMEM, NULL, "out of memory");
}

/* Functions of sched_ext are watched by fentry, and where that does not load or attach, by kprobe. */
static int load(struct stat_collector *c, const struct stat_collector_cfg *cfg, struct diag *d)
{
	struct diag refused = { 0 };

	if (!c->plan.cfg.has_dsq || c->plan.scx.way == SCX_BY_KPROBE)
		return load_best(c, cfg, d);
	if (!load_best(c, cfg, &refused) && stat_dsqs_can_attach(c->loaded, c->skel, &c->plan.scx))
		return 0;
	unload(c);
	free(c->asked);
	free(c->open);
	c->asked = c->open = NULL;
	c->plan = cfg->plan;
	scx_functions_plan(STAT_SCX_KINDS, SCX_BY_KPROBE, &c->plan.scx);
	c->plan.cfg.dsq_at = (__u8)c->plan.scx.dsq_at;
	c->plan.cfg.is_dsq_by_kprobe = true;
	return load_best(c, cfg, d);
}

static int fill_places(struct stat_collector *c, const struct stat_cpu_place *places)
{
	int fd = bpf_map__fd(c->skel->maps.cpu_places);

	for (uint32_t cpu = 0; places && cpu < c->plan.cfg.nr_cpus; cpu++)
		if (bpf_map_update_elem(fd, &cpu, &places[cpu], BPF_ANY))
			return -errno;
	return 0;
}

DEFINE_SCOPED(stat_collector, stat_collector_close)

int stat_collector_open(const struct stat_collector_cfg *cfg, struct diag *d,
                        struct stat_collector **out)
{
	SCOPED(scoped_stat_collector) struct stat_collector *c = calloc(1, sizeof(*c));
	int err;

	if (!c)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	c->drain_link = c->ring_poll = -1;
	for (size_t i = 0; i < STAT_DSQ_WATCHERS; i++)
		c->dsq_ties[i] = (struct bpf_tie){ -1, -1 };
	c->plan = cfg->plan;
	c->log = bpf_log_capture();
	c->buffer = malloc(STAT_DRAIN_BUFFER_BYTES);
	c->cpus = calloc(cfg->plan.cfg.nr_cpus, sizeof(*c->cpus));
	c->possible = calloc(cfg->plan.cfg.nr_cpus, sizeof(*c->possible));
	c->arrivals = calloc(cfg->plan.cfg.nr_cpus, sizeof(*c->arrivals));
	c->arrival_cpus = calloc(cfg->plan.cfg.nr_cpus, sizeof(*c->arrival_cpus));
	if (!c->buffer || !c->cpus || !c->possible || !c->arrivals || !c->arrival_cpus)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	memcpy(c->possible, cfg->possible, cfg->nr_possible * sizeof(*c->possible));
	c->nr_possible = cfg->nr_possible;
	err = load(c, cfg, d);
	if (err)
		return err;
	err = fill_places(c, cfg->places);
	if (!err)
		err = bpf_fill_fds(bpf_map__fd(c->skel->maps.counter_fds), cfg->counter_fds,
		                   c->plan.cfg.nr_counters * c->plan.cfg.nr_cpus);
	if (err)
		return diag_set(d, err, NULL, "cannot fill the BPF maps");
	err = open_ring(c, d);
	if (err)
		return err;
	c->drain_link = loaded_iterator(c->loaded, c->skel->progs.drain_tasks);
	if (c->drain_link < 0)
		return diag_set(d, c->drain_link, "Linux 5.8 or newer has task iterators",
		                "cannot set up the task iterator");
	*out = TAKE_PTR(c);
	return 0;
}

void stat_collector_run_on_every_cpu(const struct stat_collector *c, const struct bpf_program *prog)
{
	for (uint32_t cpu = 0; cpu < c->plan.cfg.nr_cpus; cpu++) {
		LIBBPF_OPTS(bpf_test_run_opts, opts, .flags = BPF_F_TEST_RUN_ON_CPU, .cpu = cpu);

		(void)bpf_prog_test_run_opts(loaded_fd(c->loaded, prog),
		                             &opts); /* offline CPUs refuse: fine */
	}
}

/*
 * Every task gets its storage before the first event. Before Linux 6.4 it could not be created later; since
 * then it can, but a timer that wakes hundreds of threads at once would empty the kernel's cache.
 */
static int prepare_tasks(struct stat_collector *c)
{
	SCOPED(scoped_close) int link = loaded_iterator(c->loaded, c->skel->progs.prepare_tasks);

	return link < 0 ? link : bpf_run_iterator(link);
}

/* Waits are opened by wakeups and closed by switches: the switch is attached last, so that none is cut short. */
static int attach_all(struct stat_collector *c)
{
	const struct bpf_program *const order[] = {
		c->skel->progs.on_rename,     c->skel->progs.on_migrate, c->skel->progs.on_waking,
		c->skel->progs.on_wakeup_new, c->skel->progs.on_wakeup,  c->skel->progs.on_switch,
	};
	int err = 0;

	for (size_t i = 0; !err && i < sizeof(order) / sizeof(order[0]); i++)
		err = loaded_attach(c->loaded, order[i]); /* if it is in the plan */
	return err;
}

int stat_collector_attach(struct stat_collector *c, struct diag *d)
{
	int err;

	stat_collector_run_on_every_cpu(c, c->skel->progs.warm_up);
	/* Before the tasks that are there get their storage: none may be born in between without. */
	err = loaded_attach(c->loaded, c->skel->progs.on_fork);
	/* Twice: the kernel's cache of free storage may have been empty for a moment. */
	if (!err)
		err = prepare_tasks(c);
	if (!err)
		err = prepare_tasks(c);
	if (!err)
		err = stat_dsqs_attach(c->loaded, c->skel, &c->plan.scx, c->dsq_ties);
	if (!err)
		err = attach_all(c);
	if (!err && c->plan.cfg.has_dsq)
		stat_dsqs_begin(c->skel);
	if (err)
		return bpf_load_failed(c->log, err, "scheduling statistics", d);
	return 0;
}

static bool is_same_set(const struct stat_collector *c, const struct stat_cgroup *wanted, size_t nr)
{
	if (nr != c->nr_wanted)
		return false;
	for (size_t i = 0; i < nr; i++)
		if (wanted[i].id != c->wanted[i].id || wanted[i].is_exact != c->wanted[i].is_exact)
			return false;
	return true;
}

int stat_collector_set_cgroups(struct stat_collector *c, const struct stat_cgroup *wanted,
                               size_t nr, struct diag *d)
{
	int fd = bpf_map__fd(c->skel->maps.wanted_cgroups);
	struct stat_cgroup *copy;

	if (is_same_set(c, wanted, nr))
		return 0;
	copy = calloc(nr ? nr : 1, sizeof(*copy));
	if (!copy)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	if (nr)
		memcpy(copy, wanted, nr * sizeof(*copy));
	for (size_t i = 0; i < c->nr_wanted; i++)
		bpf_map_delete_elem(fd, &c->wanted[i].id);
	free(c->wanted);
	c->wanted = copy;
	c->nr_wanted = nr;
	for (size_t i = 0; i < nr; i++) {
		__u8 mode = wanted[i].is_exact ? ABI_CGROUP_EXACT : ABI_CGROUP_SUBTREE;

		if (bpf_map_update_elem(fd, &wanted[i].id, &mode, BPF_ANY))
			return diag_set(d, -errno, "choose a pattern that matches fewer cgroups",
			                "%zu cgroups are too many for the filter", nr);
	}
	c->skel->data->filter_generation++;
	return 0;
}

int stat_collector_counters(struct stat_collector *c, const int *fds)
{
	return bpf_fill_fds(bpf_map__fd(c->skel->maps.counter_fds), fds,
	                    c->plan.cfg.nr_counters * c->plan.cfg.nr_cpus);
}

int stat_collector_ring_fd(const struct stat_collector *c)
{
	return c->ring_poll;
}

void stat_collector_consume(struct stat_collector *c, stat_record_fn *fn, void *ctx)
{
	c->fn = fn;
	c->fn_ctx = ctx;
	stat_collector_empty_ring(c);
}

int stat_collector_dsqs(struct stat_collector *c, stat_dsq_fn *fn, void *ctx, struct diag *d)
{
	int err = c->plan.cfg.has_dsq ? stat_dsqs_read(c->skel, fn, ctx) : 0;

	return err ? diag_set(d, err, NULL, "cannot read the dispatch queues") : 0;
}

const struct stat_cpu *stat_collector_cpu(const struct stat_collector *c, uint32_t cpu)
{
	return &c->cpus[cpu];
}

bool stat_collector_arrivals(const struct stat_collector *c, uint32_t cpu, uint64_t *out)
{
	if (!c->plan.wants_migrate)
		return false;
	*out = c->arrivals[cpu];
	return true;
}

static bool is_on_events(const struct bpf_program *prog)
{
	enum bpf_attach_type type = bpf_program__expected_attach_type(prog);

	return type == BPF_TRACE_RAW_TP || type == BPF_TRACE_FENTRY ||
	       bpf_program__type(prog) == BPF_PROG_TYPE_KPROBE;
}

size_t stat_collector_program_fds(const struct stat_collector *c, int *fds, size_t cap)
{
	struct bpf_program *prog;
	size_t n = 0;
	int fd;

	for (uint32_t i = 0; n < cap && loaded_each(c->loaded, i, &prog, &fd); i++)
		if (fd >= 0 && is_on_events(prog))
			fds[n++] = fd;
	return n;
}

static uint64_t recursion_misses(const struct stat_collector *c)
{
	int fds[16];
	size_t n = stat_collector_program_fds(c, fds, sizeof(fds) / sizeof(fds[0]));
	uint64_t misses = 0;

	for (size_t i = 0; i < n; i++) {
		struct bpf_prog_info info = { 0 };
		__u32 len = sizeof(info);

		if (!bpf_obj_get_info_by_fd(fds[i], &info, &len))
			misses += info.recursion_misses;
	}
	return misses;
}

void stat_collector_totals(const struct stat_collector *c, struct stat_totals *out)
{
	memset(out, 0, sizeof(*out));
	for (uint32_t cpu = 0; cpu < c->plan.cfg.nr_cpus; cpu++) {
		for (int i = 0; i < STAT_EVENTS; i++)
			out->events[i] += c->cpus[cpu].events[i];
		for (int i = 0; i < STAT_LOST_KINDS; i++)
			out->lost[i] += c->cpus[cpu].lost[i];
		out->multiplexed += c->cpus[cpu].multiplexed;
	}
	out->missed = recursion_misses(c);
	out->bad_records = c->nr_bad;
}

static void close_ties(struct stat_collector *c)
{
	for (size_t i = 0; i < STAT_DSQ_WATCHERS; i++)
		bpf_tie_close(&c->dsq_ties[i]);
}

void stat_collector_detach(struct stat_collector *c)
{
	loaded_detach(c->loaded);
	close_ties(c);
}

void stat_collector_close(struct stat_collector *c)
{
	if (!c)
		return;
	if (c->drain_link >= 0)
		close(c->drain_link);
	if (c->ring_poll >= 0)
		close(c->ring_poll);
	ring_close(c->ring);
	close_ties(c);
	unload(c);
	bpf_log_stop(c->log);
	free(c->wanted);
	free(c->asked);
	free(c->open);
	free(c->buffer);
	free(c->cpus);
	free(c->arrivals);
	free(c->arrival_cpus);
	free(c->possible);
	free(c);
}
