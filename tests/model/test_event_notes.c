#include "pair_fixture.h"

#include <errno.h>
#include <string.h>

#include "model/event_buffer.h"

static struct event_buffer *watch(struct fixture *f, uint32_t max_events, uint32_t max_bytes)
{
	struct event_buffer_cfg cfg = { f->tasks, max_events, max_bytes };
	struct event_buffer *b = NULL;

	expect_eq(event_buffer_new(&cfg, &b), 0);
	f->also = event_buffer_sink(b);
	return b;
}

static void records_come_out_as_they_came(void **state)
{
	struct fixture *f = *state;
	struct event_buffer *b = watch(f, 0, 0);
	struct event_buffer_stats s;
	struct event_entry e;

	forked(f, 100, 5, 7, "child");
	sw(f, 110, 1, 0, 7, 0);
	sw(f, 150, 1, 7, 0, EV_STATE_S);
	event_buffer_stats(b, &s);
	expect_eq(s.current_size, 3);
	expect_eq(s.total_received, 3);
	expect_eq(s.total_dropped, 0);
	expect_eq(s.oldest_ns, 100);
	expect_eq(s.newest_ns, 150);
	assert_true(event_buffer_at(b, 0, &e));
	expect_eq(e.rec->kind, EV_FORK);
	expect_eq(e.number, 1);
	assert_string_equal(tasks_string(f->tasks, e.who[1].comm_id), "child");
	assert_true(event_buffer_at(b, 1, &e));
	expect_eq(e.used_ns, 0); /* since when idle was there is not known */
	assert_null(e.prev);
	assert_true(event_buffer_at(b, 2, &e));
	expect_eq(e.used_ns, 40);
	expect_eq(e.who[0].tgid, 7);
	expect_eq(e.who[1].comm_id, 0);
	assert_false(event_buffer_at(b, 3, &e));
	expect_eq(event_buffer_after(b, 0), 0);
	expect_eq(event_buffer_after(b, 2), 2);
	expect_eq(event_buffer_after(b, 99), 3);
	event_buffer_free(b);
}

static void the_oldest_make_room(void **state)
{
	struct fixture *f = *state;
	struct event_buffer *b = watch(f, 4, 0);
	struct event_buffer_stats s;
	struct event_entry e;

	for (uint64_t i = 1; i <= 10; i++)
		migrate(f, i, 7, 0, 1);
	event_buffer_stats(b, &s);
	expect_eq(s.current_size, 4);
	expect_eq(s.max_size, 4);
	expect_eq(s.total_dropped, 6);
	for (uint32_t i = 0; i < 4; i++) {
		assert_true(event_buffer_at(b, i, &e));
		expect_eq(e.rec->ts_ns, 7 + i);
		expect_eq(e.number, 7 + i);
	}
	expect_eq(event_buffer_after(b, 3), 0); /* 4 to 6 are gone, and the number says so */
	expect_eq(event_buffer_after(b, 8), 2);
	event_buffer_reset(b);
	event_buffer_stats(b, &s);
	expect_eq(s.current_size + s.total_received + s.total_dropped, 0);
	event_buffer_free(b);
}

/* Records of all sizes in 4 KiB: each that is there must be whole. */
static void bytes_are_bounded_too(void **state)
{
	struct fixture *f = *state;
	struct event_buffer *b = watch(f, 0, 1);
	struct ev_sink sink = event_buffer_sink(b);
	struct event_buffer_stats s;
	struct event_entry e;
	uint64_t words[640] = { 0 };
	struct ev_hdr *hdr = (struct ev_hdr *)words;
	unsigned int seed = 3;

	for (uint64_t n = 1; n <= 5000; n++) {
		uint64_t bytes = 0;

		seed = seed * 1103515245 + 12345;
		hdr->size = (uint16_t)(16 + 8 * ((seed >> 16) % (n % 50 ? 40 : 600)));
		hdr->kind = EV_STRING;
		hdr->ts_ns = n;
		memset(words + 2, (int)(n & 0xff), hdr->size - 16U);
		expect_eq(sink.push(sink.ctx, hdr), 0);
		event_buffer_stats(b, &s);
		expect_eq(s.total_received, n);
		for (uint32_t i = 0; event_buffer_at(b, i, &e); i++) {
			const uint8_t *body = (const uint8_t *)e.rec;

			expect_eq(e.rec->ts_ns, e.number);
			expect_eq(e.number, n - s.current_size + 1 + i);
			bytes += e.rec->size;
			for (uint32_t k = 16; k < e.rec->size; k++)
				expect_eq(body[k], e.number & 0xff);
		}
		assert_true(bytes <= 4096);
		assert_true(s.current_size > 0 || hdr->size > 4096);
	}
	event_buffer_free(b);
}

static void a_switch_knows_what_sched_ext_says_before_and_after_it(void **state)
{
	struct fixture *f = *state;
	struct event_buffer *b = watch(f, 0, 0);
	struct ev_dsq_leave leave = { .hdr = { sizeof(leave), EV_DSQ_LEAVE, 0, 1, 110 },
		                      .start_ns = 60,
		                      .dsq_id = 3,
		                      .tid = 7,
		                      .layer = 2 };
	struct ev_scx_run run = { .hdr = { sizeof(run), EV_SCX_RUN, 0, 1, 111 },
		                  .dsq_id = 3,
		                  .tid = 7,
		                  .slice_ns = 500,
		                  .layer = 2,
		                  .flags = EV_SCX_HAS_SLICE };
	struct ev_dsq_depth depth = { .hdr = { sizeof(depth), EV_DSQ_DEPTH, 0, 1, 112 },
		                      .dsq_id = 3,
		                      .depth = 4 };
	struct event_entry e;

	push(f, &leave);
	sw(f, 110, 1, 0, 7, 0);
	push(f, &run);
	push(f, &depth);
	sw(f, 150, 1, 7, 8, EV_STATE_S);
	assert_true(event_buffer_at(b, 1, &e));
	expect_eq(e.next->dsq_id, 3);
	assert_true(e.next->has_dsq_ns && e.next->has_slice && e.next->has_depth);
	expect_eq(e.next->dsq_ns, 50);
	expect_eq(e.next->slice_ns, 500);
	expect_eq(e.next->depth, 4);
	assert_false(e.next->has_vtime);
	expect_eq(e.prev->dsq_id, EV_DSQ_INVALID);
	assert_true(event_buffer_at(b, 4, &e));
	expect_eq(e.prev->dsq_id, 3);
	expect_eq(e.prev->slice_ns, 500);
	expect_eq(e.next->dsq_id, EV_DSQ_INVALID);
	expect_eq(e.next->layer, EV_NO_LAYER);
	event_buffer_free(b);
}

static void after_a_pause_nobody_is_known_to_be_on_a_cpu(void **state)
{
	struct fixture *f = *state;
	struct event_buffer *b = watch(f, 0, 0);
	struct event_entry e;

	sw(f, 110, 1, 0, 7, 0);
	event_buffer_resume(b);
	sw(f, 900, 1, 7, 0, EV_STATE_S);
	assert_true(event_buffer_at(b, 1, &e));
	expect_eq(e.used_ns, 0);
	event_buffer_free(b);
	expect_eq(event_buffer_new(&(struct event_buffer_cfg){ 0 }, &b), -EINVAL);
}

#define T(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(records_come_out_as_they_came),
		T(the_oldest_make_room),
		T(bytes_are_bounded_too),
		T(a_switch_knows_what_sched_ext_says_before_and_after_it),
		T(after_a_pause_nobody_is_known_to_be_on_a_cpu),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
