/* A whole machine from files, without BPF. */
#include "../unit.h"

#include "../sys/tree.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "machine/machine_program.h"
#include "machine/machine_scx.h"
#include "machine/machine_source.h"
#include "machine/machine_system.h"
#include "profile/machine_profile.h"

#define S 1000000000ULL

static uint64_t now_ns;

static uint64_t fake_clock(void)
{
	return now_ns;
}

static void put_first(const struct tree *t)
{
	tree_write(t, "proc/loadavg", "1.00 2.00 3.00 1/1 10");
	tree_write(t, "proc/stat",
	           "cpu  0 0 0 0 0 0 0 0 0 0\ncpu0 100 0 100 1000 0 0 0 0 0 0\n"
	           "cpu2 500 0 0 500 0 0 0 0 0 0\nintr 1\nprocesses 5");
	tree_write(t, "proc/meminfo",
	           "MemTotal:  1000 kB\nMemFree:  600 kB\nMemAvailable:  800 kB\nActive:  7 kB");
	tree_write(t, "proc/vmstat", "pgfault 1000\npgmajfault 100\npswpin 0\npswpout 0");
	tree_write(t, "proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=1000000");
	tree_write(t, "proc/net/dev",
	           "head\nhead\n  eth0: 1000 10 0 0 0 0 0 0 2000 20 0 0 0 0 0 0");
	tree_write(t, "proc/10/task/10/schedstat", "1000 0 1");
	tree_write(
		t, "proc/10/task/10/stat",
		"10 (init) S 0 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 5 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0");
}

static void put_second(const struct tree *t)
{
	tree_write(t, "proc/stat",
	           "cpu  0 0 0 0 0 0 0 0 0 0\ncpu0 150 10 120 1100 10 5 5 0 0 0\n"
	           "cpu2 500 0 0 700 0 0 0 0 0 0\nintr 1\nprocesses 5");
	tree_write(t, "proc/vmstat", "pgfault 1500\npgmajfault 200\npswpin 0\npswpout 4");
	tree_write(t, "proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=1500000");
	tree_write(t, "proc/net/dev",
	           "head\nhead\n  eth0: 5000 14 0 1 0 0 0 0 2000 20 0 1 0 0 0 0");
}

static struct machine_source *start(const struct tree *t)
{
	const struct machine_source_cfg cfg = { .is_proc_only = true,
		                                .root = t->root,
		                                .clock = fake_clock };
	struct machine_source *s = NULL;
	struct diag d = { 0 };

	expect_eq(machine_source_open(&cfg, &d, &s), 0);
	return s;
}

static const struct machine *refresh(struct machine_source *s, uint32_t needs)
{
	const struct machine *m = NULL;
	struct diag d = { 0 };

	expect_eq(machine_source_refresh(s, &(struct machine_request){ .needs = needs }, &d, &m),
	          0);
	return m;
}

static void expect_near(double got, double want)
{
	assert_true(fabs(got - want) < 1e-6);
}

static void expect_cpus(const struct machine *m)
{
	const struct machine_cpu *c = m->cpus;

	expect_eq(m->nr_cpus, 2);
	expect_eq(c[0].cpu, 0);
	/* 200 ticks: 50 user, 10 nice, 20 system, 100 idle, 10 iowait, 10 interrupts. */
	expect_near(c[0].busy, 0.45);
	expect_near(c[0].user, 0.3);
	expect_near(c[0].system, 0.1);
	expect_near(c[0].irq, 0.05);
	expect_near(c[0].iowait, 0.05);
	expect_near(c[0].steal, 0);
	expect_eq(c[1].cpu, 2);
	expect_near(c[1].busy, 0);
	assert_true(isnan(c[0].mhz) && isnan(c[0].switches_per_s));
	assert_int_equal(c[0].tid, -1);
	assert_int_equal(c[0].llc, -1);
	expect_eq(c[0].busy_history.nr, 1);
	expect_near(c[0].busy_history.values[0], 0.45);
	expect_near(c[0].user_history.values[0], 0.3);
	expect_near(c[0].system_history.values[0], 0.1);
	expect_near(c[0].irq_history.values[0], 0.05);
	/* Without BPF a wait is known when it has ended. */
	assert_true(isnan(c[0].waiting) && isnan(c[0].waiting_history.values[0]));
}

