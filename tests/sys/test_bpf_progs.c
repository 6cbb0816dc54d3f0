#include "../unit.h"

#include <linux/bpf.h>

#include "sys/bpf/bpf_progs.h"

static void run_times_are_those_between_samples(void **state)
{
	/* 100 ns per call, then 300 ns, a pause, then 200 ns; 60 calls in 3 seconds. */
	struct bpf_prog_sample samples[] = {
		{ 1000000000, 5000, 50 },  { 2000000000, 6000, 60 },   { 2500000000, 12000, 80 },
		{ 3000000000, 12000, 80 }, { 4000000000, 18000, 110 },
	};
	struct bpf_prog p = { .nr_samples = 5, .samples = samples };
	struct bpf_prog_times t;

	(void)state;
	assert_true(bpf_prog_times(&p, &t));
	assert_float_equal(t.avg_ns, 13000.0 / 60, 1e-3);
	assert_float_equal(t.p50_ns, 200, 1e-3);
	assert_float_equal(t.p90_ns, 280, 1e-3); /* between 200 and 300, rank 1.8 of 0..2 */
	assert_float_equal(t.p99_ns, 298, 1e-3);
	assert_float_equal(t.calls_per_sec, 20, 1e-3);
	/* Of three intervals with calls. */
	expect_eq(t.nr_intervals, 3);
	assert_float_equal(t.min_ns, 100, 1e-3);
	assert_float_equal(t.max_ns, 300, 1e-3);
	p.nr_samples = 1;
	assert_false(bpf_prog_times(&p, &t));
	p.samples = samples + 2; /* no call between these two */
	p.nr_samples = 2;
	assert_false(bpf_prog_times(&p, &t));
}

static void types_of_programs_have_their_own_names(void **state)
{
	(void)state;
	assert_string_equal(bpf_prog_type_name(BPF_PROG_TYPE_SCHED_ACT), "sched_act");
	assert_string_equal(bpf_prog_type_name(BPF_PROG_TYPE_STRUCT_OPS), "struct_ops");
	assert_string_equal(bpf_prog_type_name(BPF_PROG_TYPE_TRACING), "tracing");
	assert_string_equal(bpf_prog_type_name(BPF_PROG_TYPE_UNSPEC), "other");
	assert_string_equal(bpf_prog_type_name(100000), "other");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(run_times_are_those_between_samples),
		cmocka_unit_test(types_of_programs_have_their_own_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
