/* session/live_feed with a stream of our own in place of the kernel's. */
#include "../unit.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analyze/live_report.h"
#include "base/arena.h"
#include "base/clock.h"
#include "model/analyzers.h"
#include "model/event_buffer.h"
#include "session/live_feed.h"
#include "sys/topology.h"

#define LIFE \
	(EV_BIT(EV_FORK) | EV_BIT(EV_EXEC) | EV_BIT(EV_EXIT) | EV_BIT(EV_RENAME) | EV_BIT(EV_FREE))
#define FAKE_MAX 4096
#define LEASE_NS 50000000ULL
#define PATIENCE 2000 /* looks, of 5 ms each */
#define LOOK_NS  5000000L
#define TASK_A   101
#define TASK_B   102

/* What the feed asked of its source, and what the source gives it. */
struct fake {
	pthread_mutex_t lock;
	uint64_t kinds; /* of the stream that is attached; 0 = none */
	unsigned int nr_opened, nr_open, nr_attached;
	int fail_open, fail_attach;
	struct ev_switch switches[FAKE_MAX]; /* to be handed on */
	unsigned int nr_switches;
	unsigned int nr_tasks; /* of the census */
};

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
	struct live_feed_cfg cfg = { .lease_ns = LEASE_NS, .first_look_ns = 1, .source = &source };
	struct diag d = { 0 };

	assert_non_null(x);
	pthread_mutex_init(&x->fake.lock, NULL);
	x->fake.nr_tasks = 2;
	source = (struct live_source){ fake_open,    fake_attach, fake_poll,  fake_finish, fake_fd,
		                       fake_missing, fake_close,  fake_tasks, &x->fake };
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
	struct timespec t = { .tv_nsec = LOOK_NS };

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
		expect_eq(attached(x), (analyzers_kinds(1U << i) | LIFE) & live_feed_all_kinds());
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
	expect_eq(attached(x), live_feed_all_kinds());
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

static void a_stream_that_fails_is_told_and_the_old_one_goes_on(void **state)
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
	struct live_view v = live_feed_lock(x->feed);
	struct arena *mem = arena_new(1U << 20);
	struct live_report r = { 0 };
	uint64_t nr = 0;

	expect_eq(live_report_make(v.live, LIVE_CPUS, 0, mem, &r), 0);
	for (size_t i = 0; i < r.nr; i++)
		nr += r.rows[i].nr_switches;
	live_feed_unlock(x->feed);
	arena_free(mem);
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

static void an_analyzer_counts_on_across_a_change_of_the_stream(void **state)
{
	struct fixture *x = *state;
	struct analyzers_status s;
	struct live_view v;
	struct diag d = { 0 };
	uint32_t holder;

	expect_eq(live_feed_start(x->feed, 1U << ANALYZER_RATE_MONITOR, &d), 0);
	give_switches(x, 50);
	(void)live_feed_lock(x->feed);
	live_feed_unlock(x->feed);
	expect_eq(live_feed_hold(x->feed, 0, EV_BIT(EV_IPI_SEND), &d, &holder), 0);
	give_switches(x, 30);
	v = live_feed_lock(x->feed);
	analyzers_status(v.analyzers, ANALYZER_RATE_MONITOR, &s);
	live_feed_unlock(x->feed);
	expect_eq(s.records, 80);
	expect_eq(s.lost, 0);
	assert_true(s.is_running);
	live_feed_stop(x->feed, 1U << ANALYZER_RATE_MONITOR);
	give_switches(x, 30); /* the holder's stream goes on without it */
	v = live_feed_lock(x->feed);
	analyzers_status(v.analyzers, ANALYZER_RATE_MONITOR, &s);
	live_feed_unlock(x->feed);
	expect_eq(s.records, 80);
	assert_true(s.has_data);
}

static void the_stream_keeps_a_bounded_number_of_records(void **state)
{
	struct fixture *x = *state;
	struct event_buffer_stats s;
	struct live_view v;
	struct diag d = { 0 };
	uint32_t holder;

	expect_eq(live_feed_hold(x->feed, LIVE_USE_STREAM, EV_BIT(EV_SWITCH), &d, &holder), 0);
	for (int i = 0; i < 40; i++) {
		give_switches(x, FAKE_MAX);
		(void)live_feed_lock(x->feed);
		live_feed_unlock(x->feed);
	}
	v = live_feed_lock(x->feed);
	event_buffer_stats(v.stream, &s);
	live_feed_unlock(x->feed);
	expect_eq(s.total_received, 40 * FAKE_MAX);
	expect_eq(s.current_size, s.max_size);
	expect_eq(s.total_dropped, s.total_received - s.current_size);
}

static void tasks_that_went_while_nobody_looked_are_gone(void **state)
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
		CASE(a_stream_that_fails_is_told_and_the_old_one_goes_on),
		CASE(an_analyzer_that_gets_no_stream_does_not_run),
		CASE(statistics_count_from_the_first_read_and_start_over_after_a_pause),
		CASE(an_analyzer_counts_on_across_a_change_of_the_stream),
		CASE(the_stream_keeps_a_bounded_number_of_records),
		CASE(tasks_that_went_while_nobody_looked_are_gone),
		CASE(the_status_names_what_the_kernel_lacks),
		CASE(too_many_holders_are_refused),
		cmocka_unit_test(types_are_turned_into_kinds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