/* By where each is; what runs, what is nowhere and what is not active counts for none. */
static void tasks_that_wait_are_added_up_by_cpu(void **state)
{
	const struct machine_task threads[] = {
		{ .last_cpu = 0, .wait = 0.25 },  { .last_cpu = 2, .wait = 1 },
		{ .last_cpu = 2, .wait = 0.5 },   { .last_cpu = 0, .wait = NAN },
		{ .last_cpu = -1, .wait = 0.75 }, { .last_cpu = 0, .wait = 9 },
		{ .last_cpu = 77, .wait = 1 },
	};
	const uint32_t active[] = { 0, 1, 2, 3, 4, 6 };
	const struct machine_order order = { .active = active, .nr_active = 6 };
	struct machine_system *s = NULL;
	struct machine_cpu *c;
	struct diag d = { 0 };
	struct tree t;
	size_t nr;

	(void)state;
	tree_init(&t);
	put_first(&t);
	expect_eq(machine_system_new(t.root, &d, &s), 0);
	expect_eq(machine_system_refresh(s, MACHINE_CPUS, S), 0);
	put_second(&t);
	expect_eq(machine_system_refresh(s, MACHINE_CPUS, 2 * S), 0);
	expect_eq(machine_system_show_waiting(s, threads, &order), 0);
	c = machine_system_cpus(s, &nr);
	expect_near(c[0].waiting, 0.25);
	expect_near(c[1].waiting, 1.5);
	expect_eq(machine_system_show_waiting(s, threads, NULL), 0);
	assert_true(isnan(c[1].waiting));
	expect_eq(c[0].waiting_history.nr, 2);
	expect_near(c[0].waiting_history.values[0], 0.25);
	machine_system_free(s);
	tree_done(&t);
}

static void an_interval_is_the_difference_of_two_refreshes(void **state)
{
	struct machine_source *s;
	const struct machine *m;
	struct tree t;

	(void)state;
	tree_init(&t);
	now_ns = 100 * S;
	put_first(&t);
	s = start(&t);
	now_ns += 2 * S;
	put_second(&t);
	m = refresh(s, 255);
	expect_near(m->interval_s, 2);
	expect_cpus(m);
	expect_eq(m->memory.total_kib, 1000);
	expect_eq(m->memory.available_kib, 800);
	expect_eq(m->memory.active_kib, 7);
	expect_near(m->memory.minor_faults_per_s, 200);
	expect_near(m->memory.major_faults_per_s, 50);
	expect_near(m->memory.swap_out_per_s, 2);
	expect_near(m->memory.cpu_some, 0.25);
	assert_true(isnan(m->memory.io_some));
	expect_eq(m->nr_nets, 1);
	expect_near(m->nets[0].rx_bytes_per_s, 2000);
	expect_near(m->nets[0].rx_packets_per_s, 2);
	expect_near(m->nets[0].drops_per_s, 1);
	expect_eq(m->nets[0].rx_bytes, 5000);
	expect_eq(m->nr_threads, 1);
	expect_near(m->load[2], 3);
	machine_source_close(s);
	tree_done(&t);
}

static void what_is_missing_is_said_and_absent(void **state)
{
	struct machine_source *s;
	const struct machine *m;
	struct tree t;

	(void)state;
	tree_init(&t);
	now_ns = 100 * S;
	put_first(&t);
	s = start(&t);
	m = refresh(s, 255);
	assert_string_equal(m->source, "proc");
	assert_non_null(m->notice);
	assert_null(m->scx_state);
	assert_null(m->scheduler);
	assert_null(m->profile);
	m = refresh(s, MACHINE_PROFILE | MACHINE_BPF);
	assert_non_null(m->profile->refusal);
	expect_eq(m->profile->nr_rows, 0);
	assert_non_null(m->bpf->refusal);
	assert_true(isnan(m->bpf->cost));
	m = refresh(s, 255);
	assert_null(m->profile);
	expect_eq(m->heat.nr, 0);
	expect_eq(m->nr_programs, 0);
	expect_eq(m->wait.count, 0);
	expect_eq(m->nr_dsqs, 0);
	assert_true(isnan(m->threads[0].migrations_per_s));
	m = refresh(s, MACHINE_CPUS);
	expect_eq(m->nr_threads, 0); /* not requested */
	machine_source_close(s);
	machine_source_close(NULL);
	tree_done(&t);
}

