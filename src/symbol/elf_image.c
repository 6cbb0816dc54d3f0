#include "symbol/elf_image.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "symbol/scan.h"
#include "symbol/symtab.h"
#include "symbol/unxz.h"

#define SECTIONS_MAX 65536U
#define UNPACKED_MAX ((size_t)64 << 20)

struct elf_image {
	int fd;
	Elf *elf;
	size_t names;      /* the section of the sections' names */
	bool clears_bit_0; /* of functions: on 32-bit ARM it selects the instruction set */
	struct elf_segments segments;
};

/* Executable sections by number: where they end; 0 = not executable. */
struct code {
	uint64_t *ends;
	size_t nr;
};

void elf_image_close(struct elf_image *e)
{
	if (!e)
		return;
	if (e->elf)
		elf_end(e->elf);
	if (e->fd >= 0)
		close(e->fd);
	free(e);
}

static void read_segments(struct elf_image *e)
{
	size_t nr = 0;

	if (elf_getphdrnum(e->elf, &nr))
		return;
	for (size_t i = 0; i < nr && e->segments.nr < ELF_SEGMENTS_MAX; i++) {
		GElf_Phdr p;

		if (!gelf_getphdr(e->elf, (int)i, &p))
			return;
		if (p.p_type == PT_LOAD)
			e->segments.all[e->segments.nr++] = (struct elf_segment){
				.offset = p.p_offset,
				.size = p.p_filesz,
				.address = p.p_vaddr,
				.is_executable = (p.p_flags & PF_X) != 0,
			};
	}
}

static int open_elf(struct elf_image *e, struct elf_image **out)
{
	GElf_Ehdr header;

	if (!e->elf || elf_kind(e->elf) != ELF_K_ELF || !gelf_getehdr(e->elf, &header) ||
	    (header.e_type != ET_EXEC && header.e_type != ET_DYN))
		return -ENOEXEC;
	if (elf_getshdrstrndx(e->elf, &e->names))
		e->names = 0;
	e->clears_bit_0 = header.e_machine == EM_ARM;
	read_segments(e);
	*out = e;
	return 0;
}

static struct elf_image *new_image(int fd)
{
	struct elf_image *e = calloc(1, sizeof(*e));

	elf_version(EV_CURRENT);
	if (e)
		e->fd = fd;
	else if (fd >= 0)
		close(fd);
	return e;
}

int elf_image_open(int fd, struct elf_image **out)
{
	SCOPED(scoped_elf_image) struct elf_image *e = new_image(fd);
	int err;

	if (!e)
		return -ENOMEM;
	e->elf = elf_begin(fd, ELF_C_READ, NULL);
	err = open_elf(e, out);
	if (!err)
		(void)TAKE_PTR(e);
	return err;
}

int elf_image_open_bytes(const void *bytes, size_t len, struct elf_image **out)
{
	SCOPED(scoped_elf_image) struct elf_image *e = new_image(-1);
	int err;

	if (!e)
		return -ENOMEM;
	/* Only read from, although the type does not say so. */
	e->elf = elf_memory((char *)(uintptr_t)bytes, len);
	err = open_elf(e, out);
	if (!err)
		(void)TAKE_PTR(e);
	return err;
}

size_t elf_image_build_id(const struct elf_image *e, uint8_t out[ELF_BUILD_ID_MAX])
{
	const void *id = NULL;
	ssize_t len = dwelf_elf_gnu_build_id(e->elf, &id);

	if (len <= 0 || (size_t)len > ELF_BUILD_ID_MAX)
		return 0;
	memcpy(out, id, (size_t)len);
	return (size_t)len;
}

static const struct elf_segment *segment_at(const struct elf_segments *s, uint64_t offset,
                                            bool is_executable)
{
	for (size_t i = 0; i < s->nr; i++) {
		const struct elf_segment *one = &s->all[i];

		if ((one->is_executable != 0) == is_executable && offset >= one->offset &&
		    offset - one->offset < one->size)
			return one;
	}
	return NULL;
}

