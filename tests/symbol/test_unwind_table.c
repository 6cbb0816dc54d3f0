#include "../unit.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "symbol/cfi.h"
#include "symbol/elf_image.h"
#include "symbol/parser.h"
#include "symbol/unwind_table.h"
#include "sys/rights/sandbox_msg.h"

#define STOP_UNKNOWN  UNWIND_RULE(UNWIND_STOP, UNWIND_UNKNOWN, 0, 0)
#define STOP_END      UNWIND_RULE(UNWIND_STOP, UNWIND_END, 0, 0)
#define PLACES        20000U /* of each file */
#define UNKNOWN_SHARE 40U    /* at most one in so many */

/* ---- against libdw ---- */

struct register_numbers {
	int sp, fp, ra;
	int bx; /* rbx */
};

/* Its own reading of what libdw says, for comparison. */
static bool offset_from_cfa(const Dwarf_Op *ops, size_t nr, int64_t *out)
{
	*out = 0;
	if (nr == 0 || nr > 2 || ops[0].atom != DW_OP_call_frame_cfa)
		return false;
	if (nr == 2 && ops[1].atom != DW_OP_plus_uconst)
		return false;
	*out = nr == 2 ? (int64_t)ops[1].number : 0;
	return true;
}

static bool plain_cfa(const Dwarf_Op *ops, size_t nr, int *reg, int64_t *offset)
{
	if (nr != 1)
		return false;
	if (ops[0].atom == DW_OP_bregx) {
		*reg = (int)ops[0].number;
		*offset = (int64_t)ops[0].number2;
		return true;
	}
	*reg = ops[0].atom - DW_OP_breg0;
	*offset = (int64_t)ops[0].number;
	return ops[0].atom >= DW_OP_breg0 && ops[0].atom <= DW_OP_breg31;
}

static void check_fp(Dwarf_Frame *frame, int fp, uint32_t slot, bool is_saved)
{
	Dwarf_Op mem[3], *ops = NULL;
	int64_t offset;
	size_t nr = 0;

	expect_eq(dwarf_frame_register(frame, fp, mem, &ops, &nr), 0);
	if (!is_saved) {
		assert_null(ops);
		return;
	}
	if (slot == UNWIND_SLOT_AT_FP) {
		expect_eq(nr, 1);
		expect_eq(ops[0].atom, DW_OP_breg0 + fp);
		return;
	}
	assert_true(offset_from_cfa(ops, nr, &offset));
	expect_eq(offset, -8 * (int64_t)slot);
}

/* Where rbx is, of the rows that say it. */
static void check_rbx(Dwarf_Frame *frame, int bx, uint32_t rule)
{
	uint32_t slot = UNWIND_RULE_SLOT(rule), how = UNWIND_RULE_HOW(rule);
	int64_t below = -8 * (int64_t)(slot ? slot + 1 : 2), offset = 0;
	Dwarf_Op mem[3], *ops = NULL;
	bool is_below;
	size_t nr = 0;

	expect_eq(dwarf_frame_register(frame, bx, mem, &ops, &nr), 0);
	is_below = offset_from_cfa(ops, nr, &offset) && offset == below;
	/* What no entry mentions is unchanged; libdw 0.188 takes it for undefined, as it has another number for rbx there. */
	expect_eq(how, nr == 0 ? UNWIND_RBX_SAME : is_below ? UNWIND_RBX_BELOW : UNWIND_RBX_LOST);
}

static void check_ra(Dwarf_Frame *frame, int ra, uint32_t rule, bool is_arm64)
{
	uint32_t how = UNWIND_RULE_HOW(rule);
	int64_t offset, slot = UNWIND_RULE_SLOT(rule);
	Dwarf_Op mem[3], *ops = NULL;
	size_t nr = 0;

	expect_eq(dwarf_frame_register(frame, ra, mem, &ops, &nr), 0);
	if (is_arm64 && how == UNWIND_IN_LR) {
		assert_null(ops);
		return;
	}
	assert_true(offset_from_cfa(ops, nr, &offset));
	if (!is_arm64)
		expect_eq(offset, -8);
	else
		expect_eq(offset, how == UNWIND_PAIR ? -8 * slot + 8 : -8 * slot);
}

