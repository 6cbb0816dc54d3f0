#include "../unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/timeline.h"

#define ROWS ((uint64_t)TIMELINE_CHUNK_ROWS)

struct fixture {
	struct timeline *t;
	struct pair_out out;
};

static struct fixture make(size_t cap_bytes, uint64_t window_ns)
{
	struct fixture f;

	expect_eq(timeline_new(&(struct timeline_cfg){ .cap_bytes = cap_bytes,
	                                               .window_ns = window_ns },
	                       &f.t),
	          0);
	f.out = timeline_out(f.t);
	return f;
}

static void slice(struct fixture *f, uint64_t start, uint64_t end, uint32_t task, uint16_t cpu)
{
	f->out.slice(f->out.ctx, &(struct pair_slice){ start, end, task, cpu, 120, EV_STATE_S,
	                                               PAIR_END_SLEEP, 0 });
}

static uint64_t count(struct timeline *t, struct timeline_query q)
{
	struct timeline_iter it;
	uint64_t nr = 0;

	expect_eq(timeline_find(t, &q, &it), 0);
	while (timeline_next(&it, NULL, NULL))
		nr++;
	return nr;
}

static void a_row_comes_back_as_it_went_in(void **state)
{
	struct fixture f = make(0, 0);
	struct pair_wait in = { 1, 2, 3, 4, 5, 6, 99, 7, 8, PAIR_NEW, 1, 1 };
	struct pair_wakeup edge = { 10, 11, 12, 13, 14, 98, 1, 0, 2 };
	union timeline_row row;

	(void)state;
	f.out.wait(f.out.ctx, &in);
	f.out.wakeup(f.out.ctx, &edge);
	assert_true(timeline_row(f.t, TIMELINE_WAIT, 0, &row));
	expect_eq(row.wait.waking_ns, 1);
	expect_eq(row.wait.wakeup_ns, 2);
	expect_eq(row.wait.end_ns, 3);
	expect_eq(row.wait.task, 4);
	expect_eq(row.wait.waker, 5);
	expect_eq(row.wait.waker_cpu, 6);
	expect_eq(row.wait.by, 99);
	expect_eq(row.wait.from_cpu, 7);
	expect_eq(row.wait.cpu, 8);
	expect_eq(row.wait.cause, PAIR_NEW);
	expect_eq(row.wait.is_open, 1);
	assert_true(timeline_row(f.t, TIMELINE_WAKEUP, 0, &row));
	expect_eq(row.wakeup.target_cpu, 14);
	expect_eq(row.wakeup.by, 98);
	expect_eq(row.wakeup.flags, 2);
	assert_false(timeline_row(f.t, TIMELINE_WAIT, 1, &row));
	timeline_free(f.t);
}

static void an_empty_timeline_answers_with_nothing(void **state)
{
	struct fixture f = make(0, 0);

	(void)state;
	for (int i = 0; i < TIMELINE_TABLES; i++) {
		enum timeline_table table = (enum timeline_table)i;

		expect_eq(timeline_first(f.t, table), timeline_end(f.t, table));
		expect_eq(count(f.t, (struct timeline_query){ table, TASKS_NONE, TIMELINE_ANY_CPU,
		                                              0, UINT64_MAX }),
		          0);
		expect_eq(count(f.t, (struct timeline_query){ table, 3, TIMELINE_ANY_CPU, 0,
		                                              UINT64_MAX }),
		          0);
		expect_eq(count(f.t,
		                (struct timeline_query){ table, TASKS_NONE, 2, 0, UINT64_MAX }),
		          0);
	}
	timeline_free(f.t);
}

static void columns_are_read_without_copies(void **state)
{
	struct fixture f = make(0, 0);
	const uint32_t *tasks;
	uint32_t nr;

	(void)state;
	for (uint32_t i = 0; i < ROWS + 10; i++)
		slice(&f, i, i + 1, 7 * i, 0);
	tasks = timeline_column(f.t, TIMELINE_SLICE, offsetof(struct pair_slice, task), 4000, &nr);
	assert_non_null(tasks);
	expect_eq(nr, ROWS - 4000);
	expect_eq(tasks[5], 7 * 4005);
	tasks = timeline_column(f.t, TIMELINE_SLICE, offsetof(struct pair_slice, task), ROWS, &nr);
	assert_non_null(tasks);
	expect_eq(nr, 10);
	expect_eq(tasks[9], 7 * (ROWS + 9));
	assert_null(timeline_column(f.t, TIMELINE_SLICE, 1, 0, &nr));
	assert_null(timeline_column(f.t, TIMELINE_SLICE, offsetof(struct pair_slice, task),
	                            ROWS + 10, &nr));
	assert_null(
		timeline_column(f.t, TIMELINE_SLICE, offsetof(struct pair_slice, end_ns), 0, &nr));
	timeline_free(f.t);
}

