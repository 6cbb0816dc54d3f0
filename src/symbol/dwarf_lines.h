/*
 * symbol/dwarf_lines — the source line of an address, and the calls that the compiler inlined there, from DWARF.
 *
 * Compilation units are taken apart when an address falls into them, not before; a unit's functions are sorted once.
 * Texts are lent as long as the object. Corrupt DWARF gives less. One thread at a time.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/cleanup.h"

struct dwarf_lines;
struct elf_image;

struct dwarf_frame {
	const char *name; /* mangled where the language does; NULL = unknown */
	const char *file; /* NULL = unknown */
	uint32_t line;    /* 0 = unknown */
};

/* The image must outlive it. -ENODATA without DWARF, -EFBIG if there is too much of it. */
MUST_USE int dwarf_lines_open(const struct elf_image *e, struct dwarf_lines **out);
void dwarf_lines_close(struct dwarf_lines *l); /* NULL is fine */
DEFINE_SCOPED(dwarf_lines, dwarf_lines_close)

/*
 * Innermost first, the last is the function itself; how many, 0 if nothing is known. Where there are more than fit,
 * callers just below the function are left out.
 */
size_t dwarf_lines_at(struct dwarf_lines *l, uint64_t address, struct dwarf_frame *out, size_t max);
