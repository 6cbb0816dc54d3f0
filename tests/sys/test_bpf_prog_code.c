#include "../unit.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/write_all.h"
#include "sys/bpf/bpf_prog_code.h"

/* Two functions, the second one lower in memory; line 7 in two places. */
static struct bpf_prog_code *make(void)
{
	static const struct bpf_prog_range ranges[] = { { 0x9000, 0x100, "main" },
		                                        { 0x4000, 0x80, "helper" } };
	static const struct bpf_prog_line lines[] = {
		{ 0x4000, "/src/a.bpf.c", "x++;", 7 },    { 0x4020, "/src/a.bpf.c", "y++;", 8 },
		{ 0x4040, "/src/a.bpf.c", "x++;", 7 },    { 0x9010, "/src/b.bpf.c", "call();", 7 },
		{ 0x9050, "/src/b.bpf.c", "return;", 9 },
	};
	struct bpf_prog_code *c = NULL;

	assert_int_equal(bpf_prog_code_make(ranges, 2, lines, 5, &c), 0);
	return c;
}

static void addresses_have_their_lines(void **state)
{
	struct bpf_prog_code *c = make();
	struct bpf_prog_place at, other;

	(void)state;
	assert_true(bpf_prog_code_has_lines(c));
	assert_true(bpf_prog_code_find(c, 0x4000, &at));
	expect_eq(at.line, 7);
	assert_string_equal(at.function, "helper");
	assert_string_equal(at.text, "x++;");
	assert_true(bpf_prog_code_find(c, 0x403f, &at));
	expect_eq(at.line, 8);
	assert_true(bpf_prog_code_find(c, 0x407f, &at));
	expect_eq(at.line, 7);
	assert_true(bpf_prog_code_find(c, 0x4001, &other));
	expect_eq(at.number, other.number); /* one line in two places */
	assert_true(bpf_prog_code_find(c, 0x9020, &other));
	expect_eq(other.line, 7);
	assert_string_equal(other.file, "/src/b.bpf.c");
	assert_true(at.number != other.number);
	assert_true(bpf_prog_code_find(c, 0x90ff, &at));
	expect_eq(at.line, 9);
	bpf_prog_code_free(c);
}

static void outside_there_is_nothing(void **state)
{
	static const uint64_t others[] = { 0, 0x3fff, 0x4080, 0x8fff, 0x9100, UINT64_MAX };
	struct bpf_prog_code *c = make();
	struct bpf_prog_place at;

	(void)state;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_false(bpf_prog_code_find(c, others[i], &at));
	bpf_prog_code_free(c);
	bpf_prog_code_free(NULL);
}

/* Before its first line a function does not borrow one of the function below it. */
static void code_without_a_line_belongs_to_its_function(void **state)
{
	struct bpf_prog_code *c = make();
	struct bpf_prog_place at;

	(void)state;
	assert_true(bpf_prog_code_find(c, 0x9004, &at));
	assert_string_equal(at.function, "main");
	assert_null(at.file);
	expect_eq(at.line, 0);
	assert_true(at.number < bpf_prog_code_nr(c));
	bpf_prog_code_free(c);
}

static void a_program_without_lines_has_functions(void **state)
{
	static const struct bpf_prog_range ranges[] = { { 0x100, 0x10, NULL },
		                                        { 0x200, 0x10, "f" } };
	struct bpf_prog_code *c = NULL;
	struct bpf_prog_place a, b;

	(void)state;
	assert_int_equal(bpf_prog_code_make(ranges, 2, NULL, 0, &c), 0);
	assert_false(bpf_prog_code_has_lines(c));
	assert_true(bpf_prog_code_find(c, 0x10f, &a));
	assert_true(bpf_prog_code_find(c, 0x200, &b));
	assert_null(a.function);
	assert_true(a.number != b.number);
	assert_true(a.number < bpf_prog_code_nr(c) && b.number < bpf_prog_code_nr(c));
	bpf_prog_code_free(c);
}

static void a_program_that_is_not_there_is_reported(void **state)
{
	struct bpf_prog_code *c = NULL;
	struct diag d = { 0 };

	(void)state;
	assert_true(bpf_prog_code_read(UINT32_MAX, &d, &c) < 0); /* -ENOENT, or no rights */
	assert_null(c);
	assert_true(d.what[0]);
}

/* What unpacking says of a descriptor with these bytes. */
static int unpack(const void *bytes, size_t len, struct bpf_prog_code **out)
{
	int fd = memfd_create("code", MFD_CLOEXEC), err;
	struct diag d = { 0 };

	assert_true(fd >= 0);
	assert_int_equal(write_all(fd, bytes, len), 0);
	err = bpf_prog_code_unpack(fd, &d, out);
	assert_int_equal(err != 0, d.what[0] != 0);
	close(fd);
	return err;
}

