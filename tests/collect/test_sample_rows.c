#include "../unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "abi/profile.h"
#include "collect/plumbing.h"
#include "collect/sample/sample_rows.h"
#include "collect/sample/sample_stacks.h"

static struct prof_key some_key(void)
{
	struct prof_key k = {
		.kernel = 1, .user = 2, .start_ns = 3, .exec = 4, .tgid = 5, .tid = 6
	};

	memcpy(k.comm, "worker", 7);
	return k;
}

static struct prof_row some_row(uint64_t count, uint64_t first, uint64_t last, uint32_t cpu)
{
	return (struct prof_row){
		.count = count, .value = count * 10, .first_ns = first, .last_ns = last, .cpu = cpu
	};
}

static void generations_of_a_row_add_up(void **state)
{
	struct prof_row one = some_row(2, 100, 200, 0), two = some_row(3, 300, 400, 1);
	struct prof_key key = some_key();
	const struct prof_key *got_key;
	const struct prof_row *got;
	struct sample_rows *r;

	(void)state;
	expect_eq(sample_rows_new(10, &r), 0);
	expect_eq(sample_rows_add(r, &key, &two), 0);
	key.generation = 7;
	expect_eq(sample_rows_add(r, &key, &one), 0);
	expect_eq(sample_rows_nr(r), 1);
	got = sample_rows_at(r, 0, &got_key);
	expect_eq(got->count, 5);
	expect_eq(got->value, 50);
	expect_eq(got->first_ns, 100);
	expect_eq(got->last_ns, 400);
	expect_eq(got->cpu, 1); /* of the last in time */
	assert_string_equal(got_key->comm, "worker");
	sample_rows_free(r);
}

static void whatever_differs_is_another_row(void **state)
{
	struct prof_row row = some_row(1, 1, 1, 0);
	struct prof_key keys[8];
	struct sample_rows *r;

	(void)state;
	for (size_t i = 0; i < 8; i++)
		keys[i] = some_key();
	keys[1].kernel++;
	keys[2].user++;
	keys[3].start_ns++;
	keys[4].exec++;
	keys[5].tgid++;
	keys[6].tid++;
	keys[7].comm[0] = 'W';
	expect_eq(sample_rows_new(10, &r), 0);
	for (size_t round = 0; round < 2; round++)
		for (size_t i = 0; i < 8; i++)
			expect_eq(sample_rows_add(r, &keys[i], &row), 0);
	expect_eq(sample_rows_nr(r), 8);
	sample_rows_free(r);
}

static void a_full_table_refuses_new_rows_and_still_adds_to_old_ones(void **state)
{
	struct prof_row row = some_row(1, 1, 1, 0);
	struct prof_key key = some_key();
	struct sample_rows *r;

	(void)state;
	expect_eq(sample_rows_new(2, &r), 0);
	expect_eq(sample_rows_add(r, &key, &row), 0);
	key.user = 8;
	expect_eq(sample_rows_add(r, &key, &row), 0);
	key.user = 9;
	expect_eq(sample_rows_add(r, &key, &row), -E2BIG);
	key.user = 8;
	expect_eq(sample_rows_add(r, &key, &row), 0);
	expect_eq(sample_rows_nr(r), 2);
	sample_rows_free(r);
}

static void a_stack_is_kept_once_and_an_empty_one_needs_no_room(void **state)
{
	struct prof_stack stack = { .nr = 3, .end = PROF_END_READ, .ips = { 30, 20, 10 } },
			  other = { .nr = 1 };
	struct sample_stacks *s;
	const uint64_t *ips;
	uint32_t nr, end;

	(void)state;
	expect_eq(sample_stacks_new(1, NULL, &s), 0);
	expect_eq(sample_stacks_get(s, 0, &ips, &nr, &end), 0);
	expect_eq(nr, 0);
	expect_eq(sample_stacks_get(s, 77, &ips, &nr, &end), -ENOENT);
	expect_eq(sample_stacks_add(s, 77, &stack), 0);
	expect_eq(sample_stacks_add(s, 77, &stack), 0);
	expect_eq(sample_stacks_add(s, 78, &other), -E2BIG);
	expect_eq(sample_stacks_get(s, 77, &ips, &nr, &end), 0);
	expect_eq(nr, 3);
	expect_eq(end, PROF_END_READ);
	expect_eq(ips[0], 30);
	expect_eq(ips[2], 10);
	sample_stacks_free(s);
}

