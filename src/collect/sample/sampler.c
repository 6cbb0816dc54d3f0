#include "collect/sample/sampler.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "abi/profile.h"
#include "abi/wanted.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "collect/bpf_barrier.h"
#include "collect/bpf_open.h"
#include "collect/context.h"
#include "collect/events_part.h"
#include "collect/loaded.h"
#include "collect/plumbing.h"
#include "collect/sample/sample_drain.h"
#include "collect/sample/sample_facts.h"
#include "collect/sample/sample_perf.h"
#include "collect/sample/sample_probe.h"
#include "collect/sample/sample_rows.h"
#include "collect/sample/sample_stacks.h"
#include "collect/sample/unwind_maps.h"

#define SKELETON "profile.skel.h"
#include "collect/skel.h"
#include "sys/code_mask.h"

#define WHAT      "profiling"
#define SECOND_NS 1000000000ULL

/* What is kept of all generations together, in our memory. */
#define KEPT_STACKS (256U * 1024)
#define KEPT_ROWS   (512U * 1024)

const struct bpf_kind bpf_kind_profile = { "profile_bpf", profile_bpf__elf_bytes,
	                                   BPF_CONTEXT_AT(profile_bpf) };

struct sampler {
	enum sample_kind kind;
	uint32_t tgid;
	uint64_t max_samples;
	uint32_t max_stacks, max_rows;
	uint64_t wall_ns;
	bool is_started, is_stopped;
	struct profile_bpf *skel;
	struct loaded *loaded;
	struct sample_perf *perf;
	struct bpf_tie uprobe;
	struct plumbing *plumbing;
	bool by_tables;
	enum prof_copies copies;
	struct unwind_maps *unwind; /* NULL without */
	struct sample_drain drain;  /* owns stacks, rows and copies */
	uint32_t generation;
	struct bpf_barrier barrier;
	struct prof_cpu *cpus; /* one per possible CPU */
	int nr_possible;
};

DEFINE_SCOPED(bpf_log, bpf_log_stop)

static int check(const struct sampler_cfg *cfg, struct diag *d)
{
	bool has_rate = cfg->event->kind == SAMPLE_PERF;

	if (cfg->frequency && cfg->period)
		return diag_set(d, -EINVAL, "give one of them",
		                "a profile has a frequency or a period, not both");
	if (cfg->frequency && !has_rate)
		return diag_set(d, -EINVAL, "leave it out, or give a period",
		                "'%.100s' has no frequency: it is sampled whenever it happens",
		                cfg->event->name);
	if (cfg->is_wall && !cfg->frequency)
		return diag_set(d, -EINVAL, "sample CPU time, with -F",
		                "a profile by wall clock needs samples at a frequency");
	if (cfg->cpu != SAMPLER_ANY_CPU && !cpulist_has(cfg->online, cfg->cpu))
		return diag_set(d, -ENODEV, "see /sys/devices/system/cpu/online",
		                "CPU %u is offline, or there is none", cfg->cpu);
	return cfg->tgid ? sample_facts_process(cfg->tgid, d) : 0;
}

/* As many rows as there can be, and not more: they are allocated in the kernel beforehand. */
static void choose_sizes(struct sampler *s, const struct sampler_cfg *cfg)
{
	s->max_stacks = cfg->max_stacks ? cfg->max_stacks : SAMPLER_STACKS;
	if (cfg->max_samples && cfg->max_samples < s->max_stacks / 2 && s->kind != SAMPLE_OFF_CPU)
		s->max_stacks = (uint32_t)cfg->max_samples * 2;
	s->max_rows = s->max_stacks * 2;
	if (cfg->max_samples && cfg->max_samples < s->max_rows)
		s->max_rows = (uint32_t)cfg->max_samples;
}

static void report_programs(struct sampler *s, const struct sampler_cfg *cfg)
{
	struct prof_cfg c = {
		.seed = hash_seed(),
		.max_samples = cfg->max_samples,
		.min_off_ns = cfg->min_off_ns,
		.every = s->kind == SAMPLE_PERF ? 0 : cfg->period,
		.cpu = cfg->cpu,
		.filter_tgid = cfg->tgid != 0,
		.filter_cgroup = cfg->is_cgroup_only,
		.is_cgroup_v1 = cfg->is_cgroup_v1,
		.no_kernel = cfg->no_kernel,
		.no_user = cfg->no_user,
		.by_tables = s->by_tables,
		.by_copies = (__u8)s->copies,
		.by_cgroup = cfg->by_cgroup,
		.pc_mask = code_mask(),
		.wall_ns = s->wall_ns,
		.nr_cpus = (__u32)s->nr_possible,
	};

	memcpy((void *)&s->skel->rodata->cfg, &c, sizeof(c));
}

