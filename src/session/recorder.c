#include "session/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "collect/events.h"
#include "collect/ring_plan.h"
#include "session/affinity.h"
#include "session/counter_set.h"
#include "session/record_facts.h"
#include "session/stat_filter.h"
#include "session/system_stats.h"
#include "session/tracing.h"
#include "session/watch.h"
#include "sys/caps.h"
#include "sys/cpulist.h"
#include "sys/proc_tasks.h"
#include "sys/topology.h"
#include "trace/writer.h"

#define MS_NS       1000000ULL
#define SECOND_NS   (1000 * MS_NS)
#define POLL_NS     (100 * MS_NS) /* at most ten rounds a second while nothing happens */
#define PROGRESS_NS (250 * MS_NS)

struct recorder {
	struct recorder_cfg cfg;
	struct topology *topology;
	struct ring_plan rings;
	struct stat_filter *filter;
	struct events *events;
	struct trace_writer *writer;
	struct ev_sink sink;
	struct cpulist online;
	struct counter_set *counters; /* NULL = none */
	struct affinity *affinity;
	struct system_stats *stats; /* NULL = not asked for */
	uint64_t start_ns;
	pid_t child; /* 0 = none */
	int child_status;
	int start_fd;   /* the child waits for a byte from here */
	int failure_fd; /* and tells here why it could not become the command */
	int target_fd;  /* pidfd of the process that was asked for; -1 = none */
	uint64_t elapsed_ns;
};

static void scoped_recorder(struct recorder *const *r)
{
	if (*r)
		(void)!recorder_close(*r, NULL, NULL);
}

static bool read_clocks(void *ctx, struct trace_clocks *out)
{
	(void)ctx;
	out->boot_ns = clock_boot_ns();
	out->mono_ns = clock_read_ns(CLOCK_MONOTONIC);
	out->real_ns = clock_read_ns(CLOCK_REALTIME);
	out->raw_ns = clock_read_ns(CLOCK_MONOTONIC_RAW);
	return true;
}

static int open_writer(struct recorder *r, struct diag *d)
{
	struct utsname uts = { 0 };
	struct trace_system system = {
		.nr_cpus = topology_counts(r->topology)->nr_possible,
		.page_bytes = (uint32_t)sysconf(_SC_PAGESIZE),
		.hz = (uint32_t)sysconf(_SC_CLK_TCK),
		.ram_bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE),
	};
	struct trace_writer_cfg cfg = {
		.is_compressed = r->cfg.is_compressed,
		.tool = "schedscope",
		.version = SCHEDSCOPE_VERSION,
		.command_line = r->cfg.command_line,
		.system = &system,
		.kinds = r->cfg.kinds,
		.pmu_names = r->cfg.pmu,
		.nr_pmu_names = r->cfg.nr_pmu,
		.calls = { .clocks = read_clocks, .cmdline = record_cmdline },
	};
	const struct record_filter filter = { r->cfg.tgid, r->cfg.one_in, r->cfg.cgroup,
		                              r->cfg.nr_cgroup };
	struct record_facts facts;
	int err = record_facts_init(&facts, r->topology, &filter);

	if (uname(&uts) == 0) {
		system.sysname = uts.sysname;
		system.release = uts.release;
		system.version = uts.version;
		system.machine = uts.machine;
		system.machine_name = uts.nodename;
	}
	if (getrandom(&cfg.uuid, sizeof(cfg.uuid), GRND_NONBLOCK) != (ssize_t)sizeof(cfg.uuid))
		memset(&cfg.uuid, 0, sizeof(cfg.uuid)); /* a trace without a name of its own */
	cfg.attrs = facts.attrs;
	cfg.nr_attrs = facts.nr_attrs;
	cfg.cpus = facts.cpus;
	cfg.nr_cpus = facts.nr_cpus;
	err = err ? diag_set(d, err, NULL, "out of memory")
	          : trace_writer_create(r->cfg.path, &cfg, d, &r->writer);
	record_facts_done(&facts);
	return err;
}

/* What stands between the stream and the writer, or beside them. */
static int open_extras(struct recorder *r, struct diag *d)
{
	int err = affinity_new(trace_writer_sink(r->writer), &r->online, affinity_of_task,
	                       &r->affinity);

	if (!err && r->cfg.wants_system_stats)
		err = system_stats_new(r->rings.nr_cpus, &r->stats);
	if (err)
		return diag_set(d, err, NULL, "out of memory");
	r->sink = affinity_sink(r->affinity);
	return 0;
}

