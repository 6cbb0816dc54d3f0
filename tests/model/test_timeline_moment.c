#include "../unit.h"

#include <stdlib.h>

#include "model/timeline_moment.h"

#define NR      10000U /* more than two chunks */
#define NR_CPUS 4U
#define NR_TASK 50U

/* Slices that tile CPUs, and sleeps that turn out late; kept beside, to be looked through one by one. */
struct rows {
	struct timeline *t;
	struct pair_slice slices[NR];
	struct pair_sleep sleeps[NR];
};

static uint32_t draw(uint32_t *seed, uint32_t below)
{
	*seed = *seed * 1664525U + 1013904223U;
	return (*seed >> 8) % below;
}

static struct rows *fill(uint64_t window_ns)
{
	struct rows *r = calloc(1, sizeof(*r));
	struct timeline_cfg cfg = { .window_ns = window_ns };
	uint64_t since[NR_CPUS] = { 0 }, now = 1000;
	struct pair_out out;
	uint32_t seed = 9;

	assert_non_null(r);
	assert_int_equal(timeline_new(&cfg, &r->t), 0);
	out = timeline_out(r->t);
	for (uint32_t i = 0; i < NR; i++) {
		uint32_t cpu = draw(&seed, NR_CPUS);

		now += draw(&seed, 3) * 100; /* some end at once */
		r->slices[i] = (struct pair_slice){ .start_ns = since[cpu],
			                            .end_ns = now,
			                            .cpu = (uint16_t)cpu,
			                            .task = draw(&seed, NR_TASK) };
		since[cpu] = now;
		out.slice(out.ctx, &r->slices[i]);
		r->sleeps[i] = (struct pair_sleep){ .end_ns = now - draw(&seed, 900),
			                            .task = i % NR_TASK };
		r->sleeps[i].start_ns = r->sleeps[i].end_ns - 50;
		out.sleep(out.ctx, &r->sleeps[i]);
	}
	return r;
}

static void rows_done(struct rows *r)
{
	timeline_free(r->t);
	free(r);
}

static void rows_that_end_in_time_are_found_and_no_others(void **state)
{
	struct rows *r = fill(0);
	uint32_t seed = 5;

	(void)state;
	for (int round = 0; round < 200; round++) {
		uint64_t from = draw(&seed, 1100000), to = from + draw(&seed, 1U << round % 20);
		struct timeline_ended slices = { r->t, TIMELINE_SLICE, from, to, 0 },
				      sleeps = { r->t, TIMELINE_SLEEP, from, to, 0 };
		union timeline_row row;

		for (uint32_t i = 0; i < NR; i++) {
			if (r->slices[i].end_ns >= from && r->slices[i].end_ns < to) {
				assert_true(timeline_ended_next(&slices, &row));
				expect_eq(row.slice.end_ns, r->slices[i].end_ns);
				expect_eq(row.slice.task, r->slices[i].task);
			}
			if (r->sleeps[i].end_ns >= from && r->sleeps[i].end_ns < to) {
				assert_true(timeline_ended_next(&sleeps, &row));
				expect_eq(row.sleep.end_ns, r->sleeps[i].end_ns);
				expect_eq(row.sleep.task, r->sleeps[i].task);
			}
		}
		assert_false(timeline_ended_next(&slices, &row));
		assert_false(timeline_ended_next(&sleeps, &row));
	}
	rows_done(r);
}

/* What is forgotten at the start does not confuse what is known of the rest. */
static void a_window_that_moves_keeps_what_it_holds(void **state)
{
	struct rows *r = fill(100000);
	uint64_t first = timeline_first(r->t, TIMELINE_SLICE), last = r->slices[NR - 1].end_ns;
	struct timeline_ended it = { r->t, TIMELINE_SLICE, last - 50000, last + 1, 0 };
	union timeline_row row;

	(void)state;
	assert_true(first > 0);
	for (uint32_t i = (uint32_t)first; i < NR; i++)
		if (r->slices[i].end_ns >= it.from_ns) {
			assert_true(timeline_ended_next(&it, &row));
			expect_eq(row.slice.end_ns, r->slices[i].end_ns);
		}
	assert_false(timeline_ended_next(&it, &row));
	rows_done(r);
}

static void the_row_at_a_moment_and_the_one_before(void **state)
{
	struct rows *r = fill(0);
	uint32_t seed = 6;

	(void)state;
	for (int round = 0; round < 2000; round++) {
		uint64_t ts = draw(&seed, 1010000);
		uint32_t cpu = draw(&seed, NR_CPUS), task = draw(&seed, NR_TASK + 1), i;
		const struct timeline_whose of_cpu = { TIMELINE_SLICE, TASKS_NONE, cpu },
					    of_task = { TIMELINE_SLICE, task, TIMELINE_ANY_CPU };
		const struct pair_slice *before = NULL;
		union timeline_row row;

		for (i = 0; i < NR; i++)
			if (r->slices[i].cpu == cpu && r->slices[i].end_ns > ts)
				break;
		expect_eq(timeline_after(r->t, &of_cpu, ts, &row), i < NR);
		if (i < NR) {
			expect_eq(row.slice.end_ns, r->slices[i].end_ns);
			expect_eq(row.slice.start_ns, r->slices[i].start_ns);
		}
		for (i = 0; i < NR; i++)
			if (r->slices[i].task == task && r->slices[i].end_ns <= ts)
				before = &r->slices[i];
		expect_eq(timeline_before(r->t, &of_task, ts, &row), before != NULL);
		if (before) {
			expect_eq(row.slice.end_ns, before->end_ns);
			expect_eq(row.slice.cpu, before->cpu);
		}
	}
	rows_done(r);
}

static void an_empty_table_has_none(void **state)
{
	const struct timeline_whose w = { TIMELINE_WAIT, 3, TIMELINE_ANY_CPU };
	struct timeline *t;
	struct timeline_ended it;
	union timeline_row row;

	(void)state;
	assert_int_equal(timeline_new(&(struct timeline_cfg){ 0 }, &t), 0);
	it = (struct timeline_ended){ t, TIMELINE_WAIT, 0, UINT64_MAX, 0 };
	assert_false(timeline_ended_next(&it, &row));
	assert_false(timeline_after(t, &w, 0, &row));
	assert_false(timeline_before(t, &w, 100, &row));
	assert_false(timeline_before(t, &w, UINT64_MAX, &row));
	timeline_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_that_end_in_time_are_found_and_no_others),
		cmocka_unit_test(a_window_that_moves_keeps_what_it_holds),
		cmocka_unit_test(the_row_at_a_moment_and_the_one_before),
		cmocka_unit_test(an_empty_table_has_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
