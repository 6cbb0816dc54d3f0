#include "profile/profiler/profiler.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/grow.h"
#include "collect/sample/mmap_ring.h"
#include "collect/sample/sampler.h"
#include "collect/tracing.h"
#include "profile/profiler/profile_names.h"
#include "profile/profiler/sampler_choice.h"
#include "profile/profiler/unwind_remarks.h"
#include "profile/profiler/unwinder.h"
#include "symbol/symbolizer.h"
#include "sys/cpulist.h"
#include "sys/online_watch.h"
#include "sys/proc/pid_namespace.h"
#include "sys/proc/proc_tasks.h"
#include "sys/topology.h"

#define READ_NS  200000000ULL /* how often rows are read to meet the processes in them */
#define FLUSH_NS 500000000ULL /* tables are made for so long at a time */
#define NO_PROC  "/dev/null"  /* in which no process is found */

struct profiler {
	enum profiler_state state;
	enum profiler_end end;
	struct profiler_cfg cfg;
	struct sample_event event;
	struct cpulist online; /* at the start */
	struct online_watch cpus;
	struct sampler *sampler;
	struct mmap_ring *
		mmaps; /* NULL once stopped, or where perf cannot report them: names of exited processes are lost then */
	struct symbolizer *symbols;
	struct profile_names *names;
	struct unwinder *unwinder; /* NULL = by frame pointers */
	int target_fd;             /* pidfd; -1 = none */
	bool is_foreign;           /* the kernel's ids are not those of our /proc */
	uint64_t lost_reports;
	bool has_reported_foreign, has_reported_lost;
	struct unwind_remarks remarks;
	uint64_t start_ns, stop_ns, read_ns;
	uint64_t start_real_ns;
	struct { /* by profiler_add_new(): of each row of the sampler, how many */
		uint64_t *counts, *values;
		uint32_t nr, room;
		uint64_t broken, ends[PROF_NR_ENDS];
	} reported;
};

int profiler_new(struct profiler **out)
{
	struct profiler *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->target_fd = -1;
	p->cpus.fd = -1;
	*out = p;
	return 0;
}

void profiler_clear(struct profiler *p)
{
	unwinder_free(p->unwinder);
	sampler_close(p->sampler);
	mmap_ring_close(p->mmaps);
	profile_names_free(p->names);
	symbolizer_free(p->symbols);
	sample_event_done(&p->event);
	online_watch_close(&p->cpus);
	cpulist_done(&p->online);
	free(p->reported.counts);
	free(p->reported.values);
	if (p->target_fd >= 0)
		close(p->target_fd);
	*p = (struct profiler){ .target_fd = -1, .cpus.fd = -1 };
}

void profiler_free(struct profiler *p)
{
	if (!p)
		return;
	profiler_clear(p);
	free(p);
}

/* From here on every mapping is reported; what was there before is read from /proc. */
static int take_report(void *ctx, const struct mmap_report *r)
{
	struct profiler *p = ctx;
	struct symbol_mapping m = {
		.start = r->start,
		.end = r->end,
		.offset = r->offset,
		.dev_major = r->dev_major,
		.dev_minor = r->dev_minor,
		.inode = r->inode,
		.path = r->path,
	};
	int err = p->unwinder ? unwinder_take(p->unwinder, r) : 0;

	if (err)
		return err;
	switch (r->what) {
	case MMAP_MAPPED:
		return symbolizer_mapped(p->symbols, r->tgid, r->ts_ns, &m);
	case MMAP_EXEC:
		err = symbolizer_execed(p->symbols, r->tgid, r->ts_ns);
		return err ? err : profile_names_execed(p->names, r->tgid);
	case MMAP_FORK:
		return symbolizer_forked(p->symbols, r->parent_tgid, r->tgid, r->ts_ns);
	case MMAP_EXIT:
		symbolizer_exited(p->symbols, r->tgid, r->ts_ns);
		break;
	}
	return 0;
}