static int open_counters(struct recorder *r, struct diag *d)
{
	int err = topology_online(r->topology, &r->online);

	if (!err && r->cfg.nr_pmu)
		err = counter_set_new(topology_counts(r->topology)->nr_cpu_ids, &r->counters);
	if (err)
		return diag_set(d, err, NULL, "out of memory");
	for (size_t i = 0; !err && i < r->cfg.nr_pmu; i++) {
		struct counter_slot_cfg slot = { r->cfg.pmu[i], PERF_COUNT_ALL, -1 };

		err = counter_set_add(r->counters, &r->online, &slot, d);
	}
	return err;
}

static int plan_rings(struct recorder *r, struct diag *d)
{
	uint32_t nr_cpus = topology_counts(r->topology)->nr_cpu_ids;
	SCOPED(scoped_free) int32_t *llcs = calloc(nr_cpus, sizeof(*llcs));
	struct ring_plan_cfg cfg = {
		.nr_cpus = nr_cpus,
		.llc_of_cpu = llcs,
		.is_per_cpu = r->cfg.is_per_cpu_rings,
		.ring_bytes = r->cfg.ring_bytes,
		.memory_bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE),
	};

	if (!llcs)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	for (uint32_t cpu = 0; cpu < nr_cpus; cpu++) {
		const struct topology_cpu *at = topology_cpu(r->topology, cpu);

		llcs[cpu] = at ? at->llc : -1;
	}
	return ring_plan_make(&cfg, &r->rings) ? diag_set(d, -ENOMEM, NULL, "out of memory") : 0;
}

static int open_events(struct recorder *r, const struct tracing *tracing, struct diag *d)
{
	SCOPED(scoped_free) uint32_t *possible = calloc(r->rings.nr_cpus, sizeof(*possible));
	struct events_cfg cfg = {
		.possible = possible,
		.nr_counters = r->counters ? counter_set_nr(r->counters) : 0,
		.counter_fds = r->counters ? counter_set_fds(r->counters) : NULL,
		.kinds = r->cfg.kinds,
		.switch_args = tracing->switch_args,
		.tgid = r->cfg.tgid,
		.is_cgroup_only = r->cfg.nr_cgroup != 0,
		.nr_cpus = r->rings.nr_cpus,
		.ring_of_cpu = r->rings.ring_of_cpu,
		.nr_rings = r->rings.nr_rings,
		.ring_bytes = r->rings.ring_bytes,
		.probes = r->cfg.probes,
		.nr_probes = r->cfg.nr_probes,
		.one_in = r->cfg.one_in,
	};
	const struct cgroup_set *set;
	int err;

	if (!possible || (cfg.nr_counters && !cfg.counter_fds))
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	cfg.nr_possible = topology_possible(r->topology, possible);
	err = events_open(&cfg, d, &r->events);
	if (err || !r->cfg.nr_cgroup)
		return err;
	set = stat_filter_cgroups(r->filter);
	for (size_t i = 0; !err && i < set->nr; i++)
		err = events_add_cgroup(r->events, set->picks[i].id, set->picks[i].is_exact, d);
	return err;
}

int recorder_open(const struct recorder_cfg *cfg, struct diag *d, struct recorder **out)
{
	SCOPED(scoped_recorder) struct recorder *r = calloc(1, sizeof(*r));
	struct stat_filter_cfg filter = { .cgroup = cfg->cgroup, .nr_cgroup = cfg->nr_cgroup };
	struct tracing tracing;
	int err;

	if (!r)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	r->cfg = *cfg;
	r->start_fd = r->failure_fd = r->target_fd = -1;
	err = tracing_look("recordings", &tracing, d);
	if (!err)
		err = stat_filter_new(&filter, d, &r->filter);
	if (!err)
		err = topology_read("/sys", d, &r->topology);
	if (!err)
		err = plan_rings(r, d);
	if (!err)
		err = open_counters(r, d);
	if (!err)
		err = open_events(r, &tracing, d);
	if (!err && cfg->tgid) {
		r->target_fd = (int)syscall(SYS_pidfd_open, (pid_t)cfg->tgid, 0);
		if (r->target_fd < 0)
			err = diag_set(d, -errno, NULL, "cannot watch process %u", cfg->tgid);
	}
	/* Last, so that a failure leaves no empty file behind; nothing is attached yet. */
	if (!err)
		err = open_writer(r, d);
	if (!err)
		err = open_extras(r, d);
	if (err)
		return err;
	*out = TAKE_PTR(r);
	return 0;
}