static bool has_no_caller(Dwarf_Frame *frame, int ra)
{
	Dwarf_Op mem[3], *ops = NULL;
	size_t nr = 1;

	expect_eq(dwarf_frame_register(frame, ra, mem, &ops, &nr), 0);
	return nr == 0 && ops == mem;
}

static void check_cfa(Dwarf_Frame *frame, uint32_t rule, const struct register_numbers *r)
{
	uint32_t kind = UNWIND_RULE_KIND(rule);
	int64_t offset = 0, cfa = 8 * (int64_t)UNWIND_RULE_CFA(rule);
	Dwarf_Op *ops = NULL;
	size_t nr = 0;
	int reg = -1;

	expect_eq(dwarf_frame_cfa(frame, &ops, &nr), 0);
	if (kind == UNWIND_SP || kind == UNWIND_FP) {
		assert_true(plain_cfa(ops, nr, &reg, &offset));
		expect_eq(reg, kind == UNWIND_SP ? r->sp : r->fp);
		expect_eq(offset, cfa);
	} else if (kind == UNWIND_STOP && UNWIND_RULE_HOW(rule) == UNWIND_INDEXED) {
		expect_eq(nr, 7);
		expect_eq(ops[0].atom, DW_OP_breg0 + r->sp);
		expect_eq(ops[0].number, 8 * (UNWIND_RULE_CFA(rule) >> 4));
		expect_eq(ops[1].atom, DW_OP_breg0 + (UNWIND_RULE_CFA(rule) & UNWIND_OTHER_REG));
		expect_eq(ops[2].atom, DW_OP_lit8);
		expect_eq(ops[5].atom, DW_OP_deref);
	} else if (kind == UNWIND_STOP) {
		assert_true(plain_cfa(ops, nr, &reg, &offset));
		expect_eq(reg, UNWIND_RULE_CFA(rule) & UNWIND_OTHER_REG);
		expect_eq(offset, 8 * (UNWIND_RULE_CFA(rule) >> 4));
	} else if (kind == UNWIND_PLT) {
		expect_eq(nr, 9);
		expect_eq(ops[4].atom, DW_OP_lit0 + UNWIND_RULE_CFA(rule));
	} else {
		bool is_sp = kind == UNWIND_SP_DEREF;

		assert_true(is_sp || kind == UNWIND_FP_DEREF);
		expect_eq(ops[0].atom, DW_OP_breg0 + (is_sp ? r->sp : r->fp));
		expect_eq((int64_t)ops[0].number, 8 * UNWIND_RULE_DEREF(rule));
		expect_eq(ops[1].atom, DW_OP_deref);
		expect_eq(nr == 3 ? ops[2].number : 0, 8 * UNWIND_RULE_HOW(rule));
	}
}

/* Whether libdw says the same about an address; 1 = we know nothing of it. */
static unsigned int check_place(Dwarf_CFI *cfi, const struct unwind_table *t, uint64_t address,
                                const struct register_numbers *r, bool is_arm64)
{
	uint32_t rule = unwind_table_rule(t, address), slot = UNWIND_RULE_SLOT(rule);
	SCOPED(scoped_free) Dwarf_Frame *frame = NULL;
	bool is_signal = false;

	if (dwarf_cfi_addrframe(cfi, address, &frame)) {
		if (!is_arm64 || rule == UNWIND_NONE)
			expect_eq(rule, UNWIND_NONE);
		else /* the linker's jumps into libraries */
			assert_true(UNWIND_RULE_KIND(rule) == UNWIND_SP &&
			            UNWIND_RULE_CFA(rule) <= 2);
		return 0;
	}
	assert_true(rule != UNWIND_NONE);
	if (rule == STOP_UNKNOWN)
		return 1;
	expect_eq(has_no_caller(frame, r->ra), rule == STOP_END);
	(void)dwarf_frame_info(frame, NULL, NULL, &is_signal);
	expect_eq(is_signal, UNWIND_RULE_KIND(rule) == UNWIND_SIGNAL);
	if (rule == STOP_END || is_signal)
		return 0;
	check_cfa(frame, rule, r);
	check_ra(frame, r->ra, rule, is_arm64);
	check_fp(frame, r->fp, slot, is_arm64 ? UNWIND_RULE_HOW(rule) == UNWIND_PAIR : slot != 0);
	if (!is_arm64 &&
	    (UNWIND_RULE_KIND(rule) == UNWIND_SP || UNWIND_RULE_KIND(rule) == UNWIND_FP))
		check_rbx(frame, r->bx, rule);
	return 0;
}