static void times_are_copied_across_chunks(void **state)
{
	struct fixture f = make(0, 0);
	size_t ends = offsetof(struct pair_slice, end_ns);
	uint64_t got[30];

	(void)state;
	for (uint64_t i = 0; i < ROWS + 10; i++)
		slice(&f, i, i * 2000000000, 0, 0); /* most are far from the first of their chunk */
	expect_eq(timeline_times(f.t, TIMELINE_SLICE, ends, ROWS - 15, got, 30), 25);
	for (uint64_t i = 0; i < 25; i++)
		expect_eq(got[i], (ROWS - 15 + i) * 2000000000);
	expect_eq(timeline_times(f.t, TIMELINE_SLICE, ends, ROWS - 15, got, 3), 3);
	expect_eq(timeline_times(f.t, TIMELINE_SLICE, ends, ROWS + 10, got, 30), 0);
	expect_eq(timeline_times(f.t, TIMELINE_SLICE, offsetof(struct pair_slice, task), 0, got,
	                         30),
	          0);
	timeline_free(f.t);
}

static uint64_t any(void)
{
	return (uint64_t)rand() << 33 ^ (uint64_t)rand() << 11 ^ (uint64_t)rand();
}

/* Unknown, near the others, or anywhere. */
static uint64_t any_time(void)
{
	const uint64_t near_ns = 5000000000 - (1U << 30);

	switch (rand() % 4) {
	case 0:
		return 0;
	case 1:
		return any();
	case 2: /* around the bounds of what is near */
		return (rand() % 2 ? near_ns : near_ns + 0x7fffffff) - 2 + (uint64_t)rand() % 5;
	default:
		return 5000000000ULL + (uint64_t)rand() % 1000000;
	}
}

#define ANY_ROWS    300
#define SAME(field) expect_eq(got.field, want[i].field)

static void every_field_of_a_span_comes_back(void **state)
{
	struct fixture f = make(0, 0);
	struct pair_span want[ANY_ROWS];
	union timeline_row row;

	(void)state;
	for (int i = 0; i < ANY_ROWS; i++) {
		want[i] = (struct pair_span){ i ? any_time() : 5000000000,
			                      i ? any_time() : 5000000000,
			                      any(),
			                      any(),
			                      (uint32_t)any(),
			                      (uint32_t)any(),
			                      (uint32_t)any(),
			                      (uint16_t)any(),
			                      (uint8_t)any(),
			                      (uint8_t)any() };
		f.out.span(f.out.ctx, &want[i]);
	}
	for (uint64_t i = 0; i < ANY_ROWS; i++) {
		struct pair_span got;

		assert_true(timeline_row(f.t, TIMELINE_SPAN, i, &row));
		got = row.span;
		SAME(start_ns);
		SAME(end_ns);
		SAME(id);
		SAME(value);
		SAME(task);
		SAME(name_id);
		SAME(category_id);
		SAME(cpu);
		SAME(kind);
		SAME(flags);
	}
	timeline_free(f.t);
}

static void every_field_of_a_queue_comes_back(void **state)
{
	struct fixture f = make(0, 0);
	struct pair_dsq want[ANY_ROWS];
	union timeline_row row;

	(void)state;
	for (int i = 0; i < ANY_ROWS; i++) {
		want[i] = (struct pair_dsq){ any_time(),      any_time(),      any(),
			                     any(),           (uint32_t)any(), (uint32_t)any(),
			                     (uint16_t)any(), (uint8_t)any(),  (uint8_t)any(),
			                     (uint8_t)any(),  (uint8_t)any() };
		f.out.dsq(f.out.ctx, &want[i]);
	}
	for (uint64_t i = 0; i < ANY_ROWS; i++) {
		struct pair_dsq got;

		assert_true(timeline_row(f.t, TIMELINE_DSQ, i, &row));
		got = row.dsq;
		SAME(start_ns);
		SAME(end_ns);
		SAME(dsq_id);
		SAME(vtime);
		SAME(task);
		SAME(layer);
		SAME(cpu);
		SAME(how);
		SAME(flags);
		SAME(is_moved);
		SAME(has_start);
	}
	timeline_free(f.t);
}

