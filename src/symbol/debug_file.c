#include "symbol/debug_file.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/cleanup.h"
#include "symbol/elf_image.h"
#include "symbol/open_file.h"

#define CHECKED_MAX ((off_t)2 << 30)
#define CHUNK_BYTES ((size_t)64 << 10)
#define ID_TEXT     (2U * ELF_BUILD_ID_MAX + 1U)

struct looked_for {
	const struct debug_search *in;
	uint8_t id[ELF_BUILD_ID_MAX];
	size_t nr_id;
	const char *link; /* NULL = none */
	uint32_t crc;
	struct elf_image *found;
};

static bool has_checksum(int fd, uint32_t wanted)
{
	SCOPED(scoped_free) unsigned char *chunk = malloc(CHUNK_BYTES);
	uLong crc = crc32(0, NULL, 0);
	off_t at = 0;
	ssize_t n;

	if (!chunk)
		return false;
	while (at < CHECKED_MAX && (n = pread(fd, chunk, CHUNK_BYTES, at)) > 0) {
		crc = crc32(crc, chunk, (uInt)n);
		at += n;
	}
	return crc == wanted;
}

static bool belongs(const struct looked_for *l, const struct elf_image *e, bool is_link)
{
	uint8_t id[ELF_BUILD_ID_MAX];
	size_t nr = elf_image_build_id(e, id);

	if (nr && l->nr_id)
		return nr == l->nr_id && memcmp(id, l->id, nr) == 0;
	return is_link && has_checksum(elf_image_fd(e), l->crc);
}

static bool try_path(struct looked_for *l, bool is_link, const char *path)
{
	SCOPED(scoped_elf_image) struct elf_image *e = NULL;
	int fd = open_file(path, NULL);

	if (fd < 0 || elf_image_open(fd, &e) || !belongs(l, e, is_link))
		return false;
	if (!elf_image_has_symtab(e) && !elf_image_has_dwarf(e))
		return false;
	l->found = TAKE_PTR(e);
	return true;
}

static bool try_id(struct looked_for *l, const char *root, const char *dir)
{
	char path[PATH_MAX], hex[ID_TEXT];

	for (size_t i = 0; i < l->nr_id; i++)
		snprintf(hex + 2 * i, 3, "%02x", l->id[i]);
	return l->nr_id > 1 &&
	       (size_t)snprintf(path, sizeof(path), "%s%s/.build-id/%.2s/%s.debug", root, dir, hex,
	                        hex + 2) < sizeof(path) &&
	       try_path(l, false, path);
}

static bool try_link(struct looked_for *l, const char *root, const char *dir, const char *below)
{
	const char *slash = strrchr(l->in->path, '/');
	int folder = slash ? (int)(slash - l->in->path) : 0;
	char path[PATH_MAX];

	/* A name, not a way out of the folder. */
	return l->link && slash && !strchr(l->link, '/') &&
	       (size_t)snprintf(path, sizeof(path), "%s%s%.*s/%s%s", root, dir, folder, l->in->path,
	                        below, l->link) < sizeof(path) &&
	       try_path(l, true, path);
}

static bool search_root(struct looked_for *l, const char *root)
{
	char dirs[PATH_MAX], *rest = dirs, *dir;

	snprintf(dirs, sizeof(dirs), "%s", l->in->dirs);
	while ((dir = strsep(&rest, ":")))
		if (*dir && try_id(l, root, dir))
			return true;
	if (try_link(l, root, "", "") || try_link(l, root, "", ".debug/"))
		return true;
	snprintf(dirs, sizeof(dirs), "%s", l->in->dirs);
	rest = dirs;
	while ((dir = strsep(&rest, ":")))
		if (*dir && try_link(l, root, dir, ""))
			return true;
	return false;
}

struct elf_image *debug_file_find(const struct debug_search *in, const struct elf_image *stripped)
{
	struct looked_for l = { .in = in };
	char root[PATH_MAX];

	l.nr_id = elf_image_build_id(stripped, l.id);
	l.link = elf_image_debug_link(stripped, &l.crc);
	snprintf(root, sizeof(root), "%s/%u/root", in->proc, in->tgid);
	if (!search_root(&l, root))
		search_root(&l, "");
	return l.found;
}