static void a_scheduler_of_sched_ext_has_the_normal_tasks(void **state)
{
	struct machine_source *s;
	const struct machine *m;
	struct tree t;

	(void)state;
	tree_init(&t);
	now_ns = 100 * S;
	put_first(&t);
	tree_write(&t, "sys/kernel/sched_ext/state", "enabled");
	tree_write(&t, "sys/kernel/sched_ext/root/ops", "lavd");
	tree_write(&t, "sys/kernel/sched_ext/switch_all", "1");
	s = start(&t);
	m = refresh(s, 255);
	assert_string_equal(m->scx_state, "enabled");
	assert_string_equal(m->scheduler, "lavd");
	assert_string_equal(m->threads[0].class_name, "ext");
	machine_source_close(s);
	tree_done(&t);
}

static void a_cpu_that_goes_offline_has_no_numbers(void **state)
{
	struct machine_source *s;
	const struct machine *m;
	struct tree t;

	(void)state;
	tree_init(&t);
	now_ns = 100 * S;
	put_first(&t);
	s = start(&t);
	now_ns += S;
	tree_write(&t, "proc/stat",
	           "cpu  0 0 0 0 0 0 0 0 0 0\ncpu0 150 0 120 1100 0 0 0 0 0 0\nintr 1");
	m = refresh(s, MACHINE_CPUS);
	expect_eq(m->nr_cpus, 2);
	assert_true(m->cpus[0].is_online);
	assert_false(m->cpus[1].is_online);
	assert_true(isnan(m->cpus[1].busy));
	machine_source_close(s);
	tree_done(&t);
}

/* By its number, not by its place: the one that comes stands between the others. */
static void a_cpu_that_comes_online_later_is_there(void **state)
{
	struct machine_source *s;
	const struct machine *m;
	struct tree t;

	(void)state;
	tree_init(&t);
	now_ns = 100 * S;
	put_first(&t);
	tree_write(&t, "sys/devices/system/cpu/possible", "0-3");
	tree_write(&t, "sys/devices/system/cpu/online", "0,2");
	s = start(&t);
	now_ns += S;
	m = refresh(s, MACHINE_CPUS);
	expect_eq(m->nr_cpus, 4);
	assert_false(m->cpus[1].is_online);
	for (uint64_t i = 1; i < 3; i++) {
		char text[256];

		(void)snprintf(text, sizeof(text),
		               "cpu  0 0 0 0 0 0 0 0 0 0\ncpu0 100 0 100 1000 0 0 0 0 0 0\n"
		               "cpu1 %u 0 0 %u 0 0 0 0 0 0\ncpu2 500 0 0 %u 0 0 0 0 0 0\nintr 1",
		               (unsigned int)i * 30, (unsigned int)i * 70,
		               500 + (unsigned int)i * 100);
		tree_write(&t, "proc/stat", text);
		now_ns += S;
		m = refresh(s, MACHINE_CPUS);
	}
	assert_true(m->cpus[1].is_online);
	expect_near(m->cpus[1].busy, 0.3);
	expect_near(m->cpus[2].busy, 0);
	assert_false(m->cpus[3].is_online);
	machine_source_close(s);
	tree_done(&t);
}

