/* The rolling window of a timeline: what it forgets, what the cap cuts, and snapshots that nothing changes. */
#include "../unit.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/cleanup.h"
#include "model/timeline.h"

#define ROWS   ((uint64_t)TIMELINE_CHUNK_ROWS)
#define WINDOW 10000ULL

struct fixture {
	struct budget budget;
	struct timeline *t;
	struct pair_out out;
};

static void make(struct fixture *f, size_t cap_bytes)
{
	struct timeline_cfg cfg = { .cap_bytes = cap_bytes,
		                    .window_ns = WINDOW,
		                    .budget = &f->budget };

	budget_init(&f->budget, cap_bytes ? cap_bytes : SIZE_MAX);
	expect_eq(timeline_new(&cfg, &f->t), 0);
	f->out = timeline_out(f->t);
}

static void slice(struct fixture *f, uint64_t ns)
{
	f->out.slice(f->out.ctx,
	             &(struct pair_slice){ ns, ns + 1, (uint32_t)(ns % 7), (uint16_t)(ns % 3), 120,
	                                   EV_STATE_S, PAIR_END_SLEEP, 0 });
}

static void moved(struct fixture *f, uint64_t ns)
{
	f->out.migration(f->out.ctx, &(struct pair_migration){ ns, (uint32_t)(ns % 7), 0, 0, 1 });
}

static uint64_t rows(const struct timeline *t, enum timeline_table table)
{
	return timeline_end(t, table) - timeline_first(t, table);
}

static void a_table_without_new_rows_forgets_as_time_passes(void **state)
{
	struct fixture f;

	(void)state;
	make(&f, 0);
	for (uint64_t i = 0; i < 3 * ROWS; i++)
		moved(&f, i);
	timeline_advance(f.t, 3 * ROWS);
	expect_eq(rows(f.t, TIMELINE_MIGRATION), 3 * ROWS);
	timeline_advance(f.t, 2 * ROWS + WINDOW);
	expect_eq(timeline_first(f.t, TIMELINE_MIGRATION), 2 * ROWS);
	timeline_advance(f.t, 4 * ROWS + WINDOW);
	expect_eq(rows(f.t, TIMELINE_MIGRATION), 0);
	expect_eq(timeline_bytes(f.t), 0);
	expect_eq(f.budget.used_bytes, 0);
	expect_eq(timeline_whole_from_ns(f.t), 0); /* nothing went before its time */
	moved(&f, 5 * ROWS + WINDOW);
	expect_eq(rows(f.t, TIMELINE_MIGRATION), 1);
	timeline_free(f.t);
	expect_eq(f.budget.used_bytes, 0);
}

/* One table floods, another has few rows: both must cover the same time, and the few are not the ones to go. */
static void the_cap_cuts_the_oldest_time_of_all_tables(void **state)
{
	struct timeline_loss loss;
	union timeline_row row;
	struct fixture f;

	(void)state;
	make(&f, 600000);
	for (uint64_t i = 0; i < 20 * ROWS; i++) {
		slice(&f, i / 16);
		if (i % 16 == 0)
			moved(&f, i / 16);
	}
	timeline_loss(f.t, &loss);
	expect_eq(loss.dropped, 0);
	assert_true(loss.cut > 0 && loss.cut % ROWS == 0);
	expect_eq(timeline_first(f.t, TIMELINE_SLICE) + timeline_first(f.t, TIMELINE_MIGRATION),
	          loss.cut);
	assert_true(timeline_bytes(f.t) <= 600000 && f.budget.used_bytes <= 600000);
	/* All that ended from then on is there, and what ended just before is not. */
	assert_true(timeline_row(f.t, TIMELINE_SLICE, timeline_first(f.t, TIMELINE_SLICE), &row));
	assert_true(row.slice.end_ns <= timeline_whole_from_ns(f.t));
	assert_true(timeline_whole_from_ns(f.t) > 0 &&
	            timeline_whole_from_ns(f.t) < 20 * ROWS / 16);
	assert_true(rows(f.t, TIMELINE_MIGRATION) > 0);
	timeline_free(f.t);
}

static void tables_that_are_not_wanted_any_more_are_empty(void **state)
{
	struct fixture f;

	(void)state;
	make(&f, 0);
	for (uint64_t i = 0; i < 2 * ROWS; i++) {
		slice(&f, i);
		moved(&f, i);
	}
	timeline_want(f.t, TIMELINE_BIT(MIGRATION));
	expect_eq(rows(f.t, TIMELINE_SLICE), 0);
	expect_eq(rows(f.t, TIMELINE_MIGRATION), 2 * ROWS);
	slice(&f, 2 * ROWS);
	expect_eq(rows(f.t, TIMELINE_SLICE), 0);
	timeline_want(f.t, 0);
	expect_eq(timeline_bytes(f.t), 0);
	expect_eq(f.budget.used_bytes, 0);
	timeline_want(f.t, TIMELINE_ALL);
	slice(&f, 2 * ROWS + 1);
	expect_eq(rows(f.t, TIMELINE_SLICE), 1);
	timeline_free(f.t);
}

