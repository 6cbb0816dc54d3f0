/*
 * The data of a report of made-up streams: random ones, whole and damaged, with stolen time, throttling, devices; bounds; nothing
 * at all.
 */
#include "against.h"

#include "../analyses/reference.h"
#include "../analyze/more_records.h"

#include <stdlib.h>
#include <string.h>

#include "analyses/passes.h"
#include "ledger/ledger.h"

#ifndef STREAMS
#define STREAMS RANDOM_WORLDS(150U)
#endif

static struct report_data *make_of(const struct source *s, const struct pass_args *args,
                                   uint64_t max_bytes, const struct pair_wait *worst)
{
	struct report_data_cfg cfg = { .s = s,
		                       .args = args,
		                       .max_bytes = max_bytes,
		                       .worst = worst,
		                       .nr_worst = worst ? 1 : 0 };
	struct report_data *r = NULL;
	struct diag d = { 0 };

	if (report_data_begin(&cfg, &d, &r) || report_data_make(r, &cfg, &d))
		fail_msg("%s", d.what);
	return r;
}

static void check(struct pass_fixture *p, const struct pass_args *args, int nr)
{
	struct report_data *r = make_of(&p->source, args, 0, NULL);
	struct unpacked u;

	unpack(r, &u);
	expect_random_spans(&p->source, args, &u, nr, true);
	unpacked_done(&u);
	report_data_free(r);
}

static void each_stream(bool is_damaged)
{
	for (unsigned int seed = 0; seed < STREAMS; seed++) {
		struct ref ref;
		struct ref_cfg cfg = { .seed = seed,
			               .has_waking = seed % 3 != 1,
			               .has_wakeup = seed % 3 != 2,
			               .scale = seed % 2 ? 1 : 1000,
			               .is_damaged = is_damaged };
		struct pass_fixture *p;
		struct pass_args part = { .cpu = PASS_ANY_CPU };
		void *state;

		assert_int_equal(pass_setup(&state), 0);
		p = state;
		memset(&ref, 0, sizeof(ref));
		ref_make(&ref, &cfg);
		ref_push(&ref, p);
		check(p, &(struct pass_args){ .cpu = PASS_ANY_CPU }, 12);
		part.from_ns = ref.start + (ref.end - ref.start) / 3;
		part.to_ns = ref.start + (ref.end - ref.start) / 3 * 2;
		check(p, &part, 6);
		pass_teardown(&state);
	}
}

static void random_streams(void **state)
{
	(void)state;
	each_stream(false);
}

static void damaged_streams(void **state)
{
	(void)state;
	each_stream(true);
}

static uint64_t time_of(const struct unpacked *u, uint64_t cause)
{
	const struct unpacked_table *t = unpacked_table(u, "blame");
	uint64_t ns = 0;

	for (uint64_t row = 0; t && row < t->nr; row++)
		ns += unpacked_at(t, row, "cause") == cause ? unpacked_at(t, row, "ns") : 0;
	return ns;
}

/* Waits across a throttling: each begins with its task taken off the CPU, and lasts longer than the quota kept it off. */
static void throttled_time_is_cut_at_edges(void **state)
{
	struct pass_fixture *p = *state;
	struct fixture *f = &p->f;
	struct report_data *r;
	struct unpacked u;

	measures(f, EV_MEASURES_QUOTA);
	thread_of(f, 1000, 101, "one");
	sw(f, 2000, 0, 0, 101, EV_STATE_RUNNABLE);
	for (uint64_t t = 3000; t < 60000; t += 6000) {
		sw(f, t, 0, 101, 0, EV_STATE_RUNNABLE);
		throttle(f, t + 1, 0, 101, 7);
		refill(f, t + 3333, 7, EVERY_CPU);
		sw(f, t + 4000, 0, 0, 101, EV_STATE_RUNNABLE);
	}
	finish(p, 70000);
	r = make_of(&p->source, &p->args, 0, NULL);
	unpack(r, &u);
	expect_eq(time_of(&u, LEDGER_THROTTLED), 10 * 3333);
	expect_random_spans(&p->source, &p->args, &u, 200, true);
	unpacked_done(&u);
	report_data_free(r);
}

static void put_into(struct fixture *f, uint64_t ts, uint32_t tid, uint64_t cgroup)
{
	push(f, &(struct ev_cgroup){
			.hdr = { .size = sizeof(struct ev_cgroup), .kind = EV_CGROUP, .ts_ns = ts },
			.tid = tid,
			.cgroup = cgroup });
}

