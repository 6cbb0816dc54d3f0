/*
 * bpf/unwind — the user stack of the current task by tables of abi/unwind, without frame pointers.
 *
 * Begins with the registers with which the task entered the kernel. Code without a table, as JITs make it, is
 * walked by frame pointers. Each frame costs a search in one page of ranges (none while the code is in the same
 * range), two in pages of rows, and one or two reads of the stack. Nothing blocks; memory that is not
 * present ends the walk. The user of this header has struct unwind_walk where no other program changes it.
 */
#pragma once

#include <linux/bpf.h>
#include <stdbool.h>

#include <bpf/bpf_helpers.h>

#include "abi/profile.h"
#include "abi/unwind.h"
#include "bpf/kernel.bpf.h"

#define UNWIND_WORD        8ULL
#define UNWIND_ROWS_HALF   (UNWIND_PAGE_ROWS / 2)
#define UNWIND_RANGES_HALF (UNWIND_PAGE_RANGES / 2)

/* Sized by user space; one of each where tables are not used. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct unwind_page);
} unwind_pages SEC(".maps");

/* tgid -> its ranges */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct unwind_process);
} unwind_processes SEC(".maps");

struct unwind_walk {
	__u64 pc, sp, fp;
	__u64 lr;                  /* arm64 */
	struct unwind_range range; /* that pc was in last */
	__u64 cfa, ra_at;          /* of the step */
	__u32 nr;                  /* frames so far */
	__u32 end;                 /* enum prof_end */
	__u32 is_exact;            /* pc is where it was interrupted; else the call is before it */
	__u32 has_lr;
	__u32 no_sp; /* arm64: the last step was by frame pointers, which do not say where the frame ends */
	__u32 is_guess;      /* arm64: pc is what x30 had in code without a table */
	__u32 has_rbx;       /* x86-64: it is known in this frame, too */
	__u64 registers[16]; /* x86-64, of the first frame, as DWARF counts them */
};

/* What the callback of a walk needs; it lies on the stack of the program. */
struct unwind_step {
	struct unwind_walk *w;
	struct prof_stack *out;
	const struct unwind_process *process;
	__u64 pc_mask;
};

#if defined(__TARGET_ARCH_x86)
/* The kernel's struct pt_regs of x86-64. */
struct unwind_pt_regs {
	__u64 r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax, ip, cs,
		flags, sp, ss;
};
/* Of 64-bit code. With FRED the upper half says more; in a guest of Xen the selector is 0xe033. */
#define UNWIND_USER_CS 0x33
#define UNWIND_CS_MASK 0xff
#define UNWIND_RBX     3
#else
struct unwind_pt_regs {
	__u64 regs[31], sp, pc, pstate;
};
#define UNWIND_PSTATE_32 0x10
#endif

/* All ones if a is not below b; addresses and places have no highest bit. No branch: the verifier would take both each time. */
static __always_inline __u64 not_below(__u64 a, __u64 b)
{
	__u64 mask = ~(__u64)((__s64)(a - b) >> 63);

	asm volatile("" : "+r"(mask));
	return mask;
}

/* An index below a power of two. Compilers know that it is, and leave the mask out; the verifier of Linux 6.1 does not. */
static __always_inline __u64 below(__u64 i, __u64 limit)
{
	asm volatile("" : "+r"(i));
	i &= limit - 1;
	asm volatile("" : "+r"(i));
	return i;
}

/* The last row at or before the place. */
static __always_inline __u64 last_row(const struct unwind_page *page, __u64 at)
{
	__u64 i = 0;

#pragma unroll
	for (__u32 half = UNWIND_ROWS_HALF; half; half /= 2)
		i += half & not_below(at, page->rows[below(i + half, UNWIND_PAGE_ROWS)].at);
	return i;
}

