#include "symbol/binaries.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "base/map.h"
#include "base/text.h"
#include "symbol/debug_file.h"
#include "symbol/parser.h"
#include "symbol/proc_maps.h"

#define SYMBOLS_MAX  (1U << 16) /* of the vDSO */
#define OWN_MAPS_MAX ((size_t)16 << 20)
#define KEY_ID_BYTES 24U

/* Compared byte by byte: no padding. */
struct binary_key {
	uint8_t id[KEY_ID_BYTES]; /* the build id, or device and inode */
	uint64_t size;
	uint64_t nr_id;
};

struct binary {
	uint8_t build_id[ELF_BUILD_ID_MAX];
	size_t nr_build_id;
	struct elf_segments segments;
	struct symtab *functions;
	struct parser_lines lines; /* fd -1 = there are none */
	uint64_t debug_move;       /* from addresses of the file that has them to ours */
};

struct binaries {
	struct binaries_cfg cfg;
	struct map *by_key;
	struct binary *all;
	uint32_t nr, room;
	size_t nr_bytes;
	uint32_t nr_dwarf;
	uint64_t vdso_bytes;
	bool is_full;
};

struct binaries *binaries_new(const struct binaries_cfg *cfg)
{
	struct binaries *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->cfg = *cfg;
	if (map_new(sizeof(struct binary_key), BINARIES_NR_MAX, &b->by_key)) {
		free(b);
		return NULL;
	}
	return b;
}

static void scoped_binary(struct binary *one)
{
	symtab_free(one->functions);
	scoped_close(&one->lines.fd);
}

void binaries_free(struct binaries *b)
{
	if (!b)
		return;
	for (uint32_t i = 0; i < b->nr; i++)
		scoped_binary(&b->all[i]);
	free(b->all);
	map_free(b->by_key);
	free(b);
}

static int key_of(const struct binary *one, int fd, struct binary_key *out)
{
	struct stat st = { 0 };
	uint64_t words[2];

	*out = (struct binary_key){ 0 };
	if (fd >= 0 && fstat(fd, &st))
		return -errno;
	out->size = (uint64_t)st.st_size;
	out->nr_id = one->nr_build_id;
	if (one->nr_build_id) {
		memcpy(out->id, one->build_id,
		       one->nr_build_id < KEY_ID_BYTES ? one->nr_build_id : KEY_ID_BYTES);
		return 0;
	}
	words[0] = (uint64_t)st.st_dev;
	words[1] = (uint64_t)st.st_ino;
	memcpy(out->id, words, sizeof(words));
	return 0;
}

static int keep(struct binaries *b, const struct binary_key *key, struct binary *one, uint32_t *out)
{
	int err;

	if (GROW(b->all, b->room, b->nr))
		return -ENOMEM;
	err = map_insert(b->by_key, key, b->nr);
	if (err)
		return err;
	one->lines.number = b->nr;
	b->nr_bytes += symtab_bytes(one->functions);
	b->nr_dwarf += one->lines.fd >= 0;
	*out = b->nr;
	b->all[b->nr++] = *one;
	*one = (struct binary){ .lines.fd = -1 };
	return 0;
}

/* A file, and what is known of it. */
struct binary_file {
	int fd; /* -1 = there is none */
	struct parser_facts facts;
};

static void scoped_part(struct binary_file *p)
{
	scoped_close(&p->fd);
}

static void find_debug_file(const struct binaries *b, const struct binary_file *own,
                            const char *path, uint32_t tgid, struct binary_file *out)
{
	const struct debug_search in = { .dirs = b->cfg.debug_dirs,
		                         .proc = b->cfg.proc,
		                         .tgid = tgid,
		                         .path = path,
		                         .parser = b->cfg.parser,
		                         .how = b->cfg.how };

	if (own->facts.has_symtab && (!b->cfg.wants_lines || own->facts.has_dwarf))
		return;
	out->fd = debug_file_find(&in, &own->facts, &out->facts);
}

static int read_functions(struct binaries *b, const struct binary_file *own,
                          const struct binary_file *debug, struct symtab **out)
{
	if (b->nr_bytes < BINARIES_BYTES_MAX)
		return parser_functions(b->cfg.parser, own->fd, debug->fd, out);
	b->is_full = true;
	*out = symtab_new(0);
	return *out ? 0 : -ENOMEM;
}