/* What one culprit of a cgroup caused, as tables have it. */
static uint64_t caused_by(const struct unpacked *u, const char *cgroup)
{
	const struct unpacked_table *t = unpacked_table(u, "blame");
	uint64_t ns = 0;

	for (uint64_t row = 0; row < t->nr; row++) {
		json_t *culprit = json_array_get(json_object_get(u->doc, "who"),
		                                 unpacked_at(t, row, "culprit"));
		const char *name = json_string_value(json_object_get(culprit, "cgroup"));

		ns += name && strcmp(name, cgroup) == 0 ? unpacked_at(t, row, "ns") : 0;
	}
	return ns;
}

/*
 * The one exception from what analyze says: a culprit changes its cgroup while it runs. A part of a wait counts for the cgroup in which
 * it begins; the tables begin one at each edge of a bucket, and so follow the change, where analyze has one part.
 */
static void a_culprit_that_changes_its_cgroup_is_followed(void **state)
{
	struct pass_fixture *p = *state;
	struct fixture *f = &p->f;
	const struct report_node *root;
	struct report_data *r;
	struct unpacked u;

	thread_of(f, 1000, 101, "hog");
	thread_of(f, 1000, 102, "victim");
	put_into(f, 1100, 101, 10);
	put_into(f, 1100, 102, 10);
	sw(f, 2000, 0, 0, 101, EV_STATE_RUNNABLE);
	wakeup(f, 10000, 0, 102, 0);
	put_into(f, 30000, 101, 20);
	sw(f, 50000, 0, 101, 102, EV_STATE_RUNNABLE);
	finish(p, 60000);
	p->args.by = PASS_BY_CGROUP;
	root = run_pass(p, &pass_blame);
	assert_string_equal(text_at(root, "culprits.0.cgroup"), "cgroup 10");
	expect_eq(num_at(root, "culprits.0.caused_wait_ns"), 40000 + 10000);
	p->args.by = PASS_BY_DEFAULT;
	r = make_of(&p->source, &p->args, 0, NULL);
	unpack(r, &u);
	expect_eq(caused_by(&u, "cgroup 10"), 20000 + 10000);
	expect_eq(caused_by(&u, "cgroup 20"), 20000);
	expect_each_bucket(&p->source, &p->args, &u);
	expect_random_spans(&p->source, &p->args, &u, 100, true);
	unpacked_done(&u);
	report_data_free(r);
}

/* Waits across stolen time and interrupts, which are cut at the edges of buckets. */
static void stolen_time_is_cut_at_edges(void **state)
{
	struct pass_fixture *p = *state;
	struct fixture *f = &p->f;

	measures(f, EV_MEASURES_STEAL);
	thread_of(f, 1000, 101, "one");
	thread_of(f, 1000, 102, "two");
	sw(f, 2000, 0, 0, 101, EV_STATE_RUNNABLE);
	waking(f, 2500, 0, 102, 101);
	wakeup(f, 2600, 0, 102, 0);
	for (uint64_t t = 3000; t < 60000; t += 4000) {
		irq(f, t + 100, 0, 5, false);
		irq(f, t + 350, 0, 5, true);
		steal(f, t + 2000, 0, 777);
		sw(f, t + 2000, 0, t / 4000 % 2 ? 102 : 101, t / 4000 % 2 ? 101 : 102,
		   EV_STATE_RUNNABLE);
	}
	finish(p, 70000);
	check(p, &p->args, 200);
}

static void nothing_at_all(void **state)
{
	struct pass_fixture *p = *state;
	struct report_data *r;
	struct unpacked u;

	finish(p, 0);
	r = make_of(&p->source, &p->args, 0, NULL);
	unpack(r, &u);
	expect_eq(u.nr_tables, 0);
	expect_eq(unpacked_num(&u, "buckets", "nr"), 1);
	assert_null(report_data_heat(r));
	unpacked_done(&u);
	report_data_free(r);
}

static void one_moment(void **state)
{
	struct pass_fixture *p = *state;
	struct report_data *r;
	struct unpacked u;

	sw(&p->f, 5000, 0, 0, 101, EV_STATE_RUNNABLE);
	finish(p, 5000);
	r = make_of(&p->source, &p->args, 0, NULL);
	unpack(r, &u);
	expect_eq(unpacked_num(&u, "time", "span_ns"), 0);
	expect_eq(unpacked_at(unpacked_table(&u, "run"), 0, "begun"), 1);
	expect_eq(unpacked_at(unpacked_table(&u, "run"), 0, "ns"), 0);
	unpacked_done(&u);
	report_data_free(r);
}

