/* symbol/cfi_run — the instructions of one entry of call frame information, and what they say in 32 bits. */
#include <dwarf.h>
#include <errno.h>
#include <string.h>

#include "abi/unwind.h"
#include "symbol/cfi_priv.h"

#define SAVED_MAX 32U /* states that are remembered at a time */
#define WORD      8
#define OPERAND   0x3fU /* of instructions that carry one */
#define HOW_MAX   3U

/* DWARF's numbers of registers. */
struct cfi_registers {
	uint64_t sp, fp, ra;
	uint64_t bx; /* rbx; arm64 has no register that frames are found by, but sp and fp */
};

#define NO_REGISTER UINT64_MAX

static const struct cfi_registers registers_of[] = {
	[CFI_X86_64] = { .sp = 7, .fp = 6, .ra = 16, .bx = 3 },
	[CFI_ARM64] = { .sp = 31, .fp = 29, .ra = 30, .bx = NO_REGISTER },
};

enum place_how {
	PLACE_SAME, /* unchanged */
	PLACE_UNDEFINED,
	PLACE_AT_CFA, /* in memory, so far from the CFA */
	PLACE_AT_FP,  /* where the frame pointer points to */
	PLACE_OTHER,
};

struct place {
	enum place_how how;
	int64_t offset;
};

enum cfa_form { CFA_OTHER, CFA_REGISTER, CFA_DEREF, CFA_INDEXED, CFA_PLT };

struct cfi_state {
	enum cfa_form form;
	uint64_t reg;
	int64_t offset;
	/* CFA_DEREF: added to what was read; CFA_INDEXED: the second register; CFA_PLT: the byte it depends on */
	uint64_t more;
	struct place ra, fp, bx;
};

struct cfi_machine_run {
	const struct cfi_program *p;
	const struct cfi_registers *registers;
	struct cfi_state now, initial;
	struct cfi_state saved[SAVED_MAX];
	uint32_t nr_saved;
	uint64_t at; /* of the code */
	cfi_row_fn *row;
	void *ctx;
	int err; /* of row() */
};

static const uint32_t unknown = UNWIND_RULE(UNWIND_STOP, UNWIND_UNKNOWN, 0, 0);

/* In units of 8 bytes; false if it is not a whole number of them up to max. */
static bool in_words(int64_t bytes, uint32_t max, uint32_t *out)
{
	if (bytes < 0 || bytes % WORD || bytes / WORD > max)
		return false;
	*out = (uint32_t)(bytes / WORD);
	return true;
}

/* Assemblers by hand keep the caller's stack pointer in any register; of a frame that was interrupted all are known. */
static bool pack_other(const struct cfi_machine_run *m, uint32_t *kind, uint32_t *how,
                       uint32_t *cfa)
{
	const struct cfi_state *s = &m->now;
	bool is_indexed = s->form == CFA_INDEXED;
	uint64_t reg = is_indexed ? s->more : s->reg;
	uint32_t words;

	if (m->p->machine != CFI_X86_64 || (!is_indexed && s->form != CFA_REGISTER) ||
	    reg > UNWIND_OTHER_REG || !in_words(s->offset, UNWIND_OTHER_MAX, &words))
		return false;
	*kind = UNWIND_STOP;
	*how = is_indexed ? UNWIND_INDEXED : UNWIND_OTHER;
	*cfa = (uint32_t)reg | words << 4;
	return true;
}

static bool pack_deref(const struct cfi_machine_run *m, uint32_t *kind, uint32_t *how,
                       uint32_t *cfa)
{
	const struct cfi_state *s = &m->now;

	if (m->p->machine != CFI_X86_64 || s->offset % WORD ||
	    s->offset / WORD > UNWIND_DEREF_MAX || s->offset / WORD < -UNWIND_DEREF_MAX ||
	    s->more > (uint64_t)HOW_MAX * WORD)
		return false;
	*kind = s->reg == m->registers->sp ? UNWIND_SP_DEREF : UNWIND_FP_DEREF;
	*cfa = (uint32_t)(s->offset / WORD) & UNWIND_CFA_MAX;
	return in_words((int64_t)s->more, HOW_MAX, how);
}