static void a_length_beyond_the_stack_is_cut(void **state)
{
	struct prof_stack stack = { .nr = 100000 };
	struct sample_stacks *s;
	const uint64_t *ips;
	uint32_t nr, end;

	(void)state;
	expect_eq(sample_stacks_new(4, NULL, &s), 0);
	expect_eq(sample_stacks_add(s, 1, &stack), 0);
	expect_eq(sample_stacks_get(s, 1, &ips, &nr, &end), 0);
	expect_eq(nr, PROF_DEPTH);
	sample_stacks_free(s);
}

/* A file of kernel symbols; its name in path, which ends in XXXXXX. */
static void write_symbols(char *path, const char *text)
{
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	expect_eq(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void frames_of_the_tracepoint_itself_are_cut(void **state)
{
	char path[] = "/tmp/schedscope-kallsyms-XXXXXX";
	struct prof_stack stack = { .nr = 5, .ips = { 0x9000, 0x1010, 0x2010, 0x3010, 0x4010 } };
	struct sample_stacks *s;
	struct plumbing *p;
	const uint64_t *ips;
	uint32_t nr, end;

	(void)state;
	write_symbols(path, "0000000000001000 T bpf_trace_run4\n"
	                    "0000000000001100 t __bpf_trace_sched_switch\n"
	                    "0000000000001200 t other\n"
	                    "0000000000002000 T __traceiter_sched_switch\n"
	                    "0000000000003000 t __schedule\n"
	                    "0000000000004000 T schedule\n");
	expect_eq(plumbing_read(path, &p), 0);
	unlink(path);
	expect_eq(sample_stacks_new(4, p, &s), 0);
	expect_eq(sample_stacks_add(s, 1, &stack), 0);
	expect_eq(sample_stacks_get(s, 1, &ips, &nr, &end), 0);
	expect_eq(nr, 2);
	expect_eq(ips[0], 0x3010);
	stack.ips[1] = stack.ips[2] = 0x1210; /* nothing of it */
	expect_eq(plumbing_frames(p, (const uint64_t *)stack.ips, 5), 0);
	expect_eq(plumbing_frames(p, NULL, 0), 0);
	sample_stacks_free(s);
	plumbing_free(p);
}

static void symbols_without_addresses_cut_nothing(void **state)
{
	char path[] = "/tmp/schedscope-kallsyms-XXXXXX";
	uint64_t ips[] = { 0, 5, 10 };
	struct plumbing *p;

	(void)state;
	write_symbols(path, "0000000000000000 T bpf_trace_run4\n"
	                    "0000000000000000 T __traceiter_sched_switch\nnonsense\n\n");
	expect_eq(plumbing_read(path, &p), 0);
	unlink(path);
	expect_eq(plumbing_frames(p, ips, 3), 0);
	plumbing_free(p);
	expect_eq(plumbing_read("/no/such/file", &p), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(generations_of_a_row_add_up),
		cmocka_unit_test(whatever_differs_is_another_row),
		cmocka_unit_test(a_full_table_refuses_new_rows_and_still_adds_to_old_ones),
		cmocka_unit_test(a_stack_is_kept_once_and_an_empty_one_needs_no_room),
		cmocka_unit_test(a_length_beyond_the_stack_is_cut),
		cmocka_unit_test(frames_of_the_tracepoint_itself_are_cut),
		cmocka_unit_test(symbols_without_addresses_cut_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