static void every_field_of_a_run_and_its_counters_comes_back(void **state)
{
	struct fixture f = make(0, 0);
	struct pair_run run = { 1, 2, 3, 4, 5, 6, 7, 8 };
	struct pair_pmu pmu = { 11, 12, 13, 14, 15 };
	struct pair_mark mark = { 21, 22, 23, 24, 25, 26, 27 };
	struct pair_counter counter = { 31, 32, 1ULL << 63 | 33, 34, 35, PAIR_DSQ_DEPTH };
	union timeline_row row;

	(void)state;
	f.out.run(f.out.ctx, &run);
	f.out.pmu(f.out.ctx, &pmu);
	f.out.mark(f.out.ctx, &mark);
	f.out.counter(f.out.ctx, &counter);
	assert_true(timeline_row(f.t, TIMELINE_RUN, 0, &row));
	expect_eq(row.run.ts_ns, 1);
	expect_eq(row.run.dsq_id, 2);
	expect_eq(row.run.slice_ns, 3);
	expect_eq(row.run.vtime, 4);
	expect_eq(row.run.task, 5);
	expect_eq(row.run.layer, 6);
	expect_eq(row.run.cpu, 7);
	expect_eq(row.run.flags, 8);
	assert_true(timeline_row(f.t, TIMELINE_PMU, 0, &row));
	expect_eq(row.pmu.ts_ns, 11);
	expect_eq(row.pmu.value, 12);
	expect_eq(row.pmu.task, 13);
	expect_eq(row.pmu.cpu, 14);
	expect_eq(row.pmu.index, 15);
	assert_true(timeline_row(f.t, TIMELINE_MARK, 0, &row));
	expect_eq(row.mark.name_id, 24);
	expect_eq(row.mark.kind, 26);
	expect_eq(row.mark.flags, 27);
	assert_true(timeline_row(f.t, TIMELINE_COUNTER, 0, &row));
	expect_eq(row.counter.value, 32);
	expect_eq(row.counter.id, 1ULL << 63 | 33);
	expect_eq(row.counter.tgid, 34);
	expect_eq(row.counter.kind, PAIR_DSQ_DEPTH);
	timeline_free(f.t);
}

static bool overlaps(const struct pair_slice *s, const struct timeline_query *q)
{
	if (q->task != TASKS_NONE && s->task != q->task)
		return false;
	if (q->cpu != TIMELINE_ANY_CPU && s->cpu != q->cpu)
		return false;
	return s->start_ns < q->to_ns &&
	       (s->end_ns > q->from_ns || (s->end_ns == s->start_ns && s->end_ns == q->from_ns));
}

static void questions_are_answered_like_a_walk_over_everything(void **state)
{
	enum { NR = 3 * TIMELINE_CHUNK_ROWS / 2 };
	struct pair_slice *all = malloc(NR * sizeof(*all));
	struct fixture f = make(0, 0);
	uint64_t now = 100000;

	(void)state;
	assert_non_null(all);
	srand(5);
	for (int i = 0; i < NR; i++) {
		uint64_t len = (uint64_t)rand() % (rand() % 50 ? 300 : 5000);

		now += (uint64_t)rand() % 10;
		all[i] = (struct pair_slice){
			now - len, now, (uint32_t)rand() % 20, (uint16_t)(rand() % 4), 120, 0, 0, 0
		};
		f.out.slice(f.out.ctx, &all[i]);
	}
	for (int round = 0; round < 300; round++) {
		uint64_t from = 95000 + (uint64_t)rand() % 40000;
		struct timeline_query q = { TIMELINE_SLICE, TASKS_NONE, TIMELINE_ANY_CPU, from,
			                    from + (uint64_t)rand() % 3000 };
		uint64_t want = 0;

		if (round % 3 == 1)
			q.task = (uint32_t)rand() % 22;
		if (round % 3 == 2 || round % 7 == 0)
			q.cpu = (uint32_t)rand() % 5;
		for (int i = 0; i < NR; i++)
			want += overlaps(&all[i], &q);
		expect_eq(count(f.t, q), want);
	}
	free(all);
	timeline_free(f.t);
}