static struct bpf_program *main_program(const struct sampler *s)
{
	switch (s->kind) {
	case SAMPLE_TRACEPOINT:
		return s->skel->progs.on_tracepoint;
	case SAMPLE_UPROBE:
		return s->skel->progs.on_uprobe;
	case SAMPLE_OFF_CPU:
		return s->skel->progs.on_switch;
	case SAMPLE_WAKER:
		return s->skel->progs.on_waking;
	default:
		return s->skel->progs.on_event;
	}
}

static int size_maps(struct sampler *s, const struct sampler_cfg *cfg)
{
	int err = bpf_map__set_max_entries(s->skel->maps.stacks, s->max_stacks);

	if (!err)
		err = bpf_map__set_max_entries(s->skel->maps.rows, s->max_rows);
	if (!err && !cfg->tgid)
		err = bpf_map__set_max_entries(s->skel->maps.family, 1);
	if (!err && !cfg->is_cgroup_only)
		err = bpf_map__set_max_entries(s->skel->maps.wanted_cgroups, 1);
	if (!err && s->by_tables)
		err = bpf_map__set_max_entries(s->skel->maps.unwind_pages, UNWIND_MAPS_PAGES);
	if (!err && s->by_tables)
		err = bpf_map__set_max_entries(s->skel->maps.unwind_processes,
		                               UNWIND_MAPS_PROCESSES);
	if (!err && s->copies)
		err = bpf_map__set_max_entries(s->skel->maps.copies,
		                               (uint32_t)cpulist_last(cfg->online) + 1);
	if (!err && s->wall_ns)
		err = bpf_map__set_max_entries(s->skel->maps.busy_cpus, (__u32)s->nr_possible);
	if (!err && s->kind != SAMPLE_OFF_CPU)
		err = bpf_map__set_autocreate(s->skel->maps.off_tasks, false);
	return err;
}

/* Loads only what is needed. */
static void choose_programs(struct sampler *s)
{
	bool is_off = s->kind == SAMPLE_OFF_CPU;
	struct bpf_program *prog;

	bpf_object__for_each_program(prog, s->skel->obj) bpf_program__set_autoload(prog, false);
	bpf_program__set_autoload(main_program(s), true);
	bpf_program__set_autoload(s->skel->progs.on_fork_follow, s->tgid != 0);
	bpf_program__set_autoload(s->skel->progs.on_free, s->tgid != 0);
	bpf_program__set_autoload(s->skel->progs.on_fork_prepare, is_off);
	bpf_program__set_autoload(s->skel->progs.prepare_tasks, is_off);
	bpf_program__set_autoload(s->skel->progs.on_switch_busy, s->wall_ns != 0);
	bpf_program__set_autoload(s->skel->progs.on_fork_unwind, s->by_tables);
	bpf_program__set_autoload(s->skel->progs.on_exec_unwind, s->by_tables);
	bpf_program__set_autoload(s->skel->progs.on_free_unwind, s->by_tables);
}

/* Interrupts need no names here: where preempt_count is found, no program more is loaded. */
static int choose_context(struct sampler *s, struct diag *d)
{
	struct btf *vmlinux = s->kind == SAMPLE_WAKER ? btf__load_vmlinux_btf() : NULL;
	struct context_cfg context = { 0 };

	if (s->kind == SAMPLE_WAKER && !vmlinux)
		return diag_set(d, -errno, "see 'schedscope doctor'",
		                "this kernel has no type information (BTF)");
	if (vmlinux)
		context_find(vmlinux, false, &context);
	memcpy((void *)&s->skel->rodata->context_cfg, &context, sizeof(context));
	context_choose(s->skel->obj, vmlinux,
	               vmlinux && context.source == ABI_CONTEXT_COUNTED ? &context : NULL);
	btf__free(vmlinux);
	return 0;
}

static int load(struct sampler *s, const struct sampler_cfg *cfg, const struct bpf_log *log,
                struct diag *d)
{
	struct prof_cfg *bpf_cfg;
	int err = 0;

