#include "symbol/unwind_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "abi/unwind.h"
#include "base/cleanup.h"
#include "base/grow.h"
#include "base/map.h"
#include "symbol/binaries.h"
#include "symbol/debug_file.h"
#include "symbol/mapped_files.h"
#include "symbol/parser.h"
#include "symbol/spaces.h"
#include "symbol/symbolizer.h"
#include "symbol/unwind_table.h"

#define NO_TABLE  (UINT32_MAX - 1)
#define NOT_READ  0U /* else the number of the table + 1 */
#define KEY_BYTES 24U
#define FILES_MAX 65536U

struct unwind_file {
	struct unwind_table *table;
	struct elf_segments segments;
	uint64_t bytes; /* of the vDSO */
};

struct unwind_files {
	const char *proc, *debug_dirs;
	struct mapped_files *files;
	struct parser *parser;
	unsigned int how;
	uint32_t *by_file; /* NOT_READ, NO_TABLE, or the number + 1 */
	uint32_t nr_files;
	struct map *by_build_id;
	struct unwind_file *all;
	uint32_t nr, room;
	uint64_t nr_rows;
};

struct unwind_files *unwind_files_new(const char *proc, const char *debug_dirs,
                                      struct mapped_files *files, struct parser *parser,
                                      unsigned int how)
{
	struct unwind_files *u = calloc(1, sizeof(*u));

	if (!u)
		return NULL;
	*u = (struct unwind_files){
		.proc = proc, .debug_dirs = debug_dirs, .files = files, .parser = parser, .how = how
	};
	if (map_new(KEY_BYTES, FILES_MAX, &u->by_build_id)) {
		free(u);
		return NULL;
	}
	return u;
}

void unwind_files_free(struct unwind_files *u)
{
	if (!u)
		return;
	for (uint32_t i = 0; i < u->nr; i++)
		unwind_table_free(u->all[i].table);
	free(u->all);
	free(u->by_file);
	map_free(u->by_build_id);
	free(u);
}

/* The table is taken over. */
static int keep(struct unwind_files *u, struct unwind_table *t, const struct elf_segments *segments,
                uint32_t *out)
{
	uint32_t nr_rows;

	(void)unwind_table_rows(t, &nr_rows);
	if (u->nr_rows + nr_rows > UNWIND_FILES_ROWS || GROW(u->all, u->room, u->nr)) {
		unwind_table_free(t);
		return -ENOENT;
	}
	u->nr_rows += nr_rows;
	*out = u->nr;
	u->all[u->nr++] = (struct unwind_file){ .table = t, .segments = *segments };
	return 0;
}

/* Most of the code has no rows: what the linker adds to each program has some also where all else has none. */
static bool is_sparse(const struct unwind_table *t, uint64_t code_bytes)
{
	const struct unwind_row *rows;
	uint64_t known = 0;
	uint32_t nr;

	rows = unwind_table_rows(t, &nr);
	for (uint32_t i = 0; i + 1 < nr; i++)
		if (rows[i].rule != UNWIND_NONE)
			known += rows[i + 1].at - rows[i].at;
	return known < code_bytes / 2;
}

/* A file that is asked for. */
struct unwind_source {
	int fd;
	const struct parser_facts *facts;
	uint32_t tgid;
	const char *path;
	uint64_t code_bytes; /* as mapped */
};

/* Its own entries; where these are few or none, those of its debug file, too. */
static int compile(struct unwind_files *u, const struct unwind_source *from,
                   struct unwind_table **out)
{
	const struct debug_search in = { .dirs = u->debug_dirs,
		                         .proc = u->proc,
		                         .tgid = from->tgid,
		                         .path = from->path,
		                         .parser = u->parser,
		                         .how = u->how };
	SCOPED(scoped_close) int debug_fd = -1;
	struct unwind_table *both = NULL;
	struct parser_facts unused;
	int err = parser_unwind(u->parser, from->fd, -1, out);

