#include "pair_fixture.h"

#include <errno.h>
#include <stdlib.h>

#include "model/live.h"

static struct live *watch(struct fixture *f, uint64_t keep_dead_ns)
{
	static const struct live_place places[] = { { 0, 0 }, { 0, 0 }, { 1, 0 }, { -1, -1 } };
	struct live_cfg cfg = { .pair = f->pair,
		                .tasks = f->tasks,
		                .places = places,
		                .nr_places = 4,
		                .keep_dead_ns = keep_dead_ns };
	struct pair_out out;
	struct live *l = NULL;

	expect_eq(live_new(&cfg, &l), 0);
	out = live_out(l);
	expect_eq(pair_add_out(f->pair, &out), 0);
	return l;
}

static struct live_thread thread(const struct fixture *f, const struct live *l, uint32_t tid)
{
	struct live_thread t = { 0 };

	assert_true(live_thread_at(l, task_of(f, tid), &t));
	return t;
}

static void a_wakeup_counts_once_though_waking_and_wakeup_tell_of_it(void **state)
{
	struct fixture *f = *state;
	struct live *l = watch(f, 1000);

	sw(f, 100, 0, 7, 0, EV_STATE_S);
	waking(f, 200, 1, 7, 5);
	wakeup(f, 210, 0, 7, 0);
	sw(f, 250, 0, 0, 7, 0);

	expect_eq(thread(f, l, 7).nr_wakeups, 1);
	expect_eq(live_cpu_at(l, 1)->nr_wakeups, 1);
	expect_eq(live_cpu_at(l, 0)->nr_wakeups, 0);
	expect_eq(live_cpu_at(l, 0)->nr_switches, 2);
	assert_null(live_cpu_at(l, 2));
	live_free(l);
}

static void latency_is_from_the_waking_and_has_no_minimum_without_samples(void **state)
{
	struct fixture *f = *state;
	struct live *l = watch(f, 1000);

	sw(f, 100, 0, 7, 0, EV_STATE_S);
	expect_eq(thread(f, l, 7).latency.samples, 0);
	waking(f, 200, 1, 7, 5);
	wakeup(f, 210, 0, 7, 0);
	sw(f, 250, 0, 0, 7, 0);
	sw(f, 260, 0, 7, 8, EV_STATE_RUNNABLE);
	sw(f, 300, 0, 8, 7, EV_STATE_S); /* preempted: no wakeup latency */

	expect_eq(thread(f, l, 7).latency.samples, 1);
	expect_eq(thread(f, l, 7).latency.min_ns, 50);
	expect_eq(thread(f, l, 7).latency.max_at_ns, 250);
	expect_eq(live_cpu_at(l, 0)->latency.total_ns, 50);
	live_free(l);
}

static void a_latency_of_zero_is_a_minimum_too(void **state)
{
	struct live_latency lat = { 0 }, other = { 0 };

	(void)state;
	live_latency_add(&lat, 0, 1);
	live_latency_add(&lat, 9, 2);
	live_latency_merge(&other, &lat);
	live_latency_merge(&other, &(struct live_latency){ 0 });
	expect_eq(other.min_ns, 0);
	expect_eq(other.max_ns, 9);
	expect_eq(other.samples, 2);
}

static void runtime_is_real_and_grows_while_the_task_runs(void **state)
{
	struct fixture *f = *state;
	struct live *l = watch(f, 1000);

	sw(f, 100, 0, 0, 7, 0);
	sw(f, 150, 0, 7, 0, EV_STATE_S);
	wakeup(f, 160, 0, 7, 0);
	sw(f, 200, 0, 0, 7, 0);
	expect_eq(thread(f, l, 7).runtime_ns, 50);
	expect_eq(f->sink.advance(f->sink.ctx, 900), 0);
	expect_eq(thread(f, l, 7).runtime_ns, 750);
	live_free(l);
}

static void lost_switches_take_the_open_slice_back(void **state)
{
	struct fixture *f = *state;
	struct live *l = watch(f, 1000);

	sw(f, 100, 0, 0, 7, 0);
	lost(f, 500, 0, EV_SWITCH, 1);
	expect_eq(thread(f, l, 7).runtime_ns, 0);
	live_free(l);
}

