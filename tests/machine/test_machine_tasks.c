/* Threads and processes from files like those of Linux 6.18. */
#include "../unit.h"

#include "../sys/tree.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "machine/machine_tasks.h"

#define MS 1000000ULL
#define S  (1000 * MS)

static uint64_t now_ns;

/* Each reading of the clock takes no time: intervals are what the test says. */
static uint64_t fake_clock(void)
{
	return now_ns;
}

struct fake {
	uint32_t tgid, tid;
	const char *comm;
	char state;
	uint64_t run_ns, wait_ns, slices, start_ticks, voluntary, involuntary;
	int policy;
	int cpu;
};

static void put(const struct tree *t, const struct fake *f)
{
	char path[96], text[512];

	(void)snprintf(path, sizeof(path), "proc/%u/task/%u/schedstat", f->tgid, f->tid);
	(void)snprintf(text, sizeof(text), "%llu %llu %llu", (unsigned long long)f->run_ns,
	               (unsigned long long)f->wait_ns, (unsigned long long)f->slices);
	tree_write(t, path, text);
	(void)snprintf(path, sizeof(path), "proc/%u/task/%u/stat", f->tgid, f->tid);
	(void)snprintf(
		text, sizeof(text),
		"%u (%s) %c 1 1 1 0 -1 0 0 0 0 0 %llu 0 0 0 20 0 1 0 %llu 0 25 0 0 0 0 0 0 0 0 0 0 "
		"0 0 0 17 %d 0 %d 0 0 0",
		f->tid, f->comm, f->state, (unsigned long long)(f->run_ns / (10 * MS)),
		(unsigned long long)f->start_ticks, f->cpu, f->policy);
	tree_write(t, path, text);
	(void)snprintf(path, sizeof(path), "proc/%u/task/%u/status", f->tgid, f->tid);
	(void)snprintf(text, sizeof(text),
	               "Name:\tx\nvoluntary_ctxt_switches:\t%llu\nnonvoluntary_ctxt_switches:\t%llu",
	               (unsigned long long)f->voluntary, (unsigned long long)f->involuntary);
	tree_write(t, path, text);
	(void)snprintf(path, sizeof(path), "proc/%u/cgroup", f->tgid);
	tree_write(t, path, "0::/system.slice/some.service");
	(void)snprintf(path, sizeof(path), "proc/%u/cmdline", f->tgid);
	tree_write(t, path, "some command");
}

static void set_load(const struct tree *t, unsigned int nr, unsigned int last)
{
	char text[64];

	(void)snprintf(text, sizeof(text), "0.50 1.00 1.50 1/%u %u", nr, last);
	tree_write(t, "proc/loadavg", text);
}

static const struct machine_tasks_read by_proc = {
	.new_ns = S, .hot_ns = S, .turn_ns = S, .has_switches = true
};

static struct machine_tasks *start(const struct tree *t, uint32_t tgid)
{
	const struct machine_tasks_cfg cfg = { .root = t->root, .tgid = tgid, .clock = fake_clock };
	struct machine_tasks *m = NULL;
	struct diag d = { 0 };

	expect_eq(machine_tasks_new(&cfg, &d, &m), 0);
	return m;
}

static void refresh(struct machine_tasks *m)
{
	struct diag d = { 0 };

	machine_tasks_read_load(m);
	expect_eq(machine_tasks_list_rarely(m, 0, &d), 0);
	expect_eq(machine_tasks_read(m, &by_proc, &d), 0);
	machine_tasks_sum(m);
	expect_eq(machine_tasks_settle(m), 0);
}

static void expect_near(double got, double want)
{
	assert_true(fabs(got - want) < 1e-9);
}

static const struct fake one = { .tgid = 10,
	                         .tid = 10,
	                         .comm = "one",
	                         .state = 'S',
	                         .run_ns = 5 * S,
	                         .wait_ns = S,
	                         .slices = 100,
	                         .start_ticks = 5,
	                         .voluntary = 90,
	                         .involuntary = 10,
	                         .cpu = 1 };
