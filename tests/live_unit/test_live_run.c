/* live/live_run with a stream of our own: what `stat --blame` shows, interval by interval. */
#include "../unit.h"

#include <errno.h>
#include <string.h>

#include "analyses/passes.h"
#include "analyze/pass.h"
#include "analyze/report.h"
#include "live/live_analyzers.h"
#include "live/live_run.h"
#include "live/live_source.h"
#include "sys/topology.h"

#define MS       1000000ULL
#define VICTIM   5
#define HOG      6
#define OTHER    7
#define MAX_RECS 64
#define HDR(kind, type, cpu, ts)                      \
	{                                             \
		sizeof(struct type), kind, 0, cpu, ts \
	}

struct fake {
	uint64_t kinds;
	struct ev_switch switches[MAX_RECS];
	unsigned int nr, nr_read;
	uint64_t now_ns;
	bool is_attached;
	int fail_open;
};

static int fake_open(void *ctx, uint64_t kinds, struct diag *d, void **out)
{
	struct fake *f = ctx;

	if (f->fail_open)
		return diag_set(d, f->fail_open, NULL, "no stream");
	f->kinds = kinds;
	*out = f;
	return 0;
}

static int fake_attach(void *stream, struct diag *d)
{
	(void)d;
	((struct fake *)stream)->is_attached = true;
	return 0;
}

static int fake_poll(void *stream, const struct ev_sink *sink, struct diag *d)
{
	struct fake *f = stream;
	int err = 0;

	(void)d;
	for (; !err && f->nr_read < f->nr; f->nr_read++)
		err = sink->push(sink->ctx, &f->switches[f->nr_read].hdr);
	return err ? err : sink->advance(sink->ctx, f->now_ns);
}

static int fake_fd(void *stream)
{
	(void)stream;
	return -1;
}

static uint64_t fake_missing(void *stream)
{
	(void)stream;
	return EV_BIT(EV_DSQ_LEAVE);
}

static uint64_t fake_start_ns(void *stream)
{
	(void)stream;
	return 1 * MS;
}

static void fake_close(void *stream)
{
	((struct fake *)stream)->is_attached = false;
}

static int fake_tasks(void *ctx, proc_task_fn *fn, void *fn_ctx, struct diag *d)
{
	static const char *const names[] = { "victim", "hog", "other" };
	int err = 0;

	(void)ctx;
	(void)d;
	for (uint32_t i = 0; !err && i < 3; i++) {
		struct proc_task task = { .tid = VICTIM + i, .tgid = VICTIM + i };

		memcpy(task.comm, names[i], strlen(names[i]));
		err = fn(fn_ctx, &task);
	}
	return err;
}

static void sw(struct fake *f, uint64_t ts, uint32_t prev, uint32_t next, uint32_t state)
{
	f->switches[f->nr++] = (struct ev_switch){ .hdr = HDR(EV_SWITCH, ev_switch, 0, ts),
		                                   .prev_tid = prev,
		                                   .next_tid = next,
		                                   .prev_state = state,
		                                   .prev_prio = 120,
		                                   .next_prio = 120 };
	f->now_ns = ts;
}

static struct topology *one_cpu(void)
{
	struct topology_cpu cpus[1] = {
		{ .is_possible = true, .is_present = true, .is_online = true }
	};
	const struct topology_table table = { .cpus = cpus, .nr_cpus = 1 };
	struct topology *t = NULL;

	expect_eq(topology_new(&table, NULL, &t), 0);
	return t;
}

static struct live_run *run_of(struct fake *f, const struct topology *topology)
{
	struct live_source source = { fake_open,    fake_attach,   fake_poll,  NULL,       fake_fd,
		                      fake_missing, fake_start_ns, fake_close, fake_tasks, f };
	struct live_run_cfg cfg = { .analyzers = 1U << ANALYZER_BLAME,
		                    .window_ns = 200 * MS,
		                    .source = &source,
		                    .topology = topology };
	struct live_run *r = NULL;
	struct diag d = { 0 };

	expect_eq(live_run_open(&cfg, &d, &r), 0);
	expect_eq(f->is_attached, false);
	expect_eq(live_run_attach(r, &d), 0);
	expect_eq(f->is_attached, true);
	return r;
}

/* What the analysis says of the time from then on; *from moves to the end of it. */
static struct report *blame(struct live_run *r, uint64_t *from)
{
	struct live_shot *shot = NULL;
	struct pass_args args = { .cpu = PASS_ANY_CPU, .layer = EV_NO_LAYER, .from_ns = *from };
	struct report *report = NULL;
	struct diag d = { 0 };

	expect_eq(live_run_poll(r, &d), 0);
	expect_eq(live_run_shot(r, &shot), 0);
	args.to_ns = live_shot_source(shot)->end_ns;
	expect_eq(pass_run(&pass_blame, live_shot_source(shot), &args, &d, &report), 0);
	*from = args.to_ns;
	live_shot_put(shot);
	return report;
}

static uint64_t number(const struct report *r, const char *path)
{
	const struct report_node *at = report_at(report_root(r), path);

	if (!at || at->type != REPORT_U64)
		fail_msg("no number %s", path);
	return at ? at->u64 : 0;
}

