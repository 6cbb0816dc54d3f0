#include "../unit.h"
#include "tree.h"

#include <errno.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sys/pmu/pmu.h"
#include "sys/pmu/pmu_format.h"

struct machine {
	struct tree tree;
	char devices[PATH_MAX + 64];
	char cpuinfo[PATH_MAX + 64];
	struct pmu_paths paths;
	struct pmu_events events;
	struct diag d;
};

static struct machine *machine_new(const char *fixture, const char *cpuinfo)
{
	struct machine *m = calloc(1, sizeof(*m));

	assert_non_null(m);
	tree_init(&m->tree);
	if (fixture)
		tree_unpack(&m->tree, fixture);
	if (cpuinfo)
		tree_write(&m->tree, "proc/cpuinfo", cpuinfo);
	snprintf(m->devices, sizeof(m->devices), "%s/sys/bus/event_source/devices", m->tree.root);
	snprintf(m->cpuinfo, sizeof(m->cpuinfo), "%s/proc/cpuinfo", m->tree.root);
	m->paths = (struct pmu_paths){ .devices = m->devices, .cpuinfo = m->cpuinfo };
	return m;
}

static void machine_free(struct machine *m)
{
	tree_done(&m->tree);
	pmu_events_done(&m->events);
	free(m);
}

static int resolve(struct machine *m, const char *name)
{
	pmu_events_done(&m->events);
	m->d = (struct diag){ 0 };
	return pmu_resolve(&m->paths, name, false, &m->d, &m->events);
}

static void expect(struct machine *m, const char *name, uint32_t type, uint64_t config)
{
	if (resolve(m, name))
		fail_msg("%s: %s", name, m->d.what);
	expect_eq(m->events.nr, 1);
	expect_eq(m->events.items[0].type, type);
	expect_eq(m->events.items[0].config, config);
	assert_string_equal(m->events.items[0].name, name);
}

static void expect_error(struct machine *m, const char *name, int err, const char *word)
{
	expect_eq(resolve(m, name), err);
	expect_eq(m->d.code, err);
	if (!strstr(m->d.what, word))
		fail_msg("%s: '%s' lacks '%s'", name, m->d.what, word);
}

static int setup_amd(void **state)
{
	*state = machine_new("pmu/amd.txt",
	                     "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\n\n"
	                     "processor\t: 1\nvendor_id\t: Someone Else\ncpu family\t: 1");
	return 0;
}

static int setup_intel(void **state)
{
	*state = machine_new("pmu/intel_hybrid.txt",
	                     "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\n");
	return 0;
}

static int setup_arm(void **state)
{
	*state = machine_new("pmu/arm.txt",
	                     "processor\t: 0\nBogoMIPS\t: 50.00\nCPU implementer\t: 0x41\n");
	return 0;
}

static int setup_none(void **state)
{
	*state = machine_new("pmu/none.txt", "processor\t: 0\nCPU implementer\t: 0x41\n");
	return 0;
}

static int setup_empty(void **state)
{
	*state = machine_new(NULL, NULL);
	return 0;
}

static int teardown(void **state)
{
	machine_free(*state);
	return 0;
}

static void formats_are_read_as_the_kernel_writes_them(void **state)
{
	struct pmu_format f = { 0 };

	(void)state;
	expect_eq(pmu_format_parse("config:0-7,32-35", &f), 0);
	expect_eq(f.word, 0);
	expect_eq(f.mask, 0xf000000ffULL);
	expect_eq(pmu_format_parse("config1:0-63\n", &f), 0);
	expect_eq(f.word, 1);
	expect_eq(f.mask, UINT64_MAX);
	expect_eq(pmu_format_parse("config2:4", &f), 0);
	expect_eq(f.word, 2);
	expect_eq(f.mask, 0x10);
	expect_eq(pmu_format_parse("config3:0-63", &f), -ENOTSUP);
}

static void broken_formats_are_refused(void **state)
{
	static const char *const broken[] = {
		"",          "config",        "config:",      "config:7-0",
		"config:64", "config:0-64",   "config:1,",    "config:1 x",
		"event:0-7", "config:0-7,,9", "config:-1",    "config:0-",
		"configx:0", "config:0 -7",   "config:00001",
	};
	struct pmu_format f;

	(void)state;
	for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++)
		if (pmu_format_parse(broken[i], &f) != -EINVAL)
			fail_msg("'%s' was taken", broken[i]);
}

