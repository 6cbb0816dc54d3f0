#include "../unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "machine/machine_usage.h"

#define S                 1000000000ULL
#define EVERYTHING        ((uint32_t)(SYS_PART_MEMORY | SYS_PART_PRESSURE | SYS_PART_NETS))
#define expect_near(a, b) assert_float_equal(a, b, 1e-6)

static struct sys_stats now;
static struct machine_usage usage;

static void put(struct sys_pairs *to, const char *name, uint64_t value)
{
	size_t i = 0;

	while (i < to->nr && strcmp(to->items[i].name, name) != 0)
		i++;
	to->nr = i == to->nr ? i + 1 : to->nr;
	snprintf(to->items[i].name, sizeof(to->items[i].name), "%s", name);
	to->items[i].value = value;
}

static void put_net(size_t at, const char *name, uint64_t rx_bytes, uint64_t tx_packets)
{
	now.nets[at] = (struct sys_net){ .rx_bytes = rx_bytes, .tx_packets = tx_packets };
	snprintf(now.nets[at].name, sizeof(now.nets[at].name), "%s", name);
}

static int setup(void **state)
{
	(void)state;
	memset(&now, 0, sizeof(now));
	memset(&usage, 0, sizeof(usage));
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	machine_usage_done(&usage);
	return 0;
}

static void take(uint32_t parts, uint64_t at_ns)
{
	expect_eq(machine_usage_take(&usage, &now, parts, at_ns), 0);
}

static double newest(struct machine_history h)
{
	assert_true(h.nr > 0);
	return h.values[h.nr - 1];
}

static void memory_has_what_the_kernel_reports_and_no_zero_else(void **state)
{
	(void)state;
	put(&now.memory, "MemTotal", 1000);
	put(&now.memory, "MemAvailable", 250);
	put(&now.memory, "Active(anon)", 7);
	put(&now.memory, "Committed_AS", 0);
	take(EVERYTHING, S);
	expect_eq(usage.memory.total_kib, 1000);
	expect_eq(usage.memory.active_anonymous_kib, 7);
	expect_eq(usage.memory.committed_kib, 0);
	expect_eq(usage.memory.bounce_kib, MACHINE_NO_KIB);
	expect_near(newest(usage.memory.past.used), 0.75);
	assert_true(isnan(newest(usage.memory.past.swap_used)));
}

static void rates_have_a_past_until_they_are_left_out(void **state)
{
	const struct machine_memory *m = &usage.memory;

	(void)state;
	put(&now.paging, "pgfault", 100);
	put(&now.paging, "pgmajfault", 10);
	put(&now.pressure, "cpu.some", 0);
	take(EVERYTHING, S);
	assert_true(isnan(m->minor_faults_per_s));
	put(&now.paging, "pgfault", 140);
	put(&now.paging, "pgmajfault", 20);
	put(&now.pressure, "cpu.some", S);
	take(EVERYTHING, 3 * S);
	expect_near(m->major_faults_per_s, 5);
	expect_near(m->minor_faults_per_s, 15);
	expect_near(m->cpu_some, 0.5);
	assert_true(isnan(m->io_full));
	expect_eq(m->past.cpu_some.nr, 2);
	expect_near(newest(m->past.cpu_some), 0.5);
	expect_near(newest(m->past.minor_faults_per_s), 15);
	/* Pressure alone goes on; what is left out begins anew. */
	put(&now.pressure, "cpu.some", 2 * S);
	take(SYS_PART_PRESSURE, 4 * S);
	expect_eq(m->past.cpu_some.nr, 3);
	expect_near(newest(m->past.cpu_some), 1);
	expect_eq(m->past.used.nr, 0);
	take(SYS_PART_MEMORY, 5 * S);
	expect_eq(m->past.cpu_some.nr, 0);
	expect_eq(m->past.used.nr, 1);
}

/* Interfaces are listed by the kernel: one that comes before the others must not take their counts or their past. */
static void interfaces_keep_their_past_while_others_come_and_go(void **state)
{
	(void)state;
	put_net(0, "lo", 1000, 0);
	put_net(1, "eth0", 5000, 0);
	now.nr_nets = 2;
	take(EVERYTHING, S);
	put_net(0, "lo", 2000, 0);
	put_net(1, "eth0", 9000, 4);
	take(EVERYTHING, 2 * S);
	expect_near(usage.nets[1].rx_bytes_per_s, 4000);
	put_net(0, "new0", 70, 0);
	put_net(1, "lo", 5000, 0);
	put_net(2, "eth0", 14000, 14);
	now.nr_nets = 3;
	take(EVERYTHING, 3 * S);
	assert_true(isnan(usage.nets[0].rx_bytes_per_s));
	expect_near(usage.nets[1].rx_bytes_per_s, 3000);
	expect_near(usage.nets[2].rx_bytes_per_s, 5000);
	expect_eq(usage.nets[0].rx_history.nr, 1);
	expect_eq(usage.nets[2].rx_history.nr, 3);
	expect_near(usage.nets[2].rx_history.values[1], 4000);
	expect_near(newest(usage.nets[2].tx_packets_history), 10);
	/* The first one goes again. */
	put_net(0, "eth0", 15000, 14);
	now.nr_nets = 1;
	take(EVERYTHING, 4 * S);
	expect_near(usage.nets[0].rx_bytes_per_s, 1000);
	expect_eq(usage.nets[0].rx_history.nr, 4);
	put_net(1, "lo", 6000, 0);
	now.nr_nets = 2;
	take(EVERYTHING, 5 * S);
	assert_true(isnan(usage.nets[1].rx_bytes_per_s));
	expect_eq(usage.nets[1].rx_history.nr, 1);
	take(0, 6 * S);
	expect_eq(usage.nets[0].rx_history.nr, 0);
}

static void as_many_interfaces_as_there_may_be(void **state)
{
	(void)state;
	now.nr_nets = SYS_NETS_MAX;
	for (uint64_t round = 0; round < 3; round++) {
		for (size_t i = 0; i < SYS_NETS_MAX; i++) {
			char name[SYS_NET_NAME];

			snprintf(name, sizeof(name), "n%zu", (i * 7 + round) % (SYS_NETS_MAX + 3));
			put_net(i, name, 100 * round, 0);
		}
		take(EVERYTHING, (round + 1) * S);
	}
	expect_eq(usage.nr_nets, SYS_NETS_MAX);
	for (size_t i = 0; i < SYS_NETS_MAX; i++)
		if (!isnan(usage.nets[i].rx_bytes_per_s))
			expect_near(usage.nets[i].rx_bytes_per_s, 100);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(memory_has_what_the_kernel_reports_and_no_zero_else,
		                                setup, teardown),
		cmocka_unit_test_setup_teardown(rates_have_a_past_until_they_are_left_out, setup,
		                                teardown),
		cmocka_unit_test_setup_teardown(interfaces_keep_their_past_while_others_come_and_go,
		                                setup, teardown),
		cmocka_unit_test_setup_teardown(as_many_interfaces_as_there_may_be, setup,
		                                teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
