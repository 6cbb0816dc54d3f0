/* fuzz/fuzz_elf_image — any bytes as an ELF file: its functions, ids, packed symbols and frames, as symbol/parser reads it. */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "fuzz.h"
#include "symbol/elf_image.h"
#include "symbol/symtab.h"
#include "symbol/unwind_table.h"

static void find_some(struct symtab *t)
{
	struct symtab_hit hit;

	symtab_seal(t);
	for (uint64_t a = 0; a < 0x8000; a += 16)
		if (symtab_find(t, a, &hit))
			fuzz_check(hit.start <= a && hit.name[0]);
}

static void ask(const struct elf_image *e)
{
	SCOPED(scoped_symtab) struct symtab *t = symtab_new(1 << 16);
	SCOPED(scoped_elf_image) struct elf_image *packed = NULL;
	SCOPED(scoped_unwind_table) struct unwind_table *rows = NULL;
	SCOPED(scoped_free) uint8_t *bytes = NULL;
	uint8_t id[ELF_BUILD_ID_MAX];
	uint64_t address;
	uint32_t crc;
	size_t len = 0;

	fuzz_check(t);
	fuzz_check(elf_image_build_id(e, id) <= sizeof(id));
	(void)elf_image_debug_link(e, &crc);
	(void)elf_image_has_dwarf(e);
	for (uint64_t offset = 0; offset < 0x4000; offset += 256)
		(void)elf_segments_address(elf_image_segments(e), offset, &address);
	(void)!elf_image_add_functions(e, 0, t);
	if (elf_image_debug_data(e, &bytes, &len) == 0 &&
	    elf_image_open_bytes(bytes, len, &packed) == 0)
		(void)!elf_image_add_functions(packed, 0x1000, t);
	find_some(t);
	if (unwind_table_compile(e, packed, 0x1000, &rows) == 0)
		(void)unwind_table_rule(rows, 0x1000);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	SCOPED(scoped_elf_image) struct elf_image *e = NULL;
	int fd = memfd_create("elf", MFD_CLOEXEC);

	fuzz_check(fd >= 0);
	fuzz_check(write(fd, data, size) == (ssize_t)size);
	if (elf_image_open(fd, &e) == 0)
		ask(e);
	return 0;
}
