/*
 * symbol/unwind_table — how to get from each place of a program's code to its caller: rows of abi/unwind, sorted.
 *
 * Made from what a file has for exceptions (.eh_frame) and debuggers (.debug_frame) by symbol/cfi; 64-bit files of x86-64 and
 * arm64. Rows that say the same as the one before are left out. Bounded by UNWIND_ROWS_MAX; a table that is full ends
 * with a row that knows nothing. One thread at a time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/unwind.h"
#include "base/attr.h"
#include "base/cleanup.h"

#define UNWIND_ROWS_MAX (1U << 23)

struct elf_image;
struct sandbox_msg;
struct unwind_table;

struct unwind_table *unwind_table_new(void);    /* NULL without memory */
void unwind_table_free(struct unwind_table *t); /* NULL is fine */
DEFINE_SCOPED(unwind_table, unwind_table_free)

/* In ascending order; -E2BIG once it is full, or too far from the first; -EINVAL out of order; -ENOMEM. */
MUST_USE int unwind_table_add(struct unwind_table *t, uint64_t address, uint32_t rule);
/*
 * All rows of a file, by the linker's addresses; of its debug file (NULL = none) those that its own do
 * not have, moved by so much. -ENOENT if there are none, -ENOTSUP for other machines.
 */
MUST_USE int unwind_table_compile(const struct elf_image *e, const struct elf_image *debug,
                                  uint64_t move, struct unwind_table **out);

/* The rule at an address; UNWIND_NONE outside. */
uint32_t unwind_table_rule(const struct unwind_table *t, uint64_t address);
const struct unwind_row *unwind_table_rows(const struct unwind_table *t, uint32_t *nr);
uint64_t unwind_table_base(const struct unwind_table *t); /* the address of the first row */

/* In a message, and back: -EBADMSG for one that is not sorted or too large. */
void unwind_table_put(const struct unwind_table *t, struct sandbox_msg *m);
MUST_USE int unwind_table_get(struct sandbox_msg *m, struct unwind_table **out);