bool elf_segments_address(const struct elf_segments *s, uint64_t offset, uint64_t *out)
{
	/* Pages hold the ends of two parts; code is what has been asked for. */
	const struct elf_segment *one = segment_at(s, offset, true);

	if (!one)
		one = segment_at(s, offset, false);
	if (!one)
		return false;
	*out = offset - one->offset + one->address;
	return true;
}

uint64_t elf_segments_base(const struct elf_segments *s)
{
	return s->nr ? s->all[0].address : 0;
}

const struct elf_segments *elf_image_segments(const struct elf_image *e)
{
	return &e->segments;
}

const char *elf_image_debug_link(const struct elf_image *e, uint32_t *crc)
{
	GElf_Word sum = 0;
	const char *name = dwelf_elf_gnu_debuglink(e->elf, &sum);

	*crc = sum;
	return name && *name ? name : NULL;
}

static Elf_Scn *section_named(const struct elf_image *e, const char *name, GElf_Shdr *header)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(e->elf, section))) {
		const char *own;

		if (!gelf_getshdr(section, header))
			continue;
		own = elf_strptr(e->elf, e->names, header->sh_name);
		if (own && strcmp(own, name) == 0 && header->sh_type != SHT_NOBITS)
			return section;
	}
	return NULL;
}

bool elf_image_has_symtab(const struct elf_image *e)
{
	GElf_Shdr header;

	return section_named(e, ".symtab", &header);
}

bool elf_image_has_dwarf(const struct elf_image *e)
{
	GElf_Shdr header;

	return section_named(e, ".debug_info", &header) ||
	       section_named(e, ".zdebug_info", &header);
}

static void scoped_code(struct code *code)
{
	free(code->ends);
}

static int read_code(const struct elf_image *e, struct code *out)
{
	Elf_Scn *section = NULL;
	size_t nr = 0;

	if (elf_getshdrnum(e->elf, &nr) || nr == 0)
		return -ENOENT;
	out->nr = nr < SECTIONS_MAX ? nr : SECTIONS_MAX;
	out->ends = calloc(out->nr, sizeof(*out->ends));
	if (!out->ends)
		return -ENOMEM;
	while ((section = elf_nextscn(e->elf, section))) {
		size_t at = elf_ndxscn(section);
		GElf_Shdr header;

		if (at < out->nr && gelf_getshdr(section, &header) &&
		    (header.sh_flags & SHF_EXECINSTR))
			out->ends[at] = header.sh_addr + header.sh_size;
	}
	return 0;
}

static uint32_t rank_of(const GElf_Sym *symbol)
{
	uint32_t rank = GELF_ST_TYPE(symbol->st_info) == STT_NOTYPE ? 3 : 0;

	switch (GELF_ST_BIND(symbol->st_info)) {
	case STB_GLOBAL:
		return rank;
	case STB_WEAK:
		return rank + 1;
	default:
		return rank + 2;
	}
}

static bool is_function(const GElf_Sym *symbol, const struct code *code)
{
	unsigned int type = GELF_ST_TYPE(symbol->st_info);

	return (type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE) &&
	       symbol->st_shndx != SHN_UNDEF && symbol->st_shndx < code->nr &&
	       code->ends[symbol->st_shndx];
}

/* "memcpy@@GLIBC_2.17" is memcpy. */
static struct scan without_version(const char *name)
{
	const char *at = strchr(name, '@');

	return (struct scan){ name, at && at > name ? at : name + strlen(name) };
}

static int add_function(const struct elf_image *e, const GElf_Sym *symbol, uint64_t section_end,
                        uint64_t move, const char *full_name, struct symtab *t)
{
	struct scan name = without_version(full_name);
	struct symtab_range r = {
		.start = symbol->st_value,
		.end = section_end,
		.rank = rank_of(symbol),
		.is_open = symbol->st_size == 0,
	};

	if (scan_is_mapping_symbol(&name))
		return 0;
	if (e->clears_bit_0)
		r.start &= ~1ULL;
	if (!r.is_open && __builtin_add_overflow(r.start, symbol->st_size, &r.end))
		return 0;
	if (r.start >= r.end)
		return 0;
	r.start += move;
	r.end += move;
	return symtab_add(t, &r, name.at, (size_t)(name.end - name.at));
}