static void idle_is_no_thread(void **state)
{
	struct fixture *f = *state;
	struct live *l = watch(f, 1000);
	struct live_thread t;

	sw(f, 100, 0, 0, 7, 0);
	sw(f, 150, 0, 7, 0, EV_STATE_S);
	for (uint32_t i = 0; i < live_nr_threads(l); i++)
		if (live_thread_at(l, i, &t))
			assert_true(t.tid != 0);
	expect_eq(thread(f, l, 7).nr_switches, 1);
	live_free(l);
}

static void exec_and_exit_drop_pending_wakeups(void **state)
{
	struct fixture *f = *state;
	struct live *l = watch(f, 1000);

	sw(f, 100, 0, 0, 7, 0);
	waking(f, 110, 1, 7, 5);
	exec(f, 120, 7, 7, "new");
	sw(f, 130, 0, 7, 0, EV_STATE_S);
	sw(f, 900, 0, 0, 7, 0);
	waking(f, 910, 1, 7, 5);
	exiting(f, 920, 7);
	sw(f, 930, 0, 7, 0, EV_STATE_S);
	sw(f, 990, 0, 0, 7, 0);
	expect_eq(thread(f, l, 7).latency.samples, 0);
	live_free(l);
}

static void dead_threads_are_forgotten_and_their_tid_starts_anew(void **state)
{
	struct fixture *f = *state;
	struct live *l = watch(f, 1000);
	struct live_thread t;
	uint32_t first;

	sw(f, 100, 0, 0, 7, 0);
	first = task_of(f, 7);
	exiting(f, 110, 7);
	sw(f, 150, 0, 7, 0, EV_STATE_DEAD);
	freed(f, 160, 7);
	assert_true(live_thread_at(l, first, &t));
	assert_true(t.is_dead);
	wakeup_new(f, 300, 0, 7, 1);
	expect_eq(thread(f, l, 7).nr_switches, 0);
	expect_eq(f->sink.advance(f->sink.ctx, 5000), 0);
	assert_false(live_thread_at(l, first, &t));
	live_free(l);
}

static void a_process_is_the_sum_of_its_threads_dead_ones_included(void **state)
{
	struct fixture *f = *state;
	struct live *l = watch(f, 1000);
	struct ev_fork ev = { .hdr = { sizeof(ev), EV_FORK, 0, 0, 90 },
		              .parent_tid = 7,
		              .parent_tgid = 7,
		              .tid = 8,
		              .tgid = 7,
		              .comm = "worker" };
	struct live_process p;

	forked(f, 50, 1, 7, "main");
	push(f, &ev);
	sw(f, 100, 0, 0, 7, 0);
	sw(f, 110, 0, 7, 8, EV_STATE_RUNNABLE);
	sw(f, 120, 0, 8, 7, EV_STATE_DEAD);
	sw(f, 150, 0, 7, 0, EV_STATE_S);

	expect_eq(live_nr_processes(l), 1);
	assert_true(live_process_at(l, 0, &p));
	expect_eq(p.tgid, 7);
	expect_eq(p.nr_threads, 1);
	expect_eq(p.nr_switches, 3);
	expect_eq(p.runtime_ns, 50);
	assert_string_equal(live_string(l, p.comm_id), "main");
	live_free(l);
}

static void a_process_learnt_late_has_what_its_thread_did_before(void **state)
{
	struct fixture *f = *state;
	struct live *l = watch(f, 1000);
	struct live_process p;

	sw(f, 100, 0, 0, 7, 0);
	sw(f, 150, 0, 7, 0, EV_STATE_S);
	expect_eq(live_nr_processes(l), 0);
	push(f, &(struct ev_task_info){
			.hdr = { sizeof(struct ev_task_info), EV_TASK_INFO, 0, 0, 160 },
			.tid = 7,
			.tgid = 6,
			.comm = "t" });
	wakeup(f, 200, 0, 7, 0);
	assert_true(live_process_at(l, 0, &p));
	expect_eq(p.tgid, 6);
	expect_eq(p.runtime_ns, 50);
	expect_eq(p.nr_switches, 1);
	expect_eq(p.nr_wakeups, 1);
	live_free(l);
}

