#include "pair_fixture.h"

#include "model/event_log.h"
#include "model/event_notes.h"

struct watched {
	struct event_log *log;
	struct event_notes *notes;
};

static struct watched watch(struct fixture *f)
{
	struct event_log_cfg cfg = { .window_ns = 1000000, .keeps_whole = true };
	struct watched w = { 0 };

	expect_eq(event_log_new(&cfg, &w.log), 0);
	expect_eq(event_notes_new(f->tasks, w.log, &w.notes), 0);
	f->also = event_notes_sink(w.notes);
	return w;
}

static void unwatch(struct watched *w)
{
	event_notes_free(w->notes);
	event_log_free(w->log);
}

static struct event_entry entry(const struct event_log *l, uint64_t number)
{
	const struct ev_hdr *rec = NULL;

	expect_eq(event_log_lend(l, number, &rec, 1), 1);
	return event_notes_read(rec);
}

static void records_are_logged_with_names_and_times(void **state)
{
	struct fixture *f = *state;
	struct watched w = watch(f);
	struct event_entry e;

	forked(f, 100, 5, 7, "child");
	sw(f, 110, 1, 0, 7, 0);
	sw(f, 150, 1, 7, 0, EV_STATE_S);
	expect_eq(event_log_first(w.log), 1);
	expect_eq(event_log_end(w.log), 4);
	e = entry(w.log, 1);
	expect_eq(e.rec->kind, EV_FORK);
	expect_eq(e.size, sizeof(struct ev_fork));
	assert_string_equal(tasks_string(f->tasks, e.tasks[1].comm_id), "child");
	e = entry(w.log, 2);
	expect_eq(e.used_ns, 0); /* since when idle was there is not known */
	assert_null(e.prev);
	e = entry(w.log, 3);
	expect_eq(e.used_ns, 40);
	expect_eq(e.tasks[0].tgid, 7);
	expect_eq(e.tasks[1].comm_id, 0);
	unwatch(&w);
}

static void a_switch_knows_what_sched_ext_says_before_and_after_it(void **state)
{
	struct fixture *f = *state;
	struct watched w = watch(f);
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
	e = entry(w.log, 2);
	expect_eq(e.next->dsq_id, 3);
	assert_true(e.next->has_dsq_ns && e.next->has_slice && e.next->has_depth);
	expect_eq(e.next->dsq_ns, 50);
	expect_eq(e.next->slice_ns, 500);
	expect_eq(e.next->depth, 4);
	assert_false(e.next->has_vtime);
	expect_eq(e.prev->dsq_id, EV_DSQ_INVALID);
	e = entry(w.log, 5);
	expect_eq(e.prev->dsq_id, 3);
	expect_eq(e.prev->slice_ns, 500);
	expect_eq(e.next->dsq_id, EV_DSQ_INVALID);
	expect_eq(e.next->layer, EV_NO_LAYER);
	unwatch(&w);
}

/* A record of the log can change only while no snapshot shows it; the last chunk is copied. */
static void what_a_snapshot_has_is_not_changed(void **state)
{
	struct fixture *f = *state;
	struct watched w = watch(f);
	struct ev_dsq_depth depth = { .hdr = { sizeof(depth), EV_DSQ_DEPTH, 0, 1, 100 },
		                      .dsq_id = 9 };
	struct ev_scx_run run = { .hdr = { sizeof(run), EV_SCX_RUN, 0, 1, 111 },
		                  .dsq_id = 3,
		                  .tid = 7 };
	struct event_log *shot = NULL;

	push(f, &depth); /* so that there is room for what sched_ext says */
	sw(f, 110, 1, 0, 7, 0);
	expect_eq(event_log_snapshot(w.log, &shot), 0);
	push(f, &run);
	expect_eq(entry(w.log, 2).next->dsq_id, 3);
	expect_eq(entry(shot, 2).next->dsq_id, EV_DSQ_INVALID);
	expect_eq(event_log_end(shot), 3);
	event_log_free(shot);
	unwatch(&w);
}

static void after_a_pause_the_task_on_a_cpu_is_unknown(void **state)
{
	struct fixture *f = *state;
	struct watched w = watch(f);
	struct event_entry e;

	sw(f, 110, 1, 0, 7, 0);
	event_notes_resume(w.notes);
	sw(f, 900, 1, 7, 0, EV_STATE_S);
	e = entry(w.log, 2);
	expect_eq(e.used_ns, 0);
	unwatch(&w);
}

#define T(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(records_are_logged_with_names_and_times),
		T(a_switch_knows_what_sched_ext_says_before_and_after_it),
		T(what_a_snapshot_has_is_not_changed),
		T(after_a_pause_the_task_on_a_cpu_is_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
