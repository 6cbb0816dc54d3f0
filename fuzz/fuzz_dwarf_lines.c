/* fuzz/fuzz_dwarf_lines — any bytes as an ELF file with DWARF: lines and inlined calls at its addresses. */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "fuzz.h"
#include "symbol/dwarf_lines.h"
#include "symbol/elf_image.h"

#define FRAMES 4

static void ask(const struct elf_image *e)
{
	SCOPED(scoped_dwarf_lines) struct dwarf_lines *l = NULL;
	struct dwarf_frame frames[FRAMES];
	uint64_t base = elf_segments_base(elf_image_segments(e));

	if (dwarf_lines_open(e, &l))
		return;
	for (uint64_t a = 0; a < 0x800; a += 4) {
		size_t nr = dwarf_lines_at(l, base + a, frames, FRAMES);

		fuzz_check(nr <= FRAMES);
		for (size_t i = 0; i < nr; i++) /* sanitizers look at the texts */
			fuzz_check(!frames[i].name || strlen(frames[i].name) < 1 << 20);
	}
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
