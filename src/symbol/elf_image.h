/*
 * symbol/elf_image — one ELF file: where its parts are loaded, what it is called, which functions it names.
 *
 * Read piece by piece, never mapped: a file that is cut short while we read is an error, not a signal. Corrupt files
 * give less, and never more than the file's own size says. Blocks on the file. One thread at a time.
 */
#pragma once

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/cleanup.h"

#define ELF_BUILD_ID_MAX 64U
#define ELF_SEGMENTS_MAX 64U

struct elf_image;
struct symtab;

/* Where the parts of a file are loaded. */
struct elf_segment {
	uint64_t offset, size, address;
	uint64_t is_executable;
};

struct elf_segments {
	struct elf_segment all[ELF_SEGMENTS_MAX];
	uint64_t nr;
};

/* The address that the linker gave to what is at this offset of the file; false if it is not loaded. */
bool elf_segments_address(const struct elf_segments *s, uint64_t offset, uint64_t *out);
/* Where the first part is loaded: files about the same program may differ in it. */
uint64_t elf_segments_base(const struct elf_segments *s);

/* The bytes of a section, lent. */
struct elf_section {
	const uint8_t *bytes;
	size_t len;
	uint64_t address; /* where it is loaded */
};

struct elf_bytes {
	const char *at;
	size_t len;
};

/*
 * A descriptor is taken over, also on failure; bytes are lent. -ENOEXEC if it is not an ELF program
 * or library.
 */
MUST_USE int elf_image_open(int fd, struct elf_image **out);
MUST_USE int elf_image_open_bytes(const void *bytes, size_t len, struct elf_image **out);
void elf_image_close(struct elf_image *e); /* NULL is fine */
DEFINE_SCOPED(elf_image, elf_image_close)

/* How many bytes; 0 = it has none. */
size_t elf_image_build_id(const struct elf_image *e, uint8_t out[ELF_BUILD_ID_MAX]);
const struct elf_segments *elf_image_segments(const struct elf_image *e);
bool elf_image_has_symtab(const struct elf_image *e);
bool elf_image_has_dwarf(const struct elf_image *e);
/* The name of its debug file; lent. NULL = it names none. */
const char *elf_image_debug_link(const struct elf_image *e, uint32_t *crc);
/* The functions of .symtab and .dynsym, each moved by so much. */
MUST_USE int elf_image_add_functions(const struct elf_image *e, uint64_t move, struct symtab *t);
/* .gnu_debugdata: an ELF file again, unpacked; the caller frees it. -ENOENT without one. */
MUST_USE int elf_image_debug_data(const struct elf_image *e, uint8_t **bytes, size_t *len);
/* The first section of that name that has bytes, unpacked; false = there is none, or it is damaged. */
bool elf_image_section(const struct elf_image *e, const char *name, struct elf_section *out);
/* Whether a section of texts ends with a NUL, or is not there. */
bool elf_image_texts_end(const struct elf_image *e, const char *name);
/* The bytes of all sections whose name starts so, as libelf holds them; lent. How many, at most max. */
size_t elf_image_sections(const struct elf_image *e, const char *prefix, struct elf_bytes *out,
                          size_t max);
Elf *elf_image_elf(const struct elf_image *e);
int elf_image_fd(const struct elf_image *e); /* -1 of bytes */
