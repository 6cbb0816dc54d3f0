/* Files that others made, through the process that takes them apart. */
#include "../unit.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "symbol/parser.h"
#include "symbol/symtab.h"

#define NR_FUNCTIONS 100000U
#define NR_RANGES    65000U
#define CODE         0x1000U
#define CODE_BYTES   0x1000000U

static int own_file(void)
{
	return open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
}

static void this_program_is_known(void **state)
{
	struct parser *p = parser_new();
	struct parser_facts facts;
	struct symtab *t = NULL;
	struct diag d;
	int fd = own_file();

	(void)state;
	expect_eq(parser_identify(p, fd, &facts), 0);
	assert_true(facts.has_symtab);
	assert_true(facts.segments.nr > 1);
	expect_eq(parser_functions(p, fd, -1, &t), 0);
	assert_true(symtab_nr(t) > 10);
	assert_false(parser_trouble(p, &d));
	assert_string_equal(parser_demangle(p, "_ZN1a1bEv"), "a::b()");
	assert_string_equal(parser_demangle(p, "plain"), "plain");
	symtab_free(t);
	close(fd);
	parser_free(p);
}

static void what_is_not_a_program_is_reported(void **state)
{
	struct parser *p = parser_new();
	struct parser_facts facts;
	struct symtab *t = NULL;
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	(void)state;
	expect_eq(parser_identify(p, fd, &facts), -ENOEXEC);
	expect_eq(parser_functions(p, fd, -1, &t), -ENOEXEC);
	assert_true(parser_identify(p, -1, &facts) < 0); /* no descriptor at all */
	close(fd);
	fd = own_file();
	expect_eq(parser_identify(p, fd, &facts), 0);
	close(fd);
	parser_free(p);
}

static void a_perf_map_is_read(void **state)
{
	static const char text[] = "1000 10 first\n2000 20 second\n";
	struct parser *p = parser_new();
	struct symtab *t = NULL;
	struct symtab_hit hit;
	int fd = memfd_create("map", MFD_CLOEXEC);

	(void)state;
	expect_eq(write(fd, text, strlen(text)), strlen(text));
	expect_eq(parser_perf_map(p, fd, &t), 0);
	assert_true(symtab_find(t, 0x2004, &hit));
	assert_string_equal(hit.name, "second");
	symtab_free(t);
	close(fd);
	parser_free(p);
}

/* ---- a bomb: many functions that all point at one long list of ranges ---------------------------------------- */

struct bytes {
	uint8_t *at;
	size_t len, room;
};

static void put(struct bytes *b, const void *from, size_t len)
{
	while (b->room - b->len < len) {
		b->room = b->room ? 2 * b->room : 4096;
		b->at = realloc(b->at, b->room);
		assert_non_null(b->at);
	}
	memcpy(b->at + b->len, from, len);
	b->len += len;
}

static void put_number(struct bytes *b, uint64_t value, size_t len)
{
	put(b, &value, len); /* little-endian, as the file says */
}

static void put_ranges(struct bytes *b)
{
	for (uint64_t i = 0; i < NR_RANGES; i++) {
		put_number(b, CODE + 16 * i, 8);
		put_number(b, CODE + 16 * i + 8, 8);
	}
	put_number(b, 0, 8);
	put_number(b, 0, 8);
}

static void put_unit(struct bytes *b, uint32_t unit_ranges)
{
	size_t start = b->len;
	uint32_t len;

	put_number(b, 0, 4);
	put_number(b, 4, 2); /* DWARF 4 */
	put_number(b, 0, 4);
	put_number(b, 8, 1);
	put_number(b, 1, 1); /* the unit */
	put_number(b, 0, 8);
	put_number(b, unit_ranges, 4);
	for (uint32_t i = 0; i < NR_FUNCTIONS; i++) {
		put_number(b, 2, 1);
		put_number(b, 0, 4); /* all the same list */
	}
	put_number(b, 0, 1);
	len = (uint32_t)(b->len - start - 4);
	memcpy(b->at + start, &len, sizeof(len));
}

enum { NONE, NAMES, ABBREV, INFO, RANGES, NR_SECTIONS };

static int make_bomb(void)
{
	static const uint8_t abbrev[] = { 1, 0x11, 1, 0x11, 0x01, 0x55, 0x17, 0, 0,
		                          2, 0x2e, 0, 0x55, 0x17, 0,    0,    0 };
	static const char names[] = "\0.shstrtab\0.debug_abbrev\0.debug_info\0.debug_ranges";
	static const uint32_t name_at[NR_SECTIONS] = { 0, 1, 11, 25, 37 };
	Elf64_Ehdr header = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
		                           ELFDATA2LSB, EV_CURRENT },
		              .e_type = ET_DYN,
		              .e_machine = EM_X86_64,
		              .e_version = EV_CURRENT,
		              .e_ehsize = sizeof(header),
		              .e_shentsize = sizeof(Elf64_Shdr),
		              .e_shnum = NR_SECTIONS,
		              .e_shstrndx = NAMES };
	Elf64_Shdr sections[NR_SECTIONS] = { 0 };
	struct bytes parts[NR_SECTIONS] = { 0 }, file = { 0 };
	int fd = memfd_create("bomb", MFD_CLOEXEC);

	put(&parts[NAMES], names, sizeof(names));
	put(&parts[ABBREV], abbrev, sizeof(abbrev));
	put_ranges(&parts[RANGES]);
	put_unit(&parts[INFO], (uint32_t)parts[RANGES].len);
	put_number(&parts[RANGES], CODE, 8);
	put_number(&parts[RANGES], CODE + CODE_BYTES, 8);
	put_number(&parts[RANGES], 0, 8);
	put_number(&parts[RANGES], 0, 8);
	put(&file, &header, sizeof(header));
	for (int i = NAMES; i < NR_SECTIONS; i++) {
		sections[i] = (Elf64_Shdr){ .sh_name = name_at[i],
			                    .sh_type = i == NAMES ? SHT_STRTAB : SHT_PROGBITS,
			                    .sh_offset = file.len,
			                    .sh_size = parts[i].len,
			                    .sh_addralign = 1 };
		put(&file, parts[i].at, parts[i].len);
		free(parts[i].at);
	}
	header.e_shoff = file.len;
	put(&file, sections, sizeof(sections));
	memcpy(file.at, &header, sizeof(header));
	expect_eq(write(fd, file.at, file.len), file.len);
	free(file.at);
	return fd;
}

/* 6.5 billion ranges in 1.6 MB: it must end by itself, not by the limits of the process. */
static void ranges_that_many_functions_share_are_bounded(void **state)
{
	struct parser *p = parser_new();
	struct parser_lines l = { .fd = make_bomb() };
	struct parser_facts facts;
	struct dwarf_frame frames[4];
	struct diag d = { 0 };

	(void)state;
	expect_eq(parser_identify(p, l.fd, &facts), 0);
	assert_true(facts.has_dwarf);
	(void)parser_lines_at(p, &l, CODE + 4, frames, 4);
	if (parser_trouble(p, &d))
		fail_msg("%s", d.what);
	assert_false(l.is_bad);
	close(l.fd);
	parser_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(this_program_is_known),
		cmocka_unit_test(what_is_not_a_program_is_reported),
		cmocka_unit_test(a_perf_map_is_read),
		cmocka_unit_test(ranges_that_many_functions_share_are_bounded),
	};

	return cmocka_run_group_tests_name("parser", tests, NULL, NULL);
}