	if (err ? err != -ENOENT : !is_sparse(*out, from->code_bytes))
		return err;
	debug_fd = debug_file_find(&in, from->facts, &unused);
	if (debug_fd < 0 || parser_unwind(u->parser, from->fd, debug_fd, &both))
		return err;
	if (!err)
		unwind_table_free(*out);
	*out = both;
	return 0;
}

static int read_file(struct unwind_files *u, uint32_t tgid, const struct space_mapping *m,
                     uint32_t *out)
{
	const struct mapped_by by = { .tgid = tgid, .start = m->start, .end = m->end };
	SCOPED(scoped_close) int fd = mapped_files_lend(u->files, m->file, &by);
	uint8_t key[KEY_BYTES] = { 0 };
	struct unwind_table *t = NULL;
	struct symbol_mapping described;
	struct unwind_source source;
	struct parser_facts facts;
	int err;

	if (fd < 0)
		return -EAGAIN; /* another process may have a way to it */
	err = parser_identify(u->parser, fd, &facts);
	if (err)
		return err;
	memcpy(key, facts.build_id, facts.nr_build_id < KEY_BYTES ? facts.nr_build_id : KEY_BYTES);
	if (facts.nr_build_id && map_find(u->by_build_id, key, out))
		return 0;
	mapped_files_describe(u->files, m->file, &described);
	source = (struct unwind_source){ fd, &facts, tgid, described.path, m->end - m->start };
	err = compile(u, &source, &t);
	if (!err)
		err = keep(u, t, &facts.segments, out);
	if (!err && facts.nr_build_id)
		(void)!map_insert(u->by_build_id, key, *out); /* else it is compiled once more */
	return err;
}

/* Nothing that another process has written. One of another size is that of another kind of process: 32-bit. */
static int read_vdso(struct unwind_files *u, const struct space_mapping *m, uint32_t *out)
{
	SCOPED(scoped_elf_image) struct elf_image *e = NULL;
	struct unwind_table *t = NULL;
	uint64_t start, bytes = binaries_own_vdso(&start);
	int err;

	if (bytes != m->end - m->start)
		return -EAGAIN;
	err = elf_image_open_bytes((const void *)(uintptr_t)start, bytes, &e);
	if (!err)
		err = unwind_table_compile(e, NULL, 0, &t);
	if (!err)
		err = keep(u, t, elf_image_segments(e), out);
	if (!err)
		u->all[*out].bytes = bytes;
	return err;
}

static uint32_t *slot_of(struct unwind_files *u, uint32_t file)
{
	return GROW_ZEROED(u->by_file, u->nr_files, file) ? NULL : &u->by_file[file];
}

static bool is_vdso(const struct unwind_files *u, uint32_t file)
{
	return strcmp(mapped_files_name(u->files, file), "[vdso]") == 0;
}

int unwind_files_find(struct unwind_files *u, uint32_t tgid, const struct space_mapping *m,
                      struct symbol_table *out)
{
	uint32_t *slot = slot_of(u, m->file), number;
	const struct unwind_file *f;
	uint64_t address;
	int err = 0;

	if (!slot)
		return -ENOMEM;
	if (*slot == NOT_READ) {
		err = is_vdso(u, m->file) ? read_vdso(u, m, &number)
		                          : read_file(u, tgid, m, &number);
		if (err != -EAGAIN)
			*slot = err ? NO_TABLE : number + 1;
	}
	if (err == -ENOMEM)
		return err;
	if (*slot == NOT_READ || *slot == NO_TABLE)
		return -ENOENT;
	f = &u->all[*slot - 1];
	if (is_vdso(u, m->file) && f->bytes != m->end - m->start)
		return -ENOENT;
	if (!elf_segments_address(&f->segments, is_vdso(u, m->file) ? 0 : m->offset, &address))
		return -ENOENT;
	out->number = *slot - 1;
	out->table = f->table;
	out->base = m->start + unwind_table_base(f->table) - address;
	return 0;
}
