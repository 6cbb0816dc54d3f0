/*
 * symbol/binaries — programs and libraries, each read once for all processes that map it, when first asked for.
 *
 * Known by build id and size, else by device, inode and size. Functions come from .symtab, .dynsym, .gnu_debugdata and
 * separate debug files, all in one sorted table; lines from DWARF, asked for one by one. Files are taken apart by another
 * process (symbol/parser). Beyond the caps of memory a further binary is known, but has no names. One thread at a time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "symbol/dwarf_lines.h"
#include "symbol/elf_image.h"
#include "symbol/symtab.h"

#define BINARIES_NONE      UINT32_MAX
#define BINARIES_BYTES_MAX ((size_t)1 << 30) /* of names */
#define BINARIES_NR_MAX    65536U
#define BINARIES_DWARF_MAX 64U /* open at a time, each with a descriptor */

struct binaries;
struct parser;

struct binaries_cfg {
	const char *proc;
	const char *debug_dirs; /* with colons between them */
	bool wants_lines;
	struct parser *parser; /* reads them all */
	unsigned int how;      /* debug files are opened: OPEN_* of symbol/open_file */
};

/* All is lent forever. NULL without memory. */
struct binaries *binaries_new(const struct binaries_cfg *cfg);
void binaries_free(struct binaries *b); /* NULL is fine */

/*
 * From a descriptor, which is taken over; path and tgid say where to search for its debug file.
 * -errno.
 */
MUST_USE int binaries_read(struct binaries *b, int fd, const char *path, uint32_t tgid,
                           uint32_t *out);
/* This process's own vDSO, which is the same in all of its kind; -ENOENT if there is none. */
MUST_USE int binaries_read_vdso(struct binaries *b, uint32_t *out);
/* Where this process has it, and its size; 0 = there is none. */
uint64_t binaries_own_vdso(uint64_t *out);

/* The linker's address of an offset in the file; false if nothing is loaded from there. */
bool binaries_address(const struct binaries *b, uint32_t binary, uint64_t offset, uint64_t *out);
bool binaries_function(const struct binaries *b, uint32_t binary, uint64_t address,
                       struct symtab_hit *out);
/* As parser_lines_at(). */
size_t binaries_lines(struct binaries *b, uint32_t binary, uint64_t address,
                      struct dwarf_frame *out, size_t max);
size_t binaries_build_id(const struct binaries *b, uint32_t binary, uint8_t out[ELF_BUILD_ID_MAX]);
uint64_t binaries_vdso_bytes(const struct binaries *b); /* its size in memory; 0 = none */
bool binaries_is_full(const struct binaries *b);        /* some have no names for want of room */