/* Three hours with a switch each minute; CPU 1 says nothing: its time is unknown, not idle. */
static void hours_and_a_silent_cpu(void **state)
{
	struct pass_fixture *p = *state;
	const uint64_t minute = 60000000000ULL;
	const struct report_lanes *lanes;
	struct report_data *r;
	struct unpacked u;

	sw(&p->f, minute, 0, 0, 101, EV_STATE_RUNNABLE);
	for (uint64_t i = 2; i < 180; i++)
		sw(&p->f, i * minute, 0, 100 + (uint32_t)(i + 1) % 2, 100 + (uint32_t)i % 2,
		   EV_STATE_RUNNABLE);
	sw(&p->f, 180 * minute, 1, 0, 103, EV_STATE_RUNNABLE);
	finish(p, 181 * minute);
	r = make_of(&p->source, &p->args, 0, NULL);
	unpack(r, &u);
	expect_random_spans(&p->source, &p->args, &u, 30, true);
	lanes = report_data_lanes(r);
	assert_non_null(lanes);
	expect_eq(lanes->cells[lanes->nr_buckets].unknown, UINT8_MAX);
	expect_eq(lanes->cells[lanes->nr_buckets].busy, 0);
	expect_eq(lanes->cells[0].unknown, 0);
	expect_eq(lanes->cells[0].busy, UINT8_MAX);
	unpacked_done(&u);
	report_data_free(r);
}

/* 300 tasks take turns on two CPUs; each waits for all others, and each wakes the next. */
static void crowd(struct pass_fixture *p, uint32_t nr, int rounds)
{
	uint64_t t = 1000;
	uint32_t last[2] = { 0 };
	char comm[16];

	for (uint32_t i = 0; i < nr; i++) {
		snprintf(comm, sizeof(comm), "crowd-%u", i / 10);
		thread_of(&p->f, 500, 1000 + i, comm);
		waking(&p->f, 600 + i, i % 2, 1000 + i, i ? 999 + i : 1000);
		wakeup(&p->f, 601 + i, i % 2, 1000 + i, i % 2);
	}
	for (int k = 0; k < rounds; k++) {
		for (uint32_t i = 0; i < nr; i++, t += 700 + i * 13 % 900) {
			sw(&p->f, t, i % 2, last[i % 2], 1000 + i, EV_STATE_RUNNABLE);
			last[i % 2] = 1000 + i;
		}
	}
	finish(p, t);
}

/* The longest wait. */
static struct pair_wait worst_of(const struct source *s)
{
	struct pair_wait worst = { 0 };
	union timeline_row row;

	for (uint64_t id = timeline_first(s->timeline, TIMELINE_WAIT);
	     timeline_row(s->timeline, TIMELINE_WAIT, id, &row); id++)
		if (!row.wait.is_open && row.wait.end_ns - pair_wait_woken_ns(&row.wait) >
		                                 worst.end_ns - pair_wait_woken_ns(&worst))
			worst = row.wait;
	return worst;
}

/* With an entry of its own in the document. */
static bool has_thread(const struct unpacked *u, uint32_t tid)
{
	json_t *one;
	size_t i;

	json_array_foreach(json_object_get(u->doc, "who"), i,
	                   one) if (json_integer_value(json_object_get(one, "tid")) ==
	                            (json_int_t)tid) return true;
	return false;
}

static void what_is_too_much_is_folded_and_stays_exact_by_name(void **state)
{
	static const uint64_t sizes[] = { 300000, 60000, 20000 };
	struct pass_fixture *p = *state;
	struct pair_wait worst;
	size_t last = SIZE_MAX;

	crowd(p, 300, 12);
	worst = worst_of(&p->source);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct report_data *r = make_of(&p->source, &p->args, sizes[i], &worst);
		struct unpacked u;

		unpack(r, &u);
		assert_in_range(u.bytes, 1, sizes[i] * 3 / 2);
		assert_true(u.bytes <= last);
		last = u.bytes;
		expect_random_spans(&p->source, &p->args, &u, 15, false);
		/* The task of the worst wait is never folded. */
		assert_true(has_thread(&u, source_tid(&p->source, worst.task)));
		unpacked_done(&u);
		report_data_free(r);
	}
}

