#include "../unit.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/live_report.h"
#include "base/arena.h"
#include "base/json_write.h"
#include "render/live_json.h"

struct fixture {
	struct tasks *tasks;
	struct pair *pair;
	struct live *live;
	struct arena *mem;
};

static void push(struct fixture *f, const void *rec)
{
	struct ev_sink sink = pair_sink(f->pair);

	expect_eq(sink.push(sink.ctx, rec), 0);
}

/* Thread 7 of process 6 is woken and runs for 40 ns; 8 has only been seen. */
static int setup(void **state)
{
	static const struct live_place places[] = { { 4, 2 } };
	struct fixture *f = calloc(1, sizeof(*f));
	struct pair_out out;

	assert_non_null(f);
	f->mem = arena_new(1 << 20);
	assert_non_null(f->mem);
	expect_eq(tasks_new(&(struct tasks_cfg){ .keep_dead_ns = 1000 }, &f->tasks), 0);
	expect_eq(pair_new(&(struct pair_cfg){ .tasks = f->tasks }, &f->pair), 0);
	expect_eq(live_new(&(struct live_cfg){ .pair = f->pair,
	                                       .tasks = f->tasks,
	                                       .places = places,
	                                       .nr_places = 1,
	                                       .keep_dead_ns = 1000 },
	                   &f->live),
	          0);
	out = live_out(f->live);
	expect_eq(pair_add_out(f->pair, &out), 0);
	push(f,
	     &(struct ev_task_info){ .hdr = { sizeof(struct ev_task_info), EV_TASK_INFO, 0, 0, 10 },
	                             .tid = 7,
	                             .tgid = 6,
	                             .comm = "a\"b" });
	push(f,
	     &(struct ev_wake){ .hdr = { sizeof(struct ev_wake), EV_WAKING, 0, 0, 20 }, .tid = 7 });
	push(f, &(struct ev_switch){ .hdr = { sizeof(struct ev_switch), EV_SWITCH, 0, 0, 50 },
	                             .next_tid = 7 });
	push(f, &(struct ev_switch){ .hdr = { sizeof(struct ev_switch), EV_SWITCH, 0, 0, 90 },
	                             .prev_tid = 7,
	                             .next_tid = 8,
	                             .prev_state = EV_STATE_S });
	live_dsq_enqueue(f->live, 0x12);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	live_free(f->live);
	pair_free(f->pair);
	tasks_free(f->tasks);
	arena_free(f->mem);
	free(f);
	return 0;
}

static json_t *print(struct fixture *f, enum live_kind kind, size_t limit)
{
	struct live_report r;
	struct json_writer w;
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	json_t *doc;

	assert_non_null(out);
	expect_eq(live_report_make(f->live, kind, limit, f->mem, &r), 0);
	jw_init(&w, out, false);
	live_json_put(&w, NULL, &r);
	expect_eq(jw_finish(&w), 0);
	fclose(out);
	doc = json_loads(text, 0, NULL);
	free(text);
	assert_non_null(doc);
	return doc;
}

/* All keys of an object, in order, with blanks between. */
static void expect_keys(const json_t *object, const char *want)
{
	char keys[512] = "";
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)object, key, value)
	{
		if (*keys)
			strcat(keys, " ");
		strcat(keys, key);
	}
	assert_string_equal(keys, want);
}

static json_int_t number(const json_t *object, const char *key)
{
	assert_true(json_is_integer(json_object_get(object, key)));
	return json_integer_value(json_object_get(object, key));
}

#define LATENCY "avg_ns min_ns max_ns total_ns samples"

static void threads_have_the_keys_that_clients_know(void **state)
{
	json_t *doc = print(*state, LIVE_THREADS, 0);
	json_t *row = json_array_get(json_object_get(doc, "processes"), 0);

	expect_keys(doc, "processes total_processes shown observed");
	expect_keys(row, "tid pid comm nr_switches nr_wakeups runtime_ns latency");
	expect_keys(json_object_get(row, "latency"), LATENCY);
	expect_eq(number(row, "tid"), 7);
	expect_eq(number(row, "pid"), 6);
	assert_string_equal(json_string_value(json_object_get(row, "comm")), "a\"b");
	expect_eq(number(row, "runtime_ns"), 40);
	expect_eq(number(json_object_get(row, "latency"), "avg_ns"), 30);
	expect_eq(number(doc, "total_processes"), 2);
	json_decref(doc);
}

