#include "../unit.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../trace/records.h"
#include "record/flight_box.h"

#define MS     1000000ULL
#define SECOND (1000 * MS)
#define MIB    ((size_t)1 << 20)

struct fixture {
	struct flight_box *box;
	struct ev_sink sink;
	uint32_t nr_opened, nr_ended;
	struct flight_dump dumps[16];
	const char *path; /* of the traces */
	int open_error;
};

static int open_trace(void *ctx, const struct trigger_hit *hit, const struct trace_attr *attrs,
                      size_t nr_attrs, struct diag *d, struct trace_writer **out)
{
	struct fixture *f = ctx;
	struct trace_writer_cfg cfg = { .attrs = attrs, .nr_attrs = nr_attrs };

	(void)hit;
	f->nr_opened++;
	if (f->open_error)
		return diag_set(d, f->open_error, NULL, "cannot create it");
	return trace_writer_create(f->path, &cfg, d, out);
}

static void ended(void *ctx, const struct flight_dump *dump)
{
	struct fixture *f = ctx;

	assert_true(f->nr_ended < 16);
	f->dumps[f->nr_ended++] = *dump;
}

static const char *const texts[] = { "wakeup-latency>10ms", "queue-depth>100" };

/* 5 s before, 1 s after, 3 s of cooldown. */
static void make(struct fixture *f, size_t bytes, uint64_t max_dumps)
{
	struct trigger triggers[2];
	struct flight_box_cfg cfg = {
		.keep_ns = 5 * SECOND,
		.after_ns = SECOND,
		.cooldown_ns = 3 * SECOND,
		.keep_bytes = bytes,
		.nr_cpus = 2,
		.triggers = triggers,
		.trigger_texts = texts,
		.nr_triggers = 2,
		.max_dumps = max_dumps,
		.self_tgid = 70,
		.calls = { .ctx = f, .open = open_trace, .ended = ended },
	};

	for (size_t i = 0; i < 2; i++)
		expect_eq(trigger_parse(texts[i], NULL, &triggers[i]), 0);
	*f = (struct fixture){ .path = "/dev/null" };
	expect_eq(flight_box_new(&cfg, NULL, &f->box), 0);
	f->sink = flight_box_sink(f->box);
}

static void push(struct fixture *f, const struct ev_hdr *rec)
{
	expect_eq(f->sink.push(f->sink.ctx, rec), 0);
}

/* Time passes; the disk is given its turn. */
static void pass(struct fixture *f, uint64_t ts_ns)
{
	expect_eq(f->sink.advance(f->sink.ctx, ts_ns), 0);
	while (flight_box_pump(f->box))
		;
}

/* Task 7 is woken and runs at ts, after that long; then it sleeps. */
static void run_after(struct fixture *f, uint64_t ts, uint64_t latency_ns)
{
	push(f, rec_switch(0, ts - latency_ns - MS, 7, EV_STATE_S, 0));
	push(f, rec_waking(1, ts - latency_ns, 0, 7, 0));
	push(f, rec_switch(0, ts, 0, 0, 7));
}

static struct flight_box_stats stats_of(const struct fixture *f)
{
	struct flight_box_stats s;

	flight_box_stats(f->box, &s);
	return s;
}

static void fast_wakeups_make_no_dump(void **state)
{
	struct fixture f;

	(void)state;
	make(&f, 16 * MIB, 0);
	for (uint64_t s = 1; s < 30; s++) {
		run_after(&f, s * SECOND, 9 * MS);
		pass(&f, s * SECOND);
	}
	expect_eq(f.nr_opened, 0);
	expect_eq(stats_of(&f).fired, 0);
	expect_eq(stats_of(&f).covered_ns, 5 * SECOND);
	flight_box_free(f.box);
}

static void a_slow_one_makes_one_with_before_and_after(void **state)
{
	struct fixture f;

	(void)state;
	make(&f, 16 * MIB, 0);
	for (uint64_t s = 1; s < 20; s++)
		run_after(&f, s * SECOND, MS);
	run_after(&f, 20 * SECOND, 20 * MS);
	expect_eq(f.nr_opened, 1);
	pass(&f, 20 * SECOND + 999 * MS);
	expect_eq(f.nr_ended, 0);
	assert_true(stats_of(&f).is_dumping);
	run_after(&f, 21 * SECOND + 100 * MS, MS);
	pass(&f, 21 * SECOND + 200 * MS);
	expect_eq(f.nr_ended, 1);
	expect_eq(f.dumps[0].diag.code, 0);
	expect_eq(f.dumps[0].hit.kind, TRIGGER_WAKEUP_LATENCY);
	expect_eq(f.dumps[0].hit.value, 20 * MS);
	expect_eq(f.dumps[0].hit.tid, 7);
	expect_eq(f.dumps[0].before_ns, 5 * SECOND);
	expect_eq(f.dumps[0].after_ns, SECOND);
	assert_false(f.dumps[0].is_cut);
	/* The switch from before, the last of 15, three each of 16 to 20. */
	expect_eq(f.dumps[0].records, 1 + 1 + 5 * 3);
	assert_true(f.dumps[0].bytes > 0);
	flight_box_free(f.box);
	expect_eq(f.nr_ended, 1);
}