static __always_inline bool find_range(struct unwind_walk *w, const struct unwind_process *p,
                                       __u64 pc)
{
	const struct unwind_range_page *page;
	__u64 which = 0, i = 0;
	__u32 key;

#pragma unroll
	for (__u32 k = 1; k < UNWIND_PROCESS_PAGES; k++)
		which += 1 & not_below(pc, p->firsts[k]);
	key = p->pages[below(which, UNWIND_PROCESS_PAGES)];
	page = bpf_map_lookup_elem(&unwind_pages, &key);
	if (!page || page->ranges[0].bias != p->serial)
		return false;
#pragma unroll
	for (__u32 half = UNWIND_RANGES_HALF; half; half /= 2)
		i += half & not_below(pc, page->ranges[below(i + half, UNWIND_PAGE_RANGES)].start);
	i = below(i, UNWIND_PAGE_RANGES);
	if (!i || pc >= page->ranges[i].end)
		return false;
	w->range = page->ranges[i];
	return true;
}

static __always_inline __u32 find_rule(struct unwind_walk *w, const struct unwind_process *p,
                                       __u64 pc)
{
	const struct unwind_page *page;
	__u64 at;
	__u32 key;

	if ((pc < w->range.start || pc >= w->range.end) && !find_range(w, p, pc))
		return UNWIND_NONE;
	at = pc - w->range.bias;
	key = w->range.root;
	page = bpf_map_lookup_elem(&unwind_pages, &key);
	if (!page || at >= UNWIND_NOWHERE)
		return UNWIND_NONE;
	key = page->rows[below(last_row(page, at), UNWIND_PAGE_ROWS)].rule;
	page = bpf_map_lookup_elem(&unwind_pages, &key);
	return page ? page->rows[below(last_row(page, at), UNWIND_PAGE_ROWS)].rule : UNWIND_NONE;
}

static __always_inline bool read_user(void *to, __u32 bytes, __u64 from)
{
	return bpf_probe_read_user(to, bytes, (const void *)from) == 0;
}

/* By the chain of frame pointers: fp points to the caller's, and behind it is the return address. */
static __always_inline __u32 step_by_fp(struct unwind_walk *w)
{
	__u64 record[2];

	if (!w->fp) /* so chains end */
		return w->nr > 1 && !w->is_exact ? PROF_END_WHOLE : PROF_END_NO_TABLE;
	if (w->fp < w->sp || w->fp % UNWIND_WORD || !read_user(record, sizeof(record), w->fp))
		return PROF_END_NO_TABLE;
	w->sp = w->fp + sizeof(record);
	w->fp = record[0];
	w->pc = record[1];
	w->has_lr = w->has_rbx = 0;
	w->no_sp = 1;
	return 0;
}

#if defined(__TARGET_ARCH_x86)

static __always_inline __u32 step_without_table(struct unwind_walk *w, __u64 pc_mask)
{
	return step_by_fp(w);
}

static __always_inline bool is_wrong_guess(const struct unwind_walk *w, __u32 rule)
{
	return false;
}

#define SIGNAL_FP 120 /* in the kernel's frame; rbx follows */
#define SIGNAL_SP 160 /* and the address behind it */

static __always_inline __u32 step_signal(struct unwind_walk *w)
{
	__u64 fp_rbx[2], sp_pc[2];

	if (!read_user(fp_rbx, sizeof(fp_rbx), w->sp + SIGNAL_FP) ||
	    !read_user(sp_pc, sizeof(sp_pc), w->sp + SIGNAL_SP))
		return PROF_END_READ;
	w->fp = fp_rbx[0];
	w->registers[UNWIND_RBX] = fp_rbx[1];
	w->sp = sp_pc[0];
	w->pc = sp_pc[1];
	w->is_exact = w->has_rbx = 1;
	return 0;
}