/* No kernel that we know has fewer numbers in a line; such a CPU would have none, and the others all. */
static void a_short_line_of_a_cpu_does_no_harm(void **state)
{
	struct machine_source *s;
	const struct machine *m;
	struct tree t;

	(void)state;
	tree_init(&t);
	now_ns = 100 * S;
	put_first(&t);
	s = start(&t);
	now_ns += S;
	tree_write(&t, "proc/stat",
	           "cpu  0 0 0 0\ncpu0 150 0 100 1050 0 0 0 0\ncpu2 500 0\nintr 1");
	m = refresh(s, MACHINE_CPUS);
	expect_near(m->cpus[0].busy, 0.5);
	assert_true(isnan(m->cpus[1].busy));
	machine_source_close(s);
	tree_done(&t);
}

/* A view of tasks alone, as that of processes is: shares are of its own interval, and who is new is there. */
static void tasks_alone_are_fresh_with_every_refresh(void **state)
{
	struct machine_source *s;
	const struct machine *m;
	struct tree t;

	(void)state;
	tree_init(&t);
	now_ns = 100 * S;
	put_first(&t);
	s = start(&t);
	for (unsigned int i = 1; i < 5; i++) {
		char text[64];

		now_ns += S / 2;
		(void)snprintf(text, sizeof(text), "%u 0 %u", 1000 + i * 100000000, 1 + i);
		tree_write(&t, "proc/10/task/10/schedstat", text);
		m = refresh(s, MACHINE_TASKS);
		expect_eq(m->nr_processes, 1);
		expect_near(m->processes[0].run, 0.2);
	}
	tree_write(&t, "proc/loadavg", "1.00 2.00 3.00 1/2 12");
	tree_write(&t, "proc/12/task/12/schedstat", "1000 0 1");
	tree_write(
		&t, "proc/12/task/12/stat",
		"12 (new) S 0 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 5 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0");
	m = refresh(s, MACHINE_TASKS);
	expect_eq(m->nr_processes, 2);
	machine_source_close(s);
	tree_done(&t);
}

static void make_fifo(const struct tree *t, const char *path)
{
	char full[256];

	(void)snprintf(full, sizeof(full), "%s/%s", t->root, path);
	expect_eq(mkfifo(full, 0600), 0);
}

/* Nothing will ever be written there: the readers that wait for it are let go. */
static void free_readers(const struct tree *t, const char *path)
{
	char full[256];
	int fd;

	(void)snprintf(full, sizeof(full), "%s/%s", t->root, path);
	fd = open(full, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	assert_true(fd >= 0);
	expect_eq(write(fd, "x", 1), 1);
	close(fd);
}

/* A pipe without a writer hangs the process that opens it, as an entry of a process does that hangs in the kernel. */
static void an_entry_that_never_answers_stops_nothing_and_is_reported_once(void **state)
{
	static const char *const files[] = { "proc/10/cmdline", "proc/10/cgroup" };
	const struct timespec nap = { 0, 20000000 }; /* the other reader has time to answer */

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct machine_source *s;
		const struct machine *m;
		struct tree t;
		int refreshes = 0;

		tree_init(&t);
		now_ns = 100 * S;
		put_first(&t);
		make_fifo(&t, files[i]);
		s = start(&t);
		do {
			now_ns += S / 10;
			nanosleep(&nap, NULL);
			m = refresh(s, MACHINE_TASKS);
			expect_eq(m->nr_threads, 1);
		} while (!m->nr_log && ++refreshes < 1000);
		expect_eq(m->nr_log, 1);
		assert_non_null(strstr(m->log[0], "hangs in the kernel"));
		for (int more = 0; more < 20; more++) {
			now_ns += S / 10;
			nanosleep(&nap, NULL);
			m = refresh(s, MACHINE_TASKS);
		}
		expect_eq(m->nr_log, 1);
		expect_eq(m->nr_processes, 1);
		machine_source_close(s);
		free_readers(&t, files[i]);
		tree_done(&t);
	}
}

