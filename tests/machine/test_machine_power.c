/* Power as it comes into a machine, from files. */
#include "../unit.h"

#include "machine_files.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "machine/machine_power.h"

#define CPU_FOLDER "sys/devices/system/cpu"

static void expect_near(double got, double want)
{
	if (!(fabs(got - want) < 1e-6))
		print_message("# %g is not %g\n", got, want);
	assert_true(fabs(got - want) < 1e-6);
}

static bool has_reading(const struct machine *m)
{
	return m->power && m->power->nr_cpus > 0;
}

static bool has_rates(const struct machine *m)
{
	return has_reading(m) && m->power->nr_idles && !isnan(m->power->idles[0].part);
}

static bool has_uncore(const struct machine *m)
{
	return !isnan(m->cpus[0].uncore_mhz);
}

static bool has_no_uncore(const struct machine *m)
{
	return m->no_uncore;
}

static bool has_reason(const struct machine *m)
{
	return m->power->reason && strstr(m->power->reason, "no sensors");
}

static bool has_note(const struct machine *m)
{
	return m->power->note && strstr(m->power->note, "does not answer");
}

/* A reading, two seconds, another one. */
static const struct machine *two_readings(struct machine_files *f,
                                          void (*between)(const struct tree *))
{
	machine_files_open(f);
	machine_files_until(f, MACHINE_CPUS | MACHINE_POWER, has_reading);
	between(&f->t);
	machine_files_pass(2);
	return machine_files_until(f, MACHINE_CPUS | MACHINE_POWER, has_rates);
}

static void laptop_goes_on(const struct tree *t)
{
	/* 30 J of the package, 20 J of cores, 1 J of uncore, 50 J of all in two seconds. */
	tree_write(t, "sys/class/powercap/intel-rapl:0/energy_uj", "1030000000");
	tree_write(t, "sys/class/powercap/intel-rapl:0:0/energy_uj", "620000000");
	tree_write(t, "sys/class/powercap/intel-rapl:0:1/energy_uj", "51000000");
	tree_write(t, "sys/class/powercap/intel-rapl:1/energy_uj", "9050000000");
	for (int cpu = 0; cpu < 8; cpu++) {
		char path[128];

		/* A quarter of the time in C10, CPU 7 claims five seconds of two. */
		snprintf(path, sizeof(path), CPU_FOLDER "/cpu%d/cpuidle/state3/time", cpu);
		tree_write(t, path, cpu == 7 ? "14000000" : "9500000");
		snprintf(path, sizeof(path), CPU_FOLDER "/cpu%d/cpuidle/state3/usage", cpu);
		tree_write(t, path, "310");
		snprintf(path, sizeof(path),
		         CPU_FOLDER "/cpu%d/thermal_throttle/package_throttle_count", cpu);
		tree_write(t, path, "11");
		snprintf(path, sizeof(path),
		         CPU_FOLDER "/cpu%d/thermal_throttle/package_throttle_total_time_ms", cpu);
		tree_write(t, path, "600");
	}
	tree_write(t, CPU_FOLDER "/cpu5/thermal_throttle/core_throttle_count", "9");
	tree_write(t, CPU_FOLDER "/cpu5/thermal_throttle/core_throttle_total_time_ms", "240");
}

static void watts_are_those_of_the_interval(void **state)
{
	const struct machine_power_package *p;
	const struct machine_power *power;
	struct machine_files f;

	(void)state;
	machine_files_init(&f, "0-7", "power/intel_laptop.txt");
	power = two_readings(&f, laptop_goes_on)->power;
	assert_null(power->reason);
	assert_null(power->note);
	expect_eq(power->nr_packages, 1);
	p = &power->packages[0];
	expect_eq(p->nr_cpus, 8);
	expect_near(p->watts, 15);
	expect_near(p->core_watts, 10);
	expect_near(p->uncore_watts, 0.5);
	assert_true(isnan(p->dram_watts)); /* no zone, no guess */
	assert_false(p->has_single_core);
	expect_near(p->limit_watts, 28);
	expect_near(p->short_limit_watts, 64);
	expect_near(p->most_watts, 28);
	expect_near(power->watts, 15);
	expect_near(power->platform_watts, 25);
	expect_eq(power->history.nr, 1);
	expect_near(power->history.values[0], 15);
	expect_near(p->history.values[0], 15);
	expect_near(p->uncore_mhz, 2400);
	machine_files_done(&f);
}

