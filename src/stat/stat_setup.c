/* Opening and closing of a stat session; stat_session.c runs it. */
#include "stat/stat_priv.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/event.h"
#include "base/cleanup.h"
#include "collect/scx_functions.h"
#include "collect/tracing.h"
#include "sys/cpulist.h"
#include "sys/proc/pid_namespace.h"
#include "sys/rights/privilege.h"
#include "sys/topology.h"
#include "sys/topology_json.h"
#include "sys/watch.h"

static PRINTF_LIKE(2, 3) void add_note(struct stat_session *s, const char *fmt, ...)
{
	va_list args;

	if (s->nr_notes == STAT_NOTES_MAX)
		return;
	va_start(args, fmt);
	vsnprintf(s->notes[s->nr_notes++], sizeof(s->notes[0]), fmt, args);
	va_end(args);
}

static void note_diag(struct stat_session *s, const char *group, const struct diag *why)
{
	char line[STAT_NOTE_LEN - 32];

	diag_format(why, line, sizeof(line));
	add_note(s, "without %s: %s", group, line);
}

/* The kernel's CPUs are what is counted; the topology may come from a file. */
static int read_topology(struct stat_session *s, const char *path, struct diag *d)
{
	int err = topology_read("/sys", d, &s->machine);

	if (!err && path)
		err = topology_json_read(path, d, &s->placement);
	if (err)
		return err;
	s->nr_cpus = topology_counts(s->machine)->nr_cpu_ids;
	s->places = calloc(s->nr_cpus, sizeof(*s->places));
	s->possible = calloc(s->nr_cpus, sizeof(*s->possible));
	if (!s->places || !s->possible)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	s->nr_possible = topology_possible(s->machine, s->possible);
	for (uint32_t cpu = 0; cpu < s->nr_cpus; cpu++) {
		const struct topology_cpu *at = topology_cpu(stat_placement(s), cpu);

		s->places[cpu].llc = at ? at->llc : -1;
		s->places[cpu].node = at ? at->node : -1;
	}
	if ((s->groups & STAT_GROUP_MIGRATION) && topology_llc_note(stat_placement(s)))
		add_note(s, "%s", topology_llc_note(stat_placement(s)));
	return 0;
}

const struct topology *stat_placement(const struct stat_session *s)
{
	return s->placement ? s->placement : s->machine;
}

static int open_counters(struct stat_session *s, struct diag *d)
{
	struct cpulist online = { 0 };
	struct diag why = { 0 };
	int err;

	if (!(stat_groups_all(&s->cfg.groups) & STAT_GROUP_PERF))
		return 0;
	err = topology_online(s->machine, &online);
	if (!err)
		err = stat_counters_open(&s->cfg.groups, &online, s->nr_cpus, &why, &s->counters);
	if (!err && online_watch_open(&s->online, ONLINE_WATCH_PATH, &online))
		err = diag_set(&why, -ENOMEM, NULL, "out of memory");
	cpulist_done(&online);
	if (err) {
		*d = why;
		return err;
	}
	if (!stat_counters_nr(s->counters)) {
		s->groups &= ~(uint32_t)STAT_GROUP_PERF;
		note_diag(s, "perf", &why);
	}
	return 0;
}

static int open_schedstat(struct stat_session *s, struct diag *d)
{
	struct diag why = { 0 };
	int err;

	if (!(s->groups & STAT_GROUP_SCHEDSTAT))
		return 0;
	err = stat_schedstat_open(&why, &s->schedstat);
	if (!err)
		return 0;
	if (s->cfg.groups.asked & STAT_GROUP_SCHEDSTAT) {
		*d = why;
		return err;
	}
	s->groups &= ~(uint32_t)STAT_GROUP_SCHEDSTAT;
	note_diag(s, "schedstat", &why);
	return 0;
}

static int open_dsqs(struct stat_session *s, struct diag *d)
{
	if (dsq_tally_new(&s->dsqs))
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	if (!s->scx.is_enabled)
		add_note(
			s,
			"no sched_ext scheduler is loaded: dispatch queues are measured as soon as one is");
	return 0;
}