/* Those cannot hang on a real machine; if they did, the thread would be missing, and all else be there. */
static void a_thread_that_does_not_answer_is_missing(void **state)
{
	static const char *const files[] = { "proc/20/task/20/stat", "proc/20/task/20/schedstat",
		                             "proc/20/task/20/status" };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct machine_source *s;
		const struct machine *m;
		struct tree t;

		tree_init(&t);
		now_ns = 100 * S;
		put_first(&t);
		tree_mkdir(&t, "proc/20/task/20");
		make_fifo(&t, files[i]);
		s = start(&t);
		now_ns += S;
		m = refresh(s, MACHINE_TASKS);
		expect_eq(m->nr_threads, 1);
		expect_eq(m->threads[0].tid, 10);
		machine_source_close(s);
		tree_done(&t);
	}
}

/* From files alone: state, counters and their rates; queues need BPF, and it says so. */
static void the_state_of_sched_ext_is_followed(void **state)
{
	const struct machine *m;
	struct machine_source *s;
	struct tree t;

	(void)state;
	tree_init(&t);
	put_first(&t);
	tree_write(&t, "sys/kernel/sched_ext/state", "enabled\n");
	tree_write(&t, "sys/kernel/sched_ext/enable_seq", "3\n");
	tree_write(&t, "sys/kernel/sched_ext/switch_all", "1\n");
	tree_write(&t, "sys/kernel/sched_ext/nr_rejected", "0\n");
	tree_write(&t, "sys/kernel/sched_ext/root/ops", "vm_vtime\n");
	tree_write(&t, "sys/kernel/sched_ext/root/events",
	           "SCX_EV_SELECT_CPU_FALLBACK 10\nSCX_EV_DISPATCH_KEEP_LAST 7\n");
	now_ns = 10 * S;
	s = start(&t);
	assert_null(refresh(s, MACHINE_CPUS)->scx);
	m = refresh(s, MACHINE_DSQS);
	assert_string_equal(m->scheduler, "vm_vtime");
	assert_non_null(m->scx);
	assert_false(m->scx->is_counting);
	assert_non_null(strstr(m->scx->reason, "BPF"));
	expect_eq(m->scx->enable_seq, 3);
	expect_eq(m->scx->switch_all, 1);
	expect_eq(m->scx->nr_counters, 2);
	assert_true(isnan(m->scx->counters[0].per_s));
	tree_write(&t, "sys/kernel/sched_ext/root/events",
	           "SCX_EV_SELECT_CPU_FALLBACK 30\nSCX_EV_DISPATCH_KEEP_LAST 2\n");
	now_ns = 12 * S;
	m = refresh(s, MACHINE_DSQS);
	assert_string_equal(m->scx->counters[0].name, "select_cpu_fallback");
	expect_eq(m->scx->counters[0].value, 30);
	expect_near(m->scx->counters[0].per_s, 10);
	assert_true(isnan(m->scx->counters[1].per_s)); /* it went back: another scheduler's */
	tree_write(&t, "sys/kernel/sched_ext/state", "disabled\n");
	tree_write(&t, "sys/kernel/sched_ext/root/ops", "\n");
	now_ns = 13 * S;
	m = refresh(s, MACHINE_DSQS);
	assert_null(m->scheduler);
	assert_non_null(strstr(m->scx->last, "vm_vtime"));
	machine_source_close(s);
	tree_done(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_state_of_sched_ext_is_followed),
		cmocka_unit_test(an_interval_is_the_difference_of_two_refreshes),
		cmocka_unit_test(tasks_that_wait_are_added_up_by_cpu),
		cmocka_unit_test(what_is_missing_is_said_and_absent),
		cmocka_unit_test(a_scheduler_of_sched_ext_has_the_normal_tasks),
		cmocka_unit_test(a_cpu_that_goes_offline_has_no_numbers),
		cmocka_unit_test(a_cpu_that_comes_online_later_is_there),
		cmocka_unit_test(a_short_line_of_a_cpu_does_no_harm),
		cmocka_unit_test(tasks_alone_are_fresh_with_every_refresh),
		cmocka_unit_test(an_entry_that_never_answers_stops_nothing_and_is_reported_once),
		cmocka_unit_test(a_thread_that_does_not_answer_is_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