	s->skel = profile_bpf__open();
	if (!s->skel)
		return bpf_load_failed(log, -errno, WHAT, d);
	err = loaded_new(BPF_PROFILE, s->skel->obj, &s->loaded);
	if (err)
		return diag_set(d, err, NULL, "out of memory");
	report_programs(s, cfg);
	bpf_cfg = (struct prof_cfg *)&s->skel->rodata->cfg;
	choose_programs(s);
	if (size_maps(s, cfg))
		return diag_set(d, -EINVAL, NULL, "cannot size the BPF maps");
	err = choose_context(s, d);
	if (!err && (s->kind == SAMPLE_OFF_CPU || s->wall_ns))
		err = sample_facts_kernel(bpf_cfg, d);
	if (!err && s->kind == SAMPLE_TRACEPOINT)
		err = sample_probe_tracepoint(s->loaded, s->skel->progs.on_tracepoint,
		                              cfg->event->spec, d);
	if (err)
		return err;
	err = loaded_load(s->loaded);
	return err ? bpf_load_failed(log, err, WHAT, d) : 0;
}

static int open_source(struct sampler *s, const struct sampler_cfg *cfg, struct diag *d)
{
	struct sample_perf_cfg perf = {
		.events = &cfg->event->pmu,
		.frequency = cfg->frequency,
		.period = cfg->period,
		.online = cfg->online,
		.cpu = cfg->cpu,
		.prog_fd = loaded_fd(s->loaded, s->skel->progs.on_event),
	};

	if (s->kind == SAMPLE_UPROBE)
		return sample_probe_uprobe(loaded_fd(s->loaded, s->skel->progs.on_uprobe),
		                           cfg->event->spec, d, &s->uprobe);
	if (s->kind != SAMPLE_PERF)
		return 0;
	if (!perf.frequency && !perf.period)
		perf.frequency = SAMPLER_FREQUENCY;
	return sample_perf_open(&perf, d, &s->perf);
}

static int make_buffers(struct sampler *s)
{
	int err;

	err = bpf_barrier_open(&s->barrier);
	if (err)
		return err;
	s->cpus = calloc((size_t)s->nr_possible, sizeof(*s->cpus));
	if (!s->cpus)
		return -ENOMEM;
	if (s->kind != SAMPLE_PERF && s->kind != SAMPLE_UPROBE)
		err = plumbing_read("/proc/kallsyms", &s->plumbing);
	if (err == -ENOMEM)
		return err;
	err = 0; /* the kernel's own frames stay where they are not known */
	if (s->by_tables)
		err = unwind_maps_new(bpf_map__fd(s->skel->maps.unwind_pages), UNWIND_MAPS_PAGES,
		                      bpf_map__fd(s->skel->maps.unwind_processes), &s->unwind);
	if (err)
		return err;
	s->drain.stacks_fd = bpf_map__fd(s->skel->maps.stacks);
	s->drain.rows_fd = bpf_map__fd(s->skel->maps.rows);
	err = sample_stacks_new(KEPT_STACKS, s->plumbing, &s->drain.stacks);
	return err ? err : sample_rows_new(KEPT_ROWS, &s->drain.rows);
}

/* Those of processes without tables are a help, and not needed. */
static int open_copies(struct sampler *s, const struct sampler_cfg *cfg, struct diag *d)
{
	bool is_early = s->copies == PROF_COPIES_EARLY;
	const struct sample_copies_cfg copies = {
		.map_fd = bpf_map__fd(s->skel->maps.copies),
		.online = cfg->online,
		.stacks = s->drain.stacks,
		.walker = cfg->walker,
		.is_seldom = is_early,
	};
	int err = sample_copies_open(&copies, is_early ? NULL : d, &s->drain.copies);

	return is_early ? 0 : err;
}

int sampler_open(const struct sampler_cfg *cfg, struct diag *d, struct sampler **out)
{
	SCOPED(scoped_sampler) struct sampler *s = calloc(1, sizeof(*s));
	SCOPED(scoped_bpf_log) struct bpf_log *log = NULL;
	int err = check(cfg, d);

	if (!s)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	s->barrier = (struct bpf_barrier){ -1, -1 };
	s->uprobe = (struct bpf_tie){ -1, -1 };
	if (err)
		return err;
	s->kind = cfg->event->kind;
	s->tgid = cfg->tgid;
	s->max_samples = cfg->max_samples;
	s->by_tables = cfg->by_tables && !cfg->no_user;
	s->copies = cfg->no_user ? PROF_COPIES_NONE : cfg->copies;
	s->wall_ns = cfg->is_wall ? SECOND_NS / cfg->frequency : 0;
	s->nr_possible = libbpf_num_possible_cpus();
	if (s->nr_possible < 0)
		return diag_set(d, s->nr_possible, NULL, "cannot count the CPUs");
	choose_sizes(s, cfg);
	log = bpf_log_capture();
	err = load(s, cfg, log, d);
	if (!err)
		err = open_source(s, cfg, d);
	if (err)
		return err;
	err = make_buffers(s);
	if (err)
		return diag_set(d, err, NULL, "cannot set up the profile's buffers");
	err = s->copies ? open_copies(s, cfg, d) : 0;
	if (err)
		return err;
	*out = TAKE_PTR(s);
	return 0;
}