static int read_process(void *ctx, const struct proc_task *task)
{
	struct profiler *p = ctx;

	if (p->is_foreign || task->is_kthread || (p->cfg.tgid && task->tgid != p->cfg.tgid))
		return 0;
	if (p->unwinder && task->is_runnable && unwinder_hurry(p->unwinder, task->tgid))
		return -ENOMEM;
	if (task->tid != task->tgid)
		return 0;
	if (p->unwinder && unwinder_mapped(p->unwinder, task->tgid))
		return -ENOMEM;
	return profile_names_read_process(p->names, task->tgid, clock_boot_ns());
}

/* What has happened to processes since the last call; tables are made for so long. */
static int take_reports(struct profiler *p, uint64_t most_ns)
{
	uint64_t now_ns = clock_boot_ns();
	int err = p->mmaps ? mmap_ring_take(p->mmaps, take_report, p) : 0;

	return !err && p->unwinder ? unwinder_flush(p->unwinder, now_ns, now_ns + most_ns) : err;
}

static int open_names(struct profiler *p, struct diag *d)
{
	struct symbolizer_cfg cfg = { .wants_lines = p->cfg.wants_lines,
		                      .proc = p->is_foreign ? NO_PROC : NULL };
	struct diag why = { 0 };
	int err = symbolizer_new(&cfg, d, &p->symbols);

	if (!err && (profile_names_new(p->symbols, &p->names) ||
	             (p->cfg.wants_cgroups && profile_names_read_cgroups(p->names))))
		err = diag_set(d, -ENOMEM, NULL, "out of memory");
	if (!err && !p->is_foreign && mmap_ring_open(&p->online, 0, &why, &p->mmaps))
		p->mmaps = NULL;
	return err;
}

/* Before any mapping is reported. */
static int open_unwinder(struct profiler *p, struct diag *d)
{
	struct unwind_maps *maps = sampler_unwind(p->sampler);

	if (maps && unwinder_new(p->symbols, maps, p->cfg.tgid, &p->unwinder))
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	return 0;
}

static int begin_walks(struct profiler *p)
{
	int err = p->mmaps ? mmap_ring_take(p->mmaps, take_report, p) : 0;

	return !err && p->unwinder ? unwinder_begin(p->unwinder) : err;
}

static int prepare_walks(void *ctx)
{
	return take_reports(ctx, FLUSH_NS);
}

static int walk_copy(void *ctx, const struct stack_copy *copy, struct prof_stack *out)
{
	const struct profiler *p = ctx;

	return symbolizer_walk(p->symbols, copy, out);
}

static int open_sampler(struct profiler *p, struct diag *d)
{
	const struct sampler_choice choice = {
		.cfg = &p->cfg,
		.event = &p->event,
		.online = &p->online,
		.is_foreign = p->is_foreign,
		.walker = { p, prepare_walks, walk_copy },
	};

	return sampler_choice_open(&choice, &p->remarks.why_fp, d, &p->sampler);
}

static int watch_target(struct profiler *p, struct diag *d)
{
	if (!p->cfg.tgid)
		return 0;
	if (pid_namespace_check("-p", d))
		return -ENOTSUP;
	p->target_fd = (int)syscall(SYS_pidfd_open, (pid_t)p->cfg.tgid, 0);
	if (p->target_fd >= 0)
		return 0;
	return diag_set(d, -errno, "see 'ps -e'", "there is no process %u", p->cfg.tgid);
}

static int read_online(struct profiler *p, struct diag *d)
{
	struct topology *topology = NULL;
	int err = topology_read("/sys", d, &topology);

	if (!err && topology_online(topology, &p->online))
		err = diag_set(d, -ENOMEM, NULL, "out of memory");
	if (!err && online_watch_open(&p->cpus, ONLINE_WATCH_PATH, &p->online))
		err = diag_set(d, -ENOMEM, NULL, "out of memory");
	topology_free(topology);
	return err;
}

