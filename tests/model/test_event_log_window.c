/* The window of a log of events: what it forgets, what the caps cut, reading by number, and snapshots that nothing changes. */
#include "../unit.h"

#include <pthread.h>

#include "model/event_log.h"

#define WINDOW   1000000ULL
#define CHUNK    (256U << 10)
#define PER_LOG  20000U /* records of a log of two chunks, or more */
#define NR_SHOTS 200
#define BLOCK    512U

static struct event_log *make(size_t cap_bytes, uint64_t max_records)
{
	struct event_log_cfg cfg = { .cap_bytes = cap_bytes,
		                     .window_ns = WINDOW,
		                     .max_records = max_records,
		                     .keeps_whole = true };
	struct event_log *l = NULL;

	expect_eq(event_log_new(&cfg, &l), 0);
	return l;
}

/* Each record has its number in it. */
static void add(struct event_log *l, uint64_t ts_ns)
{
	struct ev_sink sink = event_log_sink(l);
	struct ev_migrate rec = { .hdr = { sizeof(rec), EV_MIGRATE, 0, 0, ts_ns },
		                  .tid = (uint32_t)event_log_end(l) };

	expect_eq(sink.push(sink.ctx, &rec.hdr), 0);
}

/* Every record that is there, by number; how many. */
static uint64_t check_all(const struct event_log *l)
{
	const struct ev_hdr *recs[BLOCK];
	uint64_t number = event_log_first(l);
	uint32_t nr;

	while ((nr = event_log_lend(l, number, recs, BLOCK)))
		for (uint32_t i = 0; i < nr; i++, number++)
			expect_eq(((const struct ev_migrate *)recs[i])->tid, number);
	expect_eq(number, event_log_end(l));
	return event_log_nr(l);
}

static void what_is_older_than_the_window_is_forgotten(void **state)
{
	struct event_log *l = make(0, 0);
	uint64_t first;

	(void)state;
	for (uint32_t i = 0; i < PER_LOG; i++)
		add(l, i);
	expect_eq(check_all(l), PER_LOG);
	for (uint32_t i = 0; i < 10; i++)
		add(l, WINDOW + PER_LOG / 2);
	first = event_log_first(l);
	assert_true(first > 1 && first < PER_LOG / 2 + 2); /* whole chunks go */
	expect_eq(check_all(l), PER_LOG + 10 - (first - 1));
	expect_eq(event_log_cut(l), 0);
	event_log_advance(l, 2 * WINDOW + PER_LOG);
	expect_eq(check_all(l), 0);
	expect_eq(event_log_end(l), PER_LOG + 11); /* numbers go on */
	add(l, 3 * WINDOW);
	expect_eq(check_all(l), 1);
	event_log_free(l);
}

static void at_the_cap_the_oldest_make_room_and_are_counted(void **state)
{
	struct event_log *l = make(4 * CHUNK, 0);

	(void)state;
	for (uint32_t i = 0; i < 5 * PER_LOG; i++) {
		add(l, i);
		assert_true(event_log_bytes(l) <= 4 * CHUNK);
	}
	expect_eq(event_log_dropped(l), 0);
	assert_true(event_log_cut(l) > 0);
	expect_eq(event_log_cut(l), event_log_first(l) - 1);
	expect_eq(check_all(l), 5 * PER_LOG - event_log_cut(l));
	event_log_free(l);
}

static void the_number_of_records_is_bounded_too(void **state)
{
	struct event_log *l = make(0, PER_LOG);

	(void)state;
	for (uint32_t i = 0; i < 5 * PER_LOG; i++) {
		add(l, 1);
		assert_true(event_log_nr(l) <= PER_LOG);
	}
	expect_eq(check_all(l) + event_log_cut(l), 5 * PER_LOG);
	event_log_free(l);
}

static void a_log_answers_by_time_after_it_has_forgotten(void **state)
{
	struct event_log_query q = { .cpu = 0, .tid = EVENT_LOG_ANY, .to_ns = UINT64_MAX };
	struct event_log *l = make(4 * CHUNK, 0);
	struct event_log_iter it;
	uint64_t nr = 0;

	(void)state;
	for (uint32_t i = 0; i < 5 * PER_LOG; i++) {
		add(l, i);
		if (i % PER_LOG == 0)
			expect_eq(event_log_find(l, &q, &it), 0); /* an index that gets old */
	}
	expect_eq(event_log_find(l, &q, &it), 0);
	while (event_log_next(&it))
		nr++;
	expect_eq(nr, event_log_nr(l));
	event_log_free(l);
}

static void *read_shot(void *ctx)
{
	(void)check_all(ctx);
	event_log_free(ctx);
	return NULL;
}

/* Under ASan and TSan: chunks that the log forgets meanwhile, and records that it changes. */
static void snapshots_are_read_while_records_come(void **state)
{
	struct event_log *l = make(3 * CHUNK, 0), *shot;
	uint64_t place = UINT64_MAX;

	(void)state;
	for (int i = 0; i < NR_SHOTS; i++) {
		pthread_t thread;

		for (int k = 0; k < 1000; k++) {
			struct ev_hdr *rec = event_log_change(l, place);

			if (rec)
				rec->flags ^= 1;
			add(l, (uint64_t)i);
			place = event_log_place(l);
		}
		shot = NULL;
		expect_eq(event_log_snapshot(l, &shot), 0);
		expect_eq(pthread_create(&thread, NULL, read_shot, shot), 0);
		for (int k = 0; k < 1000; k++)
			add(l, (uint64_t)i);
		expect_eq(pthread_join(thread, NULL), 0);
	}
	assert_true(event_log_cut(l) > 0);
	event_log_free(l);
}

static void a_record_that_is_gone_or_shared_cannot_be_changed(void **state)
{
	struct event_log *l = make(3 * CHUNK, 0), *shot = NULL;
	uint64_t place;

	(void)state;
	assert_null(event_log_change(l, 0));
	add(l, 5);
	place = event_log_place(l);
	expect_eq(event_log_change(l, place)->ts_ns, 5);
	for (uint32_t i = 0; i < PER_LOG / 2; i++)
		add(l, 6);
	expect_eq(event_log_change(l, place)->ts_ns, 5);
	expect_eq(event_log_snapshot(l, &shot), 0);
	assert_null(event_log_change(l, place));
	event_log_free(shot);
	expect_eq(event_log_change(l, place)->ts_ns, 5);
	for (uint32_t i = 0; i < 3 * PER_LOG; i++)
		add(l, 7);
	assert_null(event_log_change(l, place));
	event_log_free(l);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_older_than_the_window_is_forgotten),
		cmocka_unit_test(at_the_cap_the_oldest_make_room_and_are_counted),
		cmocka_unit_test(the_number_of_records_is_bounded_too),
		cmocka_unit_test(a_log_answers_by_time_after_it_has_forgotten),
		cmocka_unit_test(snapshots_are_read_while_records_come),
		cmocka_unit_test(a_record_that_is_gone_or_shared_cannot_be_changed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