static void check_all(const struct elf_image *e, const struct unwind_table *t)
{
	static const struct register_numbers arm64 = { 31, 29, 30, -1 }, x86 = { 7, 6, 16, 3 };
	Dwarf_CFI *cfi = dwarf_getcfi_elf(elf_image_elf(e));
	const struct elf_segments *s = elf_image_segments(e);
	unsigned int nr = 0, nr_unknown = 0;
	Elf64_Ehdr *header = elf64_getehdr(elf_image_elf(e));
	bool is_arm64 = header->e_machine == EM_AARCH64;

	assert_non_null(cfi);
	for (uint64_t i = 0; i < s->nr; i++) {
		const struct elf_segment *one = &s->all[i];
		uint64_t step = one->size / PLACES + 1;

		for (uint64_t at = 0; one->is_executable && at < one->size; at += step, nr++)
			nr_unknown += check_place(cfi, t, one->address + at,
			                          is_arm64 ? &arm64 : &x86, is_arm64);
	}
	assert_true(nr > 100 && nr_unknown <= nr / UNKNOWN_SHARE);
	dwarf_cfi_end(cfi);
}

static void check_file(const char *path)
{
	SCOPED(scoped_elf_image) struct elf_image *e = NULL;
	SCOPED(scoped_unwind_table) struct unwind_table *t = NULL;
	SCOPED(scoped_unwind_table) struct unwind_table *same = NULL;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct parser *parser = parser_new();
	const struct unwind_row *a, *b;
	uint32_t nr, nr_same;

	if (fd < 0) {
		parser_free(parser);
		return;
	}
	expect_eq(parser_unwind(parser, fd, -1, &same), 0);
	expect_eq(elf_image_open(fd, &e), 0);
	expect_eq(unwind_table_compile(e, NULL, 0, &t), 0);
	check_all(e, t);
	a = unwind_table_rows(t, &nr);
	b = unwind_table_rows(same, &nr_same);
	expect_eq(nr, nr_same);
	assert_memory_equal(a, b, nr * sizeof(*a));
	expect_eq(unwind_table_base(t), unwind_table_base(same));
	parser_free(parser);
}

static void rows_are_what_libdw_says(void **state)
{
	static const char *const patterns[] = {
		"/proc/self/exe",
		"/bin/bash",
		"/usr/bin/python3.[0-9][0-9]",
		"/lib*/*/libc.so.6",
		"/lib/ld-linux-*.so.*",
		"/lib64/ld-linux-*.so.*",
		"/usr/lib/*/libcrypto.so.3",
	};
	const char *more = getenv(
		"SCHEDSCOPE_UNWIND_FILES"); /* a pattern, for other machines' files */
	glob_t found = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
		(void)glob(patterns[i], i ? GLOB_APPEND : 0, NULL, &found);
	if (more)
		(void)glob(more, GLOB_APPEND, NULL, &found);
	assert_true(found.gl_pathc > 0);
	for (size_t i = 0; i < found.gl_pathc; i++)
		check_file(found.gl_pathv[i]);
	globfree(&found);
}

/* ---- instructions, byte by byte ---- */

#define BEGIN 0x401000U
#define SIZE  0x100U

struct bytes {
	uint8_t all[512];
	size_t nr;
};

