#include "symbol/binaries.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/map.h"
#include "base/text.h"
#include "symbol/debug_file.h"
#include "symbol/proc_maps.h"

#define SYMBOLS_MAX  (1U << 22)
#define OWN_MAPS_MAX ((size_t)16 << 20)
#define KEY_ID_BYTES 24U

/* Compared byte by byte: no padding. */
struct key {
	uint8_t id[KEY_ID_BYTES]; /* the build id, or device and inode */
	uint64_t size;
	uint64_t nr_id;
};

struct binary {
	uint8_t build_id[ELF_BUILD_ID_MAX];
	size_t nr_build_id;
	struct elf_image *image;
	struct elf_image *debug; /* NULL = none, or not needed any more */
	struct symtab *functions;
	struct dwarf_lines *lines; /* NULL = not opened, or there are none */
	uint64_t debug_move;       /* from its addresses to ours */
	bool has_tried_lines;
};

struct binaries {
	const char *proc, *debug_dirs;
	bool wants_lines;
	struct map *by_key;
	struct binary *all;
	uint32_t nr, room;
	size_t nr_bytes;
	uint32_t nr_dwarf;
	uint64_t vdso_bytes;
	bool is_full;
};

struct binaries *binaries_new(const char *proc, const char *debug_dirs, bool wants_lines)
{
	struct binaries *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->proc = proc;
	b->debug_dirs = debug_dirs;
	b->wants_lines = wants_lines;
	if (map_new(sizeof(struct key), BINARIES_NR_MAX, &b->by_key)) {
		free(b);
		return NULL;
	}
	return b;
}

static void binary_done(struct binary *one)
{
	dwarf_lines_close(one->lines);
	elf_image_close(one->debug);
	elf_image_close(one->image);
	symtab_free(one->functions);
}

static void scoped_binary(struct binary *one)
{
	binary_done(one);
}

void binaries_free(struct binaries *b)
{
	if (!b)
		return;
	for (uint32_t i = 0; i < b->nr; i++)
		binary_done(&b->all[i]);
	free(b->all);
	map_free(b->by_key);
	free(b);
}