static bool pack_cfa(const struct cfi_machine_run *m, uint32_t *kind, uint32_t *how, uint32_t *cfa)
{
	const struct cfi_state *s = &m->now;
	bool is_sp = s->reg == m->registers->sp;

	if (s->form == CFA_PLT) {
		*kind = UNWIND_PLT;
		*cfa = (uint32_t)s->more;
		return true;
	}
	if (s->form == CFA_OTHER)
		return false;
	if (s->form == CFA_INDEXED || (!is_sp && s->reg != m->registers->fp))
		return pack_other(m, kind, how, cfa);
	if (s->form == CFA_REGISTER) {
		*kind = is_sp ? UNWIND_SP : UNWIND_FP;
		return in_words(s->offset, UNWIND_CFA_MAX, cfa);
	}
	return pack_deref(m, kind, how, cfa);
}

/* How far below the CFA; never 0. */
static bool pack_below(const struct place *p, uint32_t *out)
{
	return p->offset < 0 && p->offset > INT64_MIN && in_words(-p->offset, UNWIND_SLOT_MAX, out);
}

static bool pack_x86(const struct cfi_state *s, uint32_t *slot)
{
	if (s->ra.how != PLACE_AT_CFA || s->ra.offset != -WORD)
		return false;
	switch (s->fp.how) {
	case PLACE_SAME:
		return true;
	case PLACE_AT_CFA:
		return pack_below(&s->fp, slot);
	case PLACE_AT_FP:
		*slot = UNWIND_SLOT_AT_FP;
		return true;
	default:
		return false;
	}
}

/* Where rbx is, for frames whose other rule leaves room to say it. */
static uint32_t pack_rbx(const struct cfi_state *s, uint32_t slot)
{
	int64_t above = slot ? (int64_t)slot : 1;

	if (s->bx.how == PLACE_SAME)
		return UNWIND_RBX_SAME;
	return s->bx.how == PLACE_AT_CFA && slot != UNWIND_SLOT_AT_FP &&
	                       s->bx.offset == -(above + 1) * WORD
	               ? UNWIND_RBX_BELOW
	               : UNWIND_RBX_LOST;
}

static bool pack_arm64(const struct cfi_state *s, uint32_t *how, uint32_t *slot)
{
	if (s->ra.how == PLACE_SAME && s->fp.how == PLACE_SAME) {
		*how = UNWIND_IN_LR;
		return true;
	}
	if (s->ra.how != PLACE_AT_CFA)
		return false;
	if (s->fp.how == PLACE_SAME) {
		*how = UNWIND_RA_ALONE;
		return pack_below(&s->ra, slot);
	}
	*how = UNWIND_PAIR;
	return s->fp.how == PLACE_AT_CFA && pack_below(&s->fp, slot) &&
	       s->ra.offset == s->fp.offset + WORD;
}

static uint32_t pack(const struct cfi_machine_run *m)
{
	const struct cfi_state *s = &m->now;
	uint32_t kind = 0, how = 0, cfa = 0, slot = 0;

	if (m->p->cie->is_signal)
		return UNWIND_RULE(UNWIND_SIGNAL, 0, 0, 0);
	if (s->ra.how == PLACE_UNDEFINED)
		return UNWIND_RULE(UNWIND_STOP, UNWIND_END, 0, 0);
	if (!pack_cfa(m, &kind, &how, &cfa))
		return unknown;
	if (m->p->machine == CFI_X86_64 ? !pack_x86(s, &slot) : !pack_arm64(s, &how, &slot))
		return unknown;
	if (m->p->machine == CFI_X86_64 && (kind == UNWIND_SP || kind == UNWIND_FP))
		how = pack_rbx(s, slot);
	return UNWIND_RULE(kind, how, cfa, slot);
}