static void processes_that_come_and_go_do_not_pile_up(void **state)
{
	struct fixture *f = *state;
	struct live *l = watch(f, 500);
	struct live_process p;
	uint32_t nr = 0;

	for (uint32_t i = 0; i < 40; i++) {
		uint64_t ts = 1000 + i * 400;

		forked(f, ts, 1, 100 + i % 3, "short");
		sw(f, ts + 10, 0, 0, 100 + i % 3, 0);
		sw(f, ts + 20, 0, 100 + i % 3, 0, EV_STATE_DEAD);
		freed(f, ts + 30, 100 + i % 3);
	}
	assert_true(live_nr_processes(l) < 6);
	for (uint32_t i = 0; i < live_nr_processes(l); i++)
		nr += live_process_at(l, i, &p);
	assert_true(nr >= 1 && nr <= 3);
	live_free(l);
}

static void a_tgid_that_is_born_again_is_another_process(void **state)
{
	struct fixture *f = *state;
	struct live *l = watch(f, UINT64_MAX);
	struct live_process p;

	for (uint64_t ts = 100; ts <= 200; ts += 100) {
		forked(f, ts, 1, 7, ts == 100 ? "a" : "b");
		sw(f, ts + 10, 0, 0, 7, 0);
		sw(f, ts + 20, 0, 7, 0, EV_STATE_DEAD);
		freed(f, ts + 30, 7);
	}
	expect_eq(live_nr_processes(l), 2);
	assert_true(live_process_at(l, 1, &p));
	expect_eq(p.nr_switches, 1);
	assert_string_equal(live_string(l, p.comm_id), "b");
	live_free(l);
}

static void caches_and_nodes_sum_their_cpus(void **state)
{
	struct fixture *f = *state;
	struct live *l = watch(f, 1000);
	struct live_group g[4];

	for (uint32_t cpu = 0; cpu < 4; cpu++)
		sw(f, 100 + cpu, cpu, 0, 10 + cpu, 0);
	migrate(f, 200, 50, 2, 1);
	expect_eq(live_llcs(l, g, 4), 2);
	expect_eq(g[0].id, 0);
	expect_eq(g[0].nr_cpus, 2);
	expect_eq(g[0].sum.nr_switches, 2);
	expect_eq(g[1].sum.nr_migrations, 1);
	expect_eq(live_nodes(l, g, 4), 1);
	expect_eq(g[0].sum.nr_switches, 3); /* CPU 3 is nowhere */
	live_free(l);
}

static void the_invalid_queue_is_no_queue(void **state)
{
	struct fixture *f = *state;
	struct live *l = watch(f, 1000);

	live_dsq_enqueue(l, LIVE_INVALID_DSQ);
	live_dsq_dispatch(l, LIVE_INVALID_DSQ);
	expect_eq(live_nr_dsqs(l), 0);
	live_dsq_enqueue(l, 3);
	live_dsq_enqueue(l, 3);
	live_dsq_dispatch(l, 3);
	assert_false(live_dsq_at(l, 0)->has_depth);
	live_dsq_depth(l, 3, 17);
	expect_eq(live_nr_dsqs(l), 1);
	expect_eq(live_dsq_at(l, 0)->nr_enqueues, 2);
	expect_eq(live_dsq_at(l, 0)->nr_dispatches, 1);
	expect_eq(live_dsq_at(l, 0)->queue_depth, 17);
	live_free(l);
}

static void more_queues_than_fit_are_counted(void **state)
{
	struct fixture *f = *state;
	struct live_cfg cfg = { .pair = f->pair, .tasks = f->tasks, .max_dsqs = 2 };
	struct live_loss loss;
	struct live *l = NULL;

	expect_eq(live_new(&cfg, &l), 0);
	for (uint64_t i = 0; i < 5; i++)
		live_dsq_enqueue(l, i);
	live_loss(l, &loss);
	expect_eq(live_nr_dsqs(l), 2);
	expect_eq(loss.dsqs, 3);
	live_free(l);
	cfg.pair = NULL;
	expect_eq(live_new(&cfg, &l), -EINVAL);
}

