#include "record/record_source.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "collect/counter_set.h"
#include "collect/events.h"
#include "collect/ring_plan.h"
#include "collect/run_losses.h"
#include "collect/stack_part.h"
#include "collect/stat_filter.h"
#include "collect/tracing.h"
#include "profile/profiler/unwinder.h"
#include "record/affinity.h"
#include "record/record_symbols.h"
#include "sys/command.h"
#include "sys/cpulist.h"
#include "sys/online_watch.h"
#include "sys/proc/pid_namespace.h"
#include "sys/proc/proc_tasks.h"
#include "sys/rights/caps.h"
#include "sys/rights/privilege.h"
#include "sys/topology.h"
#include "sys/watch.h"

#define SECOND_NS 1000000000ULL
#define POLL_NS   100000000ULL /* at most ten rounds a second while nothing happens */

struct record_source {
	struct record_source_cfg cfg;
	struct topology *topology;
	struct ring_plan rings;
	struct stat_filter *filter;
	struct cpulist online; /* at the start */
	struct online_watch cpus;
	int follow_error;             /* of a CPU that came online and could not be sampled */
	struct counter_set *counters; /* NULL = none */
	struct events *events;
	struct affinity *affinity;      /* before the sink of the run */
	struct record_symbols *symbols; /* of stacks; NULL = none */
	struct ev_sink sink;
	bool is_foreign;   /* the kernel's ids are not those of our /proc */
	bool has_noted_it; /* record_source_remark() has said so */
	struct command command;
	int target_fd; /* pidfd of the process that was asked for; -1 = none */
	uint64_t start_ns;
	uint64_t elapsed_ns;
};

DEFINE_SCOPED(record_source, record_source_close)

static int plan_rings(struct record_source *s, struct diag *d)
{
	uint32_t nr_cpus = topology_counts(s->topology)->nr_cpu_ids;
	SCOPED(scoped_free) int32_t *llcs = calloc(nr_cpus, sizeof(*llcs));
	struct ring_plan_cfg cfg = {
		.nr_cpus = nr_cpus,
		.llc_of_cpu = llcs,
		.is_per_cpu = s->cfg.is_per_cpu_rings,
		.has_stacks = s->cfg.stacks != 0,
		.ring_bytes = s->cfg.ring_bytes,
		.memory_bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE),
	};

	if (!llcs)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	for (uint32_t cpu = 0; cpu < nr_cpus; cpu++) {
		const struct topology_cpu *at = topology_cpu(s->topology, cpu);

		llcs[cpu] = at ? at->llc : -1;
	}
	return ring_plan_make(&cfg, &s->rings) ? diag_set(d, -ENOMEM, NULL, "out of memory") : 0;
}

static int open_counters(struct record_source *s, struct diag *d)
{
	int err = topology_online(s->topology, &s->online);

	if (!err)
		err = online_watch_open(&s->cpus, ONLINE_WATCH_PATH, &s->online);
	if (!err && s->cfg.nr_pmu)
		err = counter_set_new(topology_counts(s->topology)->nr_cpu_ids, &s->counters);
	if (err)
		return diag_set(d, err, NULL, "out of memory");
	for (size_t i = 0; !err && i < s->cfg.nr_pmu; i++) {
		struct counter_slot_cfg slot = { s->cfg.pmu[i], PERF_COUNT_ALL, -1 };

		err = counter_set_add(s->counters, &s->online, &slot, d);
	}
	return err;
}

static int add_cgroups(struct record_source *s, struct diag *d)
{
	const struct cgroup_set *set = stat_filter_cgroups(s->filter);
	int err = 0;

	for (size_t i = 0; !err && i < set->nr; i++)
		err = events_add_cgroup(s->events, set->picks[i].id, set->picks[i].is_exact, d);
	return err;
}

static enum stack_unwind unwind_of(const struct record_source *s)
{
	if (s->cfg.unwind == RECORD_UNWIND_TABLE)
		return STACK_UNWIND_TABLE;
	if (s->cfg.unwind == RECORD_UNWIND_FP || s->is_foreign)
		return STACK_UNWIND_FP;
	return STACK_UNWIND_TRY;
}

