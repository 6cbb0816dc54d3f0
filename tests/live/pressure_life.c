/* Hardware pressure: the program in the kernel is given what drivers would tell it. */
#include "../unit.h"

#include <bpf/bpf.h>
#include <errno.h>

#include "collect/pressure.h"

#define CPUS 4U

static void tell(const struct pressure *p, uint64_t cpu, uint64_t pressure)
{
	uint64_t args[2] = { cpu, pressure };
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = args, .ctx_size_in = sizeof(args));

	expect_eq(bpf_prog_test_run_opts(pressure_program(p), &opts), 0);
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
	tell(p, 1, 0);
	tell(p, 3, 512);
	tell(p, CPUS, 9); /* a CPU that there is not */
	assert_false(pressure_of(p, 0, &value));
	assert_true(pressure_of(p, 1, &value));
	expect_eq(value, 0); /* none is not unknown */
	assert_true(pressure_of(p, 3, &value));
	expect_eq(value, 512);
	assert_false(pressure_of(p, CPUS, &value));
	tell(p, 3, 100);
	assert_true(pressure_of(p, 3, &value));
	expect_eq(value, 100);
	pressure_close(p);
	pressure_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pressures_are_those_of_their_cpus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