/* What has held from m->at up to there. */
static void emit(struct cfi_machine_run *m, uint64_t to, uint32_t rule)
{
	uint64_t from = m->at > m->p->from ? m->at : m->p->from;

	if (to > from && from < m->p->end && !m->err)
		m->err = m->row(m->ctx, from, rule);
}

static void advance(struct cfi_machine_run *m, uint64_t by)
{
	uint64_t bytes, to;

	if (__builtin_mul_overflow(by, m->p->cie->code_align, &bytes) ||
	    __builtin_add_overflow(m->at, bytes, &to))
		to = m->p->end;
	emit(m, to, pack(m));
	m->at = to;
}

static struct place *place_of(const struct cfi_machine_run *m, struct cfi_state *s, uint64_t reg)
{
	if (reg == m->p->cie->ra)
		return &s->ra;
	if (reg == m->registers->bx)
		return &s->bx;
	return reg == m->registers->fp ? &s->fp : NULL;
}

static void set_place(struct cfi_machine_run *m, uint64_t reg, enum place_how how, int64_t offset)
{
	struct place *p = place_of(m, &m->now, reg);

	if (p)
		*p = (struct place){ how, offset };
}

static int64_t factored(const struct cfi_machine_run *m, int64_t offset)
{
	int64_t bytes;

	/* One that no row can express. */
	return __builtin_mul_overflow(offset, m->p->cie->data_align, &bytes) ? 1 : bytes;
}

static void restore(struct cfi_machine_run *m, uint64_t reg)
{
	struct place *p = place_of(m, &m->now, reg);

	if (p)
		*p = *place_of(m, &m->initial, reg);
}

/* Of these, one part may be changed alone. */
static void require_register(struct cfi_machine_run *m)
{
	if (m->now.form != CFA_REGISTER)
		m->now.form = CFA_OTHER;
}

static void set_cfa(struct cfi_machine_run *m, uint64_t reg, int64_t offset)
{
	m->now.form = CFA_REGISTER;
	m->now.reg = reg;
	m->now.offset = offset;
}

/* rsp + 8 + ((rip & 15) >= N) * 8: the linker's table of jumps into libraries, whose entries push a number. */
static bool is_plt(const struct cfi_bytes *b, uint64_t *out)
{
	static const uint8_t like[] = { DW_OP_breg7, 8,         DW_OP_breg16, 0,
		                        DW_OP_lit15, DW_OP_and, DW_OP_lit0,   DW_OP_ge,
		                        DW_OP_lit3,  DW_OP_shl, DW_OP_plus };
	const size_t depends = 6;

	if ((size_t)(b->end - b->at) != sizeof(like) || b->at[depends] < DW_OP_lit0 ||
	    b->at[depends] > DW_OP_lit15 || memcmp(b->at, like, depends) != 0 ||
	    memcmp(b->at + depends + 1, like + depends + 1, sizeof(like) - depends - 1) != 0)
		return false;
	*out = (uint64_t)(b->at[depends] - DW_OP_lit0);
	return true;
}

static bool get_base(struct cfi_bytes *b, uint64_t *reg, int64_t *offset)
{
	uint64_t op = cfi_get(b, 1);

	if (op < DW_OP_breg0 || op > DW_OP_breg31)
		return false;
	*reg = op - DW_OP_breg0;
	*offset = cfi_get_sleb(b);
	return !b->is_bad;
}

/* Behind rsp + N: + 8 * another register, what is there + 8. Frames of big numbers have a size that only a register knows. */
static bool is_indexed(struct cfi_bytes b, uint64_t *reg)
{
	static const uint8_t like[] = { DW_OP_lit8,  DW_OP_mul,         DW_OP_plus,
		                        DW_OP_deref, DW_OP_plus_uconst, WORD };
	int64_t offset;

	return get_base(&b, reg, &offset) && offset == 0 &&
	       (size_t)(b.end - b.at) == sizeof(like) && memcmp(b.at, like, sizeof(like)) == 0;
}