static void expect_slices(struct timeline *t, uint64_t first, uint64_t end)
{
	struct timeline_query q = { TIMELINE_SLICE, TASKS_NONE, 1, 0, UINT64_MAX };
	struct timeline_iter it;
	union timeline_row row;
	uint64_t nr = 0, want = 0;

	expect_eq(timeline_first(t, TIMELINE_SLICE), first);
	expect_eq(timeline_end(t, TIMELINE_SLICE), end);
	for (uint64_t i = first; i < end; i++) {
		assert_true(timeline_row(t, TIMELINE_SLICE, i, &row));
		expect_eq(row.slice.start_ns, i);
		want += i % 3 == 1;
	}
	expect_eq(timeline_find(t, &q, &it), 0);
	while (timeline_next(&it, NULL, NULL))
		nr++;
	expect_eq(nr, want);
}

static void a_snapshot_stays_as_it_was_while_the_window_goes_on(void **state)
{
	uint64_t first, end = 5 * ROWS + 77;
	struct timeline *shot;
	struct fixture f;
	uint64_t used;

	(void)state;
	make(&f, 0);
	for (uint64_t i = 0; i < end; i++)
		slice(&f, i);
	first = timeline_first(f.t, TIMELINE_SLICE);
	used = f.budget.used_bytes;
	expect_eq(timeline_snapshot(f.t, &shot), 0);
	expect_eq(f.budget.used_bytes, used); /* it costs nothing yet */
	for (uint64_t i = end; i < 20 * ROWS; i++)
		slice(&f, i);
	assert_true(timeline_first(f.t, TIMELINE_SLICE) > end);
	expect_slices(shot, first, end);
	assert_true(f.budget.used_bytes > used); /* what only the snapshot holds counts, too */
	timeline_free(shot);
	assert_true(f.budget.used_bytes <= used + 100000);
	timeline_free(f.t);
	expect_eq(f.budget.used_bytes, 0);
}

static void rows_added_to_a_snapshot_are_its_own(void **state)
{
	struct fixture f, g;

	(void)state;
	make(&f, 0);
	for (uint64_t i = 0; i < ROWS + 5; i++)
		slice(&f, i);
	expect_eq(timeline_snapshot(f.t, &g.t), 0);
	g.out = timeline_out(g.t);
	for (uint64_t i = ROWS + 5; i < 2 * ROWS + 9; i++)
		slice(&g, i);
	expect_slices(g.t, 0, 2 * ROWS + 9);
	expect_slices(f.t, 0, ROWS + 5);
	timeline_free(f.t);
	expect_slices(g.t, 0, 2 * ROWS + 9); /* it does not need the other any more */
	timeline_free(g.t);
}

struct reader {
	struct timeline *shot;
	uint64_t first, end;
};

static void *read_shot(void *ctx)
{
	struct reader *r = ctx;

	expect_slices(r->shot, r->first, r->end);
	timeline_free(r->shot);
	return NULL;
}

static void snapshots_are_read_while_rows_come(void **state)
{
	struct reader readers[8];
	pthread_t threads[8];
	uint64_t ns = 0;
	struct fixture f;

	(void)state;
	make(&f, 0);
	for (int i = 0; i < 8; i++) {
		for (uint64_t end = ns + 3 * ROWS + 100; ns < end; ns++)
			slice(&f, ns);
		readers[i].first = timeline_first(f.t, TIMELINE_SLICE);
		readers[i].end = timeline_end(f.t, TIMELINE_SLICE);
		expect_eq(timeline_snapshot(f.t, &readers[i].shot), 0);
		expect_eq(pthread_create(&threads[i], NULL, read_shot, &readers[i]), 0);
	}
	for (uint64_t end = ns + 20 * ROWS; ns < end; ns++)
		slice(&f, ns);
	for (int i = 0; i < 8; i++)
		pthread_join(threads[i], NULL);
	timeline_free(f.t);
	expect_eq(f.budget.used_bytes, 0);
}

/* A state machine, its tasks and its rows. */
struct world {
	struct tasks *tasks;
	struct pair *pair;
	struct timeline *t;
};

static void open_world(struct world *w)
{
	struct pair_out out;

	expect_eq(tasks_new(&(struct tasks_cfg){ .keep_dead_ns = UINT64_MAX }, &w->tasks), 0);
	expect_eq(pair_new(&(struct pair_cfg){ .tasks = w->tasks, .nr_cpus = 4 }, &w->pair), 0);
	expect_eq(timeline_new(&(struct timeline_cfg){ 0 }, &w->t), 0);
	out = timeline_out(w->t);
	expect_eq(pair_add_out(w->pair, &out), 0);
}

static void close_world(struct world *w)
{
	timeline_free(w->t);
	pair_free(w->pair);
	tasks_free(w->tasks);
}

