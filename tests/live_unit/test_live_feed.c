/* live/live_feed with a stream of our own in place of the kernel's. */
#include "../unit.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "analyses/passes.h"
#include "analyze/pass.h"
#include "base/clock.h"
#include "live/live_feed.h"
#include "live/live_shot.h"
#include "model/event_log.h"
#include "sys/topology.h"

#define CGROUPS (EV_BIT(EV_CGROUP) | EV_BIT(EV_CGROUP_INFO))
#define LIFE                                                                       \
	(EV_BIT(EV_FORK) | EV_BIT(EV_EXEC) | EV_BIT(EV_EXIT) | EV_BIT(EV_RENAME) | \
	 EV_BIT(EV_FREE) | CGROUPS)
#define FAKE_MAX   4096
#define LEASE_NS   50000000ULL
#define PATIENCE   2000 /* looks, of 5 ms each */
#define BATCH_NS   5000000L
#define EARLIER_NS 1000000000ULL
#define TASK_A     101
#define TASK_B     102

/* What the feed asked of its source, and what the source gives it. */
struct fake {
	pthread_mutex_t lock;
	uint64_t kinds; /* of the stream that is attached; 0 = none */
	unsigned int nr_opened, nr_open, nr_attached;
	int fail_open, fail_attach;
	struct ev_switch switches[FAKE_MAX]; /* to be handed on */
	unsigned int nr_switches;
	unsigned int nr_tasks; /* of the census */
	unsigned int nr_polls;
};

/* In place of libc's: a wall clock that was set back. */
static time_t wall_off_s;

int clock_gettime(clockid_t clock, struct timespec *out)
{
	int err = (int)syscall(SYS_clock_gettime, clock, out);

	if (!err && clock == CLOCK_REALTIME)
		out->tv_sec += wall_off_s;
	return err;
}

struct fake_stream {
	struct fake *fake;
	uint64_t kinds;
};

static int fake_open(void *ctx, uint64_t kinds, struct diag *d, void **out)
{
	struct fake *f = ctx;
	struct fake_stream *s;

	if (f->fail_open)
		return diag_set(d, f->fail_open, "ask again later", "no stream today");
	s = calloc(1, sizeof(*s));
	assert_non_null(s);
	*s = (struct fake_stream){ f, kinds };
	pthread_mutex_lock(&f->lock);
	f->nr_opened++;
	f->nr_open++;
	pthread_mutex_unlock(&f->lock);
	*out = s;
	return 0;
}

static int fake_attach(void *stream, struct diag *d)
{
	struct fake_stream *s = stream;

	if (s->fake->fail_attach)
		return diag_set(d, s->fake->fail_attach, NULL, "cannot attach");
	pthread_mutex_lock(&s->fake->lock);
	s->fake->kinds = s->kinds;
	s->fake->nr_attached++;
	pthread_mutex_unlock(&s->fake->lock);
	return 0;
}

static int fake_poll(void *stream, const struct ev_sink *sink, struct diag *d)
{
	struct fake *f = ((struct fake_stream *)stream)->fake;
	int err = 0;

	(void)d;
	pthread_mutex_lock(&f->lock);
	for (unsigned int i = 0; i < f->nr_switches && !err; i++) {
		f->switches[i].hdr.ts_ns = clock_boot_ns();
		err = sink->push(sink->ctx, &f->switches[i].hdr);
	}
	f->nr_switches = 0;
	f->nr_polls++;
	pthread_mutex_unlock(&f->lock);
	return err ? err : sink->advance(sink->ctx, clock_boot_ns());
}

static int fake_finish(void *stream, const struct ev_sink *sink, struct diag *d)
{
	struct fake *f = ((struct fake_stream *)stream)->fake;

	pthread_mutex_lock(&f->lock);
	f->kinds = 0;
	f->nr_attached--;
	pthread_mutex_unlock(&f->lock);
	return fake_poll(stream, sink, d);
}