static int open_all(struct profiler *p, struct diag *d)
{
	struct tracing tracing;
	int err = tracing_probe("profiles", &tracing, d);

	if (!err)
		err = sample_event_parse(p->cfg.event, &p->event, d);
	/* What is taken whenever it happens has no rate. */
	if (!err && p->event.kind == SAMPLE_PERF && !p->cfg.frequency && !p->cfg.period)
		p->cfg.frequency = PROFILER_DEFAULT_HZ;
	if (!err)
		err = watch_target(p, d);
	if (!err)
		err = read_online(p, d);
	if (!err)
		err = open_sampler(p, d);
	if (!err)
		err = open_names(p, d);
	if (!err)
		err = open_unwinder(p, d);
	if (!err)
		err = proc_tasks_each("/proc", read_process, p, d);
	if (!err && begin_walks(p))
		err = diag_set(d, -ENOMEM, NULL, "out of memory");
	if (err)
		return err;
	p->start_real_ns = clock_read_ns(CLOCK_REALTIME);
	p->start_ns = p->read_ns = clock_boot_ns();
	return sampler_start(p->sampler, d);
}

/* What processes have mapped must be known. */
static bool is_by_files(enum profiler_unwind how)
{
	return how == PROFILER_UNWIND_TABLE || how == PROFILER_UNWIND_DWARF;
}

int profiler_start(struct profiler *p, const struct profiler_cfg *cfg, struct diag *d)
{
	int err;

	if (p->state == PROFILER_RUNNING)
		return diag_set(d, -EBUSY, "stop it first", "profiling is already running");
	profiler_clear(p);
	p->cfg = *cfg;
	p->is_foreign = !pid_namespace_is_initial();
	if (p->is_foreign && is_by_files(cfg->unwind))
		return diag_set(
			d, -ENOTSUP, "run it in the host's pid namespace (docker: --pid=host)",
			"inside a pid namespace stacks can be walked by frame pointers only");
	err = open_all(p, d);
	if (err) {
		profiler_clear(p);
		return err;
	}
	p->state = PROFILER_RUNNING;
	return 0;
}

static int read_row_process(void *ctx, const struct sampler_row *row)
{
	struct profiler *p = ctx;

	return p->is_foreign ? 0 : profile_names_read_process(p->names, row->tgid, row->last_ns);
}

/* Reads the sampled processes while they are still alive. */
static int read_samples(struct profiler *p, struct diag *d)
{
	int err = take_reports(p, FLUSH_NS);

	if (!err)
		err = sampler_read(p->sampler, read_row_process, p, d);
	return err == -ENOMEM ? diag_set(d, err, NULL, "out of memory") : err;
}

static int finish(struct profiler *p, enum profiler_end end, struct diag *d)
{
	int err;

	sampler_stop(p->sampler);
	p->stop_ns = clock_boot_ns();
	p->state = PROFILER_STOPPED;
	p->end = end;
	err = read_samples(p, d);
	p->lost_reports = p->mmaps ? mmap_ring_lost(p->mmaps) : 0;
	mmap_ring_close(TAKE_PTR(p->mmaps));
	return err;
}

static enum profiler_end why_over(const struct profiler *p, uint64_t now_ns)
{
	struct pollfd target = { .fd = p->target_fd, .events = POLLIN };

	if (sampler_is_full(p->sampler))
		return PROFILER_END_FULL;
	if (now_ns >= profiler_deadline_ns(p))
		return PROFILER_END_DURATION;
	if (p->target_fd >= 0 && poll(&target, 1, 0) == 1)
		return PROFILER_END_TARGET;
	return PROFILER_END_NONE;
}

/* A CPU that cannot be sampled is counted as skipped. */
static void follow_cpus(struct profiler *p, uint64_t now_ns)
{
	if (!online_watch_poll(&p->cpus, now_ns))
		return;
	(void)!sampler_follow(p->sampler, &p->cpus.now, NULL);
	if (p->mmaps)
		(void)!mmap_ring_follow(p->mmaps, &p->cpus.now, NULL);
}