static void the_recorder_itself_does_not_fire(void **state)
{
	struct fixture f;

	(void)state;
	make(&f, 16 * MIB, 0);
	push(&f, rec_task_info(7, 70, 1, "schedscope"));
	run_after(&f, 20 * SECOND, 20 * MS);
	expect_eq(stats_of(&f).fired, 0);
	push(&f, rec_task_info(7, 71, 1, "other"));
	run_after(&f, 21 * SECOND, 20 * MS);
	expect_eq(stats_of(&f).fired, 1);
	flight_box_free(f.box);
}

static void a_young_recorder_reports_how_little_it_has(void **state)
{
	struct fixture f;

	(void)state;
	make(&f, 16 * MIB, 0);
	push(&f, rec_switch(1, 8 * SECOND, 9, EV_STATE_S, 0));
	run_after(&f, 10 * SECOND, 20 * MS);
	flight_box_finish(f.box);
	expect_eq(f.nr_ended, 1);
	expect_eq(f.dumps[0].before_ns, 2 * SECOND);
	expect_eq(f.dumps[0].after_ns, 0);
	flight_box_free(f.box);
}

static void what_fires_during_dump_and_cooldown_is_counted(void **state)
{
	struct fixture f;
	struct flight_box_stats s;

	(void)state;
	make(&f, 16 * MIB, 0);
	run_after(&f, 20 * SECOND, 20 * MS);
	run_after(&f, 20 * SECOND + 500 * MS, 20 * MS); /* while it is written */
	pass(&f, 22 * SECOND);
	run_after(&f, 23 * SECOND, 20 * MS);
	run_after(&f, 24 * SECOND + 900 * MS, 20 * MS); /* cooling till 25 */
	s = stats_of(&f);
	expect_eq(s.dumps, 1);
	expect_eq(s.fired, 4);
	expect_eq(s.ignored, 3);
	run_after(&f, 25 * SECOND, 20 * MS);
	s = stats_of(&f);
	expect_eq(s.dumps, 2);
	expect_eq(s.fired, 5);
	expect_eq(s.ignored, 3);
	flight_box_finish(f.box);
	expect_eq(f.nr_ended, 2);
	flight_box_free(f.box);
}

static void a_manual_trigger_overrules_the_cooldown_but_not_a_dump(void **state)
{
	struct fixture f;

	(void)state;
	make(&f, 16 * MIB, 0);
	run_after(&f, 20 * SECOND, 20 * MS);
	flight_box_ask(f.box, 20 * SECOND + 1);
	expect_eq(f.nr_opened, 1);
	pass(&f, 22 * SECOND);
	flight_box_ask(f.box, 22 * SECOND + 1);
	expect_eq(f.nr_opened, 2);
	pass(&f, 24 * SECOND);
	expect_eq(f.nr_ended, 2);
	expect_eq(f.dumps[1].hit.kind, TRIGGER_USER);
	expect_eq(stats_of(&f).ignored, 1);
	flight_box_free(f.box);
}

static void the_last_of_so_many_dumps_is_the_end(void **state)
{
	struct fixture f;

	(void)state;
	make(&f, 16 * MIB, 2);
	for (uint64_t i = 0; i < 4; i++) {
		assert_int_equal(flight_box_is_done(f.box), i >= 2);
		run_after(&f, (20 + 10 * i) * SECOND, 20 * MS);
		assert_int_equal(flight_box_is_done(f.box), i >= 2);
		pass(&f, (25 + 10 * i) * SECOND);
	}
	assert_true(flight_box_is_done(f.box));
	expect_eq(f.nr_opened, 2);
	expect_eq(stats_of(&f).ignored, 2);
	flight_box_free(f.box);
}

