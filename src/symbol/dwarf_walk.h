/*
 * symbol/dwarf_walk — user stacks walked by libdw, from copies of registers and stack (sys/stack_copy).
 *
 * The reference for walks by tables: nothing of symbol/cfi is in it. The caller gives files numbers, and says which
 * files a process has where, in one of DWARF_WALK_SPACES places; a place that is set again forgets what it had. Code
 * without entries, as JITs make it, is walked by frame pointers, as libdw does. Of a file only what describes frames
 * (.eh_frame, .debug_frame) stays in memory, and no descriptor is kept.
 *
 * For the process without rights (symbol/parser): libdw trusts its input more than others do. One thread at a time.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

#define DWARF_WALK_SPACES 32U
#define DWARF_WALK_FILES  16384U
#define DWARF_WALK_PARTS  4096U      /* mappings of a process */
#define DWARF_WALK_VDSO   UINT32_MAX /* the number of this process's own, which all have */

struct dwarf_walk;
struct prof_stack;
struct stack_copy;

/* A part of a file in a process. */
struct dwarf_part {
	uint64_t start, end;
	uint64_t offset; /* in the file */
	uint64_t file;
};

struct dwarf_walk *dwarf_walk_new(void);    /* NULL without memory */
void dwarf_walk_free(struct dwarf_walk *w); /* NULL is fine */

/* The descriptor is taken over. -ENOEXEC, -E2BIG, -ENOMEM. A number that is known stays what it is. */
MUST_USE int dwarf_walk_file(struct dwarf_walk *w, uint64_t number, int fd);
/* Parts of files that are not known are left out. -EINVAL for a place that does not exist, -ENOMEM. */
MUST_USE int dwarf_walk_space(struct dwarf_walk *w, uint64_t place, const struct dwarf_part *parts,
                              size_t nr);
/* Where it ended is in out->end; at least the address at which the thread was is in it. -EINVAL. */
MUST_USE int dwarf_walk_stack(struct dwarf_walk *w, uint64_t place, const struct stack_copy *copy,
                              struct prof_stack *out);
