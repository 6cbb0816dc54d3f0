/* Hardware pressure: the program in the kernel is given what drivers would tell it. */
#include "../unit.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <stdbool.h>

#include "collect/pressure.h"

#define CPUS 4U

static void set_pressure(const struct pressure *p, uint64_t cpu, uint64_t pressure)
{
	uint64_t args[2] = { cpu, pressure };
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = args, .ctx_size_in = sizeof(args));

	expect_eq(bpf_prog_test_run_opts(pressure_program(p), &opts), 0);
}

/* Kernels for x86-64 have none, as nothing there would call it. */
static bool has_tracepoint(void)
{
	struct btf *btf = btf__load_vmlinux_btf();
	bool has_one;

	assert_non_null(btf);
	has_one = btf__find_by_name_kind(btf, "btf_trace_hw_pressure_update", BTF_KIND_TYPEDEF) >
	                  0 ||
	          btf__find_by_name_kind(btf, "btf_trace_thermal_pressure_update",
	                                 BTF_KIND_TYPEDEF) > 0;
	btf__free(btf);
	return has_one;
}

static void a_kernel_without_the_tracepoint_says_so(void **state)
{
	struct pressure *p = NULL;
	struct diag d = { 0 };

	(void)state;
	expect_eq(pressure_open(CPUS, &d, &p), has_tracepoint() ? 0 : -ENOENT);
	expect_eq(p != NULL, has_tracepoint());
	pressure_close(p);
}

static void pressures_are_those_of_their_cpus(void **state)
{
	struct pressure *p = NULL;
	struct diag d = { 0 };
	uint64_t value = 77;

	(void)state;
	expect_eq(pressure_open(CPUS, &d, &p), 0);
	for (uint32_t cpu = 0; cpu < CPUS + 2; cpu++)
		assert_false(pressure_of(p, cpu, &value)); /* nothing has changed yet */
	set_pressure(p, 1, 0);
	set_pressure(p, 3, 512);
	set_pressure(p, CPUS, 9); /* a CPU that there is not */
	assert_false(pressure_of(p, 0, &value));
	assert_true(pressure_of(p, 1, &value));
	expect_eq(value, 0); /* none is not unknown */
	assert_true(pressure_of(p, 3, &value));
	expect_eq(value, 512);
	assert_false(pressure_of(p, CPUS, &value));
	set_pressure(p, 3, 100);
	assert_true(pressure_of(p, 3, &value));
	expect_eq(value, 100);
	pressure_close(p);
	pressure_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_kernel_without_the_tracepoint_says_so),
		cmocka_unit_test(pressures_are_those_of_their_cpus),
	};
	const struct CMUnitTest none[] = {
		cmocka_unit_test(a_kernel_without_the_tracepoint_says_so),
	};

	return has_tracepoint() ? cmocka_run_group_tests(tests, NULL, NULL)
	                        : cmocka_run_group_tests(none, NULL, NULL);
}