static void what_is_unknown_is_null(void **state)
{
	json_t *doc = print(*state, LIVE_THREADS, 0);
	json_t *row = json_array_get(json_object_get(doc, "processes"), 1);
	json_t *latency = json_object_get(row, "latency");

	expect_eq(number(row, "tid"), 8);
	assert_true(json_is_null(json_object_get(row, "pid")));
	assert_true(json_is_null(json_object_get(row, "comm")));
	assert_true(json_is_null(json_object_get(latency, "min_ns")));
	assert_true(json_is_null(json_object_get(latency, "max_ns")));
	assert_true(json_is_null(json_object_get(latency, "avg_ns")));
	expect_eq(number(latency, "samples"), 0);
	json_decref(doc);
}

static void lists_are_cut_and_say_so(void **state)
{
	json_t *doc = print(*state, LIVE_THREADS, 1);

	expect_eq(json_array_size(json_object_get(doc, "processes")), 1);
	expect_eq(number(doc, "shown"), 1);
	expect_eq(number(doc, "total_processes"), 2);
	json_decref(doc);
}

static void processes_have_the_keys_that_clients_know(void **state)
{
	json_t *doc = print(*state, LIVE_PROCESSES, 0);
	json_t *row = json_array_get(json_object_get(doc, "processes"), 0);

	expect_keys(doc, "processes total_processes shown observed");
	expect_keys(row, "pid comm nr_switches nr_wakeups latency");
	expect_eq(number(row, "pid"), 6);
	expect_eq(number(doc, "total_processes"), 1);
	json_decref(doc);
}

static void cpus_caches_and_nodes_have_the_keys_that_clients_know(void **state)
{
	json_t *doc = print(*state, LIVE_CPUS, 0);
	json_t *row = json_array_get(json_object_get(doc, "cpus"), 0);

	expect_keys(doc, "cpus total_cpus observed");
	expect_keys(row, "cpu_id nr_switches nr_wakeups nr_migrations latency");
	expect_eq(number(row, "nr_switches"), 2);
	expect_eq(number(row, "nr_wakeups"), 1);
	json_decref(doc);

	doc = print(*state, LIVE_LLCS, 0);
	row = json_array_get(json_object_get(doc, "llcs"), 0);
	expect_keys(doc, "llcs total_llcs observed");
	expect_keys(row, "llc_id nr_cpus nr_switches nr_wakeups nr_migrations latency");
	expect_eq(number(row, "llc_id"), 4);
	json_decref(doc);

	doc = print(*state, LIVE_NODES, 0);
	row = json_array_get(json_object_get(doc, "nodes"), 0);
	expect_keys(doc, "nodes total_nodes observed");
	expect_keys(row, "node_id nr_cpus nr_switches nr_wakeups nr_migrations latency");
	expect_eq(number(row, "node_id"), 2);
	json_decref(doc);
}

static void queues_have_the_keys_that_clients_know(void **state)
{
	json_t *doc = print(*state, LIVE_DSQS, 0);
	json_t *row = json_array_get(json_object_get(doc, "dsqs"), 0);

	expect_keys(doc, "dsqs total_dsqs observed");
	expect_keys(row, "dsq_id nr_enqueues nr_dispatches queue_depth");
	expect_eq(number(row, "dsq_id"), 0x12);
	assert_true(json_is_null(json_object_get(row, "queue_depth")));
	json_decref(doc);
}

static void each_answer_says_what_it_was_made_from(void **state)
{
	struct fixture *f = *state;
	json_t *doc, *observed;

	push(f,
	     &(struct ev_sampling){ .hdr = { sizeof(struct ev_sampling), EV_SAMPLING, 0, 0, 100 },
	                            .one_in = 16 });
	doc = print(f, LIVE_CPUS, 0);
	observed = json_object_get(doc, "observed");
	expect_eq(number(observed, "sampled_one_in"), 16);
	expect_eq(number(observed, "duration_ns"), 80);
	expect_eq(number(observed, "lost_records"), 0);
	assert_string_equal(json_string_value(json_object_get(observed, "latency_from")), "waking");
	json_decref(doc);
}

static void a_full_arena_is_an_error(void **state)
{
	struct fixture *f = *state;
	struct arena *small = arena_new(64);
	struct live_report r;

	expect_eq(live_report_make(f->live, LIVE_THREADS, 0, small, &r), -ENOMEM);
	arena_free(small);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(threads_have_the_keys_that_clients_know),
		T(what_is_unknown_is_null),
		T(lists_are_cut_and_say_so),
		T(processes_have_the_keys_that_clients_know),
		T(cpus_caches_and_nodes_have_the_keys_that_clients_know),
		T(queues_have_the_keys_that_clients_know),
		T(each_answer_says_what_it_was_made_from),
		T(a_full_arena_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