static int fake_fd(void *stream)
{
	(void)stream;
	return -1;
}

static uint64_t fake_missing(void *stream)
{
	(void)stream;
	return EV_BIT(EV_GPU_MEM);
}

/* The stream begins while it attaches, long before the call returns. */
static uint64_t fake_start_ns(void *stream)
{
	(void)stream;
	return clock_boot_ns() - EARLIER_NS;
}

static void fake_close(void *stream)
{
	struct fake *f = ((struct fake_stream *)stream)->fake;

	pthread_mutex_lock(&f->lock);
	f->nr_open--;
	pthread_mutex_unlock(&f->lock);
	free(stream);
}

static int fake_tasks(void *ctx, proc_task_fn *fn, void *fn_ctx, struct diag *d)
{
	struct fake *f = ctx;

	(void)d;
	for (unsigned int i = 0; i < f->nr_tasks; i++) {
		struct proc_task task = { .tid = TASK_A + i, .tgid = TASK_A + i, .start_ns = 1 };

		(void)snprintf(task.comm, sizeof(task.comm), "task-%u", i);
		if (fn(fn_ctx, &task))
			return -1;
	}
	return 0;
}

struct fixture {
	struct fake fake;
	struct topology *topology;
	struct live_feed *feed;
};

static int set_up(void **state)
{
	static const struct topology_cpu cpu = {
		.llc = 0, .node = 0, .is_possible = true, .is_present = true, .is_online = true
	};
	const struct topology_cpu cpus[] = { cpu, cpu };
	const struct topology_table table = { .cpus = cpus, .nr_cpus = 2 };
	struct fixture *x = calloc(1, sizeof(*x));
	struct live_source source;
	struct live_feed_cfg cfg = { .lease_ns = LEASE_NS, .first_batch_ns = 1, .source = &source };
	struct diag d = { 0 };

	assert_non_null(x);
	pthread_mutex_init(&x->fake.lock, NULL);
	x->fake.nr_tasks = 2;
	source = (struct live_source){ fake_open,  fake_attach,  fake_poll,     fake_finish,
		                       fake_fd,    fake_missing, fake_start_ns, fake_close,
		                       fake_tasks, &x->fake };
	expect_eq(topology_new(&table, &d, &x->topology), 0);
	cfg.topology = x->topology;
	expect_eq(live_feed_open(&cfg, &d, &x->feed), 0);
	*state = x;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *x = *state;

	live_feed_close(x->feed);
	expect_eq(x->fake.nr_attached, 0);
	expect_eq(x->fake.nr_open, 0);
	topology_free(x->topology);
	pthread_mutex_destroy(&x->fake.lock);
	free(x);
	return 0;
}

static uint64_t attached(struct fixture *x)
{
	uint64_t kinds;

	pthread_mutex_lock(&x->fake.lock);
	kinds = x->fake.kinds;
	pthread_mutex_unlock(&x->fake.lock);
	return kinds;
}

/* The thread lets go a moment later than we do. */
static bool comes_to(struct fixture *x, uint64_t kinds)
{
	struct timespec t = { .tv_nsec = BATCH_NS };

	for (int i = 0; i < PATIENCE && attached(x) != kinds; i++)
		nanosleep(&t, NULL);
	return attached(x) == kinds;
}

/* A -> B -> A -> ... on CPU 0. */
static void give_switches(struct fixture *x, unsigned int nr)
{
	pthread_mutex_lock(&x->fake.lock);
	for (unsigned int i = 0; i < nr; i++)
		x->fake.switches[i] = (struct ev_switch){
			.hdr = { sizeof(struct ev_switch), EV_SWITCH, 0, 0, 0 },
			.prev_tid = i % 2 ? TASK_B : TASK_A,
			.next_tid = i % 2 ? TASK_A : TASK_B,
		};
	x->fake.nr_switches = nr;
	pthread_mutex_unlock(&x->fake.lock);
}

