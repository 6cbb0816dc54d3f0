/*
 * trace/inflate — gzip, zlib and zstd, unpacked into memory of bounded size.
 *
 * Whatever could be unpacked stays in the output, also on failure: the end of a file may be missing. Several
 * members or frames after each other are one. -EBADMSG for damaged or cut input, -E2BIG at the limit or at the
 * end of the budget, -ENOMEM.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

struct budget;

enum inflate_kind {
	INFLATE_NONE, /* it is not compressed, as far as we know */
	INFLATE_ZLIB, /* zlib or gzip */
	INFLATE_ZSTD,
};

/* Freed by free(). */
struct inflated {
	uint8_t *bytes;
	size_t len;
	size_t size; /* allocated */
};

/* By the first bytes. zlib without a header of gzip is not recognized: packets say so themselves. */
enum inflate_kind inflate_sniff(const uint8_t *bytes, size_t len);

struct inflate_cfg {
	enum inflate_kind kind;
	size_t limit;
	struct budget *budget; /* takes out->size from it; NULL = none */
};

MUST_USE int inflate_all(const struct inflate_cfg *cfg, const uint8_t *bytes, size_t len,
                         struct inflated *out);