static void a_value_fills_its_bits_from_the_lowest(void **state)
{
	struct pmu_format f = { .word = 0, .mask = 0xf000000ffULL };
	uint64_t words[PMU_NR_WORDS] = { 0xffffffffffffffffULL, 7, 7 };

	(void)state;
	expect_eq(pmu_format_put(&f, 0x18e, words), 0);
	expect_eq(words[0], 0xfffffff1ffffff8eULL);
	expect_eq(words[1], 7);
	expect_eq(pmu_format_put(&f, 0x1000, words), -ERANGE);
	expect_eq(words[0], 0xfffffff1ffffff8eULL);
}

static void broken_terms_are_refused(void **state)
{
	static const char *const broken[] = {
		",",        "=1",       "event=",
		"event=0x", "event=1,", "event=1,,umask=2",
		"event=1 ", "event=-1", "../x",
		".x",       "event==1", "event=0x10000000000000000",
	};
	struct pmu_term t;

	(void)state;
	for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
		const char *rest = broken[i];
		int more;

		while ((more = pmu_term_next(&rest, &t)) > 0)
			;
		if (more != -EINVAL)
			fail_msg("'%s' was taken", broken[i]);
	}
}

static void generic_names_are_the_kernels_numbers(void **state)
{
	struct machine *m = *state;

	expect(m, "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	expect(m, "cpu-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	expect(m, "instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
	expect(m, "branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES);
	expect(m, "LLC-load-misses", PERF_TYPE_HW_CACHE, 0x10002);
	expect(m, "L1-dcache-load-misses", PERF_TYPE_HW_CACHE, 0x10000);
	expect(m, "llc-load-misses", PERF_TYPE_HW_CACHE, 0x10002);
	expect(m, "dTLB-store-misses", PERF_TYPE_HW_CACHE, 0x10103);
	expect(m, "context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES);
	assert_string_equal(m->events.items[0].pmu, "");
	assert_true(m->events.items[0].is_per_task);
}

static void aliases_on_amd_are_its_own_codes(void **state)
{
	struct machine *m = *state;

	expect(m, "l1d-miss", PERF_TYPE_HW_CACHE, 0x10000);
	expect(m, "l2-miss", PERF_TYPE_RAW, 0x964);
	assert_string_equal(m->events.items[0].title, "L2 Cache Misses");
	expect(m, "l1i-miss", PERF_TYPE_RAW, 0x10000188e);
	expect(m, "l3-miss", PERF_TYPE_RAW, 0xd843);
}

static void an_older_amd_gets_no_codes_of_a_newer_one(void **state)
{
	struct machine *m = *state;

	tree_write(&m->tree, "proc/cpuinfo", "vendor_id\t: AuthenticAMD\ncpu family\t: 23\n");
	expect(m, "l2-miss", PERF_TYPE_RAW, 0x964);
	expect(m, "l1i-miss", PERF_TYPE_HW_CACHE, 0x10001);
	tree_write(&m->tree, "proc/cpuinfo", "vendor_id\t: AuthenticAMD\ncpu family\t: 21\n");
	expect_error(m, "l2-miss", -ENOTSUP, "AMD");
}

static void events_of_a_pmu_go_where_its_formats_say(void **state)
{
	struct machine *m = *state;

	expect(m, "ic_tag_miss", 4, 0x10000188e);
	expect(m, "cpu/ic_tag_miss/", 4, 0x10000188e);
	expect(m, "cpu/event=0x18e,umask=0x18/", 4, 0x10000188e);
	expect(m, "stall_edges", 4, 0x1040087);
	expect(m, "cpu/stall_edges,umask=3/", 4, 0x1040387);
	expect(m, "cpu/config=0x123,config1=4,config2=5/", 4, 0x123);
	expect_eq(m->events.items[0].config1, 4);
	expect_eq(m->events.items[0].config2, 5);
}

static void events_of_a_package_are_marked(void **state)
{
	struct machine *m = *state;

	expect(m, "amd_l3/l3_lookups/", 10, 0xff04);
	assert_false(m->events.items[0].is_per_task);
	expect_eq(m->events.items[0].cpus.nr, 2);
	assert_true(cpulist_has(&m->events.items[0].cpus, 8));
	expect(m, "energy-pkg", 11, 2);
	assert_false(m->events.items[0].is_per_task);
}

static void wrong_names_are_explained(void **state)
{
	struct machine *m = *state;

	expect_error(m, "nonsense", -ENOENT, "nonsense");
	expect_error(m, "energy-pkg.scale", -ENOENT, "energy-pkg.scale");
	expect_error(m, "power/energy-pkg.unit/", -ENOENT, "energy-pkg.unit");
	expect_error(m, "gpu/busy/", -ENOENT, "gpu");
	expect_error(m, "cpu/event=0x1000/", -ERANGE, "0x1000");
	expect_error(m, "cpu/colour=1/", -ENOENT, "colour");
	expect_error(m, "cpu/colour/", -ENOENT, "colour");
	expect_error(m, "cpu/event=x/", -EINVAL, "event=x");
	expect_error(m, "cpu/event=1", -EINVAL, "cpu/event=1");
	expect_error(m, "cpu//", -EINVAL, "cpu//");
	expect_error(m, "/", -EINVAL, "/");
	expect_error(m, "../../etc/passwd", -EINVAL, "etc");
	expect_error(m, "cpu/event=1/u", -EINVAL, "cpu/event=1/u");
	expect_error(m, "", -EINVAL, "not an event");
	expect_error(m, "a b", -EINVAL, "a b");
	expect_error(m, "\033[2J", -EINVAL, "?[2J");
}

static void raw_codes_need_leave(void **state)
{
	struct machine *m = *state;

	expect_error(m, "race", -ENOENT, "race");
	expect_eq(pmu_resolve(&m->paths, "r964", true, &m->d, &m->events), 0);
	expect_eq(m->events.items[0].type, PERF_TYPE_RAW);
	expect_eq(m->events.items[0].config, 0x964);
	assert_string_equal(m->events.items[0].title, "raw:0x964");
	pmu_events_done(&m->events);
	m->d = (struct diag){ 0 };
	expect_eq(pmu_resolve(&m->paths, "r", true, &m->d, &m->events), -ENOENT);
	expect_eq(pmu_resolve(&m->paths, "rxyz", true, &m->d, &m->events), -ENOENT);
	expect_eq(pmu_resolve(&m->paths, "r10000000000000000", true, &m->d, &m->events), -ENOENT);
}

static void a_very_long_name_is_refused(void **state)
{
	struct machine *m = *state;
	char name[300];

	memset(name, 'a', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	expect_eq(resolve(m, name), -EINVAL);
}

static void hybrid_cpus_get_one_event_per_pmu(void **state)
{
	struct machine *m = *state;
	const struct pmu_event *e;

	expect_eq(resolve(m, "cycles"), 0);
	expect_eq(m->events.nr, 2);
	e = m->events.items;
	assert_string_equal(e[0].pmu, "cpu_atom");
	expect_eq(e[0].type, PERF_TYPE_HARDWARE);
	expect_eq(e[0].config, 10ULL << 32);
	expect_eq(e[0].cpus.nr, 8);
	assert_true(cpulist_has(&e[0].cpus, 16));
	assert_string_equal(e[1].pmu, "cpu_core");
	expect_eq(e[1].config, 4ULL << 32);
	expect_eq(e[1].cpus.nr, 16);

	expect_eq(resolve(m, "mem-loads"), 0);
	expect_eq(m->events.nr, 2);
	e = m->events.items;
	expect_eq(e[0].type, 10);
	expect_eq(e[0].config, 0x5d0);
	expect_eq(e[1].config, 0x1cd);
	expect_eq(e[1].config1, 3);
}

static void an_event_of_one_kind_of_core_is_one_event(void **state)
{
	struct machine *m = *state;

	expect(m, "slots", 4, 0x400);
	expect(m, "cpu/slots/", 4, 0x400);
	expect(m, "cpu_core/slots/", 4, 0x400);
	expect_error(m, "cpu_atom/slots/", -ENOENT, "cpu_atom");
	expect_error(m, "cpu/nothing/", -ENOENT, "nothing");
	expect(m, "cpu_core/event=1,umask=0x1ff/", 4, 0x1000000ff01);
	expect(m, "cpu_core/event=1,snoop=0xf/", 4, 1);
	expect_eq(m->events.items[0].config2, 0xf0);
}

static void cpu_means_every_core_pmu(void **state)
{
	struct machine *m = *state;

	expect_eq(resolve(m, "cpu/event=0x24,umask=0x3f/"), 0);
	expect_eq(m->events.nr, 2);
	expect_eq(m->events.items[0].type, 10);
	expect_eq(m->events.items[1].type, 4);
	expect_eq(m->events.items[1].config, 0x3f24);
}

static void raw_codes_on_hybrid_cpus_name_the_pmu(void **state)
{
	struct machine *m = *state;

	expect_eq(pmu_resolve(&m->paths, "r3f24", true, &m->d, &m->events), 0);
	expect_eq(m->events.nr, 2);
	expect_eq(m->events.items[0].type, 10);
	expect_eq(m->events.items[0].config, 0x3f24);
}

static void what_intel_lacks_is_said_with_its_name(void **state)
{
	struct machine *m = *state;

	expect_error(m, "l2-miss", -ENOTSUP, "Intel");
	expect_eq(resolve(m, "l3-miss"), 0);
	expect_eq(m->events.items[1].type, PERF_TYPE_HW_CACHE);
	expect_eq(m->events.items[1].config, 4ULL << 32 | 0x10002);
	expect_error(m, "cpu_core/acr_mask=1/", -ENOTSUP, "acr_mask");
	expect_error(m, "hv_24x7/PM_READS/", -EINVAL, "chip");
	expect_eq(resolve(m, "hv_24x7/PM_READS,chip=1/"), -EINVAL);
}

static void arm_pmus_go_by_their_own_name(void **state)
{
	struct machine *m = *state;

	expect(m, "inst_retired", 8, 8);
	assert_true(m->events.items[0].is_per_task);
	expect_eq(m->events.items[0].cpus.nr, 4);
	expect(m, "armv8_pmuv3_0/event=0x11,long/", 8, 0x11);
	expect_eq(m->events.items[0].config1, 1);
	expect(m, "armv8_pmuv3_0/event=0x11,threshold=0xfff/", 8, 0x11);
	expect_eq(m->events.items[0].config1, 0xfffULL << 5);
	expect(m, "cycles", PERF_TYPE_HARDWARE, 0);
	expect(m, "l2-miss", 8, 0x17);
	assert_string_equal(m->events.items[0].title, "L2 Cache Misses");
	expect(m, "l1i-miss", PERF_TYPE_HW_CACHE, 0x10001);
	expect(m, "bus_cycles", 9, 0x1d);
}

static void an_event_that_names_itself_ends(void **state)
{
	expect_error(*state, "loops", -ENOENT, "loops");
}

static void without_a_pmu_only_software_counts(void **state)
{
	struct machine *m = *state;

	expect_error(m, "cycles", -ENOTSUP, "no hardware counters");
	expect_error(m, "l2-miss", -ENOTSUP, "no hardware counters");
	expect_error(m, "cpu/event=1/", -ENOTSUP, "no hardware counters");
	expect(m, "page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
	expect_eq(pmu_resolve(&m->paths, "r1", true, NULL, &m->events), -ENOTSUP);
}

static void no_sysfs_at_all_is_like_no_pmu(void **state)
{
	struct machine *m = *state;

	expect_error(m, "cycles", -ENOTSUP, "no hardware counters");
	expect(m, "cs", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES);
}

static void a_pmu_without_a_type_is_ignored(void **state)
{
	struct machine *m = *state;

	tree_write(&m->tree, "sys/bus/event_source/devices/cpu/type", "4294967296");
	tree_write(&m->tree, "sys/bus/event_source/devices/cpu_x/cpus", "0-3");
	expect_error(m, "cycles", -ENOTSUP, "no hardware counters");
}

struct rows {
	char text[16384];
	const struct pmu_paths *paths;
	int limit;
};

static int take_row(void *ctx, const struct pmu_row *row)
{
	struct rows *r = ctx;
	struct pmu_events events = { 0 };
	size_t len = strlen(r->text);

	if (r->limit-- == 0)
		return -ECANCELED;
	snprintf(r->text + len, sizeof(r->text) - len, "%s|%s|%s\n", row->name, row->kind,
	         row->description);
	/* What is listed can be used, except for the two that stand for others. */
	if (strcmp(row->kind, "raw") != 0 && strcmp(row->name, "ipc") != 0)
		expect_eq(pmu_resolve(r->paths, row->name, false, NULL, &events), 0);
	pmu_events_done(&events);
	return 0;
}

static bool is_not_cache(void *ctx, const struct pmu_event *event)
{
	(void)ctx;
	return event->type != PERF_TYPE_HW_CACHE;
}

static void list(struct machine *m, bool (*is_usable)(void *, const struct pmu_event *),
                 struct rows *r)
{
	struct pmu_lister lister = { .is_usable = is_usable, .row = take_row, .ctx = r };

	*r = (struct rows){ .paths = &m->paths, .limit = -1 };
	expect_eq(pmu_list(&m->paths, &lister, &m->d), 0);
}

static void the_list_holds_what_can_be_charged_to_tasks(void **state)
{
	struct rows r;

	list(*state, NULL, &r);
	assert_non_null(strstr(r.text, "ipc|alias|"));
	assert_non_null(strstr(r.text, "l2-miss|alias|"));
	assert_non_null(strstr(r.text, "instructions|hardware|"));
	assert_non_null(strstr(r.text, "LLC-loads|cache|"));
	assert_non_null(strstr(r.text, "context-switches|software|"));
	assert_non_null(strstr(r.text, "ic_tag_miss|pmu|event=0x18e,umask=0x18\n"));
	assert_non_null(strstr(r.text, "rHEX|raw|"));
	assert_null(strstr(r.text, "energy"));
	assert_null(strstr(r.text, "l3_lookups"));
	assert_null(strstr(r.text, "cpu-cycles|pmu"));
}

static void what_cannot_be_counted_is_not_listed(void **state)
{
	struct rows r;

	list(*state, is_not_cache, &r);
	assert_null(strstr(r.text, "|cache|"));
	assert_null(strstr(r.text, "l1d-miss"));
	assert_non_null(strstr(r.text, "l2-miss"));
}

static void the_list_of_hybrid_cpus_names_the_pmu(void **state)
{
	struct rows r;

	list(*state, NULL, &r);
	assert_non_null(strstr(r.text, "cpu_core/slots/|pmu|event=0x00,umask=0x4\n"));
	assert_non_null(strstr(r.text, "cpu_atom/mem-loads/|pmu|"));
	assert_null(strstr(r.text, "cpu_lowpower"));
	assert_null(strstr(r.text, "l2-miss"));
}

static void without_a_pmu_the_list_is_software(void **state)
{
	struct rows r;

	list(*state, NULL, &r);
	assert_non_null(strstr(r.text, "cpu-clock|software|"));
	assert_null(strstr(r.text, "hardware"));
	assert_null(strstr(r.text, "alias"));
	assert_null(strstr(r.text, "raw"));
}

static void a_list_ends_when_its_reader_does(void **state)
{
	struct machine *m = *state;
	struct rows r = { .paths = &m->paths, .limit = 2 };
	struct pmu_lister lister = { .row = take_row, .ctx = &r };

	expect_eq(pmu_list(&m->paths, &lister, NULL), -ECANCELED);
}

#define ON(machine, test) cmocka_unit_test_setup_teardown(test, setup_##machine, teardown)

static void a_list_is_taken_apart_at_commas_outside_of_slashes(void **state)
{
	const char *at = "cycles,cpu/event=1,umask=2/,,x";
	char name[32], shorter[4];

	(void)state;
	at = pmu_next_name(at, name, sizeof(name));
	assert_string_equal(name, "cycles");
	at = pmu_next_name(at, name, sizeof(name));
	assert_string_equal(name, "cpu/event=1,umask=2/");
	at = pmu_next_name(at, name, sizeof(name));
	assert_string_equal(name, "");
	at = pmu_next_name(at, name, sizeof(name));
	assert_string_equal(name, "x");
	assert_null(at);
	assert_null(pmu_next_name("", name, sizeof(name)));
	assert_string_equal(name, "");
	at = pmu_next_name("cycles,x", shorter, sizeof(shorter));
	assert_string_equal(shorter, "cyc");
	assert_string_equal(at, "x");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(formats_are_read_as_the_kernel_writes_them),
		cmocka_unit_test(broken_formats_are_refused),
		cmocka_unit_test(a_value_fills_its_bits_from_the_lowest),
		cmocka_unit_test(broken_terms_are_refused),
		ON(amd, generic_names_are_the_kernels_numbers),
		ON(amd, aliases_on_amd_are_its_own_codes),
		ON(amd, an_older_amd_gets_no_codes_of_a_newer_one),
		ON(amd, events_of_a_pmu_go_where_its_formats_say),
		ON(amd, events_of_a_package_are_marked),
		ON(amd, wrong_names_are_explained),
		ON(amd, raw_codes_need_leave),
		ON(amd, a_very_long_name_is_refused),
		ON(intel, hybrid_cpus_get_one_event_per_pmu),
		ON(intel, an_event_of_one_kind_of_core_is_one_event),
		ON(intel, cpu_means_every_core_pmu),
		ON(intel, raw_codes_on_hybrid_cpus_name_the_pmu),
		ON(intel, what_intel_lacks_is_said_with_its_name),
		ON(arm, arm_pmus_go_by_their_own_name),
		ON(arm, an_event_that_names_itself_ends),
		ON(none, without_a_pmu_only_software_counts),
		ON(empty, no_sysfs_at_all_is_like_no_pmu),
		ON(empty, a_pmu_without_a_type_is_ignored),
		ON(amd, the_list_holds_what_can_be_charged_to_tasks),
		ON(amd, what_cannot_be_counted_is_not_listed),
		ON(intel, the_list_of_hybrid_cpus_names_the_pmu),
		ON(none, without_a_pmu_the_list_is_software),
		ON(amd, a_list_ends_when_its_reader_does),
		cmocka_unit_test(a_list_is_taken_apart_at_commas_outside_of_slashes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