static void temperatures_belong_to_their_cores(void **state)
{
	const struct machine_power *power;
	struct machine_files f;

	(void)state;
	machine_files_init(&f, "0-7", "power/intel_laptop.txt");
	power = two_readings(&f, laptop_goes_on)->power;
	expect_near(power->packages[0].celsius, 61);
	expect_near(power->packages[0].critical_celsius, 100);
	for (size_t i = 0; i < 8; i++)
		expect_near(power->cpus[i].celsius, 50 + (double)(i / 2));
	expect_eq(power->nr_sensors, 0);
	machine_files_done(&f);
}

static void idle_times_are_parts_of_the_interval(void **state)
{
	const struct machine_power *power;
	struct machine_files f;

	(void)state;
	machine_files_init(&f, "0-7", "power/intel_laptop.txt");
	power = two_readings(&f, laptop_goes_on)->power;
	expect_eq(power->nr_idles, 4);
	assert_string_equal(power->idles[3].name, "C10");
	expect_near(power->idles[3].latency_us, 230);
	expect_near(power->cpus[0].idle[3], 0.25);
	expect_near(power->cpus[7].idle[3], 1); /* not two and a half */
	/* Seven with half a second and one with five, of eight times two. */
	expect_near(power->idles[3].part, 8.5 / 16);
	expect_near(power->idles[3].entries_per_s, 40);
	expect_near(power->idles[3].stay_us, 8500000.0 / 80);
	expect_near(power->idles[1].part, 0);
	assert_true(isnan(power->idles[1].stay_us));
	machine_files_done(&f);
}

static void throttling_is_what_the_hardware_counts(void **state)
{
	const struct machine_power *power;
	struct machine_files f;

	(void)state;
	machine_files_init(&f, "0-7", "power/intel_laptop.txt");
	power = two_readings(&f, laptop_goes_on)->power;
	/* Once for the package, though eight CPUs tell it. */
	expect_near(power->packages[0].throttles_per_s, 2);
	expect_near(power->packages[0].throttled, 0.25);
	expect_near(power->cpus[5].throttles_per_s, 2);
	expect_near(power->cpus[5].throttled, 0.1);
	expect_near(power->cpus[4].throttled, 0);
	machine_files_done(&f);
}

static void a_battery_is_shown(void **state)
{
	const struct machine_power *power;
	struct machine_files f;

	(void)state;
	machine_files_init(&f, "0-7", "power/intel_laptop.txt");
	power = two_readings(&f, laptop_goes_on)->power;
	expect_eq(power->nr_batteries, 1);
	assert_string_equal(power->batteries[0].status, "Discharging");
	expect_near(power->batteries[0].level, 0.73);
	expect_near(power->batteries[0].seconds_left, 36.5 / 12.5 * 3600);
	machine_files_done(&f);
}

static void server_goes_on(const struct tree *t)
{
	tree_write(t, "sys/class/powercap/intel-rapl:0/energy_uj", "5200000000");
	tree_write(t, "sys/class/powercap/intel-rapl:0:0/energy_uj", "903000000");
	/* Begins anew at 65532.610987 J: 0.610987 J to the end, 89.389013 J from the start. */
	tree_write(t, "sys/class/powercap/intel-rapl:1/energy_uj", "89389013");
}