static int open_symbols(struct record_source *s, struct diag *d)
{
	const struct stack_part *stacks = events_stacks(s->events);
	const struct record_symbols_cfg cfg = {
		.online = &s->online,
		.unwind = stack_part_unwind(stacks),
		.why_not_table = stack_part_why_fp(stacks),
		/* Wakers may be of any process. */
		.tgid = s->cfg.stacks & STACK_BIT(EV_SAMPLE_WAKER) ? 0 : s->cfg.tgid,
	};

	return stacks ? record_symbols_open(&cfg, d, &s->symbols) : 0;
}

static int open_events(struct record_source *s, const struct tracing *tracing, struct diag *d)
{
	SCOPED(scoped_free) uint32_t *possible = calloc(s->rings.nr_cpus, sizeof(*possible));
	struct events_cfg cfg = {
		.possible = possible,
		.nr_counters = s->counters ? counter_set_nr(s->counters) : 0,
		.counter_fds = s->counters ? counter_set_fds(s->counters) : NULL,
		.kinds = s->cfg.kinds,
		.switch_args = tracing->switch_args,
		.measures = tracing->measures,
		.tgid = s->cfg.tgid,
		.is_cgroup_only = s->cfg.nr_cgroup != 0,
		.is_cgroup_v1 = stat_filter_is_v1(s->filter),
		.is_scx_by_kprobe = s->cfg.is_scx_by_kprobe,
		.is_context_counted = s->cfg.is_context_counted,
		.is_quota_by_cpu = s->cfg.is_quota_by_cpu,
		.nr_cpus = s->rings.nr_cpus,
		.ring_of_cpu = s->rings.ring_of_cpu,
		.nr_rings = s->rings.nr_rings,
		.ring_bytes = s->rings.ring_bytes,
		.probes = s->cfg.probes,
		.nr_probes = s->cfg.nr_probes,
		.one_in = s->cfg.one_in,
		.stacks = s->cfg.stacks,
		.stack_frequency = s->cfg.stack_frequency,
		.stack_unwind = unwind_of(s),
		.online = &s->online,
	};
	int err;

	if (!possible || (cfg.nr_counters && !cfg.counter_fds))
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	cfg.nr_possible = topology_possible(s->topology, possible);
	err = events_open(&cfg, d, &s->events);
	return err || !s->cfg.nr_cgroup ? err : add_cgroups(s, d);
}

int record_source_open(const struct record_source_cfg *cfg, struct diag *d,
                       struct record_source **out)
{
	SCOPED(scoped_record_source) struct record_source *s = calloc(1, sizeof(*s));
	struct stat_filter_cfg filter = { .cgroup = cfg->cgroup, .nr_cgroup = cfg->nr_cgroup };
	struct tracing tracing;
	int err;

	if (!s)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	s->cfg = *cfg;
	s->target_fd = -1;
	s->cpus.fd = -1;
	s->is_foreign = !pid_namespace_is_initial();
	command_init(&s->command);
	err = cfg->tgid ? pid_namespace_check("-p", d) : 0;
	if (!err && s->is_foreign && cfg->unwind == RECORD_UNWIND_TABLE)
		err = diag_set(d, -ENOTSUP,
		               "run it in the host's pid namespace (docker: --pid=host)",
		               "inside a pid namespace stacks cannot be walked by tables");
	if (!err)
		err = tracing_probe("recordings", &tracing, d);
	if (!err)
		err = stat_filter_new(&filter, d, &s->filter);
	if (!err)
		err = topology_read("/sys", d, &s->topology);
	if (!err)
		err = plan_rings(s, d);
	if (!err)
		err = open_counters(s, d);
	if (!err)
		err = open_events(s, &tracing, d);
	if (!err)
		err = open_symbols(s, d);
	if (!err && cfg->tgid) {
		s->target_fd = (int)syscall(SYS_pidfd_open, (pid_t)cfg->tgid, 0);
		if (s->target_fd < 0)
			err = diag_set(d, -errno, NULL, "cannot watch process %u", cfg->tgid);
	}
	if (err)
		return err;
	*out = TAKE_PTR(s);
	return 0;
}

