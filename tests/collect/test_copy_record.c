/* Records with registers and stacks, as the kernel writes them, and as it never does. */
#include "../unit.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

#include "abi/profile.h"
#include "collect/sample/copy_record.h"
#include "sys/stack_copy.h"

#define RECORD_MAX 8192U

struct made {
	_Alignas(8) uint8_t bytes[RECORD_MAX];
	size_t len;
};

static void put(struct made *m, const void *bytes, size_t len)
{
	memcpy(m->bytes + m->len, bytes, len);
	m->len += len;
}

static void put_u64(struct made *m, uint64_t v)
{
	put(m, &v, sizeof(v));
}

static const struct perf_event_header *seal(struct made *m)
{
	struct perf_event_header *h = (struct perf_event_header *)m->bytes;

	h->size = (uint16_t)m->len;
	return h;
}

static void begin(struct made *m, const struct prof_stack *walked)
{
	const struct perf_event_header h = { .type = PERF_RECORD_SAMPLE };
	const struct prof_copy note = { .number = 7, .ts_ns = 8, .tgid = 9 };
	uint32_t bytes = (uint32_t)(sizeof(note) + (walked ? sizeof(*walked) : 0) + 4);

	m->len = 0;
	put(m, &h, sizeof(h));
	put(m, &bytes, sizeof(bytes));
	put(m, &note, sizeof(note));
	if (walked)
		put(m, walked, sizeof(*walked));
	put(m, "\0\0\0", 4);
}

static void put_side(struct made *m, uint64_t room, uint64_t filled)
{
	put_u64(m, PERF_SAMPLE_REGS_ABI_64);
	for (uint64_t i = 0; i <= STACK_COPY_REGISTERS; i++)
		put_u64(m, 100 + i);
	put_u64(m, room);
	for (uint64_t i = 0; i < room / 8; i++)
		put_u64(m, i);
	if (room)
		put_u64(m, filled);
}

static int parse(struct made *m, size_t bytes, struct stack_copy *out)
{
	static struct prof_stack walked;
	struct prof_copy note;

	return copy_record_parse(seal(m), bytes, &note, &walked, out);
}

static void a_copy_has_its_registers_in_the_order_of_dwarf(void **state)
{
	static struct made m;
	struct prof_stack walked;
	struct stack_copy c;
	struct prof_copy note;

	(void)state;
	begin(&m, NULL);
	put_side(&m, 64, 24);
	expect_eq(copy_record_parse(seal(&m), m.len, &note, &walked, &c), 1);
	expect_eq(note.number, 7);
	expect_eq(c.tgid, 9);
	expect_eq(c.ts_ns, 8);
	assert_true(c.is_64);
	expect_eq(c.bytes, 24);
	expect_eq(c.stack[8], 1);
	assert_null(c.walked);
#if defined(__x86_64__)
	expect_eq(c.registers[0], 100); /* rax */
	expect_eq(c.registers[1], 103); /* rdx */
	expect_eq(c.registers[3], 101); /* rbx */
	expect_eq(c.registers[STACK_COPY_SP], 107);
	expect_eq(c.registers[15], 116); /* r15 */
	expect_eq(c.pc, 108);
#else
	expect_eq(c.registers[29], 129);
	expect_eq(c.registers[STACK_COPY_SP], 131);
	expect_eq(c.pc, 132);
#endif
}

static void what_tables_gave_comes_with_it(void **state)
{
	static struct made m;
	struct prof_stack walked = { .nr = 2, .end = PROF_END_WHOLE, .ips = { 11, 12 } }, got;
	struct stack_copy c;
	struct prof_copy note;

	(void)state;
	begin(&m, &walked);
	put_side(&m, 8, 8);
	expect_eq(copy_record_parse(seal(&m), m.len, &note, &got, &c), 1);
	assert_non_null(c.walked);
	expect_eq(c.walked->nr, 2);
	expect_eq(c.walked->ips[1], 12);
	walked.nr = PROF_DEPTH + 1;
	begin(&m, &walked);
	put_side(&m, 8, 8);
	expect_eq(copy_record_parse(seal(&m), m.len, &note, &got, &c), -EBADMSG);
}

static void threads_of_the_kernel_have_no_side(void **state)
{
	static struct made m;
	struct stack_copy c;

	(void)state;
	begin(&m, NULL);
	put_u64(&m, PERF_SAMPLE_REGS_ABI_NONE);
	put_u64(&m, 0);
	expect_eq(parse(&m, m.len, &c), 0);
}

static void other_records_are_left_out(void **state)
{
	static struct made m;
	struct stack_copy c;

	(void)state;
	begin(&m, NULL);
	((struct perf_event_header *)m.bytes)->type = PERF_RECORD_LOST;
	expect_eq(parse(&m, m.len, &c), -ENOENT);
}

static void sizes_that_do_not_fit_are_refused(void **state)
{
	static struct made m;
	struct stack_copy c;

	(void)state;
	begin(&m, NULL);
	put_side(&m, 64, 64);
	for (size_t bytes = 0; bytes < m.len; bytes++)
		expect_eq(parse(&m, bytes, &c), -EBADMSG);
	begin(&m, NULL);
	put_side(&m, 64, 72);
	expect_eq(parse(&m, m.len, &c), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_copy_has_its_registers_in_the_order_of_dwarf),
		cmocka_unit_test(what_tables_gave_comes_with_it),
		cmocka_unit_test(threads_of_the_kernel_have_no_side),
		cmocka_unit_test(other_records_are_left_out),
		cmocka_unit_test(sizes_that_do_not_fit_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
