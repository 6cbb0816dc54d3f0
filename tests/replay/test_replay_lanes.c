#include "replay_story.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/replay_lanes.h"

#define ANY     UINT32_MAX
#define STORIES 8U

struct stage {
	struct pass_fixture *p;
	struct story story;
	struct replay_lanes *lanes;
};

static int set_up(void **state)
{
	struct stage *s = calloc(1, sizeof(*s));
	void *made;

	assert_non_null(s);
	assert_int_equal(pass_setup(&made), 0);
	s->p = made;
	assert_int_equal(replay_lanes_new(&s->lanes), 0);
	*state = s;
	return 0;
}

static int tear_down(void **state)
{
	struct stage *s = *state;
	void *made = s->p;

	replay_lanes_free(s->lanes);
	pass_teardown(&made);
	free(s);
	return 0;
}

static void generate(struct stage *s, uint32_t seed)
{
	void *made = s->p;

	pass_teardown(&made);
	assert_int_equal(pass_setup(&made), 0);
	s->p = made;
	story_generate(&s->story, s->p, seed, true);
}

static const struct machine_lanes *fill(struct stage *s, uint64_t from_ns, uint64_t to_ns,
                                        uint32_t nr_columns)
{
	const struct replay_lanes_cfg cfg = { .source = &s->p->source,
		                              .from_ns = from_ns,
		                              .to_ns = to_ns,
		                              .nr_columns = nr_columns };
	const struct machine_lanes *lanes = NULL;

	assert_int_equal(replay_lanes_fill(s->lanes, &cfg, &lanes), 0);
	assert_non_null(lanes);
	return lanes;
}

static void near(double value, double wanted)
{
	if (!(fabs(value - wanted) <= 1e-9 * (1 + fabs(wanted))))
		fail_msg("%.12f is not %.12f", value, wanted);
}

static uint32_t tid_of(const char *comm)
{
	assert_int_equal(strncmp(comm, "actor-", 6), 0);
	return STORY_TID + (uint32_t)(comm[6] - 'a');
}

/* What had most of the column, by the story; several may have had as much. */
static void check_what(const struct stage *s, const struct machine_lanes *lanes,
                       const struct story_cut *c, uint32_t cpu,
                       const struct machine_lane_column *column)
{
	uint64_t idle = story_time(&s->story, c, STORY_IDLE, 0, cpu), best = 0;

	for (uint32_t i = 0; i < STORY_TASKS; i++) {
		uint64_t ns = story_time(&s->story, c, STORY_SLICE, STORY_TID + i, cpu);

		best = ns > best ? ns : best;
	}
	if (column->what == MACHINE_LANE_IDLE) {
		assert_true(idle >= best);
	} else if (column->what == MACHINE_LANE_UNKNOWN) {
		assert_true(idle + best < c->to_ns - c->from_ns);
	} else {
		assert_true(column->what < lanes->nr_names);
		expect_eq(story_time(&s->story, c, STORY_SLICE,
		                     tid_of(lanes->names[column->what].comm), cpu),
		          best);
		assert_true(best >= idle);
	}
}

static void check_column(const struct stage *s, const struct machine_lanes *lanes,
                         const struct machine_lane *lane, uint32_t nr)
{
	uint64_t span = lanes->to_ns - lanes->from_ns;
	const struct story_cut c = { lanes->from_ns + span * nr / lanes->nr_columns,
		                     lanes->from_ns + span * (nr + 1) / lanes->nr_columns, false };
	const struct machine_lane_column *column = &lane->columns[nr];
	uint64_t busy = story_time(&s->story, &c, STORY_SLICE, 0, lane->cpu);
	uint64_t idle = story_time(&s->story, &c, STORY_IDLE, 0, lane->cpu);
	uint64_t waited = story_time(&s->story, &c, STORY_WAIT, 0, lane->cpu) +
	                  story_time(&s->story, &c, STORY_PREEMPTED, 0, lane->cpu);

	if (busy + idle)
		near(column->busy, (double)busy / (double)(busy + idle));
	else
		assert_true(isnan(column->busy));
	near(column->waiting, (double)waited / (double)(c.to_ns - c.from_ns));
	assert_true(column->waiting <= lanes->waiting_max);
	check_what(s, lanes, &c, lane->cpu, column);
}

static void check(const struct stage *s, const struct machine_lanes *lanes)
{
	const struct story_cut all = { lanes->from_ns, lanes->to_ns, false };

	expect_eq(lanes->nr, STORY_CPUS);
	expect_eq(lanes->others_ns, 0);
	for (size_t i = 0; i < lanes->nr; i++)
		for (uint32_t nr = 0; nr < lanes->nr_columns; nr++)
			check_column(s, lanes, &lanes->lanes[i], nr);
	for (size_t i = 0; i < lanes->nr_names; i++) {
		expect_eq(lanes->names[i].run_ns, story_time(&s->story, &all, STORY_SLICE,
		                                             tid_of(lanes->names[i].comm), ANY));
		assert_true(!i || lanes->names[i - 1].run_ns >= lanes->names[i].run_ns);
	}
}

static void every_column_has_what_the_story_says(void **state)
{
	struct stage *s = *state;

	for (uint32_t seed = 1; seed <= RANDOM_WORLDS(STORIES); seed++) {
		generate(s, seed);
		check(s, fill(s, STORY_START, STORY_END, 1));
		check(s, fill(s, STORY_START, STORY_END, 97));
		/* A part of it, cut where rows last. */
		check(s, fill(s, STORY_START + 10000001, STORY_START + 30000019, 64));
	}
}

static void the_longest_waits_come_first(void **state)
{
	struct stage *s = *state;
	const struct machine_lanes *lanes;
	uint64_t longest = 0;

	generate(s, 3);
	lanes = fill(s, STORY_START, STORY_END, 10);
	for (uint32_t i = 0; i < s->story.nr_rows; i++) {
		const struct story_row *r = &s->story.rows[i];

		if ((r->kind == STORY_LATENCY || r->kind == STORY_PREEMPTED) &&
		    r->end_ns - r->start_ns > longest)
			longest = r->end_ns - r->start_ns;
	}
	expect_eq(lanes->nr_waits, MACHINE_LANES_WAITS);
	expect_eq(lanes->waits[0].wait_ns, longest);
	for (size_t i = 1; i < lanes->nr_waits; i++)
		assert_true(lanes->waits[i].wait_ns <= lanes->waits[i - 1].wait_ns);
}

static void any_number_of_columns_is_taken(void **state)
{
	struct stage *s = *state;

	generate(s, 1);
	expect_eq(fill(s, STORY_START, STORY_END, 0)->nr_columns, 1);
	expect_eq(fill(s, STORY_START, STORY_END, 100000)->nr_columns, MACHINE_LANES_COLUMNS);
	/* More columns than nanoseconds, and no time at all. */
	expect_eq(fill(s, STORY_START, STORY_START + 7, 100)->nr_columns, 100);
	expect_eq(fill(s, STORY_START, STORY_START, 10)->nr, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(every_column_has_what_the_story_says, set_up,
		                                tear_down),
		cmocka_unit_test_setup_teardown(the_longest_waits_come_first, set_up, tear_down),
		cmocka_unit_test_setup_teardown(any_number_of_columns_is_taken, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