/* By any register: those of the first frame are known, and rbx where it was saved as compilers do. */
static __always_inline __u32 find_cfa_by_register(struct unwind_walk *w, __u32 rule)
{
	__u64 reg = below(UNWIND_RULE_CFA(rule), UNWIND_OTHER_REG + 1);
	__u64 offset = (UNWIND_RULE_CFA(rule) >> 4) * UNWIND_WORD;
	__u32 how = UNWIND_RULE_HOW(rule);

	if (how == UNWIND_UNKNOWN || (w->nr != 1 && (reg != UNWIND_RBX || !w->has_rbx)))
		return PROF_END_RULE;
	w->cfa = w->registers[reg] + offset;
	if (how == UNWIND_OTHER)
		return 0;
	if (!read_user(&w->cfa, sizeof(w->cfa), w->sp + w->registers[reg] * UNWIND_WORD + offset))
		return PROF_END_READ;
	w->cfa += UNWIND_WORD;
	return 0;
}

static __always_inline __u32 find_cfa(struct unwind_walk *w, __u32 rule)
{
	__u64 offset = UNWIND_RULE_CFA(rule) * UNWIND_WORD;
	__u64 from;

	switch (UNWIND_RULE_KIND(rule)) {
	case UNWIND_SP:
		w->cfa = w->sp + offset;
		return 0;
	case UNWIND_FP:
		w->cfa = w->fp + offset;
		return 0;
	case UNWIND_PLT:
		w->cfa = w->sp + UNWIND_WORD +
		         ((w->pc & 15) >= UNWIND_RULE_CFA(rule) ? UNWIND_WORD : 0);
		return 0;
	case UNWIND_STOP:
		return find_cfa_by_register(w, rule);
	default:
		from = UNWIND_RULE_KIND(rule) == UNWIND_SP_DEREF ? w->sp : w->fp;
		from += (__u64)UNWIND_RULE_DEREF(rule) * UNWIND_WORD;
		if (!read_user(&w->cfa, sizeof(w->cfa), from))
			return PROF_END_READ;
		w->cfa += UNWIND_RULE_HOW(rule) * UNWIND_WORD;
		return 0;
	}
}

/* The caller's frame pointer and rbx, of which both or one were saved, or none. */
static __always_inline bool restore_registers(struct unwind_walk *w, __u32 rule)
{
	__u64 slot = UNWIND_RULE_SLOT(rule);
	__u64 at = slot == UNWIND_SLOT_AT_FP ? w->fp : w->cfa - (slot ? slot : 1) * UNWIND_WORD;
	__u32 kind = UNWIND_RULE_KIND(rule), how = UNWIND_RULE_HOW(rule);
	bool is_plain = kind == UNWIND_SP || kind == UNWIND_FP;
	__u64 pair[2]; /* rbx, and what is above it */

	if (is_plain && how == UNWIND_RBX_BELOW) {
		if (!read_user(pair, sizeof(pair), at - UNWIND_WORD))
			return false;
		w->registers[UNWIND_RBX] = pair[0];
		w->has_rbx = 1;
		w->fp = slot ? pair[1] : w->fp;
		return true;
	}
	if (kind != UNWIND_PLT && !(is_plain && how == UNWIND_RBX_SAME))
		w->has_rbx = 0;
	return !slot || read_user(&w->fp, sizeof(w->fp), at);
}

static __always_inline __u32 step_by_rule(struct unwind_walk *w, __u32 rule, __u64 pc_mask)
{
	__u32 end = find_cfa(w, rule);

	if (end)
		return end;
	if (w->cfa <= w->sp || w->cfa % UNWIND_WORD)
		return PROF_END_RULE;
	if (!restore_registers(w, rule) || !read_user(&w->pc, sizeof(w->pc), w->cfa - UNWIND_WORD))
		return PROF_END_READ;
	w->sp = w->cfa;
	return 0;
}

static __always_inline bool take_registers(struct unwind_walk *w, struct task_struct *p)
{
	struct unwind_pt_regs r;

	if (bpf_probe_read_kernel(&r, sizeof(r), (const void *)bpf_task_pt_regs(p)) ||
	    (r.cs & UNWIND_CS_MASK) != UNWIND_USER_CS)
		return false;
	w->pc = r.ip;
	w->sp = r.sp;
	w->fp = r.bp;
	w->has_rbx = 1;
	w->registers[0] = r.ax;
	w->registers[1] = r.dx;
	w->registers[2] = r.cx;
	w->registers[3] = r.bx;
	w->registers[4] = r.si;
	w->registers[5] = r.di;
	w->registers[6] = r.bp;
	w->registers[7] = r.sp;
	w->registers[8] = r.r8;
	w->registers[9] = r.r9;
	w->registers[10] = r.r10;
	w->registers[11] = r.r11;
	w->registers[12] = r.r12;
	w->registers[13] = r.r13;
	w->registers[14] = r.r14;
	w->registers[15] = r.r15;
	return true;
}