static void put(struct bytes *b, const void *from, size_t nr)
{
	assert_true(b->nr + nr <= sizeof(b->all));
	memcpy(b->all + b->nr, from, nr);
	b->nr += nr;
}

static void put_u32(struct bytes *b, uint32_t value)
{
	put(b, &value, sizeof(value));
}

static void put_entry(struct bytes *b, const struct bytes *body)
{
	put_u32(b, (uint32_t)body->nr);
	put(b, body->all, body->nr);
}

#define ADD(b, ...) \
	put(b, (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }))

/* A CIE with absolute addresses of 4 bytes, and one FDE of BEGIN, SIZE. */
static struct bytes section_of(const char *letters, const struct bytes *initial, uint8_t ra,
                               const struct bytes *own)
{
	struct bytes all = { .nr = 0 }, cie = { .nr = 0 }, fde = { .nr = 0 };

	put_u32(&cie, 0);
	ADD(&cie, 1);
	put(&cie, letters, strlen(letters) + 1);
	ADD(&cie, 1, 0x78, ra, 1, DW_EH_PE_udata4); /* code by 1, data by -8 */
	put(&cie, initial->all, initial->nr);
	put_entry(&all, &cie);
	put_u32(&fde, (uint32_t)all.nr + 4);
	put_u32(&fde, BEGIN);
	put_u32(&fde, SIZE);
	ADD(&fde, 0);
	put(&fde, own->all, own->nr);
	put_entry(&all, &fde);
	put_u32(&all, 0);
	return all;
}

static int add_row(void *ctx, uint64_t address, uint32_t rule)
{
	return unwind_table_add(ctx, address, rule);
}

static struct unwind_table *table_of(enum cfi_machine machine, const struct bytes *section)
{
	struct unwind_table *t = unwind_table_new();
	struct cfi *c = cfi_new(machine);
	const struct cfi_section s = { section->all, section->nr, 0x1000, 0, true };

	int err;

	assert_non_null(c);
	expect_eq(cfi_add(c, &s), 0);
	err = cfi_rows(c, add_row, t);
	assert_true(err == 0 || err == -E2BIG);
	cfi_free(c);
	return t;
}

static struct unwind_table *x86_table(const char *letters, const struct bytes *own)
{
	struct bytes initial = { .nr = 0 }, all;

	ADD(&initial, DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16, 1);
	all = section_of(letters, &initial, 16, own);
	return table_of(CFI_X86_64, &all);
}

static void a_prologue_moves_the_frame(void **state)
{
	struct bytes own = { .nr = 0 };
	struct unwind_table *t;

	(void)state;
	ADD(&own, DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 16, DW_CFA_offset | 6, 2,
	    DW_CFA_advance_loc | 3, DW_CFA_def_cfa_register, 6, DW_CFA_remember_state,
	    DW_CFA_advance_loc1, 100, DW_CFA_def_cfa, 7, 8, DW_CFA_restore | 6, DW_CFA_advance_loc2,
	    1, 0, DW_CFA_restore_state);
	t = x86_table("zR", &own);
	expect_eq(unwind_table_rule(t, BEGIN - 1), UNWIND_NONE);
	expect_eq(unwind_table_rule(t, BEGIN), UNWIND_RULE(UNWIND_SP, 0, 1, 0));
	expect_eq(unwind_table_rule(t, BEGIN + 1), UNWIND_RULE(UNWIND_SP, 0, 2, 2));
	expect_eq(unwind_table_rule(t, BEGIN + 4), UNWIND_RULE(UNWIND_FP, 0, 2, 2));
	expect_eq(unwind_table_rule(t, BEGIN + 104), UNWIND_RULE(UNWIND_SP, 0, 1, 0));
	expect_eq(unwind_table_rule(t, BEGIN + 105), UNWIND_RULE(UNWIND_FP, 0, 2, 2));
	expect_eq(unwind_table_rule(t, BEGIN + SIZE - 1), UNWIND_RULE(UNWIND_FP, 0, 2, 2));
	expect_eq(unwind_table_rule(t, BEGIN + SIZE), UNWIND_NONE);
	unwind_table_free(t);
}

