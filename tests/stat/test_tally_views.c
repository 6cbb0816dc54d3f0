/* How the tally shows it: rows, intervals, extremes, groups of tasks, rates, CPUs. */
#include "../unit.h"

#include "fake_task.h"

static const struct tally_cfg by_comm = { .by = TALLY_BY_COMM, .nr_cpus = 4 };

static void expect_span(const struct hist *h, uint64_t count, uint64_t min_ns, uint64_t max_ns)
{
	assert_non_null(h);
	expect_eq(h->count, count);
	expect_eq(h->min_ns, min_ns);
	expect_eq(h->max_ns, max_ns);
}

static void an_interval_holds_only_what_came_since_it_began(void **state)
{
	struct tally *t = fake_tally(&by_comm);
	struct fake_task f;

	(void)state;
	fake_init(&f, 7, "a");
	fake_add(&f.hists[0], 1, 900 * US, 1, 1);
	fake_depth(&f, 9, 100, 2);
	f.head.run_ns = 50;
	fake_send(t, &f);
	expect_span(fake_hist(t, "a", TALLY_INTERVAL, 0), 1, 900 * US, 900 * US);
	tally_begin_interval(t);
	assert_null(fake_hist(t, "a", TALLY_INTERVAL, 0));
	assert_null(fake_row(t, "a")->view[TALLY_INTERVAL].depth);
	expect_eq(fake_row(t, "a")->view[TALLY_INTERVAL].members.nr_tasks, 0);
	expect_eq(fake_row(t, "a")->view[TALLY_INTERVAL].run_ns, 0);

	fake_add(&f.hists[0], 2, 5 * US, 2, 1);
	fake_depth(&f, 4, 200, 3);
	f.head.run_ns = 70;
	fake_send(t, &f);
	expect_span(fake_hist(t, "a", TALLY_INTERVAL, 0), 1, 5 * US, 5 * US);
	expect_span(fake_hist(t, "a", TALLY_TOTAL, 0), 2, 5 * US, 900 * US);
	expect_eq(fake_row(t, "a")->view[TALLY_INTERVAL].run_ns, 20);
	expect_eq(fake_row(t, "a")->view[TALLY_TOTAL].run_ns, 70);
	tally_begin_interval(t);
	fake_send(t, &f);
	assert_null(fake_hist(t, "a", TALLY_INTERVAL, 0));
	expect_eq(fake_row(t, "a")->view[TALLY_INTERVAL].members.nr_tasks, 0);
	tally_free(t);
}

static void several_drains_of_one_interval_add_up(void **state)
{
	struct tally *t = fake_tally(&by_comm);
	struct fake_task f;

	(void)state;
	fake_init(&f, 7, "a");
	tally_begin_interval(t);
	fake_add(&f.hists[0], 1, 800 * US, 11, 1);
	fake_send(t, &f);
	fake_add(&f.hists[0], 2, 5 * US, 12, 1);
	fake_send(t, &f);
	fake_add(&f.hists[0], 3, 700 * US, 13, 1);
	fake_send(t, &f);
	expect_span(fake_hist(t, "a", TALLY_INTERVAL, 0), 3, 5 * US, 800 * US);
	expect_eq(fake_hist(t, "a", TALLY_INTERVAL, 0)->max_at_ns, 11);
	expect_eq(fake_row(t, "a")->view[TALLY_INTERVAL].members.nr_tasks, 1);
	tally_free(t);
}