struct unwind_maps *sampler_unwind(const struct sampler *s)
{
	return s->unwind;
}

int sampler_add_cgroup(struct sampler *s, uint64_t id, bool is_exact, struct diag *d)
{
	__u8 mode = is_exact ? ABI_CGROUP_EXACT : ABI_CGROUP_SUBTREE;

	if (bpf_map_update_elem(bpf_map__fd(s->skel->maps.wanted_cgroups), &id, &mode, BPF_ANY))
		return diag_set(d, -errno, "choose a pattern that matches fewer cgroups",
		                "too many cgroups for the filter");
	return 0;
}

/* First the filter is set, then the process is read: none of its children is missed. */
static int attach_family(struct sampler *s)
{
	__u64 whenever = 0;
	int err = loaded_attach(s->loaded, s->skel->progs.on_fork_follow);

	if (!err)
		err = loaded_attach(s->loaded, s->skel->progs.on_free);
	if (!err &&
	    bpf_map_update_elem(bpf_map__fd(s->skel->maps.family), &s->tgid, &whenever, BPF_ANY))
		err = -errno;
	return err;
}

static int attach_unwind(struct sampler *s)
{
	int err = loaded_attach(s->loaded, s->skel->progs.on_fork_unwind);

	if (!err)
		err = loaded_attach(s->loaded, s->skel->progs.on_exec_unwind);
	return err ? err : loaded_attach(s->loaded, s->skel->progs.on_free_unwind);
}

static int prepare_tasks(struct sampler *s)
{
	SCOPED(scoped_close) int link = loaded_iterator(s->loaded, s->skel->progs.prepare_tasks);
	int err = link < 0 ? link : bpf_run_iterator(link);

	/* Again: the kernel's cache of free storage may have been empty for a moment. */
	return err ? err : bpf_run_iterator(link);
}

static int attach_all(struct sampler *s)
{
	int err = s->tgid ? attach_family(s) : 0;

	if (!err && s->by_tables)
		err = attach_unwind(s);
	if (!err && s->wall_ns)
		err = loaded_attach(s->loaded, s->skel->progs.on_switch_busy);
	if (err)
		return err;
	switch (s->kind) {
	case SAMPLE_TRACEPOINT:
		return loaded_attach(s->loaded, s->skel->progs.on_tracepoint);
	case SAMPLE_WAKER:
		err = context_attach(s->loaded);
		if (err)
			return err;
		return loaded_attach(s->loaded, s->skel->progs.on_waking);
	case SAMPLE_OFF_CPU:
		err = loaded_attach(s->loaded, s->skel->progs.on_fork_prepare);
		if (!err)
			err = prepare_tasks(s);
		return err ? err : loaded_attach(s->loaded, s->skel->progs.on_switch);
	default:
		return 0;
	}
}

static void set_open(struct sampler *s, bool is_open)
{
	__atomic_store_n(&s->skel->bss->is_open, is_open, __ATOMIC_RELEASE);
}

int sampler_start(struct sampler *s, struct diag *d)
{
	SCOPED(scoped_bpf_log) struct bpf_log *log = NULL;
	int err;

	if (s->is_started)
		return diag_set(d, -EALREADY, NULL, "this profile was already started");
	s->is_started = true;
	log = bpf_log_capture();
	err = attach_all(s);
	if (err) {
		sampler_stop(s);
		return bpf_load_failed(log, err, WHAT, d);
	}
	set_open(s, true);
	err = s->perf ? sample_perf_enable(s->perf) : 0;
	if (err) {
		sampler_stop(s);
		return diag_set(d, err, NULL, "cannot switch the events on");
	}
	return 0;
}

int sampler_take_copies(struct sampler *s)
{
	return s->drain.copies ? sample_copies_take(s->drain.copies) : 0;
}

