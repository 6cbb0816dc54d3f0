/* What the kernel keeps of one thread, as tables; and the part of the machine where there is no BPF. */
#include "../unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "machine/parts/zoom.h"
#include "machine/parts/zoom_tables.h"

#define MS 1000000ULL

struct kernel {
	struct zoom_state state;
	struct zoom_waker_key keys[3];
	struct zoom_waker wakers[3];
	uint32_t tids[3];
	struct zoom_rival rivals[3];
	struct zoom_wait waits[2];
};

static void add(struct abi_hist *h, uint64_t ns, uint32_t times)
{
	struct abi_extremes *e = &h->extremes[1];

	h->slots[hist_slot(ns)] += times;
	h->count += times;
	h->sum_ns += ns * times;
	e->min_ns = e->epoch && e->min_ns < ns ? e->min_ns : ns;
	e->max_ns = ns > e->max_ns ? ns : e->max_ns;
	e->epoch = 1;
}

static struct zoom_reading reading_of(struct kernel *k)
{
	return (struct zoom_reading){ .state = &k->state,
		                      .waits = k->waits,
		                      .nr_waits = 2,
		                      .waker_keys = k->keys,
		                      .wakers = k->wakers,
		                      .nr_wakers = 3,
		                      .rival_tids = k->tids,
		                      .rivals = k->rivals,
		                      .nr_rivals = 3,
		                      .missed = 4 };
}

static void wakers_come_by_how_often_and_interrupts_have_no_thread(void **state)
{
	struct zoom_tables *t = calloc(1, sizeof(*t));
	struct kernel *k = calloc(1, sizeof(*k));
	struct machine_zoom z = { 0 };
	struct zoom_reading r = reading_of(k);

	(void)state;
	assert_non_null(t);
	k->keys[0] = (struct zoom_waker_key){ 7, ABI_IN_TASK, 0 };
	strcpy(k->wakers[0].comm, "seldom");
	add(&k->wakers[0].waits, 3 * MS, 2);
	k->keys[1] = (struct zoom_waker_key){ 0, ABI_IN_HARDIRQ, ABI_BY_TIMER };
	add(&k->wakers[1].waits, 5000, 9);
	add(&k->wakers[1].waits, MS, 1);
	k->keys[2] = (struct zoom_waker_key){ 8, ABI_IN_UNKNOWN, 0 }; /* is just being made */
	zoom_tables_fill(t, &r, &z);
	expect_eq(z.nr_wakers, 2);
	expect_eq(z.wakers[0].from, MACHINE_FROM_HARDIRQ);
	assert_null(z.wakers[0].comm);
	assert_true(z.wakers[0].is_from_known);
	assert_string_equal(z.wakers[0].interrupt, "timer interrupt");
	assert_string_equal(z.wakers[1].interrupt, "");
	expect_eq(z.wakers[0].wait.count, 10);
	expect_eq(z.wakers[0].wait.max_ns, MS);
	assert_true(fabs(z.wakers[0].wait.mean_ns - 104500) < 1);
	expect_eq(z.wakers[1].tid, 7);
	assert_string_equal(z.wakers[1].comm, "seldom");
	expect_eq(z.wakers[1].wait.p99_ns, 3 * MS);
	expect_eq(z.missed, 4);
	free(k);
	free(t);
}

static void rivals_come_by_time_and_share_all_of_it(void **state)
{
	struct zoom_tables *t = calloc(1, sizeof(*t));
	struct kernel *k = calloc(1, sizeof(*k));
	struct machine_zoom z = { 0 };
	struct zoom_reading r = reading_of(k);

	(void)state;
	assert_non_null(t);
	k->tids[0] = 11;
	k->rivals[0] = (struct zoom_rival){ "short", 1 * MS, MS, 1, 0 };
	k->tids[1] = 12;
	k->rivals[1] = (struct zoom_rival){ "long", 6 * MS, 4 * MS, 3, 2 };
	k->tids[2] = 0;
	k->rivals[2] = (struct zoom_rival){ "swapper/3", 2 * MS, MS, 5, 0 };
	k->state.other_rivals.ns = 1 * MS;
	zoom_tables_fill(t, &r, &z);
	expect_eq(z.nr_rivals, 3);
	assert_string_equal(z.rivals[0].comm, "long");
	assert_true(fabs(z.rivals[0].share - 0.6) < 1e-9);
	expect_eq(z.rivals[0].times, 3);
	expect_eq(z.rivals[0].taken, 2);
	expect_eq(z.rivals[0].max_ns, 4 * MS);
	assert_string_equal(z.rivals[1].comm, "idle");
	assert_true(fabs(z.rivals[1].share - 0.2) < 1e-9);
	assert_string_equal(z.rivals[2].comm, "short");
	expect_eq(z.other_rivals_ns, 1 * MS);
	free(k);
	free(t);
}