/* Names of the tasks that are there: records like all others, at the time just before the first event. */
struct task_emitter {
	const struct ev_sink *sink;
	struct record_symbols *symbols; /* NULL = without stacks */
	uint32_t tgid;                  /* the only one that is recorded; 0 = all */
	uint64_t ts_ns;
};

static int emit_task(void *ctx, const struct proc_task *task)
{
	const struct task_emitter *t = ctx;
	struct ev_task_info rec = {
		.hdr = { sizeof(rec), EV_TASK_INFO, 0, 0, t->ts_ns },
		.tid = task->tid,
		.tgid = task->tgid,
		.ppid = task->ppid,
		.flags = task->is_kthread ? EV_TASK_KTHREAD : 0,
		.start_ns = task->start_ns,
	};
	int err;

	memcpy(rec.comm, task->comm, sizeof(rec.comm));
	err = t->sink->push(t->sink->ctx, &rec.hdr);
	if (!err && task->tid == task->tgid && !task->is_kthread &&
	    (!t->tgid || t->tgid == task->tgid))
		err = record_symbols_read_process(t->symbols, task->tgid, t->ts_ns);
	return err;
}

/*
 * From here on the rings and maps are read, and what the sink has opened is written; the broker
 * does everything else. In a larger program only this thread can drop privileges: all but reading
 * maps, and names of processes that /proc hides.
 */
static int give_up_rights(const struct record_source *s, struct diag *d)
{
	uint64_t keep = CAPS_TRACE;

	if (!s->cfg.is_deaf)
		return privilege_drop(0, d);
	if (proc_hides_processes("/proc/self/mounts"))
		keep |= CAPS_BIT(CAP_SYS_PTRACE);
	return caps_drop_to(keep) ? diag_set(d, -EPERM, NULL, "cannot drop privileges") : 0;
}

static int begin(struct record_source *s, const struct record_run *run, struct diag *d)
{
	struct task_emitter task_emitter = { .sink = &s->sink,
		                             .symbols = s->symbols,
		                             .tgid = (uint32_t)s->cfg.tgid };
	int err = s->cfg.command ? command_start(&s->command, s->cfg.command, d) : 0;

	if (!err)
		err = stack_part_follow_processes(events_stacks(s->events), d);
	if (!err)
		err = record_symbols_prepare(s->symbols, d);
	if (!err && s->counters && counter_set_start(s->counters))
		err = diag_set(d, -EIO, NULL, "cannot start the counters");
	if (!err)
		err = events_attach(s->events, d);
	if (err)
		return err;
	if (record_symbols_begin(s->symbols))
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	s->start_ns = task_emitter.ts_ns = events_start_ns(s->events);
	err = s->is_foreign ? 0 : proc_tasks_each("/proc", emit_task, &task_emitter, d);
	if (!err)
		err = give_up_rights(s, d);
	if (!err && run->ready)
		run->ready(run->ctx);
	return err ? err : command_release(&s->command, s->cfg.command ? *s->cfg.command : "", d);
}

/* A pidfd can be read once its process has ended, reaped or not. */
static bool is_target_gone(const struct record_source *s)
{
	struct pollfd target = { .fd = s->target_fd, .events = POLLIN };

	return s->target_fd >= 0 && poll(&target, 1, 0) == 1;
}

/* A parent without rights cannot signal its death while we still have ours. */
static bool is_orphan(const struct record_source *s)
{
	return s->cfg.parent && (uint32_t)getppid() != s->cfg.parent;
}

static bool has_ended(struct record_source *s, enum watch_event event, enum record_end *why)
{
	if (event == WATCH_SIGNAL || is_orphan(s))
		*why = RECORD_END_SIGNAL;
	else if (event == WATCH_CHILD && command_has_ended(&s->command))
		*why = RECORD_END_COMMAND;
	else if (is_target_gone(s))
		*why = RECORD_END_TARGET;
	else
		return false;
	return true;
}