/* Samples after the epoch turned, but before the task was read: in the same epoch as later ones. */
static void an_epoch_that_is_read_twice_keeps_intervals_apart(void **state)
{
	struct tally *t = fake_tally(&by_comm);
	struct fake_task f;

	(void)state;
	fake_init(&f, 7, "a");
	fake_add(&f.hists[0], 1, 50 * US, 1, 1);
	fake_add(&f.hists[0], 2, 100 * US, 2, 1);
	fake_send(t, &f);
	expect_span(fake_hist(t, "a", TALLY_INTERVAL, 0), 2, 50 * US, 100 * US);

	tally_begin_interval(t); /* a longer and a shorter one are known to be new */
	fake_add(&f.hists[0], 2, 333 * US, 3, 1);
	fake_add(&f.hists[0], 2, 7 * US + 1, 3, 1);
	fake_send(t, &f);
	expect_span(fake_hist(t, "a", TALLY_INTERVAL, 0), 2, 7 * US + 1, 333 * US);

	tally_begin_interval(t); /* one between them is only known by its slot */
	fake_add(&f.hists[0], 2, 77 * US, 4, 1);
	fake_send(t, &f);
	expect_span(fake_hist(t, "a", TALLY_INTERVAL, 0), 1, 77 * US, 77 * US);
	fake_add(&f.hists[0], 2, 200 * US, 5, 1);
	fake_send(t, &f);
	expect_span(fake_hist(t, "a", TALLY_INTERVAL, 0), 2, 77 * US, 200 * US);
	expect_eq(fake_hist(t, "a", TALLY_INTERVAL, 0)->max_at_ns, 0);
	expect_span(fake_hist(t, "a", TALLY_TOTAL, 0), 6, 7 * US + 1, 333 * US);

	tally_begin_interval(t); /* so are two, by the ends that were reached for certain */
	fake_add(&f.hists[0], 2, 77 * US, 6, 1);
	fake_add(&f.hists[0], 2, 200 * US, 7, 1);
	fake_send(t, &f);
	expect_span(fake_hist(t, "a", TALLY_INTERVAL, 0), 2, 82 * US - 1, 192 * US);
	tally_free(t);
}

static void an_extreme_written_too_late_counts_in_the_next_interval(void **state)
{
	struct tally *t = fake_tally(&by_comm);
	struct fake_task f;

	(void)state;
	fake_init(&f, 7, "a");
	fake_add(&f.hists[0], 1, 50 * US, 1, 1);
	fake_add_bare(&f.hists[0], 400 * US + 5);
	fake_send(t, &f);
	expect_span(fake_hist(t, "a", TALLY_TOTAL, 0), 2, 50 * US,
	            hist_slot_range(hist_slot(400 * US)).first);
	tally_begin_interval(t);
	f.hists[0].extremes[1].max_ns = 400 * US + 5;
	f.hists[0].extremes[1].max_at_ns = 77;
	fake_add(&f.hists[0], 2, 60 * US, 2, 1);
	fake_send(t, &f);
	expect_span(fake_hist(t, "a", TALLY_TOTAL, 0), 3, 50 * US, 400 * US + 5);
	expect_span(fake_hist(t, "a", TALLY_INTERVAL, 0), 1, 60 * US, 400 * US + 5);
	expect_eq(fake_hist(t, "a", TALLY_INTERVAL, 0)->max_at_ns, 77);
	tally_free(t);
}

static void without_extremes_the_slots_bound_them(void **state)
{
	struct tally *t = fake_tally(&by_comm);
	struct fake_task f;

	(void)state;
	fake_init(&f, 7, "a");
	fake_add_bare(&f.hists[0], 55 * US);
	fake_add_bare(&f.hists[0], 57 * US);
	fake_send(t, &f);
	expect_span(fake_hist(t, "a", TALLY_INTERVAL, 0), 2, 56 * US, 56 * US);
	expect_span(fake_hist(t, "a", TALLY_TOTAL, 0), 2, 62 * US - 1, 62 * US - 1);
	fake_add_bare(&f.hists[0], 0);
	fake_add_bare(&f.hists[0], 7200 * S);
	fake_send(t, &f);
	expect_span(fake_hist(t, "a", TALLY_TOTAL, 0), 4, 999,
	            hist_slot_range(HIST_SLOTS - 1).first);
	f.hists[1].extremes[0] = (struct abi_extremes){ .min_ns = 9, .max_ns = 1, .epoch = 4 };
	fake_add_bare(&f.hists[1], 3 * US + 7); /* a pair that cannot be */
	fake_send(t, &f);
	expect_span(fake_hist(t, "a", TALLY_INTERVAL, 1), 1, 3 * US + 7, 3 * US + 7);
	f.hists[1].extremes[0].min_ns = f.hists[1].extremes[0].max_ns = 3 * US + 7;
	f.hists[1].extremes[0].max_at_ns = 5;
	fake_send(t, &f); /* and at last the right one */
	expect_span(fake_hist(t, "a", TALLY_TOTAL, 1), 1, 3 * US + 7, 3 * US + 7);
	tally_free(t);
}