/* Between functions with entries lies code by hand, in which the frame pointer is any register. */
static __always_inline bool may_use_fp(const struct unwind_walk *w, __u64 pc)
{
	return pc < w->range.start || pc >= w->range.end;
}

#else

#define SIGNAL_FP 544 /* in the kernel's frame: x29, x30, sp, pc */

static __always_inline __u32 step_signal(struct unwind_walk *w)
{
	__u64 saved[4];

	if (!read_user(saved, sizeof(saved), w->sp + SIGNAL_FP))
		return PROF_END_READ;
	w->fp = saved[0];
	w->lr = saved[1];
	w->sp = saved[2];
	w->pc = saved[3];
	w->is_exact = w->has_lr = 1;
	w->no_sp = w->is_guess = 0;
	return 0;
}

/* Whether the instruction before is a call: bl, blr, and blr of a signed address. */
static __always_inline bool is_behind_call(__u64 pc)
{
	__u32 code;

	return pc % sizeof(code) == 0 && read_user(&code, sizeof(code), pc - sizeof(code)) &&
	       ((code & 0xfc000000) == 0x94000000 || (code & 0xfefff000) == 0xd63f0000);
}

static __always_inline bool has_return_address(__u64 at, __u64 pc_mask)
{
	__u64 pc;

	return read_user(&pc, sizeof(pc), at) && is_behind_call(pc & pc_mask);
}

/*
 * A function by hand that calls none may have no frame, or none yet: the frame pointer is its caller's, and the return address
 * in x30 alone. One that has a frame has what is in x30 in it, too, until it calls another.
 */
static __always_inline __u32 step_without_table(struct unwind_walk *w, __u64 pc_mask)
{
	__u64 record[2], lr = w->lr & pc_mask;

	if (!w->has_lr ||
	    (read_user(record, sizeof(record), w->fp) && (record[1] & pc_mask) == lr) ||
	    !is_behind_call(lr))
		return step_by_fp(w);
	w->pc = lr;
	w->has_lr = 0;
	w->is_guess = 1;
	return 0;
}

/* What has called another function itself has x30 from there: if that has no table either, it is not known which of both it is. */
static __always_inline bool is_wrong_guess(const struct unwind_walk *w, __u32 rule)
{
	__u32 kind = UNWIND_RULE_KIND(rule);

	return w->is_guess && (kind == UNWIND_NONE ||
	                       (kind != UNWIND_STOP && UNWIND_RULE_HOW(rule) == UNWIND_IN_LR));
}

static __always_inline __u32 step_by_rule(struct unwind_walk *w, __u32 rule, __u64 pc_mask)
{
	__u64 slot = UNWIND_RULE_SLOT(rule) * UNWIND_WORD, pair[2];
	__u32 kind = UNWIND_RULE_KIND(rule), how = UNWIND_RULE_HOW(rule);

	if (kind != UNWIND_SP && kind != UNWIND_FP)
		return PROF_END_RULE;
	w->cfa = (kind == UNWIND_SP ? w->sp : w->fp) + UNWIND_RULE_CFA(rule) * UNWIND_WORD;
	/* Without a frame a function may still have moved the stack pointer. */
	if (w->is_guess && kind == UNWIND_SP)
		w->no_sp = !has_return_address(
			w->cfa - slot + (how == UNWIND_PAIR ? UNWIND_WORD : 0), pc_mask);
	if (w->no_sp && kind == UNWIND_SP) {
		/* A function that keeps the chain has the frame pointer at its own pair. */
		if (how != UNWIND_PAIR)
			return PROF_END_NO_TABLE;
		w->cfa = w->fp + slot;
	}
	if (w->cfa < w->sp || w->cfa % UNWIND_WORD)
		return PROF_END_RULE;
	if (how == UNWIND_IN_LR) {
		if (!w->has_lr)
			return PROF_END_RULE;
		w->pc = w->lr;
	} else if (how == UNWIND_PAIR) {
		if (!read_user(pair, sizeof(pair), w->cfa - slot))
			return PROF_END_READ;
		w->fp = pair[0];
		w->pc = pair[1];
	} else if (!read_user(&w->pc, sizeof(w->pc), w->cfa - slot)) {
		return PROF_END_READ;
	}
	w->sp = w->cfa;
	w->has_lr = w->no_sp = w->is_guess = 0;
	return 0;
}

