/*
 * symbol/symtab — named ranges of addresses, sorted once, found by halving: what kallsyms, ELF files and the maps of
 * JITs have in common.
 *
 * Ranges may lie in each other: the innermost counts. Of several names for one start the one of the lowest rank is
 * kept, then the one with fewer leading underscores, then the shorter one, then the first of the alphabet, so that the
 * choice does not depend on the order in a file. Names are copied as they are. The caps bound what hostile input can
 * make us allocate. One thread at a time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/cleanup.h"

struct sandbox_msg;
struct symtab;

struct symtab_range {
	uint64_t start;
	uint64_t end;   /* the first address beyond; of an open range the last that it may have */
	uint32_t rank;  /* lower is better */
	uint32_t group; /* an open range that another group follows is cut at its own limit */
	bool is_open;   /* ends where the next one starts; dropped inside one that knows its end */
};

struct symtab_hit {
	const char *name; /* as long as the table */
	uint64_t start;
	uint32_t group;
};

/* At most cap ranges. NULL without memory. */
struct symtab *symtab_new(uint32_t cap);
void symtab_free(struct symtab *t); /* NULL is fine */
DEFINE_SCOPED(symtab, symtab_free)

/* A name ends at a NUL. Ranges of no size, and those without a name, are ignored. -E2BIG once a cap is reached, or -ENOMEM. */
MUST_USE int symtab_add(struct symtab *t, const struct symtab_range *r, const char *name,
                        size_t len);
void symtab_seal(struct symtab *t); /* after the last; symtab_find() before it finds nothing */
bool symtab_find(const struct symtab *t, uint64_t address, struct symtab_hit *out);
/* A sealed table in a message, and back: -EBADMSG for one that symtab_find() could not trust. */
void symtab_put(const struct symtab *t, struct sandbox_msg *m);
MUST_USE int symtab_get(struct sandbox_msg *m, struct symtab **out);
uint32_t symtab_nr(const struct symtab *t);
size_t symtab_bytes(const struct symtab *t); /* that it holds */
