/*
 * symbol/cfi — call frame information: .eh_frame and .debug_frame, turned into rows of abi/unwind.
 *
 * Reads entries (CIE, FDE) and runs their instructions for what a walk needs: the CFA, the return address, the frame
 * pointer. What it cannot express becomes UNWIND_UNKNOWN, what is not covered UNWIND_NONE. Where entries overlap,
 * the one that begins first counts, and of two that begin at the same place that of the section that was added first.
 *
 * Bytes come from files of others: nothing is read outside of a section, entries that are damaged are left out, and the work
 * is bounded (CFI_ENTRIES_MAX, CFI_STEPS_MAX). Bytes are lent until cfi_free(). One thread at a time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/cleanup.h"

#define CFI_ENTRIES_MAX (1U << 22)
#define CFI_STEPS_MAX   (1U << 28) /* instructions, over all entries */

enum cfi_machine { CFI_X86_64, CFI_ARM64 };

struct cfi_section {
	const uint8_t *bytes;
	size_t len;
	uint64_t address; /* where the linker put it */
	uint64_t move;    /* added to addresses of code */
	bool is_eh;       /* .eh_frame */
};

struct cfi;

struct cfi *cfi_new(enum cfi_machine machine); /* NULL without memory */
void cfi_free(struct cfi *c);                  /* NULL is fine */
DEFINE_SCOPED(cfi, cfi_free)
enum cfi_machine cfi_machine(const struct cfi *c);
uint32_t cfi_nr(const struct cfi *c); /* entries */

/* At most CFI_SECTIONS_MAX; -E2BIG for more, or too many entries; -ENOMEM. */
#define CFI_SECTIONS_MAX 4U
MUST_USE int cfi_add(struct cfi *c, const struct cfi_section *s);
/* Code that has no entry, but a rule that is known. */
MUST_USE int cfi_add_rule(struct cfi *c, uint64_t begin, uint64_t end, uint32_t rule);

/* Ascending addresses; two in a row may say the same. A negative errno of row() ends it. */
typedef int cfi_row_fn(void *ctx, uint64_t address, uint32_t rule);
MUST_USE int cfi_rows(struct cfi *c, cfi_row_fn *row, void *ctx);