static void rbx_is_where_compilers_push_it(void **state)
{
	struct bytes own = { .nr = 0 };
	struct unwind_table *t;

	(void)state;
	ADD(&own, DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 16, DW_CFA_offset | 3, 2,
	    DW_CFA_advance_loc | 1, DW_CFA_offset | 6, 2, DW_CFA_offset | 3, 3,
	    DW_CFA_advance_loc | 1, DW_CFA_offset | 3, 5, DW_CFA_advance_loc | 1,
	    DW_CFA_restore | 3);
	t = x86_table("zR", &own);
	expect_eq(unwind_table_rule(t, BEGIN), UNWIND_RULE(UNWIND_SP, UNWIND_RBX_SAME, 1, 0));
	expect_eq(unwind_table_rule(t, BEGIN + 1), UNWIND_RULE(UNWIND_SP, UNWIND_RBX_BELOW, 2, 0));
	expect_eq(unwind_table_rule(t, BEGIN + 2), UNWIND_RULE(UNWIND_SP, UNWIND_RBX_BELOW, 2, 2));
	expect_eq(unwind_table_rule(t, BEGIN + 3), UNWIND_RULE(UNWIND_SP, UNWIND_RBX_LOST, 2, 2));
	expect_eq(unwind_table_rule(t, BEGIN + 4), UNWIND_RULE(UNWIND_SP, UNWIND_RBX_SAME, 2, 2));
	unwind_table_free(t);
}

static void expressions_of_compilers_and_linkers_are_known(void **state)
{
	struct bytes plt = { .nr = 0 }, aligned = { .nr = 0 }, by_hand = { .nr = 0 },
		     indexed = { .nr = 0 }, other = { .nr = 0 };
	struct unwind_table *t;

	(void)state;
	ADD(&plt, DW_CFA_def_cfa_expression, 11, DW_OP_breg7, 8, DW_OP_breg16, 0, DW_OP_lit15,
	    DW_OP_and, DW_OP_lit11, DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus);
	t = x86_table("zR", &plt);
	expect_eq(unwind_table_rule(t, BEGIN), UNWIND_RULE(UNWIND_PLT, 0, 11, 0));
	unwind_table_free(t);
	ADD(&aligned, DW_CFA_def_cfa_expression, 3, DW_OP_breg6, 0x78, DW_OP_deref,
	    DW_CFA_expression, 6, 2, DW_OP_breg6, 0);
	t = x86_table("zR", &aligned);
	expect_eq(unwind_table_rule(t, BEGIN),
	          UNWIND_RULE(UNWIND_FP_DEREF, 0, UNWIND_CFA_MAX, UNWIND_SLOT_AT_FP));
	expect_eq(UNWIND_RULE_DEREF(unwind_table_rule(t, BEGIN)), -1);
	unwind_table_free(t);
	ADD(&by_hand, DW_CFA_def_cfa_expression, 5, DW_OP_breg7, 24, DW_OP_deref, DW_OP_plus_uconst,
	    8);
	t = x86_table("zR", &by_hand);
	expect_eq(unwind_table_rule(t, BEGIN), UNWIND_RULE(UNWIND_SP_DEREF, 1, 3, 0));
	unwind_table_free(t);
	ADD(&indexed, DW_CFA_def_cfa_expression, 10, DW_OP_breg7, 8, DW_OP_breg9, 0, DW_OP_lit8,
	    DW_OP_mul, DW_OP_plus, DW_OP_deref, DW_OP_plus_uconst, 8);
	t = x86_table("zR", &indexed);
	expect_eq(unwind_table_rule(t, BEGIN),
	          UNWIND_RULE(UNWIND_STOP, UNWIND_INDEXED, 9 | 1 << 4, 0));
	unwind_table_free(t);
	ADD(&other, DW_CFA_def_cfa, 10, 24);
	t = x86_table("zR", &other);
	expect_eq(unwind_table_rule(t, BEGIN),
	          UNWIND_RULE(UNWIND_STOP, UNWIND_OTHER, 10 | 3 << 4, 0));
	unwind_table_free(t);
}