/* Behind a register + N: what is there, or that and so much more. */
static bool is_deref(struct cfi_bytes b, uint64_t *more)
{
	*more = 0;
	if (cfi_get(&b, 1) != DW_OP_deref)
		return false;
	if (b.at < b.end) {
		if (cfi_get(&b, 1) != DW_OP_plus_uconst)
			return false;
		*more = cfi_get_uleb(&b);
	}
	return b.at == b.end && !b.is_bad;
}

/* Compilers that align a stack frame, and assemblers by hand, save where the caller's frame was. */
static void set_cfa_expression(struct cfi_machine_run *m, struct cfi_bytes b)
{
	struct cfi_state *s = &m->now;

	s->form = CFA_OTHER;
	if (m->p->machine == CFI_X86_64 && is_plt(&b, &s->more))
		s->form = CFA_PLT;
	else if (!get_base(&b, &s->reg, &s->offset))
		return;
	else if (b.at == b.end)
		s->form = CFA_REGISTER;
	else if (is_deref(b, &s->more))
		s->form = CFA_DEREF;
	else if (s->reg == m->registers->sp && is_indexed(b, &s->more))
		s->form = CFA_INDEXED;
}

static void set_expression(struct cfi_machine_run *m, uint64_t reg, struct cfi_bytes b)
{
	uint64_t base;
	int64_t offset;
	bool is_at_fp = get_base(&b, &base, &offset) && b.at == b.end && base == m->registers->fp &&
	                offset == 0;

	set_place(m, reg, is_at_fp ? PLACE_AT_FP : PLACE_OTHER, 0);
}

static bool save_state(struct cfi_machine_run *m)
{
	if (m->nr_saved == SAVED_MAX)
		return false;
	m->saved[m->nr_saved++] = m->now;
	return true;
}

static bool restore_state(struct cfi_machine_run *m)
{
	if (!m->nr_saved)
		return false;
	m->now = m->saved[--m->nr_saved];
	return true;
}

/* Instructions about the CFA. False: it is none of them. */
static bool step_cfa(struct cfi_machine_run *m, uint8_t op, struct cfi_bytes *b)
{
	uint64_t reg;

	switch (op) {
	case DW_CFA_def_cfa:
		reg = cfi_get_uleb(b);
		set_cfa(m, reg, (int64_t)cfi_get_uleb(b));
		return true;
	case DW_CFA_def_cfa_sf:
		reg = cfi_get_uleb(b);
		set_cfa(m, reg, factored(m, cfi_get_sleb(b)));
		return true;
	case DW_CFA_def_cfa_register:
		require_register(m);
		m->now.reg = cfi_get_uleb(b);
		return true;
	case DW_CFA_def_cfa_offset:
		require_register(m);
		m->now.offset = (int64_t)cfi_get_uleb(b);
		return true;
	case DW_CFA_def_cfa_offset_sf:
		require_register(m);
		m->now.offset = factored(m, cfi_get_sleb(b));
		return true;
	case DW_CFA_def_cfa_expression:
		set_cfa_expression(m, cfi_cut(b, cfi_get_uleb(b)));
		return true;
	default:
		return false;
	}
}