/* What must be known about the kernel, and whether dispatch queues can be traced. */
static int probe_kernel(struct stat_session *s, struct stat_kernel *out, struct diag *d)
{
	struct diag why = { 0 };
	struct tracing tracing;
	int err = tracing_probe("scheduling statistics", &tracing, d);

	*out = (struct stat_kernel){ 0 };
	if (err)
		return err;
	out->switch_args = tracing.switch_args;
	out->may_create_storage = tracing.may_create_storage;
	if (!(s->groups & STAT_GROUP_DSQ))
		return 0;
	scx_functions_plan(STAT_SCX_KINDS, s->cfg.is_scx_by_kprobe ? SCX_BY_KPROBE : SCX_BY_FENTRY,
	                   &out->scx);
	scx_state_read("", &s->scx);
	if (stat_plan_has_dsqs(&out->scx))
		return open_dsqs(s, d);
	if (s->scx.is_supported)
		diag_set(&why, -ENOTSUP,
		         "the kernel needs BTF, CONFIG_FUNCTION_TRACER for fentry or CONFIG_KPROBES, "
		         "and 1 in /proc/sys/kernel/ftrace_enabled",
		         "dispatch queues cannot be traced on this kernel");
	else
		diag_set(
			&why, -ENOTSUP,
			"use Linux 6.12 or newer with CONFIG_SCHED_CLASS_EXT; the group latency works here",
			"this kernel has no sched_ext, so no dispatch queues");
	if (s->cfg.groups.asked & STAT_GROUP_DSQ) {
		*d = why;
		return why.code;
	}
	s->groups &= ~(uint32_t)STAT_GROUP_DSQ;
	note_diag(s, "dsq", &why);
	return 0;
}

static int open_collector(struct stat_session *s, struct diag *d)
{
	uint32_t ring_bytes = s->cfg.is_for_metrics ? STAT_RING_SMALL : STAT_RING_BYTES;
	struct stat_request req = {
		.tid = s->cfg.tid,
		.tgid = s->cfg.tgid,
		.is_cgroup_only = stat_filter_is_cgroup_only(s->filter),
		.is_cgroup_v1 = stat_filter_is_v1(s->filter),
		.outlier_ns = s->cfg.outlier_ns,
		.open_wait_ns = STAT_OPEN_WAIT_NS,
		.is_from_waking = s->cfg.is_from_waking,
		.nr_counters = s->counters ? stat_counters_nr(s->counters) : 0,
		.nr_cpus = s->nr_cpus,
		.ring_bytes = ring_bytes,
		.is_for_screen = s->cfg.is_stepped && !s->cfg.is_for_metrics,
	};
	struct stat_collector_cfg cfg = {
		.possible = s->possible,
		.nr_possible = s->nr_possible,
		.places = s->places,
		.counter_fds = s->counters ? stat_counters_fds(s->counters) : NULL,
		.ring_bytes = ring_bytes,
	};
	struct stat_kernel kernel;
	int err;

	if (!(s->groups & ~(uint32_t)STAT_GROUP_SCHEDSTAT) && !s->cfg.outlier_ns)
		return 0; /* the kernel counts by itself */
	err = probe_kernel(s, &kernel, d);
	if (err)
		return err;
	req.groups = s->groups;
	stat_plan_make(&req, &kernel, &cfg.plan);
	err = stat_collector_open(&cfg, d, &s->collector);
	if (err)
		return err;
	return stat_push_cgroups(s, d);
}

int stat_push_cgroups(struct stat_session *s, struct diag *d)
{
	const struct cgroup_set *set = stat_filter_cgroups(s->filter);
	SCOPED(scoped_free) struct stat_cgroup *wanted = NULL;

	if (!stat_filter_is_cgroup_only(s->filter))
		return 0;
	wanted = calloc(set->nr ? set->nr : 1, sizeof(*wanted));
	if (!wanted)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	for (size_t i = 0; i < set->nr; i++) {
		wanted[i].id = set->picks[i].id;
		wanted[i].is_exact = set->picks[i].is_exact;
	}
	return stat_collector_set_cgroups(s->collector, wanted, set->nr, d);
}