static void what_ends_a_stack_is_known(void **state)
{
	struct bytes last = { .nr = 0 }, none = { .nr = 0 };
	struct unwind_table *t;

	(void)state;
	ADD(&last, DW_CFA_undefined, 16);
	t = x86_table("zR", &last);
	expect_eq(unwind_table_rule(t, BEGIN), STOP_END);
	unwind_table_free(t);
	t = x86_table("zRS", &none);
	expect_eq(unwind_table_rule(t, BEGIN), UNWIND_RULE(UNWIND_SIGNAL, 0, 0, 0));
	unwind_table_free(t);
}

static void check_unknown(const struct bytes *own)
{
	struct unwind_table *t = x86_table("zR", own);

	expect_eq(unwind_table_rule(t, BEGIN), UNWIND_RULE(UNWIND_SP, 0, 1, 0));
	expect_eq(unwind_table_rule(t, BEGIN + 1), STOP_UNKNOWN);
	expect_eq(unwind_table_rule(t, BEGIN + SIZE - 1), STOP_UNKNOWN);
	unwind_table_free(t);
}

static void what_no_row_can_say_is_unknown(void **state)
{
	static const uint8_t each[][8] = {
		{ DW_CFA_def_cfa, 17, 0 },                   /* a register that is none */
		{ DW_CFA_def_cfa_offset, 9 },                /* not a whole word */
		{ DW_CFA_def_cfa_offset, 0x80, 0x80, 0x10 }, /* a frame of 256 KiB */
		{ DW_CFA_register, 16, 3 },                  /* the return address in a register */
		{ DW_CFA_val_expression, 6, 1, DW_OP_lit0 }, /* a computed frame pointer */
		{ DW_CFA_restore_state },                    /* none was remembered */
		{ 0x3f },                                    /* no instruction */
		{ DW_CFA_def_cfa_expression, 7, DW_OP_breg7, 8 }, /* that does not end */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(each) / sizeof(each[0]); i++) {
		struct bytes own = { .nr = 0 };

		ADD(&own, DW_CFA_advance_loc | 1);
		put(&own, each[i], i == 7 ? 4 : sizeof(each[i])); /* zeros are no operations */
		check_unknown(&own);
	}
}

static void return_addresses_of_arm64_are_found(void **state)
{
	struct bytes initial = { .nr = 0 }, own = { .nr = 0 }, all;
	struct unwind_table *t;

	(void)state;
	ADD(&initial, DW_CFA_def_cfa, 31, 0);
	ADD(&own, DW_CFA_advance_loc | 4, DW_CFA_def_cfa_offset, 32, DW_CFA_offset | 29, 4,
	    DW_CFA_offset | 30, 3, DW_CFA_AARCH64_negate_ra_state, DW_CFA_advance_loc | 4,
	    DW_CFA_def_cfa_offset, 16, DW_CFA_restore | 29, DW_CFA_offset | 30, 2,
	    DW_CFA_advance_loc | 4, DW_CFA_same_value, 30);
	all = section_of("zR", &initial, 30, &own);
	t = table_of(CFI_ARM64, &all);
	expect_eq(unwind_table_rule(t, BEGIN), UNWIND_RULE(UNWIND_SP, UNWIND_IN_LR, 0, 0));
	expect_eq(unwind_table_rule(t, BEGIN + 4), UNWIND_RULE(UNWIND_SP, UNWIND_PAIR, 4, 4));
	expect_eq(unwind_table_rule(t, BEGIN + 8), UNWIND_RULE(UNWIND_SP, UNWIND_RA_ALONE, 2, 2));
	expect_eq(unwind_table_rule(t, BEGIN + 12), UNWIND_RULE(UNWIND_SP, UNWIND_IN_LR, 2, 0));
	unwind_table_free(t);
}