static void expect_text(const struct report *r, const char *path, const char *text)
{
	const struct report_node *at = report_at(report_root(r), path);

	if (!at || at->type != REPORT_STRING)
		fail_msg("no text %s", path);
	else
		assert_string_equal(at->text, text);
}

/* The victim is preempted at 10 ms and runs again at 65 ms: behind hog to 40 ms, then behind other. */
static void a_wait_that_lasts_is_in_each_interval(void **state)
{
	struct fake f = { 0 };
	struct topology *topology = one_cpu();
	struct live_run *r = run_of(&f, topology);
	struct live_run_stats stats;
	uint64_t from = live_run_start_ns(r);
	struct report *report;

	(void)state;
	sw(&f, 2 * MS, 0, VICTIM, 0);
	sw(&f, 10 * MS, VICTIM, HOG, EV_STATE_PREEMPTED);
	f.now_ns = 30 * MS; /* and nothing happens */
	report = blame(r, &from);
	expect_eq(from, 30 * MS);
	expect_eq(number(report, "wait_ns"), 20 * MS);
	expect_eq(number(report, "victims.0.task_ns"), 20 * MS);
	expect_text(report, "victims.0.comm", "victim");
	expect_text(report, "victims.0.blames.0.comm", "hog");
	expect_eq(number(report, "victims.0.blames.0.wait_ns"), 20 * MS);
	report_free(report);

	sw(&f, 40 * MS, HOG, OTHER, EV_STATE_S);
	f.now_ns = 60 * MS;
	report = blame(r, &from);
	expect_eq(number(report, "victims.0.wait_ns"), 30 * MS);
	expect_text(report, "victims.0.blames.0.comm", "other");
	expect_eq(number(report, "victims.0.blames.0.wait_ns"), 20 * MS);
	expect_eq(number(report, "victims.0.blames.1.wait_ns"), 10 * MS);
	report_free(report);

	/* It ends; the parts of all intervals are the wait. */
	sw(&f, 65 * MS, OTHER, VICTIM, EV_STATE_S);
	f.now_ns = 90 * MS;
	report = blame(r, &from);
	expect_eq(number(report, "wait_ns"), 5 * MS);
	expect_eq(number(report, "culprits.0.caused_wait_ns"), 5 * MS);
	report_free(report);

	f.now_ns = 100 * MS;
	report = blame(r, &from);
	expect_eq(number(report, "wait_ns"), 0);
	report_free(report);
	live_run_stats(r, &stats);
	expect_eq(stats.events, 4);
	expect_eq(stats.lost, 0);
	live_run_close(r);
	expect_eq(f.is_attached, false);
	topology_free(topology);
}

/* Longer than the window: what it waited for in the interval is known all the same. */
static void a_wait_longer_than_the_window_is_still_explained(void **state)
{
	struct fake f = { 0 };
	struct topology *topology = one_cpu();
	struct live_run *r = run_of(&f, topology);
	uint64_t from = live_run_start_ns(r);
	struct report *report;

	(void)state;
	sw(&f, 2 * MS, 0, VICTIM, 0);
	sw(&f, 10 * MS, VICTIM, HOG, EV_STATE_PREEMPTED);
	for (uint64_t ms = 100; ms <= 900; ms += 100) {
		f.now_ns = ms * MS;
		report = blame(r, &from);
		expect_eq(number(report, "victims.0.wait_ns"), ms == 100 ? 90 * MS : 100 * MS);
		expect_eq(number(report, "victims.0.blames.0.wait_ns"),
		          ms == 100 ? 90 * MS : 100 * MS);
		report_free(report);
	}
	live_run_close(r);
	topology_free(topology);
}

static void what_it_needs_is_what_it_opens(void **state)
{
	struct fake f = { 0 };
	struct topology *topology = one_cpu();
	struct live_run *r = run_of(&f, topology);
	uint64_t needed = pass_blame.needs | EV_BIT(EV_WAKING) | EV_BIT(EV_MIGRATE) |
	                  EV_BIT(EV_IRQ_ENTRY) | EV_BIT(EV_CGROUP) | LIVE_MEASURES;

	(void)state;
	expect_eq(f.kinds & needed, needed);
	live_run_close(r);
	topology_free(topology);
}

static void a_stream_that_cannot_be_had_is_refused(void **state)
{
	struct fake f = { .fail_open = -EPERM };
	struct topology *topology = one_cpu();
	struct live_source source = { .open = fake_open, .close = fake_close, .ctx = &f };
	struct live_run_cfg cfg = { .analyzers = 1U << ANALYZER_BLAME,
		                    .window_ns = 200 * MS,
		                    .source = &source,
		                    .topology = topology };
	struct live_run *r = NULL;
	struct diag d = { 0 };

	(void)state;
	assert_int_equal(live_run_open(&cfg, &d, &r), -EPERM);
	assert_null(r);
	assert_string_equal(d.what, "no stream");
	topology_free(topology);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wait_that_lasts_is_in_each_interval),
		cmocka_unit_test(a_wait_longer_than_the_window_is_still_explained),
		cmocka_unit_test(what_it_needs_is_what_it_opens),
		cmocka_unit_test(a_stream_that_cannot_be_had_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