static void depth_is_added_up_and_its_maximum_kept_per_view(void **state)
{
	struct tally *t = fake_tally(&by_comm);
	const struct tally_depth *total, *now;
	struct fake_task f;

	(void)state;
	fake_init(&f, 7, "a");
	fake_depth(&f, 100, 5, 3); /* deeper than the slots reach */
	fake_depth(&f, 2, 6, 1);
	fake_send(t, &f);
	total = fake_row(t, "a")->view[TALLY_TOTAL].depth;
	now = fake_row(t, "a")->view[TALLY_INTERVAL].depth;
	expect_eq(now->max, 100);
	expect_eq(now->max_at_ns, 5);
	expect_eq(now->max_cpu, 3);
	expect_eq(now->slots[STAT_DEPTH_SLOTS - 1], 1);

	tally_begin_interval(t);
	fake_depth(&f, 8, 7, 1);
	fake_send(t, &f);
	now = fake_row(t, "a")->view[TALLY_INTERVAL].depth;
	expect_eq(now->count, 1);
	expect_eq(now->sum, 8);
	expect_eq(now->max, 8);
	expect_eq(now->max_at_ns, 0);
	fake_depth(&f, 101, 8, 2);
	fake_send(t, &f);
	expect_eq(now->max, 101);
	expect_eq(now->max_at_ns, 8);
	expect_eq(total->count, 4);
	expect_eq(total->sum, 211);
	expect_eq(total->max, 101);
	expect_eq(total->max_cpu, 2);
	expect_eq(total->slots[2], 1);
	tally_free(t);
}

static void the_longest_open_slice_of_a_drain_is_kept(void **state)
{
	struct tally *t = fake_tally(&by_comm);
	struct fake_task f;

	(void)state;
	for (uint32_t i = 1; i <= 3; i++) {
		fake_init(&f, i, "a");
		f.head.is_running = 1;
		f.head.on_cpu_ns = i == 2 ? 400 : 900;
		fake_send_at(t, &f, 0, false, 1000);
	}
	expect_eq(fake_row(t, "a")->open_slice_ns, 600);
	expect_eq(fake_row(t, "a")->open_slice_tid, 2);
	tally_begin_drain(t);
	expect_eq(fake_row(t, "a")->open_slice_ns, 0);
	f.head.on_cpu_ns = 0;
	fake_send_at(t, &f, 0, false, 1000);
	f.head.on_cpu_ns = 1001; /* began after the drain */
	fake_send_at(t, &f, 0, false, 1000);
	f.head.on_cpu_ns = 100;
	fake_send_at(t, &f, 0, true, 1000); /* gone */
	fake_init(&f, 9, "a");
	f.head.on_cpu_ns = 100; /* not running */
	fake_send_at(t, &f, 0, false, 1000);
	expect_eq(fake_row(t, "a")->open_slice_ns, 0);
	tally_free(t);
}

static void the_longest_open_wait_of_a_drain_is_kept(void **state)
{
	struct tally *t = fake_tally(&by_comm);
	const struct tally_open_wait *w;
	struct fake_task f;

	(void)state;
	for (uint32_t i = 1; i <= 3; i++) {
		fake_init(&f, i, "a");
		f.head.is_waiting = 1;
		f.head.wait_ns = i == 2 ? 400 : 900;
		f.head.wait_cpu = 10 + i;
		f.head.is_throttled = i == 2;
		fake_send_at(t, &f, 0, false, 1000);
	}
	w = &fake_row(t, "a")->open_wait;
	expect_eq(w->ns, 600);
	expect_eq(w->tid, 2);
	expect_eq(w->cpu, 12);
	expect_eq(w->is_throttled, true);
	assert_string_equal(w->comm, "a");
	tally_begin_drain(t);
	expect_eq(fake_row(t, "a")->open_wait.ns, 0);
	f.head.wait_ns = 0;
	fake_send_at(t, &f, 0, false, 1000);
	f.head.wait_ns = 1001; /* began after the drain */
	fake_send_at(t, &f, 0, false, 1000);
	f.head.wait_ns = 100;
	fake_send_at(t, &f, 0, true, 1000); /* gone */
	fake_init(&f, 9, "a");
	f.head.wait_ns = 100; /* runs already */
	fake_send_at(t, &f, 0, false, 1000);
	expect_eq(fake_row(t, "a")->open_wait.ns, 0);
	tally_free(t);
}

