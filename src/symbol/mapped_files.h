/*
 * symbol/mapped_files — the files that processes have mapped: each once, by build id or by device and inode.
 *
 * A file is opened when it is first reported, while its process is most likely alive, and held open until it was read, up
 * to MAPPED_FILES_OPEN_MAX of them: then neither the process's exit nor the file's deletion matters. Ways to a file, in
 * this order: what the process has mapped (map_files), the path in its root, its executable, the path in our own root.
 * Whatever is found there must have the same build id or the same device and inode, else it is another file. Before Linux
 * 6.8 mappings of a file on an overlay show the one below, which may have another inode: then it is the file if the
 * process is alive and has that very path mapped; for an exited process it is unknown.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/intern.h"
#include "symbol/symbolizer.h"

#define MAPPED_FILES_OPEN_MAX 256U
#define MAPPED_FILES_MAX      (1U << 18)

struct mapped_files;
struct parser;

/* Which process maps it where. */
struct mapped_by {
	uint32_t tgid;
	uint64_t start, end;
};

/* texts keeps the paths and, as the parser, outlives this. how: OPEN_* of symbol/open_file. NULL without memory. */
struct mapped_files *mapped_files_new(const char *proc, struct intern *texts, struct parser *parser,
                                      unsigned int how);
void mapped_files_free(struct mapped_files *f); /* NULL is fine */

/* The number of the file of a mapping; -E2BIG or -ENOMEM. */
MUST_USE int mapped_files_add(struct mapped_files *f, const struct symbol_mapping *m, uint32_t tgid,
                              uint32_t *out);
/* Its path and ids; nothing else. */
void mapped_files_describe(const struct mapped_files *f, uint32_t file, struct symbol_mapping *out);
/* Its base name, or the name of a mapping without a file. */
const char *mapped_files_name(const struct mapped_files *f, uint32_t file);
/* A descriptor that the caller closes, or -errno. After a few failures it is not tried again. */
MUST_USE int mapped_files_open(struct mapped_files *f, uint32_t file, const struct mapped_by *by);
/* The same while the file stays held for mapped_files_open(). */
MUST_USE int mapped_files_lend(struct mapped_files *f, uint32_t file, const struct mapped_by *by);