static uint64_t real_now_ns(void)
{
	return clock_read_ns(CLOCK_REALTIME);
}

/*
 * Until the moment at which it is to begin; true if something ended it before. The wall clock may be set meanwhile, so it is read
 * again every second.
 */
static int wait_for_start(struct record_source *s, struct watch *w, enum record_end *why,
                          bool *has_ended_early)
{
	enum watch_event event = WATCH_TIME;
	uint64_t now;
	int err = 0;

	*has_ended_early = false;
	while (!err && !*has_ended_early && (now = real_now_ns()) < s->cfg.start_real_ns) {
		uint64_t left = s->cfg.start_real_ns - now;

		err = watch_wait(w, clock_boot_ns() + (left < SECOND_NS ? left : SECOND_NS),
		                 &event);
		*has_ended_early = !err && has_ended(s, event, why);
	}
	return err;
}

/* What is opened for each CPU is opened for those that come online, too. */
static void follow_cpus(struct record_source *s, uint64_t now_ns)
{
	const int *fds = NULL;
	int errs[3] = { 0 };

	if (!online_watch_poll(&s->cpus, now_ns))
		return;
	if (s->counters) {
		errs[0] = counter_set_follow(s->counters, &s->cpus.now, NULL);
		fds = counter_set_fds(s->counters);
	}
	errs[1] = s->counters && !fds ? -ENOMEM : events_follow(s->events, &s->cpus.now, fds);
	errs[2] = record_symbols_follow(s->symbols, &s->cpus.now);
	for (size_t i = 0; i < 3 && !s->follow_error; i++)
		s->follow_error = errs[i];
}

/* On many machines that began at one moment it is the same one, however long attaching took on each. */
static uint64_t end_of_run(const struct record_source *s)
{
	uint64_t from = s->start_ns, late = 0;

	if (!s->cfg.duration_ns)
		return UINT64_MAX;
	if (s->cfg.start_real_ns) {
		from = clock_boot_ns();
		late = real_now_ns() - s->cfg.start_real_ns;
	}
	return from + s->cfg.duration_ns - (late < s->cfg.duration_ns ? late : 0);
}

static int loop(struct record_source *s, const struct record_run *run, struct watch *w,
                struct diag *d, enum record_end *why)
{
	uint64_t end = end_of_run(s), pace_ns = record_symbols_pace_ns(s->symbols);
	enum record_next next = RECORD_GO_ON;
	enum watch_event event;
	int err;

	*why = RECORD_END_TIME;
	for (;;) {
		uint64_t now = clock_boot_ns();
		uint64_t until = next == RECORD_AT_ONCE ? now : now + (pace_ns ? pace_ns : POLL_NS);

		if (now >= end)
			return 0;
		err = watch_wait(w, until < end ? until : end, &event);
		follow_cpus(s, now);
		if (!err)
			err = record_symbols_round(s->symbols);
		if (!err)
			err = events_poll(s->events, 0, &s->sink, d);
		if (err || has_ended(s, event, why))
			return err;
		next = run->round ? run->round(run->ctx, now, event == WATCH_USER) : RECORD_GO_ON;
		if (next == RECORD_STOP) {
			*why = RECORD_END_DONE;
			return 0;
		}
	}
}

static int tap_affinity(struct record_source *s, struct ev_sink sink, struct diag *d)
{
	affinity_free(s->affinity);
	s->affinity = NULL;
	if (s->symbols)
		sink = record_symbols_sink(s->symbols, &sink);
	/* In a namespace of its own it cannot ask by the kernel's tids. */
	if (affinity_new(sink, &s->online, s->is_foreign ? NULL : affinity_of_task, &s->affinity))
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	s->sink = affinity_sink(s->affinity);
	return 0;
}

int record_source_run(struct record_source *s, const struct record_run *run, struct diag *d,
                      enum record_end *why)
{
	struct watch *w = NULL;
	bool is_over = false;
	int err = tap_affinity(s, run->sink, d), finish;

