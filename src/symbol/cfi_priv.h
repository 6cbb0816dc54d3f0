/* symbol/cfi_priv — what symbol/cfi shares among its files: bytes that are read with care, and entries. */
#pragma once

#include "symbol/cfi.h"

/* From at up to end; the first read beyond it makes all that follow 0. */
struct cfi_bytes {
	const uint8_t *at, *end;
	bool is_bad;
};

uint64_t cfi_get(struct cfi_bytes *b, size_t nr); /* so many bytes, at most 8; little endian */
uint64_t cfi_get_uleb(struct cfi_bytes *b);
int64_t cfi_get_sleb(struct cfi_bytes *b);
struct cfi_bytes cfi_cut(struct cfi_bytes *b, uint64_t nr); /* takes so many off the front */

/* What entries have in common. */
struct cfi_cie {
	uint64_t code_align;
	int64_t data_align;
	uint64_t ra; /* the column of the return address */
	uint8_t encoding;
	uint8_t version;
	bool has_length, is_signal;
	struct cfi_bytes initial; /* instructions */
};

struct cfi_program {
	enum cfi_machine machine;
	const struct cfi_cie *cie;
	struct cfi_bytes own; /* instructions of the entry */
	uint64_t begin, end;
	uint64_t from; /* rows before it are not wanted: another entry has them */
	uint64_t *nr_steps;
};

/*
 * The rows of one entry, from the first wanted place on; from where its instructions cannot be understood,
 * UNWIND_UNKNOWN. An errno is one of row().
 */
MUST_USE int cfi_run(const struct cfi_program *p, cfi_row_fn *row, void *ctx);