static void cut_and_changed_bytes_do_no_harm(void **state)
{
	struct bytes own = { .nr = 0 }, initial = { .nr = 0 }, whole;
	unsigned int seed = 7;

	(void)state;
	ADD(&initial, DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16, 1);
	ADD(&own, DW_CFA_advance_loc | 1, DW_CFA_def_cfa_expression, 3, DW_OP_breg6, 0x78,
	    DW_OP_deref, DW_CFA_advance_loc4, 1, 0, 0, 0, DW_CFA_restore_extended, 6);
	whole = section_of("zRS", &initial, 16, &own);
	for (int i = 0; i < 20000; i++) {
		struct bytes one = whole;

		if (i % 2)
			one.nr = (size_t)rand_r(&seed) % whole.nr;
		for (int k = 0; k < 3 && one.nr; k++)
			one.all[(size_t)rand_r(&seed) % one.nr] = (uint8_t)rand_r(&seed);
		unwind_table_free(table_of(i % 3 ? CFI_X86_64 : CFI_ARM64, &one));
	}
}

/* ---- tables ---- */

static void tables_come_back_from_a_message(void **state)
{
	SCOPED(sandbox_msg_done) struct sandbox_msg m = { 0 };
	struct unwind_table *t = unwind_table_new(), *back = NULL;
	const struct unwind_row bad[] = { { 0, 1 }, { 8, 2 }, { 8, 3 } };
	uint32_t nr;

	(void)state;
	expect_eq(unwind_table_add(t, 0x1000, 1), 0);
	expect_eq(unwind_table_add(t, 0x1004, 1), 0); /* says nothing new */
	expect_eq(unwind_table_add(t, 0x1008, 2), 0);
	expect_eq(unwind_table_add(t, 0x1004, 2), -EINVAL);
	expect_eq(unwind_table_add(t, 0xfff, 2), -EINVAL);
	expect_eq(unwind_table_add(t, 0x200000000, 3), -E2BIG);
	unwind_table_put(t, &m);
	expect_eq(unwind_table_get(&m, &back), 0);
	(void)unwind_table_rows(back, &nr);
	expect_eq(nr, 2);
	expect_eq(unwind_table_rule(back, 0x1007), 1);
	expect_eq(unwind_table_rule(back, 0x1008), 2);
	unwind_table_free(back);
	sandbox_msg_begin(&m, 0);
	sandbox_put_u64(&m, 0);
	sandbox_put_bytes(&m, bad, sizeof(bad));
	expect_eq(unwind_table_get(&m, &back), -EBADMSG);
	unwind_table_free(t);
}

/* Where handlers of signals return to. */
static void the_kernels_page_of_code_has_a_table(void **state)
{
	SCOPED(scoped_elf_image) struct elf_image *e = NULL;
	SCOPED(scoped_unwind_table) struct unwind_table *t = NULL;
	unsigned long start = getauxval(AT_SYSINFO_EHDR);
	const struct unwind_row *rows;
	bool has_signal = false;
	uint32_t nr;

	(void)state;
	if (!start || elf_image_open_bytes((const void *)start, 8192, &e))
		return;
	expect_eq(unwind_table_compile(e, NULL, 0, &t), 0);
	rows = unwind_table_rows(t, &nr);
	for (uint32_t i = 0; i < nr; i++)
		has_signal |= UNWIND_RULE_KIND(rows[i].rule) == UNWIND_SIGNAL;
#ifdef __aarch64__
	assert_true(has_signal);
#else
	(void)has_signal; /* there it is glibc that returns */
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_what_libdw_says),
		cmocka_unit_test(a_prologue_moves_the_frame),
		cmocka_unit_test(rbx_is_where_compilers_push_it),
		cmocka_unit_test(expressions_of_compilers_and_linkers_are_known),
		cmocka_unit_test(what_ends_a_stack_is_known),
		cmocka_unit_test(what_no_row_can_say_is_unknown),
		cmocka_unit_test(return_addresses_of_arm64_are_found),
		cmocka_unit_test(cut_and_changed_bytes_do_no_harm),
		cmocka_unit_test(tables_come_back_from_a_message),
		cmocka_unit_test(the_kernels_page_of_code_has_a_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
