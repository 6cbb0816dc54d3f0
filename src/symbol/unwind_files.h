/*
 * symbol/unwind_files — tables of the files that processes have mapped, each compiled once, when first asked for.
 *
 * Files are known by the numbers of symbol/mapped_files and, beyond, by build id, so that copies in containers share a
 * table. They are taken apart by another process (symbol/parser); the vDSO, which is the kernel's, is not. A file with
 * rows for less than half of its code may have a separate debug file that has .debug_frame. Beyond UNWIND_FILES_ROWS rows in all, further files
 * have no tables. One thread at a time.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"

#define UNWIND_FILES_ROWS (1U << 22) /* 32 MiB */

struct mapped_files;
struct parser;
struct space_mapping;
struct symbol_table;
struct unwind_files;

/* All is lent forever. NULL without memory. */
struct unwind_files *unwind_files_new(const char *proc, const char *debug_dirs,
                                      struct mapped_files *files, struct parser *parser,
                                      unsigned int how);
void unwind_files_free(struct unwind_files *u); /* NULL is fine */

/* Sets base, number and table. -ENOENT if it has none, -ENOMEM. */
MUST_USE int unwind_files_find(struct unwind_files *u, uint32_t tgid, const struct space_mapping *m,
                               struct symbol_table *out);