static const struct fake two = { .tgid = 10,
	                         .tid = 11,
	                         .comm = "two",
	                         .state = 'R',
	                         .run_ns = 7 * S,
	                         .slices = 3,
	                         .start_ticks = 6,
	                         .policy = 1,
	                         .cpu = 0 };

static void begin(struct tree *t, struct machine_tasks **m)
{
	tree_init(t);
	now_ns = 100 * S;
	set_load(t, 2, 11);
	put(t, &one);
	put(t, &two);
	*m = start(t, 0);
	refresh(*m);
}

static void end(struct tree *t, struct machine_tasks *m)
{
	machine_tasks_free(m);
	tree_done(t);
}

static void what_is_before_the_first_interval_is_unknown(void **state)
{
	const struct machine_task *row;
	struct machine_tasks *m;
	struct tree t;

	(void)state;
	begin(&t, &m);
	row = machine_tasks_thread(m, 10);
	assert_non_null(row);
	assert_true(isnan(row->run) && isnan(row->wait) && isnan(row->voluntary_per_s));
	assert_true(isnan(row->migrations_per_s));
	assert_string_equal(row->comm, "one");
	assert_string_equal(row->class_name, "fair");
	expect_eq(row->state, 'S');
	assert_int_equal(row->last_cpu, 1);
	assert_int_equal(row->prio, 120);
	assert_string_equal(machine_tasks_thread(m, 11)->class_name, "rt");
	assert_null(machine_tasks_thread(m, 12));
	end(&t, m);
}