#define HDR(k, type) .hdr = { sizeof(struct type), (k), 0, cpu, ts_ns }

static void push(struct world *w, unsigned int *seed, uint64_t ts_ns)
{
	struct ev_sink sink = pair_sink(w->pair);
	uint32_t cpu = (uint32_t)rand_r(seed) % 4, a = (uint32_t)rand_r(seed) % 9;
	uint32_t b = (uint32_t)rand_r(seed) % 9;
	struct ev_fork born = { HDR(EV_FORK, ev_fork), .parent_tid = a, .tid = 20 + b,
		                .tgid = 20 + b, .comm = "child" };

	switch (rand_r(seed) % 6) {
	case 0:
	case 1:
		expect_eq(sink.push(sink.ctx,
		                    &(struct ev_switch){ HDR(EV_SWITCH, ev_switch), .prev_tid = a,
		                                         .next_tid = b,
		                                         .prev_state = (uint32_t)rand_r(seed) % 2 }
		                             .hdr),
		          0);
		break;
	case 2:
		expect_eq(sink.push(sink.ctx, &(struct ev_wake){ HDR(EV_WAKING, ev_wake), .tid = a,
		                                                 .waker_tid = b, .target_cpu = cpu }
		                                       .hdr),
		          0);
		break;
	case 3:
		expect_eq(sink.push(sink.ctx,
		                    &(struct ev_softirq){ HDR(EV_SOFTIRQ_ENTRY, ev_softirq),
		                                          .vector = 1, .tid = a }
		                             .hdr),
		          0);
		break;
	case 4:
		expect_eq(sink.push(sink.ctx,
		                    &(struct ev_free){ HDR(EV_FREE, ev_free), .tid = a }.hdr),
		          0);
		break;
	default:
		expect_eq(sink.push(sink.ctx, &born.hdr), 0);
	}
}

static void expect_same_rows(const struct timeline *a, const struct timeline *b)
{
	union timeline_row left, right;

	for (int k = 0; k < TIMELINE_TABLES; k++) {
		enum timeline_table table = (enum timeline_table)k;

		expect_eq(timeline_end(a, table), timeline_end(b, table));
		for (uint64_t i = 0; i < timeline_end(a, table); i++) {
			assert_true(timeline_row(a, table, i, &left));
			assert_true(timeline_row(b, table, i, &right));
			assert_memory_equal(&left, &right, sizeof(left));
		}
	}
}

/* Taken in the middle of a stream, it is as if the stream had ended there; and the stream goes on as if nothing was. */
static void a_snapshot_is_what_an_ended_stream_is(void **state)
{
	(void)state;
	for (unsigned int seed = 1; seed <= 50; seed++) {
		struct world whole, ended, shot = { 0 };
		unsigned int a = seed, b = seed;
		struct pair_out out;

		open_world(&whole);
		open_world(&ended);
		for (uint64_t i = 1; i < 3000; i++) {
			push(&whole, &a, i * 10);
			push(&ended, &b, i * 10);
			if (i != 1000 + seed)
				continue;
			expect_eq(timeline_snapshot(whole.t, &shot.t), 0);
			expect_eq(tasks_copy(whole.tasks, &shot.tasks), 0);
			out = timeline_out(shot.t);
			expect_eq(pair_snapshot(whole.pair, shot.tasks, &out, i * 10 + 5,
			                        &shot.pair),
			          0);
			pair_finish(ended.pair, i * 10 + 5);
			expect_same_rows(shot.t, ended.t);
			expect_eq(tasks_nr(shot.tasks), tasks_nr(ended.tasks));
			close_world(&ended);
			b = seed;
			open_world(&ended);
			for (uint64_t k = 1; k <= i; k++)
				push(&ended, &b, k * 10);
		}
		expect_same_rows(whole.t, ended.t);
		for (uint32_t i = 0; i < tasks_nr(shot.tasks); i++)
			expect_eq(tasks_at(shot.tasks, i)->tid, tasks_at(whole.tasks, i)->tid);
		close_world(&whole);
		close_world(&ended);
		for (uint32_t i = 0; i < tasks_nr(shot.tasks); i++) /* names outlive the table */
			assert_true(tasks_at(shot.tasks, i)->tid < 20 ||
			            strcmp(tasks_comm(shot.tasks, i), "child") == 0);
		close_world(&shot);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_table_without_new_rows_forgets_as_time_passes),
		cmocka_unit_test(the_cap_cuts_the_oldest_time_of_all_tables),
		cmocka_unit_test(tables_that_are_not_wanted_any_more_are_empty),
		cmocka_unit_test(a_snapshot_stays_as_it_was_while_the_window_goes_on),
		cmocka_unit_test(rows_added_to_a_snapshot_are_its_own),
		cmocka_unit_test(snapshots_are_read_while_rows_come),
		cmocka_unit_test(a_snapshot_is_what_an_ended_stream_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