int sampler_follow(struct sampler *s, const struct cpulist *online, struct diag *d)
{
	if (s->drain.copies && s->is_started)
		sample_copies_follow(s->drain.copies, online);
	return s->perf && s->is_started ? sample_perf_follow(s->perf, online, d) : 0;
}

void sampler_stop(struct sampler *s)
{
	if (s->is_stopped)
		return;
	s->is_stopped = true;
	set_open(s, false);
	if (s->perf)
		sample_perf_end(s->perf);
	if (s->loaded)
		loaded_detach(s->loaded);
	bpf_tie_close(&s->uprobe);
	if (s->is_started)
		(void)!bpf_barrier_wait(&s->barrier);
}

void sampler_close(struct sampler *s)
{
	if (!s)
		return;
	if (s->skel)
		sampler_stop(s);
	sample_perf_close(s->perf);
	sample_copies_close(s->drain.copies);
	sample_stacks_free(s->drain.stacks);
	sample_rows_free(s->drain.rows);
	plumbing_free(s->plumbing);
	unwind_maps_free(s->unwind);
	bpf_barrier_close(&s->barrier);
	loaded_close(s->loaded);
	profile_bpf__destroy(s->skel);
	free(s->cpus);
	free(s);
}

static int drain_all(struct sampler *s, struct diag *d)
{
	int err;

	s->generation++;
	__atomic_store_n(&s->skel->bss->generation, s->generation, __ATOMIC_RELEASE);
	/* What is still late is taken with the next generation. */
	(void)!bpf_barrier_wait(&s->barrier);
	err = sampler_take_copies(s);
	if (!err)
		err = sample_drain_take(&s->drain, s->generation);
	return err ? diag_set(d, err, NULL, "cannot read the profile from the kernel") : 0;
}

static int hand_on(const struct sampler *s, uint32_t idx, sampler_row_fn *fn, void *ctx)
{
	const struct prof_key *key;
	const struct prof_row *row = sample_rows_at(s->drain.rows, idx, &key);
	struct sampler_row out = {
		.tid = key->tid,
		.tgid = key->tgid,
		.cpu = row->cpu,
		.layer = SAMPLER_NO_LAYER,
		.first_ns = row->first_ns,
		.last_ns = row->last_ns,
		.count = row->count,
		.value = row->value,
		.cgroup = key->cgroup,
	};
	uint32_t end;
	int err;

	memcpy(out.comm, key->comm, sizeof(out.comm));
	out.comm[sizeof(out.comm) - 1] = '\0';
	err = sample_stacks_get(s->drain.stacks, key->kernel, &out.kernel, &out.nr_kernel, &end);
	if (!err)
		err = sample_stacks_get(s->drain.stacks, key->user, &out.user, &out.nr_user,
		                        &out.user_end);
	return err ? err : fn(ctx, &out);
}

int sampler_read(struct sampler *s, sampler_row_fn *row, void *ctx, struct diag *d)
{
	uint32_t nr;
	int err = drain_all(s, d);

	nr = sample_rows_nr(s->drain.rows);
	for (uint32_t i = 0; !err && i < nr; i++)
		err = hand_on(s, i, row, ctx);
	return err ? diag_set(d, err, NULL, "cannot deliver the profile") : 0;
}

void sampler_totals(struct sampler *s, struct sampler_totals *out)
{
	__u32 zero = 0;

	memset(out, 0, sizeof(*out));
	if (bpf_map_lookup_elem(bpf_map__fd(s->skel->maps.cpus), &zero, s->cpus))
		return;
	for (int i = 0; i < s->nr_possible; i++) {
		out->samples += s->cpus[i].seen;
		out->kept += s->cpus[i].kept;
		out->lost += s->cpus[i].lost;
		out->idle += s->cpus[i].idle;
		out->no_stack += s->cpus[i].no_stack;
	}
	out->kept -= s->drain.lost;
	out->lost += s->drain.lost;
	out->missed = events_part_missed(s->loaded);
	if (!s->perf)
		return;
	out->throttled = sample_perf_throttled(s->perf);
	out->nr_cpus = sample_perf_nr(s->perf);
	out->nr_skipped = sample_perf_nr_skipped(s->perf);
}

bool sampler_is_full(const struct sampler *s)
{
	return s->max_samples &&
	       __atomic_load_n(&s->skel->bss->nr_taken, __ATOMIC_ACQUIRE) >= s->max_samples;
}

size_t sampler_program_fds(const struct sampler *s, int *fds, size_t cap)
{
	if (!cap)
		return 0;
	fds[0] = loaded_fd(s->loaded, main_program(s));
	return 1;
}