/* The file that has them stays open, for a process that takes the place of one that died. */
static void keep_lines(const struct binaries *b, struct binary_file *own, struct binary_file *debug,
                       struct binary *one)
{
	if (!b->cfg.wants_lines || b->nr_dwarf >= BINARIES_DWARF_MAX)
		return;
	if (own->facts.has_dwarf) {
		one->lines.fd = TAKE_FD(own->fd);
	} else if (debug->fd >= 0 && debug->facts.has_dwarf) {
		one->lines.fd = TAKE_FD(debug->fd);
		one->debug_move = elf_segments_base(&own->facts.segments) -
		                  elf_segments_base(&debug->facts.segments);
	}
}

int binaries_read(struct binaries *b, int fd, const char *path, uint32_t tgid, uint32_t *out)
{
	SCOPED(scoped_part) struct binary_file own = { .fd = fd };
	SCOPED(scoped_part) struct binary_file debug = { .fd = -1 };
	SCOPED(scoped_binary) struct binary one = { .lines.fd = -1 };
	struct binary_key key;
	int err = parser_identify(b->cfg.parser, fd, &own.facts);

	if (err)
		return err;
	one.segments = own.facts.segments;
	one.nr_build_id = own.facts.nr_build_id;
	memcpy(one.build_id, own.facts.build_id, sizeof(one.build_id));
	err = key_of(&one, fd, &key);
	if (err)
		return err;
	if (map_find(b->by_key, &key, out))
		return 0;
	find_debug_file(b, &own, path, tgid, &debug);
	err = read_functions(b, &own, &debug, &one.functions);
	if (err)
		return err;
	keep_lines(b, &own, &debug, &one);
	return keep(b, &key, &one, out);
}

/* How long it is in memory; it is an image as the linker made it, so that is its whole file. */
uint64_t binaries_own_vdso(uint64_t *out)
{
	SCOPED(scoped_free) char *text = NULL;
	uint64_t start = getauxval(AT_SYSINFO_EHDR);
	struct proc_maps_line line;
	struct scan rest;

	*out = start;
	if (!start || text_read_file("/proc/self/maps", OWN_MAPS_MAX, &text))
		return 0;
	rest = (struct scan){ text, text + strlen(text) };
	while (proc_maps_next(&rest, &line))
		if (line.start == start)
			return line.end - line.start;
	return 0;
}

/* The kernel made it: nothing that another process has written. */
int binaries_read_vdso(struct binaries *b, uint32_t *out)
{
	SCOPED(scoped_binary) struct binary one = { .lines.fd = -1 };
	SCOPED(scoped_elf_image) struct elf_image *image = NULL;
	struct binary_key key;
	uint64_t start;
	int err;

	b->vdso_bytes = binaries_own_vdso(&start);
	if (!b->vdso_bytes)
		return -ENOENT;
	err = elf_image_open_bytes((const void *)(uintptr_t)start, b->vdso_bytes, &image);
	if (err)
		return err;
	one.nr_build_id = elf_image_build_id(image, one.build_id);
	one.segments = *elf_image_segments(image);
	err = key_of(&one, -1, &key);
	if (err || map_find(b->by_key, &key, out))
		return err;
	one.functions = symtab_new(SYMBOLS_MAX);
	if (!one.functions)
		return -ENOMEM;
	err = elf_image_add_functions(image, 0, one.functions);
	if (err)
		return err;
	symtab_seal(one.functions);
	return keep(b, &key, &one, out);
}

bool binaries_address(const struct binaries *b, uint32_t binary, uint64_t offset, uint64_t *out)
{
	return elf_segments_address(&b->all[binary].segments, offset, out);
}

bool binaries_function(const struct binaries *b, uint32_t binary, uint64_t address,
                       struct symtab_hit *out)
{
	return symtab_find(b->all[binary].functions, address, out);
}

size_t binaries_lines(struct binaries *b, uint32_t binary, uint64_t address,
                      struct dwarf_frame *out, size_t max)
{
	struct binary *one = &b->all[binary];

	return parser_lines_at(b->cfg.parser, &one->lines, address - one->debug_move, out, max);
}

size_t binaries_build_id(const struct binaries *b, uint32_t binary, uint8_t out[ELF_BUILD_ID_MAX])
{
	const struct binary *one = &b->all[binary];

	memcpy(out, one->build_id, one->nr_build_id);
	return one->nr_build_id;
}

uint64_t binaries_vdso_bytes(const struct binaries *b)
{
	return b->vdso_bytes;
}

bool binaries_is_full(const struct binaries *b)
{
	return b->is_full;
}