static void a_dump_that_cannot_be_opened_is_reported_and_the_next_one_tried(void **state)
{
	struct fixture f;

	(void)state;
	make(&f, 16 * MIB, 0);
	f.open_error = -EACCES;
	run_after(&f, 20 * SECOND, 20 * MS);
	expect_eq(f.nr_ended, 1);
	assert_int_equal(f.dumps[0].diag.code, -EACCES);
	f.open_error = 0;
	run_after(&f, 22 * SECOND, 20 * MS); /* after a failure there is a cooldown, too */
	expect_eq(f.nr_opened, 1);
	run_after(&f, 24 * SECOND, 20 * MS);
	pass(&f, 26 * SECOND);
	expect_eq(f.nr_ended, 2);
	expect_eq(f.dumps[1].diag.code, 0);
	expect_eq(stats_of(&f).failed, 1);
	flight_box_free(f.box);
}

static void a_full_disk_ends_the_dump_and_not_the_recorder(void **state)
{
	struct fixture f;

	(void)state;
	make(&f, 16 * MIB, 0);
	f.path = "/dev/full"; /* an empty head can be written there: nothing is */
	run_after(&f, 20 * SECOND, 20 * MS);
	pass(&f, 22 * SECOND);
	expect_eq(f.nr_ended, 1);
	assert_int_equal(f.dumps[0].diag.code, -ENOSPC);
	f.path = "/dev/null";
	run_after(&f, 30 * SECOND, 20 * MS);
	pass(&f, 32 * SECOND);
	expect_eq(f.nr_ended, 2);
	expect_eq(f.dumps[1].diag.code, 0);
	expect_eq(stats_of(&f).failed, 1);
	flight_box_free(f.box);
}

/* Records come faster than the disk takes them: none is left out, and memory does not grow. */
static void a_slow_disk_loses_nothing(void **state)
{
	struct fixture f;
	uint64_t nr = 0;

	(void)state;
	make(&f, MIB, 0);
	run_after(&f, 20 * SECOND, 20 * MS);
	for (uint64_t ts = 20 * SECOND + 1; ts <= 21 * SECOND; ts += 10000, nr++)
		push(&f,
		     rec_switch(1, ts, nr % 2 ? 8 : 0, nr % 2 ? EV_STATE_S : 0, nr % 2 ? 0 : 8));
	expect_eq(nr, 100000); /* 3.2 MB */
	assert_true(stats_of(&f).bytes <= MIB);
	assert_true(stats_of(&f).nr_cut > 0);
	pass(&f, 22 * SECOND);
	expect_eq(f.nr_ended, 1);
	expect_eq(f.dumps[0].records, 3 + nr);
	flight_box_free(f.box);
}

static void memory_that_is_too_small_is_reported(void **state)
{
	struct fixture f;

	(void)state;
	make(&f, MIB, 0);
	for (uint64_t i = 0; i < 100000; i++) /* 4 s, of which 1 MiB is a third */
		push(&f, rec_switch(1, 10 * SECOND + i * 40000, i % 2 ? 8 : 0,
		                    i % 2 ? EV_STATE_S : 0, i % 2 ? 0 : 8));
	run_after(&f, 14 * SECOND + 100 * MS, 20 * MS);
	flight_box_finish(f.box);
	assert_true(f.dumps[0].is_cut);
	assert_true(f.dumps[0].before_ns > 600 * MS && f.dumps[0].before_ns < 1500 * MS);
	flight_box_free(f.box);
}

static void what_cannot_be_is_refused(void **state)
{
	struct flight_box_cfg cfg = { .keep_ns = SECOND, .keep_bytes = 4096, .nr_cpus = 1 };
	struct flight_box *box = NULL;
	struct diag d = { 0 };

	(void)state;
	assert_int_equal(flight_box_new(&cfg, &d, &box), -EINVAL);
	assert_true(d.what[0]);
	assert_null(box);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fast_wakeups_make_no_dump),
		cmocka_unit_test(a_slow_one_makes_one_with_before_and_after),
		cmocka_unit_test(the_recorder_itself_does_not_fire),
		cmocka_unit_test(a_young_recorder_reports_how_little_it_has),
		cmocka_unit_test(what_fires_during_dump_and_cooldown_is_counted),
		cmocka_unit_test(a_manual_trigger_overrules_the_cooldown_but_not_a_dump),
		cmocka_unit_test(the_last_of_so_many_dumps_is_the_end),
		cmocka_unit_test(a_dump_that_cannot_be_opened_is_reported_and_the_next_one_tried),
		cmocka_unit_test(a_full_disk_ends_the_dump_and_not_the_recorder),
		cmocka_unit_test(a_slow_disk_loses_nothing),
		cmocka_unit_test(memory_that_is_too_small_is_reported),
		cmocka_unit_test(what_cannot_be_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
