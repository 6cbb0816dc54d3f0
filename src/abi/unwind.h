/*
 * abi/unwind — tables by which programs in the kernel walk the stacks of code without frame pointers.
 *
 * A row holds from its place in the code up to the next row, and says how to get from a frame to its
 * caller's: where the canonical frame address (CFA) is, which is the caller's stack pointer, and where
 * the return address and the caller's frame pointer were saved. All is packed into 32 bits, as most
 * rows need no more; what does not fit is UNWIND_STOP with UNWIND_UNKNOWN.
 */
#pragma once

#include <linux/types.h>

/* How the CFA is found. */
#define UNWIND_NONE     0U /* nothing is known of the code here */
#define UNWIND_SP       1U /* stack pointer + cfa */
#define UNWIND_FP       2U /* frame pointer + cfa */
#define UNWIND_SP_DEREF 3U /* what is at stack pointer + cfa, with a sign, + 8 times how */
#define UNWIND_FP_DEREF 4U /* what is at frame pointer + cfa, with a sign, + 8 times how */
#define UNWIND_PLT      5U /* stack pointer + 8, and 8 more behind the first cfa / 8 bytes of 16 */
#define UNWIND_SIGNAL   6U /* the kernel's frame of a signal: all registers are in it */
#define UNWIND_STOP     7U /* by how: */

/* how, of UNWIND_STOP */
#define UNWIND_END     0U /* the first function of a thread has no caller */
#define UNWIND_UNKNOWN 1U /* a rule that does not fit in a row */
#define UNWIND_OTHER \
	2U /* x86-64: register (low 4 bits of cfa, as DWARF counts) + the remainder of cfa */
#define UNWIND_INDEXED \
	3U /* x86-64: what is at stack pointer + 8 times that register + the remainder of cfa, + 8 */

/*
 * how, of UNWIND_SP and UNWIND_FP on x86-64: where the caller's rbx is. What the dynamic linker calls to bind a
 * function finds its own frame by it. Compilers push rbx right behind the frame pointer.
 */
#define UNWIND_RBX_SAME 0U /* unchanged */
#define UNWIND_RBX_BELOW \
	1U /* below the saved frame pointer, or without one below the return address */
#define UNWIND_RBX_LOST 2U /* elsewhere */

/* how, on arm64: where the return address is. On x86-64 it is always right below the CFA. */
#define UNWIND_IN_LR    0U /* in its register */
#define UNWIND_PAIR     1U /* the frame pointer at CFA - slot, the return address behind it */
#define UNWIND_RA_ALONE 2U /* at CFA - slot; the frame pointer is unchanged */

/* slot: where the frame pointer was saved, below the CFA; 0 = it is unchanged. */
#define UNWIND_SLOT_AT_FP 0x1fffU /* where the frame pointer points to */

#define UNWIND_CFA_MAX   0x3fffU /* in units of 8 bytes */
#define UNWIND_DEREF_MAX 0x1fff  /* of one with a sign */
#define UNWIND_OTHER_MAX 0x3ffU  /* of UNWIND_OTHER and UNWIND_INDEXED */
#define UNWIND_OTHER_REG 0xfU
#define UNWIND_SLOT_MAX  0x1ffeU

#define UNWIND_RULE(kind, how, cfa, slot) \
	((__u32)(kind) | (__u32)(how) << 3 | (__u32)(cfa) << 5 | (__u32)(slot) << 19)
#define UNWIND_RULE_KIND(rule)  ((rule)&7U)
#define UNWIND_RULE_HOW(rule)   ((rule) >> 3 & 3U)
#define UNWIND_RULE_CFA(rule)   ((rule) >> 5 & UNWIND_CFA_MAX)
#define UNWIND_RULE_DEREF(rule) ((__s64)(__s32)((rule) << 13) >> 18) /* cfa with its sign */
#define UNWIND_RULE_SLOT(rule)  ((rule) >> 19)

struct unwind_row {
	__u32 at; /* from the first address of the table */
	__u32 rule;
};

/*
 * In the kernel: pages of 4 KiB in one array. A table's rows are in leaves, and the first places of these
 * in a root (whose rule is the number of the leaf); a large table has several roots, each for a range of
 * its own. Rows behind the last have UNWIND_NOWHERE.
 */
#define UNWIND_PAGE_BYTES  4096U
#define UNWIND_PAGE_ROWS   512U
#define UNWIND_PAGE_RANGES 128U
#define UNWIND_NOWHERE     (~0U)
#define UNWIND_NO_ADDRESS  (~0ULL >> 1)

struct unwind_page {
	struct unwind_row rows[UNWIND_PAGE_ROWS];
};

/* Code of a process: the place in the table is the address less bias. */
struct unwind_range {
	__u64 start, end;
	__u64 bias;
	__u32 root;
	__u32 pad_;
};

/*
 * Ranges by start; those behind the last begin at UNWIND_NO_ADDRESS. The first is none: its bias is the
 * serial of the process entry that the page belongs to, as pages are used again.
 */
struct unwind_range_page {
	struct unwind_range ranges[UNWIND_PAGE_RANGES];
};

#define UNWIND_PROCESS_PAGES 8U

struct unwind_process {
	__u64 since_ns; /* what is known is as of then; boot time */
	__u64 serial;
	__u64 firsts[UNWIND_PROCESS_PAGES]; /* where each page begins; UNWIND_NO_ADDRESS */
	__u32 pages[UNWIND_PROCESS_PAGES];
	__u32 nr; /* pages in use; 0 = nothing is known of it, since an exec */
	__u32 pad_;
};

_Static_assert(sizeof(struct unwind_page) == UNWIND_PAGE_BYTES, "a page");
_Static_assert(sizeof(struct unwind_range_page) == UNWIND_PAGE_BYTES, "a page");