int profiler_poll(struct profiler *p, bool *is_over, struct diag *d)
{
	uint64_t now_ns = clock_boot_ns();
	enum profiler_end end;
	int err;

	*is_over = p->state != PROFILER_RUNNING;
	if (*is_over)
		return 0;
	end = why_over(p, now_ns);
	*is_over = end != PROFILER_END_NONE;
	if (*is_over)
		return finish(p, end, d);
	follow_cpus(p, now_ns);
	if (now_ns - p->read_ns >= READ_NS) {
		p->read_ns = now_ns;
		return read_samples(p, d);
	}
	err = take_reports(p, FLUSH_NS);
	if (!err)
		err = sampler_take_copies(p->sampler);
	return err ? diag_set(d, err, NULL, "cannot follow the processes") : 0;
}

uint64_t profiler_deadline_ns(const struct profiler *p)
{
	return p->cfg.duration_ns ? p->start_ns + p->cfg.duration_ns : UINT64_MAX;
}

int profiler_stop(struct profiler *p, struct diag *d)
{
	if (p->state != PROFILER_RUNNING)
		return diag_set(d, -EINVAL, "start it first", "profiling is not running");
	return finish(p, PROFILER_END_STOPPED, d);
}

static uint64_t duration_ns(const struct profiler *p)
{
	if (p->state == PROFILER_IDLE)
		return 0;
	return (p->state == PROFILER_STOPPED ? p->stop_ns : clock_boot_ns()) - p->start_ns;
}

void profiler_status(struct profiler *p, struct profiler_status *out)
{
	struct sampler_totals totals = { 0 };

	*out = (struct profiler_status){ .state = p->state, .end = p->end, .cpu = -1, .pid = -1 };
	if (p->state == PROFILER_IDLE)
		return;
	sampler_totals(p->sampler, &totals);
	out->samples = totals.kept;
	out->lost = totals.lost;
	out->idle = totals.idle;
	out->throttled = totals.throttled;
	out->nr_cpus = totals.nr_cpus;
	out->nr_skipped = totals.nr_skipped;
	out->duration_ns = duration_ns(p);
	out->event = p->event.name;
	out->why_default = p->event.why_default;
	out->frequency = p->cfg.period ? 0 : p->cfg.frequency;
	out->period = p->cfg.period;
	out->cpu = p->cfg.cpu == PROFILER_ANY_CPU ? -1 : (int64_t)p->cfg.cpu;
	out->pid = p->cfg.tgid ? (int64_t)p->cfg.tgid : -1;
	out->max_samples = p->cfg.max_samples;
	out->duration_wanted_ns = p->cfg.duration_ns;
}

bool profiler_remark(struct profiler *p, struct diag *out)
{
	if (p->symbols && symbolizer_remark(p->symbols, out))
		return true;
	if (p->is_foreign && !p->has_reported_foreign) {
		p->has_reported_foreign = true;
		diag_set(out, -ENOTSUP, "run it in the host's pid namespace (docker: --pid=host)",
		         "inside a pid namespace only functions of the kernel have names");
		return true;
	}
	if (p->sampler && unwind_remarks_next(&p->remarks, sampler_unwind(p->sampler), out))
		return true;
	if (!p->lost_reports || p->has_reported_lost)
		return false;
	p->has_reported_lost = true;
	diag_set(out, -ENOBUFS, NULL,
	         "%llu reports of mapped files were lost: some functions have no names",
	         (unsigned long long)p->lost_reports);
	return true;
}

struct builder {
	struct profiler *p;
	struct profile *out;
	uint64_t broken, ends[PROF_NR_ENDS];
};

static bool is_time(const struct profiler *p)
{
	return p->event.kind == SAMPLE_OFF_CPU || p->cfg.is_wall;
}

static int add_row(void *ctx, const struct sampler_row *row)
{
	struct builder *b = ctx;
	struct sampler_row counted = *row;

	if (unwind_is_broken(row))
		b->broken += row->count;
	if (row->nr_user && row->user_end != PROF_END_NOT_KNOWN && row->user_end < PROF_NR_ENDS)
		b->ends[row->user_end] += row->count;
	if (!is_time(b->p))
		counted.value = row->count;
	return profile_names_add(b->p->names, &counted, b->out);
}