/* Instructions about a register. False: it is none of them. */
static bool step_register(struct cfi_machine_run *m, uint8_t op, struct cfi_bytes *b)
{
	uint64_t reg;

	if (op < DW_CFA_offset_extended || op > DW_CFA_GNU_negative_offset_extended ||
	    op == DW_CFA_GNU_args_size || op == DW_CFA_GNU_window_save)
		return false;
	reg = cfi_get_uleb(b);
	switch (op) {
	case DW_CFA_offset_extended:
		set_place(m, reg, PLACE_AT_CFA, factored(m, (int64_t)cfi_get_uleb(b)));
		return true;
	case DW_CFA_offset_extended_sf:
		set_place(m, reg, PLACE_AT_CFA, factored(m, cfi_get_sleb(b)));
		return true;
	case DW_CFA_GNU_negative_offset_extended:
		set_place(m, reg, PLACE_AT_CFA, factored(m, -(int64_t)(cfi_get_uleb(b) >> 1)));
		return true;
	case DW_CFA_restore_extended:
		restore(m, reg);
		return true;
	case DW_CFA_undefined:
		set_place(m, reg, PLACE_UNDEFINED, 0);
		return true;
	case DW_CFA_same_value:
		set_place(m, reg, PLACE_SAME, 0);
		return true;
	case DW_CFA_register:
	case DW_CFA_val_offset:
	case DW_CFA_val_offset_sf:
		(void)cfi_get_uleb(b);
		set_place(m, reg, PLACE_OTHER, 0);
		return true;
	case DW_CFA_expression:
		set_expression(m, reg, cfi_cut(b, cfi_get_uleb(b)));
		return true;
	case DW_CFA_val_expression:
		(void)cfi_cut(b, cfi_get_uleb(b));
		set_place(m, reg, PLACE_OTHER, 0);
		return true;
	default:
		b->is_bad = true;
		return true;
	}
}

/* False: the instruction is unknown. */
static bool step_other(struct cfi_machine_run *m, uint8_t op, struct cfi_bytes *b)
{
	switch (op) {
	case DW_CFA_nop:
	case DW_CFA_GNU_window_save: /* on arm64: return addresses are signed from here on, or no more */
		return true;
	case DW_CFA_advance_loc1:
		advance(m, cfi_get(b, 1));
		return true;
	case DW_CFA_advance_loc2:
		advance(m, cfi_get(b, 2));
		return true;
	case DW_CFA_advance_loc4:
		advance(m, cfi_get(b, 4));
		return true;
	case DW_CFA_remember_state:
		return save_state(m);
	case DW_CFA_restore_state:
		return restore_state(m);
	case DW_CFA_GNU_args_size:
		(void)cfi_get_uleb(b);
		return true;
	default:
		return false;
	}
}

static bool step(struct cfi_machine_run *m, struct cfi_bytes *b)
{
	uint8_t op = (uint8_t)cfi_get(b, 1), operand = op & OPERAND;

	switch (op & ~OPERAND) {
	case DW_CFA_advance_loc:
		advance(m, operand);
		break;
	case DW_CFA_offset:
		set_place(m, operand, PLACE_AT_CFA, factored(m, (int64_t)cfi_get_uleb(b)));
		break;
	case DW_CFA_restore:
		restore(m, operand);
		break;
	default:
		/* States first: they lie among those of registers. */
		if (op == DW_CFA_remember_state || op == DW_CFA_restore_state ||
		    !(step_cfa(m, op, b) || step_register(m, op, b)))
			return step_other(m, op, b) && !b->is_bad;
		break;
	}
	return !b->is_bad;
}

static bool run(struct cfi_machine_run *m, struct cfi_bytes b)
{
	while (b.at < b.end && m->at < m->p->end && !m->err) {
		if (++*m->p->nr_steps > CFI_STEPS_MAX || !step(m, &b))
			return false;
	}
	return true;
}

int cfi_run(const struct cfi_program *p, cfi_row_fn *row, void *ctx)
{
	struct cfi_machine_run m = {
		.p = p,
		.registers = &registers_of[p->machine],
		.at = p->begin,
		.row = row,
		.ctx = ctx,
	};
	bool is_good = p->cie->ra == m.registers->ra && run(&m, p->cie->initial) &&
	               m.at == p->begin;

	m.initial = m.now;
	is_good = is_good && run(&m, p->own);
	emit(&m, p->end, is_good ? pack(&m) : unknown);
	return m.err;
}