	if (err)
		return err;
	err = s->cfg.is_deaf ? watch_open_deaf(d, &w) : watch_open(-1, d, &w);
	if (!err)
		err = watch_data(w, events_watch_fd(s->events), d);
	if (!err && record_symbols_fd(s->symbols) >= 0)
		err = watch_data(w, record_symbols_fd(s->symbols), d);
	if (!err)
		err = wait_for_start(s, w, why, &is_over);
	if (!err && !is_over)
		err = begin(s, run, d);
	if (!err && !is_over)
		err = loop(s, run, w, d, why);
	s->elapsed_ns = s->start_ns ? clock_boot_ns() - s->start_ns : 0; /* without detaching */
	finish = record_symbols_round(s->symbols);
	if (!finish)
		finish = events_finish(s->events, &s->sink, err ? NULL : d);
	(void)command_has_ended(
		&s->command); /* a moment after the time was up, or by the same Ctrl-C */
	command_leave(&s->command, !s->start_ns);
	watch_close(w);
	return err ? err : finish;
}

struct record_symbols *record_source_symbols(const struct record_source *s)
{
	return s->symbols;
}

bool record_source_remark(struct record_source *s, struct diag *out)
{
	if (s->is_foreign && !s->has_noted_it) {
		s->has_noted_it = true;
		diag_set(out, -ENODATA, PID_NAMESPACE_HINT, PID_NAMESPACE_NOTE);
		return true;
	}
	if (s->follow_error) {
		diag_set(out, s->follow_error, NULL,
		         "a CPU came online; its stacks or counters are not recorded");
		s->follow_error = 0;
		return true;
	}
	return record_symbols_remark(s->symbols, out);
}

const char *record_source_stack_event(const struct record_source *s)
{
	return events_stack_event(s->events);
}

const struct topology *record_source_topology(const struct record_source *s)
{
	return s->topology;
}

uint8_t record_source_measures(const struct record_source *s)
{
	return events_measures(s->events);
}

uint64_t record_source_missing(const struct record_source *s)
{
	return events_missing(s->events);
}

void record_source_totals(const struct record_source *s, struct record_totals *out)
{
	struct events_totals totals;

	memset(out, 0, sizeof(*out));
	events_totals(s->events, &totals);
	run_losses(&(struct run_losses_of){ .filter = s->filter,
	                                    .mapped_files = record_symbols_lost(s->symbols) },
	           &out->losses);
	out->elapsed_ns = s->elapsed_ns ? s->elapsed_ns
	                  : s->start_ns ? clock_boot_ns() - s->start_ns
	                                : 0;
	out->is_filtered = s->cfg.tgid || s->cfg.nr_cgroup || s->cfg.one_in > 1;
	for (int kind = 0; kind < EV_KIND_MAX; kind++) {
		out->events += totals.seen[kind];
		out->lost += totals.lost[kind];
	}
	memcpy(out->lost_of, totals.lost, sizeof(out->lost_of));
	out->skipped = totals.missed;
	out->damaged = totals.order.bad + totals.order.torn;
	out->lost += out->skipped + out->damaged;
	out->switches = totals.seen[EV_SWITCH];
	out->wakings = totals.seen[EV_WAKING];
	out->hits = totals.seen[EV_PROBE];
	out->stacks = totals.seen[EV_SAMPLE];
	out->one_in = s->cfg.one_in > 1 ? s->cfg.one_in : 1;
	out->missing = events_missing(s->events);
	out->command_status = s->command.status;
	out->command_pid = (uint32_t)s->command.pid;
}

void record_source_close(struct record_source *s)
{
	if (!s)
		return;
	command_leave(&s->command, !s->start_ns);
	if (s->target_fd >= 0)
		close(s->target_fd);
	events_close(s->events);
	affinity_free(s->affinity);
	record_symbols_close(s->symbols);
	counter_set_free(s->counters);
	online_watch_close(&s->cpus);
	cpulist_done(&s->online);
	stat_filter_free(s->filter);
	ring_plan_done(&s->rings);
	topology_free(s->topology);
	free(s);
}