static void packages_of_a_server_are_kept_apart(void **state)
{
	const struct machine_power *power;
	const struct machine *m;
	struct machine_files f;

	(void)state;
	machine_files_init(&f, "0-1,3,300-303", "power/amd_server.txt");
	m = two_readings(&f, server_goes_on);
	power = m->power;
	expect_eq(m->nr_cpus, 8); /* one of them offline */
	expect_eq(power->nr_cpus, 7);
	expect_eq(power->nr_packages, 2);
	expect_eq(power->packages[0].nr_cpus, 3);
	expect_eq(power->packages[1].nr_cpus, 4);
	expect_near(power->packages[0].watts, 100);
	expect_near(power->packages[1].watts, 45); /* the counter has begun anew */
	expect_near(power->watts, 145);
	assert_true(isnan(power->platform_watts));
	assert_true(isnan(power->packages[0].dram_watts));
	assert_true(isnan(power->packages[0].limit_watts));
	assert_true(isnan(power->packages[0].throttled));
	/* On AMD that is one core. */
	expect_near(power->packages[0].core_watts, 1.5);
	assert_true(power->packages[0].has_single_core);
	/* A chip for each package. */
	expect_near(power->packages[0].celsius, 45.125);
	expect_near(power->packages[1].celsius, 55.125);
	expect_eq(power->nr_sensors, 2); /* dies */
	assert_string_equal(power->sensors[1].label, "Tccd1");
	expect_near(power->sensors[1].celsius, 51);
	expect_eq(power->cpus[6].cpu, 303);
	assert_true(isnan(power->cpus[6].celsius));
	machine_files_done(&f);
}

static void chips_that_fit_no_package_stand_alone(void **state)
{
	const struct machine_power *power;
	struct machine_files f;

	(void)state;
	machine_files_init(&f, "0-1,3,300-303", "power/amd_server.txt");
	tree_write(&f.t, "sys/class/hwmon/hwmon9/name", "k10temp");
	tree_write(&f.t, "sys/class/hwmon/hwmon9/temp1_input", "70000");
	tree_write(&f.t, "sys/class/hwmon/hwmon9/temp1_label", "Tctl");
	power = two_readings(&f, server_goes_on)->power;
	/* Three for two packages: which is whose is unknown. */
	assert_true(isnan(power->packages[0].celsius) && isnan(power->packages[1].celsius));
	expect_eq(power->nr_sensors, 5);
	machine_files_done(&f);
}

static void a_machine_without_sensors_says_so(void **state)
{
	struct machine_files f;
	const struct machine *m;

	(void)state;
	machine_files_init(&f, "0-1", NULL);
	tree_write(&f.t, CPU_FOLDER "/online", "0-1");
	tree_write(&f.t, CPU_FOLDER "/possible", "0-1");
	machine_files_open(&f);
	m = machine_files_until(&f, MACHINE_POWER, has_reason);
	assert_true(isnan(m->power->watts));
	expect_eq(m->power->nr_packages, 0);
	machine_files_done(&f);
}

static void watts_of_root_have_a_remedy(void **state)
{
	struct machine_files f;
	const struct machine *m;
	char path[256];
	int before;

	(void)state;
	machine_files_init(&f, "0-7", "power/intel_laptop.txt");
	for (int i = 0; i < 4; i++) {
		static const char *const zones[] = { "0", "0:0", "0:1", "1" };

		snprintf(path, sizeof(path), "%s/sys/class/powercap/intel-rapl:%s/energy_uj",
		         f.t.root, zones[i]);
		expect_eq(chmod(path, 0), 0);
	}
	expect_eq(chmod(f.t.root, 0755), 0);
	before = setfsuid(65534); /* of this thread and those that it starts: no root for files */
	machine_files_open(&f);
	m = machine_files_until(&f, MACHINE_CPUS | MACHINE_POWER, has_reading);
	setfsuid((uid_t)before);
	assert_non_null(strstr(m->power->note, "run it as root, or with CAP_DAC_READ_SEARCH"));
	assert_true(isnan(m->power->watts));
	expect_near(m->power->packages[0].celsius, 61); /* the rest is there */
	machine_files_done(&f);
}