static int add_section(const struct elf_image *e, Elf_Scn *section, const struct code *code,
                       uint64_t move, struct symtab *t)
{
	Elf_Data *data = elf_getdata(section, NULL);
	GElf_Shdr header;
	GElf_Sym symbol;
	int err = 0;

	if (!data || !gelf_getshdr(section, &header))
		return 0;
	for (int i = 1; !err && gelf_getsym(data, i, &symbol); i++) {
		const char *name;

		if (!is_function(&symbol, code))
			continue;
		name = elf_strptr(e->elf, header.sh_link, symbol.st_name);
		if (name && *name)
			err = add_function(e, &symbol, code->ends[symbol.st_shndx], move, name, t);
	}
	return err;
}

int elf_image_add_functions(const struct elf_image *e, uint64_t move, struct symtab *t)
{
	SCOPED(scoped_code) struct code code = { 0 };
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	int err = read_code(e, &code);

	if (err)
		return err == -ENOENT ? 0 : err;
	while (!err && (section = elf_nextscn(e->elf, section)))
		if (gelf_getshdr(section, &header) &&
		    (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM))
			err = add_section(e, section, &code, move, t);
	return err;
}

int elf_image_debug_data(const struct elf_image *e, uint8_t **bytes, size_t *len)
{
	GElf_Shdr header;
	Elf_Scn *section = section_named(e, ".gnu_debugdata", &header);
	const Elf_Data *data = section ? elf_rawdata(section, NULL) : NULL;

	if (!data || !data->d_buf || data->d_size == 0)
		return -ENOENT;
	return unxz(data->d_buf, data->d_size, UNPACKED_MAX, bytes, len);
}

/* Unpacks it in place, unless it says that it is larger than anything that is wanted. */
static bool unpack(Elf_Scn *section, const GElf_Shdr *header)
{
	GElf_Chdr packed;

	if (!(header->sh_flags & SHF_COMPRESSED))
		return true;
	return gelf_getchdr(section, &packed) && packed.ch_size <= UNPACKED_MAX &&
	       elf_compress(section, 0, 0) >= 0;
}

bool elf_image_section(const struct elf_image *e, const char *name, struct elf_section *out)
{
	GElf_Shdr header;
	Elf_Scn *section = section_named(e, name, &header);
	const Elf_Data *data;

	if (!section || !unpack(section, &header))
		return false;
	data = elf_rawdata(section, NULL);
	if (!data || !data->d_buf || data->d_size == 0)
		return false;
	*out = (struct elf_section){ data->d_buf, data->d_size, header.sh_addr };
	return true;
}

bool elf_image_texts_end(const struct elf_image *e, const char *name)
{
	GElf_Shdr header;
	Elf_Scn *section = section_named(e, name, &header);
	const Elf_Data *data = section ? elf_rawdata(section, NULL) : NULL;

	return !section || (data && data->d_buf && data->d_size > 0 &&
	                    ((const char *)data->d_buf)[data->d_size - 1] == '\0');
}

size_t elf_image_sections(const struct elf_image *e, const char *prefix, struct elf_bytes *out,
                          size_t max)
{
	Elf_Scn *section = NULL;
	size_t nr = 0;

	while (nr < max && (section = elf_nextscn(e->elf, section))) {
		const Elf_Data *data;
		const char *name;
		GElf_Shdr header;

		if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS)
			continue;
		name = elf_strptr(e->elf, e->names, header.sh_name);
		if (!name || strncmp(name, prefix, strlen(prefix)) != 0)
			continue;
		data = elf_rawdata(section, NULL);
		if (data && data->d_buf)
			out[nr++] = (struct elf_bytes){ data->d_buf, data->d_size };
	}
	return nr;
}

Elf *elf_image_elf(const struct elf_image *e)
{
	return e->elf;
}

int elf_image_fd(const struct elf_image *e)
{
	return e->fd;
}