static int key_of(const struct binary *one, struct key *out)
{
	struct stat st = { 0 };
	uint64_t words[2];

	*out = (struct key){ 0 };
	if (elf_image_fd(one->image) >= 0 && fstat(elf_image_fd(one->image), &st))
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

/* Files about one program may be laid out from another first address: prelink did so. */
static uint64_t move_of(const struct binary *one, const struct elf_image *other)
{
	return elf_image_base(one->image) - elf_image_base(other);
}

static int add_debug_data(const struct binary *one)
{
	SCOPED(scoped_elf_image) struct elf_image *packed = NULL;
	SCOPED(scoped_free) uint8_t *bytes = NULL;
	size_t len = 0;

	if (elf_image_debug_data(one->image, &bytes, &len) ||
	    elf_image_open_bytes(bytes, len, &packed))
		return 0;
	return elf_image_add_functions(packed, move_of(one, packed), one->functions);
}

/* Where each table is full the rest is without names. */
static int add_functions(struct binary *one)
{
	int err = elf_image_add_functions(one->image, 0, one->functions);

	if (!err && !elf_image_has_symtab(one->image))
		err = add_debug_data(one);
	if (!err && one->debug)
		err = elf_image_add_functions(one->debug, one->debug_move, one->functions);
	return err == -E2BIG ? 0 : err;
}

static void find_debug_file(const struct binaries *b, struct binary *one, const char *path,
                            uint32_t tgid)
{
	const struct debug_search in = {
		.dirs = b->debug_dirs, .proc = b->proc, .tgid = tgid, .path = path
	};

	if (elf_image_has_symtab(one->image) &&
	    (!b->wants_lines || elf_image_has_dwarf(one->image)))
		return;
	one->debug = debug_file_find(&in, one->image);
	if (one->debug)
		one->debug_move = move_of(one, one->debug);
}

static int keep(struct binaries *b, const struct key *key, struct binary *one, uint32_t *out)
{
	uint32_t room = b->room ? b->room * 2 : 32;
	struct binary *all;
	int err;

	if (b->nr == b->room) {
		all = reallocarray(b->all, room, sizeof(*all));
		if (!all)
			return -ENOMEM;
		b->all = all;
		b->room = room;
	}
	err = map_insert(b->by_key, key, b->nr);
	if (err)
		return err;
	*out = b->nr;
	b->all[b->nr++] = *one;
	*one = (struct binary){ 0 };
	return 0;
}

static int read_functions(struct binaries *b, struct binary *one)
{
	int err;

	one->functions = symtab_new(SYMBOLS_MAX);
	if (!one->functions)
		return -ENOMEM;
	if (b->nr_bytes >= BINARIES_BYTES_MAX) {
		b->is_full = true;
		return 0;
	}
	err = add_functions(one);
	if (err)
		return err;
	symtab_seal(one->functions);
	b->nr_bytes += symtab_bytes(one->functions);
	return 0;
}

/* Where it is loaded stays known; of the rest only what lines will need. */
static void release(const struct binaries *b, struct binary *one)
{
	bool is_own = elf_image_has_dwarf(one->image);

	if (!b->wants_lines || b->nr_dwarf >= BINARIES_DWARF_MAX || is_own || !one->debug ||
	    !elf_image_has_dwarf(one->debug)) {
		elf_image_close(one->debug);
		one->debug = NULL;
		one->debug_move = 0;
	}
	if (!b->wants_lines || b->nr_dwarf >= BINARIES_DWARF_MAX || !is_own)
		elf_image_forget(one->image);
}

static int read_image(struct binaries *b, struct binary *one, const char *path, uint32_t tgid,
                      uint32_t *out)
{
	struct key key;
	int err;

	one->nr_build_id = elf_image_build_id(one->image, one->build_id);
	err = key_of(one, &key);
	if (err)
		return err;
	if (map_find(b->by_key, &key, out))
		return 0;
	if (path)
		find_debug_file(b, one, path, tgid);
	err = read_functions(b, one);
	if (err)
		return err;
	release(b, one);
	b->nr_dwarf += one->debug || elf_image_elf(one->image);
	return keep(b, &key, one, out);
}

int binaries_read(struct binaries *b, int fd, const char *path, uint32_t tgid, uint32_t *out)
{
	SCOPED(scoped_binary) struct binary one = { 0 };
	int err = elf_image_open(fd, &one.image);

	return err ? err : read_image(b, &one, path, tgid, out);
}

/* How long it is in memory; it is an image as the linker made it, so that is its whole file. */
static uint64_t find_vdso(uint64_t start)
{
	SCOPED(scoped_free) char *text = NULL;
	struct proc_maps_line line;
	struct scan rest;

	if (text_read_file("/proc/self/maps", OWN_MAPS_MAX, &text))
		return 0;
	rest = (struct scan){ text, text + strlen(text) };
	while (proc_maps_next(&rest, &line))
		if (line.start == start)
			return line.end - line.start;
	return 0;
}

int binaries_read_vdso(struct binaries *b, uint32_t *out)
{
	SCOPED(scoped_binary) struct binary one = { 0 };
	unsigned long start = getauxval(AT_SYSINFO_EHDR);
	int err;

	b->vdso_bytes = start ? find_vdso(start) : 0;
	if (!b->vdso_bytes)
		return -ENOENT;
	err = elf_image_open_bytes((const void *)start, b->vdso_bytes, &one.image);
	return err ? err : read_image(b, &one, NULL, 0, out);
}

bool binaries_address(const struct binaries *b, uint32_t binary, uint64_t offset, uint64_t *out)
{
	return elf_image_address(b->all[binary].image, offset, out);
}

bool binaries_function(const struct binaries *b, uint32_t binary, uint64_t address,
                       struct symtab_hit *out)
{
	return symtab_find(b->all[binary].functions, address, out);
}

static void open_lines(struct binary *one)
{
	const struct elf_image *from = one->debug;

	one->has_tried_lines = true;
	if (!from && elf_image_elf(one->image))
		from = one->image;
	if (from && dwarf_lines_open(from, &one->lines))
		one->lines = NULL;
}

size_t binaries_lines(struct binaries *b, uint32_t binary, uint64_t address,
                      struct dwarf_frame *out, size_t max)
{
	struct binary *one = &b->all[binary];

	if (!one->has_tried_lines && b->wants_lines)
		open_lines(one);
	return one->lines ? dwarf_lines_at(one->lines, address - one->debug_move, out, max) : 0;
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