static __always_inline bool take_registers(struct unwind_walk *w, struct task_struct *p)
{
	struct unwind_pt_regs r;

	if (bpf_probe_read_kernel(&r, sizeof(r), (const void *)bpf_task_pt_regs(p)) ||
	    (r.pstate & UNWIND_PSTATE_32))
		return false;
	w->pc = r.pc;
	w->sp = r.sp;
	w->fp = r.regs[29];
	w->lr = r.regs[30];
	w->has_lr = 1;
	return true;
}

static __always_inline bool may_use_fp(const struct unwind_walk *w, __u64 pc)
{
	return true;
}

#endif

/* From a frame to its caller's; not 0 = where the walk ends. */
static __always_inline __u32 step_frame(struct unwind_walk *w, const struct unwind_process *p,
                                        __u64 pc_mask)
{
	__u64 pc = w->pc - !w->is_exact;
	__u32 rule = find_rule(w, p, pc), kind = UNWIND_RULE_KIND(rule), end;

	if (rule == UNWIND_RULE(UNWIND_STOP, UNWIND_END, 0, 0))
		return PROF_END_WHOLE;
	if (kind == UNWIND_NONE && !may_use_fp(w, pc))
		return PROF_END_NO_TABLE;
	if (kind == UNWIND_SIGNAL)
		return step_signal(w);
	if (is_wrong_guess(w, rule)) {
		w->nr--; /* back to the frame before */
		w->is_exact = 1;
		w->is_guess = 0;
		end = step_by_fp(w);
	} else {
		end = kind == UNWIND_NONE ? step_without_table(w, pc_mask)
		                          : step_by_rule(w, rule, pc_mask);
	}
	w->is_exact = 0;
	w->pc &= pc_mask;
	if (!end && !w->pc)
		end = PROF_END_WHOLE;
	return end;
}

/* One frame; 1 = it was the last. */
static long unwind_one(__u32 idx, struct unwind_step *s)
{
	struct unwind_walk *w = s->w;
	__u64 nr = below(w->nr, PROF_DEPTH + 1);

	if (nr >= PROF_DEPTH) {
		w->end = PROF_END_DEPTH;
		return 1;
	}
	s->out->ips[nr] = w->pc;
	w->nr = nr + 1;
	w->end = step_frame(w, s->process, s->pc_mask);
	return w->end != 0;
}

/* The stack of the current task; false = there is nothing to walk it by. */
static __always_inline bool unwind_user(struct unwind_walk *w, struct task_struct *p,
                                        struct prof_stack *out, __u64 pc_mask)
{
	__u32 tgid = (__u32)p->tgid;
	const struct unwind_process *process = bpf_map_lookup_elem(&unwind_processes, &tgid);
	struct unwind_step s = { w, out, process, pc_mask };

	if (!p->mm || !process || !process->nr || !take_registers(w, p))
		return false;
	w->range.start = w->range.end = 0;
	w->nr = 0;
	w->end = PROF_END_DEPTH;
	w->is_exact = 1;
	w->no_sp = w->is_guess = 0;
	bpf_loop(PROF_DEPTH + 1, unwind_one, &s, 0);
	out->nr = w->nr;
	out->end = w->end;
	return true;
}
