#include "../unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sys/proc/sys_stats.h"
#include "tree.h"

static uint64_t value_of(const struct sys_pairs *p, const char *name)
{
	for (size_t i = 0; i < p->nr; i++)
		if (strcmp(p->items[i].name, name) == 0)
			return p->items[i].value;
	fail_msg("no %s", name);
	return 0;
}

static void memory_and_paging_are_names_with_numbers(void **state)
{
	struct sys_pairs p = { .nr = 0 };

	(void)state;
	sys_pairs_parse(
		"MemTotal:       24643328 kB\nActive(anon):       1636 kB\nHugePages_Total:  0\n"
		"pgfault 265446619\nno number\n: 5\nempty:\n",
		&p);
	expect_eq(p.nr, 4);
	expect_eq(value_of(&p, "MemTotal"), 24643328);
	expect_eq(value_of(&p, "Active(anon)"), 1636);
	expect_eq(value_of(&p, "HugePages_Total"), 0);
	expect_eq(value_of(&p, "pgfault"), 265446619);
}

static void names_and_lines_are_bounded(void **state)
{
	struct sys_pairs p = { .nr = 0 };
	char *text = malloc(400 * 8 + 1), *at = text;

	(void)state;
	sys_pairs_parse("a_name_of_thirty_two_letters_xxx 1\na_name_of_thirty_one_letters_xxx 2",
	                &p);
	expect_eq(p.nr, 0); /* both have 32 */
	sys_pairs_parse("a_name_of_thirty_one_letters_xx 3", &p);
	expect_eq(p.nr, 1);
	for (int i = 0; i < 400; i++)
		at += sprintf(at, "n%03d %d\n", i, i % 10);
	sys_pairs_parse(text, &p);
	expect_eq(p.nr, SYS_PAIRS_MAX);
	free(text);
}

static void pressure_is_in_nanoseconds(void **state)
{
	struct sys_pairs p = { .nr = 0 };

	(void)state;
	sys_pressure_parse("some avg10=0.00 avg60=2.21 avg300=7.62 total=4953735989\n"
	                   "full avg10=0.00 avg60=0.00 avg300=0.00 total=7\n"
	                   "half avg10=0.00\nsome total=18446744073709551615\n",
	                   "cpu", &p);
	expect_eq(p.nr, 2);
	expect_eq(value_of(&p, "cpu.some"), 4953735989000);
	expect_eq(value_of(&p, "cpu.full"), 7000);
}

#define STAT                                                   \
	"cpu  30 0 0 0 0 0 0 0 0 0\n"                          \
	"cpu0 1 2 3 4 5 6 7 8 9 10\n"                          \
	"cpu7 640485 19881 96875 382776 1500 0 920 3507 0 0\n" \
	"intr 1 2 3\nctxt 5\nbtime 6\nprocesses 1728430\nprocs_running 1\n"

static void cpu_times_go_by_the_kernels_numbers(void **state)
{
	struct sys_cpu cpus[4];
	uint64_t forks = 0;

	(void)state;
	expect_eq(sys_cpus_parse(STAT, 100, cpus, 4), 2);
	expect_eq(cpus[0].cpu, 0);
	for (uint64_t i = 0; i < SYS_TIMES; i++)
		expect_eq(cpus[0].ns[i], (i + 1) * 10000000);
	expect_eq(cpus[1].cpu, 7);
	expect_eq(cpus[1].ns[SYS_USER], 6404850000000);
	expect_eq(cpus[1].ns[SYS_STEAL], 35070000000);
	expect_eq(sys_cpus_parse(STAT, 100, cpus, 1), 1);
	expect_eq(sys_cpus_parse("cpu1 1 2 3\ncpu8192 1 2 3 4 5 6 7 8\n", 100, cpus, 4), 0);
	expect_eq(sys_cpus_parse("", 100, cpus, 4), 0);
	assert_true(sys_forks_parse(STAT, &forks));
	expect_eq(forks, 1728430);
	assert_false(sys_forks_parse("processes", &forks));
}

#define NET                                                                                           \
	"Inter-|   Receive                            |  Transmit\n"                                  \
	" face |bytes packets errs drop fifo frame compressed multicast|bytes packets errs\n"         \
	"    lo:    6474      58    0    0    0     0    0    0     6475      59    0    0 0 0 0 0\n" \
	"eth0.1:1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n"                                             \
	"short: 1 2 3\n"                                                                              \
	"a-name-of-sixteen: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n"

static void interfaces_have_what_came_and_went(void **state)
{
	struct sys_net nets[4];

	(void)state;
	expect_eq(sys_nets_parse(NET, nets, 4), 2);
	assert_string_equal(nets[0].name, "lo");
	expect_eq(nets[0].rx_bytes, 6474);
	expect_eq(nets[0].rx_packets, 58);
	expect_eq(nets[0].tx_bytes, 6475);
	expect_eq(nets[0].tx_packets, 59);
	assert_string_equal(nets[1].name, "eth0.1");
	expect_eq(nets[1].rx_errors, 3);
	expect_eq(nets[1].rx_drops, 4);
	expect_eq(nets[1].tx_bytes, 9);
	expect_eq(nets[1].tx_errors, 11);
	expect_eq(nets[1].tx_drops, 12);
	expect_eq(sys_nets_parse(NET, nets, 1), 1);
}

static void a_machine_is_read_and_what_it_lacks_is_absent(void **state)
{
	struct sys_stats *s = calloc(1, sizeof(*s));
	struct tree t;

	(void)state;
	tree_init(&t);
	expect_eq(sys_stats_read(t.root, 4, s), 0);
	expect_eq(s->nr_cpus + s->memory.nr + s->paging.nr + s->pressure.nr + s->nr_nets +
	                  s->nr_khz,
	          0);
	assert_false(s->has_forks);
	tree_write(&t, "proc/stat", STAT);
	tree_write(&t, "proc/meminfo", "MemFree: 17 kB\n");
	tree_write(&t, "proc/vmstat", "pgfault 18\n");
	tree_write(&t, "proc/pressure/io", "some total=19\n");
	tree_write(&t, "proc/net/dev", NET);
	tree_write(&t, "sys/devices/system/cpu/cpu2/cpufreq/scaling_cur_freq", "2400000\n");
	expect_eq(sys_stats_read(t.root, 4, s), 0);
	expect_eq(s->nr_cpus, 2);
	assert_true(s->has_forks);
	expect_eq(value_of(&s->memory, "MemFree"), 17);
	expect_eq(value_of(&s->paging, "pgfault"), 18);
	expect_eq(value_of(&s->pressure, "io.some"), 19000);
	expect_eq(s->nr_nets, 2);
	expect_eq(s->nr_khz, 3);
	expect_eq(s->khz[1], 0);
	expect_eq(s->khz[2], 2400000);
	expect_eq(sys_stats_read(t.root, 0, s), 0);
	expect_eq(s->nr_khz, 0);
	expect_eq(s->memory.nr, 1);
	sys_stats_done(s);
	tree_done(&t);
	free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_and_paging_are_names_with_numbers),
		cmocka_unit_test(names_and_lines_are_bounded),
		cmocka_unit_test(pressure_is_in_nanoseconds),
		cmocka_unit_test(cpu_times_go_by_the_kernels_numbers),
		cmocka_unit_test(interfaces_have_what_came_and_went),
		cmocka_unit_test(a_machine_is_read_and_what_it_lacks_is_absent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