/* Sends it at a drain, and expects what is new in the interval. */
static void expect_times(struct tally *t, struct fake_task *f, uint64_t run_ns, uint64_t wait_ns,
                         bool has_gap)
{
	const struct tally_view *v;

	fake_send_at(t, f, 0, false, 0);
	v = &fake_row(t, "a")->view[TALLY_INTERVAL];
	expect_eq(v->times.run_ns, run_ns);
	expect_eq(v->times.wait_ns, wait_ns);
	expect_eq(v->has_gap, has_gap);
	expect_eq(v->members.nr_tasks, 0); /* nothing has ended */
	tally_begin_interval(t);
}

static void times_of_what_is_under_way_belong_to_the_interval(void **state)
{
	struct tally *t = fake_tally(&by_comm);
	const struct tally_row *row;
	struct fake_task f;

	(void)state;
	fake_init(&f, 7, "a");
	f.head.times = (struct stat_times){ 5 * MS, 2 * MS };
	expect_times(t, &f, 5 * MS, 2 * MS, false);
	f.head.times = (struct stat_times){ 5 * MS, 9 * MS };
	fake_send_at(t, &f, 0, false, 0);
	expect_eq(tally_rows_touched(t, &row, 1), 1);
	expect_times(t, &f, 0, 7 * MS, false); /* however often it comes */
	expect_times(t, &f, 0, 0, false);
	expect_eq(tally_rows_touched(t, &row, 1), 0);
	expect_eq(fake_row(t, "a")->view[TALLY_TOTAL].times.wait_ns, 9 * MS);
	/* A copy from the middle of an update is set right by the next one. */
	f.head.times.run_ns = 6 * MS;
	expect_times(t, &f, 1 * MS, 0, false);
	f.head.times.run_ns = 5 * MS + MS / 2;
	expect_times(t, &f, 0, 0, false);
	f.head.times.run_ns = 7 * MS;
	expect_times(t, &f, 1 * MS, 0, false);
	tally_free(t);
}

static void a_switch_that_was_not_seen_makes_a_gap(void **state)
{
	struct tally *t = fake_tally(&by_comm);
	struct fake_task f;

	(void)state;
	fake_init(&f, 7, "a");
	f.head.times.run_ns = 5 * MS;
	expect_times(t, &f, 5 * MS, 0, false);
	/* The slice of which that was a part is counted nowhere: the next ones are added to less. */
	f.head.times.run_ns = 1 * MS;
	f.head.nr_gaps = 1;
	expect_times(t, &f, 0, 0, true);
	f.head.times.run_ns = 4 * MS;
	expect_times(t, &f, 3 * MS, 0, false);
	/* One that runs since an unknown moment. */
	f.head.has_gap = 1;
	expect_times(t, &f, 0, 0, true);
	expect_times(t, &f, 0, 0, true);
	f.head.has_gap = 0;
	expect_times(t, &f, 0, 0, false);
	tally_free(t);
}

