#include "../unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/record_facts.h"
#include "sys/topology.h"

static struct topology *machine(uint32_t nr, bool has_gap, int32_t capacity)
{
	struct topology_cpu cpus[4];
	struct topology_table table = { .cpus = cpus, .nr_cpus = nr };
	struct topology *t = NULL;

	for (uint32_t i = 0; i < nr; i++) {
		cpus[i] = topology_cpu_unknown;
		cpus[i].is_possible = cpus[i].is_present = cpus[i].is_online = !has_gap || i != 1;
		cpus[i].llc = 0;
		cpus[i].capacity = capacity;
	}
	expect_eq(topology_new(&table, NULL, &t), 0);
	return t;
}

static const char *text_of(const struct record_facts *f, const char *key)
{
	for (size_t i = 0; i < f->nr_attrs; i++)
		if (strcmp(f->attrs[i].key, key) == 0)
			return f->attrs[i].text;
	return NULL;
}

static void the_machine_is_reported_and_no_filter_where_there_is_none(void **state)
{
	const struct record_filter none = { 0 };
	struct topology *t = machine(2, false, 512);
	struct record_facts f;

	(void)state;
	expect_eq(record_facts_init(&f, t, &none), 0);
	assert_non_null(strstr(text_of(&f, "topology"), "\"llc\": 0"));
	assert_null(text_of(&f, "filter"));
	expect_eq(f.nr_cpus, 2);
	expect_eq(f.cpus[1].capacity, 512);
	record_facts_done(&f);
	topology_free(t);
}

static void what_was_asked_for_is_reported(void **state)
{
	static const char *const names[] = { "a.*", "b" };
	const struct record_filter by_pid = { .tgid = 4711 },
				   by_cgroup = { .cgroup = names, .nr_cgroup = 2 };
	struct topology *t = machine(1, false, 1024);
	struct record_facts f;

	(void)state;
	expect_eq(record_facts_init(&f, t, &by_pid), 0);
	assert_string_equal(text_of(&f, "filter"), "pid 4711");
	record_facts_done(&f);
	expect_eq(record_facts_init(&f, t, &by_cgroup), 0);
	assert_string_equal(text_of(&f, "filter"), "cgroup a.*, cgroup b");
	record_facts_done(&f);
	expect_eq(record_facts_init(&f, t, &(struct record_filter){ .tgid = 9, .one_in = 8 }), 0);
	assert_string_equal(text_of(&f, "filter"), "one wakeup in 8, pid 9");
	record_facts_done(&f);
	expect_eq(record_facts_init(&f, t, &(struct record_filter){ .one_in = 1 }), 0);
	assert_null(text_of(&f, "filter"));
	record_facts_done(&f);
	topology_free(t);
}

static void a_filter_that_is_too_long_is_cut(void **state)
{
	char name[400];
	const char *const names[] = { name, name };
	const struct record_filter filter = { .cgroup = names, .nr_cgroup = 2 };
	struct topology *t = machine(1, false, 1024);
	struct record_facts f;

	(void)state;
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	expect_eq(record_facts_init(&f, t, &filter), 0);
	expect_eq(strlen(text_of(&f, "filter")), sizeof(f.filter) - 1);
	record_facts_done(&f);
	topology_free(t);
}

static void cpus_with_gaps_or_without_capacities_are_not_reported(void **state)
{
	const struct record_filter none = { 0 };
	struct topology *gap = machine(3, true, 1024), *unknown = machine(2, false, -1);
	struct record_facts f;

	(void)state;
	expect_eq(record_facts_init(&f, gap, &none), 0);
	expect_eq(f.nr_cpus, 0);
	record_facts_done(&f);
	expect_eq(record_facts_init(&f, unknown, &none), 0);
	expect_eq(f.nr_cpus, 0);
	record_facts_done(&f);
	topology_free(gap);
	topology_free(unknown);
}

static void the_arguments_of_a_process_are_read(void **state)
{
	char buf[256];
	size_t n = record_cmdline(NULL, (uint32_t)getpid(), buf, sizeof(buf));

	(void)state;
	assert_true(n > 0 && n <= sizeof(buf));
	assert_true(n > strlen(program_invocation_name));
	assert_string_equal(buf, program_invocation_name); /* a zero ends each */
	expect_eq(record_cmdline(NULL, (uint32_t)getpid(), buf, 3), 3);
	expect_eq(record_cmdline(NULL, 4194303, buf, sizeof(buf)), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_machine_is_reported_and_no_filter_where_there_is_none),
		cmocka_unit_test(what_was_asked_for_is_reported),
		cmocka_unit_test(a_filter_that_is_too_long_is_cut),
		cmocka_unit_test(cpus_with_gaps_or_without_capacities_are_not_reported),
		cmocka_unit_test(the_arguments_of_a_process_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
