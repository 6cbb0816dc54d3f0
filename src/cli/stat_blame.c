#include "cli/stat_blame.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyses/passes.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/worker.h"
#include "live/live_analyzers.h"
#include "live/live_run.h"
#include "model/timeline.h"
#include "render/blame_text.h"
#include "sys/rights/privilege.h"
#include "sys/watch.h"

#define SECOND_NS   1000000000ULL
#define ROUND_NS    50000000ULL /* between two readings of the rings */
#define SLACK_NS    SECOND_NS   /* that the window is longer than an interval */
#define PATIENCE_MS 1000U       /* for an analysis at a time */

/* An interval whose analysis is under way, beside the stream, which does not wait for it. */
struct analysis {
	struct live_shot *shot;
	struct pass_args args;
	struct blame_interval interval;
	struct report *report; /* NULL = there is none */
	struct diag diag;
};

struct stat_blame {
	const struct stat_blame_cfg *cfg;
	struct live_run *run;
	struct watch *watch;
	struct worker *worker;     /* NULL = none is under way */
	struct analysis *analysis; /* the worker's */
	uint64_t from_ns;          /* where the interval begins that comes next */
	double start_cpu_s;
	struct diag *d;
};

static double cpu_seconds(void)
{
	return (double)clock_read_ns(CLOCK_PROCESS_CPUTIME_ID) / 1e9;
}

/* Rendered first and written then: writing may take as long as the reader likes. */
static int write_interval(const struct stat_blame *b, const struct blame_interval *interval)
{
	SCOPED(scoped_free) char *bytes = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&bytes, &len);
	int err;

	if (!out)
		return -errno;
	if (b->cfg->is_terminal)
		fputs("\033[H\033[2J\033[3J", out);
	err = b->cfg->is_json ? blame_json(interval, out)
	                      : blame_text(interval, b->cfg->width, out);
	if (fclose(out) && !err)
		err = -ENOMEM;
	if (!err)
		err = watch_write(b->watch, bytes, len);
	if (err && err != -EPIPE && err != -EINTR)
		return diag_set(b->d, err, NULL, "cannot write the report");
	return err;
}

static void analysis_free(void *state)
{
	struct analysis *a = state;

	report_free(a->report);
	live_shot_put(a->shot);
	free(a);
}

static void analyze(struct worker *w, void *state)
{
	struct analysis *a = state;

	(void)w;
	if (a->args.from_ns < a->args.to_ns)
		(void)!pass_run(&pass_blame, live_shot_source(a->shot), &a->args, &a->diag,
		                &a->report);
}

/* What an interval is, but for the analysis of it; the next one begins where it ends. */
static void begin_interval(struct stat_blame *b, struct analysis *a)
{
	const struct source *s = live_shot_source(a->shot);
	struct blame_interval *out = &a->interval;
	struct live_run_stats stats;

	live_run_stats(b->run, &stats);
	a->args = b->cfg->which;
	a->args.from_ns = live_shot_from_ns(a->shot, b->from_ns);
	a->args.to_ns = s->end_ns;
	*out = (struct blame_interval){
		.time_ns = s->end_ns,
		.wall_ns = clock_read_ns(CLOCK_REALTIME),
		.interval_s = (double)(s->end_ns - a->args.from_ns) / 1e9,
		.elapsed_s = (double)(s->end_ns - live_run_start_ns(b->run)) / 1e9,
		.events = stats.events,
		.lost = stats.lost,
	};
	if (out->elapsed_s > 0)
		out->cpu_pct = 100 * (cpu_seconds() - b->start_cpu_s) / out->elapsed_s;
	if (timeline_whole_from_ns(s->timeline) > b->from_ns)
		out->note = "memory was short: only the end of the interval is counted";
	b->from_ns = s->end_ns;
}

static int start_interval(struct stat_blame *b)
{
	static const struct worker_job job = { .run = analyze,
		                               .free = analysis_free,
		                               .runs_anyway = true };
	struct analysis *a = calloc(1, sizeof(*a));
	int err = a ? live_run_shot(b->run, &a->shot) : -ENOMEM;

	if (!err) {
		begin_interval(b, a);
		err = worker_start(&job, a, &b->worker);
	}
	if (err && a)
		analysis_free(a);
	if (err)
		return diag_set(b->d, err, NULL, "out of memory");
	b->analysis = a;
	return 0;
}