struct reporter {
	struct live_feed *feed;
	atomic_bool *is_over;
	uint64_t nr; /* reports */
};

/* Records of a copy are numbered without gaps, and never go back in time. */
static void check_events(struct live_feed *feed)
{
	struct live_events e = { 0 };
	const struct ev_hdr *recs[256];
	struct diag d = { 0 };
	uint64_t number, last_ns = 0;
	uint32_t nr;

	expect_eq(live_feed_events(feed, false, &d, &e), 0);
	number = live_events_first(&e);
	while ((nr = event_log_lend(e.log, number, recs, 256))) {
		for (uint32_t i = 0; i < nr; i++) {
			assert_true(recs[i]->ts_ns >= last_ns);
			last_ns = recs[i]->ts_ns;
		}
		number += nr;
	}
	expect_eq(number, live_events_end(&e));
	live_events_done(&e);
}

static void *report_all(void *ctx)
{
	struct reporter *r = ctx;
	struct pass_args args = { .cpu = PASS_ANY_CPU, .layer = EV_NO_LAYER };

	for (; !atomic_load(r->is_over); r->nr++) {
		struct live_shot *shot = NULL;
		struct live_observed o;
		struct report *report = NULL;
		struct diag d = { 0 };

		expect_eq(live_feed_observe(r->feed, ANALYZER_CPU_HOTSPOT, &d, &shot, &o), 0);
		expect_eq(timeline_index(live_shot_source(shot)->timeline, TIMELINE_SLICE, true),
		          0);
		expect_eq(pass_run(&pass_cpu_hotspots, live_shot_source(shot), &args, &d, &report),
		          0);
		report_free(report);
		live_shot_put(shot);
		check_events(r->feed);
	}
	return NULL;
}

/* Under ASan and TSan: what a report reads is not what the stream writes. */
static void reports_run_while_records_come(void **state)
{
	struct fixture *x = *state;
	atomic_bool is_over = false;
	struct reporter reporters[3];
	pthread_t threads[3];
	struct diag d = { 0 };
	uint64_t nr = 0;
	uint32_t holder;

	expect_eq(live_feed_hold(x->feed, LIVE_USE_STREAM, EV_BIT(EV_SWITCH), &d, &holder), 0);
	expect_eq(live_feed_start(x->feed, 1U << ANALYZER_CPU_HOTSPOT, &d), 0);
	for (int i = 0; i < 3; i++) {
		reporters[i] = (struct reporter){ x->feed, &is_over, 0 };
		expect_eq(pthread_create(&threads[i], NULL, report_all, &reporters[i]), 0);
	}
	for (int i = 0; i < 60; i++) {
		give_switches(x, FAKE_MAX);
		(void)live_feed_lock(x->feed);
		live_feed_unlock(x->feed);
	}
	atomic_store(&is_over, true);
	for (int i = 0; i < 3; i++) {
		expect_eq(pthread_join(threads[i], NULL), 0);
		nr += reporters[i].nr;
	}
	assert_true(nr > 0);
	live_feed_drop(x->feed, holder);
}

static void nothing_is_opened_before_something_is_needed(void **state)
{
	struct fixture *x = *state;
	struct live_feed_status s;

	(void)live_feed_lock(x->feed);
	live_feed_unlock(x->feed);
	live_feed_reset(x->feed, ANALYZERS_ALL);
	live_feed_status(x->feed, &s);
	assert_false(s.is_attached);
	expect_eq(x->fake.nr_opened, 0);
}

static void a_holder_has_its_kinds_until_it_lets_go(void **state)
{
	struct fixture *x = *state;
	struct diag d = { 0 };
	uint32_t holder;

	expect_eq(live_feed_hold(x->feed, LIVE_USE_STREAM, EV_BIT(EV_SWITCH), &d, &holder), 0);
	expect_eq(attached(x), EV_BIT(EV_SWITCH) | LIFE);
	live_feed_drop(x->feed, holder);
	assert_true(comes_to(x, 0));
}