/* Slices and waits one by one add up to the sums, and the parts of each wait to it. */
static void detail_adds_up(void **state)
{
	struct pass_fixture *p = *state;
	const struct unpacked_table *slice, *waited, *part, *run;
	uint64_t run_ns = 0, cell_ns = 0, row = 0;
	struct report_data *r;
	struct unpacked u;

	crowd(p, 20, 30);
	r = make_of(&p->source, &p->args, 0, NULL);
	unpack(r, &u);
	assert_true(json_is_true(json_object_get(json_object_get(u.doc, "detail"), "complete")));
	slice = unpacked_table(&u, "slice");
	waited = unpacked_table(&u, "waited");
	part = unpacked_table(&u, "part");
	run = unpacked_table(&u, "run");
	for (uint64_t i = 0; i < slice->nr; i++)
		run_ns += unpacked_at(slice, i, "ns");
	for (uint64_t i = 0; i < run->nr; i++)
		cell_ns += unpacked_at(run, i, "ns");
	expect_eq(run_ns, cell_ns);
	expect_eq(slice->nr, 600);
	for (uint64_t i = 0; i < waited->nr; i++) {
		uint64_t ns = 0;

		for (; row < part->nr && unpacked_at(part, row, "wait") == i; row++)
			ns += unpacked_at(part, row, "ns");
		expect_eq(ns, unpacked_at(waited, i, "ns"));
	}
	expect_eq(row, part->nr);
	unpacked_done(&u);
	report_data_free(r);
}

static void devices_are_counted_where_they_begin(void **state)
{
	struct pass_fixture *p = *state;
	const struct unpacked_table *t;
	struct report_data *r;
	struct unpacked u;
	uint64_t ns = 0, nr = 0;

	sw(&p->f, 1000, 0, 0, 101, EV_STATE_RUNNABLE);
	sw(&p->f, 1000, 1, 102, 0, 1);
	freq(&p->f, 1000, 0, 0, 1000000);
	idle_state(&p->f, 1000, 1, 1, 2);
	irq_by(&p->f, 1500, 0, 7, "disk", 101);
	irq(&p->f, 2500, 0, 7, true);
	freq(&p->f, 3000, 0, 5, 700000); /* no task runs there */
	idle_state(&p->f, 3000, 0, 5, 1);
	freq(&p->f, 3000, 0, 0, 3000000);
	idle_state(&p->f, 4000, 1, 1, UINT32_MAX);
	finish(p, 5000);
	r = make_of(&p->source, &p->args, 0, NULL);
	unpack(r, &u);
	t = unpacked_table(&u, "irq");
	for (uint64_t i = 0; i < t->nr; i++) {
		ns += unpacked_at(t, i, "ns");
		nr += unpacked_at(t, i, "count");
	}
	expect_eq(ns, 1000);
	expect_eq(nr, 1);
	t = unpacked_table(&u, "idle");
	ns = 0;
	for (uint64_t i = 0; i < t->nr; i++)
		ns += unpacked_at(t, i, "ns");
	expect_eq(ns, 5000);
	t = unpacked_table(&u, "frequency");
	expect_eq(unpacked_at(t, 0, "mean_khz"), 1000000);
	ns = 0;
	for (uint64_t i = 0; i < t->nr; i++) {
		uint64_t cpu = unpacked_at(t, i, "cpu"), khz = unpacked_at(t, i, "max_khz");

		ns = cpu == 0 && khz > ns ? khz : ns;
		expect_eq(cpu == 5 ? khz : 700000, 700000);
		nr += cpu == 5;
	}
	expect_eq(ns, 3000000);
	assert_true(nr > 1); /* one interrupt was counted before */
	unpacked_done(&u);
	report_data_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_streams),
		cmocka_unit_test(damaged_streams),
#define WITH_STREAM(f) cmocka_unit_test_setup_teardown(f, pass_setup, pass_teardown)
		WITH_STREAM(stolen_time_is_cut_at_edges),
		WITH_STREAM(throttled_time_is_cut_at_edges),
		WITH_STREAM(a_culprit_that_changes_its_cgroup_is_followed),
		WITH_STREAM(nothing_at_all),
		WITH_STREAM(one_moment),
		WITH_STREAM(hours_and_a_silent_cpu),
		WITH_STREAM(what_is_too_much_is_folded_and_stays_exact_by_name),
		WITH_STREAM(detail_adds_up),
		WITH_STREAM(devices_are_counted_where_they_begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