static void groups_count_tasks_and_show_the_smallest_ids(void **state)
{
	static const uint32_t tids[] = { 50, 20, 40, 10, 30 };
	struct tally *t = fake_tally(&by_comm);
	const struct tally_view *total, *now;
	struct fake_task f;

	(void)state;
	for (uint32_t i = 0; i < 5; i++) {
		fake_init(&f, tids[i], "a");
		fake_add(&f.hists[0], 1, 5 * US, 1, 1);
		if (i < 2)
			fake_add(&f.hists[1], 1, 5 * US, 1, 1);
		fake_send(t, &f);
	}
	tally_begin_interval(t);
	f.head.run_ns = 1;
	fake_send(t, &f);
	total = &fake_row(t, "a")->view[TALLY_TOTAL];
	now = &fake_row(t, "a")->view[TALLY_INTERVAL];
	expect_eq(total->members.nr_tasks, 5);
	expect_eq(total->members.nr_shown, 3);
	expect_eq(total->members.tids[0], 10);
	expect_eq(total->members.tids[1], 20);
	expect_eq(total->members.tids[2], 30);
	expect_eq(total->metric_members[0].nr_tasks, 5);
	expect_eq(total->metric_members[1].nr_tasks, 2);
	expect_eq(total->metric_members[1].nr_shown, 2);
	expect_eq(total->metric_members[1].tids[0], 20);
	expect_eq(total->metric_members[1].tids[1], 50);
	expect_eq(total->metric_members[2].nr_tasks, 0);
	expect_eq(now->members.nr_tasks, 1);
	expect_eq(now->members.tids[0], 30);
	expect_eq(now->metric_members[0].nr_tasks, 0);
	tally_free(t);
}

static void both_storages_of_a_task_are_one_task(void **state)
{
	struct tally *t = fake_tally(&by_comm);
	struct fake_task f;

	(void)state;
	fake_init(&f, 7, "a");
	fake_add(&f.hists[0], 1, 5 * US, 1, 1);
	fake_add(&f.waking.hist, 1, 5 * US, 1, 1);
	fake_send(t, &f);
	fake_send_waking(t, &f, false);
	fake_send_last(t, &f);
	tally_end_tick(t, S);
	fake_add(&f.waking.hist, 2, 6 * US, 1, 1);
	fake_send_waking(t, &f, true); /* the other part had gone before */
	expect_eq(fake_row(t, "a")->view[TALLY_TOTAL].members.nr_tasks, 1);
	expect_span(fake_hist(t, "a", TALLY_TOTAL, STAT_WAKING), 2, 5 * US, 6 * US);
	expect_span(fake_hist(t, "a", TALLY_TOTAL, 0), 1, 5 * US, 5 * US);
	tally_free(t);
}

static void migrations_become_rates_per_task_and_second(void **state)
{
	struct tally *t = fake_tally(&by_comm);
	const struct rates *r;
	struct fake_task f, g;

	(void)state;
	fake_init(&f, 7, "a");
	fake_init(&g, 8, "a");
	f.head.migrations = (struct stat_migrations){ 4, 1, 0 };
	fake_send(t, &f);
	fake_send(t, &g);
	f.head.migrations.all = 10; /* a second drain within the tick */
	fake_send(t, &f);
	tally_end_tick(t, S);
	r = fake_row(t, "a")->migration_rates;
	expect_eq(r[0].count, 1); /* none of the task that stayed */
	expect_eq(r[0].max, 10);
	expect_eq(r[1].max, 1);
	expect_eq(r[2].count, 1);
	expect_eq(r[2].max, 0);

	f.head.migrations.all = 13; /* 3 in 2 s, rounded */
	g.head.migrations.all = 1;
	fake_send(t, &f);
	fake_send_last(t, &g); /* gone before the tick ends */
	tally_end_tick(t, 2 * S);
	expect_eq(r[0].count, 3);
	expect_eq(rates_percentile(&r[0], 5000), 2);
	expect_eq(rates_percentile(&r[0], 1), 1);

	f.head.migrations.all = 1000;
	fake_send(t, &f);
	tally_end_tick(t, 499 * MS); /* too short for a rate */
	tally_end_tick(t, S);        /* and not carried on */
	expect_eq(r[0].count, 3);
	f.head.migrations.all = 1100;
	fake_send(t, &f);
	tally_end_tick(t, 500 * MS);
	expect_eq(r[0].count, 4);
	expect_eq(r[0].max, 200);
	expect_eq(fake_row(t, "a")->view[TALLY_TOTAL].migrations.all, 1101);
	expect_eq(fake_row(t, "a")->view[TALLY_TOTAL].migrations.cross_llc, 1);
	tally_free(t);
}

