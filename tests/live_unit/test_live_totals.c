/* Totals of the live window (stats://aggregated), with the keys that scxtop's clients know, and against records counted by hand. */
#include "analyzers_fixture.h"

#include <stdlib.h>
#include <string.h>

static void wakeup(struct fixture *f, uint64_t ts, uint32_t cpu, uint32_t tid)
{
	push(f, &(struct ev_wake){ HDR(EV_WAKEUP, ev_wake, cpu, ts), .tid = tid, .target_cpu = cpu,
	                           .prio = 120 });
}

/* 5 runs on CPU 0 from 100 us, wakes 7 at 200 us, which runs on CPU 2 from 220 us until it sleeps at 300 us. */
static void story(struct fixture *f)
{
	named(f, 5, 5, "main");
	named(f, 7, 5, "worker");
	pass_time(f, 50 * US);
	live_model_count(&f->m, 50 * US);
	sw(f, 100 * US, 0, 0, 5, 0);
	sw(f, 110 * US, 2, 7, 0, EV_STATE_S);
	waking(f, 200 * US, 0, 7, 5);
	wakeup(f, 210 * US, 2, 7);
	sw(f, 220 * US, 2, 0, 7, 0);
	sw(f, 300 * US, 2, 7, 0, EV_STATE_S);
	migrate(f, 310 * US, 7, 2, 3);
	pass_time(f, 400 * US);
}

static json_t *row_of(json_t *rows, const char *key, json_int_t value)
{
	json_t *row;
	size_t i;

	json_array_foreach(rows, i, row) if (json_integer_value(json_object_get(row, key)) ==
	                                     value) return row;
	return NULL;
}

static void a_wakeup_counts_once_though_waking_and_wakeup_are_recorded(void **state)
{
	json_t *j, *row;

	story(*state);
	j = totals(*state, "thread");
	row = row_of(at(j, "processes"), "tid", 7);
	has_keys(row, "", "tid pid comm nr_switches nr_wakeups runtime_ns latency");
	has_keys(row, "latency", "avg_ns min_ns max_ns total_ns samples");
	is(row, "nr_wakeups", 1);
	is(row, "nr_switches", 1);
	is(row, "pid", 5);
	is_text(row, "comm", "worker");
	is(row, "latency.samples", 1);
	is(row, "latency.max_ns", 20 * US); /* from the waking */
	is(row, "runtime_ns", 80 * US);
	json_decref(j);
}

static void runtime_is_real_and_grows_while_the_task_runs(void **state)
{
	json_t *j;

	story(*state);
	j = totals(*state, "thread");
	is(row_of(at(j, "processes"), "tid", 5), "runtime_ns", 300 * US);
	json_decref(j);
	pass_time(*state, 500 * US);
	j = totals(*state, "thread");
	is(row_of(at(j, "processes"), "tid", 5), "runtime_ns", 400 * US);
	is_null(row_of(at(j, "processes"), "tid", 5), "latency.avg_ns");
	assert_null(row_of(at(j, "processes"), "tid", 0)); /* idle is no thread */
	is(j, "total_processes", 2);
	is(j, "shown", 2);
	json_decref(j);
}

static void processes_are_the_sums_of_their_threads(void **state)
{
	json_t *j, *row;

	story(*state);
	j = totals(*state, "process");
	is(j, "total_processes", 1);
	row = row_of(at(j, "processes"), "pid", 5);
	is_text(row, "comm", "main");
	is(row, "nr_switches", 2);
	is(row, "nr_wakeups", 1);
	is(row, "latency.samples", 1);
	json_decref(j);
}

static void cpus_add_up_to_caches_and_nodes(void **state)
{
	json_t *j;

	story(*state);
	j = totals(*state, "cpu");
	has_keys(j, "cpus.0", "cpu_id nr_switches nr_wakeups nr_migrations latency");
	is(row_of(at(j, "cpus"), "cpu_id", 0), "nr_switches", 1);
	is(row_of(at(j, "cpus"), "cpu_id", 0), "nr_wakeups", 1); /* where it was begun */
	is(row_of(at(j, "cpus"), "cpu_id", 2), "nr_switches", 3);
	is(row_of(at(j, "cpus"), "cpu_id", 2), "nr_migrations", 1);
	is(row_of(at(j, "cpus"), "cpu_id", 2), "latency.samples", 1);
	is(j, "total_cpus", 2);
	json_decref(j);
	j = totals(*state, "llc");
	has_keys(j, "llcs.1", "llc_id nr_cpus nr_switches nr_wakeups nr_migrations latency");
	is(j, "llcs.1.nr_switches", 3);
	is(j, "llcs.1.nr_cpus", 1);
	json_decref(j);
	j = totals(*state, "node");
	is(j, "total_nodes", 1);
	is(j, "nodes.0.nr_switches", 4);
	is(j, "nodes.0.nr_cpus", 2);
	json_decref(j);
}