/* Names of the tasks that are there: records like all others, from just before the first event. */
static int tell_task(void *ctx, const struct proc_task *task)
{
	struct recorder *r = ctx;
	struct ev_task_info rec = {
		.hdr = { sizeof(rec), EV_TASK_INFO, 0, 0, r->start_ns },
		.tid = task->tid,
		.tgid = task->tgid,
		.ppid = task->ppid,
		.flags = task->is_kthread ? EV_TASK_KTHREAD : 0,
		.start_ns = task->start_ns,
	};

	memcpy(rec.comm, task->comm, sizeof(rec.comm));
	return r->sink.push(r->sink.ctx, &rec.hdr);
}

/* In the child: waits until the recording has begun, then becomes the command, or says why not. */
static void be_command(const struct recorder *r, int start_fd, int failure_fd)
{
	sigset_t none;
	char byte;
	int err;

	if (read(start_fd, &byte, 1) != 1) /* closed without a word: there is no recording */
		_exit(126);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	execvp(r->cfg.command[0], r->cfg.command);
	err = errno;
	(void)!write(failure_fd, &err, sizeof(err));
	_exit(127);
}

static int start_command(struct recorder *r, struct diag *d)
{
	int start[2], failure[2];

	if (!r->cfg.command)
		return 0;
	if (pipe2(start, O_CLOEXEC))
		return diag_set(d, -errno, NULL, "cannot make a pipe");
	if (pipe2(failure, O_CLOEXEC)) {
		close(start[0]);
		close(start[1]);
		return diag_set(d, -errno, NULL, "cannot make a pipe");
	}
	r->child = fork();
	if (r->child == 0) {
		close(start[1]); /* or it would wait for itself */
		be_command(r, start[0], failure[1]);
	}
	close(start[0]);
	close(failure[1]);
	r->start_fd = start[1];
	r->failure_fd = failure[0];
	if (r->child > 0)
		return 0;
	r->child = 0;
	return diag_set(d, -errno, NULL, "cannot start the command");
}

/* Lets it go; 0 once it has become the command. */
static int release_command(struct recorder *r, struct diag *d)
{
	int why = 0;

	if (!r->child)
		return 0;
	if (write(r->start_fd, "", 1) != 1)
		return diag_set(d, -errno, NULL, "cannot start the command");
	if (read(r->failure_fd, &why, sizeof(why)) == (ssize_t)sizeof(why))
		return diag_set(d, -why, "check its name", "cannot run '%s'", r->cfg.command[0]);
	return 0;
}

/* The command goes on if time was up first; whoever waits for nothing is ended. */
static void leave_command(struct recorder *r)
{
	if (r->start_fd >= 0)
		close(r->start_fd);
	if (r->failure_fd >= 0)
		close(r->failure_fd);
	if (r->child && !r->start_ns) {
		kill(r->child, SIGKILL);
		waitpid(r->child, &r->child_status, 0);
	}
	r->start_fd = r->failure_fd = -1;
}

static int begin(struct recorder *r, struct diag *d)
{
	int err = start_command(r, d);

	if (!err && r->counters && counter_set_start(r->counters))
		err = diag_set(d, -EIO, NULL, "cannot start the counters");
	if (!err)
		err = events_attach(r->events, d);
	if (err)
		return err;
	r->start_ns = clock_boot_ns();
	err = proc_tasks_each("/proc", tell_task, r, d);
	return err ? err : release_command(r, d);
}

/* A pidfd can be read once its process has ended, reaped or not. */
static bool is_target_gone(const struct recorder *r)
{
	struct pollfd target = { .fd = r->target_fd, .events = POLLIN };

	return r->target_fd >= 0 && poll(&target, 1, 0) == 1;
}

static bool has_ended(struct recorder *r, enum watch_event event, enum recorder_end *why)
{
	if (event == WATCH_SIGNAL) {
		*why = RECORDER_END_SIGNAL;
		return true;
	}
	if (event == WATCH_CHILD && r->child &&
	    waitpid(r->child, &r->child_status, WNOHANG) == r->child) {
		r->child = 0;
		*why = RECORDER_END_COMMAND;
		return true;
	}
	if (is_target_gone(r)) {
		*why = RECORDER_END_TARGET;
		return true;
	}
	return false;
}