static void rows_that_come_late_are_found_in_order(void **state)
{
	struct fixture f = make(0, 0);
	struct timeline_query q = { TIMELINE_SLEEP, TASKS_NONE, 0, 0, UINT64_MAX };
	struct timeline_iter it;
	union timeline_row row;
	uint64_t id;

	(void)state;
	f.out.sleep(f.out.ctx, &(struct pair_sleep){
				       .start_ns = 10, .end_ns = 50, .task = 1, .state_bits = 1 });
	f.out.sleep(f.out.ctx, &(struct pair_sleep){
				       .start_ns = 5, .end_ns = 30, .task = 2, .state_bits = 1 });
	expect_eq(timeline_find(f.t, &q, &it), 0);
	assert_true(timeline_next(&it, &id, &row));
	expect_eq(id, 1);
	expect_eq(row.sleep.end_ns, 30);
	assert_true(timeline_next(&it, &id, NULL));
	expect_eq(id, 0);
	assert_false(timeline_next(&it, &id, NULL));
	timeline_free(f.t);
}

static void a_frozen_timeline_builds_no_index(void **state)
{
	struct fixture f = make(0, 0);
	struct timeline_query q = { TIMELINE_SLEEP, 1, TIMELINE_ANY_CPU, 0, UINT64_MAX };
	struct timeline_query all = { TIMELINE_SLEEP, TASKS_NONE, TIMELINE_ANY_CPU, 0, UINT64_MAX };
	struct timeline_iter it;

	(void)state;
	f.out.sleep(f.out.ctx, &(struct pair_sleep){
				       .start_ns = 10, .end_ns = 50, .task = 1, .state_bits = 1 });
	timeline_freeze(f.t, true);
	expect_eq(timeline_find(f.t, &q, &it), -ENOTSUP);
	expect_eq(timeline_find(f.t, &all, &it), 0);
	timeline_freeze(f.t, false);
	expect_eq(timeline_index(f.t, TIMELINE_SLEEP, true), 0);
	timeline_freeze(f.t, true);
	expect_eq(timeline_find(f.t, &q, &it), 0);
	assert_true(timeline_next(&it, NULL, NULL));
	timeline_free(f.t);
}

/* A million that were woken in order and run in the opposite one: sorted in no time, or never. */
static void rows_in_the_opposite_order_are_sorted(void **state)
{
	struct fixture f = make(0, 0);
	struct timeline_query q = { TIMELINE_SLEEP, TASKS_NONE, 0, 0, UINT64_MAX };
	const uint32_t nr = 1000000;
	struct timeline_iter it;
	union timeline_row row;
	uint64_t id, last_ns = 0, count = 0;

	(void)state;
	for (uint32_t i = 0; i < nr; i++) {
		struct pair_sleep sleep = { .start_ns = 1, .end_ns = 10 + (nr - i) / 2, .task = 1 };

		f.out.sleep(f.out.ctx, &sleep);
	}
	expect_eq(timeline_find(f.t, &q, &it), 0);
	for (uint64_t last_id = 0; timeline_next(&it, &id, &row); count++) {
		assert_true(row.sleep.end_ns >= last_ns);
		assert_true(row.sleep.end_ns > last_ns || id > last_id); /* of equal ends by id */
		last_ns = row.sleep.end_ns;
		last_id = id;
	}
	expect_eq(count, nr);
	timeline_free(f.t);
}

static void a_full_timeline_drops_and_counts(void **state)
{
	struct fixture f = make(300000, 0);
	struct timeline_loss loss;

	(void)state;
	for (uint64_t i = 0; i < 5 * ROWS; i++)
		slice(&f, i, i + 1, 0, 0);
	timeline_loss(f.t, &loss);
	assert_true(loss.dropped > 0);
	expect_eq(loss.cut, 0);
	expect_eq(timeline_end(f.t, TIMELINE_SLICE) + loss.dropped, 5 * ROWS);
	assert_true(timeline_bytes(f.t) <= 300000);
	timeline_free(f.t);
}