static void the_stream_has_the_union_of_all_needs(void **state)
{
	struct fixture *x = *state;
	uint32_t set = 1U << ANALYZER_SOFTIRQ;
	struct diag d = { 0 };
	uint32_t holder;

	expect_eq(live_feed_hold(x->feed, LIVE_USE_STREAM, EV_BIT(EV_MIGRATE), &d, &holder), 0);
	expect_eq(live_feed_start(x->feed, set, &d), 0);
	expect_eq(attached(x), EV_BIT(EV_MIGRATE) | analyzers_kinds(set) | LIFE);
	live_feed_drop(x->feed, holder);
	assert_true(comes_to(x, analyzers_kinds(set) | LIFE));
	live_feed_stop(x->feed, set);
	expect_eq(attached(x), 0);
}

static void starting_each_analyzer_attaches_what_it_needs(void **state)
{
	struct fixture *x = *state;
	struct diag d = { 0 };

	for (uint32_t i = 0; i < ANALYZERS; i++) {
		expect_eq(live_feed_start(x->feed, 1U << i, &d), 0);
		expect_eq(attached(x),
		          ((analyzers_kinds(1U << i) | LIFE) &
		           (live_feed_all_kinds() | EV_BIT(EV_POLICY) | EV_BIT(EV_SLEEP))) |
		                  CGROUPS);
		live_feed_stop(x->feed, 1U << i);
		expect_eq(attached(x), 0);
	}
}

static void stopping_an_analyzer_leaves_what_tracking_needs(void **state)
{
	struct fixture *x = *state;
	struct diag d = { 0 };

	expect_eq(live_feed_track(x->feed, true, &d), 0);
	expect_eq(live_feed_start(x->feed, ANALYZERS_ALL, &d), 0);
	live_feed_stop(x->feed, ANALYZERS_ALL);
	expect_eq(attached(x), live_feed_all_kinds() | CGROUPS);
	expect_eq(live_feed_track(x->feed, false, &d), 0);
	expect_eq(attached(x), 0);
}

static void a_reader_is_forgotten_after_its_lease(void **state)
{
	struct fixture *x = *state;
	struct diag d = { 0 };

	expect_eq(live_feed_borrow(x->feed, LIVE_USE_STATS, EV_BIT(EV_SWITCH), &d), 0);
	expect_eq(x->fake.nr_opened, 1);
	assert_true(comes_to(x, 0));
}

static void a_reader_of_what_is_held_leaves_no_lease(void **state)
{
	struct fixture *x = *state;
	struct live_feed_status s;
	struct diag d = { 0 };
	uint32_t holder;

	expect_eq(live_feed_hold(x->feed, LIVE_USE_STREAM, EV_BIT(EV_SWITCH), &d, &holder), 0);
	expect_eq(live_feed_borrow(x->feed, LIVE_USE_STREAM, EV_BIT(EV_SWITCH), &d), 0);
	live_feed_status(x->feed, &s);
	expect_eq(s.nr_readers, 0);
	expect_eq(s.nr_holders, 1);
}

static void a_stream_that_fails_is_reported_and_the_old_one_goes_on(void **state)
{
	struct fixture *x = *state;
	struct diag d = { 0 };
	uint32_t holder, other;

	expect_eq(live_feed_hold(x->feed, 0, EV_BIT(EV_SWITCH), &d, &holder), 0);
	x->fake.fail_open = -EPERM;
	expect_eq(live_feed_hold(x->feed, 0, EV_BIT(EV_MIGRATE), &d, &other), -EPERM);
	assert_string_equal(d.what, "no stream today");
	assert_string_equal(d.hint, "ask again later");
	expect_eq(attached(x), EV_BIT(EV_SWITCH) | LIFE);
	x->fake.fail_open = 0;
	d = (struct diag){ 0 };
	expect_eq(live_feed_hold(x->feed, 0, EV_BIT(EV_MIGRATE), &d, &other), 0);
	expect_eq(attached(x), EV_BIT(EV_SWITCH) | EV_BIT(EV_MIGRATE) | LIFE);
}