static struct profile_facts facts_of(struct profiler *p, uint64_t broken,
                                     const uint64_t ends[PROF_NR_ENDS])
{
	struct profile_facts out;
	struct profiler_status status;

	profiler_status(p, &status);
	out = (struct profile_facts){
		.event = status.event,
		.unit = is_time(p) ? "ns" : "samples",
		.is_wall = p->cfg.is_wall,
		.frequency = p->event.kind == SAMPLE_PERF ? status.frequency : 0,
		.period = p->event.kind == SAMPLE_PERF ? status.period : 0,
		.duration_ns = status.duration_ns,
		.start_real_ns = p->start_real_ns,
		.lost = status.lost,
		.broken = broken,
	};
	memcpy(out.ends, ends, sizeof(out.ends));
	memcpy(p->remarks.ends, ends, sizeof(p->remarks.ends));
	return out;
}

int profiler_profile(struct profiler *p, struct diag *d, struct profile **out)
{
	SCOPED(scoped_profile) struct profile *made = NULL;
	struct builder b = { .p = p };
	struct profile_facts facts;
	int err;

	if (p->state == PROFILER_IDLE)
		return diag_set(d, -ENODATA, "start profiling first", "there is no profile yet");
	err = p->state == PROFILER_RUNNING ? read_samples(p, d) : 0;
	if (err)
		return err;
	facts = facts_of(p, 0, b.ends);
	if (profile_new(&facts, &made))
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	b.out = made;
	err = sampler_read(p->sampler, add_row, &b, d);
	facts = facts_of(p, b.broken, b.ends);
	if (!err)
		err = profile_set_facts(made, &facts);
	if (err)
		return d && d->what[0] ? err : diag_set(d, err, NULL, "cannot make the profile");
	*out = TAKE_PTR(made);
	return 0;
}

/* Room for what was reported of one more row. */
static int remember(struct profiler *p, uint32_t row)
{
	uint32_t room = p->reported.room;

	if (GROW(p->reported.counts, room, row))
		return -ENOMEM;
	return GROW(p->reported.values, p->reported.room, row);
}

struct new_rows {
	struct builder b;
	uint32_t row; /* rows are always in order of insertion */
};

static int add_new_row(void *ctx, const struct sampler_row *row)
{
	struct new_rows *n = ctx;
	struct profiler *p = n->b.p;
	struct sampler_row fresh = *row;
	uint32_t at = n->row++;
	int err = remember(p, at);

	if (err)
		return err;
	if (at >= p->reported.nr) {
		p->reported.counts[at] = p->reported.values[at] = 0;
		p->reported.nr = at + 1;
	}
	fresh.count -= p->reported.counts[at];
	fresh.value -= p->reported.values[at];
	if (!fresh.count && !fresh.value)
		return 0;
	err = add_row(&n->b, &fresh);
	if (err)
		return err;
	p->reported.counts[at] = row->count;
	p->reported.values[at] = row->value;
	return 0;
}

int profiler_add_new(struct profiler *p, struct profile *into, struct diag *d)
{
	struct new_rows n = { .b = { .p = p, .out = into } };
	struct profile_facts facts;
	int err;

	if (p->state == PROFILER_IDLE)
		return diag_set(d, -ENODATA, "start profiling first", "there is no profile yet");
	err = p->state == PROFILER_RUNNING ? read_samples(p, d) : 0;
	if (!err)
		err = sampler_read(p->sampler, add_new_row, &n, d);
	p->reported.broken += n.b.broken;
	for (int i = 0; i < PROF_NR_ENDS; i++)
		p->reported.ends[i] += n.b.ends[i];
	facts = facts_of(p, p->reported.broken, p->reported.ends);
	if (!err)
		err = profile_set_facts(into, &facts);
	if (err)
		return d && d->what[0] ? err : diag_set(d, err, NULL, "cannot make the profile");
	return 0;
}