static void fill_stats(const struct recorder *r, struct recorder_stats *out)
{
	struct events_totals totals;
	struct trace_writer_stats writer;

	memset(out, 0, sizeof(*out));
	events_totals(r->events, &totals);
	trace_writer_stats(r->writer, &writer);
	out->elapsed_ns = r->elapsed_ns ? r->elapsed_ns : clock_boot_ns() - r->start_ns;
	out->is_filtered = r->cfg.tgid || r->cfg.nr_cgroup || r->cfg.one_in > 1;
	for (int kind = 0; kind < EV_KIND_MAX; kind++) {
		out->events += totals.seen[kind];
		out->lost += totals.lost[kind];
	}
	out->lost += totals.missed + totals.order.bad;
	out->switches = totals.seen[EV_SWITCH];
	out->wakings = totals.seen[EV_WAKING];
	out->hits = totals.seen[EV_PROBE];
	out->one_in = r->cfg.one_in > 1 ? r->cfg.one_in : 1;
	out->written = writer.nr_records;
	out->bytes = writer.nr_bytes;
	out->breaks = writer.nr_breaks;
	out->missing = events_missing(r->events);
	out->command_status = r->child_status;
}

/* The writer knows better than the stream why a record was refused. */
static int explain(const struct recorder *r, int err, struct diag *d)
{
	const struct diag *why = trace_writer_error(r->writer);

	if (err && why && d)
		*d = *why;
	return err;
}

static int loop(struct recorder *r, struct watch *w, recorder_progress_fn *progress, void *ctx,
                struct diag *d, enum recorder_end *why)
{
	uint64_t end = r->cfg.duration_ns ? r->start_ns + r->cfg.duration_ns : UINT64_MAX;
	uint64_t tell = r->start_ns + PROGRESS_NS;
	struct recorder_stats stats;
	enum watch_event event;
	int err;

	*why = RECORDER_END_TIME;
	for (;;) {
		uint64_t now = clock_boot_ns(), next = now + POLL_NS;

		if (now >= end)
			return 0;
		err = watch_wait(w, next < end ? next : end, &event);
		if (!err)
			err = events_poll(r->events, 0, &r->sink, d);
		if (!err && r->stats)
			err = system_stats_tick(r->stats, clock_boot_ns(), r->writer);
		if (err || has_ended(r, event, why))
			return err;
		if (progress && now >= tell) {
			fill_stats(r, &stats);
			progress(ctx, &stats);
			tell = now + PROGRESS_NS;
		}
	}
}

int recorder_run(struct recorder *r, recorder_progress_fn *progress, void *ctx, struct diag *d,
                 enum recorder_end *why)
{
	struct watch *w = NULL;
	int err = watch_open(-1, d, &w), finish;

	if (!err)
		err = watch_data(w, events_epoll_fd(r->events), d);
	if (!err)
		err = begin(r, d);
	if (!err)
		err = loop(r, w, progress, ctx, d, why);
	r->elapsed_ns = r->start_ns ? clock_boot_ns() - r->start_ns : 0; /* without detaching */
	finish = events_finish(r->events, &r->sink, err ? NULL : d);
	watch_close(w);
	return explain(r, err ? err : finish, d);
}

size_t recorder_nr_cgroups(const struct recorder *r)
{
	return stat_filter_cgroups(r->filter)->nr;
}

uint64_t recorder_missing(const struct recorder *r)
{
	return events_missing(r->events);
}

int recorder_close(struct recorder *r, struct recorder_stats *stats, struct diag *d)
{
	int err = 0;

	leave_command(r);
	if (r->writer)
		err = trace_writer_flush(r->writer, d); /* so that the bytes are all counted */
	if (r->events && r->writer && stats)
		fill_stats(r, stats);
	if (r->writer) {
		int closing = trace_writer_close(r->writer, err ? NULL : d);

		err = err ? err : closing;
	}
	if (r->target_fd >= 0)
		close(r->target_fd);
	events_close(r->events);
	affinity_free(r->affinity);
	system_stats_free(r->stats);
	counter_set_free(r->counters);
	cpulist_done(&r->online);
	stat_filter_free(r->filter);
	ring_plan_done(&r->rings);
	topology_free(r->topology);
	free(r);
	return err;
}