static void an_analyzer_that_gets_no_stream_does_not_run(void **state)
{
	struct fixture *x = *state;
	struct live_feed_status s;
	struct diag d = { 0 };

	x->fake.fail_attach = -EBUSY;
	expect_eq(live_feed_start(x->feed, 1U << ANALYZER_SOFTIRQ, &d), -EBUSY);
	live_feed_status(x->feed, &s);
	expect_eq(s.running, 0);
	assert_false(s.is_attached);
}

static uint64_t count_switches(struct fixture *x)
{
	struct pass_args args = { .cpu = PASS_ANY_CPU, .category = "cpu" };
	struct live_shot *shot = NULL;
	struct live_observed o;
	struct report *r = NULL;
	struct diag d = { 0 };
	uint64_t nr = 0;

	expect_eq(live_feed_look(x->feed, LIVE_USE_STATS, &d, &shot, &o), 0);
	args.from_ns = o.from_ns;
	expect_eq(pass_run(&pass_totals, live_shot_source(shot), &args, &d, &r), 0);
	for (const struct report_node *n = report_at(report_root(r), "cpus")->first; n; n = n->next)
		nr += report_at(n, "nr_switches")->u64;
	report_free(r);
	live_shot_put(shot);
	return nr;
}

static void statistics_count_from_the_first_read_and_start_over_after_a_pause(void **state)
{
	struct fixture *x = *state;
	struct diag d = { 0 };
	uint64_t kinds = live_feed_stats_kinds();

	expect_eq(live_feed_borrow(x->feed, LIVE_USE_STATS, kinds, &d), 0);
	give_switches(x, 100);
	expect_eq(count_switches(x), 100);
	assert_true(comes_to(x, 0));
	expect_eq(live_feed_borrow(x->feed, LIVE_USE_STATS, kinds, &d), 0);
	expect_eq(count_switches(x), 0);
	give_switches(x, 7);
	expect_eq(count_switches(x), 7);
}

static struct live_observed observe(struct fixture *x, enum analyzer_id id, bool has_shot)
{
	struct live_shot *shot = NULL;
	struct live_observed o;
	struct diag d = { 0 };

	expect_eq(live_feed_observe(x->feed, id, &d, &shot, &o), 0);
	expect_eq(shot != NULL, has_shot);
	live_shot_put(shot);
	return o;
}

static void an_analyzer_counts_on_across_a_change_of_the_stream(void **state)
{
	struct live_observed o;
	struct fixture *x = *state;
	struct diag d = { 0 };
	uint32_t holder;

	expect_eq(live_feed_start(x->feed, 1U << ANALYZER_RATE_MONITOR, &d), 0);
	give_switches(x, 50);
	(void)live_feed_lock(x->feed);
	live_feed_unlock(x->feed);
	expect_eq(live_feed_hold(x->feed, 0, EV_BIT(EV_IPI_SEND), &d, &holder), 0);
	give_switches(x, 30);
	o = observe(x, ANALYZER_RATE_MONITOR, false);
	expect_eq(o.records, 80);
	expect_eq(o.lost, 0);
	assert_true(o.is_running);
	live_feed_stop(x->feed, 1U << ANALYZER_RATE_MONITOR);
	give_switches(x, 30); /* the holder's stream goes on without it */
	o = observe(x, ANALYZER_RATE_MONITOR, false);
	expect_eq(o.records, 80);
	assert_true(o.has_data && !o.is_running);
}