static void counters_become_rates_and_totals(void **state)
{
	struct tally *t = fake_tally(&by_comm);
	const struct tally_row *row;
	struct fake_task f;

	(void)state;
	fake_init(&f, 7, "a");
	f.head.counters[0] = 3000;
	f.head.counters[11] = UINT64_MAX;
	f.head.counter_slices = 2;
	fake_send(t, &f);
	tally_end_tick(t, S / 2);
	row = fake_row(t, "a");
	assert_null(row->migration_rates);
	expect_eq(row->counter_rates[0].max, 6000);
	expect_eq(row->counter_rates[5].count, 1);
	expect_eq(row->counter_rates[5].max, 0);
	expect_eq(row->counter_rates[11].max, UINT64_MAX);
	tally_begin_interval(t);
	f.head.counters[0] += 5;
	f.head.counter_slices++;
	fake_send(t, &f);
	expect_eq(row->view[TALLY_TOTAL].counters[0], 3005);
	expect_eq(row->view[TALLY_INTERVAL].counters[0], 5);
	expect_eq(row->view[TALLY_TOTAL].counter_slices, 3);
	expect_eq(row->view[TALLY_INTERVAL].counter_slices, 1);
	tally_free(t);
}

/* Six tasks: two processes, two names, three cgroups. */
static struct tally *six_tasks(enum tally_by by)
{
	struct tally *t = fake_tally(&(struct tally_cfg){ .by = by });
	struct fake_task f;

	for (uint32_t i = 0; i < 6; i++) {
		fake_init(&f, 100 + i, i % 2 ? "odd" : "even");
		f.head.id.tgid = i < 3 ? 100 : 103;
		memcpy(f.head.id.process, i < 3 ? "first" : "later", sizeof("first"));
		f.head.id.cgroup_id = 1000 + i / 2;
		fake_add(&f.hists[0], 1, i * US, 1, 1);
		fake_send(t, &f);
	}
	return t;
}

static void rows_are_by_name_thread_process_or_cgroup(void **state)
{
	const struct tally_row *row;
	struct tally *t;

	(void)state;
	t = six_tasks(TALLY_BY_COMM);
	expect_eq(tally_nr_rows(t), 2);
	row = fake_row(t, "odd");
	expect_span(row->view[TALLY_TOTAL].hist[0], 3, 1 * US, 5 * US);
	expect_eq(row->tid | row->tgid | row->cgroup_id, 0);
	tally_free(t);

	t = six_tasks(TALLY_BY_TID);
	expect_eq(tally_nr_rows(t), 6);
	row = tally_row_at(t, 4);
	assert_string_equal(row->comm, "even");
	assert_string_equal(row->process, "later");
	expect_eq(row->tid, 104);
	expect_eq(row->tgid, 103);
	expect_eq(row->cgroup_id, 1002);
	tally_free(t);

	t = six_tasks(TALLY_BY_TGID);
	expect_eq(tally_nr_rows(t), 2);
	row = fake_row(t, "first");
	expect_eq(row->tgid, 100);
	expect_eq(row->tid, 0);
	expect_eq(row->view[TALLY_TOTAL].members.nr_tasks, 3);
	tally_free(t);

	t = six_tasks(TALLY_BY_CGROUP);
	expect_eq(tally_nr_rows(t), 3);
	row = tally_row_at(t, 1);
	expect_eq(row->cgroup_id, 1001);
	assert_string_equal(row->comm, "");
	expect_span(row->view[TALLY_TOTAL].hist[0], 2, 2 * US, 3 * US);
	tally_free(t);
}