/* Writes the interval that is under way once it is done. A cgroup that does not exist yet is no failure. */
static int show_interval(struct stat_blame *b, uint64_t wait_ms)
{
	struct analysis *a = b->analysis;
	int err = 0;

	if (!b->worker || !worker_poll(b->worker, wait_ms))
		return 0;
	if (a->diag.code == -ENODATA)
		a->interval.note = a->diag.what;
	else if (a->diag.code)
		err = diag_set(b->d, a->diag.code, a->diag.hint, "%s", a->diag.what);
	a->interval.root = a->report ? report_root(a->report) : NULL;
	if (!err)
		err = write_interval(b, &a->interval);
	worker_end(b->worker);
	b->worker = NULL;
	return err;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static int finish_interval(struct stat_blame *b)
{
	int err = 0;

	while (b->worker && !err)
		err = show_interval(b, PATIENCE_MS);
	return err;
}

/* All that is left: what is under way, and the interval up to now. */
static int show_last(struct stat_blame *b)
{
	int err = finish_interval(b);

	if (!err)
		err = start_interval(b);
	return err ? err : finish_interval(b);
}

/* One report per interval, and one of what is left at the end. An analysis that takes longer makes the next interval longer. */
static int loop(struct stat_blame *b)
{
	uint64_t start_ns = clock_boot_ns(), show_ns = start_ns + b->cfg->interval_ns;
	uint64_t end_ns = b->cfg->run_time_ns ? start_ns + b->cfg->run_time_ns : UINT64_MAX;
	enum watch_event event = WATCH_TIME;
	int err = 0;

	while (!err) {
		uint64_t now_ns = clock_boot_ns();

		err = watch_wait(b->watch, earlier(now_ns + ROUND_NS, earlier(show_ns, end_ns)),
		                 &event);
		if (!err)
			err = live_run_poll(b->run, b->d);
		now_ns = clock_boot_ns();
		if (err || event == WATCH_SIGNAL || event == WATCH_OUTPUT || now_ns >= end_ns)
			break;
		err = show_interval(b, 0);
		if (err || now_ns < show_ns)
			continue;
		while (show_ns <= now_ns)
			show_ns += b->cfg->interval_ns;
		if (!b->worker)
			err = start_interval(b);
	}
	if (!err && event != WATCH_OUTPUT)
		err = show_last(b);
	return err == -EPIPE || err == -EINTR ? 0 : err;
}

static int begin(struct stat_blame *b)
{
	int err = live_run_attach(b->run, b->d);

	if (!err)
		err = privilege_drop(0, b->d);
	if (!err)
		err = watch_open(STDOUT_FILENO, b->d, &b->watch);
	if (!err && live_run_fd(b->run) >= 0)
		err = watch_data(b->watch, live_run_fd(b->run), b->d);
	if (err)
		return err;
	b->from_ns = live_run_start_ns(b->run);
	b->start_cpu_s = cpu_seconds();
	log_info("attached; Ctrl-C ends with a last report");
	return 0;
}

int stat_blame_run(const struct stat_blame_cfg *cfg, struct diag *d)
{
	struct live_run_cfg run = { .analyzers = 1U << ANALYZER_BLAME,
		                    .window_ns = cfg->interval_ns + SLACK_NS };
	struct stat_blame b = { .cfg = cfg, .d = d };
	int err = live_run_open(&run, d, &b.run);

	if (!err)
		err = begin(&b);
	if (!err)
		err = loop(&b);
	worker_end(b.worker);
	live_run_close(b.run);
	watch_close(b.watch);
	return err;
}

const char *stat_blame_command(uint32_t pid, uint32_t tid, const struct opt_list *comm, char *buf,
                               size_t size)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
	static const char command[] = "schedscope stat --blame";
	const char *name = comm->nr ? comm->items[0] : NULL;

	if (comm->nr > 1 || (name && name[strspn(name, plain)]))
		return NULL;
	if (pid)
		snprintf(buf, size, "%s -p %u", command, pid);
	else if (tid)
		snprintf(buf, size, "%s --tid %u", command, tid);
	else if (name)
		snprintf(buf, size, "%s -c %.40s", command, name);
	else
		snprintf(buf, size, "%s", command);
	return buf;
}