static void every_answer_says_what_it_rests_on(void **state)
{
	struct live_observed o, later;
	struct fixture *x = *state;
	struct diag d = { 0 };

	o = observe(x, ANALYZER_CPU_HOTSPOT, false);
	assert_false(o.was_started || o.has_data || o.is_running);
	expect_eq(live_feed_start(x->feed, 1U << ANALYZER_CPU_HOTSPOT, &d), 0);
	give_switches(x, 20);
	o = observe(x, ANALYZER_CPU_HOTSPOT, true);
	assert_true(o.was_started && o.has_data && o.is_running && !o.is_cut);
	expect_eq(o.records, 20);
	expect_eq(o.one_in, 1);
	assert_true(o.to_ns > o.from_ns && o.to_ns <= clock_boot_ns());
	live_feed_stop(x->feed, 1U << ANALYZER_CPU_HOTSPOT);
	later = observe(x, ANALYZER_CPU_HOTSPOT, true); /* what was kept */
	assert_true(!later.is_running && later.has_data);
	expect_eq(later.from_ns, o.from_ns);
	expect_eq(observe(x, ANALYZER_CPU_HOTSPOT, true).to_ns, later.to_ns);
	live_feed_reset(x->feed, 1U << ANALYZER_CPU_HOTSPOT);
	assert_false(observe(x, ANALYZER_CPU_HOTSPOT, true).has_data);
}

static void the_stream_keeps_a_bounded_number_of_records(void **state)
{
	struct fixture *x = *state;
	struct live_events e = { 0 };
	struct diag d = { 0 };
	uint32_t holder;
	uint64_t kept;

	expect_eq(live_feed_hold(x->feed, LIVE_USE_STREAM, EV_BIT(EV_SWITCH), &d, &holder), 0);
	for (int i = 0; i < 40; i++) {
		give_switches(x, FAKE_MAX);
		(void)live_feed_lock(x->feed);
		live_feed_unlock(x->feed);
	}
	expect_eq(live_feed_events(x->feed, true, &d, &e), 0);
	expect_eq(live_events_end(&e) - 1, 40 * FAKE_MAX);
	kept = live_events_end(&e) - live_events_first(&e);
	assert_true(kept <= LIVE_LOG_RECORDS && kept > LIVE_LOG_RECORDS - 10000);
	expect_eq(event_log_cut(e.log), 40 * FAKE_MAX - kept);
	live_events_done(&e);
}

static void tasks_that_ended_between_refreshes_are_gone(void **state)
{
	struct fixture *x = *state;
	struct live_view v;
	struct diag d = { 0 };

	expect_eq(live_feed_track(x->feed, true, &d), 0);
	v = live_feed_lock(x->feed);
	assert_true(tasks_find(v.tasks, TASK_B) != TASKS_NONE);
	live_feed_unlock(x->feed);
	expect_eq(live_feed_track(x->feed, false, &d), 0);
	x->fake.nr_tasks = 1;
	expect_eq(live_feed_track(x->feed, true, &d), 0);
	v = live_feed_lock(x->feed);
	assert_true(tasks_find(v.tasks, TASK_A) != TASKS_NONE);
	assert_true(tasks_find(v.tasks, TASK_B) == TASKS_NONE);
	live_feed_unlock(x->feed);
}

static void the_status_names_what_the_kernel_lacks(void **state)
{
	struct fixture *x = *state;
	struct live_feed_status s;
	struct diag d = { 0 };

	expect_eq(live_feed_track(x->feed, true, &d), 0);
	live_feed_status(x->feed, &s);
	expect_eq(s.missing, EV_BIT(EV_GPU_MEM));
	expect_eq(s.kinds, live_feed_all_kinds() & ~EV_BIT(EV_GPU_MEM));
	assert_true(s.is_tracking);
	expect_eq(s.nr_holders, 0);
	expect_eq(s.nr_streams, 1);
}

static void what_was_there_is_recorded_at_the_time_of_the_first_record(void **state)
{
	struct fixture *x = *state;
	struct live_feed_status s;
	struct diag d = { 0 };
	uint32_t holder;

	expect_eq(live_feed_hold(x->feed, LIVE_USE_STREAM, EV_BIT(EV_SWITCH), &d, &holder), 0);
	live_feed_status(x->feed, &s);
	assert_true(s.attached_ns >= EARLIER_NS);
	live_feed_drop(x->feed, holder);
}