static void without_counters_the_rest_is_there(void **state)
{
	struct machine_files f;
	const struct machine *m;

	(void)state;
	machine_files_init(&f, "0-1", NULL);
	tree_write(&f.t, CPU_FOLDER "/online", "0-1");
	tree_write(&f.t, "sys/class/thermal/thermal_zone0/type", "cpu-thermal");
	tree_write(&f.t, "sys/class/thermal/thermal_zone0/temp", "40000");
	machine_files_open(&f);
	m = machine_files_until(&f, MACHINE_POWER, has_reading);
	assert_null(m->power->reason);
	assert_non_null(strstr(m->power->note, "/sys/class/powercap"));
	expect_eq(m->power->nr_sensors, 1);
	machine_files_done(&f);
}

/* A pipe without a writer hangs the process that opens it, as the driver of a chip that is gone does. */
static void a_sensor_that_never_answers_is_left_out(void **state)
{
	const struct timespec nap = { 0, 1000000 };
	struct timespec begin, end;
	struct machine_files f;
	const struct machine *m;
	char path[256];
	int fd;

	(void)state;
	machine_files_init(&f, "0-7", "power/intel_laptop.txt");
	snprintf(path, sizeof(path), "%s/sys/class/hwmon/hwmon4/temp6_input", f.t.root);
	expect_eq(unlink(path), 0);
	expect_eq(mkfifo(path, 0600), 0);
	machine_files_open(&f);
	for (int i = 0; i < 20; i++) {
		clock_gettime(CLOCK_MONOTONIC, &begin);
		machine_files_refresh(&f, MACHINE_CPUS | MACHINE_POWER);
		clock_gettime(CLOCK_MONOTONIC, &end);
		assert_true(end.tv_sec - begin.tv_sec < 5); /* it would be for ever */
		nanosleep(&nap, NULL);
	}
	m = machine_files_until(&f, MACHINE_CPUS | MACHINE_POWER, has_note);
	assert_non_null(strstr(m->power->note, "/hwmon4/temp6_input"));
	assert_true(isnan(m->power->cpus[2].celsius)); /* the others are there */
	expect_near(m->power->cpus[4].celsius, 52);
	expect_near(m->power->packages[0].celsius, 61);
	expect_eq(m->nr_log, 1);
	laptop_goes_on(&f.t);
	machine_files_pass(2);
	m = machine_files_until(&f, MACHINE_CPUS | MACHINE_POWER, has_rates);
	expect_near(m->power->packages[0].watts, 15);
	expect_eq(m->nr_log, 1);             /* reported once */
	fd = open(path, O_RDWR | O_CLOEXEC); /* lets go of the thread that hangs */
	machine_files_done(&f);
	close(fd);
}

static bool has_mhz(const struct machine *m)
{
	return !isnan(m->cpus[0].mhz);
}

static bool has_new_mhz(const struct machine *m)
{
	return m->cpus[0].mhz == 3000;
}

static void frequencies_come_when_they_come(void **state)
{
	struct machine_files f;
	const struct machine *m;
	char path[256];
	int fd;

	(void)state;
	machine_files_init(&f, "0-7", "power/intel_laptop.txt");
	tree_write(&f.t, CPU_FOLDER "/cpu3/cpufreq/scaling_cur_freq", "<unknown>");
	tree_write(&f.t, CPU_FOLDER "/cpu3/cpufreq/cpuinfo_cur_freq", "900000");
	machine_files_open(&f);
	m = machine_files_until(&f, MACHINE_CPUS, has_mhz);
	for (size_t i = 0; i < 8; i++)
		expect_near(m->cpus[i].mhz, i == 3 ? 900 : 1200 + 100 * (double)i);
	snprintf(path, sizeof(path), "%s/" CPU_FOLDER "/cpu5/cpufreq/scaling_cur_freq", f.t.root);
	expect_eq(unlink(path), 0);
	expect_eq(mkfifo(path, 0600), 0); /* it hangs */
	tree_write(&f.t, CPU_FOLDER "/cpu0/cpufreq/scaling_cur_freq", "3000000");
	machine_files_pass(1);
	m = machine_files_until(&f, MACHINE_CPUS, has_new_mhz);
	assert_true(isnan(m->cpus[5].mhz));
	expect_near(m->cpus[6].mhz, 1800);
	fd = open(path, O_RDWR | O_CLOEXEC);
	machine_files_done(&f);
	close(fd);
}

