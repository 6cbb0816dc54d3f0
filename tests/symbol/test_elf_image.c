#include "../unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "symbol/elf_image.h"
#include "symbol/symtab.h"

#define STEPS 400

static int own_file(void)
{
	return open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
}

/* A copy of this program in memory, to be damaged. */
static int copy_of_self(size_t *size)
{
	int in = own_file(), fd = memfd_create("copy", MFD_CLOEXEC);
	char buf[65536];
	ssize_t n;

	*size = 0;
	assert_true(in >= 0 && fd >= 0);
	while ((n = read(in, buf, sizeof(buf))) > 0) {
		expect_eq(write(fd, buf, (size_t)n), n);
		*size += (size_t)n;
	}
	close(in);
	return fd;
}

static void this_program_knows_its_own_functions(void **state)
{
	SCOPED(scoped_elf_image) struct elf_image *e = NULL;
	SCOPED(scoped_symtab) struct symtab *t = symtab_new(1 << 20);
	struct symtab_hit hit;
	uint64_t address;
	uint8_t id[ELF_BUILD_ID_MAX];

	(void)state;
	expect_eq(elf_image_open(own_file(), &e), 0);
	assert_true(elf_image_has_symtab(e));
	(void)elf_image_build_id(e, id);
	expect_eq(elf_image_add_functions(e, 0x1000, t), 0);
	symtab_seal(t);
	assert_true(symtab_nr(t) > 10);
	assert_true(elf_segments_address(elf_image_segments(e), 0, &address));
	expect_eq(address, elf_segments_base(elf_image_segments(e)));
	assert_false(elf_segments_address(elf_image_segments(e), UINT64_MAX, &address));
	assert_false(symtab_find(t, UINT64_MAX, &hit));
}

static void what_is_no_program_is_refused(void **state)
{
	struct elf_image *e = NULL;
	int fd = memfd_create("text", MFD_CLOEXEC);

	(void)state;
	expect_eq(write(fd, "hello", 5), 5);
	expect_eq(elf_image_open(fd, &e), -ENOEXEC);
	expect_eq(elf_image_open(memfd_create("empty", MFD_CLOEXEC), &e), -ENOEXEC);
	expect_eq(elf_image_open(-1, &e), -ENOEXEC);
	expect_eq(elf_image_open_bytes("\177ELF", 4, &e), -ENOEXEC);
}

/* Everything that may be asked of a file, whatever is in it. */
static void ask_all(int fd)
{
	SCOPED(scoped_elf_image) struct elf_image *e = NULL;
	SCOPED(scoped_symtab) struct symtab *t = symtab_new(1 << 20);
	SCOPED(scoped_free) uint8_t *bytes = NULL;
	uint8_t id[ELF_BUILD_ID_MAX];
	size_t len = 0;
	uint32_t crc;

	if (elf_image_open(fd, &e))
		return;
	(void)elf_image_build_id(e, id);
	(void)elf_image_debug_link(e, &crc);
	(void)!elf_image_debug_data(e, &bytes, &len);
	expect_eq(elf_image_add_functions(e, 0, t), 0);
	symtab_seal(t);
}

static void cut_files_and_flipped_bytes_do_no_harm(void **state)
{
	size_t size;
	int whole = copy_of_self(&size);
	unsigned int seed = 3;

	(void)state;
	for (int i = 0; i < STEPS; i++) {
		size_t ignored;
		int fd = copy_of_self(&ignored);

		if (i % 2)
			expect_eq(ftruncate(fd, (off_t)(size * (size_t)i / STEPS)), 0);
		for (int k = 0; k < 8; k++) {
			/* Half of them in the header and at the end, where the tables are. */
			size_t at = (size_t)rand_r(&seed) % size;
			uint8_t byte = (uint8_t)rand_r(&seed);

			if (k % 2)
				at = k % 4 == 1 ? at % 64 : size - 1 - at % 4096;
			expect_eq(pwrite(fd, &byte, 1, (off_t)at), 1);
		}
		ask_all(fd);
	}
	close(whole);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(this_program_knows_its_own_functions),
		cmocka_unit_test(what_is_no_program_is_refused),
		cmocka_unit_test(cut_files_and_flipped_bytes_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