static void waits_are_reported_as_the_kernel_saw_them(void **state)
{
	struct zoom_tables *t = calloc(1, sizeof(*t));
	struct kernel *k = calloc(1, sizeof(*k));
	struct machine_zoom z = { 0 };
	struct zoom_reading r = reading_of(k);

	(void)state;
	assert_non_null(t);
	k->waits[0] = (struct zoom_wait){ .start_ns = 100,
		                          .end_ns = 400,
		                          .sleep_ns = 50,
		                          .sleep_state = 1,
		                          .from_cpu = 3,
		                          .queue_cpu = 2,
		                          .cpu = 2,
		                          .waker_tid = 5,
		                          .waker_comm = "waker",
		                          .cause = STAT_CAUSE_WOKEN,
		                          .nr_holders = 2,
		                          .holders = { { 100, 0, 1, "swapper/2" },
		                                       { 200, 6, 2, "other" } } };
	/* What cannot be is not believed. */
	k->waits[1] = (struct zoom_wait){ .start_ns = 400,
		                          .end_ns = 100,
		                          .from_cpu = ~0U,
		                          .cause = STAT_CAUSE_PREEMPTED,
		                          .context = ABI_IN_SOFTIRQ,
		                          .by = ABI_BY_SOFTIRQ + 3,
		                          .sleep_state = 200,
		                          .nr_holders = 255 };
	add(&k->state.delays[STAT_CAUSE_PREEMPTED], 300, 3);
	k->state.sleeps[2] = (struct zoom_sleep){ 2, 70, 40 };
	k->state.nr_migrations = 6;
	k->state.nr_cut = 1;
	k->state.cut_ns = 77;
	zoom_tables_fill(t, &r, &z);
	expect_eq(z.nr_last, 2);
	expect_eq(z.last[0].wait_ns, 300);
	expect_eq(z.last[0].sleep, MACHINE_SLEEP_D);
	expect_eq(z.last[0].from_cpu, 3);
	assert_string_equal(z.last[0].waker_comm, "waker");
	expect_eq(z.last[0].nr_holders, 2);
	assert_string_equal(z.last[0].holders[0].comm, "idle");
	assert_string_equal(z.last[0].holders[1].comm, "other");
	expect_eq(z.last[1].wait_ns, 0);
	assert_int_equal(z.last[1].from_cpu, -1);
	assert_null(z.last[1].waker_comm);
	assert_string_equal(z.last[1].interrupt, "net-rx softirq");
	expect_eq(z.last[1].sleep, MACHINE_SLEEP_OTHER);
	expect_eq(z.last[1].nr_holders, ZOOM_HOLDERS);
	expect_eq(z.waits[MACHINE_PREEMPTED].count, 3);
	expect_eq(z.waits[MACHINE_WOKEN].count, 0);
	expect_eq(z.sleeps[MACHINE_SLEEP_OTHER].count, 2);
	expect_eq(z.migrations, 6);
	expect_eq(z.cut, 1);
	expect_eq(z.cut_ns, 77);
	free(k);
	free(t);
}

static const struct machine_zoom *refresh(void *part, struct machine *m, uint32_t tid)
{
	const struct machine_request request = { .needs = MACHINE_ZOOM | MACHINE_TASKS,
		                                 .tid = tid };

	m->zoom = NULL;
	machine_part_zoom.refresh(part, &(struct machine_part_refresh){ .request = &request,
	                                                                .machine = m });
	return m->zoom;
}

static void without_bpf_the_last_row_stays_and_a_sentence_says_what_is_missing(void **state)
{
	const struct machine_source_cfg cfg = { .is_proc_only = true };
	char comm[16] = "worker";
	double past = 0.5;
	struct machine_task *rows = calloc(2, sizeof(*rows));
	struct machine m = { .threads = rows, .nr_threads = 2 };
	const struct machine_zoom *z;
	struct diag d = { 0 };
	void *part = NULL;

	(void)state;
	assert_non_null(rows);
	rows[0] = (struct machine_task){ .tid = 9, .comm = comm, .run = 0.25, .state = 'S' };
	rows[1] = (struct machine_task){ .tid = 10, .comm = "other" };
	rows[0].run_history = (struct machine_history){ &past, 1 };
	expect_eq(machine_part_zoom.open(&cfg, &d, &part), 0);
	assert_null(refresh(part, &m, 0));
	z = refresh(part, &m, 9);
	assert_non_null(z);
	expect_eq(z->tid, 9);
	assert_ptr_equal(z->row, &rows[0]);
	assert_non_null(strstr(z->missing, "from /proc, as asked"));
	assert_false(z->is_ended);
	expect_eq(z->nr_wakers + z->nr_rivals + z->nr_last, 0);
	/* It goes, and so does the memory of its name. */
	m.threads = &rows[1];
	m.nr_threads = 1;
	memset(comm, 'x', sizeof(comm) - 1);
	z = refresh(part, &m, 9);
	assert_true(z->is_ended);
	assert_string_equal(z->row->comm, "worker");
	assert_true(fabs(z->row->run - 0.25) < 1e-9);
	expect_eq(z->row->run_history.nr, 0);
	/* Another one has not ended; nor has one that never was. */
	z = refresh(part, &m, 10);
	assert_false(z->is_ended);
	assert_string_equal(z->row->comm, "other");
	z = refresh(part, &m, 4711);
	assert_null(z->row);
	machine_part_zoom.suspend(part);
	machine_part_zoom.close(part);
	free(rows);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(wakers_come_by_how_often_and_interrupts_have_no_thread),
		cmocka_unit_test(rivals_come_by_time_and_share_all_of_it),
		cmocka_unit_test(waits_are_reported_as_the_kernel_saw_them),
		cmocka_unit_test(
			without_bpf_the_last_row_stays_and_a_sentence_says_what_is_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