static unsigned int nr_polls(struct fixture *x)
{
	unsigned int nr;

	pthread_mutex_lock(&x->fake.lock);
	nr = x->fake.nr_polls;
	pthread_mutex_unlock(&x->fake.lock);
	return nr;
}

static void a_reader_waits_for_fresh_records_whatever_the_wall_clock_says(void **state)
{
	struct fixture *x = *state;
	struct diag d = { 0 };
	uint32_t holder;

	expect_eq(live_feed_hold(x->feed, LIVE_USE_STREAM, EV_BIT(EV_SWITCH), &d, &holder), 0);
	wall_off_s = -3600;
	for (int i = 0; i < 20; i++) {
		unsigned int before = nr_polls(x), after;

		(void)live_feed_lock(x->feed);
		after = nr_polls(x);
		live_feed_unlock(x->feed);
		assert_true(after >= before + 2);
	}
	wall_off_s = 0;
	live_feed_drop(x->feed, holder);
}

static void too_many_holders_are_refused(void **state)
{
	struct fixture *x = *state;
	struct diag d = { 0 };
	uint32_t holder;
	int err = 0, nr = 0;

	for (; nr < 1000 && !err; nr++)
		err = live_feed_hold(x->feed, 0, EV_BIT(EV_SWITCH), &d, &holder);
	expect_eq(err, -EUSERS);
	expect_eq(x->fake.nr_opened, 1);
}

static void types_are_turned_into_kinds(void **state)
{
	struct diag d = { 0 };
	uint64_t kinds;

	(void)state;
	expect_eq(live_feed_kinds("sched_switch,fork", &d, &kinds), 0);
	expect_eq(kinds, EV_BIT(EV_SWITCH) | EV_BIT(EV_FORK));
	expect_eq(live_feed_kinds("softirq", &d, &kinds), 0);
	expect_eq(kinds, EV_BIT(EV_SOFTIRQ_ENTRY) | EV_BIT(EV_SOFTIRQ_EXIT));
	expect_eq(live_feed_kinds("all", &d, &kinds), 0);
	expect_eq(kinds, live_feed_all_kinds());
	expect_eq(live_feed_kinds("", &d, &kinds), 0);
	assert_true(kinds & EV_BIT(EV_SWITCH));
	expect_eq(live_feed_kinds("sched_switch,nonsense", &d, &kinds), -EINVAL);
	assert_non_null(strstr(d.what, "nonsense"));
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(nothing_is_opened_before_something_is_needed),
		CASE(a_holder_has_its_kinds_until_it_lets_go),
		CASE(the_stream_has_the_union_of_all_needs),
		CASE(starting_each_analyzer_attaches_what_it_needs),
		CASE(stopping_an_analyzer_leaves_what_tracking_needs),
		CASE(a_reader_is_forgotten_after_its_lease),
		CASE(a_reader_of_what_is_held_leaves_no_lease),
		CASE(a_stream_that_fails_is_reported_and_the_old_one_goes_on),
		CASE(an_analyzer_that_gets_no_stream_does_not_run),
		CASE(statistics_count_from_the_first_read_and_start_over_after_a_pause),
		CASE(an_analyzer_counts_on_across_a_change_of_the_stream),
		CASE(every_answer_says_what_it_rests_on),
		CASE(reports_run_while_records_come),
		CASE(the_stream_keeps_a_bounded_number_of_records),
		CASE(tasks_that_ended_between_refreshes_are_gone),
		CASE(the_status_names_what_the_kernel_lacks),
		CASE(what_was_there_is_recorded_at_the_time_of_the_first_record),
		CASE(a_reader_waits_for_fresh_records_whatever_the_wall_clock_says),
		CASE(too_many_holders_are_refused),
		cmocka_unit_test(types_are_turned_into_kinds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