/* Each row has a start that lies far back: its memory is given back with the chunk, or serves the next. */
static void a_window_forgets_far_times_too(void **state)
{
	struct fixture f = make(0, 10000);
	size_t bytes = 0;

	(void)state;
	for (uint64_t i = 0; i < 50 * ROWS; i++) {
		slice(&f, 5 + i, 20000000000 + i, 0, 0);
		if (i == 10 * ROWS)
			bytes = timeline_bytes(f.t);
	}
	assert_true(bytes > 0);
	expect_eq(timeline_bytes(f.t), bytes);
	timeline_free(f.t);
}

static void a_window_forgets_what_is_older(void **state)
{
	struct fixture f = make(0, 10000);
	struct timeline_loss loss;
	size_t bytes = 0;

	(void)state;
	for (uint64_t i = 0; i < 50 * ROWS; i++) {
		slice(&f, i, i + 1, 0, 0);
		if (i == 10 * ROWS)
			bytes = timeline_bytes(f.t);
	}
	timeline_loss(f.t, &loss);
	expect_eq(loss.cut + loss.dropped, 0);
	expect_eq(timeline_bytes(f.t), bytes);
	expect_eq(timeline_end(f.t, TIMELINE_SLICE), 50 * ROWS);
	assert_true(timeline_end(f.t, TIMELINE_SLICE) - timeline_first(f.t, TIMELINE_SLICE) >=
	            10000);
	assert_true(timeline_end(f.t, TIMELINE_SLICE) - timeline_first(f.t, TIMELINE_SLICE) <
	            10000 + 2 * ROWS);
	expect_eq(count(f.t, (struct timeline_query){ TIMELINE_SLICE, 0, TIMELINE_ANY_CPU,
	                                              50 * ROWS - 100, UINT64_MAX }),
	          100);
	timeline_free(f.t);
}

static void the_cap_shortens_the_window(void **state)
{
	struct fixture f = make(300000, UINT64_MAX / 2);
	struct timeline_loss loss;

	(void)state;
	for (uint64_t i = 0; i < 9 * ROWS; i++)
		slice(&f, i, i + 1, 0, 0);
	timeline_loss(f.t, &loss);
	expect_eq(loss.dropped, 0);
	assert_true(loss.cut > 0);
	expect_eq(timeline_end(f.t, TIMELINE_SLICE), 9 * ROWS);
	assert_true(timeline_bytes(f.t) <= 300000);
	timeline_free(f.t);
}

static void tables_that_are_not_wanted_stay_empty(void **state)
{
	struct timeline_cfg cfg = { .tables = 1U << TIMELINE_WAIT };
	struct fixture f;

	(void)state;
	expect_eq(timeline_new(&cfg, &f.t), 0);
	f.out = timeline_out(f.t);
	slice(&f, 1, 2, 0, 0);
	expect_eq(timeline_end(f.t, TIMELINE_SLICE), 0);
	expect_eq(timeline_bytes(f.t), 0);
	timeline_free(f.t);
	timeline_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_row_comes_back_as_it_went_in),
		cmocka_unit_test(an_empty_timeline_answers_with_nothing),
		cmocka_unit_test(columns_are_read_without_copies),
		cmocka_unit_test(times_are_copied_across_chunks),
		cmocka_unit_test(every_field_of_a_span_comes_back),
		cmocka_unit_test(every_field_of_a_queue_comes_back),
		cmocka_unit_test(every_field_of_a_run_and_its_counters_comes_back),
		cmocka_unit_test(questions_are_answered_like_a_walk_over_everything),
		cmocka_unit_test(rows_that_come_late_are_found_in_order),
		cmocka_unit_test(rows_in_the_opposite_order_are_sorted),
		cmocka_unit_test(a_full_timeline_drops_and_counts),
		cmocka_unit_test(a_window_forgets_what_is_older),
		cmocka_unit_test(a_frozen_timeline_builds_no_index),
		cmocka_unit_test(a_window_forgets_far_times_too),
		cmocka_unit_test(the_cap_shortens_the_window),
		cmocka_unit_test(tables_that_are_not_wanted_stay_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