static void the_class_is_that_of_the_scheduler_in_charge(void **state)
{
	static const struct {
		enum machine_ext ext;
		const char *normal, *asked;
	} rows[] = {
		{ MACHINE_EXT_NONE, "fair",
		  "fair" }, /* no scheduler: who asked for one is fair's */
		{ MACHINE_EXT_ASKED, "fair", "ext" },
		{ MACHINE_EXT_ALL, "ext", "ext" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct machine_tasks_read how = by_proc;
		struct fake asked = one;
		struct machine_tasks *m;
		struct diag d = { 0 };
		struct tree t;

		asked.tid = 12;
		asked.policy = 7;
		tree_init(&t);
		set_load(&t, 3, 12);
		put(&t, &one);
		put(&t, &two);
		put(&t, &asked);
		m = start(&t, 0);
		how.ext = rows[i].ext;
		expect_eq(machine_tasks_list_rarely(m, 0, &d), 0);
		expect_eq(machine_tasks_read(m, &how, &d), 0);
		assert_string_equal(machine_tasks_thread(m, 10)->class_name, rows[i].normal);
		assert_string_equal(machine_tasks_thread(m, 11)->class_name, "rt");
		assert_string_equal(machine_tasks_thread(m, 12)->class_name, rows[i].asked);
		end(&t, m);
	}
}

static void rates_are_those_of_the_interval_and_processes_are_sums(void **state)
{
	struct fake a = one, b = two;
	const struct machine_task *row;
	struct machine_tasks *m;
	struct tree t;

	(void)state;
	begin(&t, &m);
	now_ns += S / 2;
	a.run_ns += 100 * MS;
	a.wait_ns += 50 * MS;
	a.slices += 10;
	a.voluntary += 8;
	a.involuntary += 2;
	b.run_ns += 400 * MS;
	put(&t, &a);
	put(&t, &b);
	refresh(m);
	row = machine_tasks_thread(m, 10);
	expect_near(row->run, 0.2);
	expect_near(row->wait, 0.1);
	expect_near(row->voluntary_per_s, 16);
	expect_near(row->involuntary_per_s, 4);
	expect_eq(row->run_history.nr, 1);
	row = machine_tasks_process(m, 10);
	expect_near(row->run, 1.0);
	expect_near(row->voluntary_per_s, 16);
	expect_eq(row->nr_threads, 2);
	expect_eq(row->state, 'R');
	assert_string_equal(row->comm, "one");
	assert_string_equal(row->class_name, "fair");
	expect_eq(row->parent, 1);
	expect_near(row->memory_bytes, 25.0 * (double)sysconf(_SC_PAGESIZE));
	expect_eq(row->wait_history.nr, 1);
	expect_near(row->wait_history.values[0], row->wait);
	/* Who did nothing since has 0, not what it had. */
	now_ns += S;
	refresh(m);
	expect_near(machine_tasks_thread(m, 10)->run, 0);
	expect_near(machine_tasks_thread(m, 10)->voluntary_per_s, 0);
	expect_near(machine_tasks_process(m, 10)->run, 0);
	expect_eq(machine_tasks_process(m, 10)->run_history.nr, 2);
	end(&t, m);
}

static void a_new_task_counts_from_its_birth(void **state)
{
	struct fake c = { .tgid = 10,
		          .tid = 12,
		          .comm = "new",
		          .state = 'R',
		          .run_ns = 250 * MS,
		          .slices = 4,
		          .start_ticks = 10020,
		          .voluntary = 4 };
	struct machine_tasks *m;
	struct tree t;

	(void)state;
	begin(&t, &m);
	now_ns += S;
	put(&t, &c);
	set_load(&t, 3, 12);
	refresh(m);
	assert_non_null(machine_tasks_thread(m, 12));
	expect_near(machine_tasks_thread(m, 12)->run, 0.25);
	expect_near(machine_tasks_thread(m, 12)->voluntary_per_s, 4);
	expect_eq(machine_tasks_process(m, 10)->nr_threads, 3);
	end(&t, m);
}

static void folders_are_read_only_when_a_task_came_or_went(void **state)
{
	struct fake c = { .tgid = 20, .tid = 20, .comm = "late", .slices = 1, .start_ticks = 10020 };
	struct machine_tasks *m;
	struct tree t;

	(void)state;
	begin(&t, &m);
	c.state = 'S';
	put(&t, &c);
	refresh(m); /* the kernel says that no task is new */
	assert_null(machine_tasks_thread(m, 20));
	set_load(&t, 3, 20);
	refresh(m);
	assert_non_null(machine_tasks_thread(m, 20));
	expect_near(machine_tasks_load(m)->load[1], 1.0);
	end(&t, m);
}

static void remove_thread(const struct tree *t, const char *path)
{
	char command[256];

	(void)snprintf(command, sizeof(command), "rm -r '%s/%s'", t->root, path);
	expect_eq(system(command), 0);
}

/* What is open of a thread that has gone has no bytes; that of a file does, unless they are cut. */
static void end_thread(const struct tree *t, const char *path)
{
	static const char *const kept[] = { "schedstat", "stat" };
	char file[128];

	for (size_t i = 0; i < 2; i++) {
		(void)snprintf(file, sizeof(file), "%s/%s/%s", t->root, path, kept[i]);
		expect_eq(truncate(file, 0), 0);
	}
	remove_thread(t, path);
}

static void a_task_that_has_ended_is_gone(void **state)
{
	struct machine_tasks *m;
	struct tree t;
	size_t nr;

	(void)state;
	begin(&t, &m);
	remove_thread(&t, "proc/10/task/11");
	set_load(&t, 1, 11);
	refresh(m);
	assert_null(machine_tasks_thread(m, 11));
	assert_non_null(machine_tasks_thread(m, 10));
	remove_thread(&t, "proc/10");
	set_load(&t, 0, 11);
	refresh(m);
	(void)machine_tasks_threads(m, &nr);
	expect_eq(nr, 0);
	(void)machine_tasks_processes(m, &nr);
	expect_eq(nr, 0);
	end(&t, m);
}

static void an_id_that_comes_back_is_another_thread(void **state)
{
	struct fake other = two;
	struct machine_tasks *m;
	struct tree t;

	(void)state;
	begin(&t, &m);
	now_ns += S;
	other.comm = "other";
	other.start_ticks = 10050;
	other.run_ns = 300 * MS;
	put(&t, &other);
	refresh(m);
	assert_string_equal(machine_tasks_thread(m, 11)->comm, "other");
	expect_near(machine_tasks_thread(m, 11)->run, 0.3);
	end(&t, m);
}

/* The file that is open is that of the thread which has ended; that of the next one must be opened. */
static void waits_are_those_of_the_thread_that_has_the_id_now(void **state)
{
	struct fake other = two;
	struct machine_tasks *m;
	struct tree t;

	(void)state;
	begin(&t, &m);
	now_ns += S;
	end_thread(&t, "proc/10/task/11");
	other.comm = "other";
	other.start_ticks = 10050;
	other.run_ns = 300 * MS;
	put(&t, &other);
	refresh(m);
	now_ns += S;
	other.run_ns += 200 * MS;
	other.wait_ns += 500 * MS;
	other.slices++;
	put(&t, &other);
	refresh(m);
	assert_string_equal(machine_tasks_thread(m, 11)->comm, "other");
	expect_near(machine_tasks_thread(m, 11)->run, 0.2);
	expect_near(machine_tasks_thread(m, 11)->wait, 0.5);
	end(&t, m);
}

/* Such a kernel says 0 0 0: then ticks serve, and waits are unknown. */
static void without_schedstat_ticks_serve(void **state)
{
	struct fake f = one;
	struct machine_tasks *m;
	struct tree t;

	(void)state;
	tree_init(&t);
	now_ns = 100 * S;
	set_load(&t, 1, 10);
	put(&t, &f);
	tree_write(&t, "proc/10/task/10/schedstat", "0 0 0");
	m = start(&t, 0);
	refresh(m);
	now_ns += S;
	f.run_ns += 500 * MS;
	put(&t, &f);
	tree_write(&t, "proc/10/task/10/schedstat", "0 0 0");
	refresh(m);
	expect_near(machine_tasks_thread(m, 10)->run, 0.5);
	assert_true(isnan(machine_tasks_thread(m, 10)->wait));
	end(&t, m);
}

static void one_process_alone_can_be_shown(void **state)
{
	struct fake c = { .tgid = 20, .tid = 20, .comm = "c", .state = 'S', .slices = 1 };
	struct machine_tasks *m;
	struct tree t;
	size_t nr;

	(void)state;
	tree_init(&t);
	put(&t, &one);
	put(&t, &c);
	m = start(&t, 20); /* without loadavg it lists every time */
	refresh(m);
	(void)machine_tasks_threads(m, &nr);
	expect_eq(nr, 1);
	assert_non_null(machine_tasks_thread(m, 20));
	assert_null(machine_tasks_load(m));
	end(&t, m);
}

static void command_lines_and_cgroups_come_later(void **state)
{
	const struct timespec nap = { 0, 1000000 };
	struct machine_tasks *m;
	struct tree t;

	(void)state;
	begin(&t, &m);
	while (!machine_tasks_process(m, 10)->cmdline || !machine_tasks_process(m, 10)->cgroup) {
		nanosleep(&nap, NULL);
		refresh(m);
	}
	assert_string_equal(machine_tasks_process(m, 10)->cmdline, "some command\n");
	assert_string_equal(machine_tasks_thread(m, 11)->cmdline, "some command\n");
	assert_string_equal(machine_tasks_process(m, 10)->cgroup, "/system.slice/some.service");
	assert_string_equal(machine_tasks_thread(m, 11)->cgroup, "/system.slice/some.service");
	end(&t, m);
}

static void values_of_bpf_are_0_or_unknown_until_reported(void **state)
{
	struct machine_tasks *m;
	struct tree t;

	(void)state;
	begin(&t, &m);
	machine_tasks_quiet(m, true);
	expect_near(machine_tasks_thread(m, 10)->migrations_per_s, 0);
	machine_tasks_thread(m, 10)->latency.count = 5;
	machine_tasks_quiet(m, false);
	expect_eq(machine_tasks_thread(m, 10)->latency.count, 0);
	assert_true(isnan(machine_tasks_thread(m, 10)->migrations_per_s));
	end(&t, m);
}

static const struct machine_tasks_read by_bpf = { .new_ns = S, .hot_ns = S };

/* As with BPF: it is reported which tasks have run, and none is read in turn. */
static void refresh_reported(struct machine_tasks *m, uint32_t tid, uint32_t tgid)
{
	struct diag d = { 0 };

	machine_tasks_read_load(m);
	expect_eq(machine_tasks_list_rarely(m, 5 * S, &d), 0);
	if (tid)
		expect_eq(machine_tasks_hint(m, tid, tgid), 0);
	expect_eq(machine_tasks_read(m, &by_bpf, &d), 0);
	machine_tasks_sum(m);
	expect_eq(machine_tasks_settle(m), 0);
}

static bool is_in(const uint32_t *list, size_t nr, const struct machine_task *rows, uint32_t tid)
{
	for (size_t i = 0; i < nr; i++)
		if (rows[list[i]].tid == tid)
			return true;
	return false;
}

static bool is_active(struct machine_tasks *m, uint32_t tid)
{
	const struct machine_order *o = machine_tasks_thread_order(m);
	size_t nr;

	assert_non_null(o);
	return is_in(o->active, o->nr_active, machine_tasks_threads(m, &nr), tid);
}

static void begin_reported(struct tree *t, struct machine_tasks **m)
{
	const struct timespec nap = { 0, 1000000 };

	begin(t, m);
	machine_tasks_quiet(*m, true);
	/* Answers that come later would be a reason to read a task again. */
	while (!machine_tasks_process(*m, 10)->cmdline || !machine_tasks_process(*m, 10)->cgroup) {
		nanosleep(&nap, NULL);
		refresh(*m);
	}
	for (int i = 0; i < 3; i++) {
		now_ns += S;
		refresh(*m);
	}
	refresh_reported(*m, 0, 0);
}

static void an_idle_task_is_quiet_until_it_is_reported(void **state)
{
	struct machine_tasks *m;
	struct fake a = one;
	struct tree t;

	(void)state;
	begin_reported(&t, &m);
	assert_false(is_active(m, 10));
	now_ns += S;
	a.run_ns += S / 2;
	a.slices++;
	put(&t, &a);
	refresh_reported(m, 0, 0); /* it is not reported to have run, and it has no turn */
	expect_near(machine_tasks_thread(m, 10)->run, 0);
	now_ns += S;
	refresh_reported(m, 10, 10);
	/* Times are for the reporter to fill in, with the kernel's where it has none. */
	expect_near(machine_tasks_thread(m, 10)->run, 0);
	expect_near(machine_tasks_thread(m, 10)->wait, 0);
	machine_tasks_update_thread(m, 10)->wait = 0.125;
	machine_tasks_own_run(m, 10);
	machine_tasks_own_run(m, 4711);                      /* there is none */
	expect_near(machine_tasks_thread(m, 10)->run, 0.25); /* over the time since it was read */
	expect_near(machine_tasks_thread(m, 10)->wait, 0.125);
	machine_tasks_sum(m);
	expect_eq(machine_tasks_settle(m), 0);
	expect_near(machine_tasks_process(m, 10)->run, 0.25);
	expect_near(machine_tasks_process(m, 10)->wait, 0.125);
	assert_true(is_active(m, 10));
	assert_false(is_active(m, 11));
	/* Quiet again, with the next interval. */
	machine_task_quiet(machine_tasks_thread(m, 10), true);
	now_ns += S;
	refresh_reported(m, 0, 0);
	expect_near(machine_tasks_thread(m, 10)->run, 0);
	expect_near(machine_tasks_process(m, 10)->run, 0);
	assert_false(is_active(m, 10));
	end(&t, m);
}

static void a_reported_task_comes_and_goes_without_a_listing(void **state)
{
	struct fake c = { .tgid = 20, .tid = 21, .comm = "late", .slices = 1, .start_ticks = 10400 };
	struct machine_tasks *m;
	struct tree t;

	(void)state;
	begin_reported(&t, &m);
	c.state = 'S';
	put(&t, &c);
	now_ns += S;
	refresh_reported(m, 21, 20);
	assert_non_null(machine_tasks_thread(m, 21));
	assert_non_null(machine_tasks_process(m, 20));
	expect_eq(machine_tasks_process(m, 20)->nr_threads, 1);
	refresh_reported(m, 99, 98); /* has ended already */
	assert_null(machine_tasks_thread(m, 99));
	assert_null(machine_tasks_process(m, 98));
	end_thread(&t, "proc/20/task/21");
	refresh_reported(m, 21, 20); /* its end was its last change */
	assert_null(machine_tasks_thread(m, 21));
	assert_null(machine_tasks_process(m, 20));
	end(&t, m);
}

static void the_idle_task_is_not_a_task(void **state)
{
	struct fake idle = { .comm = "swapper", .state = 'R', .slices = 1 };
	struct machine_tasks *m;
	struct tree t;
	size_t nr;

	(void)state;
	begin(&t, &m);
	put(&t, &idle); /* as no /proc has it */
	set_load(&t, 3, 12);
	refresh(m);
	refresh_reported(m, 0, 0);
	expect_eq(machine_tasks_hint(m, 0, 0), 0);
	(void)machine_tasks_threads(m, &nr);
	expect_eq(nr, 2);
	assert_null(machine_tasks_thread(m, 0));
	end(&t, m);
}

/* Reaped by its parent, which is not an event of its own. */
static void a_zombie_is_gone_with_the_next_refresh(void **state)
{
	struct machine_tasks *m;
	struct fake b = two;
	struct tree t;

	(void)state;
	begin_reported(&t, &m);
	b.state = 'Z';
	b.slices++;
	put(&t, &b);
	refresh_reported(m, 11, 10);
	expect_eq(machine_tasks_thread(m, 11)->state, 'Z');
	refresh_reported(m, 0, 0);
	assert_non_null(machine_tasks_thread(m, 11));
	end_thread(&t, "proc/10/task/11");
	refresh_reported(m, 0, 0);
	assert_null(machine_tasks_thread(m, 11));
	end(&t, m);
}

static void folders_are_not_read_more_often_than_they_may(void **state)
{
	struct fake c = { .tgid = 20, .tid = 20, .comm = "c", .slices = 1, .start_ticks = 10020 };
	struct machine_tasks *m;
	struct tree t;

	(void)state;
	begin(&t, &m);
	c.state = 'S';
	set_load(&t, 3, 12);
	refresh_reported(m, 0, 0); /* lists, and then not for five seconds */
	put(&t, &c);
	set_load(&t, 3, 20);
	now_ns += 4 * S;
	refresh_reported(m, 0, 0);
	assert_null(machine_tasks_thread(m, 20));
	now_ns += S;
	refresh_reported(m, 0, 0);
	assert_non_null(machine_tasks_thread(m, 20));
	end(&t, m);
}

static void ids_are_in_order_as_tasks_come_and_go(void **state)
{
	struct machine_tasks *m;
	struct tree t;

	(void)state;
	begin(&t, &m);
	for (uint32_t i = 0; i < 60; i++) {
		uint32_t tid = 100 + i * 37 % 60;
		struct fake f = { .tgid = tid, .tid = tid, .comm = "f", .slices = 1 };
		char path[32];
		size_t nr;
		const struct machine_order *o;
		const struct machine_task *rows;

		f.state = 'S';
		put(&t, &f);
		set_load(&t, 3 + i, tid);
		(void)snprintf(path, sizeof(path), "proc/%u", 100 + (i - 2) * 37 % 60);
		if (i % 3 == 2)
			remove_thread(&t, path);
		refresh(m);
		rows = machine_tasks_threads(m, &nr);
		o = machine_tasks_thread_order(m);
		assert_non_null(o);
		assert_true(is_in(o->changed, o->nr_changed, rows, tid));
		for (size_t k = 0; k < nr; k++) {
			expect_eq(o->place_of[o->by_id[k]], k);
			assert_true(!k || rows[o->by_id[k - 1]].tid < rows[o->by_id[k]].tid);
		}
	}
	end(&t, m);
}

static void expect_sum(struct machine_tasks *m)
{
	size_t nr, nr_threads;
	const struct machine_task *processes = machine_tasks_processes(m, &nr);
	const struct machine_task *threads = machine_tasks_threads(m, &nr_threads);

	for (size_t p = 0; p < nr; p++) {
		double run = 0;
		uint32_t nr_own = 0;
		bool is_running = false;

		for (size_t i = 0; i < nr_threads; i++) {
			if (threads[i].tgid != processes[p].tgid)
				continue;
			nr_own++;
			run += isnan(threads[i].run) ? 0 : threads[i].run;
			is_running |= threads[i].state == 'R';
		}
		expect_eq(processes[p].nr_threads, nr_own);
		assert_true(isnan(processes[p].run) || fabs(processes[p].run - run) < 1e-9);
		expect_eq(processes[p].state == 'R', is_running);
	}
}

/* Whatever happens in whichever order: a process is the sum of its threads. */
static void sums_are_those_of_all_threads_at_any_time(void **state)
{
	struct fake all[12];
	struct machine_tasks *m;
	unsigned int seed = 1;
	struct tree t;

	(void)state;
	begin(&t, &m);
	for (uint32_t i = 0; i < 12; i++) {
		all[i] = (struct fake){ .tgid = 200 + i / 4 * 4,
			                .tid = 200 + i,
			                .comm = "f",
			                .state = 'S',
			                .slices = 1,
			                .start_ticks = 7 };
		put(&t, &all[i]);
	}
	set_load(&t, 14, 211);
	refresh(m);
	for (int round = 0; round < 100; round++) {
		struct fake *f = &all[(seed = seed * 1103515245 + 12345) >> 16 & 7];

		now_ns += S;
		f->run_ns += S / 4;
		f->slices++;
		f->state = round % 3 ? 'S' : 'R';
		put(&t, f);
		refresh_reported(m, round % 5 ? f->tid : 0, f->tgid);
		expect_sum(m);
	}
	end(&t, m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_before_the_first_interval_is_unknown),
		cmocka_unit_test(the_class_is_that_of_the_scheduler_in_charge),
		cmocka_unit_test(rates_are_those_of_the_interval_and_processes_are_sums),
		cmocka_unit_test(a_new_task_counts_from_its_birth),
		cmocka_unit_test(folders_are_read_only_when_a_task_came_or_went),
		cmocka_unit_test(a_task_that_has_ended_is_gone),
		cmocka_unit_test(an_id_that_comes_back_is_another_thread),
		cmocka_unit_test(waits_are_those_of_the_thread_that_has_the_id_now),
		cmocka_unit_test(without_schedstat_ticks_serve),
		cmocka_unit_test(one_process_alone_can_be_shown),
		cmocka_unit_test(command_lines_and_cgroups_come_later),
		cmocka_unit_test(values_of_bpf_are_0_or_unknown_until_reported),
		cmocka_unit_test(an_idle_task_is_quiet_until_it_is_reported),
		cmocka_unit_test(a_reported_task_comes_and_goes_without_a_listing),
		cmocka_unit_test(the_idle_task_is_not_a_task),
		cmocka_unit_test(a_zombie_is_gone_with_the_next_refresh),
		cmocka_unit_test(folders_are_not_read_more_often_than_they_may),
		cmocka_unit_test(ids_are_in_order_as_tasks_come_and_go),
		cmocka_unit_test(sums_are_those_of_all_threads_at_any_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
