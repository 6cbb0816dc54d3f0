#include "cli/stat_blame.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "analyses/passes.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "live/live_analyzers.h"
#include "live/live_run.h"
#include "model/timeline.h"
#include "render/blame_text.h"
#include "sys/rights/privilege.h"
#include "sys/watch.h"

#define SECOND_NS 1000000000ULL
#define ROUND_NS  50000000ULL /* between two readings of the rings */
#define SLACK_NS  SECOND_NS   /* that the window is longer than an interval */

struct stat_blame {
	const struct stat_blame_cfg *cfg;
	struct live_run *run;
	struct watch *watch;
	uint64_t from_ns; /* where the interval begins that comes next */
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

/* The analysis over the interval; a cgroup that does not exist yet is no failure. */
static int show(struct stat_blame *b, const struct live_shot *shot, struct blame_interval *out)
{
	const struct source *s = live_shot_source(shot);
	SCOPED(scoped_report) struct report *r = NULL;
	struct pass_args args = b->cfg->which;
	struct diag none = { 0 };
	int err;

	args.from_ns = live_shot_from_ns(shot, b->from_ns);
	args.to_ns = s->end_ns;
	if (timeline_whole_from_ns(s->timeline) > b->from_ns)
		out->note = "memory was short: only the end of the interval is counted";
	err = args.from_ns < args.to_ns ? pass_run(&pass_blame, s, &args, &none, &r) : 0;
	if (err == -ENODATA)
		out->note = none.what;
	else if (err)
		return diag_set(b->d, err, none.hint, "%s", none.what);
	out->root = r ? report_root(r) : NULL;
	out->interval_s = (double)(s->end_ns - args.from_ns) / 1e9;
	b->from_ns = s->end_ns;
	return write_interval(b, out);
}

static int show_interval(struct stat_blame *b)
{
	SCOPED(scoped_live_shot) struct live_shot *shot = NULL;
	struct live_run_stats stats;
	struct blame_interval interval = { .wall_ns = clock_read_ns(CLOCK_REALTIME) };
	int err = live_run_shot(b->run, &shot);

	if (err)
		return diag_set(b->d, err, NULL, "out of memory");
	live_run_stats(b->run, &stats);
	interval.time_ns = live_shot_source(shot)->end_ns;
	interval.elapsed_s = (double)(interval.time_ns - live_run_start_ns(b->run)) / 1e9;
	interval.events = stats.events;
	interval.lost = stats.lost;
	if (interval.elapsed_s > 0)
		interval.cpu_pct = 100 * (cpu_seconds() - b->start_cpu_s) / interval.elapsed_s;
	return show(b, shot, &interval);
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* One report per interval, and one of what is left at the end. */
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
		if (now_ns < show_ns)
			continue;
		while (show_ns <= now_ns)
			show_ns += b->cfg->interval_ns;
		err = show_interval(b);
	}
	if (!err && event != WATCH_OUTPUT)
		err = show_interval(b);
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
	live_run_close(b.run);
	watch_close(b.watch);
	return err;
}