static void uncore_is_that_of_the_package_of_a_cpu(void **state)
{
	struct machine_files f;
	const struct machine *m;

	(void)state;
	machine_files_init(&f, "0-1,3,300-303", "power/amd_server.txt");
	tree_write(&f.t, CPU_FOLDER "/intel_uncore_frequency/package_00_die_00/current_freq_khz",
	           "1500000");
	tree_write(&f.t, CPU_FOLDER "/intel_uncore_frequency/package_01_die_00/current_freq_khz",
	           "2000000");
	machine_files_open(&f);
	m = machine_files_until(&f, MACHINE_CPUS | MACHINE_UNCORE, has_uncore);
	assert_null(m->power); /* the rest was not requested */
	assert_null(m->no_uncore);
	for (size_t i = 0; i < m->nr_cpus; i++)
		if (m->cpus[i].is_online)
			expect_near(m->cpus[i].uncore_mhz, m->cpus[i].cpu < 300 ? 1500 : 2000);
	m = machine_files_refresh(&f, MACHINE_CPUS);
	assert_true(isnan(m->cpus[0].uncore_mhz));
	machine_files_done(&f);
}

static void without_uncore_the_remedy_is_reported(void **state)
{
	struct machine_files f;
	const struct machine *m;

	(void)state;
	machine_files_init(&f, "0-1", NULL);
	machine_files_open(&f);
	m = machine_files_until(&f, MACHINE_CPUS | MACHINE_UNCORE, has_no_uncore);
	assert_non_null(strstr(m->no_uncore, "intel_uncore_frequency"));
	assert_true(isnan(m->cpus[0].uncore_mhz));
	m = machine_files_refresh(&f, MACHINE_CPUS);
	assert_null(m->no_uncore);
	machine_files_done(&f);
}

static void a_rest_begins_a_new_interval(void **state)
{
	const struct machine *m;
	struct machine_files f;

	(void)state;
	machine_files_init(&f, "0-7", "power/intel_laptop.txt");
	m = two_readings(&f, laptop_goes_on);
	expect_near(m->power->watts, 15);
	m = machine_files_refresh(&f, MACHINE_CPUS);
	assert_null(m->power);
	machine_files_pass(3600);
	m = machine_files_until(&f, MACHINE_CPUS | MACHINE_POWER, has_reading);
	assert_true(isnan(m->power->watts)); /* an hour's mean is no power of now */
	expect_eq(m->power->history.nr, 1);
	machine_files_done(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(watts_are_those_of_the_interval),
		cmocka_unit_test(temperatures_belong_to_their_cores),
		cmocka_unit_test(idle_times_are_parts_of_the_interval),
		cmocka_unit_test(throttling_is_what_the_hardware_counts),
		cmocka_unit_test(a_battery_is_shown),
		cmocka_unit_test(packages_of_a_server_are_kept_apart),
		cmocka_unit_test(chips_that_fit_no_package_stand_alone),
		cmocka_unit_test(a_machine_without_sensors_says_so),
		cmocka_unit_test(watts_of_root_have_a_remedy),
		cmocka_unit_test(without_counters_the_rest_is_there),
		cmocka_unit_test(a_sensor_that_never_answers_is_left_out),
		cmocka_unit_test(frequencies_come_when_they_come),
		cmocka_unit_test(uncore_is_that_of_the_package_of_a_cpu),
		cmocka_unit_test(without_uncore_the_remedy_is_reported),
		cmocka_unit_test(a_rest_begins_a_new_interval),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