static int open_tally(struct stat_session *s, struct diag *d)
{
	struct tally_cfg cfg = {
		/* The latency filter judges threads: rows are put together afterwards. */
		.by = s->cfg.min_latency_us ? TALLY_BY_TID : s->cfg.display,
		.nr_cpus = s->nr_cpus,
		.accept = stat_filter_accepts,
		.accept_ctx = s->filter,
		.peak = s->cfg.peak,
		.peak_ctx = s->cfg.peak_ctx,
	};
	int err = tally_new(&cfg, &s->tally);

	s->kept_by = cfg.by;
	return err ? diag_set(d, err, NULL, "out of memory") : 0;
}

static int attach(struct stat_session *s, struct diag *d)
{
	int fds[BPF_COST_PROGRAMS];
	size_t nr;
	int err;

	if (s->counters && stat_counters_start(s->counters))
		return diag_set(d, -EIO, NULL, "cannot start the counters");
	if (!s->collector)
		return 0;
	err = stat_collector_attach(s->collector, d);
	if (!err && s->watch)
		err = watch_data(s->watch, stat_collector_ring_fd(s->collector), d);
	if (err)
		return err;
	nr = stat_collector_program_fds(s->collector, fds, BPF_COST_PROGRAMS);
	bpf_cost_init(&s->cost, fds, nr);
	return 0;
}

/* The kernel's ids are those of the first namespace; inside another one they cannot be translated. */
static int check_namespace(struct stat_session *s, struct diag *d)
{
	if (pid_namespace_is_initial())
		return 0;
	if (s->cfg.tid || s->cfg.tgid)
		return pid_namespace_check("-p and --tid", d);
	add_note(
		s,
		"inside a pid namespace: ids are the host's, and tasks outside it appear only when they exit");
	return 0;
}

DEFINE_SCOPED(stat_session, stat_session_close)

int stat_session_open(const struct stat_session_cfg *cfg, struct diag *d, struct stat_session **out)
{
	SCOPED(scoped_stat_session) struct stat_session *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	s->online.fd = -1;
	s->cfg = *cfg;
	s->cost.stats_fd = -1;
	s->groups = stat_groups_all(&cfg->groups);
	/* First of all: if we are interrupted from here on, everything is restored. */
	err = cfg->is_stepped ? 0 : watch_open(cfg->output_fd, d, &s->watch);
	if (!err)
		err = stat_filter_new(&cfg->filter, d, &s->filter);
	if (!err)
		err = check_namespace(s, d);
	if (!err)
		err = read_topology(s, cfg->topology_path, d);
	if (!err)
		err = open_tally(s, d);
	if (!err)
		err = open_counters(s, d);
	if (!err)
		err = open_schedstat(s, d);
	if (!err)
		err = open_collector(s, d);
	if (!err)
		err = attach(s, d);
	/* From here on maps, rings and counters are read; the broker does everything else. */
	if (!err && !cfg->is_stepped)
		err = privilege_drop(0, d);
	if (err)
		return err;
	*out = TAKE_PTR(s);
	return 0;
}

void stat_session_close(struct stat_session *s)
{
	if (!s)
		return;
	bpf_cost_end(&s->cost);
	stat_collector_close(s->collector);
	stat_counters_close(s->counters);
	online_watch_close(&s->online);
	stat_schedstat_close(s->schedstat);
	tally_free(s->tally);
	stat_filter_free(s->filter);
	topology_free(s->machine);
	topology_free(s->placement);
	free(s->places);
	free(s->possible);
	free(s->outliers);
	free(s->outlier_list);
	free(s->rows);
	free(s->cpus);
	free(s->dsq_list);
	dsq_tally_free(s->dsqs);
	watch_close(s->watch); /* last: a signal that waits strikes here */
	free(s);
}