static void leave(struct fixture *f, uint64_t ts, uint64_t dsq_id, bool is_moved)
{
	push(f,
	     &(struct ev_dsq_leave){ .hdr = { sizeof(struct ev_dsq_leave), EV_DSQ_LEAVE, 0, 0, ts },
	                             .start_ns = ts - 10,
	                             .dsq_id = dsq_id,
	                             .tid = 7,
	                             .is_moved = is_moved });
}

static void depth(struct fixture *f, uint64_t ts, uint64_t dsq_id, uint64_t nr)
{
	push(f,
	     &(struct ev_dsq_depth){ .hdr = { sizeof(struct ev_dsq_depth), EV_DSQ_DEPTH, 0, 0, ts },
	                             .dsq_id = dsq_id,
	                             .depth = nr });
}

static void queues_count_who_left_them(void **state)
{
	struct fixture *f = *state;
	struct live *l = watch(f, 1000);

	leave(f, 100, 5, true);
	leave(f, 110, 6, false);
	leave(f, 120, 5, false);
	leave(f, 130, LIVE_INVALID_DSQ, false);
	depth(f, 140, 5, 9);
	depth(f, 150, 5, 3);
	depth(f, 150, LIVE_INVALID_DSQ, 3);
	expect_eq(live_nr_dsqs(l), 2);
	expect_eq(live_dsq_at(l, 0)->dsq_id, 5);
	expect_eq(live_dsq_at(l, 0)->nr_enqueues, 2);
	expect_eq(live_dsq_at(l, 0)->nr_dispatches, 1);
	assert_true(live_dsq_at(l, 0)->has_depth);
	expect_eq(live_dsq_at(l, 0)->queue_depth, 3);
	expect_eq(live_dsq_at(l, 1)->dsq_id, 6);
	expect_eq(live_dsq_at(l, 1)->nr_enqueues, 1);
	expect_eq(live_dsq_at(l, 1)->nr_dispatches, 1);
	assert_false(live_dsq_at(l, 1)->has_depth);
	live_free(l);
}

static void after_a_reset_only_what_follows_counts(void **state)
{
	struct fixture *f = *state;
	struct live *l = watch(f, 1000);

	forked(f, 50, 1, 7, "a");
	sw(f, 100, 0, 0, 7, 0);
	live_dsq_enqueue(l, 3);
	live_reset(l, 400);
	expect_eq(live_nr_cpus(l), 0);
	expect_eq(live_nr_dsqs(l), 0);
	sw(f, 500, 0, 7, 0, EV_STATE_S);
	expect_eq(thread(f, l, 7).runtime_ns, 100);
	expect_eq(thread(f, l, 7).nr_switches, 0);
	expect_eq(live_since_ns(l), 400);
	live_free(l);
}

#define T(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_wakeup_counts_once_though_waking_and_wakeup_tell_of_it),
		T(latency_is_from_the_waking_and_has_no_minimum_without_samples),
		T(a_latency_of_zero_is_a_minimum_too),
		T(runtime_is_real_and_grows_while_the_task_runs),
		T(lost_switches_take_the_open_slice_back),
		T(idle_is_no_thread),
		T(exec_and_exit_drop_pending_wakeups),
		T(dead_threads_are_forgotten_and_their_tid_starts_anew),
		T(a_process_is_the_sum_of_its_threads_dead_ones_included),
		T(a_process_learnt_late_has_what_its_thread_did_before),
		T(processes_that_come_and_go_do_not_pile_up),
		T(a_tgid_that_is_born_again_is_another_process),
		T(caches_and_nodes_sum_their_cpus),
		T(the_invalid_queue_is_no_queue),
		T(more_queues_than_fit_are_counted),
		T(queues_count_who_left_them),
		T(after_a_reset_only_what_follows_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