/* As one function of 64 bytes is packed. */
struct packed {
	struct bpf_prog_info info;
	uint64_t start;
	uint32_t bytes;
};
#define PACKED_BYTES (offsetof(struct packed, bytes) + sizeof(uint32_t))

static struct packed one_function(void)
{
	return (struct packed){ .info = { .nr_jited_ksyms = 1, .nr_jited_func_lens = 1 },
		                .start = 0x1000,
		                .bytes = 64 };
}

static void a_packed_program_is_unpacked(void **state)
{
	struct packed p = one_function();
	struct bpf_prog_code *c = NULL;
	struct bpf_prog_place at;

	(void)state;
	assert_int_equal(unpack(&p, PACKED_BYTES, &c), 0);
	assert_true(bpf_prog_code_find(c, 0x103f, &at));
	assert_false(bpf_prog_code_find(c, 0x1040, &at));
	assert_false(bpf_prog_code_has_lines(c));
	bpf_prog_code_free(c);
}

static void what_is_cut_off_or_claims_too_much_is_refused(void **state)
{
	struct packed p = one_function();
	struct bpf_prog_code *c = NULL;
	uint32_t *const counts[] = { &p.info.nr_jited_ksyms, &p.info.nr_jited_func_lens,
		                     &p.info.nr_func_info, &p.info.nr_line_info,
		                     &p.info.nr_jited_line_info };

	(void)state;
	for (size_t len = 0; len < PACKED_BYTES; len++)
		expect_eq(unpack(&p, len, &c), -EIO);
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		p = one_function();
		*counts[i] += 1; /* more than there is */
		expect_eq(unpack(&p, PACKED_BYTES, &c), -EIO);
		*counts[i] = UINT32_MAX;
		expect_eq(unpack(&p, PACKED_BYTES, &c), -E2BIG);
	}
	assert_null(c);
}

static void a_program_without_code_or_with_hidden_code_says_so(void **state)
{
	struct packed p = one_function();
	struct bpf_prog_code *c = NULL;

	(void)state;
	p.start = 0;
	expect_eq(unpack(&p, PACKED_BYTES, &c), -EPERM);
	p.info.nr_jited_ksyms = p.info.nr_jited_func_lens = 0;
	expect_eq(unpack(&p, PACKED_BYTES, &c), -ENOTSUP);
	assert_null(c);
}

/* A program of our own, and where its code begins; -1 without the right to load one, if it is interpreted, or hidden. */
static int load_one(__u32 *id, uint64_t *start)
{
	static const struct bpf_insn program[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	int prog = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "x", "GPL", program, 2, NULL);
	struct bpf_prog_info info = { .nr_jited_ksyms = 1 };
	__u32 len = sizeof(info);

	*start = 0;
	info.jited_ksyms = (uint64_t)(uintptr_t)start;
	if (prog >= 0 && !bpf_obj_get_info_by_fd(prog, &info, &len) && *start) {
		*id = info.id;
		return prog;
	}
	if (prog >= 0)
		close(prog);
	return -1;
}

static bool can_load(void)
{
	uint64_t start;
	__u32 id;
	int prog = load_one(&id, &start);

	if (prog < 0)
		return false;
	close(prog);
	return true;
}

/* A program of the kernel: its code is where its description says. */
static void a_loaded_program_is_packed(void **state)
{
	struct bpf_prog_code *c = NULL;
	struct bpf_prog_place at;
	struct diag d = { 0 };
	uint64_t start;
	__u32 id = 0;
	int prog = load_one(&id, &start), fd;

	(void)state;
	assert_true(prog >= 0);
	fd = bpf_prog_code_pack(id);
	assert_true(fd >= 0);
	assert_int_equal(bpf_prog_code_unpack(fd, &d, &c), 0);
	assert_true(bpf_prog_code_find(c, start, &at));
	assert_false(bpf_prog_code_find(c, start - 1, &at));
	bpf_prog_code_free(c);
	close(fd);
	close(prog);
	expect_eq(bpf_prog_code_pack(UINT32_MAX), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_have_their_lines),
		cmocka_unit_test(outside_there_is_nothing),
		cmocka_unit_test(code_without_a_line_belongs_to_its_function),
		cmocka_unit_test(a_program_without_lines_has_functions),
		cmocka_unit_test(a_program_that_is_not_there_is_reported),
		cmocka_unit_test(a_packed_program_is_unpacked),
		cmocka_unit_test(what_is_cut_off_or_claims_too_much_is_refused),
		cmocka_unit_test(a_program_without_code_or_with_hidden_code_says_so),
		unit_test_if(can_load(), a_loaded_program_is_packed,
		             "no program of ours, or not its address"),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