static void cpus_have_views_of_their_own(void **state)
{
	struct tally *t = fake_tally(&by_comm);
	const struct tally_cpu *c = tally_cpu_at(t, 3);
	struct stat_cpu now = { 0 };

	(void)state;
	fake_add(&now.delay, 1, 500 * US, 1, 3);
	fake_add(&now.idle, 1, 9 * MS, 2, 3);
	now.is_idle = 1;
	now.since_ns = 700;
	tally_cpu_update(t, 3, &now, 1000);
	tally_cpu_update(t, 3, &now, 1000);
	assert_true(c->is_known);
	expect_eq(c->open_idle_ns, 300);
	expect_span(&c->delay[TALLY_TOTAL], 1, 500 * US, 500 * US);
	expect_span(&c->idle[TALLY_INTERVAL], 1, 9 * MS, 9 * MS);

	tally_begin_interval(t);
	expect_eq(c->delay[TALLY_INTERVAL].count, 0);
	fake_add(&now.delay, 2, 40 * US, 3, 3);
	now.is_idle = 0;
	tally_cpu_update(t, 3, &now, 2000);
	expect_eq(c->open_idle_ns, 0);
	expect_span(&c->delay[TALLY_INTERVAL], 1, 40 * US, 40 * US);
	expect_span(&c->delay[TALLY_TOTAL], 2, 40 * US, 500 * US);
	expect_eq(c->idle[TALLY_INTERVAL].count, 0);
	now.is_idle = 1;
	now.since_ns = 3000; /* after the drain */
	tally_cpu_update(t, 3, &now, 2000);
	expect_eq(c->open_idle_ns, 0);
	tally_cpu_update(t, 4, &now, 2000); /* no such CPU */
	assert_false(tally_cpu_at(t, 0)->is_known);
	tally_free(t);
}

static void send_five(struct tally *t, struct fake_task *stays)
{
	struct fake_task f;

	fake_init(stays, 3, "stays");
	fake_add(&stays->hists[0], 1, 5 * US, 1, 1);
	for (uint32_t tid = 1; tid <= 5; tid++) {
		fake_init(&f, tid, "goes");
		fake_add(&f.hists[0], 1, 5 * US, 1, 1);
		if (tid == 3)
			fake_send(t, stays);
		else
			fake_send_last(t, &f);
	}
}

static void rows_of_gone_tasks_are_forgotten_once_they_are_empty(void **state)
{
	static const struct tally_cfg by_tid = { .by = TALLY_BY_TID };
	struct tally *t = fake_tally(&by_tid);
	struct fake_task stays, back;

	(void)state;
	expect_eq(tally_forget_gone(t), 0);
	send_five(t, &stays);
	tally_end_tick(t, S);
	expect_eq(tally_forget_gone(t), 0);
	expect_eq(tally_nr_rows(t), 5); /* the interval still shows them */
	tally_begin_interval(t);
	expect_eq(tally_forget_gone(t), 0);
	expect_eq(tally_nr_rows(t), 1);
	/* Who stays goes on in its row; an id that comes back begins anew. */
	fake_add(&stays.hists[0], 2, 6 * US, 2, 1);
	fake_send(t, &stays);
	expect_eq(fake_hist(t, "stays", TALLY_TOTAL, 0)->count, 2);
	expect_eq(fake_hist(t, "stays", TALLY_INTERVAL, 0)->count, 1);
	fake_init(&back, 5, "goes");
	fake_add(&back.hists[0], 2, 7 * US, 2, 1);
	fake_send(t, &back);
	expect_eq(fake_hist(t, "goes", TALLY_TOTAL, 0)->count, 1);
	expect_eq(tally_nr_rows(t), 2);
	tally_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_interval_holds_only_what_came_since_it_began),
		cmocka_unit_test(several_drains_of_one_interval_add_up),
		cmocka_unit_test(an_epoch_that_is_read_twice_keeps_intervals_apart),
		cmocka_unit_test(an_extreme_written_too_late_counts_in_the_next_interval),
		cmocka_unit_test(without_extremes_the_slots_bound_them),
		cmocka_unit_test(depth_is_added_up_and_its_maximum_kept_per_view),
		cmocka_unit_test(the_longest_open_slice_of_a_drain_is_kept),
		cmocka_unit_test(the_longest_open_wait_of_a_drain_is_kept),
		cmocka_unit_test(times_of_what_is_under_way_belong_to_the_interval),
		cmocka_unit_test(a_switch_that_was_not_seen_makes_a_gap),
		cmocka_unit_test(groups_count_tasks_and_show_the_smallest_ids),
		cmocka_unit_test(both_storages_of_a_task_are_one_task),
		cmocka_unit_test(migrations_become_rates_per_task_and_second),
		cmocka_unit_test(counters_become_rates_and_totals),
		cmocka_unit_test(rows_are_by_name_thread_process_or_cgroup),
		cmocka_unit_test(cpus_have_views_of_their_own),
		cmocka_unit_test(rows_of_gone_tasks_are_forgotten_once_they_are_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