static void after_a_reset_only_what_follows_counts(void **state)
{
	struct fixture *f = *state;
	json_t *j;

	story(f);
	live_model_count(&f->m, 350 * US);
	sw(f, 450 * US, 2, 0, 7, 0);
	pass_time(f, 500 * US);
	j = totals(f, "thread");
	is(row_of(at(j, "processes"), "tid", 7), "nr_switches", 1);
	is(row_of(at(j, "processes"), "tid", 7), "nr_wakeups", 0);
	is(row_of(at(j, "processes"), "tid", 5), "nr_switches", 0);
	is(row_of(at(j, "processes"), "tid", 5), "runtime_ns", 150 * US); /* of the open slice */
	json_decref(j);
}

static void the_invalid_queue_is_no_queue(void **state)
{
	struct fixture *f = *state;
	json_t *j;

	pass_time(f, 1);
	live_model_count(&f->m, 1);
	push(f, &(struct ev_dsq_leave){ HDR(EV_DSQ_LEAVE, ev_dsq_leave, 0, 60), .start_ns = 20,
	                                .dsq_id = 3, .tid = 7 });
	push(f, &(struct ev_dsq_leave){ HDR(EV_DSQ_LEAVE, ev_dsq_leave, 0, 61),
	                                .dsq_id = EV_DSQ_INVALID });
	push(f, &(struct ev_dsq_depth){ HDR(EV_DSQ_DEPTH, ev_dsq_depth, 0, 70), .dsq_id = 3,
	                                .depth = 6 });
	j = totals(f, "dsq");
	has_keys(j, "dsqs.0", "dsq_id nr_enqueues nr_dispatches queue_depth");
	is(j, "total_dsqs", 1);
	is(j, "dsqs.0.nr_enqueues", 1);
	is(j, "dsqs.0.queue_depth", 6);
	json_decref(j);
}

/* Four CPUs, five tasks, any switches: who comes on where is counted beside the model. */
static void totals_and_analyzers_count_what_the_world_counts(void **state)
{
	uint64_t of_cpu[4] = { 0 }, of_task[6] = { 0 }, moves[6] = { 0 }, wakings = 0;
	uint32_t on[4] = { 0 }, cpu_of[6] = { 0 };
	struct fixture *f = *state;
	unsigned int seed = 4711;
	uint64_t ts = 1000;
	json_t *j;

	pass_time(f, ts);
	live_model_count(&f->m, ts);
	start(f, ts);
	for (int i = 0; i < 20000; i++) {
		uint32_t cpu = (uint32_t)rand_r(&seed) % 4, next = (uint32_t)rand_r(&seed) % 6;

		ts += 1 + (uint32_t)rand_r(&seed) % 50;
		if (next && next != on[0] && next != on[1] && next != on[2] && next != on[3]) {
			if (cpu_of[next] != cpu) {
				migrate(f, ts, 100 + next, cpu_of[next], cpu);
				moves[next]++;
				cpu_of[next] = cpu;
			}
			waking(f, ts, cpu, 100 + next, on[cpu] ? 100 + on[cpu] : 0);
			wakings++;
		} else if (next) {
			continue;
		}
		if (next == on[cpu])
			continue;
		ts += 10;
		sw(f, ts, cpu, on[cpu] ? 100 + on[cpu] : 0, next ? 100 + next : 0, EV_STATE_S);
		on[cpu] = next;
		of_cpu[cpu]++;
		of_task[next]++;
	}
	pass_time(f, ts + 1000);
	j = totals(f, "cpu");
	for (uint32_t i = 0; i < 4; i++)
		is(row_of(at(j, "cpus"), "cpu_id", i), "nr_switches", (double)of_cpu[i]);
	json_decref(j);
	j = totals(f, "thread");
	for (uint32_t i = 1; i < 6; i++)
		is(row_of(at(j, "processes"), "tid", 100 + i), "nr_switches", (double)of_task[i]);
	json_decref(j);
	j = report(f, ANALYZER_MIGRATION, (struct analyzer_args){ 0 });
	for (uint32_t i = 1; i < 6; i++)
		is(row_of(at(j, "process_patterns"), "pid", 100 + i), "migration_count",
		   (double)moves[i]);
	json_decref(j);
	j = report(f, ANALYZER_LATENCY_TRACKER, (struct analyzer_args){ 0 });
	is(j, "latencies.0.stats.count", (double)wakings); /* each ran 10 ns later */
	is(j, "latencies.0.stats.max_us", 0.01);
	json_decref(j);
	j = report(f, ANALYZER_WAKER_WAKEE, (struct analyzer_args){ .mode = "summary" });
	is(j, "summary.total_wakeups", (double)wakings);
	json_decref(j);
}

#define T(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_wakeup_counts_once_though_waking_and_wakeup_are_recorded),
		T(runtime_is_real_and_grows_while_the_task_runs),
		T(processes_are_the_sums_of_their_threads),
		T(cpus_add_up_to_caches_and_nodes),
		T(after_a_reset_only_what_follows_counts),
		T(the_invalid_queue_is_no_queue),
		T(totals_and_analyzers_count_what_the_world_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
